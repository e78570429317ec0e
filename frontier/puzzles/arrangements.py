"""The base graph of a permutation puzzle: how like pieces and orientations are arranged.

An *arrangement* says which kind of piece lies in each position, all distinct pieces being of one
kind, and how it is turned. It is the vertex, and the distinct pieces in the order of their
positions are the sequence. A generator leads from one arrangement to one other, and what it does to
the sequence follows from the arrangement alone. If all pieces differ and none is turned there is
one vertex, and all arcs are loops.

Pieces never leave the *orbit* of their position under the generators, so the distinct pieces of
each orbit are a class of their own.
"""

from collections.abc import Sequence
from itertools import product
from math import factorial, prod

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import MOST_SHAPES, RowTable, reached, row_numbers
from frontier.puzzles.generators import Generator
from frontier.space.graph import BaseGraph
from frontier.space.group import Group

MOST_VOLTAGES = 30_000

PART = 1 << 18
"""Rows that are looked at in one go."""


class Arrangements(RowTable):
    """The arrangements that generators reach from given ones.

    A row has for each position its orientation + orientations * kind; kind 0 is that of pieces that
    are in the sequence.
    """

    def __init__(
        self,
        first: np.ndarray,
        generators: Sequence[Generator],
        each: np.ndarray,
        orbit: np.ndarray,
    ):
        """first: such rows. each, orbit: int[positions], the number of orientations, and the first
        position of the orbit."""
        self._each, self._generators = each, generators
        _check_number(first[0], generators, each, orbit)
        values = (each * (1 + (first // each).max())).tolist()
        rows = reached(first, self._after_all, values, MOST_SHAPES)
        if len(rows) > MOST_SHAPES:
            raise _too_many(len(rows))
        super().__init__(rows, max(values))

    def _after_all(self, rows: np.ndarray) -> np.ndarray:
        return np.concatenate([self.after(generator, rows) for generator in self._generators])

    def after(self, generator: Generator, rows: np.ndarray) -> np.ndarray:
        """Return the arrangements after a generator."""
        each, turns = (
            np.array(numbers, dtype=np.uint8) for numbers in (self._each, generator.turns)
        )
        turned = rows % each
        return generator.moved(rows - turned + (turned + turns) % each)

    def graph(self, reading: np.ndarray, sizes: Sequence[int]) -> BaseGraph:
        """Return the base graph.

        reading: int64[positions], orbit after orbit, the order in which the sequence lists pieces.
        sizes: of its classes, the largest last.
        """
        length = sum(sizes)
        listed = (self.rows < self._each)[:, reading]
        place = np.full(self.rows.shape, -1, dtype=np.int8)  # in the sequence, of each position
        place[:, reading] = np.where(listed, np.cumsum(listed, axis=1, dtype=np.int8) - 1, -1)
        number: dict[tuple[int, ...], int] = {}
        arcs = []
        # Some rows at a time, as a signal is only answered between the calls of NumPy.
        parts = [slice(n, min(n + PART, len(self))) for n in range(0, len(self), PART)]
        for generator, part in product(self._generators, parts):
            source = np.arange(part.start, part.stop)
            target = self.find(self.after(generator, self.rows[part]))
            place_after = generator.moved(place[part])[:, reading]
            orders = place_after[place[target][:, reading] >= 0].reshape(source.size, length)
            values = [length] * length
            _, index, inverse = np.unique(
                row_numbers(orders, values), return_index=True, return_inverse=True
            )
            voltages_used = [
                number.setdefault(tuple(p), len(number)) for p in orders[index].tolist()
            ]
            if len(number) > MOST_VOLTAGES:
                raise InputError(
                    f"the moves permute the distinct pieces in more than {MOST_VOLTAGES:,} ways, "
                    "more than are supported; fewer groups of like pieces make fewer"
                )
            pair = source * len(self) + target
            arcs.append(pair * (MOST_VOLTAGES + 1) + np.array(voltages_used)[inverse])
        arcs = np.sort(np.concatenate(arcs))
        arcs = arcs[np.diff(arcs, prepend=-1) > 0]  # faster than np.unique, which hashes
        pair, voltage = np.divmod(arcs, MOST_VOLTAGES + 1)
        source, target = np.divmod(pair, len(self))
        # An exchange of like pieces changes nothing.
        identity = number.get(tuple(range(length)), -1)
        moves = (source != target) | (voltage != identity)
        *smaller, m = sizes or [0]
        words = tuple(map(neighbour_swaps, number))
        return BaseGraph(
            len(self), m, words, source[moves], target[moves], voltage[moves], tuple(smaller)
        )


def _check_number(
    row: np.ndarray, generators: Sequence[Generator], each: np.ndarray, orbit: np.ndarray
) -> None:
    """Raise InputError if a lower bound on the number of arrangements that the generators reach
    from one is too large already, without making them.

    Their number is the order of the group of the generators, divided by the number of members that
    leave this arrangement as it is. Such a member exchanges only pieces of one kind in one orbit,
    and how it turns them follows from that. So there are at most n! of them for each kind of n
    pieces in an orbit, multiplied over all kinds; and no more than the members of the group differ
    in where they bring pieces. In the same way the number of positions is the order of the group,
    divided by at most n! for each kind of n like pieces.
    """
    kinds, alike = np.unique(np.stack([orbit, row // each]), axis=1, return_counts=True)
    _, orbits = np.unique(orbit, return_counts=True)
    symmetries = prod(map(factorial, alike.tolist()))
    most_placings = prod(map(factorial, orbits.tolist()))
    most = prod(each.tolist()) * most_placings
    if most <= MOST_SHAPES * symmetries:
        return
    first = np.cumsum(each) - each  # of the points (position, orientation), by position
    position = np.repeat(np.arange(each.size), each)
    turned = np.arange(position.size) - first[position]
    group, placing = Group(position.size, most), Group(each.size, most_placings)
    for generator in generators:
        image, turns = np.array(generator.image), np.array(generator.turns)
        points = first[image[position]] + (turned + turns[position]) % each[position]
        group.extend(points[None])
        placing.extend(image[None])
    least = group.order // min(symmetries, placing.order)
    if least > MOST_SHAPES:
        like = alike[kinds[1] > 0]
        raise _too_many(least, group.order // prod(map(factorial, like.tolist())))


def _too_many(least: int, positions: int | None = None) -> InputError:
    """Return the error for at least `least` arrangements, and `positions` of the puzzle."""
    of_which = "" if positions is None else f"at least {positions:,} positions, with "
    return InputError(
        f"the generators lead to {of_which}more than {MOST_SHAPES:,} arrangements of like pieces "
        f"and orientations (at least {least:,}), more than are supported; fewer like pieces, "
        "orientations or positions make fewer"
    )


def neighbour_swaps(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the fewest neighbour swaps that make a sequence s into s[permutation]."""
    row, swaps = list(range(len(permutation))), []
    for place, member in enumerate(permutation):
        for i in range(row.index(member) - 1, place - 1, -1):
            row[i], row[i + 1] = row[i + 1], row[i]
            swaps.append(i)
    return tuple(swaps)
