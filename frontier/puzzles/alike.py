"""Boards of sliding pieces, some of them alike, as states with colours.

If a vertex showed which of the pieces of one form are alike, there would soon be too many vertices.
So a vertex shows only the forms of pieces, the sequence treats all pieces as different, and its
colours show which are alike. A tower numbers these states (`frontier.space.tower`). If there are
few shapes, they are the vertices, as in `frontier.puzzles.sliding`; if there are too many, nothing
is numbered (`frontier.puzzles.placements`).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import factorial, prod

import numpy as np

from frontier.puzzles.board_shapes import FIRST_SORT, MOST_SHAPES, Footprint, Sort, fill
from frontier.puzzles.model import Encoding, Reached
from frontier.puzzles.pieces import OPEN, Board, GivenBoards, Pieces
from frontier.puzzles.placements import PlacementEncoding
from frontier.puzzles.sliding import SlidingEncoding
from frontier.space.graph import BaseGraph
from frontier.space.key_moves import KeyMoves
from frontier.space.orbits import Orbits
from frontier.space.points import Points, points_of
from frontier.space.tower import Graph
from frontier.space.tower_space import AnySpace

MOST_EXPLICIT = 5_000
"""The most shapes that serve as vertices."""


def sliding_encoding(pieces: Pieces, metric: str, given: GivenBoards) -> Encoding:
    """Return the encoding of boards of pieces that slide."""
    explicit = SlidingEncoding(pieces, metric, given)
    codes, sorts = _codes_by_form(pieces), pieces.sorts
    ways = prod(map(factorial, map(len, codes.values())))
    ways //= prod(factorial(len(sort.codes)) for sort in sorts)
    if ways > 1 and not any(OPEN in goal for goal in given.goals):
        sorts = tuple(Sort(form, codes[form], True) for form in codes)
    if fill(pieces.cells, sorts, MOST_SHAPES) is None:
        return PlacementEncoding(pieces, metric, given)
    if sorts == pieces.sorts or fill(pieces.cells, sorts, MOST_EXPLICIT // ways) is not None:
        return explicit
    encoding = AlikeEncoding(explicit, SlidingEncoding(replace(pieces, sorts=sorts), metric, given))
    return encoding if encoding.graph.length else explicit


def _codes_by_form(pieces: Pieces) -> Mapping[Footprint, tuple[int, ...]]:
    codes: dict[Footprint, tuple[int, ...]] = {}
    for sort in pieces.sorts:
        codes[sort.footprint] = tuple(sorted((*codes.get(sort.footprint, ()), *sort.codes)))
    return codes


class AlikeEncoding(Encoding):
    """Boards as pairs of a shape of forms and the colours of the sequence."""

    def __init__(self, explicit: SlidingEncoding, forms: SlidingEncoding):
        super().__init__(explicit.pieces, explicit.metric, explicit.given)
        self._explicit, self._forms = explicit, forms

    @property
    def explicit(self) -> SlidingEncoding:
        return self._explicit

    @property
    def graph(self) -> BaseGraph:
        """The base graph of forms. Its sequence treats like pieces as different."""
        return self._forms.graph

    @cached_property
    def _members(self) -> list[np.ndarray]:
        """The ranks of the pieces of each colour."""
        ranks = self._forms.rank_of
        alike = [sort.codes for sort in self.pieces.sorts if not sort.distinct]
        single = [(code,) for sort in self.pieces.sorts if sort.distinct for code in sort.codes]
        found = [np.sort(ranks[list(codes)]) for codes in (*alike, *single)]
        return [some for some in found if some[0] < self.graph.length]

    @cached_property
    def _colour(self) -> np.ndarray:
        """The colour of each rank of the sequence, an index of `_members`."""
        colour = np.empty(self.graph.length, dtype=np.int64)
        for number, ranks in enumerate(self._members):
            colour[ranks] = number
        return colour

    @cached_property
    def _points(self) -> tuple[Points, np.ndarray]:
        """The places of the sequence, and the label of each colour there."""
        length = self.graph.length
        still, each = np.zeros(length, dtype=np.int64), np.ones(length, dtype=np.int64)
        moves = [(image, still) for image in np.argsort(self.graph.permutations, axis=1)]
        # Moves from one goal might not reach the places that pieces of a form have in another goal.
        sizes = np.array([*self.graph.smaller, self.graph.m])
        forms = np.repeat(np.cumsum(sizes) - sizes, sizes)
        points = points_of(moves, each, self._colour, still, still.astype(bool), forms)
        label = np.empty(len(self._members), dtype=np.int64)
        label[self._colour] = points.label
        return points, label

    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = np.where(rows >= FIRST_SORT, boards[:, self.pieces.reading], 0)
        for number, sort in enumerate(self.pieces.sorts):
            if not sort.distinct:
                codes[rows == FIRST_SORT + number] = np.tile(sort.codes, len(boards))
        vertex, sequence = self._forms.states_of(self.pieces.laid(rows, codes))
        points, label = self._points
        return vertex, points.with_labels(label[self._colour[sequence]])

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        points, label = self._points
        labels, _ = points.boards(sequence)
        ranks = np.empty(labels.shape, dtype=np.int64)
        for number, members in enumerate(self._members):
            ranks[labels == label[number]] = np.tile(members, len(labels))
        return self._forms.boards_of(vertex, ranks)

    @property
    def key_moves(self) -> KeyMoves:
        points, label = self._points
        by_form = [np.unique(label[self._colour[points.orbit == f]]) for f in points.orbit]
        return KeyMoves.of(self.graph, by_form)

    def reach(self, vertex: np.ndarray, sequence: np.ndarray) -> Orbits:
        graph = self.graph
        arcs = Graph(graph.vertices, graph.source, graph.target, graph.voltage.astype(np.int64))
        return Orbits(self._points[0], arcs, vertex, sequence)

    def space(self, reach: Reached, vertex: np.ndarray, sequence: np.ndarray) -> AnySpace:
        assert isinstance(reach, Orbits)  # see `reach`
        return reach.space

    def empty_as_on(self, board: Board) -> np.ndarray:
        return self._forms.empty_as_on(board)
