"""One layer on disk: a Zarr array whose files are the parts that the tasks have computed.

A layer has one of two forms:

* ``bits``: uint64 [nodes, prefixes, words of a strip], one bit a state. Its shards are the parts
  of `frontier.space.layout`, its inner chunks the slabs. Nodes are filled up to whole parts.
* ``list``: uint64 [states], the sorted state numbers, for layers too thin for bitmaps. It is one
  part, whose slabs have `LIST_SLAB` numbers.

Zarr reads a shard that is not there as zeros without a word. A layer of ours has all its parts,
also those without a state, so one that is lost is missed; see `frontier.store.parts`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from math import ceil, prod
from pathlib import Path

import numpy as np

from frontier.errors import CorruptRunError
from frontier.space.layout import Layout
from frontier.space.lists import list_bits, set_bits
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import SlabCodec
from frontier.store.files import force, write_json
from frontier.store.parts import Block, Part, PartWriter, ReadAhead, Record, footer_bytes
from frontier.text import counted

LIST_SLAB = 1 << 15
"""State numbers of a slab of a list: 256 kB."""

LIST_NAME = "c.0"
"""The file of a list, as Zarr names it."""

OPEN_PARTS = 64
"""Parts of a layer whose index is kept in memory."""

GROUP = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
"""Zarr's metadata of the folder of all layers."""

Fill = Callable[[np.ndarray], None]
"""Writes the words of a slab to a contiguous uint64 array."""


