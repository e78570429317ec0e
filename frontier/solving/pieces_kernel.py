"""Iterative deepening A* on a base graph with voltages: shortest paths without stored layers.

The search follows arcs from a state, depth first, and turns back if the depth plus a lower bound on
the remaining distance exceeds a limit. The next limit is the least sum that exceeded this limit
(R. E. Korf, Depth-First Iterative-Deepening, Artificial Intelligence 27, 1985). The search stores
no states, but skips two consecutive arcs that undo each other or have the effect of a single arc,
because no shortest path has them.

The lower bound is a sum of table entries. Each distinct piece and each sort of like pieces has a
table: the least number of moves that a piece needs, by its cell. An arc changes only the terms of
the pieces that it displaces. If one move displaces several pieces by one step each, the sum counts
steps, and the bound is the sum divided by the most steps of a move, rounded up.
"""

from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from frontier.jit import kernel
from frontier.space.graph import BaseGraph

MOST_DEPTH = 1000


Displacements = namedtuple("Displacements", "start place row source target")
"""The pieces that the arcs of a base graph displace, and the table of each; int64 columns.

Arc a displaces the pieces numbered start[a] .. start[a+1]-1. row: the table of the piece, or -1 if
the piece is a member of the sequence. place: its place in the sequence. source, target: the cells
that it leaves and enters.
"""

Tables = namedtuple(
    "Tables",
    "most_steps tables goals start target voltage swap_start swaps first_pair useless moved_start "
    "moved_end place row source to",
)
"""The data that all searches on one base graph for the same goals share, in the form of the kernel.

most_steps: the most steps of a move. tables: int64[rows, cells], rows 0 .. length-1 for the members
of the sequence. goals: int64[N, 1 + length], vertex and sequence, in lexicographic order. start,
target, voltage: the arcs. swap_start, swaps: the swaps of each voltage. first_pair, useless: see
`_useless_pairs`. moved_start, moved_end: the displacements of each arc; place, row, source, to:
their columns.
"""

Path = namedtuple("Path", "vertex sequence total last cursor")
"""The states on the path from the start, by depth, written by the kernel.

total: the sum of the tables. last: the arc that led to the state. cursor: the next arc to try.
"""


def search_tables(
    graph: BaseGraph, moved: Displacements, tables: np.ndarray, most_steps: int, goals: np.ndarray
) -> Tables:
    """Return the data that all searches for the given goals share. moved, tables, most_steps: the
    bound; see `Tables`."""
    order = np.argsort(graph.source, kind="stable")
    return Tables(
        most_steps, tables, goals, *graph.arcs,
        np.cumsum([0, *map(len, graph.voltages)]),
        np.array([i for swaps in graph.voltages for i in swaps], dtype=np.int64),
        *_useless_pairs(graph),
        moved.start[:-1][order], moved.start[1:][order],
        moved.place, moved.row, moved.source, moved.target,
    )  # fmt: skip


