"""The space of states that a tower numbers, divided into rows, with the tables that kernels read.

Neighbouring digits are joined without changing any number: a few *outer* digits number the rows,
and one last digit numbers the states of a row. Before that, sections that write the same digits
whatever they read become one (E. F. Moore's minimisation, from the last digit to the first). Then
one section remains for each permutation of a row's states that occurs.

A move brings all states of a row to one other row, and permutes them with one section. So a row
takes the place of a node of `frontier.space.graph.Space`: it is the bitmap of a node, and has no
prefix. Layers are divided, stored and read in the same way (`frontier.space.layout`).
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple
from zlib import crc32

import numpy as np

from frontier.space.graph import Space
from frontier.space.keys import KeySpace
from frontier.space.tower import Graph, Tower
from frontier.space.words import SLAB_BYTES, Numbered, RowCode

Tables = tuple[np.ndarray, np.ndarray]
"""`to` and `then` of a digit: int32[sections, radix] each."""

ROW_COST, ENTRY_COST = 500.0, 0.5e-6
"""The cost of going to a row, shared by its states, and the cost of an entry of its table: large
tables do not stay in the caches."""

OUTER_ENTRIES = 1 << 16
"""The most entries of a table of joined outer digits."""


class Walk(NamedTuple):
    """The arcs and the tables of the outer digits, for kernels.

    start: int64[vertices + 1]; the arcs at vertex v are start[v] .. start[v+1]-1. end: int32[arcs],
    the vertex at the other end. section: int32[arcs], the section of the first digit. rows: the
    number of rows at a vertex. radix: int64[digits]. first: int64[digits], where the entries of
    each digit begin. to, then: int32[entries]; the entry of section s and value d of a digit is at
    first + s * radix + d.
    """

    start: np.ndarray
    end: np.ndarray
    section: np.ndarray
    rows: int
    radix: np.ndarray
    first: np.ndarray
    to: np.ndarray
    then: np.ndarray


class TowerSpace(Numbered):
    """The states of a tower and what moves do to them.

    tower: numbers the states. code: the states of a row; state x of row n has the number
    n * code.half + x. nodes: the number of rows, in a list with one entry, because there is one
    side. walk: the arcs, each undone by some arc, with the tables of the outer digits. to: uint16
    or uint32[sections, states of a row], the place of each state in its new row. inverse:
    int32[sections], the inverse of each section.
    """

    sides, voltages, arc_counts, rows_are_numbered = 1, (), [()], True
    undone = True

    def __init__(self, tower: Tower, row_cost: float = ROW_COST):
        self.tower = tower
        graph, levels = tower.graph, [(level.to, level.then) for level in tower.levels]
        if not levels:
            nothing = np.zeros((1 + tower.section.max(initial=0), 1), np.int32)
            levels = [(nothing, nothing)]
        levels, number = minimised(levels)
        cut = _cut([to.shape for to, _ in levels], row_cost)
        row = levels[-1]
        for tables in reversed(levels[cut:-1]):
            row = joined(tables, row)
        width = row[0].shape[1]
        self.to = row[0].astype(np.uint16 if width <= 1 << 16 else np.uint32)
        self.inverse = _inverses(row[0])
        outer = _outer(levels[:cut])
        rows_each = prod(to.shape[1] for to, _ in outer)
        self.code, self.nodes = RowCode(width), [graph.vertices * rows_each]
        none = np.empty(0, dtype=np.int32)
        digits = (
            np.array([to.shape[1] for to, _ in outer], dtype=np.int64),
            np.cumsum([0, *(to.size for to, _ in outer)])[:-1].astype(np.int64),
            np.concatenate([none, *(to.ravel() for to, _ in outer)]),
            np.concatenate([none, *(then.ravel() for _, then in outer)]),
        )
        moves = slice(graph.source.size - graph.joins)
        source, target = graph.source[moves], graph.target[moves]
        arcs = _arcs(graph.vertices, source, target, number[tower.section[moves]])
        self.walk = Walk(*arcs, rows_each, *digits)

    @property
    def states(self) -> int:
        """The number of states that have numbers."""
        return self.tower.states

    @cached_property
    def numbering(self) -> int:
        """A checksum, CRC-32, of the choices made in numbering the states and their rows."""
        tower, rows = self.tower, np.array([self.nodes[0], self.code.half])
        chosen = [rows, tower.walks, *(level.representatives for level in tower.levels)]
        return crc32(b"".join(np.ascontiguousarray(some).tobytes() for some in chosen))

    @property
    def outer_radices(self) -> list[int]:
        """The radices of the digits that number the rows, the vertex first."""
        radices, rows = self.tower.radices, 1
        for count, radix in enumerate(radices):
            if rows == self.nodes[0]:
                return radices[:count]
            rows *= radix
        return radices

    @property
    def look_ups(self) -> int:
        """The number of table entries looked up to find where all rows come from."""
        walk = self.walk
        return walk.section.size * walk.rows * max(1, walk.radix.size)

    @cached_property
    def most_arcs(self) -> int:
        """The most arcs at a vertex."""
        return int(np.diff(self.walk.start).max())

    @property
    def graph(self) -> Graph:
        """The base graph."""
        return self.tower.graph

    @property
    def table_bytes(self) -> int:
        """The bytes of the tables."""
        tables = [*self.walk, self.to, self.inverse]
        return sum(table.nbytes for table in tables if isinstance(table, np.ndarray))

    @cached_property
    def vertex(self) -> list[np.ndarray]:
        """The vertex of each row, in a list with one entry, because there is one side."""
        each = self.walk.rows
        return [np.repeat(self.tower.vertices, each)]

    def side_of(self, depth: int) -> int:
        """Return the side of the layer at `depth`."""
        return 0

    @property
    def lifted_nodes(self) -> int:
        """The number of rows."""
        return self.nodes[0]

    def lifted(self, side: int) -> np.ndarray:
        """Return the numbers of the rows, int64."""
        return np.arange(self.nodes[0])

    def neighbours(self, side: int, number: int) -> Iterator[tuple[int, int]]:
        """Generate (side, state number) of the states to which moves lead from one state, without
        the kernels."""
        graph, points, (vertex, colours) = self.graph, self.tower.points, self.state(side, number)
        at = np.searchsorted(self.tower.vertices, vertex)
        for arc in np.flatnonzero(graph.source[: graph.source.size - graph.joins] == at):
            moved = np.empty(len(colours), np.int64)
            moved[points.moves[graph.voltage[arc]]] = colours
            state = self.number(int(self.tower.vertices[graph.target[arc]]), moved)
            assert state is not None  # moves lead to states of the tower
            yield state

    def number(self, vertex: int, colours) -> tuple[int, int] | None:
        """Return (side, state number) of a state, or None if it cannot be reached."""
        side, number = self.numbers(np.array([vertex]), np.array([colours], dtype=np.int64))
        return None if side[0] < 0 else (0, int(number[0]))

    def numbers(self, vertex: np.ndarray, colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the `number` of many states, int[N] and int[N, points]: (int64[N], uint64[N]).

        The side is -1 if a state cannot be reached.
        """
        numbers = self.tower.numbers(vertex, colours)
        return np.minimum(numbers, 0), np.maximum(numbers, 0).astype(np.uint64)

    def state(self, side: int, number: int) -> tuple[int, tuple[int, ...]]:
        """Return (vertex, colours) of a state number; inverse of `number`."""
        vertex, colours = self.states_of(side, np.array([number], dtype=np.uint64))
        return int(vertex[0]), tuple(colours[0].tolist())

    def states_of(self, side: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the `state` of uint64[N] state numbers: int64[N] and int64[N, points]."""
        return self.tower.states_of(numbers.astype(np.int64))


NumberedSpace = Space | TowerSpace
"""A space whose states are numbered, so that bitmaps can hold its layers."""

AnySpace = NumberedSpace | KeySpace
"""A space of any kind. Layers of all kinds are stored and read in the same way."""


def _arcs(
    vertices: int, at: np.ndarray, end: np.ndarray, section: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (start, end, section) of the arcs sorted by vertex, with arcs of the same effect only
    once."""
    arcs = np.unique(np.stack([at, end, section]), axis=1)
    start = np.searchsorted(arcs[0], np.arange(vertices + 1))
    return start, arcs[1].astype(np.int32), arcs[2].astype(np.int32)


def minimised(levels: Sequence[Tables]) -> tuple[list[Tables], np.ndarray]:
    """Return the tables without the sections that duplicate others, and the new number of each
    section of the first digit."""
    number: np.ndarray | None = None
    result: list[Tables] = []
    for to, then in reversed(levels):
        then = np.zeros_like(to) if number is None else number[then].astype(np.int32)
        rows = np.ascontiguousarray(np.concatenate([to, then], axis=1))
        keys = rows.view(f"V{rows.shape[1] * 4}").ravel()
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        result.append((to[first], then[first]))
    assert number is not None  # there is a digit
    return result[::-1], number


def joined(outer: Tables, inner: Tables) -> Tables:
    """Return the tables of two neighbouring digits as the tables of one."""
    (to, then), (inner_to, inner_then) = outer, inner
    shape = len(to), to.shape[1] * inner_to.shape[1]
    both = to[:, :, None] * inner_to.shape[1] + inner_to[then]
    return both.reshape(shape), inner_then[then].reshape(shape)


def _cut(shapes: Sequence[tuple[int, int]], row_cost: float) -> int:
    """Return the index of the first digit that belongs to a row. A row is no larger than a slab.
    shapes: (sections, radix) of each digit."""

    def cost(first: int) -> tuple[bool, float]:
        width = prod(radix for _, radix in shapes[first:])
        seconds = row_cost / width + ENTRY_COST * shapes[first][0] * width
        return width > 8 * SLAB_BYTES, seconds

    return min(range(len(shapes)), key=cost)


def _outer(levels: Sequence[Tables]) -> list[Tables]:
    result: list[Tables] = []
    for tables in levels:
        if result:
            both = len(result[-1][0]) * result[-1][0].shape[1] * tables[0].shape[1]
            if both <= OUTER_ENTRIES:
                result[-1] = joined(result[-1], tables)
                continue
        result.append(tables)
    return result


def _inverses(to: np.ndarray) -> np.ndarray:
    """Return the number of the inverse of each row of permutations, int32; every inverse is among
    the rows."""
    back = np.argsort(to, axis=1, kind="stable").astype(to.dtype)
    keys = [np.ascontiguousarray(rows).view(f"V{to.shape[1] * 4}").ravel() for rows in (to, back)]
    order = np.argsort(keys[0])
    return order[np.searchsorted(keys[0][order], keys[1])].astype(np.int32)
