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

import asyncio
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore, WrapperStore

from frontier.errors import CorruptRunError
from frontier.space.layout import Layout
from frontier.store.codecs import compressors
from frontier.store.files import read_json, write_json

LIST_CHUNK = 1 << 20
CHECKSUM_BYTES = 4


@dataclass
class Manifest:
    """What a layer on disk holds.

    form: "bits" or "list". states: number of states. chunks: for each chunk that exists, by
    its key in the array, [states, bytes, checksum as hexadecimal].
    nodes: number of states at each node of the class, where there are few nodes.
    """

    depth: int
    form: str
    states: int
    chunks: dict[str, list] = field(default_factory=dict)
    nodes: list[int] | None = None

    def write(self, path: Path) -> None:
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        value = read_json(path)
        try:
            manifest = cls(**value)
            listed = sum(states for states, _, _ in manifest.chunks.values())
        except (TypeError, ValueError) as error:
            raise CorruptRunError(f"{path} is not a manifest: {error}") from None
        if listed != manifest.states:
            raise CorruptRunError(
                f"{path} does not add up: its chunks hold {listed} states, the layer has "
                f"{manifest.states}"
            )
        return manifest

    @property
    def bytes(self) -> int:
        return sum(size for _, size, _ in self.chunks.values())


class _CheckedStore(WrapperStore[LocalStore]):
    """A local store that notes what is written and checks what is read."""

    def __init__(self, store: LocalStore, chunks: dict[str, list] | None = None):
        super().__init__(store)
        self.chunks = chunks
        self.written: dict[str, tuple[int, str]] = {}

    def _with_store(self, store):
        return type(self)(store, self.chunks)

    async def set(self, key, value):
        await super().set(key, value)
        if _is_chunk(key):
            data = value.as_numpy_array()
            self.written[key] = (data.nbytes, data[-CHECKSUM_BYTES:].tobytes().hex())

    async def get(self, key, prototype, byte_range=None):
        value = await super().get(key, prototype, byte_range)
        if self.chunks is None or not _is_chunk(key):
            return value
        _, size, checksum = self.chunks[key]
        path = Path(self._store.root) / key
        if value is None:
            raise CorruptRunError(f"chunk {path} is missing, though its manifest lists it")
        data = value.as_numpy_array()
        if data.nbytes != size or data[-CHECKSUM_BYTES:].tobytes().hex() != checksum:
            raise CorruptRunError(
                f"chunk {path} is not the one its manifest lists: {data.nbytes} bytes that end "
                f"in {data[-CHECKSUM_BYTES:].tobytes().hex()}, expected {size} and {checksum}"
            )
        return value


def _is_chunk(key: str) -> bool:
    return key.startswith("c/")


def _array(store, layout: Layout, klass: int, form: str, codec: str, states: int) -> zarr.Array:
    if form == "bits":
        _, prefixes, words = layout.shape(klass)
        nodes = layout.blocks(klass) * layout.block_nodes
        shape, chunks = (nodes, prefixes, words), (layout.block_nodes, 1, words)
    else:
        shape, chunks = (states,), (min(LIST_CHUNK, max(states, 1)),)
    return zarr.create_array(
        store,
        shape=shape,
        chunks=chunks,
        dtype="uint64",
        fill_value=0,
        filters=None,
        compressors=compressors(codec),
        config={"write_empty_chunks": True},
        overwrite=False,
    )


def create_bits(path: Path, layout: Layout, klass: int, codec: str) -> None:
    """Create the empty array of a bits layer."""
    _array(LocalStore(path), layout, klass, "bits", codec, 0)


class BitsWriter:
    """Writes chunks of a bits layer whose array exists already."""

    def __init__(self, path: Path):
        self._store = _CheckedStore(LocalStore(path))
        self._array = zarr.open_array(self._store, mode="r+")

    def write(self, block: int, prefix: int, chunk: np.ndarray, states: int) -> tuple[str, list]:
        """Write one whole chunk, uint64[block_nodes, strip words]: its line of the manifest."""
        nodes = chunk.shape[0]
        self._array[block * nodes : (block + 1) * nodes, prefix : prefix + 1, :] = chunk[:, None, :]
        key = f"c/{block}/{prefix}/0"
        size, checksum = self._store.written.pop(key)
        return key, [states, size, checksum]


def write_list(path: Path, depth: int, numbers: np.ndarray, layout: Layout, codec: str) -> Manifest:
    """Write a whole layer as a list of sorted state numbers."""
    store = _CheckedStore(LocalStore(path))
    array = _array(store, layout, 0, "list", codec, numbers.size)
    array[:] = numbers
    chunks = {}
    for i, first in enumerate(range(0, numbers.size, LIST_CHUNK)):
        size, checksum = store.written[f"c/{i}"]
        chunks[f"c/{i}"] = [min(LIST_CHUNK, numbers.size - first), size, checksum]
    return Manifest(depth, "list", int(numbers.size), chunks)


class StoredLayer:
    """Reads a committed layer; every read is checked against the manifest."""

    def __init__(self, path: Path, manifest: Manifest):
        self.path, self.manifest = path, manifest
        try:
            self._array = zarr.open_array(
                _CheckedStore(LocalStore(path), manifest.chunks), mode="r"
            )
        except (FileNotFoundError, ValueError, KeyError) as error:
            raise CorruptRunError(f"layer {path} cannot be opened: {error}") from None

    def read_list(self) -> np.ndarray:
        """The sorted state numbers of a list layer."""
        numbers = self._read(slice(None), np.empty(self._array.shape, dtype=np.uint64))
        if numbers.size != self.manifest.states:
            raise CorruptRunError(
                f"layer {self.path} lists {numbers.size} states, its manifest "
                f"{self.manifest.states}"
            )
        return numbers

    def has_chunk(self, block: int, prefix: int) -> bool:
        return f"c/{block}/{prefix}/0" in self.manifest.chunks

    def read_chunk(self, block: int, prefix: int, out: np.ndarray) -> None:
        """Read an existing chunk of a bits layer to uint64[block_nodes, strip words]."""
        nodes = out.shape[0]
        where = (slice(block * nodes, (block + 1) * nodes), slice(prefix, prefix + 1), slice(None))
        self._read(where, out[:, None, :])

    def _read(self, where, out: np.ndarray) -> np.ndarray:
        buffer = default_buffer_prototype().nd_buffer.from_numpy_array(out)
        try:
            self._array.get_basic_selection(where, out=buffer)
        except CorruptRunError:
            raise
        except (ValueError, RuntimeError, asyncio.TimeoutError) as error:
            raise CorruptRunError(f"layer {self.path} cannot be read: {error}") from None
        return out
