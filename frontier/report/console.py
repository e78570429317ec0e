"""The terminal that commands write to."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.live import Live
from rich.measure import Measurement
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from frontier.jit.notices import compiling_told_to
from frontier.text import fitted_to, percent

BAR_WIDTH = 40
"""The most columns of a bar."""

COMPILING = "Compiling kernels (up to half a minute the first time) …"


def console_on(file: TextIO | None = None) -> Console:
    """Return a console that prints texts as they are, by default on standard output.

    Users choose names and paths, so brackets and colons in them are ordinary text, not markup or
    emoji.
    """
    return Console(file=file, markup=False, emoji=False, highlight=False)


def is_live(console: Console) -> bool:
    """Return whether a display on the console can stay in place and be overwritten."""
    return console.is_terminal and not console.is_dumb_terminal


def say(line: str, file: TextIO | None) -> None:
    """Print a line, fitted to the width of a terminal, if there is a file for it. Write errors
    are ignored, because a search continues without readers."""
    if file is not None:
        with suppress(OSError, ValueError):
            print(fitted_to(line, file), file=file, flush=True)


@contextmanager
def passing_line(file: TextIO | None) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step in one line of a terminal. Each call overwrites
    the line, and so does a message that kernels are being compiled. The line is erased at the end.
    If lines cannot be overwritten, the function shows nothing."""
    if file is None or not is_live(console := console_on(file)):
        yield lambda text: None
        return
    live = Live(
        console=console, transient=True, auto_refresh=False, redirect_stdout=False,
        redirect_stderr=False,
    )  # fmt: skip

    def say_instead(text: str) -> None:
        with suppress(OSError):  # the terminal is gone; the work continues
            live.start()
            live.update(Text(f"{text} …", no_wrap=True, overflow="ellipsis"), refresh=True)

    try:
        with compiling_told_to(lambda: say_instead(COMPILING.removesuffix(" …"))):
            yield say_instead
    finally:
        with suppress(OSError):
            live.stop()


def warn_unwritten(file: Path | str, error: Exception) -> None:
    """Warn on standard error that a file for people cannot be written."""
    reason = error.strerror if isinstance(error, OSError) else repr(error)
    say(f"warning: {file} cannot be written ({reason})", sys.stderr)


def table_of(
    header: Sequence[str],
    rows: Iterable[Sequence[RenderableType]],
    left: Sequence[str] = (),
    **look,
) -> Table:
    """Return a table without lines.

    left: the headings of the columns that are aligned left; other columns are aligned right. look:
    further arguments for rich's columns.
    """
    table = Table(box=None, pad_edge=False, show_header=any(header))
    for heading in header:
        table.add_column(heading, justify="left" if heading in left else "right", **look)
    for row in rows:
        table.add_row(*row)
    return table


def pairs(rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of names, in dim letters, and their values."""
    table = table_of(["", ""], rows, left=[""], overflow="fold")
    table.columns[0].style = "dim"
    return table


def share_bar(share: float, console: Console) -> Table:
    """Return a bar that shows a share, with the percentage, on one line of a console."""
    words = percent(share)
    width = max(1, min(BAR_WIDTH, console.width - len(words) - 2))
    return table_of(["", ""], [[ProgressBar(1.0, share, width=width), words]], no_wrap=True)


MOST_WIDE, GAP = 28, 2
"""The greatest width of a column of `tables_that_fit`, whose longer cells wrap, and the gap between
two columns."""


def tables_that_fit(
    header: Sequence[str], rows: Iterable[Sequence[str]], console: Console
) -> Iterator[Table]:
    """Generate tables that fit on a console. Each has the first column and as many of the other
    columns as fit."""
    rows = list(rows)
    columns = zip(header, *rows, strict=True)
    first, *rest = (min(MOST_WIDE, max(map(cell_len, column))) for column in columns)
    groups: list[list[int]] = []
    room = 0
    for number, width in enumerate(rest, start=1):
        room -= GAP + width
        if room < 0 or not groups:
            groups.append([0])
            room = console.width - first - GAP - width
        groups[-1].append(number)
    for group in groups:
        cells = ([row[number] for number in group] for row in rows)
        heads = [header[number] for number in group]
        yield table_of(heads, cells, overflow="fold", max_width=MOST_WIDE)


def fitting_table(
    header: Sequence[str],
    rows: Sequence[Sequence[RenderableType]],
    dropped: Sequence[str],
    console: Console,
    left: Sequence[str] = (),
) -> Table:
    """Return a table without the columns that do not fit on a console.

    dropped: the headings of the columns to leave out, in this order. left: see `table_of`.
    """
    unbounded = console.options.update(max_width=1000)
    for count in range(len(dropped) + 1):
        indices = [at for at, heading in enumerate(header) if heading not in dropped[:count]]
        cells = ([row[at] for at in indices] for row in rows)
        table = table_of([header[at] for at in indices], cells, left, no_wrap=True)
        if Measurement.get(console, unbounded, table).maximum <= console.width:
            break
    return table
