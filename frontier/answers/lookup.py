"""The distance of single boards in microseconds: a compiled look-up in a table of all distances,
for use as a heuristic in your own search.

It works for tile puzzles and their patterns, because a formula gives the entry of a board (see
`frontier.answers.distances`): the cells of the blank and of the labelled tiles give the row, and
the order of these tiles gives the column. All tiles of a tile puzzle are labelled.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frontier.answers.distances import Distances
from frontier.errors import InputError
from frontier.jit import kernel
from frontier.puzzles import GridPuzzle, PatternPuzzle, Puzzle
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.model import ShapeEncoding
from frontier.space.lehmer import LehmerCode
from frontier.text import counted

UNREACHABLE, NO_BOARD = -1, -2
"""Returned in place of a distance: the first if the goal cannot be reached, the second if the codes
are not a board."""

LIKE, BLANK = -1, -2
"""The numbers of unlabelled tiles and of the blank."""


class Heuristic:
    """Looks up distances: ``heuristic(board)`` is the distance of one board, -1 if the goal cannot
    be reached from it.

    puzzle: the puzzle of the boards. A board is given by its codes, as a flat sequence or an array,
    or as text. In a pattern, the numbers of unlabelled tiles may be exchanged.
    """

    def __init__(self, distances: Distances):
        """Raises InputError unless the puzzle is a tile puzzle or a pattern of one."""
        self.puzzle, values = distances.puzzle, distances.values
        missing = int(np.iinfo(values.dtype).max)
        self._table: tuple[Any, ...] = (*_numbering(self.puzzle), values, missing)
        self(self.puzzle.goals[0])  # so that the user's first call compiles nothing

    def __call__(self, board: Sequence[int] | np.ndarray | str) -> int:
        """Return the distance of a board."""
        if isinstance(board, str):
            board = self.puzzle.position(board)
        try:
            codes = np.ascontiguousarray(board, np.int64)
        except (TypeError, ValueError):
            raise InputError(f"board {board!r}: expected text or whole numbers") from None
        if codes.ndim != 1:
            codes = codes.ravel()
        distance = _distance(codes, *self._table)
        if distance == NO_BOARD:
            self._refuse(codes)
        return distance

    def many(self, boards: ArrayLike) -> NDArray[np.int32]:
        """Return the distances, int32[N], of boards, int[N, cells] or int[N, rows, columns]."""
        codes = self.puzzle.notation.pieces.as_boards(boards)
        codes = np.ascontiguousarray(codes, np.int64)
        found = np.empty(len(codes), np.int32)
        _distances(codes, *self._table, found)
        if (wrong := np.flatnonzero(found == NO_BOARD)).size:
            self._refuse(codes[wrong[0]])
        return found

    def _refuse(self, codes: np.ndarray) -> None:
        """Raise InputError for codes that are not a board."""
        pieces = self.puzzle.notation.pieces
        pieces.as_boards([codes])
        raise InputError(f"board {codes.tolist()}: {pieces.broken_rule(codes.tolist())}")

    def __repr__(self) -> str:
        return f"<Heuristic: {counted(self._table[-2].size, 'distance')} of {self.puzzle.title}>"


def _numbering(puzzle: Puzzle) -> tuple[np.ndarray, ...]:
    """Return the tables with which `_distance` finds the entry of a board: the cells in reading
    order, the number of each code, C(place, i), the vertex of each (rank, position of the blank),
    empty if no table is needed, and the radices of the Lehmer index."""
    if not isinstance(puzzle, GridPuzzle) or puzzle.grid.line_length == 1:
        raise InputError(
            f"{puzzle.title}: heuristics are for tile puzzles of two rows and columns or more, and "
            "their patterns; `distance` answers for boards of any puzzle"
        )
    encoding, grid = puzzle.model.encoding, puzzle.grid
    assert isinstance(encoding, ShapeEncoding)  # labelled tiles differ
    labelled = next(sort.codes for sort in encoding.pieces.sorts if sort.distinct)
    number = np.full(grid.cells, LIKE)
    number[list(labelled)] = encoding.rank_of[list(labelled)]
    number[0] = BLANK
    if isinstance(puzzle, PatternPuzzle):
        graph = puzzle.model.encoding.shapes
        binomial, vertex = graph.binomial, graph.region
    else:
        binomial = np.zeros((grid.cells, grid.cells), np.int64)  # the only set of places has rank 0
        shapes = encoding.shapes.rows_of(np.arange(puzzle.model.graph.vertices))
        vertex = (shapes == EMPTY).argmax(axis=1).argsort()
    radices = np.array(LehmerCode(len(labelled)).radices, np.int64)
    tables = grid.reading, number, binomial, vertex, radices
    return tuple(np.ascontiguousarray(table, np.int64) for table in tables)


@kernel
def _distance(board, reading, number, binomial, vertices, radices, values, missing):
    """Return the distance of a board, int64[cells]; UNREACHABLE if it has none, NO_BOARD if the
    codes are not a board. missing: the value of entries without a position."""
    cells = reading.size
    if board.size != cells:
        return -2
    blank, place, labelled, rank, sign, index = -1, 0, 0, 0, 0, 0
    for p in range(cells):
        code = board[reading[p]]
        if code < 0 or code >= cells:
            return -2
        n = number[code]
        if n == -2:
            if blank >= 0:
                return -2
            blank = p
            continue
        if n >= 0:
            digit = 0
            for q in range(p + 1, cells):
                later = board[reading[q]]
                if later == code or later < 0 or later >= cells:
                    return -2
                digit += 0 <= number[later] < n
            if labelled < radices.size:
                index = index * radices[labelled] + digit
            sign ^= digit & 1
            labelled += 1
            rank += binomial[labelled, place]
        place += 1
    if blank < 0 or labelled != binomial.shape[0] - 1:
        return -2
    vertex = rank * cells + blank
    if vertices.size:
        vertex = vertices[vertex]
    found = np.int64(values[2 * vertex + sign, index])
    return -1 if found == missing else found


@kernel
def _distances(boards, reading, number, binomial, vertices, radices, values, missing, found):
    """Write the distances of boards, int64[N, cells]."""
    for n in range(boards.shape[0]):
        found[n] = _distance(
            boards[n], reading, number, binomial, vertices, radices, values, missing
        )
