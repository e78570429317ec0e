"""Slabs in the stored form of the codec `bitmap`, in memory, for kernels that decode them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import google_crc32c
import numpy as np

from frontier.space import zerobytes
from frontier.space.zerobytes import CHECKSUM_BYTES
from frontier.store.codecs import encoded_bytes

MISMATCH = "its bytes do not match the checksum at their end"
NO_SLAB = "its bytes are no slab of this codec"
"""What may be wrong with a stored slab."""


@dataclass
class Bitmaps:
    """Some slabs of a layer, each with its checksum behind it.

    begin, end: int64[N], the addresses where each begins and ends, without its checksum; equal if
    the slab holds no state. memory: the arrays in which they lie. damaged: returns the error for a
    slab that a kernel finds wrong, by its number and what is wrong with it.
    """

    begin: np.ndarray
    end: np.ndarray
    memory: list[np.ndarray]
    damaged: Callable[[int, str], Exception]


def seal(room: np.ndarray, size: int) -> int:
    """Put the checksum behind an encoded slab, uint8 room[:size], and return the bytes of both."""
    checksum = google_crc32c.value(room[:size]).to_bytes(CHECKSUM_BYTES, "little")
    room[size : size + CHECKSUM_BYTES] = np.frombuffer(checksum, dtype=np.uint8)
    return size + CHECKSUM_BYTES


def bitmaps_of(slabs: Iterable[tuple[int, np.ndarray]], count: int) -> Bitmaps:
    """Encode those of `count` slabs that hold a state.

    slabs: (number, contiguous uint64 words) of each; the words may be gone when the next comes.
    """
    begin, end = np.zeros((2, count), dtype=np.int64)
    room, memory = np.empty(0, dtype=np.uint8), []
    for number, words in slabs:
        if room.size < encoded_bytes(words.nbytes):
            room = np.empty(encoded_bytes(words.nbytes), dtype=np.uint8)
        size = zerobytes.encode(words, room)
        data = room[: seal(room, size)].copy()
        begin[number] = data.ctypes.data
        end[number] = data.ctypes.data + size
        memory.append(data)
    return Bitmaps(begin, end, memory, _never_damaged)


def words_of(room: np.ndarray, sizes: np.ndarray, words: np.ndarray) -> Iterator[np.ndarray]:
    """Generate the slabs that lie one after the other in `room`, each in the same `words`.

    sizes: int64[N], their bytes without the checksum behind each.
    """
    begin = 0
    for size in sizes.tolist():
        zerobytes.decode(room[begin : begin + size], words)
        yield words
        begin += size + CHECKSUM_BYTES


def _never_damaged(number: int, why: str) -> Exception:
    return AssertionError(f"slab {number}, which was encoded here: {why}")
