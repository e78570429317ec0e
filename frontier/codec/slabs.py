"""Slabs in memory in stored form, each followed by a checksum.

Kernels read and write slabs by address, in the encoding of `bitmap`.
"""

from collections.abc import Callable, Iterable, Iterator
from ctypes import c_uint8
from dataclasses import dataclass

import google_crc32c
import numpy as np

from frontier.codec.codecs import SlabCodec
from frontier.codec.zerobytes import SLACK, decode, encode, most_bytes

CHECKSUM_BYTES = 4
"""The number of bytes of the CRC-32C that is stored after a slab, little-endian."""

MISMATCH = "its bytes do not match their checksum"
NO_SLAB = "its bytes are not a slab of this codec"
"""What may be wrong with a slab."""


def most_stored_bytes(words: int) -> int:
    """Return the most bytes of memory that are needed to put a slab of `words` words into stored
    form."""
    return most_bytes(words) + CHECKSUM_BYTES + SLACK


@dataclass
class Slabs:
    """Some slabs of a layer in memory, in stored form; they are checked and decoded when needed.

    In stored form they take about a third of the memory. A slab is used as soon as it is decoded,
    while it is in the processor's caches.

    begin, end: int64[N], the addresses where each slab begins and ends, without its checksum; equal
    if the slab holds no state. memory: the arrays that hold the slabs. codec: decodes them.
    damaged: returns the error for a damaged slab, from its number and the fault.
    """

    begin: np.ndarray
    end: np.ndarray
    memory: list[np.ndarray]
    codec: SlabCodec
    damaged: Callable[[int, str], Exception]

    def decode(self, number: int, words: np.ndarray) -> None:
        """Write the words of a slab to contiguous uint64 `words`, all 0 if it holds no state;
        raises the error of `damaged` if the slab is damaged."""
        begin, size = int(self.begin[number]), int(self.end[number] - self.begin[number])
        if not size:
            words[:] = 0
            return
        data = np.ctypeslib.as_array((c_uint8 * (size + CHECKSUM_BYTES)).from_address(begin))
        if google_crc32c.value(data[:size]) != int.from_bytes(data[size:].tobytes(), "little"):
            raise self.damaged(number, MISMATCH)
        try:
            self.codec.decode(data[:size], words)
        except ValueError:
            raise self.damaged(number, NO_SLAB) from None

    def stored(self, slab_words: int) -> "Slabs":
        """Return the slabs in the form that kernels decode: as they are, or encoded again if
        another codec stored them. The bytes of the other codec are not kept."""
        if self.codec.by_kernels:
            return self
        words = np.empty(slab_words, dtype=np.uint64)

        def decoded() -> Iterator[tuple[int, np.ndarray]]:
            for i, data in enumerate(self.memory):
                first = data.ctypes.data
                inside = (first <= self.begin) & (self.end < first + data.size)
                for number in np.flatnonzero(inside).tolist():
                    self.decode(number, words)
                    yield number, words
                self.memory[i] = data = words[:0]  # frees its memory

        return encoded_slabs(decoded(), self.begin.size)


def seal(room: np.ndarray, size: int) -> int:
    """Put the checksum after an encoded slab, uint8 room[:size], and return the size of both."""
    checksum = google_crc32c.value(room[:size]).to_bytes(CHECKSUM_BYTES, "little")
    room[size : size + CHECKSUM_BYTES] = np.frombuffer(checksum, dtype=np.uint8)
    return size + CHECKSUM_BYTES


def encoded_slabs(slabs: Iterable[tuple[int, np.ndarray]], count: int) -> Slabs:
    """Encode the slabs, out of `count`, that hold a state.

    slabs: (number, contiguous uint64 words) of each. The next slab may overwrite the words.
    """
    begin, end = np.zeros((2, count), dtype=np.int64)
    room, memory = np.empty(0, dtype=np.uint8), []
    for number, words in slabs:
        if room.size < (most := most_stored_bytes(words.size)):
            room = np.empty(most, dtype=np.uint8)
        size = encode(words, room)
        data = room[: seal(room, size)].copy()
        begin[number] = data.ctypes.data
        end[number] = data.ctypes.data + size
        memory.append(data)
    return Slabs(begin, end, memory, SlabCodec("bitmap"), AssertionError)  # none is damaged


def words_of(room: np.ndarray, sizes: np.ndarray, words: np.ndarray) -> Iterator[np.ndarray]:
    """Generate the slabs that follow one another in `room`, each in the same array `words`.

    sizes: int64[N], the bytes of each without the checksum after it.
    """
    begin = 0
    for size in sizes.tolist():
        decode(room[begin : begin + size], words)
        yield words
        begin += size + CHECKSUM_BYTES
