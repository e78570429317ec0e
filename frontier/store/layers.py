"""One layer on disk: a Zarr array whose files are the parts that the tasks have computed.

A layer has one of two forms:

* ``bits``: uint64 [nodes, prefixes, words of a strip], one bit a state. Its shards are the parts
  of `frontier.space.layout`, its inner chunks the slabs. Nodes are filled up to whole parts.
* ``list``: uint64 [states], the sorted state numbers, for layers too thin for bitmaps. It is one
  part, whose slabs have `LIST_SLAB` numbers.

Zarr reads a shard that is not there as zeros without a word. A layer of ours has all its parts,
also those without a state, so one that is lost is missed; see `frontier.store.parts`.
"""

from concurrent.futures import ThreadPoolExecutor
from math import ceil, prod

import numpy as np

from frontier.errors import CorruptRunError
from frontier.space.layout import Layout
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import SlabCodec, encoded_bytes
from frontier.store.files import force, version_of, write_json
from frontier.store.objects import Place
from frontier.store.parts import Part, PartRecord, PartWriter, footer_bytes

LIST_SLAB = 1 << 15
"""State numbers of a slab of a list: 256 kB."""

LIST_NAME = "c.0"
"""The file of a list, as Zarr names it."""

ZARR_GROUP = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
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
    parent, group = divmod(task, layout.groups(side))
    return f"c.{group}.{parent}.0"


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
    ) -> PartRecord:
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
