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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from math import ceil, prod
from threading import Lock

import numpy as np

from frontier.errors import CorruptRunError
from frontier.space.layout import Layout
from frontier.space.lists import list_bits
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import SlabCodec, encoded_bytes
from frontier.store.files import force, version_of, write_json
from frontier.store.objects import Place
from frontier.store.parts import Part, PartWriter, Record, footer_bytes, in_groups
from frontier.store.slabs import NO_SLAB, EncodedSlabs, ListedSlabs, Room, new_room
from frontier.text import counted

LIST_SLAB = 1 << 15
"""State numbers of a slab of a list: 256 kB."""

LIST_NAME = "c.0"
"""The file of a list, as Zarr names it."""

OPEN_PARTS = 64
"""Parts of a layer whose index is kept in memory."""

GROUP = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
"""Zarr's metadata of the folder of all layers."""


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


def bits_metadata(layout: Layout, side: int, codec: str) -> dict:
    """Zarr's metadata of a layer of bits."""
    nodes = layout.groups(side) * layout.task_nodes
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


def bits_name(layout: Layout, side: int, task: int) -> str:
    """The file of a task's part, as Zarr names it."""
    family, group = divmod(task, layout.groups(side))
    return f"c.{group}.{family}.0"


def most_part_bytes(layout: Layout) -> int:
    """Bytes of the file of a part at most, under any codec."""
    slabs = prod(layout.grid)
    return slabs * encoded_bytes(layout.slab_bytes) + footer_bytes(slabs)


