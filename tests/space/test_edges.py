"""The edges of a layer, counted by lists and by bitmaps, against an obvious count."""

import dataclasses

import numpy as np
from engine import arcs_of, graph_of, layouts_of, numbers_of
from hypothesis import given
from hypothesis import strategies as st
from twins import moved, random_arcs, random_sequence, sign, voltage_layers

from frontier.space.graph import Space
from frontier.space.lists import ListKernel
from frontier.space.memory import MemorySearch


def edges_between(arcs, counted, layers):
    """The edges of each layer but the first, and of the empty one after the last, arc by arc."""
    found = []
    for depth, layer in enumerate(layers):
        before = layers[depth - 1] if depth else set()
        ends = [
            (target, moved(sequence, word))
            for vertex, sequence in layer
            for source, target, word in arcs
            if source == vertex
        ]
        found.append(sum(counted[vertex] and (vertex, s) not in before for vertex, s in ends))
    return found


@given(st.integers(1, 3), st.integers(4, 6), st.randoms(use_true_random=False))
def test_edges_in_random_graphs(vertices, m, rng):
    arcs = random_arcs(rng, vertices, m)
    counted = np.array([rng.random() < 0.6 for _ in range(vertices)])
    graph = dataclasses.replace(graph_of(vertices, m, arcs), edge_targets=counted)
    origins = [(rng.randrange(vertices), random_sequence(rng, m)) for _ in range(2)]
    origins = [origins[0]] if rng.random() < 0.5 else origins
    layers = voltage_layers(arcs, origins)
    space = Space(graph, [(v, sign(s)) for v, s in origins])
    if len({space.number(*origin)[0] for origin in origins}) > 1:
        return  # they lie on two sides, as no search has them
    expected = edges_between(arcs_of(graph), counted, layers)
    numbers = [np.array(numbers_of(space, some, d), np.uint64) for d, some in enumerate(layers)]
    for plain in (True, False):
        kernel = ListKernel(space)
        kernel.plain = plain
        before = [numbers[0][:0], *numbers]
        found = []
        for depth, current in enumerate(numbers):
            kernel.expand(space.side_of(depth), current, before[depth])
            found.append(kernel.edges)
        assert found == expected
    for row_words in (4096, 1):
        for layout in rng.sample(every := list(layouts_of(space, row_words)), min(4, len(every))):
            search = MemorySearch(layout, threads=2)
            search.layer(0).add(numbers[0])
            found = []
            for depth in range(1, len(layers) + 1):
                search.expand(depth)
                found.append(sum(search.layer(depth).edges))
            assert found == expected


def test_edges_are_not_counted_unless_asked_for():
    space = Space(graph_of(1, 4, [(0, 0, (0,))]), [(0, 0)])
    kernel = ListKernel(space)
    kernel.expand(0, np.array([0], np.uint64), np.empty(0, np.uint64))
    assert kernel.edges is None
    assert not space.edge_targets(0).any()
