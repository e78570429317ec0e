"""The engine driven by hand: whole searches on bitmaps and on lists, as tests compare them."""

import ctypes
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from frontier.kernels.engines import engine_of, lists_of
from frontier.kernels.expand_rows import expand, live_rows
from frontier.kernels.lists import list_bits, set_bits
from frontier.space import layout as layout_module
from frontier.space.graph import BaseGraph
from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of, swaps_of
from tests.support.reference_search import indices

ROW_WORDS = (layout_module.ROW_WORDS, 42, 6, 1)
SLAB_BYTES = (layout_module.SLAB_BYTES, 4000, 100)


def memory_at(begin, size):
    """`size` bytes of memory from an address on, uint8."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(int(begin)))


def layouts_of(space, row_words=ROW_WORDS[0], most_prefixes=1000):
    """All kinds of layouts that fit the voltages, of each way to cut strips into slabs."""
    leading, most, known = space.code.leading, max(space.nodes), set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout_module, "ROW_WORDS", row_words)
        for prefix_digits, slab_bytes in product(range(len(leading) + 1), SLAB_BYTES):
            patch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
            some = [whole_slabs(space, prefix_digits, nodes) for nodes in sorted({1, 2, 3, most})]
            for layout in [*some, *shared(some[-1])]:
                cut = prefix_digits, layout.task_nodes, layout.grid
                if layout.fits_voltages and layout.prefixes <= most_prefixes and cut not in known:
                    known.add(cut)
                    yield layout


def whole_slabs(space, prefix_digits, nodes):
    """The layout whose tasks have so many nodes, or a few more, which fill whole slabs."""
    slab = Layout(space, prefix_digits, nodes).slab_nodes
    return Layout(space, prefix_digits, -(-nodes // slab) * slab)


def shared(layout):
    """The layout in which as few tasks as possible share the siblings of each task of another one;
    none if there is but one prefix."""
    siblings = layout.siblings
    fewest = next((n for n in range(2, siblings + 1) if siblings % n == 0), None)
    return [replace(layout, shares=fewest)] if fewest else []


def list_layers(space, origins, most=None, plain=False):
    """The sorted state numbers of each layer, by the list kernel, up to the depth `most`.

    plain: without compiled kernels.

    Origins are (side, number).
    """
    kernel = lists_of(space)
    kernel.plain = plain
    current = np.array(sorted({number for _, number in origins}), dtype=np.uint64)
    previous, layers = current[:0], []
    while current.size and (most is None or len(layers) <= most):
        layers.append(current)
        assert sum(layer.size for layer in layers) <= space.states
        side = space.side_of(len(layers) - 1)
        current, previous = kernel.expand(side, current, previous), current
    return layers


def graph_of(vertices, m, arcs, smaller=()):
    """The base graph of arcs (source, target, voltage), each given in both directions."""
    arcs = [(u, v, tuple(word)) for u, v, word in arcs]
    words = sorted({word for _, _, word in arcs})
    table = np.array([(u, v, words.index(word)) for u, v, word in arcs], dtype=np.int64)
    return BaseGraph(vertices, m, tuple(words), *table.reshape(-1, 3).T.copy(), smaller)


def layer_sizes(space, origins, layout, threads=1):
    """The states of each layer, as bitmaps in memory. Origins are (side, number)."""
    search, depth, states = engine_of(space).search(layout, threads), 0, len(set(origins))
    search.layer(0).add(np.array([number for _, number in origins], dtype=np.uint64))
    while states:
        yield states
        depth += 1
        states = int(search.expand(depth).sum())


def bitmap_sizes(space, origins, layout, threads=1):
    """The sizes of all layers, which together cannot have more states than the space."""
    sizes = []
    for size in layer_sizes(space, origins, layout, threads):
        sizes.append(size)
        assert sum(sizes) <= space.states
    return sizes


def numbers_of(space, states, depth):
    """The state numbers of explicit states, all of which lie on the side of the depth."""
    nodes = {
        (int(v), int(s)): node
        for node, (v, s) in enumerate(
            zip(*(part[space.side_of(depth)] for part in (space.vertex, space.sign)), strict=True)
        )
    }
    numbers = []
    for vertex, sequence in states:
        index, odd = indices(space.graph.m, space.graph.smaller)[sequence]
        numbers.append(nodes[vertex, odd] * space.code.half + index)
    return sorted(numbers)


def bands_of(reads):
    """The entries that each band needs."""
    ends = pairwise(reads.band_start.tolist())
    return [reads.entry[begin:end] for begin, end in ends]


def bitmap_step(layout, depth, current, previous):
    """The layer after `current`, which lies at `depth`, computed task by task on bitmaps.

    As a worker does it, a band is given no slab that it does not need or that is empty.
    """
    space, strip, slab_words = layout.space, layout.strip_words, layout.slab_words
    code, side = space.code, space.side_of(depth + 1)

    def words_of(numbers, node, first_word, size):
        words = np.zeros(size, dtype=np.uint64)
        first = node * code.half + first_word * code.bits
        low, high = np.searchsorted(numbers, np.array([first, first + size * code.bits], np.uint64))
        set_bits(words[None], numbers[low:high], node, first_word, code.half, code.bits)
        return words

    found, swaps = [], swaps_of(layout)
    for number in range(layout.task_count(side)):
        task = layout.task(side, number)
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        for band, (first, many, prefix, _) in zip(bands_of(reads), layout.bands(task), strict=True):
            base = np.full(program.needed.shape, -1, dtype=np.int64)
            slabs = []
            for entry in band.tolist():
                slot, stack = reads.slot[entry], int(reads.stack[entry])
                first_node = int(program.stacks[stack]) * layout.slab_nodes
                first_word = int(program.slots[slot]) * slab_words
                words = np.concatenate(
                    [
                        words_of(current, node, first_word, slab_words)
                        for node in range(first_node, first_node + layout.slab_nodes)
                    ]
                )
                if words.any():
                    base[stack, slot] = len(slabs) * words.size // layout.row_words
                    slabs.append(words)
            arena = np.concatenate([*slabs, np.empty(0, dtype=np.uint64)])
            slab_rows = layout.slab_nodes * slab_words // layout.row_words
            live = np.empty((len(slabs), slab_rows), dtype=bool)
            live_rows(arena, layout.row_words, live, np.arange(len(slabs)))
            nodes = range(task.first_node + first, task.first_node + first + many)
            where = (task.first_prefix + prefix) * strip
            target = np.stack([words_of(previous, node, where, strip) for node in nodes])
            by_row = target.reshape(-1, layout.row_words)
            # Rows may be given as live though they are empty, as a worker does.
            rows_live = by_row.any(axis=1) | (np.arange(len(by_row)) % 2 == 0)
            own = range(prefix * layout.cuts, (prefix + 1) * layout.cuts)
            counts = np.zeros(len(task.nodes), dtype=np.int64)
            expand(
                target, rows_live, first, own, counts, arena, live.reshape(-1), base, program, swaps
            )
            assert (rows_live == by_row.any(axis=1)).all()
            assert counts[first : first + many].sum() == counts.sum()
            for node, words, count in zip(nodes, target, counts[first:], strict=False):
                numbers = np.empty(strip * code.bits, dtype=np.uint64)
                size = list_bits(words[None], node, where, code.half, code.bits, numbers)
                assert size == count
                found += numbers[:size].tolist()
    return sorted(found)


def assert_search(space, origins, expected, row_words=ROW_WORDS, steps=True):
    """Both engines find the layers `expected`, lists of (vertex, sequence), in every layout.

    `steps`: compare the states that bitmaps hold too, not just how many they are.
    Returns the prefix digits of the layouts.
    """
    tried_digits = set()
    origins = [space.number(*state) for state in origins]
    assert {side for side, _ in origins} == {0}
    numbers = [numbers_of(space, states, depth) for depth, states in enumerate(expected)]
    for plain in (False, True):
        found = list_layers(space, origins, plain=plain)
        assert [layer.tolist() for layer in found] == numbers
    layers = [np.array(layer, dtype=np.uint64) for layer in [[], *numbers, []]]
    has_rows = bool(space.code.leading)
    for words in row_words if has_rows else row_words[:1]:
        for tried, layout in enumerate(layouts_of(space, words)):
            tried_digits.add(layout.prefix_digits)
            sizes = bitmap_sizes(space, origins, layout, threads=tried % 3 + 1)
            assert sizes == [len(layer) for layer in numbers]
            if steps:
                # each layout at some depths, each depth in some layouts
                for depth in range(tried % 3, len(numbers), 3):
                    previous, current, after = layers[depth : depth + 3]
                    assert bitmap_step(layout, depth, current, previous) == after.tolist()
    return tried_digits


def arcs_of(graph):
    """The arcs of a base graph, (source, target, voltage) each."""
    return [
        (int(u), int(v), graph.voltages[w])
        for u, v, w in zip(graph.source, graph.target, graph.voltage, strict=True)
    ]


def origins_of(puzzle):
    """The states at depth 0, (vertex, sequence) each."""
    vertex, sequence = puzzle.model.origins()
    return [(v, tuple(s)) for v, s in zip(vertex.tolist(), sequence.tolist(), strict=True)]


def boards_at(space, puzzle, side, numbers):
    """The boards of state numbers of a side, as a set."""
    if not len(numbers):
        return set()
    boards = puzzle.model.boards_of(*space.states_of(side, np.array(numbers, dtype=np.uint64)))
    return set(map(tuple, boards.tolist()))
