"""Permutations as numbers: half of S_m, sixty to a machine word.

The *Lehmer code* of a sequence p of m distinct members is

    L_i = #{ j > i : p_j < p_i },        0 <= L_i < m - i,

so its digits have the radices m, m-1, ..., 2, 1, and every choice of digits is the code of exactly
one sequence (D. H. Lehmer, 1960; Knuth, TAOCP 4A, 7.2.1.2). The sum of the digits is the number of
inversions, so its parity is the sign of the sequence.

**Half of S_m.** Given the sign, the digit of radix 2 follows from the rest. It is dropped, as is
the digit of radix 1, which is always 0. The *kept* digits, of radices m, ..., 3, number the m!/2
sequences of one sign. The digit of radix 2 belongs to position m-2.

**Words.** The last three kept digits, of radices 5, 4 and 3, give 60 arrangements: the bits of one
64-bit word, bit = 12 d5 + 3 d4 + d3. The digits before them, radices m, ..., 6, number the words.
For m < 5 there is one word, of 12, 3 or 1 bits.

**Neighbour swaps.** Exchanging p_i and p_{i+1} changes no digit but (a, b) = (L_i, L_{i+1}):

    a <= b :  (a, b) -> (b + 1, a)
    a >  b :  (a, b) -> (b, a - 1)

If p_i < p_{i+1}, the larger member moves to the front and gains p_i among the smaller members after
it, and the smaller member keeps its count. The second line is the inverse of the first. The map is
an involution of the pairs [0, m-i) x [0, m-i-1), so on a bitmap indexed by the code it moves whole
stretches of bits. The kernels of this package rely on this property.

**Several classes.** If there are several classes of distinct members, the sequence lists them class
by class, the largest class last, with numbers that grow from class to class. It is then a
permutation in the Young subgroup S_m1 x S_m2 x ... x S_m of S_n. No member of a later class is
smaller than a member of an earlier one, so the digits of the whole sequence are those of the
classes, one after the other, with the radices m1, ..., 1, m2, ..., 1, ..., m, ..., 1. Only the last
class drops a digit, which then follows from the sign of the whole sequence. Swaps stay inside a
class.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product, starmap
from math import prod

import numpy as np

from frontier.jit import kernel

WORD_RADICES = (5, 4, 3)


@kernel
def swap_digits(a, b):
    """Return the digits (L_i, L_{i+1}) after positions i and i+1 change places."""
    if a <= b:
        return b + 1, a
    return b, a - 1


@cache
def swapped_pairs(radix_a: int, radix_b: int) -> np.ndarray:
    """Return the swapped pair of each pair (a, b), both as numbers a * radix_b + b, int64[radix_a *
    radix_b]."""
    pairs = starmap(swap_digits.function, product(range(radix_a), range(radix_b)))
    return np.array([a * radix_b + b for a, b in pairs])


def swapped(numbers: np.ndarray, radix_a: int, radix_b: int, weight: int) -> np.ndarray:
    """Return numbers after the swap of their digits a and b, which have these radices. weight: the
    weight of digit b."""
    pair = numbers // weight % (radix_a * radix_b)
    return numbers + (swapped_pairs(radix_a, radix_b)[pair] - pair) * weight


def digit_sum(numbers: np.ndarray, radices: Sequence[int]) -> np.ndarray:
    """Return the sum of the last len(radices) digits of each of int[N] numbers."""
    total = np.zeros_like(numbers)
    for radix in reversed(radices):
        total += numbers % radix
        numbers = numbers // radix
    return total


class LehmerCode:
    """The numbering of the sequences of one sign of S_m; see the module docstring.

    m: number of distinct members of the sequence, m >= 0; with several classes, of the last one.
    smaller: sizes of further classes, whose sequences come before the last one; 1 <= each <= m.
    length: members of the whole sequence. radices: the radices of the kept digits, in the last
    class m down to 3. strides: the weight of each kept digit in the index. leading: radices of the
    digits that number the words, in the last class m down to 6. bits: how many bits of a word are
    used: 60, or 12, 3 or 1 if m < 5. words: the words of a bitmap over the sequences of one sign.
    half: number of sequences of one sign, m!/2 for one class (1 for m < 2).
    """

    def __init__(self, m: int, smaller: tuple[int, ...] = ()):
        if m < 0:
            raise ValueError(f"a sequence cannot have {m} members; the least is 0")
        if smaller and not (m >= 2 and 1 <= min(smaller) <= max(smaller) <= m):
            raise ValueError(f"classes {smaller} before one of {m}: the last is the largest")
        self.m, self.smaller, self.length = m, smaller, sum(smaller) + m
        before = tuple(radix for size in smaller for radix in range(size, 0, -1))
        self.radices = (*before, *range(m, 2, -1))
        self.leading = (*before, *range(m, 5, -1))
        self.strides = tuple(prod(self.radices[i + 1 :]) for i in range(len(self.radices)))
        self.bits = prod(self.radices[len(self.leading) :])
        self.words, self.half = prod(self.leading), prod(self.radices)

    def rank(self, sequence) -> tuple[int, int]:
        """Return (index, sign) of a permutation of 0 .. length-1; 0 <= index < half, and an even
        permutation has sign 0."""
        digits = lehmer_digits(sequence)
        index = 0
        for digit, radix in zip(digits, self.radices, strict=False):
            index = index * radix + digit
        return index, sum(digits) % 2

    def unrank(self, index: int, sign: int) -> tuple[int, ...]:
        """Return the permutation of 0 .. length-1 with this index and sign; inverse of `rank`."""
        if not 0 <= index < self.half:
            raise ValueError(f"index {index} is outside 0..{self.half - 1}")
        digits = [0] * self.length
        for i in reversed(range(len(self.radices))):
            index, digits[i] = divmod(index, self.radices[i])
        if self.m >= 2:
            digits[self.length - 2] = (sum(digits) + sign) % 2
        unused = list(range(self.length))
        return tuple(unused.pop(digit) for digit in digits)

    def ranks(self, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the `rank` of each row of int[N, length]: (int64[N] indices, int64[N] signs).

        `half` must be less than 2^63.
        """
        index, sign = np.zeros((2, len(sequences)), dtype=np.int64)
        ranks = _ranks.python_if_small(sequences.size * self.length)
        sequences = np.ascontiguousarray(sequences, dtype=np.int64)
        ranks(sequences, np.array(self.radices, np.int64), index, sign)
        return index, sign

    def unranks(self, indices: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """Return the `unrank` of int[N] indices and signs, int64[N, length]; inverse of `ranks`.

        `half` must be less than 2^63.
        """
        indices = np.asarray(indices, dtype=np.int64)
        outside = (indices < 0) | (indices >= self.half)
        if outside.any():
            raise ValueError(f"index {indices[outside][0]} is outside 0..{self.half - 1}")
        sequences = np.zeros((indices.size, self.length), dtype=np.int64)
        free = self.length - 2 if self.m >= 2 else -1
        radices = np.array(self.radices, dtype=np.int64)
        unranks = _unranks.python_if_small(sequences.size * self.length)
        unranks(indices, np.asarray(signs, dtype=np.int64), radices, free, sequences)
        return sequences


def lehmer_digits(sequence) -> list[int]:
    """Return all m digits of a sequence of distinct comparable members."""
    return [sum(later < member for later in sequence[i + 1 :]) for i, member in enumerate(sequence)]


@kernel
def _ranks(sequences, radices, index, sign):
    """Write the rank of each sequence. index, sign: int64[N] of zeros."""
    count, length = sequences.shape
    for n in range(count):
        for i in range(length):
            digit = 0
            for j in range(i + 1, length):
                digit += sequences[n, j] < sequences[n, i]
            sign[n] ^= digit & 1
            if i < radices.size:
                index[n] = index[n] * radices[i] + digit


@kernel
def _unranks(indices, signs, radices, free, sequences):
    """Write the sequences. free: the position whose digit follows from the sign, -1 if there is
    none."""
    for n in range(indices.size):
        sequence, quotient, total = sequences[n], indices[n], 0
        for i in range(radices.size - 1, -1, -1):
            sequence[i] = quotient % radices[i]
            quotient //= radices[i]
            total += sequence[i]
        if free >= 0:
            sequence[free] = (total + signs[n]) & 1
        # Digit i counts the smaller members after position i, whose order is already right.
        for i in range(sequence.size - 2, -1, -1):
            for j in range(i + 1, sequence.size):
                if sequence[j] >= sequence[i]:
                    sequence[j] += 1
