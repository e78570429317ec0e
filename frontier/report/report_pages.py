"""Reports as HTML pages, each one file that needs nothing from outside."""

from collections.abc import Iterable

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


def report_page(subject: RunStatistics | Comparison) -> str:
    """The report of one run or of several."""
    said = {"tables": tables_of(subject), "origin": origin, "config": config_text}
    said |= {"goals": _goals, "farthest": _farthest, "most": BOARDS_EACH}
    said |= {"why_no_boards": why_no_boards, "spending_note": spending_note}
    if isinstance(subject, Comparison):
        return page("comparison.html", of=subject, charts=comparison_charts(subject), **said)
    return page("report.html", run=subject, charts=report_charts(subject), **said)


def _goals(run: RunStatistics) -> dict:
    """The goals, or some of many, and the start, each with what it is."""
    puzzle = run.puzzle
    boards = [(goal, "goal") for goal in puzzle.goals[:GOALS]]
    if puzzle.start is not None:
        found = run.start_depth
        far = "not found" if found is None else f"{counted(found, 'move')} away"
        boards.append((puzzle.start, f"start, {far}"))
    return _grid(puzzle, boards)


def _farthest(run: RunStatistics, most: int | None = None) -> dict:
    """Farthest positions, all that are known or the first few."""
    return _grid(run.puzzle, ((board, "") for board in run.boards[:most]))


def _grid(puzzle: Puzzle, boards: Iterable[tuple[Board, str]]) -> dict:
    """Boards with their captions, and how many stand side by side on a screen and a telephone."""
    boards = list(boards)
    drawn = [(Markup(board_svg(puzzle, board, SIDE)), caption) for board, caption in boards]
    broad = max((Scene(puzzle.picture(board), SIDE).width for board, _ in boards), default=1)
    wide, small = (
        across(len(boards), max(1, int((room + GAP) // (broad + GAP))))
        for room in (ROOM, SMALL_ROOM)
    )
    return {"boards": drawn, "across": wide, "small": small}
