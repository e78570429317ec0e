"""One file of a layer: the part that one task has computed.

A file is a shard of Zarr's codec ``sharding_indexed``:

    slab, its crc32c | slab, its crc32c | … | record | index, its crc32c

The index has two little-endian uint64 values for each slab of the part: its offset in the file and
its size in bytes, including the checksum. Both are 2^64 - 1 if the slab holds no state and is not
stored. Zarr finds the index at the end of the file and never looks at the record. The record names
the run, depth and task of the file, counts its states, and has a digest over itself and the index.
So the last bytes of a file show whether it is the right one, or is cut short, left over, or from
another layer or run. A file gets its name when it is complete, and then its task is done.

Slabs are mapped into memory in stored form where the storage can do that, and their checksums are
compared when they are decoded. A separate thread writes slabs, at most a few buffers behind the
caller.
"""

import builtins
import hashlib
import json
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import google_crc32c
import numpy as np
from pydantic import ConfigDict, TypeAdapter

from frontier.codec.codecs import SlabCodec, encoded_bytes
from frontier.codec.slabs import CHECKSUM_BYTES, MISMATCH, seal, words_of
from frontier.errors import CorruptRunError
from frontier.layers.tally import Tally
from frontier.stopwatch import Stopwatch
from frontier.storage.base import Storage
from frontier.storage.sealed import Count
from frontier.text import counted

RECORD_BYTES = 512
BUFFER_BYTES, BUFFERS = 4 << 20, 8
"""A file is written in buffers of about 4 MB, at most eight of which are in memory."""

SLABS_AT_ONCE = 64
"""The number of slabs in memory at a time while a whole part is read."""

NOT_STORED = np.uint64(2**64 - 1)
"""The offset and the size, in the index, of a slab without a state."""

WRITER_BYTES = BUFFERS * BUFFER_BYTES
"""The most bytes of memory that a writer holds."""


def footer_bytes(slabs: int) -> int:
    """Return the bytes after the slabs of a part. slabs: the number of slabs, stored or not."""
    return RECORD_BYTES + 16 * slabs + CHECKSUM_BYTES


def _checksums_behind(end: np.ndarray) -> np.ndarray:
    """Return the places of the bytes of the checksums after slabs with these ends: int64[N,
    bytes]."""
    return end[:, np.newaxis] + np.arange(CHECKSUM_BYTES)


def in_groups(slabs: np.ndarray) -> list[np.ndarray]:
    """Return slabs divided into groups of `SLABS_AT_ONCE`."""
    return [slabs[i : i + SLABS_AT_ONCE] for i in range(0, slabs.size, SLABS_AT_ONCE)]


