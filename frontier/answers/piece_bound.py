"""A lower bound on the moves to the goal: the moves that each piece needs on an empty board.

For each piece a table holds its distance from its place in the goal on an empty board. A move
displaces one piece, so the sum over the pieces never exceeds the moves that are needed. If one move
slides several tiles by a cell each, the sum of the steps is to be divided by the most tiles that a
move slides.

Each of several like pieces counts its way to the nearest of their places. That is less than the
truth when two of them count the same place. If their exchange is impossible, as an odd permutation
is when everything else must stay as it is, each has a place of its own in the goal, and they can be
*distinguished*: the puzzle with pieces that differ then has just as many positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from frontier.answers.ida_kernel import Displacements
from frontier.puzzles.board_shapes import Footprint, Shapes, Sort
from frontier.puzzles.model import Model, ShapeEncoding
from frontier.puzzles.moves import METRICS, moves_of
from frontier.puzzles.pieces import OPEN, Board

UNREACHABLE = 10_000
"""The distance of a placement from which the goal's cannot be reached."""

MOST_LIKE = 5
"""Groups of more like pieces are not distinguished."""


@dataclass(frozen=True)
class LowerBound:
    """The lower bound of one puzzle.

    reading: its cells in reading order.
    tables: int64[rows, cells], the moves that a piece needs at least, by the cell of its anchor in
        reading order; first those of the members of the sequence.
    row_of: the row of each piece, by its code on boards.
    displacements: which rows the arcs of the base graph change, and where.
    most_steps: the most that one move takes off the sum of the tables.
    """

    reading: np.ndarray
    tables: np.ndarray
    row_of: dict[int, int]
    displacements: Displacements
    most_steps: int

    def sums(self, boards: np.ndarray) -> np.ndarray:
        """Return the sums of the tables at boards, int[N, cells]: int64[N]."""
        in_order = boards[:, self.reading]
        sums = np.zeros(len(boards), dtype=np.int64)
        for code, row in self.row_of.items():
            sums += self.tables[row, (in_order == code).argmax(axis=1)]
        return sums


def bound_of(model: Model) -> LowerBound:
    """Return the lower bound of a puzzle.

    After the members of the sequence come those of the fixed sorts, then a row for each sort,
    for like pieces. A piece that some goal leaves open needs no move, nor does one of a sort that
    no arc displaces by itself: one move may bring all such pieces home.
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
    """Return the least moves from each anchor to a place of one of the codes in some goal; 0 if
    there are no codes."""
    pieces = encoding.pieces
    best = np.full(pieces.cells, UNREACHABLE if codes else 0)
    for goal in goals if codes else ():
        anchors = [np.array(goal)[pieces.reading].tolist().index(c) for c in codes if c in goal]
        if len(anchors) < len(codes):  # some may lie anywhere
            return np.zeros(pieces.cells, dtype=np.int64)
        best[anchors] = 0
    alone = METRICS[encoding.metric].alone
    source, target = _moves_alone(sort.footprint, pieces.cells, alone)
    before = None
    while before is None or (best != before).any():
        before = best.copy()
        np.minimum.at(best, target, before[source] + 1)
    return best


@lru_cache(maxsize=1)
def _moves_alone(footprint: Footprint, cells: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the anchors before and after each move of a piece with nothing else on the board."""
    shapes = Shapes(cells, [Sort(footprint, (1,), True)])
    moves = moves_of(shapes, metric, may_fix=True)
    return moves.source, moves.target


def distinguished(model: Model) -> Model:
    """Return the model with those groups of like pieces distinguished that cannot change places."""
    if any(OPEN in goal for goal in model.goals):
        return model
    if not isinstance(model.encoding, ShapeEncoding):
        return model
    for sort in model.encoding.pieces.sorts:
        if not sort.distinct and len(sort.codes) <= MOST_LIKE:
            encoding = model.encoding.distinguishing(sort)
            if encoding is None:
                continue
            # The start may name like pieces, once they differ, so that it reaches no goal.
            candidate = Model(encoding, start=None)
            if candidate.states == model.states:
                model = candidate
    return model


def distinguished_board(model: Model, distinguished_model: Model, board: Board) -> Board:
    """Return a board as one of the `distinguished` model, like pieces named so that it is
    reachable."""
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
