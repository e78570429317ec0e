"""One file of a layer: the part that one task has computed.

A file is a shard of Zarr's codec ``sharding_indexed``:

    slab, its crc32c | slab, its crc32c | … | record | index, its crc32c

The index has two little-endian uint64 for each slab of the part, its offset in the file and its
bytes, checksum included; both are 2^64 - 1 where the slab holds no state and is not stored. Zarr
finds the index at the end of the file and never looks at the record, which makes the file a
promise: it says of which run, depth and task the file is and how many states it holds, and has a
digest over itself and the index. So a file that is cut, left over, of another layer or of another
run is told from the right one by what its last bytes say. A file gets its name when it is
whole, which is when its task is done.

Files are read and written by a thread of its own, a few blocks ahead of the caller or behind it.
"""

import hashlib
import json
import os
import stat
import uuid
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_type_hints

import google_crc32c
import numpy as np

from frontier.errors import CorruptRunError
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import CHECKSUM_BYTES, SlabCodec
from frontier.store.files import PARTIAL, force
from frontier.text import counted

RECORD_BYTES = 512
BLOCK_BYTES = 4 << 20
BLOCKS_AHEAD = 6
"""A file is read and written in blocks of about so many bytes, so many of them ahead."""

EMPTY = np.uint64(2**64 - 1)


def buffered_bytes(slab_bytes: int) -> int:
    """Bytes that reading one file and writing another hold in memory at most, beside the slabs."""
    return 2 * (BLOCKS_AHEAD + 2) * (BLOCK_BYTES + slab_bytes)


def footer_bytes(slabs: int) -> int:
    """Bytes of a file of so many slabs behind the slabs."""
    return RECORD_BYTES + 16 * slabs + CHECKSUM_BYTES


@dataclass(frozen=True)
class Record:
    """What a part says of itself.

    run: identifier of the run. depth, task: of the layer, and in it. states: in the part. bytes: of
    the file. content: crc32c over the checksums of the slabs, as hexadecimal. start: whether the
    part holds the position whose distance is asked for. home: states whose blank is where the goal
    has it, None where that cannot be said. digest: SHA-256 over all this and the index.
    """

    run: str
    depth: int
    task: int
    states: int
    bytes: int
    content: str
    start: bool = False
    home: int | None = None
    digest: str = ""

    def sealed(self, index: bytes) -> "Record":
        """The same with its digest."""
        return Record(**{**asdict(self), "digest": self._digest(index)})

    def matches(self, index: bytes) -> bool:
        """Whether the digest is that of the record and the index."""
        return self.digest == self._digest(index)

    def _digest(self, index: bytes) -> str:
        value = asdict(self)
        del value["digest"]
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode() + index).hexdigest()

    def to_bytes(self) -> bytes:
        text = json.dumps(asdict(self))
        return text.ljust(RECORD_BYTES - 1).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> "Record":
        """ValueError if the bytes are not those of a record."""
        try:
            record = cls(**json.loads(data))
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        for name, kind in get_type_hints(cls).items():
            if not isinstance(getattr(record, name), kind):
                raise ValueError(f"its {name} is none")
        if record.to_bytes() != data:
            raise ValueError("it is not written as it was")
        return record


def digest_of(records: list[Record]) -> str:
    """The digest of a layer: SHA-256 over the digests of its parts, in the order of the tasks."""
    return hashlib.sha256("".join(record.digest for record in records).encode()).hexdigest()


