"""Searches in the memory of one process, compared with lists and dictionaries."""

from functools import cache
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.kernels import bitmap_search
from frontier.kernels.bitmap_search import count_ones
from frontier.kernels.shift_search import (
    ShiftBitmaps,
    ShiftSearch,
    memory_bytes,
    memory_layout,
)
from frontier.puzzles import pattern_puzzle, tile_puzzle
from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.words import lowest_bit
from tests.support.reference_search import bfs_layers, layers_of, line_moves
from tests.support.small_spaces import PUZZLES, SOME, each_puzzle, known, puzzle_named
from tests.support.sweeps import swept
from tests.support.whole_searches import (
    ROW_WORDS,
    graph_of,
    layer_sizes,
    layouts_of,
    list_layers,
    numbers_of,
)


def ones_of(words):
    """The ones of each row."""
    counts = np.empty(len(words), dtype=np.int64)
    count_ones(words, counts)
    return counts


def numbers_in(bitmaps, layout):
    """The state numbers whose bits are set, ascending, looked up bit by bit."""
    code = layout.space.code
    octets = np.ascontiguousarray(bitmaps.words).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    bits = bits.reshape(*bitmaps.words.shape, 64)
    prefix, node, word, bit = np.nonzero(bits)
    assert (bit < code.bits).all()
    index = (prefix * bitmaps.words.shape[2] + word) * code.bits + bit
    return sorted((node * code.half + index).tolist())


def rows_in(bitmaps, layout):
    """Whether each row of each strip has a bit."""
    prefixes, nodes, _ = bitmaps.words.shape
    rows = bitmaps.words.reshape(prefixes, nodes, layout.rows, layout.row_words)
    return rows.any(axis=-1).tolist()


def walk_layers(space, origins, layers, layout, threads, states=True):
    """Assert that a search makes these layers, one after the other."""
    search = ShiftSearch(layout, threads)
    search.layer(0).add(np.array([number for _, number in origins], dtype=np.uint64))
    for depth, numbers in enumerate([*layers, layers[0][:0]]):
        if depth:
            counts = search.expand(depth)
            nodes = space.nodes[space.side_of(depth)]
            at_nodes = (numbers // np.uint64(space.code.half)).astype(np.int64)
            assert counts.tolist() == np.bincount(at_nodes, minlength=nodes).tolist()
        if states:
            bitmaps = search.layer(depth)
            assert numbers_in(bitmaps, layout) == numbers.tolist()
            assert bitmaps.live.tolist() == rows_in(bitmaps, layout)
            ones = ones_of(bitmaps.words.reshape(-1, bitmaps.words.shape[2]))
            assert ones.sum() == numbers.size
            if depth:  # the layer before is still there
                assert numbers_in(search.layer(depth - 1), layout) == layers[depth - 1].tolist()


# --- the layers of whole searches


@each_puzzle
def test_the_spaces_are_of_both_kinds(name):
    space, _, layers = known(name)
    assert space.sides == (1 if name.startswith("multi") else 2)
    assert sum(layer.size for layer in layers) == puzzle_named(name).states


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tiles 2x3", lambda: bfs_layers(2, 3)),
        ("multi 2x3", lambda: layers_of([tuple(range(6))], lambda b: line_moves(2, 3, b))),
    ],
)
def test_layers_are_those_of_a_dictionary(name, expected):
    puzzle = puzzle_named(name)
    space, origins, _ = known(name)
    layers = [
        np.array(numbers_of(space, map(puzzle.model.state, boards), depth), dtype=np.uint64)
        for depth, boards in enumerate(expected())
    ]
    walk_layers(space, origins, layers, memory_layout(space, 2), 2)


@swept("name", [name for name in PUZZLES if name != "tiles 3x3"], few=2)
def test_layers_in_every_layout(name):
    space, origins, layers = known(name)
    tried = set()
    for words in ROW_WORDS if space.code.leading else ROW_WORDS[:1]:
        for number, layout in enumerate(layouts_of(space, words)):
            states = layout.task_nodes in (2, 3) and space.states <= 30_000
            walk_layers(space, origins, layers, layout, number % 2 + 1, states)
            tried.add((layout.prefix_digits, layout.rows))
    if space.code.m >= 7:
        assert {digits for digits, _ in tried} == {0, 1}
        assert max(rows for _, rows in tried) > 1


@swept("threads", [1, 2], few=[2])
@swept(("digits", "nodes"), [(0, 2), (1, 4), (1, 3), (0, 5), (1, 1)], few=2)
def test_layers_of_3x3(digits, nodes, threads):
    space, origins, layers = known("tiles 3x3")
    layout = Layout(space, digits, nodes)
    assert any(n % nodes for n in space.nodes) or nodes in (1, 3)
    walk_layers(space, origins, layers, layout, threads)


