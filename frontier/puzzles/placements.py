"""Boards of sliding pieces as the placements of their pieces, for boards with too many shapes.

Nothing is enumerated beforehand. The digits of a state (`frontier.space.keys`) are the placements
of the pieces, each numbered in its footprint (`frontier.puzzles.board_shapes`): sort by sort, and
in a sort by the codes of the pieces. Like pieces have theirs ascending, so equal positions have
equal digits.
"""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np

from frontier.kernels.piece_moves import piece_moves
from frontier.puzzles.board_shapes import FIRST_SORT, Footprint
from frontier.puzzles.keyed import DigitEncoding
from frontier.puzzles.moves import METRICS
from frontier.puzzles.pieces import GivenBoards, Pieces
from frontier.space.keys import Rules


class PlacementEncoding(DigitEncoding):
    """Boards as the placements of their pieces."""

    all_goals = True

    def __init__(self, pieces: Pieces, metric: str, given: GivenBoards):
        super().__init__(pieces, metric, given)
        self._footprints = [sort.footprint for sort in pieces.sorts for _ in sort.codes]

    @property
    def radices(self) -> list[int]:
        return [len(footprint.placements) for footprint in self._footprints]

    @property
    def most(self) -> int:
        covered = sum(footprint.size for footprint in self._footprints)
        empty = self.pieces.cells - covered
        each = [_most_moves(footprint, self.metric, empty) for footprint in self._footprints]
        if METRICS[self.metric].paths == "any":
            return max(1, sum(each))
        # Whatever enters an empty cell in one way is the first piece on the way back. Where edges
        # go one way, more steps than there are ways may lead to a placement.
        steps = [(f, b, way) for f in {*self._footprints} for _, b, way in f.steps]
        ways = 1 + max((way for _, _, way in steps), default=0)
        entering = Counter((footprint, b) for footprint, b, _ in steps).values()
        return max(1, min(sum(each), max([ways, *entering]) * empty))

    @cached_property
    def rules(self) -> Rules:
        return Rules(_moves(self.pieces, METRICS[self.metric].paths), self.most, ours=True)

    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes_at = np.take(self.pieces.numbers(boards), self.pieces.reading, axis=1)
        digits = [np.empty((len(boards), 0), np.int64)]
        for number, sort in enumerate(self.pieces.sorts):
            number_at = np.zeros(self.pieces.cells, np.int64)
            number_at[list(sort.footprint.at)] = list(sort.footprint.at.values())
            anchored = rows == FIRST_SORT + number
            placed = number_at[np.nonzero(anchored)[1]].reshape(len(boards), len(sort.codes))
            if sort.distinct:
                order = np.argsort(codes_at[anchored].reshape(placed.shape), axis=1)
                placed = np.take_along_axis(placed, order, axis=1)
            digits.append(placed)
        return np.zeros(len(boards), np.int64), np.hstack(digits)

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        in_order = np.zeros((len(sequence), self.pieces.cells), np.int64)
        codes = [code for sort in self.pieces.sorts for code in sort.codes]
        for code, footprint, digit in zip(codes, self._footprints, sequence.T, strict=True):
            covered = np.array(footprint.placements)[digit]
            np.put_along_axis(in_order, covered, code, axis=1)
        return np.take(in_order, np.argsort(self.pieces.reading), axis=1)


def _most_moves(footprint: Footprint, metric: str, empty: int) -> int:
    """Return a number that the moves of a piece from any of its placements do not exceed.

    empty: the number of empty cells.
    """
    if METRICS[metric].paths == "step":
        return max(map(len, footprint.beyond))
    # Another placement begins in an empty cell or in another cell of the piece.
    return min(len(footprint.placements), empty + footprint.size) - 1


def _moves(pieces: Pieces, paths: str | None) -> Callable:
    """Return the function that lists the moves of the pieces.

    paths: the paths that one move may take, as in `frontier.puzzles.moves.Metric`.
    """
    sorts = pieces.sorts
    ends = np.cumsum([0, *(len(sort.footprint.placements) for sort in sorts)])
    ways = 1 + max((way for sort in sorts for _, _, way in sort.footprint.steps), default=0)
    words = 1 + (pieces.cells - 1) // 64
    # Of all placements of all sorts: the one beyond in each way, or -1, and a bit for each cell.
    beyond = np.full((ends[-1], ways), -1)
    covers = np.zeros((ends[-1], words), np.uint64)
    for first, sort in zip(ends, sorts, strict=False):
        for a, b, way in sort.footprint.steps:
            beyond[first + a, way] = first + b
        for at, cells in enumerate(sort.footprint.placements):
            for cell in cells:
                covers[first + at, cell // 64] |= np.uint64(1 << cell % 64)
    # Of each piece: its first placement, and the digits of the pieces among which it is sorted.
    bounds = np.cumsum([0, *(len(sort.codes) for sort in sorts)])
    first_of, low, high = [], [], []
    for first, sort, (begin, end) in zip(ends, sorts, pairwise(bounds), strict=False):
        for digit in range(begin, end):
            first_of.append(first)
            low.append(digit if sort.distinct else begin)
            high.append(digit if sort.distinct else end - 1)
    of_pieces = np.array([first_of, low, high], np.int64).reshape(3, -1)
    most = max(len(sort.footprint.placements) for sort in sorts)
    straight, any_path = paths == "straight", paths == "any"

    def neighbours(state, out):
        occupied, reached = np.empty(words, np.uint64), np.empty(most, np.int64)
        return piece_moves(
            state, out, of_pieces, beyond, covers, straight, any_path, occupied, reached
        )

    return neighbours