class PartWriter:
    """Writes a part, slab after slab; as context manager it leaves nothing behind if that fails.

    path: the name that the file gets by `finish`. slabs: of the part, stored or not.
    """

    def __init__(
        self,
        path: Path,
        slabs: int,
        codec: SlabCodec,
        thread: ThreadPoolExecutor,
        durable: bool = False,
        clock: Stopwatch | None = None,
    ):
        self._path, self._codec, self._thread, self._durable = path, codec, thread, durable
        self._clock = clock or Stopwatch()
        self._index = np.full((slabs, 2), EMPTY, dtype="<u8")
        self._checksums = np.zeros(slabs, dtype="<u4")
        self._written: deque[Future] = deque()
        self._block, self._filled, self._size = np.empty(BLOCK_BYTES, dtype=np.uint8), 0, 0
        self._scratch = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self._file: int | None = os.open(self._scratch, flags, 0o666)

    def __enter__(self) -> "PartWriter":
        return self

    def __exit__(self, *_) -> None:
        for future in self._written:
            with suppress(OSError):  # the error that ends the task is another, or came before
                future.result()
        self._written.clear()
        if self._file is not None:
            os.close(self._file)
            self._file = None
            with suppress(OSError):
                self._scratch.unlink()

    def write(self, number: int, slab: np.ndarray) -> None:
        """Store a contiguous uint64 slab that holds a state."""
        data, checksum = self._codec.encode(slab)
        self._clock.lap("codec")
        self._index[number] = self._size, data.size + CHECKSUM_BYTES
        self._checksums[number] = checksum
        self._append(data)
        self._append(np.frombuffer(checksum.to_bytes(CHECKSUM_BYTES, "little"), dtype=np.uint8))
        self._clock.lap("disk")

    def finish(
        self, run: str, depth: int, task: int, states: int, start: bool, home: int | None
    ) -> Record:
        """Put the file in place, whole; returns its record."""
        index = self._index.tobytes()
        size = self._size + footer_bytes(len(self._index))
        content = f"{google_crc32c.value(self._checksums.tobytes()):08x}"
        record = Record(run, depth, task, states, size, content, start, home).sealed(index)
        checksum = google_crc32c.value(index).to_bytes(CHECKSUM_BYTES, "little")
        footer = record.to_bytes() + index + checksum
        self._append(np.frombuffer(footer, dtype=np.uint8))
        self._flush()
        while self._written:
            self._written.popleft().result()
        if self._durable:
            os.fsync(self._file)
        os.close(self._file)
        self._file = None
        self._scratch.replace(self._path)
        if self._durable:
            force(self._path.parent)
        return record

    def _append(self, data: np.ndarray) -> None:
        self._size += data.size
        while data.size:
            if self._filled == self._block.size:
                self._flush()
                self._block, self._filled = np.empty(BLOCK_BYTES, dtype=np.uint8), 0
            some = data[: self._block.size - self._filled]
            self._block[self._filled : self._filled + some.size] = some
            self._filled += some.size
            data = data[some.size :]

    def _flush(self) -> None:
        """Hand the block over to the thread; wait if it is too far behind."""
        block = self._block[: self._filled]
        self._written.append(self._thread.submit(_write_all, self._file, block))
        while len(self._written) > BLOCKS_AHEAD:
            self._written.popleft().result()


def _write_all(file: int, block: np.ndarray) -> None:
    view = memoryview(block)
    while view:
        view = view[os.write(file, view) :]  # a file may take less than it is given


