"""Standard streams that exist and take all output, whatever their encoding."""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from frontier.text import fitted_to

PLAIN = {
    "×": "x", "–": "-", "—": "-", "…": "...", "·": ".", "≤": "<=", "≥": ">=", "→": ">", "←": "<",
    "↔": "<>", "↑": "^", "↓": "v", "█": "#", "─": "-", "━": "-", "│": "|", "┃": "|", "°": " deg",
    **dict.fromkeys("▏▎▍▌▋▊▉", "#"),
}  # fmt: skip
"""Replacements for characters that a stream's encoding lacks; other characters become "?"."""


def echo(text: str, err: bool = False) -> None:
    """Print a text on standard output, or on standard error; in a terminal, fitted to its width."""
    click.echo(fitted_to(text, sys.stderr if err else sys.stdout), err=err)


def echo_bytes(content: bytes) -> None:
    """Write bytes on standard output as they are."""
    with _of_output():
        click.echo(content, nl=False)


class OutputError(OSError):
    """Standard output cannot be written."""


def prepare_streams() -> None:
    """Make the standard streams accept every character, and open closed streams on the null
    device."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: C libraries would print to whatever file is opened next
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
    codecs.register_error("frontier.plain", _replace)
    codecs.register(_find_ascii)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None)
        if not encoding or not hasattr(stream, "reconfigure"):
            continue
        name = codecs.lookup(encoding).name
        if name == "ascii":  # click would write UTF-8 to a stream of that name
            name = "frontier_ascii"
        stream.reconfigure(encoding=name, errors="frontier.plain")
    output = sys.stdout
    if output is not None and "write" not in vars(output):
        # Replace the methods of this stream alone.
        output.write = _of_output()(output.write)  # type: ignore[method-assign]
        output.flush = _of_output()(output.flush)  # type: ignore[method-assign]


@contextmanager
def _of_output() -> Iterator[None]:
    """Raise `OutputError` in place of errors of standard output, so that they differ from errors of
    files."""
    try:
        yield
    except OSError as error:
        raise OutputError(*error.args) from None


def drop_output() -> None:
    """Discard what standard output still holds, because it can no longer be written."""
    with open(os.devnull, "w") as nowhere, suppress(OSError, ValueError):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(PLAIN.get(letter, "?") for letter in text), error.end


def _find_ascii(name: str) -> codecs.CodecInfo | None:
    if name != "frontier_ascii":
        return None
    codec = codecs.lookup("ascii")
    return codecs.CodecInfo(*codec, codec.incrementalencoder, codec.incrementaldecoder, name)