class LayerFiles:
    """Where the parts of a layer are, and how they are written.

    folder: of the layer. run: identifier of the run.
    """

    def __init__(self, folder: Place, run: str, codec: str, layout: Layout, depth: int):
        self.folder, self.run, self.depth, self.layout = folder, run, depth, layout
        self.side = layout.space.side_of(depth)
        self._codec = codec

    def begin_bits(self, durable: bool = False) -> None:
        """Make the folder and the metadata of a layer of bits; parts that are there stay."""
        self._make_folder()
        metadata = bits_metadata(self.layout, self.side, self._codec)
        write_json(self.folder / "zarr.json", metadata, durable)
        if durable:
            force(self.folder.parent)

    def _make_folder(self) -> None:
        if self.folder.is_symlink():
            raise CorruptRunError(
                f"{self.folder} is a link, and what the run wrote is not: take it away"
            )
        self.folder.mkdir(exist_ok=True)

    @property
    def tasks(self) -> range:
        """The parts of a layer of bits."""
        return range(self.layout.task_count(self.side))

    def path(self, task: int) -> Place:
        """The file of a part of a layer of bits."""
        return self.folder / bits_name(self.layout, self.side, task)

    def there(self, task: int) -> bool:
        """Whether there is something under the name of a part of a layer of bits."""
        return version_of(self.path(task)) is not None

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
        self._make_folder()
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
    ):
        self.files, self.is_list, self.states = files, form == "list", states
        self._codec = files.codec(plain=self.is_list)
        self._parts: OrderedDict[int, Part] = OrderedDict()
        self._opening = Lock()

    def part(self, task: int) -> Part:
        """A part of a layer of bits."""
        with self._opening:
            if task not in self._parts:
                self._parts[task] = self.files.part(task)
                if len(self._parts) > OPEN_PARTS:
                    self._parts.popitem(last=False)
            self._parts.move_to_end(task)
            return self._parts[task]

    def load(
        self, task: np.ndarray, slab: np.ndarray, room: Room = new_room
    ) -> EncodedSlabs | ListedSlabs:
        """Read some slabs: int64[N] each, the task whose part has it and its number there.

        room: gives the memory that they are read into.
        """
        if self.is_list:
            with self._opening:  # one thread sorts it, the others wait
                numbers, keys = self._by_slab
            return ListedSlabs(self.files.layout, self.files.side, numbers, keys, task, slab)
        return EncodedSlabs(self.part, self._codec, task, slab, room)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The states of a list."""
        numbers = np.empty(0, dtype=np.uint64)
        if self.states:
            part = self.files.list_part(self.states)  # before memory for so many states is taken
            numbers = np.empty(list_slabs(self.states) * LIST_SLAB, dtype=np.uint64)
            if part.states != self.states:
                raise part.miscounted(self.states)
            if part.slabs.size < list_slabs(self.states):
                raise part.damaged(part.slabs.size, "it is not there")
            out = numbers.reshape(-1, LIST_SLAB)
            for some in in_groups(part.slabs):
                data = np.empty(part.stored_bytes(some), dtype=np.uint8)
                begin, end = part.read(some, data)
                if (good := self._codec.decode_slabs(data, begin, end, out, some)) < some.size:
                    raise part.damaged(int(some[good]), NO_SLAB)
        return numbers[: self.states]

    @cached_property
    def _by_slab(self) -> tuple[np.ndarray, np.ndarray]:
        """(the states of a list, int64 the slab of each, counted through all parts), by slabs."""
        layout, numbers = self.files.layout, self._numbers
        key = np.empty(numbers.size, dtype=np.int64)
        for i in range(0, numbers.size, LIST_SLAB):  # what `place` makes on the way is small so
            task, slab, _, _ = layout.place(self.files.side, numbers[i : i + LIST_SLAB])
            key[i : i + LIST_SLAB] = task * prod(layout.grid) + slab
        if (key[1:] < key[:-1]).any():
            order = np.argsort(key, kind="stable")
            numbers, key = numbers[order], key[order]
        return numbers, key

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
        layout, side = self.files.layout, self.files.side
        last_node = layout.space.nodes[side] if last_node is None else last_node
        for number in self.files.tasks:
            task = layout.task(side, number)
            if task.last_node <= first_node or last_node <= task.first_node:
                continue
            slabs = self.part(number).slabs
            places = {slab: layout.slab_of(task, slab) for slab in slabs.tolist()}
            inside = [
                slab
                for slab, (node, _, _) in places.items()
                if first_node - layout.slab_nodes < node < last_node
            ]
            for slab, words in self.decoded(number, np.array(inside, dtype=np.int64)):
                node, prefix, word = places[slab]
                yield node, prefix * layout.strip_words + word, words

    def decoded(self, task: int, slabs: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """(slab, its words) of some slabs of a part that hold a state, int64[N], in their order.

        The words are good until the next ones come.
        """
        layout = self.files.layout
        out = np.empty((1, layout.slab_nodes * layout.slab_words), dtype=np.uint64)
        only = np.zeros(1, dtype=np.int64)
        for some in in_groups(slabs):
            found = self.load(np.full(some.size, task), some)
            for i, slab in enumerate(some.tolist()):
                found.decode(only + i, out, only)
                yield slab, out.reshape(layout.slab_nodes, layout.slab_words)

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
        """For each of uint64[N] state numbers of the layer's side, whether it is in: bool[N]."""
        if self.is_list:
            if not self.states:
                return np.zeros(numbers.size, dtype=bool)
            at = np.searchsorted(self._numbers, numbers)
            return self._numbers[np.minimum(at, self._numbers.size - 1)] == numbers
        layout = self.files.layout
        task, slab, word, bit = layout.place(self.files.side, numbers)
        key = task * prod(layout.grid) + slab
        order = np.argsort(key, kind="stable")
        keys, first = np.unique(key[order], return_index=True)
        groups = np.split(order, first[1:])
        found = np.zeros(numbers.size, dtype=bool)
        out = np.empty((1, layout.slab_nodes * layout.slab_words), dtype=np.uint64)
        only = np.zeros(1, dtype=np.int64)
        for some in in_groups(np.arange(keys.size)):
            slabs = self.load(*np.divmod(keys[some], prod(layout.grid)))
            for i in np.flatnonzero(slabs.there):
                slabs.decode(only + i, out, only)
                asked = groups[some[i]]
                bits = out[0, word[asked]] >> bit[asked].astype(np.uint64)
                found[asked] = bits & np.uint64(1)
        return found

    def some(self, count: int, most_slabs: int, rng: np.random.Generator) -> np.ndarray:
        """Up to `count` states of the layer from at most so many of its slabs, at random."""
        if self.is_list:
            return rng.choice(self._numbers, min(count, self.states), replace=False)
        layout, code = self.files.layout, self.files.layout.space.code
        slabs = [self.part(task).slabs for task in self.files.tasks]
        task = np.repeat(np.array(self.files.tasks), [some.size for some in slabs])
        slab = np.concatenate(slabs)
        drawn = rng.choice(slab.size, min(most_slabs, slab.size), replace=False)
        share = -(-count // drawn.size)
        found = []
        for i in drawn.tolist():
            where = layout.task(self.files.side, int(task[i]))
            for number, words in self.decoded(where.number, slab[i : i + 1]):
                node, prefix, first = layout.slab_of(where, number)
                numbers = np.empty(int(np.bitwise_count(words).sum()), dtype=np.uint64)
                word = prefix * layout.strip_words + first
                list_bits(words, node, word, code.half, code.bits, numbers)
                found.append(rng.choice(numbers, min(share, numbers.size), replace=False))
        return np.concatenate(found)
