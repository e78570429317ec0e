import random
from collections import Counter
from dataclasses import replace
from itertools import chain, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import tile_puzzle
from frontier.space import layout as layout_module
from frontier.space.graph import Space
from frontier.space.layout import Layout, split_voltage
from frontier.space.program import program_of, reads_of
from tests.support.reference_search import borders, moved
from tests.support.sweeps import swept
from tests.support.whole_searches import graph_of, shared, whole_slabs


def turns(m):
    """A single vertex where the whole sequence can turn by one: a voltage over all digits."""
    word = tuple(range(m - 1))
    return Space(graph_of(1, m, [(0, 0, word), (0, 0, word[::-1])]), [(0, 0)])


def neighbour_swaps(m):
    """A single vertex where any two neighbours can be exchanged."""
    return Space(graph_of(1, m, [(0, 0, (i,)) for i in range(m - 1)]), [(0, 0)])


def swaps_of_classes(m, smaller):
    """The same with several classes; the first class and the last move at once too."""
    sizes = (*smaller, m)
    words = [(i,) for i in range(sum(sizes) - 1) if i not in borders(sizes)]
    words += [(sum(sizes) - 3, 0), (0, sum(sizes) - 3)]
    return Space(graph_of(1, m, [(0, 0, w) for w in words], smaller), [(0, 0)])


SPACES = {
    "1x1": tile_puzzle(1, 1).model.space,
    "1x5": tile_puzzle(1, 5).model.space,
    "2x2": tile_puzzle(2, 2).model.space,
    "2x4": tile_puzzle(2, 4).model.space,
    "3x3": tile_puzzle(3, 3).model.space,
    "2x5": tile_puzzle(2, 5).model.space,
    "3x4": tile_puzzle(3, 4).model.space,
    "2x8": tile_puzzle(2, 8).model.space,
    "2x5 multi": tile_puzzle(2, 5, metric="multi").model.space,
    "3x3 multi": tile_puzzle(3, 3, metric="multi").model.space,
    "turns of 7": turns(7),
    "swaps of 10": neighbour_swaps(10),
    "no arcs": Space(graph_of(3, 6, []), [(1, 0)]),
    "swaps of 3, 2 and 6": swaps_of_classes(6, (3, 2)),
    "swaps of 2 and 3": swaps_of_classes(3, (2,)),
}


def layouts_of(space, most_prefixes=100_000):
    """Layouts of all kinds, of which not every one fits the voltages."""
    most = max(space.nodes)
    leading = space.code.leading
    layouts = [
        whole_slabs(space, prefix_digits, nodes)
        for prefix_digits in range(len(leading) + 1)
        if prod(leading[:prefix_digits]) <= most_prefixes
        for nodes in sorted({1, 2, 3, most, most + 1})
    ]
    return [*layouts, *chain.from_iterable(map(shared, layouts))]


ROW_WORDS, SLAB_BYTES = (layout_module.ROW_WORDS, 42, 1), (layout_module.SLAB_BYTES, 4000, 100)
CASES = [(name, *sizes) for name in SPACES for sizes in product(ROW_WORDS, SLAB_BYTES)]
each_space = swept(("name", "row_words", "slab_bytes"), CASES, few=CASES[::4])


@pytest.fixture
def layouts(name, row_words, slab_bytes, monkeypatch):
    monkeypatch.setattr(layout_module, "ROW_WORDS", row_words)
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    return layouts_of(SPACES[name])


