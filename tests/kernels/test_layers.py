"""Whole searches, on bitmaps and on lists, compared with dictionaries of explicit states."""

import random
from functools import cache
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier import jit
from frontier.kernels.lists import ShiftLists, _keep_new, list_bits, set_bits
from frontier.puzzles import tile_puzzle
from frontier.space import layout as layout_module
from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.lehmer import LehmerCode
from tests.support.reference_search import (
    bfs_layers,
    blank_moves,
    inversion_counts,
    random_arcs,
    random_sequence,
    sign,
    voltage_layers,
)
from tests.support.sweeps import swept
from tests.support.whole_searches import (
    ROW_WORDS,
    assert_search,
    bitmap_sizes,
    bitmap_step,
    graph_of,
    layouts_of,
    list_layers,
    numbers_of,
    origins_of,
    whole_slabs,
)


def shaped(cells, columns):
    """A flat board row by row, as a config has it."""
    return tuple(cells[i : i + columns] for i in range(0, len(cells), columns))


# --- tiles


@cache
def tile_layers(rows, columns, goal=None):
    return bfs_layers(rows, columns, goal)


SMALL = [(rows, columns) for rows in range(1, 9) for columns in range(1, 9) if rows * columns <= 8]


@swept(("rows", "columns"), SMALL, few=[size for size in SMALL if size not in ((2, 4), (4, 2))])
def test_small_tiles(rows, columns):
    puzzle = tile_puzzle(rows, columns)
    expected = [
        [puzzle.model.state(cells) for cells in layer] for layer in tile_layers(rows, columns)
    ]
    small = rows * columns <= 6
    row_words = ROW_WORDS if small else ROW_WORDS[:1]
    assert_search(puzzle.model.space, origins_of(puzzle), expected, row_words, steps=small)


@pytest.mark.sweep
@pytest.mark.parametrize("goal", [(3, 1, 0, 2, 5, 4), (5, 4, 3, 2, 0, 1)])
@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2)])
def test_tiles_from_a_goal_of_ones_own(rows, columns, goal):
    puzzle = tile_puzzle(rows, columns, goal=shaped(goal, columns))
    expected = [
        [puzzle.model.state(cells) for cells in layer] for layer in tile_layers(rows, columns, goal)
    ]
    assert_search(puzzle.model.space, origins_of(puzzle), expected)


@pytest.mark.sweep
@pytest.mark.parametrize("blank", range(9))
def test_3x3_from_every_cell(blank):
    cells = (*range(1, blank + 1), 0, *range(blank + 1, 9))
    puzzle = tile_puzzle(3, 3, goal=shaped(cells, 3))
    # numbers of states depend on the blank's cell up to turning the board: corner, edge, centre
    alike = {0: 0, 1: 1, 2: 0, 3: 1, 4: 4, 5: 1, 6: 0, 7: 1, 8: 0}[blank]
    goal = (*range(1, alike + 1), 0, *range(alike + 1, 9))
    expected = [len(layer) for layer in tile_layers(3, 3, goal)]
    space = puzzle.model.space
    origins = [space.number(*state) for state in origins_of(puzzle)]
    lists = list_layers(space, origins)
    assert [layer.size for layer in lists] == expected
    assert bitmap_sizes(space, origins, Layout(space, 1, 2)) == expected


@pytest.mark.sweep
@pytest.mark.parametrize("row_words", ROW_WORDS)
def test_3x3_in_every_layout(row_words):
    puzzle, space = tile_puzzle(3, 3), tile_puzzle(3, 3).model.space
    origins = [space.number(*state) for state in origins_of(puzzle)]
    expected = [len(layer) for layer in tile_layers(3, 3, tuple(range(9)))]
    assert len(expected) == 32
    assert sum(expected) == factorial(9) // 2
    tried = set()
    for layout in layouts_of(space, row_words):
        assert bitmap_sizes(space, origins, layout) == expected
        tried.add(layout.prefix_digits)
    assert tried == {0, 1}


