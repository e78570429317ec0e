"""The base graph of a pattern: a blank and tiles, some of them labelled.

Read the cells along the shorter side, s cells per line (see `frontier.puzzles.tiles`), and leave
out the blank: the tiles are then in places 0, 1, ..., cells - 2. A vertex is the set of places of
the L labelled tiles and the position of the blank; the sequence is the labelled tiles by place. In
terms of places, moves are simple:

* if the blank moves within a line, from position p to p + 1, it passes a tile, and no place
  changes;
* from p to p + s, the tile in place p + s - 1 moves to place p, and the tiles between move up by
  one; from p to p - s, the tile in place p - s moves to place p - 1, and the tiles between move
  down.

A labelled tile that passes r labelled tiles rotates r + 1 members of the sequence; an unlabelled
tile changes only the set. A set is ranked in the combinatorial number system,

    rank = sum of C(place, i) over its places, the i-th smallest counted from i = 1

(D. H. Lehmer; Knuth, TAOCP 4A, 7.2.1.3): a move among low places changes the rank little, so most
arcs lead to nearby vertices. Vertex = rank * cells + position.

If the moves of unlabelled tiles are free, all positions that the blank reaches with free moves are
one vertex. The vertices are ordered by the least of these positions, and all arcs move labelled
tiles.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from frontier.jit import kernel
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT
from frontier.puzzles.moves import shift_voltage
from frontier.space.graph import BaseGraph

VERTEX_BYTES = 180
"""The measured bytes of memory that a process needs for each vertex."""


@dataclass(frozen=True)
class PatternGraph:
    """The base graph of a pattern, with the meaning of its vertices and arcs.

    cells: the number of cells of the board. labels: L, the number of labelled tiles. place:
    int8[arcs], the place in the sequence of the tile that an arc moves, or -1. binomial: the
    numbers C(place, i), int64[L + 1, cells]. If unlabelled moves are free, region and first: int32,
    the vertex of each (set, position), and the first (set, position) of each vertex; before and
    after: int16[arcs], the positions of the tile before and after. Otherwise all four are empty,
    because the vertices determine these values.
    """

    graph: BaseGraph
    cells: int
    labels: int
    place: np.ndarray
    binomial: np.ndarray
    region: np.ndarray
    first: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the tile before and after each arc, int64[arcs] each."""
        if self.first.size:
            return self.before.astype(np.int64), self.after.astype(np.int64)
        before, after = self.graph.target % self.cells, self.graph.source % self.cells
        return before.astype(np.int64), after.astype(np.int64)

    def vertices_of(self, places: np.ndarray, blank: np.ndarray) -> np.ndarray:
        """Return the vertices, int64[N], of sets of places, int64[N, L] ascending, and of the
        positions of the blank, int64[N]."""
        vertex = set_ranks(places, self.binomial) * self.cells + blank
        return self.region[vertex].astype(np.int64) if self.region.size else vertex

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Return the vertices, int64[N], of boards in reading order as
        `frontier.puzzles.board_shapes` writes them, uint8[N, cells]; the labelled tiles are the
        first sort."""
        blank = (rows == EMPTY).argmax(axis=1)
        position = np.nonzero(rows == FIRST_SORT)[1].reshape(len(rows), self.labels)
        return self.vertices_of(position - (position > blank[:, None]), blank)

    def places_of(self, vertex: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places and the blank's position of vertices; for a vertex of several
        positions, the first position."""
        vertex = self.first[vertex] if self.first.size else vertex
        rank, blank = np.divmod(np.asarray(vertex, dtype=np.int64), self.cells)
        return set_places(rank, self.binomial), blank

    def rows_of(self, vertex: np.ndarray) -> np.ndarray:
        """Return the boards of vertices; inverse of `find`."""
        places, blank = self.places_of(vertex)
        row = np.arange(len(blank))
        rows = np.full((len(blank), self.cells), FIRST_SORT + 1, dtype=np.uint8)
        rows[row, blank] = EMPTY
        rows[row[:, None], places + (places >= blank[:, None])] = FIRST_SORT
        return rows


