"""Bitmaps without their zero bytes.

In the densest layers of a sliding puzzle two bytes out of three are zero, in other layers nearly
all. So a bitmap is stored as its nonzero bytes, in order, and a *mask* with one bit for each byte,
set where the byte is not zero (null suppression: T. Westmann et al., The implementation and
performance of compressed databases, SIGMOD Record 29, 2000). Most bytes of the mask are zero too,
so the mask is stored in the same way, and so is the mask of the mask. The third mask is stored
unchanged. With |x| for the number of bytes of x, the data of n words are

    nonzero bytes of the words | nonzero bytes of mask 1 | nonzero bytes of mask 2 | mask 3,

    |mask 1| = n,  |mask 2| = ceil(n / 8),  |mask 3| = ceil(n / 64).

Bit k of byte i of a mask stands for byte 8 i + k. The data do not contain their length. The length
follows from the masks: the bits set in each mask count the bytes stored under it. Before it writes
anything, the decoder refuses data in which these counts do not add up.

NumPy encodes and decodes small bitmaps, because the kernels (`frontier.codec.zerobytes_kernels`)
take longer to load.
"""

import numpy as np

SLACK = 64
"""The number of bytes past the end of its data that `encode` may overwrite."""


def most_bytes(words: int) -> int:
    """Return the most bytes that the data of `words` words can have."""
    return 8 * words + words + -(-words // 8) + -(-words // 64)


def encode(words: np.ndarray, data: np.ndarray) -> int:
    """Write the data of contiguous uint64 words to uint8 `data`, and return their size in bytes.

    data: room for `most_bytes` of the words plus `SLACK`.
    """
    from frontier.codec import zerobytes_kernels

    if data.size < most_bytes(words.size) + SLACK:
        raise ValueError(
            f"{data.size:,} bytes are too few for {words.size:,} words: "
            f"{most_bytes(words.size) + SLACK:,} are needed"
        )
    return int(zerobytes_kernels.encode(words.reshape(-1), data))


def decode(data: np.ndarray, words: np.ndarray) -> None:
    """Fill contiguous uint64 words from uint8 data that `encode` made; raises ValueError for other
    data."""
    from frontier.codec import zerobytes_kernels

    if not zerobytes_kernels.decode(data, words.reshape(-1)):
        raise _no_bitmap(data, words)


def plain_encode(words: np.ndarray) -> np.ndarray:
    """Return the data of contiguous uint64 words, uint8, computed with NumPy."""
    layer, parts = words.reshape(-1).view(np.uint8), []
    for _ in range(3):
        parts.append(layer[layer != 0])
        layer = np.packbits(layer != 0, bitorder="little")
    return np.concatenate([*parts, layer])


def plain_decode(data: np.ndarray, words: np.ndarray) -> None:
    """Decode as `decode` does, with NumPy."""
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
    return ValueError(f"its {data.size:,} bytes are not a bitmap of {words.size:,} words")
