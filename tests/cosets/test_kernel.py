"""The kernels of the search of cosets, one by one, against plain Python; the search, against the
distances of all positions of every coset."""

import random
from itertools import permutations

import numpy as np
import pytest
from cosets.reading import as_homes, from_homes, made, region_of, regions
from cosets.twin import Board, board_of, pattern_of
from hypothesis import given
from hypothesis import strategies as st
from sweeps import swept
from twins import digits, sign

from frontier.cosets import kernel
from frontier.cosets.kernel import (
    FIRST_MIX,
    SECOND_MIX,
    is_new,
    nothing_met,
    region_index,
    region_position,
    scratch_for,
    search_coset,
    search_cosets,
    slide,
)
from frontier.cosets.tables import Tables, far_boards, moves_on, pattern_table, region_table
from frontier.space.lehmer import LehmerCode

WORDS = np.random.default_rng(5).integers(1 << 63, size=(25, 25), dtype=np.uint64)
EVERYTHING = 1 << 40
"""Look-ups that are worth it for each position, where the search is to go on to its end."""


# --- boards of the region as words


def packed(sequence, origins):
    """The word in which bits 4n .. 4n + 3 are the n-th tile of a position."""
    return sum(tile << 4 * int(n) for tile, n in zip(sequence, origins, strict=True))


def radices_of(tiles):
    return np.array(LehmerCode(tiles).radices, dtype=np.int64)


@swept("tiles", range(3, 9), few=4)
def test_positions_and_their_indices(tiles):
    """All of them, in some order of the cells."""
    origins = np.random.default_rng(tiles).permutation(tiles)
    indices = {0: 0, 1: 0}
    for sequence in permutations(range(tiles)):
        odd = sign(sequence)
        position = region_position(
            indices[odd], odd, origins, radices_of(tiles), np.empty(tiles, dtype=np.int64)
        )
        assert position == packed(sequence, origins)
        assert region_index(origins, np.uint64(position), radices_of(tiles)) == indices[odd]
        indices[odd] += 1


@given(st.integers(3, 15).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 2)))
def test_positions_and_their_indices_with_up_to_15_tiles(case):
    sequence, origins = case
    tiles, origins = len(sequence), np.array(origins)
    position, index = packed(sequence, origins), 0
    for digit, radix in zip(digits(sequence), range(tiles, 2, -1), strict=False):
        index = index * radix + digit
    assert region_index(origins, np.uint64(position), radices_of(tiles)) == index
    scratch = np.empty(tiles, dtype=np.int64)
    assert position == region_position(index, sign(sequence), origins, radices_of(tiles), scratch)


# --- boards and their sums


def sum_of(board):
    """The sum, without carry, of the words of all tiles in their cells."""
    total = 0
    for cell, thing in enumerate(board):
        total ^= int(WORDS[thing, cell]) if thing >= 0 else 0
    return total


@swept("metric", ["step", "multi"], few=2)
@swept("shape", [(2, 3), (3, 2), (3, 4), (5, 5)], few=3)
def test_slides(shape, metric):
    """A walk through boards, there and, every other time, back."""
    board, moves, rng = Board(*shape, (0, 0), metric), moves_on(*shape, metric), random.Random(3)
    tiles = board.goal
    things = np.array([tiles[cell] - 1 for cell in board.reading])
    blank, total = 0, np.uint64(0)
    start = sum_of(things)
    for _ in range(200):
        k = rng.choice(np.flatnonzero(moves.target[blank] >= 0))
        target, stride = moves.target[blank, k], moves.stride[blank, k]
        before = things.copy()
        total = slide(things, blank, target, stride, total, WORDS)
        there = {there.index(0): there for there in board.near(tiles)}[board.reading[target]]
        assert things.tolist() == [there[cell] - 1 for cell in board.reading]
        assert int(total) ^ start == sum_of(things)
        if rng.random() < 0.5:
            total = slide(things, target, blank, -stride, total, WORDS)
            assert things.tolist() == before.tolist()
            assert int(total) ^ start == sum_of(before)
        else:
            tiles, blank = there, target


# --- boards met


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 250)), max_size=80), st.integers(8, 12)
)
def test_boards_met(visits, bits):
    """Where no two boards share an entry: a board is new unless it was met as early."""
    table, met = nothing_met(bits), {}
    # Sums whose keys begin with different bits.
    back = pow(int(SECOND_MIX), -1, 1 << 64)
    sums = [(n << 58 | 12345 * n) * back % (1 << 64) for n in range(31)]
    for board, depth in visits:
        expected = depth < met.get(board, 256)
        assert is_new(np.uint64(sums[board]), depth, table) == expected
        met[board] = min(depth, met.get(board, 256))


@given(
    st.integers(0, 2**64 - 1), st.integers(0, 63), st.integers(0, 250), st.sampled_from([8, 15, 18])
)
def test_a_board_is_never_taken_for_one_of_another_sum(total, bit, depth, bits):
    """Whichever bit of their keys is different."""
    table = nothing_met(bits)
    other = ((total * int(SECOND_MIX)) ^ 1 << bit) * pow(int(SECOND_MIX), -1, 1 << 64)
    assert is_new(np.uint64(total), depth, table)
    assert is_new(np.uint64(other % (1 << 64)), depth, table)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 250)), max_size=300))
def test_a_board_that_is_not_new_was_met(visits):
    table, met = nothing_met(8), {}
    for total, depth in [*visits, *visits[::-1]]:
        if not is_new(np.uint64(total), depth, table):
            assert met[total] <= depth
        met[total] = min(depth, met.get(total, 256))
