"""The words of bitmaps: their sizes, and their bits for kernels."""

from math import ceil, prod
from typing import Any

import numpy as np

from frontier.jit import kernel

WORD_BYTES = 8
ROW_WORDS = 4096  # a row and its image stay in a core's first two levels of cache
SLAB_BYTES = 1 << 18


@kernel
def count_bits(x):
    """Return the number of ones of a 64-bit word (the compiler turns this into one instruction)."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def lowest_bit(word):
    """Return the number of the lowest bit of a 64-bit word that is not 0."""
    return np.int64(count_bits((word & (~word + np.uint64(1))) - np.uint64(1)))


class RowCode:
    """The states of a row, as bits of words.

    half: the number of states. bits: the bits of a word. words: the number of words. leading: the
    radices of a word's number, only one if the row is no larger than a slab.
    """

    bits = 64
    leading: tuple[int, ...]

    def __init__(self, width: int):
        self.half, self.words = width, ceil(width / self.bits)
        self.leading = (self.words,)
        if self.words > (slab := SLAB_BYTES // WORD_BYTES):
            self.leading = (ceil(self.words / slab), slab)
        self.words = prod(self.leading)


class Numbered:
    """What all spaces have whose states are numbered ``node * code.half + index``.

    words: the number of words of a state number. dtype: its type. code, nodes: see the spaces.
    """

    words, dtype = 1, np.dtype(np.uint64)
    code: Any
    nodes: list[int]

    def words_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return state numbers as uint64[N, words]."""
        return numbers.reshape(-1, 1)

    def keys_of(self, words: np.ndarray) -> np.ndarray:
        """Return state numbers from their words; inverse of `words_of`."""
        return words.reshape(-1)

    def has_numbers(self, side: int, numbers: np.ndarray) -> bool:
        """Return whether all of uint64[N] numbers, ascending, may be numbers of states of a
        side."""
        return not numbers.size or int(numbers[-1]) < self.nodes[side] * self.code.half
