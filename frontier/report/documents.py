"""Reports as HTML pages, each one file that needs nothing from outside."""

from collections.abc import Iterable

from markupsafe import Markup

from frontier.puzzles import Board
from frontier.report.boards import board_svg
from frontier.report.charts import comparison_charts, report_charts
from frontier.report.comparison import Comparison
from frontier.report.facts import (
    LAYER_HEADER,
    comparison_layers,
    comparison_rows,
    comparison_spending,
    config_text,
    key_figures,
    layer_cells,
    origin,
    spending,
    spending_note,
    why_no_boards,
)
from frontier.report.figures import Figures
from frontier.report.pages import page
from frontier.text import counted

GOALS, BOARDS_EACH = 4, 4
"""How many goals a page draws, and how many farthest positions of each run of a comparison."""


def report_page(run: Figures) -> str:
    """The report of one run."""
    return page(
        "report.html",
        run=run,
        key_figures=key_figures(run),
        charts=report_charts(run),
        named=_named(run),
        boards=_drawn(run, run.boards),
        why_no_boards=why_no_boards(run),
        spending=spending(run),
        spending_note=spending_note(run),
        header=LAYER_HEADER,
        rows=[layer_cells(layer) for layer in run.layers],
        origin=origin(run),
        config=config_text(run),
    )


def comparison_page(comparison: Comparison) -> str:
    """The report of several runs."""
    parts = [
        (
            run,
            label,
            _drawn(run, run.boards[:BOARDS_EACH]),
            why_no_boards(run),
            origin(run),
            config_text(run),
        )
        for label, run in zip(comparison.labels, comparison.runs, strict=True)
    ]
    return page(
        "comparison.html",
        of=comparison,
        charts=comparison_charts(comparison),
        key_rows=comparison_rows(comparison),
        spending=comparison_spending(comparison),
        rows=comparison_layers(comparison),
        parts=parts,
    )


def index_page(header: list[str], rows: list[list[str]]) -> str:
    """A page that links reports; the last cell of a row is the name of its files."""
    return page("index.html", header=header, rows=rows)


def _named(run: Figures) -> list[tuple[str, Markup]]:
    """The goals, or some of many, and the start, each with what it is."""
    puzzle = run.puzzle
    boards = [("goal", goal) for goal in puzzle.goals[:GOALS]]
    if puzzle.start is not None:
        found = run.start_depth
        far = "not found" if found is None else f"{counted(found, 'move')} away"
        boards.append((f"start, {far}", puzzle.start))
    return [(said, Markup(board_svg(puzzle, board))) for said, board in boards]


def _drawn(run: Figures, boards: Iterable[Board]) -> list[Markup]:
    return [Markup(board_svg(run.puzzle, board)) for board in boards]
