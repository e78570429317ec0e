"""Neighbour swaps inside a row of bitmap words.

A *row* is consecutive words of one bitmap: all words that share their leading Lehmer digits. If
both digits of positions i and i+1 come after these, the swap of the positions moves bits only
within the row. The place of the digits decides what moves (see `frontier.space.lehmer`):

* both number words: stretches of whole words move;
* radices 6 and 5, the border between words and bits: a 6 x 5 exchange of 12-bit fields among
  six words;
* radices 5, 4 or 4, 3, both inside the word: each bit moves by a distance that depends only on
  the pair of digits, so the swap is a few masked shifts, one for each distance;
* radix 3 and the dropped 2: digit a of radix 3 turns by one. With b the dropped digit, the pairs
  (a, b) give a as 00 -> 1, 11 -> 2, 20 -> 0 and 01 -> 2, 21 -> 1, 10 -> 0, and b is the parity of
  a plus q, where q is the sign of the sequence plus all its other digits: for q = 0 each group of
  three bits turns up, for q = 1 down;
* the last two positions: only the dropped digit and the sign change, so nothing moves.

Every kernel here *ors* the image of the source row into the target row, because a layer is the
union of the images of the layer before.
"""

import numpy as np

from frontier.jit import kernel
from frontier.space.lehmer import WORD_RADICES, LehmerCode, digit_sum, swap_digits, swapped_pairs

FULL = np.uint64((1 << 60) - 1)


def _shifts(radix_a: int, radix_b: int, stride_a: int, stride_b: int) -> dict[int, int]:
    """Return for each distance the mask of the bits of a word that move by it."""
    masks: dict[int, int] = {}
    for bit in range(60):
        a, b = bit // stride_a % radix_a, bit // stride_b % radix_b
        new_a, new_b = swap_digits.function(a, b)
        distance = (new_a - a) * stride_a + (new_b - b) * stride_b
        masks[distance] = masks.get(distance, 0) | 1 << bit
    return masks


def _bits(condition) -> np.uint64:
    return np.uint64(sum(1 << bit for bit in range(60) if condition(bit)))


_54 = _shifts(5, 4, 12, 3)
_43 = _shifts(4, 3, 3, 1)
assert sorted(_54) == [-39, -30, -21, -12, 12, 21, 30, 39]
assert sorted(_43) == [-7, -5, -3, 3, 5, 7]
U12, U21, U30, U39 = (np.uint64(_54[d]) for d in (12, 21, 30, 39))
D12, D21, D30, D39 = (np.uint64(_54[-d]) for d in (12, 21, 30, 39))
U3, U5, U7 = (np.uint64(_43[d]) for d in (3, 5, 7))
D3, D5, D7 = (np.uint64(_43[-d]) for d in (3, 5, 7))
S1, S2, S3, S5, S7 = (np.uint64(d) for d in (1, 2, 3, 5, 7))
S12, S21, S24, S30, S36, S39, S48 = (np.uint64(d) for d in (12, 21, 24, 30, 36, 39, 48))
F0, F1, F2, F3, F4 = (np.uint64(0xFFF << 12 * field) for field in range(5))