@swept("threads", [1, 2, 3], few=[2])
@each_puzzle
def test_layer_sizes(name, threads):
    space, origins, layers = known(name)
    layout = memory_layout(space, threads)
    sizes = list(layer_sizes(space, origins, layout, threads))
    assert sizes == [layer.size for layer in layers]


@pytest.mark.parametrize("name", ["tiles 2x4", "multi 2x3", "pattern 2x4, k = 3", "labelled 2x4"])
def test_several_origins(name):
    """Those of every third state of the layer 4 and of the goal's, some given twice."""
    space, origins, layers = known(name)
    origins = [*origins, *((0, int(number)) for number in layers[4][::3])]
    expected = [layer.size for layer in list_layers(space, origins)]
    sizes = list(layer_sizes(space, [*origins, *origins[:2]], memory_layout(space, 2), 2))
    assert sizes == expected
    assert sizes[0] == len(origins) > 1
    assert sum(sizes) == puzzle_named(name).states


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_things_are_shared_out_once_each(threads):
    search = ShiftSearch(memory_layout(known("tiles 2x3")[0], threads), threads)
    asked = []

    def square(thing):
        asked.append(thing)
        return thing * thing

    assert search.spread(square, list(range(20))) == [n * n for n in range(20)]
    assert sorted(asked) == list(range(20))


# --- bitmaps


@cache
def some_layouts():
    """Layouts of spaces with words of 1, 3, 12 and 60 bits, with and without leading digits."""
    spaces = [known(name)[0] for name in ("tiles 1x5", "tiles 2x3", "tiles 2x4", "multi 2x4")]
    spaces += [pattern_puzzle(2, 3, labels=range(1, n)).model.space for n in (4, 5)]
    layouts = [
        layout
        for space in spaces
        for words in (ROW_WORDS[0], 6)
        for layout in layouts_of(space, words)
    ]
    return [(layout, side) for layout in layouts for side in range(layout.space.sides)]


@st.composite
def filled(draw):
    """(layout, side, empty bitmaps, set of state numbers)"""
    layout, side = draw(st.sampled_from(some_layouts()))
    most = layout.space.nodes[side] * layout.space.code.half - 1
    numbers = draw(st.sets(st.integers(0, most), max_size=40))
    numbers |= draw(st.sets(st.sampled_from([0, most])))
    return layout, side, ShiftBitmaps(layout, side), numbers


def as_numbers(numbers):
    return np.array(list(numbers), dtype=np.uint64)


def test_layouts_of_all_kinds_of_words():
    assert {layout.space.code.bits for layout, _ in some_layouts()} == {1, 3, 12, 60}
    assert {layout.prefix_digits for layout, _ in some_layouts()} == {0, 1}


@given(filled(), st.data())
def test_added_states_are_held(case, data):
    layout, side, bitmaps, numbers = case
    assert numbers_in(bitmaps, layout) == []
    half = data.draw(st.sets(st.sampled_from(sorted(numbers)))) if numbers else set()
    bitmaps.add(as_numbers(half))
    assert numbers_in(bitmaps, layout) == sorted(half)
    bitmaps.add(as_numbers(numbers))  # some of them once more
    assert numbers_in(bitmaps, layout) == sorted(numbers)
    assert bitmaps.live.tolist() == rows_in(bitmaps, layout)
    most = layout.space.nodes[side] * layout.space.code.half - 1
    near = {number + step for number in numbers for step in (-1, 0, 1)} & set(range(most + 1))
    for number in near | {0, most}:
        assert bitmaps.holds(number) is (number in numbers)


@given(filled())
def test_strips_are_what_nodes_have_under_prefixes(case):
    layout, side, bitmaps, numbers = case
    bitmaps.add(as_numbers(numbers))
    code, strip, nodes = layout.space.code, layout.strip_words, layout.space.nodes[side]
    found = set()
    for first_node in range(0, nodes, layout.slab_nodes):
        for prefix in range(layout.prefixes):
            strips = bitmaps.strips(first_node, layout.slab_nodes, prefix)
            assert np.shares_memory(strips, bitmaps.words)
            there = range(first_node, min(first_node + layout.slab_nodes, nodes))
            assert strips.shape == (len(there), strip)
            for row, node in enumerate(there):
                for word, bits in enumerate(strips[row].tolist()):
                    first = node * code.half + (prefix * strip + word) * code.bits
                    found |= {first + bit for bit in range(64) if bits >> bit & 1}
    assert found == numbers


@given(filled())
def test_live_rows_are_found_after_strips_are_filled(case):
    layout, side, bitmaps, numbers = case
    other = ShiftBitmaps(layout, side)
    other.add(as_numbers(numbers))
    bitmaps.live[:] = True  # what was there before, for all one knows
    for node in range(0, layout.space.nodes[side], layout.slab_nodes):
        for prefix in range(layout.prefixes):
            where = node, layout.slab_nodes, prefix
            bitmaps.strips(*where)[:] = other.strips(*where)
    bitmaps.find_live()
    assert numbers_in(bitmaps, layout) == sorted(numbers)
    assert bitmaps.live.tolist() == rows_in(other, layout)