@dataclass(frozen=True, slots=True)
class PartRecord:
    """The record at the end of a part's file.

    run: the identifier of the run. depth: the depth of the layer. task: the number of the part in
    the layer. tally: the counts over its states. bytes: the size of the file. content: CRC-32C over
    the checksums of the slabs, in hexadecimal. digest: SHA-256 over all of these and the index.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    run: str
    depth: Count
    task: Count
    tally: Tally
    bytes: Count
    content: str
    digest: str = ""

    @property
    def states(self) -> int:
        return self.tally.states

    @property
    def _value(self) -> dict[str, Any]:
        return asdict(self) | {"tally": self.tally.stored}

    def sealed(self, index: builtins.bytes) -> "PartRecord":
        """Return this record with its digest."""
        value = self._value
        del value["digest"]
        text = json.dumps(value, sort_keys=True).encode()
        return replace(self, digest=hashlib.sha256(text + index).hexdigest())

    def matches(self, index: builtins.bytes) -> bool:
        return self == self.sealed(index)

    def to_bytes(self) -> builtins.bytes:
        text = json.dumps(self._value)
        return text.ljust(RECORD_BYTES - 1).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: builtins.bytes) -> "PartRecord":
        """Read a record; raises ValueError if the bytes are not a record."""
        record = _RECORD.validate_json(data)
        if record.to_bytes() != data:
            raise ValueError("it is not in its canonical form")
        return record


_RECORD = TypeAdapter(PartRecord)


def digest_of(records: Sequence[PartRecord]) -> str:
    """Return the digest of a layer: SHA-256 over the digests of its parts, in task order."""
    return hashlib.sha256("".join(record.digest for record in records).encode()).hexdigest()


class PartWriter:
    """Writes a part, slab by slab. Used as a context manager, it leaves nothing behind if it fails.

    name: the name that `finish` gives the file. slabs: the number of slabs of the part, stored or
    not. part_id: the identifier of the run, the depth and the task.
    """

    def __init__(
        self,
        storage: Storage,
        name: str,
        slabs: int,
        part_id: tuple[str, int, int],
        codec: SlabCodec,
        thread: ThreadPoolExecutor,
        durable: bool = False,
        clock: Stopwatch | None = None,
    ):
        self._part_id, self._codec, self._thread, self._durable = part_id, codec, thread, durable
        self._clock = clock or Stopwatch()
        self._index = np.full((slabs, 2), NOT_STORED, dtype="<u8")
        self._checksums = np.zeros(slabs, dtype="<u4")
        self._writing: deque[Future] = deque()
        self._buffer, self._filled, self._size = np.empty(0, dtype=np.uint8), 0, 0
        self._bitmaps, self._slab = self._buffer, np.empty(0, dtype=np.uint64)
        self._file, self._finished = storage.new_file(name), False

    def __enter__(self) -> "PartWriter":
        return self

    def __exit__(self, *_) -> None:
        for buffer in self._writing:
            with suppress(OSError):  # another error is already being raised
                buffer.result()
        if not self._finished:
            self._file.abandon()

    def write(self, number: int, slab: np.ndarray) -> None:
        """Store a slab that holds a state, contiguous uint64. number: its number in the part."""
        room = self._room(encoded_bytes(slab.nbytes) + CHECKSUM_BYTES)
        size = self._codec.encode(slab, room)
        seal(room, size)
        self._append(np.array([number]), np.array([size]), room)

    def room(self, slab_bytes: int) -> np.ndarray:
        """Return memory, uint8, for the bitmaps of one or more slabs of `slab_bytes` in stored
        form. The caller fills it and then calls `add`."""
        most = encoded_bytes(slab_bytes) + CHECKSUM_BYTES
        if self._codec.by_kernels:
            self._bitmaps = self._room(most)
        elif self._slab.nbytes != slab_bytes:
            self._slab = np.empty(slab_bytes // 8, dtype=np.uint64)
            self._bitmaps = np.empty(most, dtype=np.uint8)
        self._clock.lap("disk")
        return self._bitmaps

    def add(self, numbers: np.ndarray, sizes: np.ndarray) -> None:
        """Store the slabs that the caller has put, as bitmaps, in the memory that `room` returned
        last.

        numbers: int64[N], their numbers in the part. sizes: int64[N], their sizes in bytes. The
        slabs follow one another, each with its checksum after it.
        """
        if self._codec.by_kernels:
            self._append(numbers, sizes, self._bitmaps)
        else:
            slabs = words_of(self._bitmaps, sizes, self._slab)
            for number, slab in zip(numbers.tolist(), slabs, strict=True):
                self.write(number, slab)
        self._clock.lap("codec")

    def _append(self, numbers: np.ndarray, sizes: np.ndarray, room: np.ndarray) -> None:
        """Append to the file the encoded slabs at the beginning of `room`, which is the rest of the
        buffer."""
        end = np.cumsum(sizes + CHECKSUM_BYTES)
        begin = end - sizes - CHECKSUM_BYTES
        self._index[numbers] = np.stack([self._size + begin, sizes + CHECKSUM_BYTES], axis=1)
        self._checksums[numbers] = room[_checksums_behind(begin + sizes)].view("<u4")[:, 0]
        self._advance(int(end[-1]) if end.size else 0)

    def finish(self, tally: Tally) -> PartRecord:
        """Put the complete file in place, and return its record."""
        index = self._index.tobytes()
        size = self._size + footer_bytes(len(self._index))
        content = f"{google_crc32c.value(self._checksums.tobytes()):08x}"
        record = PartRecord(*self._part_id, tally, size, content).sealed(index)
        checksum = google_crc32c.value(index).to_bytes(CHECKSUM_BYTES, "little")
        footer = record.to_bytes() + index + checksum
        self._room(len(footer))[: len(footer)] = np.frombuffer(footer, dtype=np.uint8)
        self._advance(len(footer))
        self._flush()
        for buffer in self._writing:
            buffer.result()
        self._file.finish(self._durable)
        self._finished = True
        return record

    def _room(self, size: int) -> np.ndarray:
        """Return memory for at least the next `size` bytes of the file, in this buffer or a new
        one."""
        if self._buffer.size - self._filled < size:
            self._flush()
            self._buffer, self._filled = np.empty(max(size, BUFFER_BYTES), dtype=np.uint8), 0
        return self._buffer[self._filled :]

    def _advance(self, size: int) -> None:
        """Append the next `size` bytes of the buffer to the file."""
        self._filled += size
        self._size += size

    def _flush(self) -> None:
        """Hand the buffer to the thread."""
        if len(self._writing) == BUFFERS - 1:
            self._writing.popleft().result()
        buffer = self._buffer.data[: self._filled]
        self._writing.append(self._thread.submit(self._file.write, buffer))


class Part:
    """A part that is open for reading. Its record and its index have been checked."""

    def __init__(self, storage: Storage, name: str, slabs: int, run: str, depth: int, task: int):
        """Raises CorruptRunError if the file is missing or belongs to another run, depth or
        task."""
        self._storage, self._name, self._depth = storage, name, depth
        end = footer_bytes(slabs)
        try:
            footer, size = storage.read_tail(name, end)
        except FileNotFoundError:
            raise self._wrong(" is missing") from None
        if size < end:
            raise self._wrong(f" is truncated: {size:,} bytes, expected at least {end:,}")
        index = footer[RECORD_BYTES:-CHECKSUM_BYTES]
        try:
            self.record = PartRecord.from_bytes(footer[:RECORD_BYTES])
        except ValueError:
            raise self._wrong(" has no record at its end") from None
        checksum = int.from_bytes(footer[-CHECKSUM_BYTES:], "little")
        if not (self.record.matches(index) and google_crc32c.value(index) == checksum):
            raise self._wrong(" is damaged: its record and index do not match their digest")
        if self.record.bytes != size:
            raise self._wrong(f" has {size:,} bytes, but its record says {self.record.bytes:,}")
        places = np.frombuffer(index, dtype="<u8").reshape(slabs, 2)
        self._stored = places[:, 0] != NOT_STORED
        self._offset, self._size = places.astype(np.int64).T
        begin, some = self._offset[self._stored], self._size[self._stored]
        wrong = (begin < 0) | (some <= CHECKSUM_BYTES) | (some > size) | (begin > size - end - some)
        if wrong.any():
            raise self._wrong(": its index points outside its slabs")
        part_id = self.record.run, self.record.depth, self.record.task
        if part_id != (run, depth, task):
            owner = "this run" if part_id[0] == run else f"run {ascii(part_id[0])[1:-1]}"
            raise self._wrong(
                f" is the wrong part: it is task {part_id[2]} of layer {part_id[1]} of {owner}"
            )

    def _wrong(self, why: str) -> CorruptRunError:
        return CorruptRunError(f"layer {self._depth}: {self.path}{why}")

    @property
    def path(self) -> Path | str:
        """The path of the file, for messages."""
        return self._storage.place(self._name)

    def force(self) -> None:
        """Return once the file and its name are on the disk."""
        self._storage.force(self._name, self._name.rpartition("/")[0])

    @property
    def states(self) -> int:
        return self.record.states

    def has(self, slabs: np.ndarray) -> np.ndarray:
        """Return whether each of these slabs holds a state: bool[N]."""
        return self._stored[slabs]

    @property
    def slabs(self) -> np.ndarray:
        """The slabs that hold a state, int64, in file order."""
        stored = np.flatnonzero(self._stored)
        return stored[np.argsort(self._offset[stored], kind="stable")]

    def read(self, slabs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Read stored slabs. Slabs that are adjacent in the file are read together.

        slabs: int64[N], without repetition. Returns uint8 memory, mapped from the file where that
        is possible, and two int64[N]: where the bytes of each slab begin and end in it, without the
        checksum. `check_slabs` and `Slabs` compare the checksums.
        """
        order = np.argsort(self._offset[slabs], kind="stable")
        offset, size = self._offset[slabs[order]], self._size[slabs[order]]
        apart = np.flatnonzero(offset[1:] != (offset + size)[:-1]) + 1
        runs = np.split(np.arange(slabs.size), apart) if slabs.size else []
        ranges = [(int(offset[run[0]]), int(offset[run[-1]] + size[run[-1]])) for run in runs]
        try:
            data = self._storage.map_ranges(self._name, ranges)
            if data is None:
                data, offset = np.empty(size.sum(), dtype=np.uint8), np.cumsum(size) - size
                ends = offset + size
                views = [data[offset[run[0]] : ends[run[-1]]].data for run in runs]
                self._storage.read_ranges(self._name, [begin for begin, _ in ranges], views)
        except FileNotFoundError:
            raise CorruptRunError(f"{self.path} was deleted while it was read") from None
        except EOFError:
            raise CorruptRunError(f"{self.path} was truncated while it was read") from None
        begin, end = np.empty((2, slabs.size), dtype=np.int64)
        begin[order], end[order] = offset, offset + size - CHECKSUM_BYTES
        return data, begin, end

    def check_slabs(
        self, slabs: np.ndarray, data: np.ndarray, begin: np.ndarray, end: np.ndarray
    ) -> np.ndarray:
        """Compare the bytes of slabs that `read` returned with their checksums, and return the
        checksums, uint32[N]; raises CorruptRunError if one does not match."""
        checksums = data[_checksums_behind(end)].view("<u4")[:, 0]
        spans = zip(begin.tolist(), end.tolist(), strict=True)
        for slab, (first, last), stored in zip(slabs, spans, checksums.tolist(), strict=True):
            if google_crc32c.value(data[first:last]) != stored:
                raise self.damaged(int(slab), MISMATCH)
        return checksums

    def check(self) -> None:
        """Raise CorruptRunError if any byte of the slabs differs from what was written."""
        checksums = np.zeros(self._stored.size, dtype="<u4")
        for some in in_groups(self.slabs):
            checksums[some] = self.check_slabs(some, *self.read(some))
        if f"{google_crc32c.value(checksums.tobytes()):08x}" != self.record.content:
            raise self._wrong(": its slabs do not match its record")

    def miscounted(self, states: int) -> CorruptRunError:
        return self._wrong(
            f" holds {counted(self.states, 'state')}, but the ledger lists {states:,}"
        )

    def damaged(self, slab: int, why: str) -> CorruptRunError:
        return self._wrong(f": slab {slab} is damaged: {why}")