class Search:
    """One search, made in slices so that it can be watched and interrupted.

    It begins at a state where the sum of the tables is `total`. bound: the limit of the current
    iteration. nodes: the states visited in each iteration so far, not counting the start. found:
    True if a shortest path is known; `path` then has its states.
    """

    def __init__(
        self,
        tables: Tables,
        vertex: int,
        sequence: Sequence[int],
        total: int,
    ):
        self._tables = tables
        sequences = np.zeros((MOST_DEPTH + 1, len(sequence)), dtype=np.int16)
        self._path = Path(*np.zeros((5, MOST_DEPTH + 1), dtype=np.int64))._replace(
            sequence=sequences
        )
        self._path.vertex[0], sequences[0], self._path.total[0] = vertex, sequence, total
        self._path.last[0], self._path.cursor[0] = -1, tables.start[vertex]
        self.bound = -(-total // tables.most_steps)
        self.nodes = [0]
        self.found = bool((tables.goals == np.array([vertex, *sequence])).all(axis=1).any())
        self._depth, self._next_bound = 0, MOST_DEPTH

    @property
    def path(self) -> tuple[np.ndarray, np.ndarray]:
        """The shortest path: int64[N] vertices and int64[N, length] sequences, the start first."""
        end = self._depth + 1
        return self._path.vertex[:end].copy(), self._path.sequence[:end].astype(np.int64)

    def advance(self, nodes: int) -> bool:
        """Continue for about `nodes` nodes, and return whether the search has ended.

        It ends if a path is known, or if every path would have `MOST_DEPTH` arcs or more.
        """
        if self.found or self.bound >= MOST_DEPTH:
            return True
        self._depth, self._next_bound, visited, self.found = _deepen(
            nodes, self.bound, self._depth, self._next_bound, self._tables, self._path
        )  # fmt: skip
        self.nodes[-1] += visited
        if self.found or self._depth >= 0:
            return self.found
        self.bound, self._next_bound, self._depth = self._next_bound, MOST_DEPTH, 0
        self._path.cursor[0] = self._tables.start[self._path.vertex[0]]
        if self.bound >= MOST_DEPTH:
            return True
        self.nodes.append(0)
        return False


def _useless_pairs(graph: BaseGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, useless), which show the arcs that are useless directly after each arc.

    useless[first[a] + i] is True if the i-th arc of the target of arc a is useless after a.
    """
    start, target, voltage = graph.arcs
    first = np.cumsum(np.append(0, np.diff(start)[target]))
    useless = np.zeros(first[-1], dtype=bool)
    _find_useless(start, target, voltage, graph.permutations, first, useless)
    return first, useless


@kernel
def _find_useless(start, target, voltage, permutations, first, useless):
    """Fill the second table of `_useless_pairs`."""
    length = permutations.shape[1]
    for u in range(start.size - 1):
        for a in range(start[u], start[u + 1]):
            v = target[a]
            for b in range(start[v], start[v + 1]):
                same = target[b] == u
                for k in range(length):
                    same &= permutations[voltage[a], permutations[voltage[b], k]] == k
                for c in range(start[u], start[u + 1]):
                    if same:
                        break
                    same = target[c] == target[b]
                    for k in range(length):
                        product = permutations[voltage[a], permutations[voltage[b], k]]
                        same &= product == permutations[voltage[c], k]
                useless[first[a] + b - start[v]] = same


@kernel
def _deepen(budget, bound, depth, next_bound, shared, path):
    """Continue for `budget` nodes; return the depth, the next bound, the nodes, and whether a path
    is known."""
    vertex, sequence, total, last, cursor = path
    length, nodes = sequence.shape[1], 0
    while depth >= 0 and nodes < budget:
        arc = cursor[depth]
        if arc == shared.start[vertex[depth] + 1]:
            depth -= 1
            continue
        cursor[depth] = arc + 1
        if last[depth] >= 0 and _is_useless(shared, last[depth], vertex[depth], arc):
            continue
        after = total[depth] + _displaced(shared, arc, sequence[depth])
        most = shared.most_steps
        least = depth + 1 + (after if most == 1 else (after + most - 1) // most)
        if least > bound:
            next_bound = min(next_bound, least)
            continue
        to = np.int64(shared.target[arc])  # the type for which kernels are compiled
        for k in range(length):
            sequence[depth + 1, k] = sequence[depth, k]
        _swap_along(shared, arc, sequence[depth + 1])
        depth += 1
        nodes += 1
        vertex[depth], total[depth], last[depth] = to, after, arc
        cursor[depth] = shared.start[to]
        if after == 0 and _is_goal(shared.goals, to, sequence[depth]):
            return depth, next_bound, nodes, True
    return depth, next_bound, nodes, False


@kernel
def _is_useless(shared, before, vertex, arc):
    """Return whether an arc from a vertex is useless directly after arc `before`."""
    return shared.useless[shared.first_pair[before] + arc - shared.start[vertex]]


@kernel
def _displaced(shared, arc, sequence):
    """Return how much an arc changes the sum of the tables at a state."""
    added = np.int64(0)
    for d in range(shared.moved_start[arc], shared.moved_end[arc]):
        piece = shared.row[d] if shared.row[d] >= 0 else np.int64(sequence[shared.place[d]])
        added += shared.tables[piece, shared.to[d]] - shared.tables[piece, shared.source[d]]
    return added


@kernel
def _swap_along(shared, arc, sequence):
    """Let the voltage of an arc act on a sequence."""
    voltage = shared.voltage[arc]
    for k in range(shared.swap_start[voltage], shared.swap_start[voltage + 1]):
        i = shared.swaps[k]
        member = sequence[i]
        sequence[i] = sequence[i + 1]
        sequence[i + 1] = member


@kernel
def _is_goal(goals, vertex, sequence):
    """Return whether a state is among the goals, which are in lexicographic order."""
    low, high = 0, goals.shape[0]
    while low < high:
        middle = (low + high) // 2
        order = goals[middle, 0] - vertex
        k = 0
        while order == 0 and k < sequence.size:
            order = goals[middle, k + 1] - sequence[k]
            k += 1
        if order == 0:
            return True
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return False