@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3), min_size=1, max_size=9)
)
def test_count_ones(words):
    expected = [sum(word.bit_count() for word in row) for row in words]
    assert ones_of(np.array(words, dtype=np.uint64)).tolist() == expected


@pytest.mark.parametrize(("word", "ones"), [(0, 0), (1, 1), (1 << 63, 1), (2**64 - 1, 64)])
def test_count_ones_of_like_words(word, ones):
    assert ones_of(np.full((300, 7), word, dtype=np.uint64)).tolist() == [7 * ones] * 300
    assert ones_of(np.empty((0, 7), dtype=np.uint64)).tolist() == []


# --- how bitmaps are cut


SPACES = {
    **{name: lambda name=name: known(name)[0] for name in PUZZLES},
    "tiles 2x5": lambda: tile_puzzle(2, 5).model.space,
    "tiles 2x6": lambda: tile_puzzle(2, 6).model.space,
    "tiles 4x3": lambda: tile_puzzle(4, 3).model.space,
    "tiles 2x7": lambda: tile_puzzle(2, 7).model.space,
    "pattern 2x6": lambda: pattern_puzzle(2, 6, k=2).model.space,
    "one vertex": lambda: Space(graph_of(1, 8, [(0, 0, (i,)) for i in range(7)]), [(0, 0)]),
}


@swept("threads", [1, 2, 3, 8, 30], few=[1, 8])
@swept("name", SPACES, few=[*SOME, *[name for name in SPACES if name not in PUZZLES]])
def test_memory_layout(name, threads):
    space = SPACES[name]()
    layout = memory_layout(space, threads)
    assert layout.fits_voltages
    assert layout.space is space
    if threads > 1:
        # as many tasks as one can have
        most = max(
            finest.task_count(0)
            for digits in range(min(3, len(space.code.leading)) + 1)
            if (finest := Layout(space, digits, 1)).fits_voltages
        )
        assert (layout.task_count(0) >= 2 * threads) == (most >= 2 * threads)


def test_memory_layouts_with_and_without_enough_tasks():
    """So that the test above is one of both."""
    assert memory_layout(SPACES["tiles 2x3"](), 30).task_count(0) < 60
    assert memory_layout(SPACES["tiles 2x6"](), 30).task_count(0) >= 60


def test_few_threads_are_not_given_many_small_tasks():
    """Each task costs a call of the kernel: one thread takes a small layer whole."""
    for name in ("tiles 2x3", "tiles 2x4", "tiles 3x3"):
        space = SPACES[name]()
        layout = memory_layout(space, 1)
        assert layout.prefixes * layout.groups(0) == 1


def test_shares_are_even():
    """The most that one of two threads has to do is little more than half of a layer."""
    for name in ("tiles 2x5", "tiles 2x6", "tiles 4x3", "pattern 2x6"):
        space = SPACES[name]()
        layout = memory_layout(space, 2)
        share = ceil(layout.task_count(0) / 2) * layout.task_prefixes * layout.task_nodes
        assert share <= 1.25 * max(space.nodes) * layout.prefixes / 2


@each_puzzle
def test_memory_bytes_cover_the_bitmaps(name):
    space = known(name)[0]
    layout = memory_layout(space, 2)
    search = ShiftSearch(layout, 2)
    bitmaps = sum(search.layer(depth).words.nbytes for depth in range(2))
    assert bitmaps < memory_bytes(layout) < bitmaps + 1000 * sum(space.nodes)


def test_layers_take_turns():
    search = ShiftSearch(memory_layout(known("tiles 2x3")[0], 1))
    assert all(search.layer(depth) is search.layer(depth + 2) for depth in range(4))
    assert all(search.layer(a) is not search.layer(b) for a, b in pairwise(range(4)))


@given(st.integers(1, 2**64 - 1), st.integers(0, 63))
def test_lowest_bit(word, shift):
    for some in (word, (word << shift) % 2**64 or 1, 1 << shift, 2**64 - (1 << shift)):
        assert lowest_bit(np.uint64(some)) == format(some, "b")[::-1].index("1")


def test_all_threads_touch_the_bitmaps_first(monkeypatch):
    """Each word of a layer is in one of the parts that they share out."""
    touched = []
    monkeypatch.setattr(bitmap_search, "PART_BYTES", 800)
    monkeypatch.setattr(bitmap_search, "_touch", touched.append)
    layout = memory_layout(tile_puzzle(2, 4).model.space, 2)
    for threads in (1, 2):
        search = ShiftSearch(layout, threads)
        sizes = [search.layer(depth).words.size for depth in range(2)]
        assert sum(part.size for part in touched) == (threads - 1) * sum(sizes)
    assert len(touched) > 2
    assert all(part.nbytes <= 800 for part in touched)
