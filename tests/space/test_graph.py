import random
from collections import Counter

import numpy as np
import pytest

from frontier.puzzles import tile_puzzle
from frontier.space.graph import Space
from tests.support.reference_search import lift_walks, numbered, random_arcs, random_sequence, sign
from tests.support.sweeps import swept
from tests.support.whole_searches import arcs_of, graph_of, origins_of


def both_ways(*arcs):
    """Each arc and the one that undoes it."""
    return [arc for u, v, word in arcs for arc in ((u, v, word), (v, u, word[::-1]))]


def nodes_of(space, side):
    """(vertex, sign) of each node of a side."""
    return [(int(v), int(s)) for v, s in zip(space.vertex[side], space.sign[side], strict=True)]


def random_case(seed):
    """(vertices, m, arcs, origins): a base graph and some of its lifted nodes."""
    rng = random.Random(seed)
    vertices, m = rng.randint(1, 12), rng.randint(0, 7)
    arcs = random_arcs(rng, vertices, m)
    signs = [0, 1] if m >= 2 else [0]
    origins = [(rng.randrange(vertices), rng.choice(signs)) for _ in range(rng.randint(1, 3))]
    return vertices, m, arcs, origins


TRIANGLE = both_ways((0, 1, ()), (1, 2, ()), (2, 0, ()))
CASES = {
    "triangle without swaps": (3, 4, TRIANGLE, [(0, 0)]),
    "triangle with one swap": (3, 4, both_ways((0, 1, (0,)), (1, 2, ()), (2, 0, ())), [(0, 0)]),
    "one edge with a swap": (2, 3, both_ways((0, 1, (1,))), [(1, 1)]),
    "one edge with and without": (2, 3, both_ways((0, 1, (1,)), (0, 1, ())), [(0, 0)]),
    "loop with a swap": (1, 2, both_ways((0, 0, (0,))), [(0, 0)]),
    "loop without swaps": (1, 2, both_ways((0, 0, ())), [(0, 0)]),
    "no arcs": (3, 5, [], [(2, 1)]),
    "origins on both sides": (2, 3, both_ways((0, 1, ())), [(0, 0), (1, 0)]),
    "origins in two parts": (4, 3, both_ways((0, 1, ()), (2, 3, (0,))), [(0, 0), (3, 1)]),
    **{f"random {seed}": random_case(seed) for seed in range(60)},
}


def tile_case(rows, columns):
    puzzle = tile_puzzle(rows, columns)
    graph = puzzle.model.graph
    origins = [(vertex, sign(sequence)) for vertex, sequence in origins_of(puzzle)]
    return graph.vertices, graph.m, arcs_of(graph), origins


SHAPES = [(1, 1), (1, 2), (1, 5), (4, 1), (2, 2), (2, 3), (3, 2), (3, 3), (2, 6), (3, 4), (5, 5)]
CASES |= {f"{rows}x{columns} tiles": tile_case(rows, columns) for rows, columns in SHAPES}
SMALL = [name for name, (vertices, m, _, _) in CASES.items() if m <= 6]

FEW = [name for name in CASES if not name.startswith("random") or name.endswith("5")]

each_case = swept("name", CASES, few=FEW)


def space_of(name):
    vertices, m, arcs, origins = CASES[name]
    return Space(graph_of(vertices, m, arcs), origins)


@pytest.mark.parametrize(
    ("m", "word", "position"),
    [(0, (0,), 0), (1, (0,), 0), (4, (3,), 3), (4, (0, 1, -1), -1), (9, (7, 8), 8)],
)
def test_voltage_must_swap_positions_that_exist(m, word, position):
    with pytest.raises(ValueError, match=rf"positions {position} and .* sequence of {m} has"):
        graph_of(2, m, both_ways((0, 1, ()), (0, 1, word)))


def test_arcs_are_columns():
    arcs = both_ways((0, 1, ()), (1, 2, [2, 0]), (2, 2, (1,)))
    graph = graph_of(3, 4, iter(arcs))
    assert arcs_of(graph) == [(u, v, tuple(word)) for u, v, word in arcs]
    assert graph.voltages == ((), (0, 2), (1,), (2, 0))
    assert graph.odd.tolist() == [0, 0, 1, 0]


def test_origins_are_needed():
    with pytest.raises(ValueError, match="origin"):
        Space(graph_of(1, 0, []), [])


@each_case
def test_classes_are_the_parities_of_the_walks(name):
    """A node lies on a side for each parity of the walks to it, so never on both."""
    _, _, arcs, origins = CASES[name]
    space, walks = space_of(name), lift_walks(arcs, origins)
    by_parity = [sorted(node for node, parity in walks if parity == p) for p in (0, 1)]
    bipartite = not set(by_parity[0]) & set(by_parity[1])
    assert space.sides == (2 if bipartite else 1)
    expected = by_parity if bipartite else [sorted({node for node, _ in walks})]
    assert [nodes_of(space, c) for c in range(space.sides)] == expected
    assert space.nodes == [len(nodes) for nodes in expected]
    assert space.states == sum(space.nodes) * space.code.half
    assert [space.side_of(depth) for depth in range(4)] == (
        [0, 1, 0, 1] if bipartite else [0, 0, 0, 0]
    )


