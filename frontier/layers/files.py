"""One layer on disk: a Zarr array whose files are the parts that tasks have computed.

A layer has one of three forms:

* ``bits``: uint64 [nodes, prefixes, words of a strip], one bit for each state. Its shards are the
  parts of `frontier.space.layout`, its inner chunks the slabs. The number of nodes is rounded up to
  whole parts.
* ``list``: uint64 [states], the sorted state numbers, for layers too thin for bitmaps; or uint64
  [states x words], sorted keys. It is one part, whose slabs have `LIST_SLAB` words.
* ``keys``: uint64 [parts, words], for layers of keys that tasks have made; see
  `frontier.layers.key_files`.

Zarr silently reads a missing shard as zeros. So a layer of a run has all its parts, even those
without a state, and a lost part is noticed; see `frontier.layers.parts`.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path

import numpy as np

from frontier.codec.codecs import LITTLE_ENDIAN, SlabCodec, encoded_bytes
from frontier.errors import NotAFile
from frontier.layers.parts import Part, PartRecord, PartWriter, footer_bytes
from frontier.layers.tally import Tally
from frontier.space.key_layout import AnyLayout, KeyLayout
from frontier.stopwatch import Stopwatch
from frontier.storage.base import Storage
from frontier.storage.sealed import write_json

LIST_SLAB = 1 << 15
"""The number of state numbers in a slab of a list, 256 kB."""

LIST_NAME = "c.0"
"""The file of a list, as Zarr names it."""

PART_NAME = re.compile(r"c(\.\d+){1,3}")
"""The names of parts."""

ZARR_GROUP = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
"""Zarr's metadata of the folder of all layers."""


def part_names(storage: Storage, folder: str) -> set[str]:
    """Return the names of the parts in the folder of a layer."""
    return set(filter(PART_NAME.fullmatch, storage.names(folder)))


def list_slabs(states: int) -> int:
    return max(1, ceil(states / LIST_SLAB))


def most_part_bytes(layout: AnyLayout) -> int:
    """Return the most bytes that the file of a part can have under any codec."""
    if isinstance(layout, KeyLayout):
        return layout.part_bytes
    slabs = prod(layout.grid)
    return slabs * encoded_bytes(layout.slab_bytes) + footer_bytes(slabs)


@dataclass
class LayerFiles:
    """The files of a layer, and how they are written.

    folder: the name of the layer's folder in the storage. run: the identifier of the run. listed:
    the number of states if the layer is a list, which is one part; None for a layer of bits. tasks:
    the numbers of the parts.
    """

    storage: Storage
    folder: str
    run: str
    codec_name: str
    layout: AnyLayout
    depth: int
    listed: int | None = None

    def __post_init__(self):
        layout, self.side = self.layout, self.layout.space.side_of(self.depth)
        if self.listed is not None:
            self.tasks, self._slabs = range(1), list_slabs(self.list_words)
        else:
            self.tasks, self._slabs = range(layout.task_count(self.side)), prod(layout.grid)

    @property
    def list_words(self) -> int:
        """The number of 64-bit words of a list."""
        return (self.listed or 0) * self.layout.space.words

    @property
    def metadata(self) -> dict:
        """Zarr's metadata of the layer: an array whose shards are the parts, made of slabs."""
        shape, part, slab = self._shapes
        shards = {
            "chunk_shape": list(slab),
            "codecs": SlabCodec(self.codec_name).zarr_codecs,
            "index_codecs": [LITTLE_ENDIAN, {"name": "crc32c"}],
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

    @property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the array, of its parts and of its slabs."""
        if self.listed is not None:
            return (self.list_words,), (self._slabs * LIST_SLAB,), (LIST_SLAB,)
        layout = self.layout
        return (
            (layout.groups(self.side) * layout.task_nodes, layout.prefixes, layout.strip_words),
            (layout.task_nodes, layout.task_prefixes, layout.strip_words),
            (layout.slab_nodes, 1, layout.slab_words),
        )

    def codec(self) -> SlabCodec:
        return SlabCodec(self.codec_name, plain=self.listed is not None)

    def name(self, task: int) -> str:
        """Return the name of the file of a part, as Zarr names it."""
        if self.listed is not None:
            return f"{self.folder}/{LIST_NAME}"
        parent, group = divmod(task, self.layout.groups(self.side))
        return f"{self.folder}/c.{group}.{parent}.0"

    def task_of(self, name: str) -> int | None:
        """Return the task whose part has this file name, without the folder, or None."""
        if self.listed is not None:
            return 0 if name == LIST_NAME else None
        try:
            group, parent = map(int, name.removeprefix("c.").removesuffix(".0").split("."))
        except ValueError:
            return None
        task = parent * self.layout.groups(self.side) + group
        return task if task in self.tasks and self.name(task) == f"{self.folder}/{name}" else None

    def path(self, task: int) -> Path | str:
        """Return the path of the file of a part, for messages."""
        return self.storage.place(self.name(task))

    @property
    def place(self) -> Path | str:
        """The path of the folder, for messages."""
        return self.storage.place(self.folder)

    def has_part(self, task: int) -> bool:
        """Return whether something at the place has the name of a part."""
        return self.storage.exists(self.name(task))

    def part(self, task: int) -> Part:
        """Open a part; raises CorruptRunError if it is missing or damaged."""
        return Part(self.storage, self.name(task), self._slabs, self.run, self.depth, task)

    def check_folder(self) -> None:
        """Raise NotAFile if something other than a folder has the name of the layer's folder."""
        storage, folder = self.storage, self.folder
        if storage.is_link(folder) or (storage.exists(folder) and not storage.is_folder(folder)):
            raise NotAFile(f"{self.place} is a link or a file, not a folder; move it away")

    def begin(self, durable: bool = False) -> None:
        """Make the folder and the metadata of the layer, and keep existing parts."""
        self.check_folder()
        self.storage.make_folder(self.folder)
        self.describe(durable)
        if durable:
            self.storage.force(self.folder.rpartition("/")[0])

    def describe(self, durable: bool = False) -> None:
        """Write Zarr's metadata of the layer; its folder must exist."""
        write_json(self.storage, f"{self.folder}/zarr.json", self.metadata, durable)

    def write_part(
        self,
        task: int,
        thread: ThreadPoolExecutor,
        durable: bool = False,
        clock: Stopwatch | None = None,
    ) -> PartWriter:
        """Return a writer of a part; the folder must exist."""
        name, part_id = self.name(task), (self.run, self.depth, task)
        codec = self.codec()
        return PartWriter(self.storage, name, self._slabs, part_id, codec, thread, durable, clock)

    def write_list(self, numbers: np.ndarray, tally: Tally, durable: bool = False) -> PartRecord:
        """Write a layer that is a list, of sorted state numbers, and return its record."""
        words = self.layout.space.words_of(numbers).reshape(-1)
        self.begin(durable)
        slab = np.zeros(LIST_SLAB, dtype=np.uint64)
        with ThreadPoolExecutor(1) as thread, self.write_part(0, thread, durable) as writer:
            for i in range(list_slabs(words.size)):
                some = words[i * LIST_SLAB : (i + 1) * LIST_SLAB]
                slab[: some.size], slab[some.size :] = some, 0
                writer.write(i, slab)
            return writer.finish(tally)
