"""The states that can be reached, and how many there are: the local group of a base graph.

Walk a spanning tree of the base graph from a root r, and let T_v be the voltage of the tree's walk
to v. Every other arc u -> v with voltage w closes a walk from r to r with the voltage T_u w T_v^-1.
These voltages generate the **local group** G of r. The states (v, q) that can be reached from (r,
s) are those with s^-1 q T_v^-1 in G, so there are |G| for each vertex in the component of r (J. L.
Gross and T. W. Tucker, Topological Graph Theory, 1987, section 2.5). For the tile puzzle G is the
alternating group (Johnson and Story 1879). For one blank on a non-separable graph it is the
symmetric or the alternating group, except for rings and one graph of seven vertices (R. M. Wilson,
J. Combinatorial Theory B 16, 1974).

A group of permutations is stored as a chain of stabilisers: for each position k a *transversal* of
the subgroup that fixes all later positions. For each position to which this subgroup brings k, the
transversal has one member that brings k there (C. C. Sims 1970, in the form of D. E. Knuth,
Efficient Representation of Perm Groups, Combinatorica 11, 1991). Each member of the group is a
unique product of one element of each transversal, so the order is the product of their sizes.

A permutation p is an array with p[k] in place k; (p q)[k] = p[q[k]]. A voltage w turns the sequence
s into s w.
"""

from collections.abc import Iterator
from math import factorial, prod

import numpy as np

from frontier.jit import kernel
from frontier.space.graph import BaseGraph

FIRST_WALKS, MOST_WALKS = 1 << 6, 1 << 16
"""The number of closed walks examined at a time: few at first, because a few generate most groups.
The largest batch takes a fraction of a second."""


class Group:
    """A group of permutations of `length` positions, grown by generators.

    most: an upper bound on the group's order, if one is known; once the order reaches it, further
    generators are ignored.
    """

    def __init__(self, length: int, most: int | None = None):
        self.length = length
        self._most = factorial(length) if most is None else most
        identity = tuple(range(length))
        self._transversal: list[dict[int, tuple]] = [{k: identity} for k in range(length)]
        self._inverse: list[dict[int, tuple]] = [{k: identity} for k in range(length)]
        self._generators: list[list[tuple]] = [[] for _ in range(length)]

    @property
    def order(self) -> int:
        return prod(len(transversal) for transversal in self._transversal)

    @property
    def is_whole(self) -> bool:
        """True if the order is the greatest possible, so that no generator can enlarge the
        group."""
        return self.order >= self._most

    def extend(self, permutations: np.ndarray) -> None:
        """Add the rows of int[K, length] as generators."""
        while permutations.size and not self.is_whole:
            permutations = permutations[~self.contains(permutations)]
            if len(permutations):
                self._add(self.length - 1, tuple(int(x) for x in permutations[0]))

    def contains(self, permutations: np.ndarray) -> np.ndarray:
        """Return whether each row of int[K, length] is a member: bool[K]."""
        identity = np.arange(self.length)[None]
        return (self.least(permutations) == self.least(identity)).all(axis=1)

    def cosets(self, permutations: np.ndarray) -> np.ndarray:
        """Return the least member of each distinct left coset p G of the rows: int[N, length]."""
        return np.unique(self.least(permutations), axis=0)

    def least(self, permutations: np.ndarray) -> np.ndarray:
        """Return the least member of the left coset p G of each row: int[K, length].

        Members are compared from the last position to the first.
        """
        products = permutations.copy()
        for k in reversed(range(self.length)):
            images = np.array(sorted(self._transversal[k]))
            best = images[products[:, images].argmin(axis=1)]
            table = np.zeros((self.length, self.length), dtype=np.int64)
            for image, member in self._transversal[k].items():
                table[image] = member
            products = np.take_along_axis(products, table[best], axis=1)
        return products

    def _add(self, k: int, p: tuple) -> None:
        """Make p, which fixes all positions after k, a generator (Knuth's A_k)."""
        self._generators[k].append(p)
        for member in list(self._transversal[k].values()):
            self._close(k, _times(p, member))

    def _close(self, k: int, p: tuple) -> None:
        """Make p a product of transversal members (Knuth's B_k)."""
        pending = [p]
        while pending and not self.is_whole:
            p = pending.pop()
            undo = self._inverse[k].get(p[k])
            if undo is None:
                self._transversal[k][p[k]], self._inverse[k][p[k]] = p, _inverse(p)
                pending += [_times(generator, p) for generator in self._generators[k]]
            elif k and not self._has(factor := _times(undo, p), k - 1):
                self._add(k - 1, factor)

    def _has(self, p: tuple, k: int) -> bool:
        """Return whether p, which fixes all positions after k, is a member."""
        while k >= 0:
            undo = self._inverse[k].get(p[k])
            if undo is None:
                return False
            if p[k] != k:
                p = _times(undo, p)
            k -= 1
        return True


def _times(p: tuple, q: tuple) -> tuple:
    return tuple([p[i] for i in q])  # from a list: many times faster than from a generator


