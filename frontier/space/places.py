"""The last digit of a number, computed rather than looked up: which of n places the pieces of one
label occupy.

Suppose that two labels are left, and that all permutations of their n places occur, or all even
ones. Then the s pieces of one label may lie in any s places, because for n >= 3 even permutations
bring any set of places to any other of the same size. A set is a *word* of n bits, and its number
is its rank among all words with s ones in ascending order.

A word is cut into two halves. Words with the same high half are consecutive, in the order of their
low halves, which all have the same number of ones. So the rank takes two look-ups: the number of
words with a lesser high half, and the rank of the low half among low halves with the same number of
ones. Other tables permute words, some bits at a time.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from frontier.jit import kernel
from frontier.space.words import count_bits

CHUNK = 9
"""The bits of a word that one entry of `images` covers."""

MOST_PLACES = 44
"""The most bits of a word; the tables of halves then have 2^22 entries."""

ONE = np.uint64(1)


class PlaceTables(NamedTuple):
    """The tables of `Places`, for kernels.

    size: the ones of a word. low_bits: the bits of its low half. first: int64[2^high_bits + 1], the
    number of words with a lesser high half. low_rank: int32[2^low_bits], the rank among low halves
    with the same number of ones. low_word: int32[2^low_bits], the low halves by number of ones and
    rank. low_first: int64[low_bits + 1], where the low halves with each number of ones begin.
    images: uint64[sections, chunks, 2^CHUNK], where the bits of a chunk go.
    """

    size: int
    low_bits: int
    first: np.ndarray
    low_rank: np.ndarray
    low_word: np.ndarray
    low_first: np.ndarray
    images: np.ndarray


class Places:
    """The sets of `size` of some places, and permutations of them.

    count: the number of sets. sections: the number of permutations.
    """

    def __init__(self, size: int, sections: np.ndarray):
        """sections: int[sections, n], where each place goes."""
        n, low_bits = sections.shape[1], sections.shape[1] // 2
        self.size, self.count, self.sections = size, comb(n, size), len(sections)
        low, high = np.arange(1 << low_bits), np.arange(1 << (n - low_bits))
        ones = np.bitwise_count(low).astype(np.int64)
        low_word = np.argsort(ones, kind="stable")
        low_first = np.searchsorted(ones[low_word], np.arange(low_bits + 1))
        low_rank = np.empty(low.size, dtype=np.int32)
        low_rank[low_word] = low - low_first[ones[low_word]]
        low_counts = np.array([comb(low_bits, k) for k in range(low_bits + 1)])
        bits_left = size - np.bitwise_count(high).astype(np.int64)
        fits = (bits_left >= 0) & (bits_left <= low_bits)
        with_high = np.where(fits, low_counts[np.where(fits, bits_left, 0)], 0)
        first = np.concatenate([[0], np.cumsum(with_high)])
        images = np.zeros((len(sections), -(-n // CHUNK), 1 << CHUNK), dtype=np.uint64)
        values = np.arange(1 << CHUNK)
        for place in range(n):
            chunk, bit = divmod(place, CHUNK)
            goal = ONE << sections[:, place].astype(np.uint64)
            images[:, chunk] |= np.where(values >> bit & 1, goal[:, None], np.uint64(0))
        self.tables = PlaceTables(
            size, low_bits, first, low_rank, low_word.astype(np.int32), low_first, images
        )

    def rank(self, words: np.ndarray) -> np.ndarray:
        """Return the ranks, int64[N], of words, uint64[N]."""
        low_bits, low = np.uint64(self.tables.low_bits), self.tables.low_rank.size - 1
        low_rank = self.tables.low_rank[(words & np.uint64(low)).astype(np.int64)]
        return self.tables.first[(words >> low_bits).astype(np.int64)] + low_rank

    def unrank(self, ranks: np.ndarray) -> np.ndarray:
        """Return the words with these ranks; inverse of `rank`."""
        _, low_bits, first, _, low_word, low_first, _ = self.tables
        high = np.searchsorted(first, ranks, side="right") - 1
        bits = self.size - np.bitwise_count(high)
        low = low_word[low_first[bits] + ranks - first[high]]
        return (high << low_bits | low).astype(np.uint64)


@kernel
def high_of(rank, first):
    """Return the high half of the word with a rank."""
    low, high = 0, first.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if first[middle] <= rank:
            low = middle
        else:
            high = middle
    return low


@kernel
def word_of(rank, high, size, low_bits, first, low_word, low_first):
    """Return the word with a rank and a known high half."""
    bits = size - np.int64(count_bits(np.uint64(high)))
    low = np.int64(low_word[low_first[bits] + rank - first[high]])
    return np.uint64(high << low_bits | low)


@kernel
def rank_of_image(word, images, section, low_bits, first, low_rank):
    """Return the rank of a word's image under a section."""
    image, mask = np.uint64(0), np.uint64((1 << CHUNK) - 1)
    for chunk in range(images.shape[1]):
        image |= images[section, chunk, word & mask]
        word >>= np.uint64(CHUNK)
    high = image >> np.uint64(low_bits)
    low = image & ((ONE << np.uint64(low_bits)) - ONE)
    return first[high] + np.int64(low_rank[low])
