"""Iterative deepening A* on a base graph with voltages: shortest ways without stored layers.

The search walks arcs from a state, depth first, and turns back where the depth so far and a lower
bound for the rest exceed a limit; the limit grows to the least sum that exceeded it (R. E. Korf,
Depth-First Iterative-Deepening, Artificial Intelligence 27, 1985). No state is remembered, but of
two arcs one after the other those are left out that undo each other or do what a single arc does:
no shortest way has them.

The lower bound is a sum of tables, one for each distinct piece and one for each sort of like
pieces: the moves that the piece needs at least, by the cell it lies on. An arc changes only the
terms of the pieces it displaces. Where one move displaces several pieces by one step each, the
sum counts steps, and the bound is the sum divided by the most steps of a move, rounded up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frontier.space.graph import BaseGraph
from frontier.space.jit import kernel

MOST_DEPTH = 1000


@dataclass(frozen=True)
class Displacements:
    """Which pieces the arcs of a base graph displace, and the table of each; int64 columns.

    Arc a displaces those numbered start[a] .. start[a+1]-1. row: the table of the piece, or -1
    where the sequence says which it is; place: its place there then. source, target: its cells.
    """

    start: np.ndarray
    place: np.ndarray
    row: np.ndarray
    source: np.ndarray
    target: np.ndarray


class Deepening:
    """What all searches on one base graph for the same goals share."""

    def __init__(
        self,
        graph: BaseGraph,
        displacements: Displacements,
        tables: np.ndarray,
        most_steps: int,
        goals: np.ndarray,
    ):
        """
        tables: int64[rows, cells], rows 0 .. length-1 for the members of the sequence.
        most_steps: steps of a move at most.  goals: int64[N, 1 + length], vertex and sequence,
        in lexicographic order.
        """
        order = np.argsort(graph.source, kind="stable")
        self.start, target, word = vars(graph.arcs).values()
        moved = displacements
        self.arguments = (
            most_steps, tables, goals, self.start, target, word,
            np.cumsum([0, *map(len, graph.words)]),
            np.array([i for swaps in graph.words for i in swaps], dtype=np.int64),
            *_useless_pairs(self.start, target, word, graph.voltages),
            moved.start[:-1][order], moved.start[1:][order],
            moved.place, moved.row, moved.source, moved.target,
        )  # fmt: skip
        self.most_steps, self.tables, self.goals = most_steps, tables, goals

    def search(self, vertex: int, sequence: Sequence[int], total: int) -> "Search":
        """A search from a state; total: the sum of the tables there."""
        return Search(self, vertex, sequence, total)

    def least(self, vertex: int, sequence: Sequence[int], total: int) -> int:
        """The lower bound at a state where the tables add up to `total`."""
        return -(-total // self.most_steps)

    def deepen(self, *arguments) -> None:
        """The kernel, which may have a bound of its own."""
        _deepen(*arguments)


class Search:
    """One search, done a slice at a time so that it can be watched and interrupted.

    bound: the limit of the iteration under way. nodes: states visited in each iteration so far.
    found: whether a shortest way is found; `way` is then the states along it.
    """

    def __init__(self, shared: Deepening, vertex: int, sequence: Sequence[int], total: int):
        self._shared = shared
        self._vertex = np.zeros(MOST_DEPTH + 1, dtype=np.int64)
        self._sequence = np.zeros((MOST_DEPTH + 1, len(sequence)), dtype=np.int16)
        self._total = np.zeros(MOST_DEPTH + 1, dtype=np.int64)
        self._last = np.full(MOST_DEPTH + 1, -1, dtype=np.int64)
        self._cursor = np.zeros(MOST_DEPTH + 1, dtype=np.int64)
        self._vertex[0], self._sequence[0], self._total[0] = vertex, sequence, total
        self._cursor[0] = shared.start[vertex]
        self.bound = shared.least(vertex, sequence, total)
        self.nodes = [0]
        self.found = bool((shared.goals == np.array([vertex, *sequence])).all(axis=1).any())
        self._depth = 0
        self._next_bound = MOST_DEPTH

    @property
    def way(self) -> tuple[np.ndarray, np.ndarray]:
        """The way found: int64[N] vertices and int64[N, length] sequences, the start first."""
        end = self._depth + 1
        return self._vertex[:end].copy(), self._sequence[:end].astype(np.int64)

    def advance(self, nodes: int) -> bool:
        """Go on for about so many nodes; returns whether the search is over.

        It is, if a way is found or every way would have `MOST_DEPTH` arcs or more.
        """
        if self.found or self.bound >= MOST_DEPTH:
            return True
        status = np.array([self._depth, self._next_bound, 0, 0], dtype=np.int64)
        self._shared.deepen(
            nodes, self.bound, *self._shared.arguments, self._vertex, self._sequence, self._total,
            self._last, self._cursor, status,
        )  # fmt: skip
        self._depth, self._next_bound = int(status[0]), int(status[1])
        self.nodes[-1] += int(status[2])
        self.found = bool(status[3])
        if self.found or self._depth >= 0:
            return self.found
        self.bound, self._next_bound, self._depth = self._next_bound, MOST_DEPTH, 0
        self._cursor[0] = self._shared.start[self._vertex[0]]
        if self.bound >= MOST_DEPTH:
            return True
        self.nodes.append(0)
        return False


@kernel
def _useless_pairs(start, target, word, voltages):
    """Which arcs do not pay right after which: (first, useless).

    useless[first[a] + i] is for arc a and then the i-th arc of its target.
    """
    first = np.zeros(target.size + 1, dtype=np.int64)
    for a in range(target.size):
        first[a + 1] = first[a] + start[target[a] + 1] - start[target[a]]
    useless = np.zeros(first[-1], dtype=np.bool_)
    length = voltages.shape[1]
    for u in range(start.size - 1):
        for a in range(start[u], start[u + 1]):
            v = target[a]
            for b in range(start[v], start[v + 1]):
                same = target[b] == u
                for k in range(length):
                    same &= voltages[word[a], voltages[word[b], k]] == k
                for c in range(start[u], start[u + 1]):
                    if same:
                        break
                    same = target[c] == target[b]
                    for k in range(length):
                        both = voltages[word[a], voltages[word[b], k]]
                        same &= both == voltages[word[c], k]
                useless[first[a] + b - start[v]] = same
    return first, useless


@kernel
def _deepen(
    budget, bound, most, tables, goals, start, arc_target, arc_word, word_start, swaps,
    first_pair, useless, moved_start, moved_end, place, row, source, target, vertex, sequence,
    total, last, cursor, status,
):  # fmt: skip
    depth, next_bound = status[0], status[1]
    length, nodes = sequence.shape[1], 0
    while depth >= 0 and nodes < budget:
        arc = cursor[depth]
        if arc == start[vertex[depth] + 1]:
            depth -= 1
            continue
        cursor[depth] = arc + 1
        before = last[depth]
        if before >= 0 and useless[first_pair[before] + arc - start[vertex[depth]]]:
            continue
        after = total[depth]
        for d in range(moved_start[arc], moved_end[arc]):
            piece = row[d] if row[d] >= 0 else np.int64(sequence[depth, place[d]])
            after += tables[piece, target[d]] - tables[piece, source[d]]
        least = depth + 1 + (after if most == 1 else (after + most - 1) // most)
        if least > bound:
            next_bound = min(next_bound, least)
            continue
        for k in range(length):
            sequence[depth + 1, k] = sequence[depth, k]
        depth += 1
        nodes += 1
        word = arc_word[arc]
        for k in range(word_start[word], word_start[word + 1]):
            i = swaps[k]
            thing = sequence[depth, i]
            sequence[depth, i] = sequence[depth, i + 1]
            sequence[depth, i + 1] = thing
        vertex[depth], total[depth], last[depth] = arc_target[arc], after, arc
        cursor[depth] = start[arc_target[arc]]
        if after == 0 and _is_goal(goals, vertex[depth], sequence[depth]):
            status[3] = 1
            break
    status[0], status[1], status[2] = depth, next_bound, nodes


@kernel
def _is_goal(goals, vertex, sequence):
    """Whether a state is among the goals, which are in lexicographic order."""
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