@each_space
def test_rows_fill_slabs_and_slabs_fill_strips_and_strips_fill_bitmaps(layouts, slab_bytes):
    for layout in layouts:
        code = layout.space.code
        assert layout.row_words * layout.rows == layout.strip_words
        assert layout.slab_words * layout.cuts == layout.strip_words
        assert layout.slab_words % layout.row_words == 0
        assert layout.strip_words * layout.prefixes == code.words
        assert layout.prefix_digits <= layout.slab_digits <= layout.row_digits
        assert layout.row_words == prod(code.leading[layout.row_digits :])
        assert layout.slab_words == prod(code.leading[layout.slab_digits :])
        assert layout.slab_bytes == 8 * layout.slab_nodes * layout.slab_words
        assert layout.slab_bytes <= slab_bytes or layout.slab_words == layout.row_words
        assert layout.slab_nodes == 1 or layout.cuts == 1
        assert layout.task_nodes % layout.slab_nodes == 0
        stacks, prefixes, cuts = layout.grid
        assert stacks * layout.slab_nodes == layout.task_nodes
        assert (prefixes, cuts) == (layout.task_prefixes, layout.cuts)
        assert layout.part_bytes == 8 * layout.task_nodes * prefixes * layout.strip_words
        for c in range(layout.space.sides):
            nodes = layout.space.nodes[c]
            assert layout.shape(c) == (nodes, layout.prefixes, layout.strip_words)
            assert layout.layer_bytes(c) == 8 * nodes * code.words


@each_space
def test_slabs_are_as_large_as_may_be(layouts, slab_bytes):
    for layout in layouts:
        strip = 8 * layout.strip_words
        if strip > slab_bytes:
            digit = layout.space.code.leading[layout.slab_digits - 1]
            one_digit_less = layout.slab_bytes * digit
            assert layout.slab_digits == layout.prefix_digits or one_digit_less > slab_bytes
        else:
            one_node_more = layout.slab_bytes + strip
            assert layout.slab_nodes == layout.task_nodes or one_node_more > slab_bytes


def first_swaps(word, border):
    """Places in a voltage of the swaps that reach before a border, and of all before them that
    they depend on: those that share a position with a later one of them."""
    first = {k for k, i in enumerate(word) if i < border}
    while True:
        more = {k for k, i in enumerate(word) for f in first if k < f and abs(i - word[f]) <= 1}
        if more <= first:
            return sorted(first)
        first |= more


def straddles(space, word, digits):
    """Whether swaps that reach before `digits`, or must come before one, move bits."""
    leading = len(space.code.leading)
    return any(word[k] + 1 >= leading for k in first_swaps(word, digits))


@given(st.lists(st.integers(0, 8), max_size=8).map(tuple), st.integers(0, 9))
def test_a_voltage_splits_in_two_that_do_the_same(word, border):
    outer, inner = split_voltage(word, border)
    assert list(outer) == [word[k] for k in first_swaps(word, border)]
    assert all(i >= border for i in inner)
    assert moved(moved(range(10), outer), inner) == moved(range(10), word)


@each_space
def test_rows_are_as_long_as_may_be_and_no_voltage_leaves_them_for_the_bits(layouts, row_words):
    for layout in layouts:
        space, leading = layout.space, layout.space.code.leading

        def fits(digits, space=space):
            return not any(straddles(space, word, digits) for word in space.graph.voltages)

        assert layout.fits_voltages == fits(layout.row_digits)
        assert layout.fits_voltages == fits(layout.prefix_digits)
        if layout.prefix_digits < layout.row_digits:
            # one digit less would make the rows too long
            assert layout.row_words * leading[layout.row_digits - 1] > row_words
        if layout.row_words > row_words:
            assert not fits(layout.row_digits + 1)


def test_a_layout_of_no_prefix_fits_every_voltage():
    for space in SPACES.values():
        assert Layout(space, 0, 1).fits_voltages


@pytest.mark.parametrize(
    "odd",
    [
        {"prefix_digits": 4},
        {"prefix_digits": 99},
        {"task_nodes": 1 << 40},
        {"prefix_digits": 1, "shares": 3},
        {"prefix_digits": 1, "shares": 16},
        {"shares": 2},
    ],
)
def test_a_layout_that_a_space_cannot_have(odd):
    """As a damaged run may say; the most that it can have is taken."""
    space = tile_puzzle(3, 3).model.space
    assert len(space.code.leading) == 3
    Layout.from_settings(space, {"prefix_digits": 0, "task_nodes": max(space.nodes)})
    with pytest.raises(InputError, match="cannot be cut"):
        Layout.from_settings(space, {"prefix_digits": 0, "task_nodes": 1, **odd})


