"""One layer on disk: a Zarr array, and which of its chunks exist.

Zarr reads a chunk that is not there as zeros without a word, so what a layer holds is what
its manifest lists: for each chunk the number of states in it, its size and the checksum that
ends it. A chunk the manifest does not list is empty; one it lists must be there, end in that
checksum (a chunk swapped with another or left by another layer does not), and pass it.

A layer has one of two forms:

* ``bits``: uint64 [nodes, prefixes, words of a strip], one bit a state, chunks as in
  `frontier.space.layout`. Nodes are filled up to whole chunks.
* ``list``: uint64 [states], the sorted state numbers, for layers too thin for bitmaps.
"""

import os
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zarr

from frontier.errors import CorruptRunError
from frontier.space.layout import Layout
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import CHECKSUM_BYTES, ChunkCodec
from frontier.store.files import PARTIAL, force, read_sealed, write_sealed
from frontier.text import counted

LIST_CHUNK = 1 << 20
FORCING_THREADS = 2


@dataclass
class Manifest:
    """What a layer on disk holds.

    form: "bits" or "list". states: number of states. chunks: for each chunk that exists, by
    its key in the array, [states, bytes, checksum as hexadecimal].
    nodes: number of states at each node of the class, where there are few nodes.
    scratch: name of the directory in which the layer waits to be committed, if not its own.
    """

    depth: int
    form: str
    states: int
    chunks: dict[str, list] = field(default_factory=dict)
    nodes: list[int] | None = None
    scratch: str | None = None

    def write(self, path: Path, durable: bool = False) -> None:
        write_sealed(path, asdict(self), durable)

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        value = read_sealed(path)
        try:
            manifest = cls(**value)
            listed = sum(states for states, _, _ in manifest.chunks.values())
        except (TypeError, ValueError) as error:
            raise CorruptRunError(f"{path} is not a manifest: {error}") from None
        if listed != manifest.states:
            raise CorruptRunError(
                f"{path} does not add up: its chunks hold {counted(listed, 'state')}, the layer "
                f"has {manifest.states}"
            )
        return manifest

    @property
    def bytes(self) -> int:
        return sum(size for _, size, _ in self.chunks.values())


def bits_key(block: int, prefix: int) -> str:
    """Key of a chunk of a bits layer."""
    return f"c.{block}.{prefix}.0"


def block_and_prefix(key: str) -> tuple[int, int]:
    """Inverse of `bits_key`."""
    _, block, prefix, _ = key.split(".")
    return int(block), int(prefix)


def create_bits(path: Path, layout: Layout, klass: int, codec: str) -> None:
    """Create the empty array of a bits layer."""
    _, prefixes, words = layout.shape(klass)
    nodes = layout.blocks(klass) * layout.block_nodes
    _create(path, (nodes, prefixes, words), (layout.block_nodes, 1, words), codec)


def create_list(path: Path, states: int, codec: str) -> None:
    """Create the empty array of a list layer."""
    _create(path, (states,), (min(LIST_CHUNK, states),), codec)


def write_list(
    path: Path, depth: int, numbers: np.ndarray, codec: str, durable: bool = False
) -> Manifest:
    """Write a whole layer as a list of sorted state numbers, uint64."""
    create_list(path, numbers.size, codec)
    size = min(LIST_CHUNK, numbers.size)
    writer = ChunkWriter(path, codec, durable=durable)
    chunk = np.zeros(size, dtype=np.uint64)
    chunks = {}
    for i, first in enumerate(range(0, numbers.size, size)):
        part = numbers[first : first + size]
        chunk[: part.size] = part
        chunk[part.size :] = 0
        chunks[f"c.{i}"] = writer.write(f"c.{i}", chunk, part.size)
    writer.finish()
    return Manifest(depth, "list", int(numbers.size), chunks)


def _create(path: Path, shape: tuple, chunks: tuple, codec: str) -> None:
    zarr.create_array(
        path,
        shape=shape,
        chunks=chunks,
        dtype="uint64",
        fill_value=0,
        filters=None,
        compressors=ChunkCodec(codec).zarr_codecs(),
        chunk_key_encoding={"name": "default", "separator": "."},
        overwrite=False,
    )


