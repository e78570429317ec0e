"""The base graph of a permutation puzzle: how like pieces and orientations are arranged.

An *arrangement* says what is seen of each position when distinct pieces are not told apart: which
kind of piece lies there, all distinct ones being of one kind, and how it is turned. It is the
vertex, and the distinct pieces in the order of their positions are the sequence. A generator leads
from one arrangement to one other, and what it does to the sequence follows from the arrangement
alone. Where all pieces differ and none is turned there is one vertex, and all arcs are loops.

Pieces never leave the *orbit* of their position under the generators, so the distinct pieces of
each orbit are a class of their own.
"""

from collections.abc import Sequence

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import MOST_SHAPES
from frontier.puzzles.generators import Generator
from frontier.space.graph import BaseGraph

MOST_VOLTAGES = 30_000


class Arrangements:
    """The arrangements that generators lead to from some, in lexicographic order.

    rows: uint8[N, positions], orientation + orientations * kind; kind 0 is that of pieces that are
    in the sequence.
    """

    def __init__(self, first: np.ndarray, generators: Sequence[Generator], each: np.ndarray):
        """first: such rows. each: int[positions], the number of orientations."""
        self._each, self._generators = each, generators
        known, new = self._keys(first[:0]), np.unique(self._keys(first))
        while new.size:
            known = np.sort(np.concatenate([known, new]))
            if known.size > MOST_SHAPES:
                raise InputError(
                    f"the generators lead to more than {MOST_SHAPES:,} arrangements of like pieces "
                    "and orientations, more than are supported; fewer like pieces or positions "
                    "make fewer"
                )
            rows = self._rows(new)
            reached = [self._keys(self.after(generator, rows)) for generator in generators]
            new = np.setdiff1d(np.concatenate(reached), known)
        self._known, self.rows = known, self._rows(known)

    def __len__(self) -> int:
        return len(self.rows)

    def _keys(self, rows: np.ndarray) -> np.ndarray:
        """Rows as texts of bytes, which compare as the rows do."""
        return np.ascontiguousarray(rows).view(f"S{self._each.size}").ravel()

    def _rows(self, keys: np.ndarray) -> np.ndarray:
        return keys.view(np.uint8).reshape(-1, self._each.size)

    def after(self, generator: Generator, rows: np.ndarray) -> np.ndarray:
        """The arrangements after a generator."""
        kind, turned = np.divmod(rows, self._each.astype(np.uint8))
        turned = (turned + generator.turns) % self._each
        return generator.moved((kind * self._each + turned).astype(np.uint8))

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Numbers of arrangements, int64[N]; -1 where there is no such one."""
        keys = self._keys(rows)
        found = np.minimum(np.searchsorted(self._known, keys), len(self) - 1)
        return np.where(self._known[found] == keys, found, -1)

    def graph(self, reading: np.ndarray, sizes: Sequence[int]) -> BaseGraph:
        """The base graph. reading: int64[positions], orbit after orbit, the order in which the
        sequence lists pieces. sizes: of its classes, the largest last."""
        length = sum(sizes)
        listed = (self.rows < self._each)[:, reading]
        place = np.full(self.rows.shape, -1, dtype=np.int8)  # in the sequence, of each position
        place[:, reading] = np.where(listed, np.cumsum(listed, axis=1) - 1, -1)
        source = np.arange(len(self))
        number: dict[tuple[int, ...], int] = {}
        arcs = []
        for generator in self._generators:
            target = self.find(self.after(generator, self.rows))
            came = generator.moved(place)[:, reading]
            there = place[target][:, reading] >= 0
            permutations, which = np.unique(
                came[there].reshape(len(self), length), axis=0, return_inverse=True
            )
            ours = [number.setdefault(tuple(p), len(number)) for p in permutations.tolist()]
            if len(number) > MOST_VOLTAGES:
                raise InputError(
                    f"the moves permute the distinct pieces in more than {MOST_VOLTAGES:,} ways, "
                    "more than are supported; fewer groups of like pieces make fewer"
                )
            voltage = np.array(ours)[which.ravel()]
            arcs.append((source * len(self) + target) * (MOST_VOLTAGES + 1) + voltage)
        pair, voltage = np.divmod(np.unique(np.concatenate(arcs)), MOST_VOLTAGES + 1)
        source, target = np.divmod(pair, len(self))
        # An exchange of like pieces changes nothing.
        nothing = number.get(tuple(range(length)), -1)
        moves = (source != target) | (voltage != nothing)
        *smaller, m = sizes or [0]
        words = tuple(map(neighbour_swaps, number))
        return BaseGraph(
            len(self), m, words, source[moves], target[moves], voltage[moves], tuple(smaller)
        )


def neighbour_swaps(permutation: Sequence[int]) -> tuple[int, ...]:
    """The fewest neighbour swaps that make a sequence s into s[permutation]."""
    row, swaps = list(range(len(permutation))), []
    for place, wanted in enumerate(permutation):
        for i in range(row.index(wanted) - 1, place - 1, -1):
            row[i], row[i + 1] = row[i + 1], row[i]
            swaps.append(i)
    return tuple(swaps)