def test_tasks_of_several_have_whole_slabs(monkeypatch):
    """A task of all nodes may end within a slab."""
    space = tile_puzzle(3, 3).model.space
    monkeypatch.setattr(layout_module, "SLAB_BYTES", 2 * 8 * Layout(space, 0, 1).strip_words)
    assert max(space.nodes) == 5
    for nodes in (2, 4, 5, 6):
        made = Layout.from_settings(space, {"prefix_digits": 0, "task_nodes": nodes})
        assert (made.task_nodes, made.slab_nodes) == (nodes, 2)
    with pytest.raises(InputError, match="cannot be cut"):
        Layout.from_settings(space, {"prefix_digits": 0, "task_nodes": 3})


def test_which_prefixes_fit():
    def fitting(name):
        space = SPACES[name]
        digits = range(len(space.code.leading) + 1)
        return [d for d in digits if Layout(space, d, 1).fits_voltages]

    assert fitting("2x2") == [0]
    assert fitting("2x4") == [0, 1]
    assert fitting("3x3") == [0, 1]
    assert fitting("2x5") == [0, 1, 2, 3]
    assert fitting("swaps of 3, 2 and 6") == list(range(6))
    assert fitting("swaps of 2 and 3") == [0, 1, 2]
    assert fitting("turns of 7") == [0]
    assert fitting("no arcs") == [0, 1]