def array_metadata(
    shape: tuple[int, ...], part: tuple[int, ...], slab: tuple[int, ...], codec: str
) -> dict:
    """Zarr's metadata of the array of a layer, whose shards are parts of slabs."""
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    shards = {
        "chunk_shape": list(slab),
        "codecs": SlabCodec(codec).zarr_codecs,
        "index_codecs": [little, {"name": "crc32c"}],
        "index_location": "end",
    }
    return {
        "shape": list(shape),
        "data_type": "uint64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(part)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": 0,
        "codecs": [{"name": "sharding_indexed", "configuration": shards}],
        "attributes": {},
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def bits_metadata(layout: Layout, klass: int, codec: str) -> dict:
    """Zarr's metadata of a layer of bits."""
    nodes = layout.groups(klass) * layout.task_nodes
    return array_metadata(
        (nodes, layout.prefixes, layout.strip_words),
        (layout.task_nodes, layout.siblings, layout.strip_words),
        (layout.slab_nodes, 1, layout.slab_words),
        codec,
    )


def list_metadata(states: int, codec: str) -> dict:
    """Zarr's metadata of a layer that is a list."""
    whole = list_slabs(states) * LIST_SLAB
    return array_metadata((states,), (whole,), (LIST_SLAB,), codec)


def list_slabs(states: int) -> int:
    return max(1, ceil(states / LIST_SLAB))


def bits_name(layout: Layout, klass: int, task: int) -> str:
    """The file of a task's part, as Zarr names it."""
    family, group = divmod(task, layout.groups(klass))
    return f"c.{group}.{family}.0"


def most_part_bytes(layout: Layout) -> int:
    """Bytes of the file of a part at most, under any codec."""
    return layout.part_bytes + layout.part_bytes // 7 + footer_bytes(prod(layout.grid))


class LayerFiles:
    """Where the parts of a layer are, and how they are written.

    folder: of the layer. run: identifier of the run.
    """

    def __init__(self, folder: Path, run: str, codec: str, layout: Layout, depth: int):
        self.folder, self.run, self.depth, self.layout = folder, run, depth, layout
        self.klass = layout.space.class_of(depth)
        self._codec = codec

    def begin_bits(self, durable: bool = False) -> None:
        """Make the folder and the metadata of a layer of bits; parts that are there stay."""
        self.folder.mkdir(exist_ok=True)
        metadata = bits_metadata(self.layout, self.klass, self._codec)
        write_json(self.folder / "zarr.json", metadata, durable)
        if durable:
            force(self.folder.parent)

    @property
    def tasks(self) -> range:
        """The parts of a layer of bits."""
        return range(self.layout.task_count(self.klass))

    def path(self, task: int) -> Path:
        """The file of a part of a layer of bits."""
        return self.folder / bits_name(self.layout, self.klass, task)

    def part(self, task: int) -> Part:
        """A part of a layer of bits; CorruptRunError if it is missing or not the right one."""
        return Part(self.path(task), prod(self.layout.grid), self.run, self.depth, task)

    def list_part(self, states: int) -> Part:
        """The one part of a list; CorruptRunError if it is missing or not the right one."""
        return Part(self.folder / LIST_NAME, list_slabs(states), self.run, self.depth, 0)

    def codec(self, plain: bool = False) -> SlabCodec:
        return SlabCodec(self._codec, plain)

    def write_part(
        self,
        task: int,
        thread: ThreadPoolExecutor,
        durable: bool = False,
        clock: Stopwatch | None = None,
    ) -> PartWriter:
        """A writer of a part of a layer of bits, whose folder is there."""
        slabs, codec = prod(self.layout.grid), self.codec()
        return PartWriter(self.path(task), slabs, codec, thread, durable, clock)

    def write_list(
        self,
        numbers: np.ndarray,
        thread: ThreadPoolExecutor,
        durable: bool = False,
        start: bool = False,
        home: int | None = None,
    ) -> Record:
        """Write a whole layer as a list of sorted state numbers, uint64."""
        self.folder.mkdir(exist_ok=True)
        write_json(self.folder / "zarr.json", list_metadata(numbers.size, self._codec), durable)
        slab, slabs = np.zeros(LIST_SLAB, dtype=np.uint64), list_slabs(numbers.size)
        path = self.folder / LIST_NAME
        with PartWriter(path, slabs, self.codec(plain=True), thread, durable) as writer:
            for i in range(slabs):
                some = numbers[i * LIST_SLAB : (i + 1) * LIST_SLAB]
                slab[: some.size], slab[some.size :] = some, 0
                writer.write(i, slab)
            return writer.finish(self.run, self.depth, 0, int(numbers.size), start, home)


class StoredLayer:
    """A committed layer, read slab by slab or as a list, whichever form it has.

    states: as the ledger says; of a layer that is not there, such as that before the first, 0.
    Slabs have the shape [nodes, words], `slab_nodes` x `slab_words` of the layout.
    """

    def __init__(
        self,
        files: LayerFiles,
        form: str,
        states: int,
        thread: ThreadPoolExecutor,
        clock: Stopwatch | None = None,
    ):
        self.files, self.is_list, self.states = files, form == "list", states
        self._thread, self._clock = thread, clock or Stopwatch()
        self._codec = files.codec(plain=self.is_list)
        self._parts: OrderedDict[int, Part] = OrderedDict()

    def part(self, task: int) -> Part:
        """A part of a layer of bits."""
        if task not in self._parts:
            self._parts[task] = self.files.part(task)
            if len(self._parts) > OPEN_PARTS:
                self._parts.popitem(last=False)
        self._parts.move_to_end(task)
        return self._parts[task]

    def read(self, wanted: list[tuple[int, int]]) -> Iterator[tuple[int, Fill]]:
        """Of the slabs (task, slab of its part), those that hold a state: (place in `wanted`, a
        function that writes the slab to an array).

        A thread reads ahead from the moment of the call. They come part by part, in the order in
        which parts are first wanted, and within a part in the order of the file; the function is
        good until the next one comes.
        """
        if self.is_list:
            return self._read_list(wanted)
        places: dict[int, dict[int, int]] = {}
        for i, (task, slab) in enumerate(wanted):
            places.setdefault(task, {})[slab] = i
        blocks = [
            (task, block)
            for task, slabs in places.items()
            for block in self.part(task).blocks(list(slabs))
        ]
        ahead = ReadAhead([block for _, block in blocks], self._thread, self._clock)
        return self._read_bits(ahead, {id(block): places[task] for task, block in blocks})

    def _read_bits(self, ahead: ReadAhead, places) -> Iterator[tuple[int, Fill]]:
        for block, slab, data in ahead:
            yield places[id(block)][slab], partial(self._decode, block, slab, data)

    def _decode(self, block: Block, slab: int, data: np.ndarray, out: np.ndarray) -> None:
        self._clock.lap("rest")
        try:
            self._codec.decode(data, out)
        except ValueError as error:
            raise block.part.damaged(slab, str(error)) from None
        self._clock.lap("codec")

    def _read_list(self, wanted) -> Iterator[tuple[int, Fill]]:
        for i, (task, slab) in enumerate(wanted):
            if (numbers := self._listed_in(task, slab)).size:
                yield i, partial(self._set_bits, task, slab, numbers)

    def _set_bits(self, task: int, slab: int, numbers: np.ndarray, out: np.ndarray) -> None:
        layout, code = self.files.layout, self.files.layout.space.code
        node, prefix, word = layout.slab_of(layout.task(self.files.klass, task), slab)
        out[:] = 0
        words = out.reshape(layout.slab_nodes, layout.slab_words)
        first = prefix * layout.strip_words + word
        set_bits(words, numbers, node, first, code.half, code.bits)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The states of a list."""
        numbers = np.empty(list_slabs(self.states) * LIST_SLAB, dtype=np.uint64)
        if self.states:
            part = self.files.list_part(self.states)
            if part.states != self.states:
                raise part.miscounted(self.states)
            blocks, found = part.blocks(part.slabs), 0
            for block, slab, data in ReadAhead(blocks, self._thread, self._clock):
                out = numbers[slab * LIST_SLAB : (slab + 1) * LIST_SLAB]
                self._decode(block, slab, data, out)
                found += 1
            if found < list_slabs(self.states):
                raise part.damaged(found, "it is not there")
        return numbers[: self.states]

    @cached_property
    def _by_slab(self) -> tuple[np.ndarray, np.ndarray]:
        """(the states of a list, int64 the slab of each, counted through all parts), by slabs."""
        numbers = self._numbers
        task, slab, _, _ = self.files.layout.place(self.files.klass, numbers)
        key = task * prod(self.files.layout.grid) + slab
        if (key[1:] < key[:-1]).any():
            order = np.argsort(key, kind="stable")
            numbers, key = numbers[order], key[order]
        return numbers, key

    def _listed_in(self, task: int, slab: int) -> np.ndarray:
        """The states of a list that lie in a slab."""
        numbers, keys = self._by_slab
        key = task * prod(self.files.layout.grid) + slab
        first, end = np.searchsorted(keys, [key, key + 1])
        return numbers[first:end]

    @property
    def held(self) -> int:
        """States that this object holds in memory."""
        return self.states if self.is_list else 0

    def slabs(
        self, first_node: int = 0, last_node: int | None = None
    ) -> Iterator[tuple[int, int, np.ndarray]]:
        """The slabs of a layer of bits that hold a state of nodes first_node .. last_node - 1:
        (first node of the slab, its first word in that node's bitmap, the slab).

        The array is good until the next one comes.
        """
        layout, klass = self.files.layout, self.files.klass
        last_node = layout.space.nodes[klass] if last_node is None else last_node
        out = np.empty((layout.slab_nodes, layout.slab_words), dtype=np.uint64)
        for number in self.files.tasks:
            task = layout.task(klass, number)
            if task.last_node <= first_node or last_node <= task.first_node:
                continue
            wanted = [(number, slab) for slab in self.part(number).slabs]
            places = [layout.slab_of(task, slab) for _, slab in wanted]
            inside = [
                i
                for i, (node, _, _) in enumerate(places)
                if first_node - layout.slab_nodes < node < last_node
            ]
            for i, fill in self.read([wanted[i] for i in inside]):
                node, prefix, word = places[inside[i]]
                fill(out)
                yield node, prefix * layout.strip_words + word, out

    def batches(self) -> Iterator[np.ndarray]:
        """The state numbers of the layer, uint64, slab after slab; each batch is sorted.

        A batch is good until the next one comes.
        """
        if self.is_list:
            yield self._numbers
            return
        code, found = self.files.layout.space.code, 0
        numbers = np.empty(0, dtype=np.uint64)
        for node, word, slab in self.slabs():
            states = int(np.bitwise_count(slab).sum())
            found += states
            if numbers.size < states:
                numbers = np.empty(states, dtype=np.uint64)
            list_bits(slab, node, word, code.half, code.bits, numbers)
            yield numbers[:states]
        if found != self.states:
            raise CorruptRunError(
                f"layer {self.files.depth}: {self.files.folder} holds {counted(found, 'state')}, "
                f"the ledger lists {self.states:,}"
            )

    def numbers(self) -> np.ndarray:
        """The sorted state numbers of the layer."""
        if self.is_list:
            return self._numbers
        numbers, size = np.empty(self.states, dtype=np.uint64), 0
        for batch in self.batches():
            some = batch[: self.states - size]  # one that does not add up is told of at the end
            numbers[size : size + some.size] = some
            size += some.size
        numbers.sort()
        return numbers

    def contains(self, numbers: np.ndarray) -> np.ndarray:
        """For each of uint64[N] state numbers of the layer's class, whether it is in: bool[N]."""
        if self.is_list:
            if not self.states:
                return np.zeros(numbers.size, dtype=bool)
            at = np.searchsorted(self._numbers, numbers)
            return self._numbers[np.minimum(at, self._numbers.size - 1)] == numbers
        layout = self.files.layout
        task, slab, word, bit = layout.place(self.files.klass, numbers)
        key = task * prod(layout.grid) + slab
        found = np.zeros(numbers.size, dtype=bool)
        order = np.argsort(key, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if order.size else []
        out = np.empty(layout.slab_nodes * layout.slab_words, dtype=np.uint64)
        for i, fill in self.read([(int(task[some[0]]), int(slab[some[0]])) for some in groups]):
            some = groups[i]
            fill(out)
            found[some] = out[word[some]] >> bit[some].astype(np.uint64) & np.uint64(1)
        return found

    def some(self, count: int, most_slabs: int, rng: np.random.Generator) -> np.ndarray:
        """Up to `count` states of the layer from at most so many of its slabs, at random."""
        if self.is_list:
            return rng.choice(self._numbers, min(count, self.states), replace=False)
        layout, code = self.files.layout, self.files.layout.space.code
        stored = [(task, slab) for task in self.files.tasks for slab in self.part(task).slabs]
        drawn = rng.choice(len(stored), min(most_slabs, len(stored)), replace=False)
        wanted = [stored[i] for i in drawn]
        share = -(-count // len(wanted))
        out = np.empty((layout.slab_nodes, layout.slab_words), dtype=np.uint64)
        found = []
        for i, fill in self.read(wanted):
            fill(out)
            node, prefix, first = layout.slab_of(
                layout.task(self.files.klass, wanted[i][0]), wanted[i][1]
            )
            numbers = np.empty(int(np.bitwise_count(out).sum()), dtype=np.uint64)
            word = prefix * layout.strip_words + first
            list_bits(out, node, word, code.half, code.bits, numbers)
            found.append(rng.choice(numbers, min(share, numbers.size), replace=False))
        return np.concatenate(found)
