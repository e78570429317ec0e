"""The m x n tile puzzle: distinct tiles and one blank. A move slides a tile into the blank.

Read the cells along the shorter side: column by column if rows <= columns, otherwise row by row.
With s = min(rows, columns), line k holds the cells k s, ..., k s + s - 1. The shape of a board is
the cell of its blank; its sequence is the tiles in reading order.

* If the blank moves within a line, from cell p to p + 1, it changes places with a tile that passes
  no other tile, so the sequence does not change.
* If the blank moves to the next line, from p to p + s, the tile that moves to p jumps over the
  s - 1 tiles in between. Positions p, ..., p + s - 1 of the sequence rotate by one, through the
  neighbour swaps p + s - 2, ..., p in this order. For s = 2 this is a single swap.

For m, n >= 2 the closed walks of the blank generate all even permutations of the tiles. If s is
even, the sign of the sequence changes each time the blank crosses to another line; otherwise it
never changes. So the cell of the blank determines the sign, and (mn)!/2 positions can be reached
(W. W. Johnson and W. E. Story, American Journal of Mathematics 2, 1879). On a 1 x n board the tiles
never pass each other, so there are n positions, one for each cell of the blank.

Metrics: with ``step`` a move slides one tile. With ``multi`` it slides by one cell all tiles from
the blank to a chosen tile in its row or column, so the blank moves any distance along a line.

Renaming the tiles maps any position to any other with the same blank cell and preserves the moves.
Symmetries of the board also preserve the moves. So the greatest distance from a position depends
only on the orbit of its blank's cell, and one cell of each orbit is enough to find the diameter of
the state graph (`Grid.blank_orbits`).
"""

from collections.abc import Sequence

from frontier.errors import InputError
from frontier.puzzles.grid import Grid
from frontier.puzzles.model import Model
from frontier.puzzles.moves import check_metric
from frontier.puzzles.notation import GOALS, OPEN_MARK, Drawing, Notation, read_boards
from frontier.puzzles.pieces import Board, Pieces
from frontier.puzzles.puzzle import GridPuzzle, Words
from frontier.puzzles.sliding import SlidingEncoding

MOST_CELLS = 40


class TileNotation(Notation):
    """Boards of numbered tiles, written row by row.

    The colour of a tile shows its shorter line on the goal.
    """

    def __init__(self, grid: Grid, pieces: Pieces, labels: Sequence, drawing: Drawing):
        super().__init__(pieces, labels, drawing)
        self.grid = grid

    def marks(self, board, name: str) -> tuple:
        return self.grid.numbers(board, name)

    def text(self, labels: Sequence) -> str:
        return self.grid.text(labels)

    def write(self, board: Board) -> list[list]:
        return self.grid.in_rows(self.labels_on(board))

    def name_move(self, before: Board, after: Board) -> str:
        """Return the tiles that slide, the nearest to the blank first, with the arrow of their
        direction."""
        target, source = before.index(0), after.index(0)
        stride = 1 if (source - target) % self.grid.columns else self.grid.columns
        stride = stride if source > target else -stride
        passed = (before[cell] for cell in range(target + stride, source + stride, stride))
        names = ",".join(str(self.labels[tile]) for tile in passed)
        return names + self.grid.arrow(source, target)

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [after]  # all tiles differ, and each sliding tile makes one step


def tile_puzzle(
    rows: int,
    columns: int,
    goal=None,
    goals: Sequence | None = None,
    start=None,
    metric: str = "step",
    blank: tuple[int, int] | None = None,
) -> GridPuzzle:
    """Return the rows x columns tile puzzle."""
    grid = Grid.checked(rows, columns, MOST_CELLS)
    if (goal is not None) + (goals is not None) + (blank is not None) > 1:
        raise InputError("puzzle.goal, puzzle.goals and puzzle.blank cannot be used together")
    board_in_order = grid.in_order(blank)
    goals_of_config = goals or ([] if goal is None else [goal])
    key = "puzzle.goal" if goals is None else GOALS
    boards = [(key, grid.numbers(board, key, (OPEN_MARK,))) for board in goals_of_config]
    boards = boards or [(key, board_in_order)]
    tiles = range(1, grid.cells)
    drawing = Drawing(grid.places, grid.lines(boards[0][1], tiles), ordered=True)
    if start is not None:
        boards.append(("puzzle.start", grid.numbers(start, "puzzle.start")))
    boards.append(("puzzle.blank", board_in_order))
    check_metric(metric, "tiles")
    pieces = Pieces(reading=grid.reading, sorts=grid.sorts([(tiles, True)]), rule=grid.rule)
    notation = TileNotation(grid, pieces, range(grid.cells), drawing)
    boards_given = read_boards(notation, boards)
    model = Model(SlidingEncoding(pieces, metric, boards_given), boards_given.start)
    title = f"{rows}×{columns} tiles"
    title += ", any number of tiles a move" if metric == "multi" else ""
    reason = "its parity differs from the goal's; swap any two tiles to make it solvable"
    if grid.line_length == 1:
        reason = "on a board of one line tiles keep their order"
    elif goals_of_config == [] and _parity_changes(grid, board_in_order.index(0), grid.cells - 1):
        corner = [rows - 1, columns - 1]
        reason += f", or put the goal's blank last: puzzle.blank = {corner}"
    words = Words(unreachable=f"it cannot be reached from the goal: {reason}")
    return GridPuzzle("tiles", title, model, notation, words, grid=grid)


def _parity_changes(grid: Grid, first: int, second: int) -> bool:
    """Return whether the board with the tiles in order and the blank in one of these cells cannot
    be reached from the board with the blank in the other."""
    stride = grid.columns if grid.rows > grid.columns else 1
    line, other = (cell // stride % max(grid.rows, grid.columns) for cell in (first, second))
    return (line - other) * (grid.line_length - 1) % 2 == 1