# The digit of radix 3 is 0, 1 or 2. In EVEN, the digits of radix 5 and 4 add up to an even number.
A0, A1, A2 = (_bits(lambda bit, a=a: bit % 3 == a) for a in range(3))
A01, A12 = A0 | A1, A1 | A2
EVEN = _bits(lambda bit: (bit // 12 + bit // 3 % 4) % 2 == 0)

# What a swap does depends on where its digits lie.
NOTHING, TURN, SWAP_43, SWAP_54, FIELDS, STRETCHES, GATHER = range(7)


def swap_kind(code: LehmerCode, i: int) -> int:
    """Return the kind of the swap of positions i and i+1, one of those above."""
    if i + 1 < len(code.leading):
        return STRETCHES if stretch_words(code, i) >= 8 else GATHER
    return (NOTHING, TURN, SWAP_43, SWAP_54, FIELDS)[code.length - 2 - i]


def stretch_words(code: LehmerCode, i: int) -> int:
    """Return the number of words in a stretch that the swap of positions i and i+1 moves as a
    whole."""
    return code.strides[i + 1] // code.bits


def gather_table(code: LehmerCode, i: int) -> np.ndarray:
    """Return for each word of a period (digits i and i+1), uint32, the word that moves to it."""
    size, pairs = stretch_words(code, i), swapped_pairs(code.radices[i], code.radices[i + 1])
    return (pairs[:, None] * size + np.arange(size)).astype(np.uint32).ravel()


def word_parities(code: LehmerCode, row_words: int) -> np.ndarray:
    """Return the parities of the digits that number the words of a row: uint64, all ones for an odd
    parity."""
    odd = digit_sum(np.arange(row_words), code.leading) % 2 == 1
    return np.where(odd, FULL, np.uint64(0))


@kernel
def clear(row):
    for j in range(row.size):
        row[j] = 0


@kernel
def or_copy(target, source):
    for j in range(target.size):
        target[j] |= source[j]


@kernel
def or_stretches(target, source, radix_a, radix_b, stretch):
    """Exchange stretches of `stretch` words, numbered by two digits, in each period."""
    for start in range(0, target.size, radix_a * radix_b * stretch):
        for a in range(radix_a):
            for b in range(radix_b):
                first, second = swap_digits(a, b)
                t = start + (a * radix_b + b) * stretch
                s = start + (first * radix_b + second) * stretch
                or_copy(target[t : t + stretch], source[s : s + stretch])


@kernel
def or_gather(target, source, table, begin, end):
    """Move words in each period as the table at table[begin:end] says."""
    period = end - begin
    for start in range(0, target.size, period):
        for j in range(period):
            target[start + j] |= source[start + table[begin + j]]


@kernel
def or_fields(target, source):
    """Exchange digits of radix 6 (the word) and 5 (its 12-bit field).

    Field b of word a comes from field a of word b + 1 for a <= b, else from field a - 1 of word b.
    The assignments are written out, so that the compiler works on several groups of six words at a
    time.
    """
    for six in range(target.size // 6):
        start = 6 * six
        x0 = source[start + 0]
        x1 = source[start + 1]
        x2 = source[start + 2]
        x3 = source[start + 3]
        x4 = source[start + 4]
        x5 = source[start + 5]
        target[start + 0] |= (
            (x1 & F0)
            | ((x2 & F0) << S12)
            | ((x3 & F0) << S24)
            | ((x4 & F0) << S36)
            | ((x5 & F0) << S48)
        )
        target[start + 1] |= (
            (x0 & F0) | (x2 & F1) | ((x3 & F1) << S12) | ((x4 & F1) << S24) | ((x5 & F1) << S36)
        )
        target[start + 2] |= (
            ((x0 & F1) >> S12) | (x1 & F1) | (x3 & F2) | ((x4 & F2) << S12) | ((x5 & F2) << S24)
        )
        target[start + 3] |= (
            ((x0 & F2) >> S24) | ((x1 & F2) >> S12) | (x2 & F2) | (x4 & F3) | ((x5 & F3) << S12)
        )
        target[start + 4] |= (
            ((x0 & F3) >> S36) | ((x1 & F3) >> S24) | ((x2 & F3) >> S12) | (x3 & F3) | (x5 & F4)
        )
        target[start + 5] |= (
            ((x0 & F4) >> S48)
            | ((x1 & F4) >> S36)
            | ((x2 & F4) >> S24)
            | ((x3 & F4) >> S12)
            | (x4 & F4)
        )


@kernel
def or_swap_54(target, source):
    for j in range(target.size):
        x = source[j]
        target[j] |= (
            ((x & U12) << S12)
            | ((x & U21) << S21)
            | ((x & U30) << S30)
            | ((x & U39) << S39)
            | ((x & D12) >> S12)
            | ((x & D21) >> S21)
            | ((x & D30) >> S30)
            | ((x & D39) >> S39)
        )


@kernel
def or_swap_43(target, source):
    for j in range(target.size):
        x = source[j]
        target[j] |= (
            ((x & U3) << S3)
            | ((x & U5) << S5)
            | ((x & U7) << S7)
            | ((x & D3) >> S3)
            | ((x & D5) >> S5)
            | ((x & D7) >> S7)
        )


@kernel
def or_turn(target, source, parities, odd):
    """Turn the digit of radix 3. `odd` is the sign plus the row's own digits, modulo 2."""
    flip = EVEN
    if odd:
        flip = EVEN ^ FULL
    for j in range(target.size):
        x = source[j]
        up = x & (flip ^ parities[j])
        down = x ^ up
        target[j] |= (
            ((up & A01) << S1) | ((up & A2) >> S2) | ((down & A12) >> S1) | ((down & A0) << S2)
        )


assert WORD_RADICES == (5, 4, 3)