def _open(path: Path) -> int:
    """Open a file for reading; CorruptRunError if it is none, such as a pipe, which never ends."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise CorruptRunError(f"{path} is no file")
    return file


class Part:
    """A part that is there, for reading: its record and its index have been checked."""

    def __init__(self, path: Path, slabs: int, run: str, depth: int, task: int):
        """CorruptRunError if the file is missing, or not that of this run, depth and task."""
        self.path, self._what = path, f"layer {depth}: {path}"
        try:
            file = _open(path)
        except FileNotFoundError:
            raise CorruptRunError(f"{self._what} is missing, though its layer is stored") from None
        try:
            self._read_footer(file, slabs)
        finally:
            os.close(file)
        found = self.record.run, self.record.depth, self.record.task
        if found != (run, depth, task):
            raise CorruptRunError(
                f"{self._what} is not the one that was written there: it is task {found[2]} of "
                f"layer {found[1]} of " + ("this run" if found[0] == run else f"run {found[0]}")
            )

    def _read_footer(self, file: int, slabs: int) -> None:
        size, end = os.fstat(file).st_size, footer_bytes(slabs)
        if size < end:
            raise CorruptRunError(f"{self._what} is cut: {size:,} bytes, at least {end:,} expected")
        footer = os.pread(file, end, size - end)
        index = footer[RECORD_BYTES:-CHECKSUM_BYTES]
        try:
            self.record = Record.from_bytes(footer[:RECORD_BYTES])
        except ValueError:
            raise CorruptRunError(f"{self._what} has no record at its end") from None
        checksum = int.from_bytes(footer[-CHECKSUM_BYTES:], "little")
        if not (self.record.matches(index) and google_crc32c.value(index) == checksum):
            raise CorruptRunError(
                f"{self._what} is damaged: its record and index do not match their digest"
            )
        if self.record.bytes != size:
            raise CorruptRunError(
                f"{self._what} has {size:,} bytes, its record says {self.record.bytes:,}"
            )
        places = np.frombuffer(index, dtype="<u8").reshape(slabs, 2)
        self._stored = places[:, 0] != EMPTY
        self._offset, self._size = places.astype(np.int64).T
        begin, some = self._offset[self._stored], self._size[self._stored]
        wrong = (begin < 0) | (some <= CHECKSUM_BYTES) | (some > size) | (begin > size - end - some)
        if wrong.any():
            raise CorruptRunError(f"{self._what}: its index points outside its slabs")

    @property
    def states(self) -> int:
        return self.record.states

    def has(self, slab: int) -> bool:
        """Whether a slab holds a state."""
        return bool(self._stored[slab])

    @property
    def slabs(self) -> list[int]:
        """The slabs that hold a state, in the order in which they lie in the file."""
        stored = np.flatnonzero(self._stored)
        return stored[np.argsort(self._offset[stored], kind="stable")].tolist()

    def blocks(self, slabs: list[int]) -> list["Block"]:
        """How to read some of the slabs: those that are stored, in the order of the file, so many
        at once as lie side by side and make a block."""
        wanted = np.array([slab for slab in slabs if self._stored[slab]], dtype=np.int64)
        wanted = wanted[np.argsort(self._offset[wanted], kind="stable")]
        blocks: list[Block] = []
        for slab in wanted.tolist():
            begin, end = int(self._offset[slab]), int(self._offset[slab] + self._size[slab])
            last = blocks[-1] if blocks else None
            if last and last.end == begin and end - last.begin <= BLOCK_BYTES:
                last.end = end
                last.slabs.append((slab, begin, end))
            else:
                blocks.append(Block(self, begin, end, [(slab, begin, end)]))
        return blocks

    def check(self) -> None:
        """CorruptRunError if any byte of the slabs is not what was written."""
        checksums = np.zeros(self._stored.size, dtype="<u4")
        for block in self.blocks(self.slabs):
            for slab, data in block.read():
                checksums[slab] = google_crc32c.value(data)
        if f"{google_crc32c.value(checksums.tobytes()):08x}" != self.record.content:
            raise CorruptRunError(f"{self._what}: its slabs are not those that were written there")

    def miscounted(self, states: int) -> CorruptRunError:
        return CorruptRunError(
            f"{self._what} holds {counted(self.states, 'state')}, the ledger lists {states:,}"
        )

    def damaged(self, slab: int, why: str) -> CorruptRunError:
        return CorruptRunError(f"{self._what}: slab {slab} is damaged: {why}")


@dataclass
class Block:
    """Some slabs of a part that are read at once: bytes begin .. end of the file.

    slabs: the number of each, and where it begins and ends in the file.
    """

    part: Part
    begin: int
    end: int
    slabs: list[tuple[int, int, int]]

    def read(self) -> list[tuple[int, np.ndarray]]:
        """The slabs, as (number, uint8 data); CorruptRunError if a checksum does not match."""
        data = np.empty(self.end - self.begin, dtype=np.uint8)
        try:
            file = _open(self.part.path)
        except FileNotFoundError:
            raise CorruptRunError(f"{self.part.path} was deleted while it was read") from None
        try:
            view = memoryview(data)
            while view:
                got = os.preadv(file, [view], self.end - len(view))
                if not got:
                    raise CorruptRunError(f"{self.part.path} was cut while it was read")
                view = view[got:]
        finally:
            os.close(file)
        found = []
        for slab, begin, end in self.slabs:
            whole = data[begin - self.begin : end - self.begin]
            body, checksum = whole[:-CHECKSUM_BYTES], whole[-CHECKSUM_BYTES:]
            if google_crc32c.value(body) != int.from_bytes(checksum.tobytes(), "little"):
                raise self.part.damaged(slab, "its bytes do not match the checksum at their end")
            found.append((slab, body))
        return found


class ReadAhead:
    """Iterates over the slabs of some blocks, which a thread reads ahead from now on.

    Yields (block, slab, data) in the order of the blocks.
    """

    def __init__(self, blocks: list[Block], thread: ThreadPoolExecutor, clock: Stopwatch):
        self._blocks, self._thread, self._clock = deque(blocks), thread, clock
        self._under_way: deque[tuple[Block, Future]] = deque()
        self._fill()

    def _fill(self) -> None:
        while self._blocks and len(self._under_way) < BLOCKS_AHEAD:
            block = self._blocks.popleft()
            self._under_way.append((block, self._thread.submit(block.read)))

    def __iter__(self) -> Iterator[tuple[Block, int, np.ndarray]]:
        while self._under_way:
            block, future = self._under_way.popleft()
            self._clock.lap("rest")
            slabs = future.result()
            self._clock.lap("disk")
            self._fill()
            for slab, data in slabs:
                yield block, slab, data