@pytest.mark.sweep
def test_3x3_states_of_thin_layers():
    puzzle, space = tile_puzzle(3, 3), tile_puzzle(3, 3).model.space
    lists = list_layers(space, [space.number(*state) for state in origins_of(puzzle)])
    layers = [np.empty(0, np.uint64), *lists, np.empty(0, np.uint64)]
    layouts = list(layouts_of(space))
    for depth, boards in enumerate(tile_layers(3, 3, tuple(range(9)))):
        if len(boards) > 1000:
            continue
        states = [puzzle.model.state(cells) for cells in boards]
        assert lists[depth].tolist() == numbers_of(space, states, depth)
        if depth:
            layout = layouts[depth % len(layouts)]
            previous, current, after = layers[depth - 1 : depth + 2]
            assert bitmap_step(layout, depth - 1, current, previous) == after.tolist()


@pytest.mark.sweep
@pytest.mark.parametrize("row_words", ROW_WORDS)
def test_2x4_in_every_layout(row_words):
    puzzle, space = tile_puzzle(2, 4), tile_puzzle(2, 4).model.space
    origins = [space.number(*state) for state in origins_of(puzzle)]
    expected = [len(layer) for layer in tile_layers(2, 4)]
    tried = set()
    for layout in layouts_of(space, row_words):
        assert bitmap_sizes(space, origins, layout, threads=2) == expected
        tried.add(layout.prefix_digits)
    assert tried == {0, 1}


@cache
def lists_2x5():
    puzzle, space = tile_puzzle(2, 5), tile_puzzle(2, 5).model.space
    return space, list_layers(space, [space.number(*state) for state in origins_of(puzzle)])


def test_2x5_known_numbers():
    _, layers = lists_2x5()
    assert len(layers) - 1 == 55
    assert sum(layer.size for layer in layers) == 1_814_400
    assert [layer.size for layer in layers[:6]] == [1, 2, 3, 6, 11, 19]


@swept("slab_bytes", [1000, layout_module.SLAB_BYTES], few=1)
@swept(
    ("prefix_digits", "nodes"),
    [(0, 2), (2, 2), (0, 1), (0, 5), (1, 1), (1, 3), (2, 5), (3, 5)],
    few=[(2, 2)],
)
def test_2x5_in_many_layouts(prefix_digits, nodes, slab_bytes, monkeypatch):
    monkeypatch.setattr(layout_module, "ROW_WORDS", 42 if slab_bytes == 1000 else 4096)
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    space, layers = lists_2x5()
    layout = whole_slabs(space, prefix_digits, nodes)
    assert layout.fits_voltages
    sizes = bitmap_sizes(space, [(0, 0)], layout, threads=2)
    assert sizes == [layer.size for layer in layers]


@swept("row_words", ROW_WORDS[1:], few=[6])
def test_2x5_in_short_rows(row_words, monkeypatch):
    monkeypatch.setattr(layout_module, "ROW_WORDS", row_words)
    space, layers = lists_2x5()
    for prefix_digits in (0, 1):
        layout = Layout(space, prefix_digits, 2)
        assert layout.row_digits == {42: 2, 6: 3, 1: 3}[row_words]
        sizes = bitmap_sizes(space, [(0, 0)], layout, threads=3)
        assert sizes == [layer.size for layer in layers]


@swept(
    ("depth", "settings"),
    [(9, (3, 4)), (55, (2, 2)), (0, (2, 2)), (50, (1, 5)), (20, (0, 3)), (36, (1, 1)),
     (37, (2, 5)), (54, (2, 1))],
    few=2,
)  # fmt: skip
def test_2x5_states_of_a_layer(depth, settings):
    space, layers = lists_2x5()
    empty = np.empty(0, np.uint64)
    previous, current, after = [empty, *layers, empty][depth : depth + 3]
    found = bitmap_step(Layout(space, *settings), depth, current, previous)
    assert found == after.tolist()


# --- random base graphs


RANDOM_GRAPHS = [*range(40), 71]  # the last one has a border of two


