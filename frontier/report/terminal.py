"""Reports in a terminal, or as plain text where there is none."""

from math import log

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from frontier.report.boards import draw_boards
from frontier.report.comparison import Comparison
from frontier.report.console import fitting_table
from frontier.report.facts import (
    LAYER_HEADER,
    comparison_layers,
    comparison_rows,
    comparison_spending,
    key_figures,
    layer_cells,
    origin,
    spending,
    spending_note,
    why_no_boards,
)
from frontier.report.figures import Figures

BAR = 12
"""Cells of the longest bar of a table of layers."""

DROPPED = ("log", "written", "growth", "time", "share", "up to here")
"""Columns that a narrow terminal does not show, the first ones first."""

EIGHTHS = " ▏▎▍▌▋▊▉█"


def report_text(run: Figures, console: Console) -> RenderableType:
    """The report of one run, for this console."""
    title = f"{run.name}: {run.puzzle.title}, {run.standing}"
    parts: list[RenderableType] = [Text(title, style="bold"), _pairs(key_figures(run))]
    if run.layers:
        cells = zip(*map(layer_cells, run.layers), strict=True)
        columns = {name: list(column) for name, column in zip(LAYER_HEADER, cells, strict=True)}
        most, plain = log(1 + max(run.counts)), console.options.ascii_only
        bars = [_bar(log(1 + layer.states) / most, plain) for layer in run.layers]
        columns["log"] = bars
        table = fitting_table(columns, DROPPED, console, console.width, left=["log"])
        parts += [_heading("Layers"), table]
    if run.spent:
        parts += [_heading("Where the time in layers went"), _rows(spending(run))]
        if note := spending_note(run):
            parts.append(Text(note, style="dim"))
    parts += [_heading("Farthest positions"), *_farthest(run, console)]
    parts += [_heading("How it was made"), _pairs(origin(run))]
    return Group(*parts)


def comparison_text(comparison: Comparison) -> RenderableType:
    """The report of several runs."""
    parts: list[RenderableType] = [Text(comparison.title, style="bold")]
    parts += [Text(said, style="bold red") for said in comparison.differences]
    parts += [Text(said) for said in comparison.findings[len(comparison.differences) :]]
    for header, rows in (
        ("", comparison_rows(comparison)),
        ("time in layers", comparison_spending(comparison)),
        ("depth", comparison_layers(comparison)),
    ):
        table = _table([header, *comparison.labels])
        for row in rows:
            table.add_row(*row)
        parts += ["", table]
    return Group(*parts)


def _farthest(run: Figures, console: Console) -> list[RenderableType]:
    if said := why_no_boards(run):
        return [Text(said)]
    drawn = Text.from_ansi(draw_boards(run.puzzle, run.boards, console=console), no_wrap=True)
    parts: list[RenderableType] = [drawn]
    if more := run.farthest - len(run.boards):
        parts.append(Text(f"… and {more:,} more (`farthest` prints them)"))
    return parts


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _table(header: list[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in header:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _pairs(pairs: list[tuple[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for pair in pairs:
        table.add_row(*pair)
    return table


def _rows(rows: list[list[str]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("left", "right", "right"):
        table.add_column(justify=justify)
    for row in rows:
        table.add_row(*row)
    return table


def _bar(share: float, plain: bool) -> str:
    if plain:
        return "#" * max(1, round(share * BAR))
    eighths = max(1, round(share * BAR * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
