"""Slabs made in stored form, by one kernel and one by one: the layers of a search by lists."""

from math import prod

import numpy as np
import pytest
from engine import layouts_of, list_layers

from frontier.puzzles import permutation_puzzle, tile_puzzle
from frontier.search.expansion import Arena, Expansion
from frontier.search.workspace import Buffer
from frontier.space.lists import list_bits, set_bits
from frontier.space.program import program_of, reads_of, swaps_of
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import CHECKSUM_BYTES, SlabCodec, encoded_bytes

FLIPS = {f"flip{n}": [*range(n, 0, -1), *range(n + 1, 9)] for n in range(2, 9)}


class Slabs:
    """Slabs of a layer that is given by its sorted state numbers, as a stored layer gives them.

    encoded: whether kernels decode them.
    """

    def __init__(self, layout, side, numbers, task, slab, encoded):
        self._layout, self._side, self._numbers = layout, side, numbers
        words = [self._words(*entry) for entry in zip(task.tolist(), slab.tolist(), strict=True)]
        self._slabs = np.array(words).reshape(-1, layout.slab_nodes * layout.slab_words)
        self.filled, self._encoded = self._slabs.any(axis=1), encoded

    def _words(self, task, slab):
        layout = self._layout
        code = layout.space.code
        node, prefix, word = layout.slab_of(layout.task(self._side, task), slab)
        words = np.zeros((layout.slab_nodes, layout.slab_words), dtype=np.uint64)
        for n in range(layout.slab_nodes):
            at = prefix * layout.strip_words + word
            first = (node + n) * code.half + at * code.bits
            ends = np.array([first, first + layout.slab_words * code.bits], dtype=np.uint64)
            low, high = np.searchsorted(self._numbers, ends)
            set_bits(words[n : n + 1], self._numbers[low:high], node + n, at, code.half, code.bits)
        return words.reshape(-1)

    def decode(self, some, out, rows):
        out[rows] = self._slabs[some]

    def encoded(self, first, last):
        if not self._encoded:
            return None
        codec, data = SlabCodec("bitmap"), np.empty(0, dtype=np.uint8)
        begin, end = np.zeros((2, last - first), dtype=np.int64)
        for i, slab in enumerate(self._slabs[first:last]):
            if slab.any():
                room = np.empty(encoded_bytes(slab.nbytes), dtype=np.uint8)
                begin[i] = data.size
                data = np.concatenate([data, room[: codec.encode(slab, room)]])
                end[i] = data.size
        return data, begin, end

    def damaged(self, entry):
        return LookupError(entry)


class Sink:
    """Keeps slabs, decoded by number. slabs: the number of those that it has room for at once."""

    def __init__(self, codec, words, slabs):
        self._codec, self._words, self.kept = codec, words, {}
        self._room = np.empty(slabs * encoded_bytes(8 * words) + 7, dtype=np.uint8)

    def room(self, slab_bytes):
        assert slab_bytes == 8 * self._words
        self._room[:] = 255
        return self._room

    def add(self, numbers, sizes):
        at = 0
        for number, size in zip(numbers.tolist(), sizes.tolist(), strict=True):
            assert number not in self.kept
            self.kept[number] = np.empty(self._words, dtype=np.uint64)
            self._codec.decode(self._room[at : at + size], self.kept[number])
            at += size + CHECKSUM_BYTES


def step(layout, depth, current, previous, codec, encoded, slabs):
    """The sorted state numbers of the layer after `current`, which is at `depth`."""
    space, side = layout.space, layout.space.side_of(depth + 1)
    code, numbers = space.code, []
    for task in (layout.task(side, number) for number in range(layout.task_count(side))):
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        source = Slabs(layout, space.side_of(depth), current, reads.task, reads.slab, encoded)
        own = np.arange(prod(layout.grid))
        before = Slabs(layout, side, previous, np.full(own.size, task.number), own, encoded)
        arena = Arena(layout, program, reads, source, Buffer(), Stopwatch())
        codec_used = SlabCodec(codec)
        sink = Sink(codec_used, layout.slab_nodes * layout.slab_words, slabs)
        run = Expansion(layout, swaps_of(layout), program, arena, before, codec_used, Stopwatch())
        counts = np.zeros(space.nodes[side] + layout.slab_nodes, dtype=np.int64)
        start = layout.cuts // 2, depth % layout.slab_words, depth % code.bits
        starts = 0
        for nodes, found, start_found in run.run(task, sink, start):
            counts[nodes] += found
            starts += start_found
        slab, word, bit = start
        assert starts == (int(sink.kept[slab][word]) >> bit & 1 if slab in sink.kept else 0)
        for number, words in sink.kept.items():
            node, prefix, word = layout.slab_of(task, number)
            for n, of_node in enumerate(words.reshape(layout.slab_nodes, -1), start=node):
                listed = np.empty(of_node.size * code.bits, dtype=np.uint64)
                place = prefix * layout.strip_words + word
                size = list_bits(of_node[None], n, place, code.half, code.bits, listed)
                counts[n] -= size
                numbers += listed[:size].tolist()
        assert not counts.any()
    return sorted(numbers)


MODELS = {
    "tiles": tile_puzzle(2, 4).model,
    "not bipartite": tile_puzzle(2, 4, metric="multi").model,
    "pancakes": permutation_puzzle(FLIPS).model,
}


def origins_of(model):
    vertices, sequences = model.origins()
    return zip(vertices.tolist(), map(tuple, sequences.tolist()), strict=True)


WAYS = [("bitmap", True, 9), ("bitmap", True, 1), ("bitmap", False, 1), ("raw", False, 9)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_search_by_slabs_in_stored_form(name, way):
    model = MODELS[name]
    space = model.space
    origins = [space.number(*of) for of in origins_of(model)]
    layers = list_layers(space, origins)
    layouts = list(layouts_of(space, row_words=1))
    assert name == "pancakes" or {layout.cuts > 1 for layout in layouts} == {True, False}
    assert {layout.slab_nodes > 1 for layout in layouts} == {True, False}
    for number, layout in enumerate(layouts):
        for depth in range(1 + number % 3, len(layers) - 1, 3):
            made = step(layout, depth, layers[depth], layers[depth - 1], *way)
            assert made == layers[depth + 1].tolist()


@pytest.mark.parametrize("cut", [1, 9])
def test_a_slab_that_cannot_be_decoded_is_named(cut, monkeypatch):
    """Its bytes are what was written there, but no bitmap."""
    model = MODELS["tiles"]
    space = model.space
    layers = list_layers(space, [space.number(*of) for of in origins_of(model)])
    layout = next(of for of in layouts_of(space, row_words=1) if of.cuts > 1)
    encoded, cut_at = Slabs.encoded, []

    def cut_short(self, first, last):
        data, begin, end = encoded(self, first, last)
        if (full := np.flatnonzero(end - begin > cut)).size and not cut_at:
            end[full[-1]] -= cut
            cut_at.append(first + int(full[-1]))
        return data, begin, end

    monkeypatch.setattr(Slabs, "encoded", cut_short)
    with pytest.raises(LookupError) as error:
        step(layout, 20, layers[20], layers[19], "bitmap", True, 9)
    assert error.value.args == (cut_at[0],)