@pytest.mark.parametrize(
    ("name", "sides", "nodes"),
    [
        ("triangle without swaps", 1, [3]),
        ("triangle with one swap", 2, [3, 3]),
        ("one edge with a swap", 2, [1, 1]),
        ("one edge with and without", 2, [2, 2]),
        ("loop with a swap", 2, [1, 1]),
        ("loop without swaps", 1, [1]),
        ("no arcs", 2, [1, 0]),
        ("origins on both sides", 1, [2]),
        ("origins in two parts", 2, [2, 2]),
        ("3x3 tiles", 2, [5, 4]),
        ("2x6 tiles", 2, [6, 6]),
        ("1x5 tiles", 2, [3, 2]),
    ],
)
def test_classes_of_graphs_counted_by_hand(name, sides, nodes):
    space = space_of(name)
    assert space.sides == sides
    assert space.nodes == nodes


def test_only_one_sign_of_each_vertex_is_reached():
    space = space_of("3x3 tiles")
    assert sorted(v for c in (0, 1) for v, _ in nodes_of(space, c)) == list(range(9))


@each_case
def test_arcs_are_those_of_the_base_graph(name):
    _, _, arcs, _ = CASES[name]
    space = space_of(name)
    for c in range(space.sides):
        nodes, after = nodes_of(space, c), nodes_of(space, space.side_of(c + 1))
        leaving = space.arcs[c]
        assert leaving.start.size == len(nodes) + 1
        assert leaving.start[0] == 0
        assert leaving.start[-1] == leaving.target.size == leaving.voltage.size
        for node, (vertex, odd) in enumerate(nodes):
            mine = slice(leaving.start[node], leaving.start[node + 1])
            found = Counter(
                (after[target], space.graph.voltages[word])
                for target, word in zip(leaving.target[mine], leaving.voltage[mine], strict=True)
            )
            assert found == Counter(
                ((v, (odd + len(word)) % 2), word) for u, v, word in arcs if u == vertex
            )


@each_case
def test_arcs_into_a_class_are_the_leaving_ones_reversed(name):
    """Voltages are compared as permutations: several words may stand for one."""
    space = space_of(name)
    voltages = [tuple(row) for row in space.graph.permutations.tolist()]

    def triples(arcs, nodes):
        sizes = (arcs.start[1:] - arcs.start[:-1]).tolist()
        here = [node for node in range(nodes) for _ in range(sizes[node])]
        there = arcs.target.tolist()
        return list(zip(here, there, (voltages[w] for w in arcs.voltage), strict=True))

    for c in range(space.sides):
        back = (c - 1) % space.sides
        entering = triples(space.arcs_into(c, range(space.nodes[c])), space.nodes[c])
        before = triples(space.arcs[back], space.nodes[back])
        assert Counter(entering) == Counter((v, u, voltage) for u, v, voltage in before)
        # undirected: an arc that enters is the undoing of one that leaves
        leaving = triples(space.arcs[c], space.nodes[c])
        assert Counter(entering) == Counter(
            (u, v, tuple(np.argsort(voltage).tolist())) for u, v, voltage in leaving
        )


@swept("name", SMALL, few=[name for name in SMALL if name in FEW])
def test_numbers_are_those_of_all_states_of_the_lift(name):
    _, m, _, _ = CASES[name]
    space = space_of(name)
    for c in range(space.sides):
        states = [(v, p) for v, odd in nodes_of(space, c) for p in numbered(m, odd)]
        assert [space.number(v, p) for v, p in states] == [(c, i) for i in range(len(states))]
        assert [space.state(c, i) for i in range(len(states))] == states
        vertices, sequences = space.states_of(c, np.arange(len(states), dtype=np.uint64))
        assert list(zip(vertices.tolist(), map(tuple, sequences.tolist()), strict=True)) == states


@each_case
def test_states_outside_the_lift_have_no_number(name):
    vertices, m, _, _ = CASES[name]
    space, rng = space_of(name), random.Random(name)
    inside = {node: c for c in range(space.sides) for node in nodes_of(space, c)}
    for vertex in range(vertices):
        for _ in range(10):
            sequence = random_sequence(rng, m)
            numbered_as = space.number(vertex, sequence)
            side = inside.get((vertex, sign(sequence)))
            if side is None:
                assert numbered_as is None
            else:
                assert numbered_as[0] == side
                assert space.state(*numbered_as) == (vertex, sequence)


def test_a_board_of_the_wrong_sign_has_no_number():
    space = space_of("2x3 tiles")
    assert space.number(0, (0, 1, 2, 3, 4)) == (0, 0)
    assert space.number(0, (1, 0, 2, 3, 4)) is None
