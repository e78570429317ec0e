"""A puzzle as a base graph with voltages in S_m, and its lift by the sign.

Split a state into its **shape** (the cells of the blank, of big blocks and of tiles that look
alike) and the **sequence** of its m distinct tiles in a fixed order of the cells. The shape alone
decides whether a move is legal, and the move permutes the positions of the sequence in a fixed way.
So the state graph is the *derived graph* of a small **base graph** (its vertices are the shapes)
whose arcs carry **voltages** in S_m (J. L. Gross and T. W. Tucker, Topological Graph Theory, 1987,
chapter 2).

A voltage is written as neighbour swaps: (i, j, ...) exchanges positions i and i+1, then j and j+1,
and so on; every permutation is a product of such swaps. If there are several classes of distinct
members (see `frontier.space.lehmer`), voltages lie in S_m1 x S_m2 x ... x S_m, and no swap crosses
from one class to another.

The *lift by the sign* has a node for each pair (vertex, sign of the sequence). In most puzzles the
blank's cell fixes the sign, so half of the nodes cannot be reached. A walk through the lift from
the origins finds the nodes that can be reached, and shows whether the lift is bipartite. If it is,
the parity of the depth divides the reached nodes into two *sides*, and each layer lies on one of
them; otherwise all nodes are on one side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frontier.jit import kernel
from frontier.space.lehmer import LehmerCode
from frontier.space.words import Numbered


@dataclass(frozen=True)
class BaseGraph:
    """A base graph whose arcs carry voltages in S_m.

    vertices: number of vertices. m: size of the largest class of distinct members. voltages: the
    distinct ones, each a tuple of positions i (swap i with i+1). source, target, voltage: int64
    arrays with one entry for each arc; `voltage` indexes `voltages`. The graph is undirected: every
    arc has an arc that undoes it. smaller: sizes of further classes, whose members come first in
    the sequence. vertex_bytes: the bytes that a process needs for each vertex while it makes the
    graph and its lift.
    """

    vertices: int
    m: int
    voltages: tuple[tuple[int, ...], ...]
    source: np.ndarray
    target: np.ndarray
    voltage: np.ndarray
    smaller: tuple[int, ...] = ()
    vertex_bytes: int = 500

    def __post_init__(self) -> None:
        length = self.length
        borders = set(np.cumsum(self.smaller, dtype=int) - 1)
        for voltage in self.voltages:
            for i in voltage:
                if not 0 <= i < length - 1:
                    raise ValueError(
                        f"voltage {voltage} swaps positions {i} and {i + 1}, "
                        f"but a sequence of {length} has positions 0..{length - 1}"
                    )
                if i in borders:
                    raise ValueError(
                        f"voltage {voltage} swaps {i} and {i + 1}, of different classes"
                    )

    @property
    def length(self) -> int:
        """The number of members of a sequence."""
        return sum(self.smaller) + self.m

    @cached_property
    def permutations(self) -> np.ndarray:
        """The voltages as int64[voltages, length]: a sequence s becomes s[permutation]."""
        permutations = np.tile(np.arange(self.length), (len(self.voltages), 1))
        for row, voltage in zip(permutations, self.voltages, strict=True):
            for i in voltage:
                row[i], row[i + 1] = row[i + 1], row[i]
        return permutations

    @cached_property
    def odd(self) -> np.ndarray:
        """1 for each voltage that changes the sign of the sequence, 0 for the rest."""
        return np.array([len(voltage) % 2 for voltage in self.voltages], dtype=np.int64)

    @cached_property
    def inverse(self) -> np.ndarray:
        """For each voltage, the number of a voltage that undoes it, int16."""
        number = {tuple(row): i for i, row in enumerate(self.permutations.tolist())}
        back = np.argsort(self.permutations, axis=1)
        return np.array([number[tuple(row)] for row in back.tolist()], dtype=np.int16)

    @cached_property
    def arcs(self) -> "Arcs":
        """The arcs sorted by their source, the arcs of each vertex in the order given."""
        source, target, voltage = self.source, self.target, self.voltage
        if (source[1:] < source[:-1]).any():
            order = np.argsort(source, kind="stable")
            source, target, voltage = source[order], target[order], voltage[order]
        start = np.searchsorted(source, np.arange(self.vertices + 1, dtype=source.dtype))
        target = target.astype(np.int32, copy=False)
        return Arcs(start, target, voltage.astype(np.int16, copy=False))


class Arcs(NamedTuple):
    """Arcs sorted by their source.

    start: int64, sources + 1; the arcs of source u are start[u] .. start[u+1]-1.
    target: int32. voltage: int16, the number of the voltage in the graph.
    """

    start: np.ndarray
    target: np.ndarray
    voltage: np.ndarray


class Space(Numbered):
    """The lift of a base graph by the sign, restricted to nodes that are reachable from the
    origins.

    graph: the base graph. voltages: the voltages of the graph. code: numbers the sequences of one
    sign. sides: 2 if the lift is bipartite (layer t lies on side t mod 2), otherwise 1. vertex,
    sign: for each side, an int32 and an int8 array with one entry for each node. nodes: the number
    of nodes of each side. arcs: for each side, the arcs that lead from its nodes to nodes of the
    next side. undone: True, because every move can be undone. numbering: None, because the numbers
    of the states involve no choice. rows_are_numbered: False, because nodes have no digits.
    look_ups: 0, because only voltages need look-ups.

    A state of a side is numbered ``node * code.half + index``. `states` counts all states of the
    lift; the search may reach fewer.
    """

    undone, numbering, rows_are_numbered, look_ups = True, None, False, 0

    def __init__(self, graph: BaseGraph, origins: Iterable[tuple[int, int]]):
        """origins: (vertex, sign) of each position at depth 0."""
        self.graph, self.voltages = graph, graph.voltages
        self.code = LehmerCode(graph.m, graph.smaller)
        roots = np.unique(np.array([2 * v + s for v, s in origins], dtype=np.int64))
        if roots.size == 0:
            raise ValueError("a space needs at least one origin")
        base = graph.arcs
        size = 2 * base.target.size
        side = np.full(2 * graph.vertices, -1, dtype=np.int8)
        queue = np.empty(side.size, dtype=np.int32)
        bipartite = _walk.python_if_small(size)(*base, graph.odd, roots, side, queue)
        del queue
        self.sides = 2 if bipartite else 1
        if not bipartite:
            side = np.minimum(side, 0)
        self._side_of_lifted = side
        self._node_of = np.full(2 * graph.vertices, -1, dtype=np.int32)
        self.vertex, self.sign, self.nodes, self.arcs = [], [], [], []
        for s in range(self.sides):
            lifted = np.flatnonzero(side == s)
            self._node_of[lifted] = np.arange(lifted.size)
            self.vertex.append((lifted // 2).astype(np.int32))
            self.sign.append((lifted % 2).astype(np.int8))
            self.nodes.append(int(lifted.size))
        for s in range(self.sides):
            start = np.zeros(self.nodes[s] + 1, dtype=np.int64)
            np.cumsum(np.diff(base.start)[self.vertex[s]], out=start[1:])
            arcs = Arcs(start, np.empty(start[-1], np.int32), np.empty(start[-1], np.int16))
            _write_arcs.python_if_small(size)(
                self.vertex[s], self.sign[s], *base, graph.odd, self._node_of, *arcs
            )
            self.arcs.append(arcs)

    @property
    def states(self) -> int:
        """The number of states of the lift, an upper bound on the number that the search
        reaches."""
        return sum(self.nodes) * self.code.half

    @cached_property
    def arc_counts(self) -> list[np.ndarray]:
        """For each side, the number of arcs with each voltage into its nodes, int64[voltages]."""
        voltages = len(self.graph.voltages)
        return [
            np.bincount(self.graph.inverse[arcs.voltage], minlength=voltages) for arcs in self.arcs
        ]

    @property
    def table_bytes(self) -> int:
        """The bytes that a process needs for the space."""
        return self.graph.vertex_bytes * self.graph.vertices

    def side_of(self, depth: int) -> int:
        """Return the side of the layer at `depth`."""
        return depth % self.sides

    @property
    def lifted_nodes(self) -> int:
        """The number of pairs of a vertex and a sign."""
        return 2 * self.graph.vertices

    def lifted(self, side: int) -> np.ndarray:
        """Return 2 * vertex + sign of each node of a side, int64, ascending."""
        return 2 * self.vertex[side].astype(np.int64) + self.sign[side]

    def neighbours(self, side: int, number: int) -> Iterator[tuple[int, int]]:
        """Generate (side, state number) of the states to which arcs lead from one state, without
        the kernels."""
        vertex, sequence = self.state(side, number)
        arcs = self.graph.arcs
        for arc in range(arcs.start[vertex], arcs.start[vertex + 1]):
            moved = list(sequence)
            for i in self.voltages[arcs.voltage[arc]]:
                moved[i], moved[i + 1] = moved[i + 1], moved[i]
            state = self.number(int(arcs.target[arc]), moved)
            assert state is not None  # arcs lead to nodes of the lift
            yield state

    def number(self, vertex: int, sequence) -> tuple[int, int] | None:
        """Return (side, state number) of a state, or None if its node is not in the lift."""
        index, sign = self.code.rank(sequence)
        lifted = 2 * vertex + sign
        node = int(self._node_of[lifted])
        if node < 0:
            return None
        return int(self._side_of_lifted[lifted]), node * self.code.half + index

    def numbers(self, vertex: np.ndarray, sequence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the `number` of many states, int[N] and int[N, length]: (int64[N], uint64[N]).

        The side is -1 if the node is not in the lift.
        """
        index, sign = self.code.ranks(sequence.reshape(len(vertex), self.code.length))
        lifted = 2 * np.asarray(vertex, dtype=np.int64) + sign
        numbers = self._node_of[lifted].astype(np.int64) * self.code.half + index
        return self._side_of_lifted[lifted].astype(np.int64), numbers.astype(np.uint64)

    def state(self, side: int, number: int) -> tuple[int, tuple[int, ...]]:
        """Return (vertex, sequence) of a state number of a side; inverse of `number`."""
        node, index = divmod(int(number), self.code.half)
        sign = int(self.sign[side][node])
        return int(self.vertex[side][node]), self.code.unrank(index, sign)

    def states_of(self, side: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the `state` of uint64[N] state numbers: int64[N] and int64[N, length]."""
        node, index = np.divmod(numbers, np.uint64(self.code.half))
        node = node.astype(np.int64)
        sequences = self.code.unranks(index.astype(np.int64), self.sign[side][node])
        return self.vertex[side][node].astype(np.int64), sequences

    def arcs_into(self, side: int, nodes: range) -> Arcs:
        """Return the arcs into some consecutive nodes of a side, sorted by the node they enter.

        `target` is the node that an arc comes from. The graph is undirected, so these are the
        inverses of the arcs that leave the nodes.
        """
        start, target, voltage = self.arcs[side]
        arcs = slice(start[nodes.start], start[nodes.stop])
        inverse = self.graph.inverse[voltage[arcs]]
        return Arcs(start[nodes.start : nodes.stop + 1] - arcs.start, target[arcs], inverse)


@kernel
def _walk(start, target, voltage, odd, roots, side, queue):
    """Walk the nodes 2 * vertex + sign from the roots, and return whether no arc joins two nodes of
    the same parity.

    side: int8 with one entry for each node, -1 at first; receives the parity of the distance from
    the roots for each node that is reached. queue: int32, of the same size, overwritten.
    """
    head, tail = 0, 0
    for root in roots:
        side[root] = 0
        queue[tail] = root
        tail += 1
    bipartite = True
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(start[u >> 1], start[(u >> 1) + 1]):
            v = 2 * target[arc] + ((u & 1) ^ odd[voltage[arc]])
            if side[v] < 0:
                side[v] = 1 - side[u]
                queue[tail] = v
                tail += 1
            elif side[v] == side[u]:
                bipartite = False
    return bipartite


@kernel
def _write_arcs(vertex, sign, start, target, voltage, odd, node_of, first, to, arc_voltage):
    """Write the arcs that leave the nodes of a side; the arcs of node u begin at first[u].

    to, arc_voltage: receive the node that each arc enters, and its voltage.
    """
    for u in range(vertex.size):
        at = first[u]
        for arc in range(start[vertex[u]], start[vertex[u] + 1]):
            to[at] = node_of[2 * target[arc] + (sign[u] ^ odd[voltage[arc]])]
            arc_voltage[at] = voltage[arc]
            at += 1