def random_case(seed):
    """(space, arcs, origins, border) of a random base graph with voltages."""
    rng = random.Random(seed)
    m = seed % 8
    vertices = rng.randint(2, {6: 6, 7: 3}.get(m, 12))
    border = rng.randint(0, max(0, m - 5))
    arcs = random_arcs(rng, vertices, m, border)
    origins = [
        (rng.randrange(vertices), random_sequence(rng, m)) for _ in range(rng.choice([1, 1, 2, 4]))
    ]
    graph = graph_of(vertices, m, arcs)
    return Space(graph, [(v, sign(p)) for v, p in origins]), arcs, origins, border


@swept("seed", RANDOM_GRAPHS, few=4)
def test_random_graphs(seed):
    space, arcs, origins, border = random_case(seed)
    expected = voltage_layers(arcs, origins)
    assert_search(space, origins, expected, steps=sum(map(len, expected)) < 600)
    assert border in {layout.prefix_digits for layout in layouts_of(space)}


def test_random_graphs_are_of_all_kinds():
    cases = [random_case(seed) for seed in RANDOM_GRAPHS]
    for m in range(8):
        assert {space.sides for space, *_ in cases if space.graph.m == m} == {1, 2}
    assert {border for *_, border in cases} == {0, 1, 2}
    assert any(len(set(origins)) > 1 and space.sides == 2 for space, _, origins, _ in cases)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_with_eight_things(seed):
    rng = random.Random(seed)
    border = seed % 4
    arcs = [*random_arcs(rng, 2, 8, border), (0, 1, ()), (1, 0, ())]
    origins = [(0, random_sequence(rng, 8))]
    space = Space(graph_of(2, 8, arcs), [(0, sign(origins[0][1]))])
    assert_search(space, origins, voltage_layers(arcs, origins), ROW_WORDS[:2], steps=False)


@pytest.mark.sweep
@pytest.mark.parametrize("border", [0, 2, 4])
def test_bitmaps_and_lists_agree_on_random_graphs_with_nine_things(border):
    rng = random.Random(border)
    swaps = [(0, 0, (i,)) for i in range(8) if i != border - 1]
    arcs = [*random_arcs(rng, 3, 9, border), (0, 1, ()), (1, 0, ()), *swaps]
    space = Space(graph_of(3, 9, arcs), [(0, 0)])
    expected = [layer.size for layer in list_layers(space, [(0, 0)])]
    assert sum(expected) > 1000
    tried = set()
    for words in ROW_WORDS[:2]:
        for layout in layouts_of(space, words, most_prefixes=504):
            if layout.task_nodes == (1 if layout.prefix_digits < 2 else 3):
                assert bitmap_sizes(space, [(0, 0)], layout, threads=2) == expected
                tried.add(layout.prefix_digits)
    assert min(border, 3) in tried


# --- graphs whose numbers are known


@swept("m", range(11), few=[0, 1, 2, 5, 7])
def test_neighbour_swaps_find_the_numbers_of_inversions(m):
    arcs = [(0, 0, (i,)) for i in range(m - 1)]
    space = Space(graph_of(1, m, arcs), [(0, 0)])
    assert space.sides == 2
    expected = inversion_counts(m)
    for layout in layouts_of(space, most_prefixes=100):
        assert bitmap_sizes(space, [(0, 0)], layout, threads=2) == expected
    assert [layer.size for layer in list_layers(space, [(0, 0)])] == expected


@pytest.mark.sweep
def test_a_layer_may_neighbour_itself():
    """With a loop that changes nothing, every state is its own neighbour."""
    arcs = [(0, 0, (i,)) for i in range(6)] + [(0, 0, ())]
    space = Space(graph_of(1, 7, arcs), [(0, 0)])
    assert space.sides == 1
    expected = voltage_layers(arcs, [(0, tuple(range(7)))])
    assert_search(space, [(0, tuple(range(7)))], expected, ROW_WORDS[:1])


# --- lists of states with large numbers


