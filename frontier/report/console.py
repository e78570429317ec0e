"""The terminal that commands write to."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table


def console_on(file: TextIO | None = None) -> Console:
    """A console that prints texts as they are, by default on standard output.

    Names and paths come from users, so brackets in them are no markup and colons no emoji.
    """
    return Console(file=file, markup=False, emoji=False, highlight=False)


def is_live(console: Console) -> bool:
    """Whether a display on the console can stay in place and be written over again and again."""
    return console.is_terminal and not console.is_dumb_terminal


def say(line: str, file: TextIO | None) -> None:
    """Print a line, if there is a file that takes it: a search goes on without its readers."""
    if file is not None:
        with suppress(OSError, ValueError):
            print(line, file=file, flush=True)


def warn_unwritten(file: Path | str, error: Exception) -> None:
    """Say on standard error that a file for people cannot be written."""
    reason = error.strerror if isinstance(error, OSError) else repr(error)
    say(f"warning: {file} cannot be written ({reason})", sys.stderr)


def table_of(
    header: Sequence[str],
    rows: Iterable[Sequence[RenderableType]],
    left: Sequence[str] = (),
    **look,
) -> Table:
    """A table without lines. left: the headings of the columns that are aligned left; the others
    are aligned right. look: further arguments of rich's columns."""
    table = Table(box=None, pad_edge=False, show_header=any(header))
    for heading in header:
        table.add_column(heading, justify="left" if heading in left else "right", **look)
    for row in rows:
        table.add_row(*row)
    return table


def pairs(rows: Iterable[Sequence[str]]) -> Table:
    """A table of names, which are dim, and their values."""
    table = table_of(["", ""], rows, left=[""], overflow="fold")
    table.columns[0].style = "dim"
    return table


def fitting_table(
    header: Sequence[str],
    rows: Sequence[Sequence[RenderableType]],
    dropped: Sequence[str],
    console: Console,
    left: Sequence[str] = (),
) -> Table:
    """A table of as many columns as there is room for on a console. dropped: the headings that are
    left out where room is short, in this order. left: as of `table_of`."""
    unbounded = console.options.update(max_width=1000)
    for count in range(len(dropped) + 1):
        kept = [at for at, heading in enumerate(header) if heading not in dropped[:count]]
        cells = ([row[at] for at in kept] for row in rows)
        table = table_of([header[at] for at in kept], cells, left, no_wrap=True)
        if Measurement.get(console, unbounded, table).maximum <= console.width:
            break
    return table
