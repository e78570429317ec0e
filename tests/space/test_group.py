"""Groups of permutations by closure, and what can be reached by a dictionary search."""

import random
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from frontier.space import group as group_module
from frontier.space.group import Group, Reach
from tests.support.reference_search import (
    layers_of,
    random_arcs,
    random_sequence,
    sequences_of,
    voltage_layers,
)
from tests.support.sweeps import swept
from tests.support.whole_searches import graph_of

WILSON = [[1, 5, 6], [0, 2], [1, 3], [2, 4, 6], [3, 5], [4, 0], [0, 3]]
"""Wilson's graph on seven vertices, the only one whose group is not plain to see."""


def times(p, q):
    """The product of two permutations: first q, then p."""
    return tuple(p[i] for i in q)


def closure(degree, generators):
    """All members of the group, by multiplying until nothing is new."""
    identity = tuple(range(degree))
    layers = layers_of([identity], lambda p: [times(p, generator) for generator in generators])
    return set().union(*layers)


def random_generators(rng, degree):
    """Some permutations of one kind: of the first places, turns, cycles of three, or any."""
    kind, generators = rng.randrange(4), []
    for _ in range(rng.randint(0, 4)):
        p = list(range(degree))
        if kind == 0:
            first = rng.randint(0, degree)
            p[:first] = rng.sample(range(first), first)
        elif kind == 1:
            turn = rng.randint(0, degree)
            p = [*p[turn:], *p[:turn]]
        elif kind == 2 and degree >= 3:
            a, b, c = rng.sample(range(degree), 3)
            p[a], p[b], p[c] = b, c, a
        else:
            rng.shuffle(p)
        generators.append(tuple(p))
    return generators


def rows(degree, members):
    return np.array(members, dtype=np.int64).reshape(len(members), degree)


def group_of(degree, generators):
    group = Group(degree)
    group.extend(rows(degree, generators))
    return group


GROUPS = range(120)


def case(seed):
    rng = random.Random(seed)
    degree = seed % 7
    return degree, random_generators(rng, degree)


@swept("seed", GROUPS, few=GROUPS[::4])
def test_members_are_those_of_the_closure(seed):
    degree, generators = case(seed)
    group, members = group_of(degree, generators), closure(degree, generators)
    assert group.order == len(members)
    everything = list(permutations(range(degree)))
    assert group.contains(rows(degree, everything)).tolist() == [p in members for p in everything]


@swept("seed", GROUPS, few=GROUPS[::4])
def test_cosets_are_those_of_the_closure(seed):
    """Each left coset p G is named by the member that reads first from the last position."""
    degree, generators = case(seed)
    rng = random.Random(-seed)
    group, members = group_of(degree, generators), closure(degree, generators)
    some = [random_sequence(rng, degree) for _ in range(rng.randint(1, 40))]
    named = {min((times(p, g) for g in members), key=lambda q: q[::-1]) for p in some}
    cosets = group.cosets(rows(degree, some))
    assert sorted(map(tuple, cosets.tolist())) == sorted(named)


def test_groups_of_all_kinds_are_met():
    orders = [(seed % 7, len(closure(*case(seed)))) for seed in GROUPS]
    for degree in range(3, 7):
        found = {order for of, order in orders if of == degree}
        assert {1, factorial(degree)} <= found
        assert degree < 4 or len(found) > 4


@pytest.mark.parametrize(
    ("degree", "generators", "order"),
    [
        (5, [(1, 2, 3, 4, 0)], 5),
        (5, [(1, 2, 3, 4, 0), (4, 3, 2, 1, 0)], 10),
        (6, [(1, 0, 3, 2, 4, 5), (0, 1, 2, 3, 5, 4)], 4),
        (8, [(1, 2, 3, 4, 5, 6, 7, 0), (1, 0, 2, 3, 4, 5, 6, 7)], 40_320),
        # the Mathieu groups on 11 and 12 points
        (11, [(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0), (0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7)], 7_920),
        (
            12,
            [
                (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11),
                (0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7, 11),
                (11, 10, 5, 7, 8, 2, 9, 3, 4, 6, 1, 0),
            ],
            95_040,
        ),
    ],
)
def test_orders_that_are_known(degree, generators, order):
    assert group_of(degree, generators).order == order


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_the_smallest_groups(degree):
    assert Group(degree).order == 1
    assert Group(degree).contains(rows(degree, [tuple(range(degree))])).all()


def test_generators_may_come_in_parts():
    group = Group(6)
    for generator, order in [((1, 2, 0, 3, 4, 5), 3), ((0, 1, 2, 4, 5, 3), 9), ((1, 0), 18)]:
        group.extend(rows(6, [(*generator, *range(len(generator), 6))]))
        assert group.order == order
    group.extend(rows(6, [(3, 4, 5, 0, 1, 2)]))
    assert group.order == len(
        closure(
            6,
            [(1, 2, 0, 3, 4, 5), (0, 1, 2, 4, 5, 3), (1, 0, 2, 3, 4, 5), (3, 4, 5, 0, 1, 2)],
        )
    )


