"""Reports in a terminal, or as plain text where there is none."""

from collections.abc import Iterable, Sequence
from math import log

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from frontier.report.boards import draw_boards
from frontier.report.comparison import Comparison
from frontier.report.console import fitting_table, table_of
from frontier.report.statistics import RunStatistics
from frontier.report.tables import origin, spending_note, tables_of, why_no_boards

BAR = 12
"""The longest bar of a table of layers has so many cells."""

DROPPED = ("log", "written", "growth", "time", "share", "up to here")
"""A narrow terminal leaves out these columns, the first ones first."""

EIGHTHS = " ▏▎▍▌▋▊▉█"


def report_text(subject: RunStatistics | Comparison, console: Console) -> RenderableType:
    """The report of one run or of several, for this console."""
    if isinstance(subject, Comparison):
        return _comparison_text(subject)
    tables, run = tables_of(subject), subject
    title = f"{run.name}: {run.puzzle.title}, {run.standing}"
    parts: list[RenderableType] = [Text(title, style="bold"), _pairs(tables.key.rows)]
    if run.layers:
        cells = zip(*tables.layers.rows, strict=True)
        columns = dict(zip(tables.layers.header, map(list, cells), strict=True))
        most, plain = log(1 + max(run.counts)), console.options.ascii_only
        columns["log"] = [_bar(log(1 + layer.states) / most, plain) for layer in run.layers]
        table = fitting_table(columns, DROPPED, console, console.width, left=["log"])
        parts += [_heading("Layers"), table]
    if run.spent:
        spending = table_of(tables.spending.rows, ("left", "right", "right"), overflow="fold")
        parts += [_heading("Where the time in layers went"), spending]
        if note := spending_note(run):
            parts.append(Text(note, style="dim"))
    parts += [_heading("Farthest positions"), *_farthest(run, console)]
    parts += [_heading("How it was made"), _pairs(origin(run))]
    return Group(*parts)


def _comparison_text(comparison: Comparison) -> RenderableType:
    differences, tables = comparison.differences, tables_of(comparison)
    parts: list[RenderableType] = [Text(comparison.title, style="bold")]
    parts += [Text(finding, style="bold red") for finding in differences]
    parts += [Text(finding) for finding in comparison.findings[len(differences) :]]
    headers = tables.key.header, ["time in layers", *comparison.labels], tables.layers.header
    for header, table in zip(headers, (tables.key, tables.spending, tables.layers), strict=True):
        parts += ["", table_of(table.rows, ["right"] * len(header), header, overflow="fold")]
    return Group(*parts)


def _farthest(run: RunStatistics, console: Console) -> list[RenderableType]:
    if reason := why_no_boards(run):
        return [Text(reason)]
    drawn = Text.from_ansi(draw_boards(run.puzzle, run.boards, console=console), no_wrap=True)
    parts: list[RenderableType] = [drawn]
    if more := run.farthest - len(run.boards):
        parts.append(Text(f"… and {more:,} more (`farthest` prints them)"))
    return parts


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _pairs(rows: Iterable[Sequence[str]]) -> Table:
    """Names, which are dim, and values."""
    table = table_of(rows, ("left", "left"), overflow="fold")
    table.columns[0].style = "dim"
    return table


def _bar(share: float, plain: bool) -> str:
    if plain:
        return "#" * max(1, round(share * BAR))
    eighths = max(1, round(share * BAR * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
