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
    """

    vertices: int
    m: int
    words: tuple[tuple[int, ...], ...]
    source: np.ndarray
    target: np.ndarray
    word: np.ndarray
    smaller: tuple[int, ...] = ()

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

    @classmethod
    def from_arcs(
        cls,
        vertices: int,
        m: int,
        arcs: Iterable[tuple[int, int, tuple[int, ...]]],
        smaller: tuple[int, ...] = (),
    ) -> "BaseGraph":
        """From arcs (source, target, word). Each arc is given in both directions."""
        arcs = list(arcs)
        words = sorted({tuple(word) for _, _, word in arcs})
        number = {word: i for i, word in enumerate(words)}
        table = np.array(
            [(u, v, number[tuple(word)]) for u, v, word in arcs], dtype=np.int64
        ).reshape(-1, 3)
        columns = (np.ascontiguousarray(column) for column in table.T)
        return cls(vertices, m, tuple(words), *columns, smaller)

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


@dataclass(frozen=True)
class Arcs:
    """The arcs that leave one class, sorted by their source.

    start: int64, nodes of the class + 1; the arcs of node u are start[u] .. start[u+1]-1.
    target: int64, a node of the next class. word: int64, a voltage of the graph.
    """

    start: np.ndarray
    target: np.ndarray
    word: np.ndarray


class Space:
    """The lift of a base graph by the sign, as far as the origins reach it.

    graph: the base graph.  code: numbers the sequences of one sign.
    classes: 2 if the lift is bipartite (layer t lies in class t mod 2), else 1.
    vertex, sign: for each class an int64 array, what each of its nodes is.
    nodes: for each class the number of its nodes.

    A state of a class is numbered ``node * code.half + index``.
    `states` counts all states of the lift; what the search reaches may be fewer.
    """

    def __init__(self, graph: BaseGraph, origins: Iterable[tuple[int, int]]):
        """`origins`: (vertex, sign) of each position at depth 0."""
        self.graph = graph
        self.code = LehmerCode(graph.m, graph.smaller)
        lifted_source, lifted_target, word = _lift(graph)
        start = np.searchsorted(lifted_source, np.arange(2 * graph.vertices + 1))
        roots = np.unique(np.array([2 * v + s for v, s in origins], dtype=np.int64))
        if roots.size == 0:
            raise ValueError("a space needs at least one origin")
        colour, bipartite = _walk(start, lifted_target, roots)
        self.classes = 2 if bipartite else 1
        self._class_of = np.where(colour >= 0, colour % self.classes, -1)
        self._node_of = np.full(2 * graph.vertices, -1, dtype=np.int64)
        self.vertex, self.sign, self.nodes = [], [], []
        for c in range(self.classes):
            lifted = np.flatnonzero(self._class_of == c)
            self._node_of[lifted] = np.arange(lifted.size)
            self.vertex.append(lifted // 2)
            self.sign.append(lifted % 2)
            self.nodes.append(int(lifted.size))
        self._into: dict[int, Arcs] = {}
        self.arcs = []
        for c in range(self.classes):
            mine = np.flatnonzero(self._class_of[lifted_source] == c)
            source = self._node_of[lifted_source[mine]]
            self.arcs.append(
                Arcs(
                    start=np.searchsorted(source, np.arange(self.nodes[c] + 1)),
                    target=self._node_of[lifted_target[mine]],
                    word=word[mine],
                )
            )

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
        numbers = self._node_of[lifted] * self.code.half + index
        return self._class_of[lifted], numbers.astype(np.uint64)

    def state(self, klass: int, number: int) -> tuple[int, tuple[int, ...]]:
        """(vertex, sequence) of a state number of a class; inverse of `number`."""
        node, index = divmod(int(number), self.code.half)
        sign = int(self.sign[klass][node])
        return int(self.vertex[klass][node]), self.code.unrank(index, sign)

    def arcs_into(self, klass: int) -> Arcs:
        """The arcs into the nodes of a class, sorted by the node they enter.

        As the graph is undirected these are the arcs that leave it, undone: `target` is then
        the node an arc comes from, and the word must be read from that node's own arcs.
        """
        if klass in self._into:
            return self._into[klass]
        back = (klass - 1) % self.classes
        arcs = self.arcs[back]
        source = np.repeat(np.arange(self.nodes[back]), np.diff(arcs.start))
        order = np.argsort(arcs.target, kind="stable")
        entered = arcs.target[order]
        self._into[klass] = Arcs(
            start=np.searchsorted(entered, np.arange(self.nodes[klass] + 1)),
            target=source[order],
            word=arcs.word[order],
        )
        return self._into[klass]


def _lift(graph: BaseGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arcs between lifted nodes 2 * vertex + sign, sorted by source: (source, target, word)."""
    flip = graph.odd[graph.word]
    source = np.concatenate([2 * graph.source, 2 * graph.source + 1])
    target = np.concatenate([2 * graph.target + flip, 2 * graph.target + 1 - flip])
    word = np.concatenate([graph.word, graph.word])
    order = np.argsort(source, kind="stable")
    return source[order], target[order], word[order]


@kernel
def _walk(start, target, roots):
    """Parity of each node's distance from the roots (-1: not reached); is it a colouring?"""
    colour = np.full(start.size - 1, -1, dtype=np.int8)
    queue = np.empty(start.size - 1, dtype=np.int64)
    head, tail = 0, 0
    for root in roots:
        colour[root] = 0
        queue[tail] = root
        tail += 1
    bipartite = True
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(start[u], start[u + 1]):
            v = target[arc]
            if colour[v] < 0:
                colour[v] = 1 - colour[u]
                queue[tail] = v
                tail += 1
            elif colour[v] == colour[u]:
                bipartite = False
    return colour, bipartite
