"""The terminal that commands write to."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table


def console_on(file: TextIO | None = None) -> Console:
    """A console that prints texts as they are, by default on standard output.

    Names and paths come from users, so brackets in them are no markup and colons no emoji.
    """
    return Console(file=file, markup=False, emoji=False, highlight=False)


def is_live(console: Console) -> bool:
    """Whether a display can stay in place there and be written over."""
    return console.is_terminal and not console.is_dumb_terminal


def say(line: str, file: TextIO | None) -> bool:
    """Print a line; False if the file does not take it, as a search goes on without an audience."""
    if file is None:
        return False
    try:
        print(line, file=file, flush=True)
    except (OSError, ValueError):
        return False
    return True


def fitting_table(
    columns: dict[str, list[str]],
    dropped: Sequence[str],
    console: Console,
    width: int,
    left: Sequence[str] = (),
) -> Table:
    """A table of as many columns as there is room for.

    columns: cells by heading. dropped: the headings that are left out where room is short, in this
    order. left: the headings of the columns that are aligned left; the others are aligned right.
    """
    columns = dict(columns)
    for name in (None, *dropped):
        columns.pop(name, None)
        table = Table(box=None, pad_edge=False)
        for heading in columns:
            side = "left" if heading in left else "right"
            table.add_column(heading, justify=side, no_wrap=True)
        for row in zip(*columns.values(), strict=True):
            table.add_row(*row)
        unbounded = console.options.update(max_width=1000)
        if Measurement.get(console, unbounded, table).maximum <= width:
            break
    return table
