"""Each kernel on whole bitmaps of half of S_m, compared with swaps of actual sequences."""

from functools import cache
from math import prod

import numpy as np
import pytest

from frontier.kernels.expand_rows import live_rows, or_swap
from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.lehmer import LehmerCode
from frontier.space.program import swaps_of
from frontier.space.swaps import (
    FIELDS,
    GATHER,
    NOTHING,
    STRETCHES,
    SWAP_43,
    SWAP_54,
    TURN,
    gather_table,
    or_copy,
    or_fields,
    or_gather,
    or_stretches,
    or_swap_43,
    or_swap_54,
    or_turn,
    stretch_words,
    swap_kind,
    word_parities,
)
from frontier.space.words import count_bits
from tests.support.reference_search import digits, indices, numbered, swapped
from tests.support.sweeps import swept
from tests.support.whole_searches import graph_of

SIGNS = [0, 1]


@cache
def image(m, i, odd):
    """index -> index under the swap of positions i and i+1 of the sequences of one sign."""
    return [indices(m)[swapped(sequence, i)][0] for sequence in numbered(m, odd)]


def bitmap(code, members):
    """A bitmap with the given members, set one by one."""
    row = [0] * code.words
    for index in members:
        row[index // code.bits] |= 1 << index % code.bits
    return np.array(row, dtype=np.uint64)


@cache
def row_swaps(m, digits_fixed=0):
    """The kernel's tables for the rows that share their first digits."""
    layout = Layout(Space(graph_of(1, m, []), [(0, 0)]), digits_fixed, 1)
    assert layout.row_words == prod(LehmerCode(m).leading[digits_fixed:])
    return swaps_of(layout)


def by_table(target, source, m, i, odd):
    or_swap(target, source, i, odd, tuple(row_swaps(m)))


def by_blocks(target, source, m, i, odd):
    or_stretches(target, source, m - i, m - i - 1, stretch_words(LehmerCode(m), i))


def by_gather(target, source, m, i, odd):
    table = gather_table(LehmerCode(m), i)
    or_gather(target, source, table, 0, table.size)


def by_turn(target, source, m, i, odd):
    or_turn(target, source, word_parities(LehmerCode(m), source.size), odd)


def kernels(m, i):
    """All the ways to do a swap, by where its two digits are."""
    inside = {
        3: by_turn,
        4: lambda target, source, *_: or_swap_43(target, source),
        5: lambda target, source, *_: or_swap_54(target, source),
        6: lambda target, source, *_: or_fields(target, source),
    }
    return [by_table, *([inside[m - i]] if m - i in inside else [by_blocks, by_gather])]


SWAPS = [(m, i) for m in range(3, 9) for i in range(m - 2)]


@pytest.mark.parametrize("odd", SIGNS)
@swept(("m", "i"), [(m, i) for m, i in SWAPS if m <= 7], few=[(m, i) for m, i in SWAPS if m <= 6])
def test_swap_of_a_single_state(m, i, odd):
    code = LehmerCode(m)
    for kernel in kernels(m, i):
        for index, to in enumerate(image(m, i, odd)):
            target = np.zeros(code.words, dtype=np.uint64)
            kernel(target, bitmap(code, [index]), m, i, odd)
            assert np.flatnonzero(target).tolist() == [to // code.bits]
            assert int(target[to // code.bits]) == 1 << to % code.bits


@pytest.mark.parametrize("odd", SIGNS)
@swept(("m", "i"), SWAPS, few=6)
def test_swap_of_a_set_is_ored_into_the_target(m, i, odd):
    code, rng = LehmerCode(m), np.random.default_rng(10 * m + i)
    to = image(m, i, odd)
    for share in (0.001, 0.1, 0.5, 1.0):
        source = np.flatnonzero(rng.random(code.half) < share)
        before = np.flatnonzero(rng.random(code.half) < 0.1)
        expected = bitmap(code, [*before.tolist(), *(to[index] for index in source.tolist())])
        row = bitmap(code, source.tolist())
        for kernel in kernels(m, i):
            target, kept = bitmap(code, before.tolist()), row.copy()
            kernel(target, row, m, i, odd)
            assert np.array_equal(target, expected)
            assert np.array_equal(row, kept)


@pytest.mark.parametrize("odd", SIGNS)
@pytest.mark.parametrize("m", range(3, 13))
def test_swap_undoes_itself(m, odd):
    fixed = max(0, m - 9)  # a whole bitmap is too long for a row
    code, rng, swaps = LehmerCode(m), np.random.default_rng(m), row_swaps(m, fixed)
    for i in range(fixed, m - 2):
        row = rng.integers(1, 1 << code.bits, swaps.parities.size, dtype=np.uint64)
        row[0] = 1
        there, back = np.zeros_like(row), np.zeros_like(row)
        or_swap(there, row, i, odd, tuple(swaps))
        or_swap(back, there, i, 1 - odd, tuple(swaps))
        assert np.array_equal(back, row)
        assert not np.array_equal(there, row)
        assert np.bitwise_count(there).sum() == np.bitwise_count(row).sum()


@pytest.mark.parametrize("odd", SIGNS)
@swept("m", range(2, 9), few=range(2, 8))
def test_swap_of_the_last_two_moves_nothing(m, odd):
    code = LehmerCode(m)
    assert swap_kind(code, m - 2) == NOTHING
    assert image(m, m - 2, odd) == list(range(code.half))


@pytest.mark.parametrize("odd", SIGNS)
@swept("m", [6, 7, 8], few=[6, 7])
def test_swap_in_each_row_of_many(m, odd):
    """A row that shares its first digits is swapped as that part of the bitmap is."""
    code, rng = LehmerCode(m), np.random.default_rng(m)
    for row_digits in range(len(code.leading) + 1):
        swaps = row_swaps(m, row_digits)
        size = swaps.parities.size
        for i in range(row_digits, m - 2):
            source = np.flatnonzero(rng.random(code.half) < 0.3).tolist()
            row = bitmap(code, source)
            expected = bitmap(code, [image(m, i, odd)[index] for index in source])
            target = np.zeros_like(row)
            for first in range(0, code.words, size):
                fixed = digits(numbered(m, odd)[first * code.bits])[:row_digits]
                here = slice(first, first + size)
                or_swap(target[here], row[here], i, (odd + sum(fixed)) % 2, tuple(swaps))
            assert np.array_equal(target, expected)


@pytest.mark.parametrize("m", [6, 7, 8])
def test_word_parities(m):
    code = LehmerCode(m)
    for fixed in range(len(code.leading) + 1):
        # the first row, whose fixed digits are all 0
        row_words = prod(code.leading[fixed:])
        parities = word_parities(code, row_words).tolist()
        first_of_word = numbered(m, 0)[:: code.bits][:row_words]
        assert parities == [
            (2**60 - 1) * (sum(digits(sequence)[: len(code.leading)]) % 2)
            for sequence in first_of_word
        ]


def test_copy_is_an_or():
    target = np.array([0b0011, 0b0100, 0], dtype=np.uint64)
    or_copy(target, np.array([0b0101, 0, 1 << 63], dtype=np.uint64))
    assert target.tolist() == [0b0111, 0b0100, 1 << 63]


def test_every_kind_of_swap_is_met():
    kinds = {swap_kind(LehmerCode(m), i) for m, i in [*SWAPS, (9, 0), (3, 1)]}
    assert kinds == {
        NOTHING,
        TURN,
        SWAP_43,
        SWAP_54,
        FIELDS,
        STRETCHES,
        GATHER,
    }


def test_counts_of_bits():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 1 << 64, 1000, dtype=np.uint64, endpoint=False)
    numbers = np.concatenate([numbers, np.array([0, 1, 1 << 63, 2**64 - 1], dtype=np.uint64)])
    expected = [bin(number).count("1") for number in numbers.tolist()]
    assert [int(count_bits(number)) for number in numbers] == expected


def test_live_rows():
    arena = np.zeros(12, dtype=np.uint64)
    arena[[3, 5, 11]] = 1, 1 << 63, 7
    live = np.ones((2, 2), dtype=bool)
    live_rows(arena, 3, live, np.arange(2))
    assert live.tolist() == [[False, True], [False, True]]
    live_rows(arena, 2, live := np.zeros((6, 1), dtype=bool), np.arange(6))
    assert live[:, 0].tolist() == [False, True, True, False, False, True]
    live_rows(arena, 3, live := np.full((4, 1), True), np.array([2, 0]))
    assert live[:, 0].tolist() == [False, True, False, True]
