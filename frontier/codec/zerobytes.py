"""Bitmaps without their zero bytes.

In the densest layers of a sliding puzzle two bytes of three are zero, in others nearly all. So a
bitmap is stored as its bytes that are not zero, in their order, and a *mask* with one bit for each
byte, which is set where the byte is not zero (null suppression: T. Westmann et al., The
implementation and performance of compressed databases, SIGMOD Record 29, 2000). Most bytes of the
mask are zero too, so the mask is stored in the same way, and the mask of the mask. The third mask
is stored as it is. With |x| for the number of bytes of x, the data of n words are

    bytes of the words that are not zero | bytes of mask 1 that are not zero |
    bytes of mask 2 that are not zero | mask 3,

    |mask 1| = n,  |mask 2| = ceil(n / 8),  |mask 3| = ceil(n / 64).

Bit k of byte i of a mask stands for byte 8 i + k. The length of the data is no part of them, but
it follows from the masks: the ones of a mask count the bytes before it. Data in which these counts
do not add up are refused before anything is written.

Small bitmaps are done by NumPy, as the kernels (`frontier.codec.zerobytes_kernels`) take longer to
load.

A slab in *stored form* is such data with a checksum behind them. Kernels decode slabs that are in
memory in this form by their addresses (`StoredSlabs`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import google_crc32c
import numpy as np

CHECKSUM_BYTES = 4
"""The bytes of the CRC-32C that is stored behind a bitmap, little-endian."""

MISMATCH = "its bytes do not match the checksum at their end"
NO_SLAB = "its bytes are no slab of this codec"
"""What may be wrong with a stored slab."""

SLACK = 64
"""The bytes behind the data of `encode` that it may write to."""


def most_bytes(words: int) -> int:
    """Return the most bytes that `words` words have encoded."""
    return 8 * words + words + -(-words // 8) + -(-words // 64)


def most_stored_bytes(words: int) -> int:
    """Return the bytes of memory in which a slab of `words` words can be put into stored form."""
    return most_bytes(words) + CHECKSUM_BYTES + SLACK


def encode(words: np.ndarray, data: np.ndarray) -> int:
    """Write the data of contiguous uint64 words to uint8 `data`, and return their number of bytes.

    data: has room for `most_bytes` of the words and `SLACK` more.
    """
    from frontier.codec import zerobytes_kernels

    if data.size < most_bytes(words.size) + SLACK:
        raise ValueError(
            f"{data.size:,} bytes are no room for {words.size:,} words: "
            f"{most_bytes(words.size) + SLACK:,} are needed"
        )
    return int(zerobytes_kernels.encode(words.reshape(-1), data))


def decode(data: np.ndarray, words: np.ndarray) -> None:
    """Fill contiguous uint64 words from uint8 data of `encode`; raises ValueError for other
    data."""
    from frontier.codec import zerobytes_kernels

    if not zerobytes_kernels.decode(data, words.reshape(-1)):
        raise _no_bitmap(data, words)


def plain_encode(words: np.ndarray) -> np.ndarray:
    """Return the data of contiguous uint64 words, uint8, computed by NumPy."""
    layer, parts = words.reshape(-1).view(np.uint8), []
    for _ in range(3):
        parts.append(layer[layer != 0])
        layer = np.packbits(layer != 0, bitorder="little")
    return np.concatenate([*parts, layer])


def plain_decode(data: np.ndarray, words: np.ndarray) -> None:
    """Decode as `decode` does, by NumPy."""
    sizes = 8 * words.size, words.size, -(-words.size // 8)
    last = -(-sizes[2] // 8)
    mask, end = data[data.size - last :], data.size - last
    if end < 0:
        raise _no_bitmap(data, words)
    for size in reversed(sizes):
        bits = np.unpackbits(mask, bitorder="little").astype(bool)
        count = int(np.count_nonzero(bits))
        if bits[size:].any() or count > end:
            raise _no_bitmap(data, words)
        mask = np.zeros(size, dtype=np.uint8)
        mask[bits[:size]] = data[end - count : end]
        end -= count
    if end:
        raise _no_bitmap(data, words)
    words.reshape(-1).view(np.uint8)[:] = mask


def _no_bitmap(data: np.ndarray, words: np.ndarray) -> ValueError:
    return ValueError(f"its {data.size:,} bytes are no bitmap of {words.size:,} words")


@dataclass
class StoredSlabs:
    """Some slabs of a layer in stored form, in memory.

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


def stored_slabs(slabs: Iterable[tuple[int, np.ndarray]], count: int) -> StoredSlabs:
    """Encode those of `count` slabs that hold a state.

    slabs: (number, contiguous uint64 words) of each; the words may be gone when the next comes.
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
    return StoredSlabs(begin, end, memory, _never_damaged)


def words_of(room: np.ndarray, sizes: np.ndarray, words: np.ndarray) -> Iterator[np.ndarray]:
    """Generate the slabs that lie one after the other in `room`, each in the same `words`.

    sizes: int64[N], their bytes without the checksum behind each.
    """
    begin = 0
    for size in sizes.tolist():
        decode(room[begin : begin + size], words)
        yield words
        begin += size + CHECKSUM_BYTES


def _never_damaged(number: int, why: str) -> Exception:
    return AssertionError(f"slab {number}, which was encoded here: {why}")
