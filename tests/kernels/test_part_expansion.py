"""Slabs made in stored form by one kernel: the layers of a search by lists."""

from functools import partial
from math import prod

import google_crc32c
import numpy as np
import pytest

from frontier.codec import zerobytes
from frontier.codec.slabs import CHECKSUM_BYTES, encoded_slabs, most_stored_bytes
from frontier.kernels import shift_parts
from frontier.kernels.engines import engine_of
from frontier.kernels.lists import list_bits, set_bits
from frontier.puzzles import permutation_puzzle, tile_puzzle
from frontier.space import layout as layout_module
from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of
from tests.support.sweeps import swept
from tests.support.whole_searches import bands_of, layouts_of, list_layers, memory_at

FLIPS = {f"flip{n}": [*range(n, 0, -1), *range(n + 1, 9)] for n in range(2, 9)}


def words_of(layout, side, numbers, task, slab):
    """The words of a slab of a layer that is given by its sorted state numbers."""
    code = layout.space.code
    node, prefix, word = layout.slab_of(layout.task(side, task), slab)
    words = np.zeros((layout.slab_nodes, layout.slab_words), dtype=np.uint64)
    for n in range(layout.slab_nodes):
        at = prefix * layout.strip_words + word
        first = (node + n) * code.half + at * code.bits
        ends = np.array([first, first + layout.slab_words * code.bits], dtype=np.uint64)
        low, high = np.searchsorted(numbers, ends)
        set_bits(words[n : n + 1], numbers[low:high], node + n, at, code.half, code.bits)
    return words.reshape(-1)


def stored(layout, side, numbers, tasks, slabs):
    """Slabs of such a layer in stored form. Every third without a state is stored all the same."""
    words = [words_of(layout, side, numbers, *of) for of in zip(tasks, slabs, strict=True)]
    some = [(i, slab) for i, slab in enumerate(words) if slab.any() or i % 3 == 0]
    return encoded_slabs(some, len(words))


def slabs_for(layout, depth, current, previous, task):
    """The tables of a task, whose part is of the layer after `current`, which is at `depth`; what
    it reads of that layer and of the one before."""
    space, own = layout.space, np.arange(prod(layout.grid)).tolist()
    tables = engine_of(space).tables(layout, task)
    read = tables.read_parts.tolist(), tables.read_slabs.tolist()
    return (
        tables,
        stored(layout, space.side_of(depth), current, *read),
        stored(layout, task.side, previous, [task.number] * len(own), own),
    )


def expansion_of(tables, current, before, start=None):
    """The expansion of a task; nothing relies on zeros in its memory."""
    memory = partial(np.full, fill_value=255, dtype=np.uint8)
    expansion = engine_of(tables.layout.space).expansion
    return expansion(tables, current, before, memory, start)


GUARD_BYTES = 64
"""Bytes behind the room of an expansion, which it must leave alone."""


def slabs_made(expansion, layout, room_slabs):
    """Generate (number, words) of the slabs that hold a state, with room for some at a time."""
    words = layout.slab_nodes * layout.slab_words
    while not expansion.done:
        memory = np.full(room_slabs * most_stored_bytes(words) + GUARD_BYTES, 255, dtype=np.uint8)
        before, at, room = expansion.made, 0, memory[:-GUARD_BYTES]
        numbers, sizes = expansion.make(room)
        assert before < expansion.made
        assert (memory[-GUARD_BYTES:] == 255).all()
        for number, size in zip(numbers.tolist(), sizes.tolist(), strict=True):
            slab, data = np.empty(words, dtype=np.uint64), room[at : at + size]
            zerobytes.decode(data, slab)
            checksum = room[at + size : at + size + CHECKSUM_BYTES].tobytes()
            assert google_crc32c.value(data) == int.from_bytes(checksum, "little")
            assert slab.any()
            yield number, slab
            at += size + CHECKSUM_BYTES


def step(layout, depth, current, previous, expected, room_slabs):
    """The sorted state numbers of the layer after `current`, which is at `depth`.

    One of the states expected is looked for.
    """
    space, side = layout.space, layout.space.side_of(depth + 1)
    code, numbers, started = space.code, [], 0
    looked_for = expected[depth % expected.size :][:1]
    of_task, *start = (int(of[0]) for of in layout.locate(side, looked_for))
    for task in (layout.task(side, number) for number in range(layout.task_count(side))):
        its_start = tuple(start) if task.number == of_task else None
        expansion = expansion_of(*slabs_for(layout, depth, current, previous, task), its_start)
        made = list(slabs_made(expansion, layout, room_slabs))
        assert len(dict(made)) == len(made)
        started += expansion.started
        counts = expansion.counts.copy()
        for number, words in made:
            node, prefix, word = layout.slab_of(task, number)
            for n, of_node in enumerate(words.reshape(layout.slab_nodes, -1), start=node):
                listed = np.empty(of_node.size * code.bits, dtype=np.uint64)
                place = prefix * layout.strip_words + word
                size = list_bits(of_node[None], n, place, code.half, code.bits, listed)
                assert n < task.last_node or not of_node.any()
                if size:
                    counts[n - task.first_node] -= size
                    numbers += listed[:size].tolist()
        assert not counts.any()
    assert started == 1
    return sorted(numbers)


