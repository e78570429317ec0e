"""A puzzle as a base graph with voltages in S_m, and its lift by the sign.

Split a state into its **shape** (where the blank is, where big blocks are, which cells hold
tiles that look alike) and the **sequence** of its m distinct tiles in a fixed order of the
cells. Whether a move is legal depends on the shape alone, and what it does to the sequence is
a fixed permutation of positions. So the state graph is the *derived graph* of a small **base
graph** (its vertices are the shapes) whose arcs carry **voltages** in S_m (J. L. Gross and
T. W. Tucker, Topological Graph Theory, 1987, chapter 2).

A voltage is written as a *word* of neighbour swaps: (i, j, ...) exchanges positions i and
i+1, then j and j+1, and so on. Every voltage is such a word. With several classes of distinct
things (see `frontier.space.lehmer`) voltages lie in S_m1 x S_m2 x ... x S_m and no swap crosses
from class to class.

The *lift by the sign* has a node for each pair (vertex, sign of the sequence). In most
puzzles the blank's cell fixes the sign, and half of the nodes cannot be reached; walking the
lift from the origins finds out, and finds whether it is bipartite. The reached nodes are
split into *classes*: two, by the parity of the depth, where the lift is bipartite, else one.
A layer lies in one class.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frontier.space.jit import kernel
from frontier.space.lehmer import LehmerCode


@dataclass(frozen=True)
class BaseGraph:
    """A base graph whose arcs carry voltages in S_m.

    vertices: number of vertices.
    m: size of the class of distinct things, of the largest where there are several.
    words: the different voltages, each a tuple of positions i (swap i with i+1).
    source, target, word: int64 arrays, one entry an arc; `word` indexes `words`.
        The graph is undirected: with every arc comes the one that undoes it.
    smaller: sizes of further classes, whose things come first in the sequence.
    vertex_bytes: what a process needs for each vertex while it makes the graph and its lift.
    """

    vertices: int
    m: int
    words: tuple[tuple[int, ...], ...]
    source: np.ndarray
    target: np.ndarray
    word: np.ndarray
    smaller: tuple[int, ...] = ()
    vertex_bytes: int = 500

    def __post_init__(self) -> None:
        length = self.length
        borders = set(np.cumsum(self.smaller, dtype=int) - 1)
        for word in self.words:
            for i in word:
                if not 0 <= i < length - 1:
                    raise ValueError(
                        f"voltage {word} swaps positions {i} and {i + 1}, "
                        f"but a sequence of {length} has positions 0..{length - 1}"
                    )
                if i in borders:
                    raise ValueError(f"voltage {word} swaps {i} and {i + 1}, of different classes")

    @property
    def length(self) -> int:
        """Members of a sequence."""
        return sum(self.smaller) + self.m

    @cached_property
    def voltages(self) -> np.ndarray:
        """The voltages as permutations, int64[words, length]: s becomes s[voltage]."""
        voltages = np.tile(np.arange(self.length), (len(self.words), 1))
        for row, word in zip(voltages, self.words, strict=True):
            for i in word:
                row[i], row[i + 1] = row[i + 1], row[i]
        return voltages

    @cached_property
    def odd(self) -> np.ndarray:
        """For each word, 1 if it changes the sign of the sequence, else 0."""
        return np.array([len(word) % 2 for word in self.words], dtype=np.int64)

    @cached_property
    def inverse(self) -> np.ndarray:
        """For each word, int16, one that undoes it."""
        number = {tuple(row): i for i, row in enumerate(self.voltages.tolist())}
        back = np.argsort(self.voltages, axis=1)
        return np.array([number[tuple(row)] for row in back.tolist()], dtype=np.int16)

    @cached_property
    def arcs(self) -> "Arcs":
        """The arcs sorted by their source; in the order given where they come from one vertex."""
        source, target, word = self.source, self.target, self.word
        if (source[1:] < source[:-1]).any():
            order = np.argsort(source, kind="stable")
            source, target, word = source[order], target[order], word[order]
        start = np.searchsorted(source, np.arange(self.vertices + 1, dtype=source.dtype))
        return Arcs(start, target.astype(np.int32, copy=False), word.astype(np.int16, copy=False))


class Arcs(NamedTuple):
    """Arcs sorted by their source.

    start: int64, sources + 1; the arcs of source u are start[u] .. start[u+1]-1.
    target: int32. word: int16, a voltage of the graph.
    """

    start: np.ndarray
    target: np.ndarray
    word: np.ndarray


class Space:
    """The lift of a base graph by the sign, as far as the origins reach it.

    graph: the base graph.  code: numbers the sequences of one sign.
    classes: 2 if the lift is bipartite (layer t lies in class t mod 2), else 1.
    vertex, sign: for each class an int32 and an int8 array, what each of its nodes is.
    nodes: for each class the number of its nodes.
    arcs: for each class the arcs that leave it, by nodes of it and of the next class.

    A state of a class is numbered ``node * code.half + index``.
    `states` counts all states of the lift; what the search reaches may be fewer.
    """

    def __init__(self, graph: BaseGraph, origins: Iterable[tuple[int, int]]):
        """`origins`: (vertex, sign) of each position at depth 0."""
        self.graph = graph
        self.code = LehmerCode(graph.m, graph.smaller)
        roots = np.unique(np.array([2 * v + s for v, s in origins], dtype=np.int64))
        if roots.size == 0:
            raise ValueError("a space needs at least one origin")
        base = graph.arcs
        size = 2 * base.target.size
        colour, bipartite = _walk.for_size(size)(*base, graph.odd, roots)
        self.classes = 2 if bipartite else 1
        if not bipartite:
            colour = np.minimum(colour, 0)
        self._class_of = colour
        self._node_of = np.full(2 * graph.vertices, -1, dtype=np.int32)
        self.vertex, self.sign, self.nodes, self.arcs = [], [], [], []
        for c in range(self.classes):
            lifted = np.flatnonzero(colour == c)
            self._node_of[lifted] = np.arange(lifted.size)
            self.vertex.append((lifted // 2).astype(np.int32))
            self.sign.append((lifted % 2).astype(np.int8))
            self.nodes.append(int(lifted.size))
        for c in range(self.classes):
            start = np.zeros(self.nodes[c] + 1, dtype=np.int64)
            np.cumsum(np.diff(base.start)[self.vertex[c]], out=start[1:])
            arcs = Arcs(start, np.empty(start[-1], np.int32), np.empty(start[-1], np.int16))
            _lift.for_size(size)(
                self.vertex[c], self.sign[c], *base, graph.odd, self._node_of, *arcs
            )
            self.arcs.append(arcs)

    @property
    def states(self) -> int:
        """Number of states of the lift, an upper bound of those the search reaches."""
        return sum(self.nodes) * self.code.half

    def class_of(self, depth: int) -> int:
        """The class that the layer at `depth` lies in."""
        return depth % self.classes

    def number(self, vertex: int, sequence) -> tuple[int, int] | None:
        """(class, state number) of a state, or None if its node is not in the lift."""
        index, sign = self.code.rank(sequence)
        lifted = 2 * vertex + sign
        node = int(self._node_of[lifted])
        if node < 0:
            return None
        return int(self._class_of[lifted]), node * self.code.half + index

    def numbers(self, vertex: np.ndarray, sequence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`number` of many states, int[N] and int[N, length]: (int64[N], uint64[N]).

        The class is -1 where the node is not in the lift.
        """
        index, sign = self.code.ranks(sequence.reshape(len(vertex), self.code.length))
        lifted = 2 * np.asarray(vertex, dtype=np.int64) + sign
        numbers = self._node_of[lifted].astype(np.int64) * self.code.half + index
        return self._class_of[lifted].astype(np.int64), numbers.astype(np.uint64)

    def state(self, klass: int, number: int) -> tuple[int, tuple[int, ...]]:
        """(vertex, sequence) of a state number of a class; inverse of `number`."""
        node, index = divmod(int(number), self.code.half)
        sign = int(self.sign[klass][node])
        return int(self.vertex[klass][node]), self.code.unrank(index, sign)

    def states_of(self, klass: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`state` of uint64[N] state numbers: int64[N] and int64[N, length]."""
        node, index = np.divmod(numbers, np.uint64(self.code.half))
        node = node.astype(np.int64)
        sequences = self.code.unranks(index.astype(np.int64), self.sign[klass][node])
        return self.vertex[klass][node].astype(np.int64), sequences

    def arcs_into(self, klass: int) -> Arcs:
        """The arcs into the nodes of a class, sorted by the node they enter.

        `target` is the node an arc comes from, `word` its voltage. As the graph is undirected
        these are the arcs that leave the class, undone.
        """
        arcs = self.arcs[klass]
        return Arcs(arcs.start, arcs.target, self.graph.inverse[arcs.word])


@kernel
def _walk(start, target, word, odd, roots):
    """Walk the lifted nodes 2 * vertex + sign from the roots.

    int8 for each: parity of the distance from the roots, -1 where not reached; and whether that
    is a colouring.
    """
    colour = np.full(2 * (start.size - 1), -1, dtype=np.int8)
    queue = np.empty(colour.size, dtype=np.int32)
    head, tail = 0, 0
    for root in roots:
        colour[root] = 0
        queue[tail] = root
        tail += 1
    bipartite = True
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(start[u >> 1], start[(u >> 1) + 1]):
            v = 2 * target[arc] + ((u & 1) ^ odd[word[arc]])
            if colour[v] < 0:
                colour[v] = 1 - colour[u]
                queue[tail] = v
                tail += 1
            elif colour[v] == colour[u]:
                bipartite = False
    return colour, bipartite


@kernel
def _lift(vertex, sign, start, target, word, odd, node_of, first, lifted_target, lifted_word):
    """Write the arcs that leave the nodes of a class; those of node u begin at first[u]."""
    for u in range(vertex.size):
        at = first[u]
        for arc in range(start[vertex[u]], start[vertex[u] + 1]):
            lifted_target[at] = node_of[2 * target[arc] + (sign[u] ^ odd[word[arc]])]
            lifted_word[at] = word[arc]
            at += 1
