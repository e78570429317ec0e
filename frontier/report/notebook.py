"""What a notebook shows of a run, of boards and of solutions: pieces of HTML."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.report.boards import board_svg
from frontier.report.html import page
from frontier.report.palette import ACCENT

WIDTH, HEIGHT = 640, 120
"""The size of a bar chart in pixels."""

MOST_BOARDS = 50
"""At most so many boards are drawn."""

SIDE = 24
"""The side of a cell in pixels."""


def run_html(title: str, facts: Mapping[str, str], counts: Sequence[int] = ()) -> str:
    """A run or its plan: a table of facts, and the states of its layers as bars."""
    bars, most = _bars(counts), max(counts, default=0)
    chart = {"bars": bars, "last": len(counts) - 1, "most": most, "width": WIDTH, "height": HEIGHT}
    chart["accent"] = ACCENT
    return page("notebook/run.html", title=title, facts=facts, **chart)


def boards_html(puzzle: Puzzle, boards: Sequence[Board], labels: Sequence[str]) -> str:
    """Drawings side by side, each above its label."""
    drawn = [Markup(board_svg(puzzle, board, SIDE)) for board in boards[:MOST_BOARDS]]
    shown = list(zip(drawn, labels, strict=False))
    return page("notebook/boards.html", shown=shown, more=len(boards) - len(drawn))


def _bars(counts: Sequence[int]) -> list[dict]:
    """The bar of each layer, in proportion to its states."""
    most, broad = max(counts, default=1), WIDTH / max(1, len(counts))
    return [
        {
            "x": round(depth * broad, 2),
            "y": round(HEIGHT - tall, 2),
            "width": round(broad * 0.9, 2),
            "height": round(tall, 2),
            "depth": depth,
            "states": states,
        }
        for depth, states in enumerate(counts)
        for tall in [max(1.0, HEIGHT * states / most)]
    ]