# --- what can be reached


def reach_case(seed):
    """(vertices, m, smaller, arcs, origins) of a random base graph that may hang apart."""
    rng = random.Random(seed)
    smaller = rng.choice([(), (), (1,), (2,), (3,), (1, 2), (2, 2), (3, 2)])
    m = rng.randint(max(smaller, default=0) or 0, 4 if smaller else 6)
    m = max(m, 2) if smaller else m
    vertices = rng.randint(1, 8)
    arcs = random_arcs(rng, vertices, m, smaller=smaller)
    if rng.random() < 0.6:  # few arcs, so few states
        pairs = [arcs[i : i + 2] for i in range(0, len(arcs), 2)]
        arcs = [arc for pair in pairs if rng.random() < 0.6 for arc in pair]
    origins = [
        (rng.randrange(vertices), random_sequence(rng, m, smaller))
        for _ in range(rng.choice([1, 1, 2, 3, 6]))
    ]
    return vertices, m, smaller, arcs, origins


def reach_of(vertices, m, smaller, arcs, origins):
    graph = graph_of(vertices, m, arcs, smaller)
    return Reach(graph, np.array([v for v, _ in origins]), np.array([s for _, s in origins]))


def contains(reach, vertex, sequence):
    return reach.contains(np.array([vertex]), np.array([sequence], dtype=np.int64))[0]


@swept("seed", range(50), few=10)
def test_reach_is_what_a_search_reaches(seed):
    vertices, m, smaller, arcs, origins = reach_case(seed)
    reached = set().union(*voltage_layers(arcs, origins))
    reach = reach_of(vertices, m, smaller, arcs, origins)
    assert reach.states == len(reached)
    everything = list(sequences_of([*smaller, m]))
    rng = random.Random(seed)
    for vertex in range(vertices):
        for sequence in rng.sample(everything, min(len(everything), 30)):
            assert contains(reach, vertex, sequence) == ((vertex, sequence) in reached)
    for vertex, sequence in rng.sample(sorted(reached), min(len(reached), 30)):
        assert contains(reach, vertex, sequence)
    with pytest.MonkeyPatch.context() as patch:  # walks are looked at one by one
        patch.setattr(group_module, "FIRST_WALKS", 1)
        patch.setattr(group_module, "MOST_WALKS", 1)
        assert reach_of(vertices, m, smaller, arcs, origins).states == len(reached)


def test_a_whole_group_needs_no_more_walks(monkeypatch):
    """Two swaps next to each other generate all of S_3; the other 200 walks are not looked at."""
    arcs = [(0, 0, (n % 2,)) for n in range(200)]
    looked_at = []
    monkeypatch.setattr(group_module, "FIRST_WALKS", 2)
    contains = Group.contains
    monkeypatch.setattr(
        Group, "contains", lambda of, rows: looked_at.append(len(rows)) or contains(of, rows)
    )
    assert reach_of(1, 3, (), arcs, [(0, (0, 1, 2))]).states == 6
    assert max(looked_at) <= 2
    assert sum(looked_at) < 10


def test_reaches_of_all_kinds_are_met():
    apart = several = partial = 0
    for seed in range(150):
        vertices, m, smaller, arcs, origins = reach_case(seed)
        reached = set().union(*voltage_layers(arcs, origins))
        apart += len({vertex for vertex, _ in reached}) < vertices
        several += bool(smaller)
        whole = len(list(sequences_of([*smaller, m])))
        partial += 2 < len(reached) < len({vertex for vertex, _ in reached}) * whole
    assert min(apart, several, partial) > 20


def slides(adjacency):
    """Arcs of one blank on a graph: vertex its cell, sequence the tiles in order of their cells.

    The tile that leaves v for the blank at u passes those of the cells between.
    """
    arcs = []
    for u, neighbours in enumerate(adjacency):
        for v in neighbours:
            i, j = (v, u - 1) if v < u else (v - 1, u)  # its places before and after
            arcs.append((u, v, tuple(range(i, j)) if i <= j else tuple(range(i - 1, j - 1, -1))))
    return arcs


def cells_layers(adjacency):
    """The same by explicit boards."""

    def neighbours(board):
        u = board.index(0)
        for v in adjacency[u]:
            cells = list(board)
            cells[u], cells[v] = cells[v], cells[u]
            yield tuple(cells)

    return layers_of([tuple(range(len(adjacency)))], neighbours)


def test_one_blank_on_wilsons_graph():
    """840 of the 5040 positions, a sixth: the group PGL(2, 5) (R. M. Wilson 1974)."""
    assert sum(map(len, cells_layers(WILSON))) == 840
    reach = reach_of(7, 6, (), slides(WILSON), [(0, tuple(range(6)))])
    assert reach.states == 840
