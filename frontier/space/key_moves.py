"""The moves of a base graph as a function that lists the neighbours of a state.

Nothing here numbers states or finds out which can be reached, so the first layers of any puzzle can
be searched by keys (`frontier.space.keys`). The digits of a state are its vertex and, for each
place of its sequence, which member is there. Voltages exchange only places that may hold the same
members, so the digit of a member is its rank among the members of its place.

An arc leads to its target and brings to each place the member from some place. In a permutation
puzzle a member is a piece in an orientation, and a move may also turn it: a turn permutes the
members of a place.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frontier.space.graph import Arcs, BaseGraph
from frontier.space.keys import Rules
from frontier.space.points import Points


class Turns(NamedTuple):
    """What voltages do to the members that they move.

    of: int64[voltages, places], the turn of the member that arrives in each place. ranks:
    int64[turns, places, members], the rank of each member of a place after each turn.
    """

    of: np.ndarray
    ranks: np.ndarray


class KeyMoves:
    """States as digits, and the moves between them.

    radices: the radices of the digits. most: the most neighbours of a state. rules: the function
    that lists them.
    """

    def __init__(
        self, arcs: Arcs, source: np.ndarray, members: Sequence[np.ndarray],
        turns: Turns | None = None,
    ):  # fmt: skip
        """source: int64[voltages, places], the place from which each place gets its member.
        members: the members that may be in each place, ascending. turns: None if no member is
        turned."""
        self._arcs, self._source, self._members = arcs, source, members
        most = max(map(len, members), default=0)
        unturned = np.tile(np.arange(most), (1, len(members), 1))
        self._turns = turns or Turns(np.zeros_like(source), unturned)
        self.radices = [len(arcs.start) - 1, *map(len, members)]
        self.most = max(1, int(np.diff(arcs.start).max(initial=0)))

    @classmethod
    def of(cls, graph: BaseGraph, members: Sequence[np.ndarray] | None = None) -> "KeyMoves":
        """Return the moves of a base graph. members: by default, each class has as many members as
        places, and all differ."""
        if members is None:
            sizes = [*graph.smaller, graph.m]
            ends = np.cumsum(sizes).tolist()
            classes = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
            members = [c for c in classes for _ in c]
        return cls(graph.arcs, graph.permutations, members)

    def digits_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Return the digits, int64[N, 1 + places], of states."""
        ranks = map(np.searchsorted, self._members, sequence.T)
        return np.column_stack([vertex, *ranks]).astype(np.int64)

    def states_of(self, digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices and the sequences of states; inverse of `digits_of`."""
        sequence = np.empty((len(digits), len(self._members)), np.int64)
        for place, members in enumerate(self._members):
            sequence[:, place] = members[digits[:, 1 + place]]
        return digits[:, 0], sequence

    @cached_property
    def rules(self) -> Rules:
        (start, target, voltage), source, places = self._arcs, self._source, len(self._members)
        turn, ranks = self._turns

        def neighbours(state, out):
            count = 0
            for arc in range(start[state[0]], start[state[0] + 1]):
                move = voltage[arc]
                out[count, 0] = target[arc]
                for i in range(places):
                    out[count, 1 + i] = ranks[turn[move, i], i, state[1 + source[move, i]]]
                count += 1
            return count

        return Rules(neighbours, self.most, ours=True)


class PointMoves(KeyMoves):
    """The moves of a permutation puzzle, between colourings of its points.

    A place is a position. Its member is the piece there as the number label * size + orientation,
    where size is the most orientations of a piece. An orientation that does not matter is 0.
    """

    def __init__(self, points: Points):
        self._points, self._size = points, max(1, int(points.each.max()))
        each, places = points.each, np.arange(points.positions)
        source = np.argsort(points.moves[:, places], axis=1)
        # Where a move takes the first sticker of a position shows by how much it turns the piece.
        first = np.minimum(points.positions + np.cumsum(each) - each, points.count - 1)
        arriving = np.take_along_axis(points.moves, first[source], axis=1)
        turn = np.where(each > 0, points.sticker[arriving], 0)
        members = list(map(self._members_at, range(places.size)))
        ranks = np.zeros((self._size, places.size, max(map(len, members))), np.int64)
        for place, here in enumerate(members):
            label, turned = np.divmod(here, self._size)
            for more in range(self._size):
                after = (turned + more) % np.where(points.wild[label], 1, max(1, each[place]))
                ranks[more, place, : here.size] = np.searchsorted(here, here - turned + after)
        moves = np.arange(len(source))
        arcs = Arcs(np.array([0, moves.size]), np.zeros_like(moves), moves)
        super().__init__(arcs, source, members, Turns(turn, ranks))

    def _members_at(self, place: int) -> np.ndarray:
        """Return the members that may be in a place."""
        points, size = self._points, self._size
        labels = np.unique(points.label[: points.positions][points.orbit == points.orbit[place]])
        turns = [1 if points.wild[label] else points.each[place] for label in labels]
        pairs = zip(labels.tolist(), turns, strict=True)
        return np.array([size * label + turn for label, count in pairs for turn in range(count)])

    def digits_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        labels, turns = self._points.boards(sequence)
        return super().digits_of(vertex, labels * self._size + turns)

    def states_of(self, digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        vertex, members = super().states_of(digits)
        return vertex, self._points.colourings(*np.divmod(members, self._size))