class ChunkWriter:
    """Writes whole chunks of a layer whose array exists.

    recycled: a directory of chunks that nobody needs any more. They are written over where
    their names fit, which spares the system from finding new pages and blocks.
    durable: `finish` returns when all chunks and their names are on the disk. They are forced
    there by threads meanwhile, so that the caller need not wait for each.
    partials: where chunks lie while they are written, by default beside the others; a writer that
    is killed leaves one there.
    """

    def __init__(
        self,
        path: Path,
        codec: str,
        recycled: Path | None = None,
        clock: Stopwatch | None = None,
        durable: bool = False,
        partials: Path | None = None,
    ):
        self._path, self._codec, self._recycled = path, ChunkCodec(codec), recycled
        self._partials = partials or path
        self._forcing = ThreadPoolExecutor(FORCING_THREADS) if durable else None
        self._forced: list[Future] = []
        self._clock = clock or Stopwatch()

    def write(self, key: str, chunk: np.ndarray, states: int) -> list:
        """Put a chunk in place, whole or not at all; returns its line of the manifest."""
        data, checksum = self._codec.encode(chunk)
        self._clock.lap("codec")
        scratch = self._partials / f"{key}.{uuid.uuid4().hex}{PARTIAL}"
        with self._open(key, scratch) as file:
            for part in (memoryview(data), memoryview(checksum)):
                while part:
                    part = part[file.write(part) :]  # a file may take less than it is given
            file.truncate()
            if self._forcing:
                self._forced.append(self._forcing.submit(_force_and_close, os.dup(file.fileno())))
        scratch.replace(self._path / key)
        self._clock.lap("disk")
        return [states, data.size + CHECKSUM_BYTES, checksum.hex()]

    def finish(self) -> None:
        """Call this after the last `write`; OSError if a chunk did not get to the disk."""
        if self._forcing:
            with self._forcing:
                for future in self._forced:
                    future.result()
            force(self._path)
            self._clock.lap("disk")

    def _open(self, key: str, scratch: Path) -> BinaryIO:
        if self._recycled:
            try:
                (self._recycled / key).rename(scratch)
                return scratch.open("r+b", buffering=0)
            except FileNotFoundError:
                pass  # that layer had no such chunk, or another try at this task took it
        return scratch.open("wb", buffering=0)


def _force_and_close(number: int) -> None:
    """Force an open file to the disk."""
    try:
        os.fsync(number)
    finally:
        os.close(number)


class StoredLayer:
    """Reads a committed layer; every read is checked against the manifest."""

    def __init__(self, path: Path, manifest: Manifest, codec: str, clock: Stopwatch | None = None):
        self.path, self.manifest = path, manifest
        self._clock = clock or Stopwatch()
        self._codec = ChunkCodec(codec)
        self._buffer = np.empty(0, dtype=np.uint8)

    def has_chunk(self, key: str) -> bool:
        return key in self.manifest.chunks

    def read_chunk(self, key: str, out: np.ndarray) -> None:
        """Read a chunk that the manifest lists to a contiguous uint64 array of its size."""
        _, size, checksum = self.manifest.chunks[key]
        path = self.path / key
        self._clock.lap("rest")
        if self._buffer.size <= size:
            self._buffer = np.empty(2 * size, dtype=np.uint8)
        try:
            with path.open("rb", buffering=0) as file:
                found = _read_up_to(file, self._buffer[: size + 1])
        except FileNotFoundError:
            raise CorruptRunError(
                f"layer {self.manifest.depth}: chunk {path} is missing, though its manifest "
                "lists it"
            ) from None
        except OSError as error:
            raise CorruptRunError(
                f"layer {self.manifest.depth}: chunk {path} cannot be read: {error.strerror}"
            ) from None
        self._clock.lap("disk")
        data = self._buffer[:found]
        ending = data[-CHECKSUM_BYTES:].tobytes().hex()
        if (found, ending) != (size, checksum):
            wrong = f"{counted(found, 'byte')} that end in {ending}, not in {checksum}"
            if found != size:
                more = "longer" if found > size else f"{found:,}"
                wrong = f"expected {counted(size, 'byte')}, found {more}"
            raise CorruptRunError(
                f"layer {self.manifest.depth}: chunk {path} is not the one its manifest lists: "
                f"{wrong}"
            )
        try:
            self._codec.decode(data, out)
        except (ValueError, RuntimeError) as error:
            raise CorruptRunError(
                f"layer {self.manifest.depth}: chunk {path} is damaged: {error}"
            ) from None
        self._clock.lap("codec")

    @property
    def list_chunk(self) -> int:
        """State numbers in a chunk of a list layer."""
        return min(LIST_CHUNK, self.manifest.states)

    def read_list(self) -> np.ndarray:
        """The sorted state numbers of a list layer."""
        states, size = self.manifest.states, self.list_chunk
        numbers = np.empty(-(-states // size) * size, dtype=np.uint64)
        for i, first in enumerate(range(0, states, size)):
            self.read_chunk(f"c.{i}", numbers[first : first + size])
        return numbers[:states]


def _read_up_to(file, buffer: np.ndarray) -> int:
    """Fill the buffer as far as the file goes; returns the bytes read."""
    view, found = memoryview(buffer), 0
    while found < len(view):
        got = file.readinto(view[found:])
        if not got:
            break
        found += got
    return found
