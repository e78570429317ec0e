"""The terminal that commands write to."""

from typing import TextIO

from rich.console import Console


def console_on(file: TextIO | None = None) -> Console:
    """A console that prints texts as they are.

    Names and paths come from users: brackets in them are no markup, and colons no pictures.
    file: by default standard output.
    """
    return Console(file=file, markup=False, emoji=False, highlight=False)


def is_live(console: Console) -> bool:
    """Whether what stands there can be written over."""
    return console.is_terminal and not console.is_dumb_terminal


def say(line: str, file: TextIO | None) -> bool:
    """Print a line; whether there was somebody to hear it. A search goes on without."""
    if file is None:
        return False
    try:
        print(line, file=file, flush=True)
    except (OSError, ValueError):
        return False
    return True
