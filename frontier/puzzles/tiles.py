"""The m x n tile puzzle: distinct tiles and one blank, a move slides a tile into the blank.

Read the cells along the shorter side: with s = min(rows, columns) and rows <= columns, column
by column, else row by row, so that line k holds the cells k s, ..., k s + s - 1. The shape of
a board is the cell of its blank; its sequence is the tiles in reading order.

* The blank moves within a line, from cell p to p + 1: the tile that passes it meets no other,
  so the sequence stays as it is.
* The blank moves to the next line, from p to p + s: the tile that comes to p jumps over the
  s - 1 tiles between; positions p, ..., p + s - 1 of the sequence turn by one, as the
  neighbour swaps p + s - 2, ..., p, one after the other. For s = 2 that is a single swap.

For m, n >= 2 the blank's tours generate all even permutations of the tiles, and a position can
be reached from the goal if and only if the sign of its sequence differs from the goal's as
often as the blank has crossed lines of even length (W. W. Johnson and W. E. Story, American
Journal of Mathematics 2, 1879): (mn)!/2 positions. On a 1 x n board the tiles never pass each
other: n positions, one for each cell of the blank.

Metrics: ``step``, a move slides one tile; ``multi``, it slides all tiles between the blank and
some tile of its row or column by one cell, so the blank moves along a line as far as it likes.

Renaming the tiles maps the positions with the blank in a given cell onto each other and keeps
the moves, and so does a symmetry of the board. So the greatest distance from a position depends
on the orbit of its blank alone, and the diameter of the state graph is the greatest over one
blank cell of each orbit (`blank_orbits`).
"""

from collections.abc import Sequence

from frontier.errors import InputError
from frontier.puzzles.grid import NumberedTiles, squares_of
from frontier.puzzles.notation import GOALS, OPEN_MARK
from frontier.puzzles.puzzle import Board

MOST_CELLS = 25


class Tiles(NumberedTiles):
    """The rows x columns tile puzzle.

    goal: the board at depth 0, in rows of numbers, 0 the blank; by default the blank in the cell
        `blank` (row, column, from 0; the first cell if that is not given), the tiles in order.
        It may be given in part, with "?" for what may be anything.
    goals: several boards at depth 0, instead.
    start: a board whose distance from the goal is wanted.
    metric: "step" or "multi".
    """

    metrics = ("step", "multi")
    most_cells = MOST_CELLS

    def __init__(
        self,
        rows: int,
        columns: int,
        goal=None,
        goals: Sequence | None = None,
        start=None,
        metric: str = "step",
        blank: tuple[int, int] | None = None,
    ):
        self._set_size(rows, columns)
        if (goal is not None) + (goals is not None) + (blank is not None) > 1:
            raise InputError("puzzle.goal, puzzle.goals and puzzle.blank exclude each other")
        home = self._home(blank)
        given = goals or ([] if goal is None else [goal])
        key = "puzzle.goal" if goals is None else GOALS
        boards = [(key, self._numbers(board, key, (OPEN_MARK,))) for board in given]
        boards = boards or [(key, home)]
        if start is not None:
            boards.append(("puzzle.start", self._marks(start, "puzzle.start")))
        boards.append(("puzzle.blank", home))
        tiles = tuple(range(1, self.cells))
        self._set_pieces([(tiles, True)], range(self.cells), metric, boards)

    @property
    def title(self) -> str:
        multi = ", any number of tiles a move" if self.metric == "multi" else ""
        return f"{self.rows}×{self.columns} tiles{multi}"

    @property
    def why_unreachable(self) -> str:
        if not self._included.all():
            return super().why_unreachable
        if self.line_length == 1:
            why = "on a board of one line the tiles keep their order"
        else:
            why = "its parity differs from the goal's; exchanging any two tiles mends that"
        return f"it cannot be reached from the goal: {why}"

    def _marks(self, notation, name: str) -> tuple:
        return self._numbers(notation, name)

    def _why_not(self, board: Board, name: str) -> str:
        return f"{name} {self._text(board)}: {self._rule}"


def blank_orbits(rows: int, columns: int) -> list[tuple[int, int]]:
    """One cell, the first, of each orbit of a board's cells under its symmetries."""
    orbits = set()
    for r, c in squares_of(rows, columns, MOST_CELLS):
        images = {(y, x) for y in (r, rows - 1 - r) for x in (c, columns - 1 - c)}
        if rows == columns:
            images |= {(x, y) for y, x in images}
        orbits.add(min(images))
    return sorted(orbits)