def pattern_graph(cells: int, line: int, labels: int, free: bool = False) -> PatternGraph:
    """Return the base graph of a pattern. free: moves of unlabelled tiles are free."""
    binomial = np.array(
        [[comb(place, i) for place in range(cells)] for i in range(labels + 1)], dtype=np.int64
    )
    shifts = [(i, j) for i in range(labels) for j in range(labels) if 0 < abs(i - j) < line]
    voltages = sorted({(), *(shift_voltage(i, j) for i, j in shifts)})
    number = np.full((labels, labels), voltages.index(()), dtype=np.int16)
    for i, j in shifts:
        number[i, j] = voltages.index(shift_voltage(i, j))
    degrees = [sum(q >= 0 for q in _neighbours(p, cells, line)) for p in range(cells)]
    sets = comb(cells - 1, labels)
    arcs = sum(degrees) * sets
    source: np.ndarray = np.empty(arcs, np.int32)
    target: np.ndarray = np.empty(arcs, np.int32)
    voltage, place = np.empty(arcs, np.int16), np.empty(arcs, np.int8)
    places = np.arange(labels)
    _write_arcs(cells, line, places, sets, binomial, number, source, target, voltage, place)
    vertices, vertex_bytes = sets * cells, VERTEX_BYTES
    nothing: np.ndarray = np.empty(0, dtype=np.int16)
    region = first = before = after = nothing
    if free:
        unlabelled = place < 0
        parent = np.arange(vertices)
        _find_regions(parent, source[unlabelled], target[unlabelled])
        first, region = np.unique(parent, return_inverse=True)
        labelled = np.flatnonzero(~unlabelled)
        labelled = labelled[np.argsort(region[source[labelled]], kind="stable")]
        first, region = first.astype(np.int32), region.astype(np.int32)
        before, after = ((v[labelled] % cells).astype(np.int16) for v in (target, source))
        source, target, voltage, place = (
            region[source[labelled]], region[target[labelled]], voltage[labelled], place[labelled],
        )  # fmt: skip
        vertices, vertex_bytes = first.size, BaseGraph.vertex_bytes
    graph = BaseGraph(
        vertices, labels, tuple(voltages), source, target, voltage, vertex_bytes=vertex_bytes
    )
    return PatternGraph(graph, cells, labels, place, binomial, region, first, before, after)


def _neighbours(p: int, cells: int, line: int) -> tuple[int, int, int, int]:
    """Return the positions next to p: before and after it on its line, one line before and one
    after; -1 where there is none."""
    return (
        p - 1 if p % line else -1,
        p + 1 if p % line < line - 1 else -1,
        p - line if p >= line else -1,
        p + line if p + line < cells else -1,
    )


_neighbours_of = kernel(_neighbours)


def set_ranks(places: np.ndarray, binomial: np.ndarray) -> np.ndarray:
    """Return the ranks, int64[N], of sets of places, int64[N, L] ascending."""
    return binomial[np.arange(1, len(binomial)), places].sum(axis=1)


def set_places(rank: np.ndarray, binomial: np.ndarray) -> np.ndarray:
    """Return the places of the sets with these ranks; inverse of `set_ranks`."""
    places = np.empty((len(rank), len(binomial) - 1), dtype=np.int64)
    for i in reversed(range(places.shape[1])):
        places[:, i] = np.searchsorted(binomial[i + 1], rank, side="right") - 1
        rank = rank - binomial[i + 1, places[:, i]]
    return places


@kernel
def _write_arcs(cells, line, places, sets, binomial, number, source, target, voltage, place):
    """Write all arcs, vertex by vertex. places: int64, the first set, overwritten."""
    labels = places.size
    unmoved = number[0, 0] if labels else np.int16(0)
    at = 0
    for rank in range(sets):
        for p in range(cells):
            for q in _neighbours_of(p, cells, line):
                if q < 0:
                    continue
                # the tile goes from place `leaves` to place `enters`
                leaves, enters = (q - 1, p) if q > p else (q, p - 1)
                i = 0
                while i < labels and places[i] < leaves:
                    i += 1
                holds = i < labels and places[i] == leaves
                j, new_rank = i, rank
                if leaves != enters:
                    new_rank = 0
                    step = np.int64(holds)
                    for n in range(labels):
                        # the tiles that it passes give way, in the sequence too if it is labelled
                        to, nth = places[n], n + 1
                        if enters <= to < leaves:
                            to, nth, j = to + 1, nth + step, j - step
                        elif leaves < to <= enters:
                            to, nth, j = to - 1, nth - step, j + step
                        elif to == leaves:
                            continue
                        new_rank += binomial[nth, to]
                    if holds:
                        new_rank += binomial[j + 1, enters]
                source[at] = rank * cells + p
                target[at] = new_rank * cells + q
                voltage[at] = number[i, j] if holds else unmoved
                place[at] = i if holds else -1
                at += 1
        # the next set: the lowest member that can move up does so, and the members below it return
        # to the bottom
        i = 0
        while i < labels - 1 and places[i] + 1 == places[i + 1]:
            places[i] = i
            i += 1
        if labels:
            places[i] += 1


@kernel
def _find_regions(parent, source, target):
    """Write the least vertex of the connected component of each vertex. parent: the vertices."""
    for arc in range(source.size):
        u, v = source[arc], target[arc]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u < v:
            parent[v] = u
        elif v < u:
            parent[u] = v
    for v in range(parent.size):
        parent[v] = parent[parent[v]]