def _inverse(p: tuple) -> tuple:
    inverse = [0] * len(p)
    for i, image in enumerate(p):
        inverse[image] = i
    return tuple(inverse)


class Reach:
    """The states that can be reached from some origins, without a search.

    states: the number of these states.
    """

    def __init__(self, graph: BaseGraph, vertex: np.ndarray, sequence: np.ndarray):
        """`vertex`, `sequence`: int[N] and int[N, length], the states at depth 0."""
        self._length = graph.length
        self._component, self._tree, odd = _walk_trees(graph, vertex)
        moved = self._walked_to_roots(vertex, sequence)
        odd_voltage = graph.odd.astype(bool)
        most = prod(factorial(size) for size in (*graph.smaller, graph.m))
        arcs = np.empty(0, dtype=np.int64)
        if most > 1:
            arcs = np.flatnonzero(self._component[graph.source] >= 0)
        self._groups: dict[int, Group] = {}
        self._cosets: dict[int, set[bytes]] = {}
        self.states = 0
        for root in np.unique(self._component[vertex]):
            arcs_here = arcs[self._component[graph.source[arcs]] == root]
            source, target = graph.source[arcs_here], graph.target[arcs_here]
            is_odd = odd[source] ^ odd[target] ^ odd_voltage[graph.voltage[arcs_here]]
            group = Group(self._length, most if is_odd.any() or most == 1 else most // 2)
            for walks in _closed_walks(graph, self._tree, arcs_here):
                if group.is_whole:
                    break
                group.extend(walks)
            cosets = group.cosets(moved[self._component[vertex] == root])
            self._groups[int(root)] = group
            self._cosets[int(root)] = {coset.tobytes() for coset in cosets}
            vertices = int(np.count_nonzero(self._component == root))
            self.states += vertices * group.order * len(cosets)

    def contains(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Return which of the states int[N], int[N, length] can be reached: bool[N].

        A vertex of -1 stands for a state that does not exist.
        """
        reached = np.zeros(len(vertex), dtype=bool)
        component = np.where(vertex < 0, -1, self._component[vertex])
        for root, cosets in self._cosets.items():
            inside_component = np.flatnonzero(component == root)
            least = self._groups[root].least(
                self._walked_to_roots(vertex[inside_component], sequence[inside_component])
            )
            reached[inside_component] = [coset.tobytes() in cosets for coset in least]
        return reached

    def _walked_to_roots(self, vertex: np.ndarray, sequences: np.ndarray) -> np.ndarray:
        """Return the sequences after the walks back through the tree to the roots."""
        sequences = np.asarray(sequences, dtype=np.int64).reshape(len(vertex), self._length)
        back = np.argsort(self._tree[vertex], axis=1, kind="stable")
        return np.take_along_axis(sequences, back, axis=1)


def _walk_trees(graph: BaseGraph, origins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walk from the origins.

    Returns int64[vertices], the root of each vertex (-1 if it is not reached); int8[vertices,
    length], the voltage of the walk from that root; and bool[vertices], whether that voltage is
    odd.
    """
    length = graph.length
    component = np.full(graph.vertices, -1, dtype=np.int64)
    tree = np.tile(np.arange(length, dtype=np.int8), (graph.vertices, 1))
    odd = np.zeros(graph.vertices, dtype=bool)
    roots = np.unique(origins).astype(np.int64)
    # Without a sequence there is no inner loop, so an arc takes Python little time.
    walk = _walk.python_if_small(graph.arcs.target.size * (length or 0.02))
    queue = np.empty(graph.vertices, dtype=np.int64)
    walk(
        *graph.arcs, graph.permutations, graph.odd.astype(bool), roots, component, tree, odd, queue
    )
    return component, tree, odd


@kernel
def _walk(start, target, voltage, permutations, odd_voltage, roots, component, tree, odd, queue):
    for root in roots:
        if component[root] >= 0:
            continue
        component[root] = root
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for arc in range(start[u], start[u + 1]):
                v = target[arc]
                if component[v] < 0:
                    component[v] = root
                    odd[v] = odd[u] ^ odd_voltage[voltage[arc]]
                    for k in range(tree.shape[1]):
                        tree[v, k] = tree[u, permutations[voltage[arc], k]]
                    queue[tail] = v
                    tail += 1


def _closed_walks(graph: BaseGraph, tree: np.ndarray, arcs: np.ndarray) -> Iterator[np.ndarray]:
    """Generate the voltages T_u w T_v^-1 of the walks that these arcs close, in batches."""
    part, first = FIRST_WALKS, 0
    while first < arcs.size:
        some = arcs[first : first + part]
        walked = np.take_along_axis(
            tree[graph.source[some]], graph.permutations[graph.voltage[some]], axis=1
        )
        back = np.argsort(tree[graph.target[some]], axis=1, kind="stable")
        yield np.take_along_axis(walked, back, axis=1)
        first, part = first + part, min(4 * part, MOST_WALKS)