MODELS = {
    "tiles": tile_puzzle(2, 4).model,
    "not bipartite": tile_puzzle(2, 4, metric="multi").model,
    "pancakes": permutation_puzzle(FLIPS).model,
}
RINGS = permutation_puzzle(
    {"left": "(1 2 3 4 5 6 7 8)", "right": "(1 9 10 11 5 12 13 14)"}, closed=True
).model
"""What a tower numbers, in 14 rows, as few of the orders can be reached."""


def origins_of(model):
    vertices, sequences = model.origins()
    return zip(vertices.tolist(), map(tuple, sequences.tolist()), strict=True)


def layers_of(model):
    space = model.space
    return list_layers(space, [space.number(*of) for of in origins_of(model)])


@swept(
    ("name", "room_slabs", "small_arena"),
    [(name, *of) for name in MODELS for of in ((1, True), (9, False))],
    few=[("tiles", 1, True), ("pancakes", 1, True)],
)
def test_a_search_by_slabs_in_stored_form(name, room_slabs, small_arena, monkeypatch):
    """An arena that has no more frames than the largest band needs decodes some slabs again."""
    if small_arena:
        monkeypatch.setattr(shift_parts, "arena_frames", most_needed)
    space, layers = MODELS[name].space, layers_of(MODELS[name])
    layouts = [*layouts_of(space, row_words=1), *list(layouts_of(space, row_words=9))[::4]]
    assert name == "pancakes" or {layout.cuts > 1 for layout in layouts} == {True, False}
    assert {layout.slab_nodes > 1 for layout in layouts} == {True, False}
    for number, layout in enumerate(layouts):
        for depth in range(1 + number % 3, len(layers) - 1, 3):
            before, current, expected = layers[depth - 1 : depth + 2]
            made = step(layout, depth, current, before, expected, room_slabs)
            assert made == expected.tolist()


@pytest.mark.parametrize(("task_nodes", "slab_bytes"), [(4, 1 << 18), (4, 6000), (14, 3000)])
def test_the_parts_of_a_tower(task_nodes, slab_bytes, monkeypatch):
    """The last part, and its slab, may have fewer rows; and a part may have several slabs."""
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    layers, layout = layers_of(RINGS), Layout(RINGS.space, 0, task_nodes)
    assert layout.slab_nodes == {1 << 18: 4, 6000: 2, 3000: 1}[slab_bytes]
    for depth in range(1, len(layers) - 1):
        before, current, expected = layers[depth - 1 : depth + 2]
        assert step(layout, depth, current, before, expected, 1 + depth % 9) == expected.tolist()


def most_needed(layout, reads):
    return max(1, *(entries.size for entries in bands_of(reads)))


def test_an_arena_may_be_small():
    """So small that slabs are replaced in it."""
    space = MODELS["not bipartite"].space
    reads = [
        reads_of(layout, task := layout.task(0, 0), program_of(layout, task))
        for layout in layouts_of(space, row_words=1)
    ]
    assert any(most_needed(None, of) < np.unique(of.entry).size for of in reads)


def test_room_for_less_than_a_slab_is_refused():
    for layers, layout in (
        (layers_of(RINGS), Layout(RINGS.space, 0, 4)),
        (layers_of(MODELS["tiles"]), next(layouts_of(MODELS["tiles"].space, row_words=1))),
    ):
        task = layout.task(layout.space.side_of(13), 0)
        expansion = expansion_of(*slabs_for(layout, 12, layers[12], layers[11], task))
        room = np.empty(most_stored_bytes(layout.slab_bytes // 8) - 1, dtype=np.uint8)
        with pytest.raises(ValueError, match="no room for"):
            expansion.make(room)


@pytest.mark.parametrize("of", [1, 2])
@pytest.mark.parametrize("wrong", ["checksum", "form"])
@pytest.mark.parametrize("model", [MODELS["tiles"], RINGS], ids=["tiles", "tower"])
def test_a_slab_that_is_damaged_is_named(of, wrong, model):
    """Its bytes are not those of its checksum; or they are, but are no bitmap."""
    layers = layers_of(model)
    layout = Layout(model.space, 0, 4)
    if model is not RINGS:
        layout = next(of for of in layouts_of(model.space, row_words=1) if of.cuts > 1)
    task = layout.task(model.space.side_of(13), 0)
    read = slabs_for(layout, 12, layers[12], layers[11], task)
    slabs = read[of]
    number = int(np.flatnonzero(slabs.begin < slabs.end)[-1])
    size = int(slabs.end[number] - slabs.begin[number])
    data = memory_at(slabs.begin[number], size + CHECKSUM_BYTES).copy()
    data[0] ^= 1
    reason = "do not match their checksum"
    if wrong == "form":
        data[:size] = 255
        data[size:].view("<u4")[:] = google_crc32c.value(data[:size])
        reason = "are not a slab"
    slabs.begin[number] = data.ctypes.data
    slabs.end[number] = data.ctypes.data + size
    slabs.damaged = lambda entry, why: LookupError(entry, why)
    with pytest.raises(LookupError) as error:
        list(slabs_made(expansion_of(*read), layout, 9))
    entry, why = error.value.args
    assert entry == number
    assert reason in why
