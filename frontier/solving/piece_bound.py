"""A lower bound on the moves to the goal: the moves that each piece needs on an empty board.

For each piece a table holds the distance to its goal place on an empty board. A move displaces one
piece, so the sum over the pieces never exceeds the moves needed. If one move slides several tiles
by a cell each, the bound is the sum divided by the most tiles that a move slides.

For each of several like pieces the bound counts the moves to the nearest of their goal places. The
bound is weak if it counts one place for two pieces. If like pieces cannot change places, for
example because only even permutations are reachable, each has its own goal place, and they can be
*distinguished*: the puzzle in which they differ then has the same number of positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from frontier.puzzles.board_shapes import Footprint, Shapes, Sort
from frontier.puzzles.model import Model, ShapeEncoding
from frontier.puzzles.moves import METRICS, moves_of
from frontier.puzzles.pieces import OPEN, Board
from frontier.solving.pieces_kernel import Displacements

UNREACHABLE = 10_000
"""The distance of a placement from which no goal placement can be reached."""

MOST_LIKE = 5
"""The most like pieces of a group that is distinguished."""


@dataclass(frozen=True)
class LowerBound:
    """The lower bound for one puzzle.

    reading: the cells of the puzzle in reading order.
    tables: int64[rows, cells], the least number of moves that a piece needs, by the cell of its
        anchor in reading order; the members of the sequence come first.
    row_of: the row of each piece, by its code on boards.
    displacements: the rows that the arcs of the base graph change, and the cells.
    most_steps: the greatest amount by which one move lowers the sum of the tables.
    """

    reading: np.ndarray
    tables: np.ndarray
    row_of: dict[int, int]
    displacements: Displacements
    most_steps: int

    def sums(self, boards: np.ndarray) -> np.ndarray:
        """Return the sums of the tables, int64[N], for boards, int[N, cells]."""
        in_order = boards[:, self.reading]
        sums = np.zeros(len(boards), dtype=np.int64)
        for code, row in self.row_of.items():
            sums += self.tables[row, (in_order == code).argmax(axis=1)]
        return sums


def bound_of(model: Model) -> LowerBound:
    """Return the lower bound for a puzzle.

    The rows of the members of the sequence come first, then the rows of the pieces of fixed sorts,
    then one row per sort for like pieces. The table of a piece is 0 if some goal leaves its place
    open, or if the arcs do not list pieces of its sort, because one move may bring all such pieces
    home.
    """
    encoding, goals = model.encoding, model.goals
    if not isinstance(encoding, ShapeEncoding):
        none = np.zeros(0, dtype=np.int64)
        start = np.zeros(1 + model.graph.source.size, dtype=np.int64)
        no_moves = np.zeros((1, encoding.pieces.cells), dtype=np.int64)
        moved = Displacements(start, none, none, none, none)
        return LowerBound(encoding.pieces.reading, no_moves, {}, moved, most_steps=1)
    moves, sorts = encoding.moves, encoding.pieces.sorts
    sort_of = {code: number for number, sort in enumerate(sorts) for code in sort.codes}
    single = [code for code in encoding.members.tolist() if sorts[sort_of[code]].distinct]
    rows = [(sort_of[code], [code]) for code in single]
    rows += [(number, list(sort.codes)) for number, sort in enumerate(sorts)]
    displaced = set(np.unique(moves.sort).tolist())
    tables = [
        _table(encoding, goals, sorts[number], codes if number in displaced else [])
        for number, codes in rows
    ]
    row_of = {code: len(single) + number for code, number in sort_of.items()}
    row_of |= {code: row for row, code in enumerate(single)}
    row = np.where(moves.place >= model.graph.length, moves.place, -1)
    row = np.where(moves.place < 0, len(single) + moves.sort, row)
    columns = (moves.start, np.maximum(moves.place, 0), row, moves.source, moves.target)
    return LowerBound(
        encoding.pieces.reading,
        np.array(tables, dtype=np.int64).reshape(len(tables), encoding.pieces.cells),
        row_of,
        Displacements(*(column.astype(np.int64) for column in columns)),
        most_steps=int(np.diff(moves.start).max(initial=1)),
    )


def _table(
    encoding: ShapeEncoding, goals: Sequence[Board], sort: Sort, codes: Sequence[int]
) -> np.ndarray:
    """Return the least number of moves from each anchor to the place of one of the codes in some
    goal; 0 if there are no codes."""
    pieces = encoding.pieces
    best = np.full(pieces.cells, UNREACHABLE if codes else 0)
    for goal in goals if codes else ():
        anchors = [np.array(goal)[pieces.reading].tolist().index(c) for c in codes if c in goal]
        if len(anchors) < len(codes):  # some pieces may lie anywhere
            return np.zeros(pieces.cells, dtype=np.int64)
        best[anchors] = 0
    alone = METRICS[encoding.metric].alone
    source, target = _moves_alone(sort.footprint, pieces.cells, alone)
    before = None
    while before is None or (best != before).any():
        before = best.copy()
        np.minimum.at(best, source, before[target] + 1)
    return best


@lru_cache(maxsize=1)
def _moves_alone(footprint: Footprint, cells: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the anchors before and after each move of a piece alone on the board."""
    shapes = Shapes(cells, [Sort(footprint, (1,), True)])
    moves = moves_of(shapes, metric, may_fix=True)
    return moves.source, moves.target


def distinguished(model: Model) -> Model:
    """Return the model that distinguishes like pieces in groups whose pieces cannot change
    places."""
    if any(OPEN in goal for goal in model.goals):
        return model
    if not isinstance(model.encoding, ShapeEncoding):
        return model
    for sort in model.encoding.pieces.sorts:
        if not sort.distinct and len(sort.codes) <= MOST_LIKE:
            encoding = model.encoding.distinguishing(sort)
            if encoding is None:
                continue
            # Without the start: once like pieces differ, their codes on the start may make the goal
            # unreachable.
            candidate = Model(encoding, start=None)
            if candidate.states == model.states:
                model = candidate
    return model


def distinguished_board(model: Model, distinguished_model: Model, board: Board) -> Board:
    """Return a board as a board of the `distinguished` model, with the codes of like pieces that
    make it reachable."""
    distinct = {
        code
        for sort in distinguished_model.encoding.pieces.sorts
        if sort.distinct
        for code in sort.codes
    }
    boards = [board]
    for sort in model.encoding.pieces.sorts:
        if not sort.distinct and sort.codes[0] in distinct:
            names = [
                dict(zip(sort.codes, order, strict=True)) for order in permutations(sort.codes)
            ]
            boards = [tuple(name.get(code, code) for code in b) for b in boards for name in names]
    return next(named for named in boards if distinguished_model.reaches(named))
