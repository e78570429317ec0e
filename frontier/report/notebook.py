"""What a notebook shows of a run, of boards and of solutions: pieces of HTML."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.report.boards import board_svg
from frontier.report.colours import ACCENT
from frontier.report.html import page

WIDTH, HEIGHT = 640, 120
"""The size of a bar chart in pixels."""

MOST_BOARDS = 50
"""At most so many boards are drawn."""

SIDE = 24
"""The side of a cell in pixels."""


def run_html(title: str, facts: Mapping[str, str], counts: Sequence[int] = ()) -> str:
    """A run or its plan: a table of facts, and the states of its layers as bars."""
    look = {"width": WIDTH, "height": HEIGHT, "accent": ACCENT}
    return page("notebook/run.html", title=title, facts=facts, counts=counts, **look)


def boards_html(puzzle: Puzzle, boards: Sequence[Board], labels: Sequence[str]) -> str:
    """Drawings side by side, each above its label."""
    drawn = [Markup(board_svg(puzzle, board, SIDE)) for board in boards[:MOST_BOARDS]]
    shown = list(zip(drawn, labels, strict=False))
    return page("notebook/boards.html", shown=shown, more=len(boards) - len(drawn))