@swept(
    ("name", "slab_bytes"),
    list(product(SPACES, SLAB_BYTES)),
    few=[(name, 4000) for name in SPACES if name not in ("3x4", "2x8", "2x5 multi")],
)
def test_every_word_lies_in_exactly_one_slab_of_one_task(name, slab_bytes, monkeypatch):
    """Of each node under each prefix the words of all slabs are those of the strip, in order."""
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    monkeypatch.setattr(layout_module, "ROW_WORDS", min(4096, slab_bytes // 8))
    for layout in layouts_of(SPACES[name], most_prefixes=100):
        if prod(layout.grid) > 5000:
            continue
        for c in range(layout.space.sides):
            strips = Counter()
            for number in range(layout.task_count(c)):
                task = layout.task(c, number)
                assert (task.number, task.side) == (number, c)
                assert 1 <= len(task.nodes) <= layout.task_nodes
                own = Counter()
                for slab in range(prod(layout.grid)):
                    first, prefix, word = layout.slab_of(task, slab)
                    assert word % layout.slab_words == 0
                    for node in range(first, min(first + layout.slab_nodes, task.last_node)):
                        own[node, prefix, word // layout.slab_words] += 1
                assert own == Counter(
                    (node, prefix, cut)
                    for node in task.nodes
                    for prefix in range(task.first_prefix, task.last_prefix)
                    for cut in range(layout.cuts)
                )
                for node, prefix, cut in own:
                    assert layout.slab_at(c, node, prefix, 0)[0] == number
                    strips[node, prefix] += cut == 0
            assert strips == Counter(
                (node, prefix)
                for node in range(layout.space.nodes[c])
                for prefix in range(layout.prefixes)
            )


@each_space
def test_where_states_lie(layouts, name):
    """`place` and `slab_of` say the same, in whole numbers of Python."""
    rng = random.Random(name)
    for layout in layouts:
        code = layout.space.code
        for c in range(layout.space.sides):
            states = layout.space.nodes[c] * code.half
            if not states:
                continue
            numbers = sorted({0, states - 1, *(rng.randrange(states) for _ in range(20))})
            places = layout.locate(c, np.array(numbers, dtype=np.uint64))
            for number, *place in zip(numbers, *map(np.ndarray.tolist, places), strict=True):
                task, slab, word, bit = place
                assert 0 <= task < layout.task_count(c)
                assert 0 <= slab < prod(layout.grid)
                assert 0 <= word < layout.slab_nodes * layout.slab_words
                first, prefix, first_word = layout.slab_of(layout.task(c, task), slab)
                node = first + word // layout.slab_words
                word = prefix * layout.strip_words + first_word + word % layout.slab_words
                assert number == node * code.half + word * code.bits + bit
                assert 0 <= bit < code.bits


@pytest.mark.parametrize("name", SPACES)
def test_prefixes_of_a_task_differ_in_the_last_digit_only(name):
    for layout in layouts_of(SPACES[name], most_prefixes=1000):
        last = [1, *layout.space.code.leading][layout.prefix_digits]
        assert layout.siblings == layout.shares * layout.task_prefixes == last
        for c in range(layout.space.sides):
            for number in range(layout.task_count(c)):
                task = layout.task(c, number)
                assert task.last_prefix - task.first_prefix == layout.task_prefixes
                assert task.first_prefix // last == (task.last_prefix - 1) // last


@pytest.mark.parametrize(("rows", "columns", "prefix_digits"), [(2, 7, 2), (3, 5, 3)])
def test_tasks_that_share_siblings_read_less_than_tasks_that_share_nodes(
    rows, columns, prefix_digits
):
    def slabs_read(layout):
        tasks = [layout.task(0, number) for number in range(2 * layout.shares * layout.groups(0))]
        return sum(reads_of(layout, task, program_of(layout, task)).slab.size for task in tasks)

    space = tile_puzzle(rows, columns).model.space
    nodes, siblings = (
        Layout.with_tasks(space, prefix_digits, 2),
        Layout.with_tasks(space, prefix_digits, 1),
    )
    assert slabs_read(replace(siblings, shares=2)) < 0.9 * slabs_read(nodes)


READ = [(name, size) for name in ("2x4", "no arcs", "1x5", "3x3") for size in SLAB_BYTES]
READ += [(name, size) for name in ("2x5", "2x5 multi", "swaps of 10") for size in SLAB_BYTES[:2]]


@swept(("name", "slab_bytes"), READ, few=READ[:6])
def test_reads_bring_what_is_needed_once(name, slab_bytes, monkeypatch):
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    monkeypatch.setattr(layout_module, "ROW_WORDS", min(4096, slab_bytes // 8))
    space = SPACES[name]
    for layout in layouts_of(space, most_prefixes=100):
        if not layout.fits_voltages:
            continue
        for c in range(space.sides):
            back = (c - 1) % space.sides
            for number in range(layout.task_count(c)):
                task = layout.task(c, number)
                program = program_of(layout, task)
                brought, slabs = Counter(), Counter()
                reads = reads_of(layout, task, program)
                # A kernel is compiled again for each memory layout.
                assert all(table.flags.c_contiguous for table in (*program, *reads))
                for i in range(reads.slot.size):
                    member = int(reads.stack[i])
                    assert program.needed[member, reads.slot[i]]
                    slabs[int(reads.task[i]), int(reads.slab[i])] += 1
                    where = layout.task(back, int(reads.task[i]))
                    first, prefix, word = layout.slab_of(where, int(reads.slab[i]))
                    assert first == program.stacks[member] * layout.slab_nodes
                    slot = prefix * layout.cuts + word // layout.slab_words
                    assert program.slots[reads.slot[i]] == slot
                    brought[member, int(reads.slot[i])] += 1
                assert set(slabs.values()) <= {1}
                batches = reads.entry.tolist()
                assert set(batches) == set(range(reads.slot.size))
                needed = zip(*map(np.ndarray.tolist, np.nonzero(program.needed)), strict=True)
                assert brought == Counter(needed)
