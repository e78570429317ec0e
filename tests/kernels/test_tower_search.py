"""Layers of a space that a tower numbers, from lists and as bitmaps, against dictionaries."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontier.kernels.tower_search import TowerLists, TowerSearch, memory_layout
from frontier.space.points import points_of
from frontier.space.tower import Graph, Tower
from frontier.space.tower_space import ROW_COST, TowerSpace
from frontier.space.words import SLAB_BYTES
from tests.support.random_towers import made, origin_of, plain, ring
from tests.support.sweeps import tried

MOST = 20_000


def searched(space, threads=1):
    search = TowerSearch(memory_layout(space, threads), threads)
    return [int(counts.sum()) for counts in search.layers(origin_of(space.tower))]


def listed(space):
    return [layer.size for layer in TowerLists(space).layers(origin_of(space.tower))]


@given(seed=st.integers(0, 10**9))
def test_layers_are_those_of_boards(seed):
    """Whichever digits make a row. Lists know the last two layers only."""
    puzzle = made(seed)
    if (layers := puzzle.layers(MOST)) is None:
        return
    tower, sizes = Tower(puzzle.points), list(map(len, layers))
    for row_cost in (0, 1e-5, 1e-3, ROW_COST):
        space = TowerSpace(tower, row_cost)
        assert searched(space) == sizes
    assert searched(space, threads=2) == sizes
    assert listed(space) == sizes


@given(seed=st.integers(0, 10**9))
def test_a_search_goes_on_from_the_last_two_layers(seed):
    """As after a resume, which knows of no others."""
    space = TowerSpace(Tower(made(seed).points))
    if space.states > MOST:
        return
    layers = list(TowerLists(space).layers(origin_of(space.tower)))
    for depth in range(1, len(layers)):
        search = TowerSearch(memory_layout(space, 1))
        for back in (depth - 1, depth):
            search.layer(back).add(layers[back])
        counts = search.expand(depth + 1)
        after = layers[depth + 1] if depth + 1 < len(layers) else layers[0][:0]
        assert counts.sum() == after.size
        assert all(search.layer(depth + 1).holds(int(number)) for number in after)


@given(seed=st.integers(0, 10**9))
def test_neighbours_are_those_of_the_arcs(seed):
    space = TowerSpace(Tower(made(seed).points))
    if space.states > MOST:
        return
    numbers = np.arange(space.states, dtype=np.uint64)
    near, source = TowerLists(space).neighbours(0, numbers)
    _, colours = space.states_of(0, numbers)
    wanted = set()
    for move in space.tower.points.moves:
        moved = np.empty_like(colours)
        moved[:, move] = colours
        after = space.numbers(np.zeros(len(moved), dtype=np.int64), moved)[1]
        wanted |= set(zip(numbers.tolist(), after.tolist(), strict=True))
    assert set(zip(source.tolist(), near.tolist(), strict=True)) == wanted


@settings(max_examples=tried(10, 50))
@given(seed=st.integers(0, 10**9))
def test_layers_of_graphs_of_several_vertices(seed):
    rng, points = np.random.default_rng(seed), made(seed).points
    vertices, moves = int(rng.integers(1, 5)), len(points.moves)
    source = np.concatenate([np.arange(vertices - 1), rng.integers(vertices, size=3)])
    target = np.concatenate([np.arange(1, vertices), rng.integers(vertices, size=3)])
    voltage = rng.integers(moves, size=source.size)
    every = np.concatenate([points.moves, np.argsort(points.moves, axis=1)])
    arcs = [np.concatenate(ends) for ends in
            ((source, target), (target, source), (voltage, voltage + moves))]  # fmt: skip
    origin = int(rng.integers(vertices))
    seen, frontier, sizes = {(origin, points.goal.tobytes())}, [(origin, points.goal)], []
    while frontier:
        sizes.append(len(frontier))
        following = []
        for vertex, colours in frontier:
            for u, v, w in zip(*arcs, strict=True):
                moved = np.empty_like(colours)
                moved[every[w]] = colours
                if vertex == u and (v, moved.tobytes()) not in seen:
                    seen.add((v, moved.tobytes()))
                    following.append((v, moved))
        if len(seen) > 5000:
            return
        frontier = following
    undone = replace(points, moves=every.astype(points.moves.dtype))
    space = TowerSpace(Tower(undone, Graph(vertices, *arcs, origin)))
    assert searched(space) == listed(space) == sizes


CUBE = {  # corners of the cube of 2x2x2, one of which is held
    "U": ([1, 2, 3, 0, 4, 5, 6, 7], [0] * 8),
    "R": ([3, 1, 2, 7, 0, 5, 6, 4], [1, 0, 0, 2, 2, 0, 0, 1]),
    "F": ([4, 0, 2, 3, 5, 1, 6, 7], [2, 1, 0, 0, 1, 2, 0, 0]),
}


def cube(times):
    moves = []
    for image, added in CUBE.values():
        for count in times:
            at, turned = list(range(8)), [0] * 8
            for _ in range(count):
                turned = [(t + added[p]) % 3 for t, p in zip(turned, at, strict=True)]
                at = [image[p] for p in at]
            moves.append((at, turned))
    return points_of(moves, [3] * 8, range(8), [0] * 8, [False] * 8)


@pytest.mark.parametrize(
    ("points", "sizes"),
    [
        (plain([ring(21)], list(range(21))), [1] * 21),
        (cube((1, 2, 3)), [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800,
                           2644]),
        (cube((1, 3)), [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852,
                        782536, 90280, 276]),
    ],
)  # fmt: skip
def test_published_layers(points, sizes):
    assert searched(TowerSpace(Tower(points)), threads=2) == sizes


@pytest.mark.sweep
def test_a_row_is_no_larger_than_a_slab():
    """Digits whose product of values is just above that of a slab's bits are not joined."""
    turns = []
    for cycles in ([[0, 4, 8, 12, 16, 20, 2, 6, 10, 14, 18], [21, 22, 23]],
                   [[1, 3, 19, 5, 20, 7, 17, 9, 15, 11, 13, 0], [21, 22]]):  # fmt: skip
        moved = list(range(24))
        for cycle in cycles:
            for here, there in zip(cycle, cycle[1:] + cycle[:1], strict=True):
                moved[here] = there
        turns += [moved, np.argsort(moved).tolist()]
    moves = [(move, [0] * 24) for move in turns]
    labels = [0] * 10 + [1] * 11 + [2, 3, 4]
    points = points_of(moves, [1] * 24, labels, [0] * 24, [False] * 24)
    space = TowerSpace(Tower(points))
    assert space.states == 2_116_296
    assert space.code.words * 8 <= SLAB_BYTES
    assert sum(searched(space)) == space.states