@pytest.mark.sweep
@pytest.mark.parametrize(("rows", "columns"), [(2, 7), (3, 5), (4, 4), (2, 9), (3, 6), (4, 5)])
def test_lists_far_from_the_goal(rows, columns):
    """From a well-mixed board, as near the goal state numbers have but few digits."""
    rng, puzzle = random.Random(rows * columns), tile_puzzle(rows, columns)
    cells = tuple(range(rows * columns))
    for _ in range(2000):
        cells = rng.choice(blank_moves(rows, columns, cells))
    space, layers = puzzle.model.space, [set(), {cells}]
    while len(layers[-1]) < 500:
        found = {n for board in layers[-1] for n in blank_moves(rows, columns, board)}
        layers.append(found - layers[-2])
    kernel, previous = ShiftLists(space), np.empty(0, np.uint64)
    side, number = space.number(*puzzle.model.state(cells))
    current = np.array([number], dtype=np.uint64)
    for boards in layers[1:]:
        states = [puzzle.model.state(board) for board in boards]
        expected = sorted(space.number(*state) for state in states)
        assert [(side, n) for n in current.tolist()] == expected
        current, previous = kernel.expand(side, current, previous), current
        side = space.side_of(side + 1)


# --- parts of the list path


@given(st.lists(st.integers(0, 30)), st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_keep_new(found, previous, current):
    numbers = np.array(sorted(found), dtype=np.uint64)
    lists = [np.array(sorted(part), dtype=np.uint64) for part in (previous, current)]
    size = _keep_new(numbers, *lists)
    assert numbers[:size].tolist() == sorted(set(found) - previous - current)


@pytest.mark.parametrize("m", [0, 2, 3, 4, 5, 6, 7])
@given(data=st.data())
def test_bits_of_a_slab(m, data):
    """Bits stand where the state numbers say, and are listed again in their order."""
    code = LehmerCode(m)
    first_node, nodes = data.draw(st.integers(0, 9)), data.draw(st.integers(1, 4))
    first_word = data.draw(st.integers(0, code.words - 1))
    words = data.draw(st.integers(1, code.words - first_word))
    places = [
        (node, word, bit)
        for node in range(nodes)
        for word in range(words)
        for bit in range(code.bits)
    ]
    chosen = sorted(data.draw(st.sets(st.sampled_from(places))))
    numbers = [
        (first_node + node) * code.half + (first_word + word) * code.bits + bit
        for node, word, bit in chosen
    ]
    slab = np.zeros((nodes, words), dtype=np.uint64)
    where = first_node, first_word, code.half, code.bits
    set_bits(slab, np.array(numbers, dtype=np.uint64), *where)
    expected = [[0] * words for _ in range(nodes)]
    for node, word, bit in chosen:
        expected[node][word] |= 1 << bit
    assert slab.tolist() == expected
    listed = np.zeros(len(places), dtype=np.uint64)
    size = list_bits(slab, *where, listed)
    assert listed[:size].tolist() == numbers


@pytest.mark.parametrize("puzzle", [tile_puzzle(2, 3), tile_puzzle(3, 2), tile_puzzle(1, 4)])
def test_neighbours_without_compiled_kernels(puzzle):
    """They are the same, in the order of the arcs."""
    space, plain, compiled = (
        puzzle.model.space,
        ShiftLists(puzzle.model.space),
        ShiftLists(puzzle.model.space),
    )
    plain.plain, compiled.plain = True, False
    for side, nodes in enumerate(space.nodes):
        numbers = np.arange(nodes * space.code.half, dtype=np.uint64)
        both = (lists.neighbours(side, numbers) for lists in (plain, compiled))
        for found, expected in zip(*both, strict=True):
            assert np.array_equal(found, expected)


def test_little_is_done_without_compiled_kernels(monkeypatch):
    """Numba is not even imported for it; what is found is the same."""
    found = [
        tile_puzzle(2, 3).model.space.arcs,
        tile_puzzle(2, 3).model.reach.states,
        LehmerCode(4).ranks(np.eye(4)),
    ]
    monkeypatch.setattr(jit, "SMALL", 0)
    again = [
        tile_puzzle(2, 3).model.space.arcs,
        tile_puzzle(2, 3).model.reach.states,
        LehmerCode(4).ranks(np.eye(4)),
    ]
    for one, other in zip(found[0], again[0], strict=True):
        assert all(map(np.array_equal, one, other))
    assert found[1] == again[1] == 360
    assert all(map(np.array_equal, found[2], again[2]))
