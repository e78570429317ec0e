"""Boards of pieces that slide into empty cells, as states.

The vertices are all arrangements of the pieces if pieces of one sort look alike
(`frontier.puzzles.board_shapes`), and the metric determines the arcs between them. So cells,
pieces, metric and goals determine the shapes, moves and states.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from frontier.puzzles.board_shapes import EMPTY, Shapes, Sort
from frontier.puzzles.model import ShapeEncoding
from frontier.puzzles.moves import Moves, moves_of
from frontier.puzzles.pieces import OPEN, Board
from frontier.space.graph import BaseGraph


class SlidingEncoding(ShapeEncoding):
    """Boards of pieces that slide."""

    @cached_property
    def shapes(self) -> Shapes:
        return Shapes(self.pieces.cells, self.pieces.sorts)

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
