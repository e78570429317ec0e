"""Boards of pieces that slide into empty cells, as states.

The vertices are all arrangements of the pieces if pieces of one sort look alike
(`frontier.puzzles.board_shapes`), and the metric determines the arcs between them. So cells,
pieces, metric and goals determine the shapes, moves and states.
"""

from dataclasses import replace
from functools import cached_property
from itertools import chain, permutations, product
from math import factorial, prod

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Shapes, Sort
from frontier.puzzles.model import ShapeEncoding
from frontier.puzzles.moves import Moves, moves_of
from frontier.puzzles.pieces import OPEN, Board
from frontier.space.graph import BaseGraph

MOST_ORIGINS = 1_000_000


class SlidingEncoding(ShapeEncoding):
    """Boards of pieces that slide.

    If there are too many shapes, only the shapes that can be reached from the goals and the start
    are used.
    """

    @cached_property
    def shapes(self) -> Shapes:
        goals, start = self.given.goals, self.given.start
        boards = [board for board in (*goals, start) if board and OPEN not in board]
        if start is None and len(boards) < len(goals):
            return Shapes(self.pieces.cells, self.pieces.sorts)
        in_order = np.array(boards)[:, self.pieces.reading]
        return Shapes(self.pieces.cells, self.pieces.sorts, in_order)

    @property
    def graph(self) -> BaseGraph:
        return self.moves.graph

    @cached_property
    def moves(self) -> Moves:
        # If goals show the pieces of a sort in different orders, the sequence must list these
        # pieces.
        goals = self.given.goals
        whole = all(OPEN not in goal for goal in goals)
        may_fix = whole and len({*map(self.pieces.order_on, (*goals, self.given.reference))}) == 1
        return moves_of(self.shapes, self.metric, may_fix)

    @property
    def _ranked(self) -> list[int]:
        like = [number for number, sort in enumerate(self.pieces.sorts) if not sort.distinct]
        return [*self.moves.in_sequence, *self.moves.fixed, *like]

    def empty_as_on(self, board: Board) -> np.ndarray:
        empty = np.array(board)[self.pieces.reading] == 0
        return ((self.shapes.rows == EMPTY) == empty).all(axis=1)

    def distinguishing(self, sort: Sort) -> "SlidingEncoding":
        sorts, footprint = self.pieces.sorts, sort.footprint
        alike = [s for s in sorts if s.footprint == footprint and (s.distinct or s == sort)]
        others = [s for s in sorts if s not in alike]
        codes = tuple(sorted(code for s in alike for code in s.codes))
        pieces = replace(self.pieces, sorts=(*others, Sort(footprint, codes, True)))
        return SlidingEncoding(pieces, self.metric, self.given._replace(start=None))

    def goal_states(self) -> np.ndarray:
        goals = self.given.goals
        if not any(OPEN in goal for goal in goals):
            return super().goal_states()
        texts = self.given.goal_texts
        return np.concatenate(
            [self._states_agreeing(*goal) for goal in zip(goals, texts, strict=True)]
        )

    def _states_agreeing(self, goal: Board, text: str) -> np.ndarray:
        """Return the states, int64[N, 1 + length], of all boards that agree with a goal.

        text: the written goal. Raises InputError if there are no such boards, or too many.
        """
        in_order = np.array(goal)[self.pieces.reading]
        agree = (self.shapes.rows[:, in_order == 0] == EMPTY).all(axis=1)
        for number, sort in enumerate(self.pieces.sorts):
            for code in set(sort.codes).intersection(goal):
                anchor = (in_order == code).argmax()
                agree &= self.shapes.rows[:, anchor] == FIRST_SORT + number
        vertices = np.flatnonzero(agree)
        # The rank in each place of the sequence if the goal gives it, otherwise -1.
        ranks_given = np.full((len(vertices), self.graph.length), -1)
        blocks = [self.ranks[number] for number in self.moves.in_sequence]
        for number, ranks in zip(self.moves.in_sequence, blocks, strict=True):
            anchor = np.nonzero(self.shapes.rows[vertices] == FIRST_SORT + number)[1]
            codes = in_order[anchor].reshape(ranks_given[:, ranks].shape)
            ranks_given[:, ranks] = np.where(codes == OPEN, -1, self.rank_of[codes])
        states, count = [], 0
        different, inverse = np.unique(ranks_given, axis=0, return_inverse=True)
        order = np.argsort(inverse.ravel(), kind="stable")
        alike = np.split(vertices[order], np.cumsum(np.bincount(inverse.ravel()))[:-1])
        for ranks, vertices_alike in zip(different.tolist(), alike, strict=False):
            count += len(vertices_alike) * prod(
                factorial(ranks[block].count(-1)) for block in blocks
            )
            if count <= MOST_ORIGINS:
                states.append(_states_with(vertices_alike, ranks, blocks))
        if not count:
            raise InputError(f"no board agrees with the goal {text}")
        if count > MOST_ORIGINS:
            raise InputError(
                f"{count:,} boards agree with the goal {text}: at most {MOST_ORIGINS:,} positions "
                "can be at depth 0; specify more cells of the goal"
            )
        return np.concatenate(states)


def _states_with(vertices: np.ndarray, ranks_given: list[int], blocks: list[slice]) -> np.ndarray:
    """Return all states, int64[N, 1 + length], at the given vertices with the given ranks in their
    places.

    ranks_given: a rank or -1 for each place of the sequence. blocks: parts of the sequence, each
    with its own ranks.
    """
    missing = [set(range(block.start, block.stop)).difference(ranks_given) for block in blocks]
    orders = [tuple(chain(*parts)) for parts in product(*map(permutations, map(sorted, missing)))]
    sequence = np.tile(ranks_given, (len(orders), 1)).astype(np.int64)
    sequence[:, np.array(ranks_given, dtype=np.int64) < 0] = orders
    vertex = np.repeat(vertices, len(orders))[:, None]
    return np.hstack([vertex, np.tile(sequence, (len(vertices), 1))])
