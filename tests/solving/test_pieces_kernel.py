"""Iterative deepening on random base graphs, against a dictionary search and naive counting."""

import random
from itertools import pairwise

import numpy as np
import pytest

from frontier.solving.pieces_kernel import Displacements, Search, _useless_pairs, search_tables
from tests.support.reference_search import moved, random_arcs, random_sequence, voltage_layers
from tests.support.sweeps import swept
from tests.support.whole_searches import graph_of

SEEDS = range(40)
each_seed = swept("seed", SEEDS, few=12)
DEPTH = 7
"""Ways of at most so many arcs are searched for; without a bound there are many."""


def case(seed):
    """(graph, arcs sorted by their source, origin) of a random base graph."""
    rng = random.Random(seed)
    smaller = rng.choice([(), (), (2,), (1, 2)])
    m = rng.randint(2, 4)
    vertices = rng.randint(1, 6)
    arcs = random_arcs(rng, vertices, m, smaller=smaller)
    rng.shuffle(arcs)
    graph = graph_of(vertices, m, arcs, smaller)
    origin = (rng.randrange(vertices), random_sequence(rng, m, smaller))
    return graph, sorted(arcs, key=lambda arc: arc[0]), origin


def useless(arcs, a, b):
    """Whether arc b right after arc a leads nowhere that no arc or one arc would lead."""
    (u, v, first), (w, x, second) = arcs[a], arcs[b]
    assert v == w
    start = tuple(range(10))
    end = moved(moved(start, first), second)
    shorter = [(u, start)] + [(t, moved(start, word)) for s, t, word in arcs if s == u]
    return (x, end) in shorter


def search_of(graph, origin, goals):
    """A search whose bound says nothing: its tables are all zero."""
    nothing = np.zeros(0, dtype=np.int64)
    none = Displacements(
        np.zeros(graph.source.size + 1, dtype=np.int64), nothing, nothing, nothing, nothing
    )
    rows = np.array(sorted([vertex, *sequence] for vertex, sequence in goals), dtype=np.int64)
    zeros = np.zeros((graph.length + 1, 1), dtype=np.int64)
    return Search(search_tables(graph, none, zeros, 1, rows), *origin, 0)


def finished(search, nodes=10_000_000):
    while not search.advance(nodes):
        pass
    return search


def way_of(search):
    vertex, sequence = search.path
    return [(v, tuple(s)) for v, s in zip(vertex.tolist(), sequence.tolist(), strict=True)]


@each_seed
def test_useless_pairs(seed):
    graph, arcs, _ = case(seed)
    first, table = _useless_pairs(graph)
    found = {}
    for a, (_, v, _) in enumerate(arcs):
        after = [b for b, arc in enumerate(arcs) if arc[0] == v]
        assert first[a + 1] - first[a] == len(after)
        found |= {(a, b): bool(table[first[a] + i]) for i, b in enumerate(after)}
    assert len(table) == len(found)
    assert found == {(a, b): useless(arcs, a, b) for a, b in found}


def test_pairs_of_both_kinds_are_met():
    graphs = [case(seed)[1] for seed in SEEDS]
    found = [
        useless(arcs, a, b)
        for arcs in graphs
        for a in range(len(arcs))
        for b in range(len(arcs))
        if arcs[a][1] == arcs[b][0]
    ]
    assert 100 < sum(found) < len(found) - 100


@each_seed
def test_ways_are_as_long_as_a_dictionary_search_says(seed):
    graph, arcs, origin = case(seed)
    rng = random.Random(seed)
    steps = {(u, v, word) for u, v, word in arcs}
    for depth, layer in enumerate(voltage_layers(arcs, [origin])[: DEPTH + 1]):
        for goal in rng.sample(sorted(layer), min(len(layer), 8)):
            way = way_of(finished(search_of(graph, origin, [goal])))
            assert (way[0], way[-1], len(way)) == (origin, goal, depth + 1)
            for (u, before), (v, after) in pairwise(way):
                words = {word for s, t, word in steps if (s, t) == (u, v)}
                assert after in {moved(before, word) for word in words}


@each_seed
def test_of_several_goals_the_nearest_is_found(seed):
    graph, arcs, origin = case(seed)
    rng = random.Random(seed)
    layers = voltage_layers(arcs, [origin])[: DEPTH + 1]
    for nearest in range(len(layers)):
        goals = [rng.choice(sorted(layer)) for layer in layers[nearest:]]
        goals += rng.sample(sorted(layers[nearest]), min(len(layers[nearest]), 3))
        way = way_of(finished(search_of(graph, origin, set(goals))))
        assert way[-1] in layers[nearest]
        assert way[-1] in goals
        assert len(way) == nearest + 1


@each_seed
def test_nodes_are_the_walks_without_useless_pairs(seed):
    """Iteration b goes through all walks of 1..b arcs that hold none."""
    graph, arcs, origin = case(seed)
    last = voltage_layers(arcs, [origin])[: DEPTH + 1][-1]
    search = finished(search_of(graph, origin, [min(last)]))
    walks = [[a] for a, arc in enumerate(arcs) if arc[0] == origin[0]]
    counts, total = [0], 0
    for _ in range(len(search.nodes)):
        total += len(walks)
        counts.append(total)
        walks = [
            [*walk, b]
            for walk in walks
            for b, arc in enumerate(arcs)
            if arc[0] == arcs[walk[-1]][1] and not useless(arcs, walk[-1], b)
        ]
    assert search.nodes[:-1] == counts[: len(search.nodes) - 1]
    assert 0 <= search.nodes[-1] <= counts[len(search.nodes) - 1]
    assert search.bound == len(search.nodes) - 1


@pytest.mark.parametrize("nodes", [1, 7, 1000])
def test_slices_change_nothing(nodes):
    for seed in SEEDS:
        graph, arcs, origin = case(seed)
        goal = min(voltage_layers(arcs, [origin])[: DEPTH + 1][-1])
        whole = finished(search_of(graph, origin, [goal]))
        sliced = finished(search_of(graph, origin, [goal]), nodes)
        assert sliced.nodes == whole.nodes
        assert way_of(sliced) == way_of(whole)


def test_a_slice_is_as_long_as_it_is_told():
    graph, arcs, origin = case(3)
    goal = min(voltage_layers(arcs, [origin])[: DEPTH + 1][-1])
    search = search_of(graph, origin, [goal])
    slices, over = 0, False
    while not over:
        over = search.advance(5)
        slices += 1
        assert sum(search.nodes) <= 5 * slices
    assert sum(search.nodes) > 5


def test_a_search_that_cannot_go_on_ends():
    """A line of five vertices: the sequence never changes, and no walk comes back."""
    arcs = [(u, v, ()) for u in range(5) for v in (u - 1, u + 1) if 0 <= v < 5]
    graph = graph_of(5, 2, arcs)
    search = finished(search_of(graph, (1, (0, 1)), [(4, (1, 0))]))
    assert not search.found
    assert search.nodes == [0, 2, 3, 4]
    found = finished(search_of(graph, (1, (0, 1)), [(4, (0, 1))]))
    assert way_of(found) == [(v, (0, 1)) for v in range(1, 5)]


def test_a_goal_needs_no_search():
    graph, _, origin = case(0)
    search = search_of(graph, origin, [origin])
    assert search.advance(1)
    assert (way_of(search), search.nodes) == ([origin], [0])
