"""Reports as HTML pages, each one file that needs nothing from outside."""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.report.boards import board_svg
from frontier.report.boards.svg import Scene
from frontier.report.charts import comparison_charts, report_charts
from frontier.report.comparison import Comparison
from frontier.report.html import across, page
from frontier.report.statistics import RunStatistics
from frontier.report.tables import config_text, origin, spending_note, tables_of, why_no_boards
from frontier.text import counted

GOALS, BOARDS_EACH = 4, 4
"""How many goals a page draws, and how many farthest positions of each run of a comparison."""

SIDE, GAP, ROOM, SMALL_ROOM = 36, 20, 856, 340
"""The side of a cell, the gap between two boards, and the width of a page on a screen and on a
telephone (``templates/``), in pixels."""


@dataclass(frozen=True)
class Grid:
    """Boards in a page, each with its caption, and how many stand side by side: on a screen and on
    a telephone."""

    boards: list[tuple[Markup, str]]
    across: int
    small: int


def _grid(puzzle: Puzzle, boards: Iterable[tuple[Board, str]]) -> Grid:
    boards = list(boards)
    drawn = [(Markup(board_svg(puzzle, board, SIDE)), caption) for board, caption in boards]
    broad = max((Scene(puzzle.picture(board), SIDE).width for board, _ in boards), default=1)
    ways = [
        across(len(boards), max(1, int((room + GAP) // (broad + GAP))))
        for room in (ROOM, SMALL_ROOM)
    ]
    return Grid(drawn, *ways)


def report_page(subject: RunStatistics | Comparison) -> str:
    """The report of one run or of several."""
    if isinstance(subject, Comparison):
        return _comparison_page(subject)
    run = subject
    return page(
        "report.html",
        run=run,
        tables=tables_of(run),
        charts=report_charts(run),
        goals=_goals(run),
        boards=_drawn(run),
        why_no_boards=why_no_boards(run),
        spending_note=spending_note(run),
        origin=origin(run),
        config=config_text(run),
    )


def _comparison_page(comparison: Comparison) -> str:
    parts = [
        (run, label, _drawn(run, BOARDS_EACH), why_no_boards(run), origin(run), config_text(run))
        for label, run in zip(comparison.labels, comparison.runs, strict=True)
    ]
    charts, tables = comparison_charts(comparison), tables_of(comparison)
    return page("comparison.html", of=comparison, charts=charts, tables=tables, parts=parts)


def _goals(run: RunStatistics) -> Grid:
    """The goals, or some of many, and the start, each with what it is."""
    puzzle = run.puzzle
    boards = [(goal, "goal") for goal in puzzle.goals[:GOALS]]
    if puzzle.start is not None:
        found = run.start_depth
        far = "not found" if found is None else f"{counted(found, 'move')} away"
        boards.append((puzzle.start, f"start, {far}"))
    return _grid(puzzle, boards)


def _drawn(run: RunStatistics, most: int | None = None) -> Grid:
    """Farthest positions, all that are known or the first few."""
    return _grid(run.puzzle, ((board, "") for board in run.boards[:most]))
