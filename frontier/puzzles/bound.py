"""A lower bound on the moves to the goal: the moves that each piece needs on an empty board.

For each piece a table says how far it is from its place in the goal if nothing else were there. A
move displaces one piece, so the sum over the pieces never exceeds the moves that are needed. Where
one move slides several tiles by a cell each, the sum of the steps is to be divided by the most
tiles that a move slides.

Each of several like pieces counts its way to the nearest of their places. That is less than the
truth when two of them count the same place. Where their exchange is impossible, as an odd
permutation is when everything else must stay as it is, each has a place of its own in the goal,
and they can be *distinguished*: the puzzle with pieces that differ then has just as many positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from frontier.puzzles.board_shapes import Shapes, Sort
from frontier.puzzles.boards import OPEN, Board
from frontier.puzzles.footprints import Footprint
from frontier.puzzles.metrics import METRICS, moves_of
from frontier.puzzles.patterns import Pattern
from frontier.puzzles.permutations import Permutations
from frontier.puzzles.puzzle import Puzzle
from frontier.space.deepening import Displacements

FAR = 10_000
"""Distance of a placement from which the goal's cannot be reached."""

MOST_LIKE = 5
"""Groups of more like pieces are not distinguished."""


@dataclass(frozen=True)
class Bound:
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
        """The sums of the tables at boards, int[N, cells]: int64[N]."""
        in_order = boards[:, self.reading]
        sums = np.zeros(len(boards), dtype=np.int64)
        for code, row in self.row_of.items():
            sums += self.tables[row, (in_order == code).argmax(axis=1)]
        return sums


def bound_of(puzzle: Puzzle) -> Bound:
    """The lower bound of a puzzle.

    After the members of the sequence come those of the fixed sorts, then a row for each sort,
    for like pieces. A piece that some goal leaves open needs no move.
    """
    if isinstance(puzzle, Permutations):
        return _no_bound(puzzle)
    moves, sorts = puzzle.moves, puzzle.sorts
    sort_of = {code: sort for sort in sorts for code in sort.codes}
    single = [code for code in puzzle.members.tolist() if sort_of[code].distinct]
    tables = [_table(puzzle, sort_of[code], [code]) for code in single]
    tables += [_table(puzzle, sort, sort.codes) for sort in sorts]
    row_of = {code: len(single) + n for n, sort in enumerate(sorts) for code in sort.codes}
    row_of |= {code: row for row, code in enumerate(single)}
    row = np.where(moves.place >= puzzle.graph.length, moves.place, -1)
    row = np.where(moves.place < 0, len(single) + moves.sort, row)
    columns = (moves.start, np.maximum(moves.place, 0), row, moves.source, moves.target)
    return Bound(
        puzzle.reading,
        np.array(tables, dtype=np.int64).reshape(len(tables), puzzle.cells),
        row_of,
        Displacements(*(column.astype(np.int64) for column in columns)),
        most_steps=int(np.diff(moves.start).max(initial=1)),
    )


def _no_bound(puzzle: Puzzle) -> Bound:
    """The bound 0, as one move may bring every piece home."""
    none = np.empty(0, dtype=np.int64)
    start = np.zeros(puzzle.graph.source.size + 1, dtype=np.int64)
    return Bound(
        np.arange(puzzle.cells),
        np.zeros((1, puzzle.cells), dtype=np.int64),
        {},
        Displacements(start, none, none, none, none),
        most_steps=1,
    )


def _table(puzzle: Puzzle, sort: Sort, codes: Sequence[int]) -> np.ndarray:
    """The least moves from each anchor to where one of the codes lies in some goal."""
    if isinstance(puzzle, Pattern) and not sort.distinct:  # arcs do not say which of them moves
        return np.zeros(puzzle.cells, dtype=np.int64)
    best = np.full(puzzle.cells, FAR)
    for goal in puzzle.goals:
        anchors = [np.array(goal)[puzzle.reading].tolist().index(c) for c in codes if c in goal]
        if len(anchors) < len(codes):  # some may lie anywhere
            return np.zeros(puzzle.cells, dtype=np.int64)
        best[anchors] = 0
    source, target = _moves_alone(sort.footprint, puzzle.cells, METRICS[puzzle.metric].alone)
    before = None
    while before is None or (best != before).any():
        before = best.copy()
        np.minimum.at(best, target, before[source] + 1)
    return best


@lru_cache(maxsize=1)
def _moves_alone(footprint: Footprint, cells: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """The anchors before and after each move of a piece with nothing else on the board."""
    shapes = Shapes(cells, [Sort(footprint, (1,), True)])
    moves = moves_of(shapes, metric, may_fix=True)
    return moves.source, moves.target


def distinguished(puzzle: Puzzle) -> Puzzle:
    """The puzzle with those groups of like pieces distinguished that cannot change places."""
    if isinstance(puzzle, Pattern | Permutations):
        return puzzle
    if any(OPEN in goal for goal in puzzle.goals):
        return puzzle
    for sort in puzzle.sorts:
        if not sort.distinct and len(sort.codes) <= MOST_LIKE:
            same = [s for s in puzzle.sorts if s.footprint == sort.footprint]
            same = [s for s in same if s.distinct or s == sort]
            rest = [s for s in puzzle.sorts if s not in same]
            codes = tuple(sorted(code for s in same for code in s.codes))
            other = puzzle.with_sorts([*rest, Sort(sort.footprint, codes, True)])
            if other.states == puzzle.states:
                puzzle = other
    return puzzle


def distinguished_board(puzzle: Puzzle, other: Puzzle, board: Board) -> Board:
    """A board as one of the `distinguished` puzzle, like pieces named so that it is reachable."""
    distinct = {code for sort in other.sorts if sort.distinct for code in sort.codes}
    boards = [board]
    for sort in puzzle.sorts:
        if not sort.distinct and sort.codes[0] in distinct:
            names = [
                dict(zip(sort.codes, order, strict=True)) for order in permutations(sort.codes)
            ]
            boards = [tuple(name.get(code, code) for code in b) for b in boards for name in names]
    return next(named for named in boards if other.reaches(named))
