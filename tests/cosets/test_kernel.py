"""The kernels of the search of cosets, one by one, against plain Python; the search, against the
distances of all positions of every coset."""

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.cosets import kernel
from frontier.cosets.kernel import (
    Tables,
    region_index,
    region_position,
    scratch_for,
    search_coset,
    search_cosets,
    slide,
)
from frontier.cosets.patterns import Patterns
from frontier.cosets.regions import far_boards, region_table
from frontier.solving.blank_moves import moves_on
from frontier.solving.paths import BLANK, SECOND_MIX, is_new, no_stop, nothing_met
from frontier.space.lehmer import LehmerCode
from tests.support.coset_boards import as_homes, from_homes, made, region_of, regions
from tests.support.reference_cosets import Board, board_of, pattern_of
from tests.support.reference_search import digits, sign
from tests.support.sweeps import cases, swept

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

    def as_things(tiles):
        return [tiles[cell] - 1 if tiles[cell] else BLANK for cell in board.reading]

    things = np.array(as_things(tiles))
    blank, total = 0, np.uint64(0)
    start = sum_of(things)
    for _ in range(200):
        k = rng.choice(np.flatnonzero(moves.target[blank] >= 0))
        target, stride = moves.target[blank, k], moves.stride[blank, k]
        before = things.copy()
        total = slide(things, blank, target, stride, total, WORDS)
        there = {there.index(0): there for there in board.near(tiles)}[board.reading[target]]
        assert things.tolist() == as_things(there)
        assert int(total) ^ start == sum_of(things)
        if rng.random() < 0.5:
            total = slide(things, target, blank, -stride, total, WORDS)
            assert things.tolist() == before.tolist()
            assert int(total) ^ start == sum_of(before)
        else:
            tiles, blank = there, target


# --- boards met


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 508)), max_size=80), st.integers(9, 12)
)
def test_boards_met(visits, bits):
    """Where no two boards share an entry: a board is new unless it was met as early."""
    table, met = nothing_met(bits), {}
    # Sums whose keys begin with different bits.
    back = pow(int(SECOND_MIX), -1, 1 << 64)
    sums = [(n << 58 | 12345 * n) * back % (1 << 64) for n in range(31)]
    for board, depth in visits:
        expected = depth < met.get(board, 512)
        assert is_new(np.uint64(sums[board]), depth, table) == expected
        met[board] = min(depth, met.get(board, 512))


@given(
    st.integers(0, 2**64 - 1), st.integers(0, 63), st.integers(0, 508), st.sampled_from([9, 15, 18])
)
def test_a_board_is_never_taken_for_one_of_another_sum(total, bit, depth, bits):
    """Whichever bit of their keys is different."""
    table = nothing_met(bits)
    other = ((total * int(SECOND_MIX)) ^ 1 << bit) * pow(int(SECOND_MIX), -1, 1 << 64)
    assert is_new(np.uint64(total), depth, table)
    assert is_new(np.uint64(other % (1 << 64)), depth, table)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 508)), max_size=300))
def test_a_board_that_is_not_new_was_met(visits):
    table, met = nothing_met(9), {}
    for total, depth in [*visits, *visits[::-1]]:
        if not is_new(np.uint64(total), depth, table):
            assert met[total] <= depth
        met[total] = min(depth, met.get(total, 512))


# --- the search


REGIONS = regions([(2, 3), (3, 2)], ("step", "multi"))
MORE_REGIONS = [
    ((2, 4), (0, 0), (0, 0, 2, 3), "step"),
    ((2, 4), (0, 1), (0, 0, 2, 2), "step"),
    ((2, 4), (1, 2), (0, 1, 2, 3), "multi"),
    ((4, 2), (2, 0), (1, 0, 3, 2), "step"),
    ((4, 2), (3, 1), (1, 0, 3, 2), "multi"),
    ((3, 3), (0, 0), (0, 0, 2, 3), "step"),
    ((3, 3), (1, 1), (0, 0, 3, 2), "multi"),
    ((3, 3), (0, 1), (0, 0, 2, 2), "step"),
]
FEW_REGIONS = [REGIONS[0], REGIONS[-2]]


class Cosets:
    """A region's tables, and all of its cosets by the twin."""

    def __init__(self, shape, blank, rectangle, metric):
        self.board = board_of(*shape, blank, metric)
        self.region = region_of(self.board, rectangle)
        self.labelled = self.board.labelled(rectangle)
        self.cosets = self.board.cosets(rectangle)
        self.patterns = self.board.patterns(rectangle)
        self.moves = moves_on(*shape, metric)
        self._patterns = Patterns(self.region, self.moves, 1, made)
        self._boards = region_table(self.region, 1, made)
        self.most = max(self.board.distances.values())
        self.largest = max(map(len, self.cosets.values()))

    def tables(self, least=0):
        """least: the distance of the boards that are listed, at least."""
        return Tables(self.moves, self._patterns.table, far_boards(self._boards, least))

    def scratch(self):
        """Memory for a search of any of them."""
        return scratch_for(len(self.board.goal), self.largest, no_stop())

    def sample(self, rng, count):
        """Some patterns: those that are farthest, those that are home, and others."""
        order = sorted(self.patterns, key=lambda pattern: (self.patterns[pattern], pattern))
        rest = order[5:-5]
        return [*order[:5], *order[-5:], *rng.sample(rest, min(count, len(rest)))]

    def number(self, pattern):
        """The number of a pattern, which `test_patterns.py` tests."""
        return self._patterns.numbers(as_homes(self.board, pattern)[None])[0]

    def whole(self, pattern, position, table):
        """The board of a position that is left open, as its word has it."""
        homes = as_homes(self.board, pattern)
        for cell in np.flatnonzero(homes == kernel.UNLABELLED):
            homes[cell] = table.homes[position & 15]
            position >>= 4
        assert position == 0
        return from_homes(self.board, homes)


@pytest.fixture(scope="module", params=cases([*REGIONS, *MORE_REGIONS], few=FEW_REGIONS))
def cosets(request):
    """Those of a region, for one test after the other."""
    return Cosets(*request.param)


def check_coset(cosets, pattern, limit, worth, tables, scratch, most=10**9):
    """Assert that the search of a coset leaves open what it may; returns how many, its nodes and
    its solutions."""
    number, homes = cosets.number(pattern), as_homes(cosets.board, pattern)
    distance = cosets.patterns[pattern]
    found = search_coset(number, distance, homes, limit, worth, most, tables, scratch)
    words = scratch.open[: found[0]].tolist()
    left = {cosets.whole(pattern, word, tables.boards) for word in words}
    distances = cosets.cosets[pattern]
    farther = {board for board in distances if distances[board] > limit}
    assert len(left) == found[0]
    assert left <= distances.keys()
    assert farther <= left  # all that are settled are near enough
    if worth == EVERYTHING:
        assert left == farther
    return found


def test_cosets(cosets):
    """What is settled takes at most so many moves; what stays open in the end takes more."""
    rng, scratch, tables = random.Random(1), cosets.scratch(), cosets.tables()
    assert sum(map(len, cosets.cosets.values())) == len(cosets.board.distances)
    opened = settled = 0
    for pattern in cosets.sample(rng, 15):
        for limit in sorted({0, 1, cosets.most, cosets.most + 9, *rng.sample(range(2, 21), 2)}):
            for worth in (0, rng.randrange(1, 200), EVERYTHING):
                found = check_coset(cosets, pattern, limit, worth, tables, scratch)
                opened += found[0]
                settled += len(cosets.cosets[pattern]) - found[0]
                assert found[2] >= 1
    assert opened > 100
    assert settled > 100


def test_only_far_boards_need_be_listed(cosets):
    """Those at limit - dB + 1 or farther, for the farthest pattern."""
    scratch, farthest = cosets.scratch(), max(cosets.patterns.values())
    for limit in range(0, cosets.most + 1, 3):
        tables = cosets.tables(max(0, limit - farthest + 1))
        for pattern in cosets.sample(random.Random(limit), 5):
            check_coset(cosets, pattern, limit, EVERYTHING, tables, scratch)


def test_a_coset_that_is_farther_than_the_limit_stays_open():
    """All of it, however few moves are asked for."""
    cosets = Cosets((2, 3), (0, 0), (0, 0, 2, 2), "step")
    scratch, tables = scratch_for(6, 3, no_stop()), cosets.tables()
    for pattern, distance in cosets.patterns.items():
        for limit in range(distance):
            found = check_coset(cosets, pattern, limit, EVERYTHING, tables, scratch)
            assert found[0] == len(cosets.cosets[pattern])


@swept("bits", [8, 9, 12], few=[8])
@swept("case", MORE_REGIONS, few=[MORE_REGIONS[1]])
def test_small_tables_of_boards_met(monkeypatch, bits, case):
    """Most boards are forgotten, and nothing is missed."""
    monkeypatch.setattr(kernel, "MET_BITS", bits)
    cosets, rng = Cosets(*case), random.Random(2)
    scratch, tables = scratch_for(cosets.region.puzzle.cells, 360, no_stop()), cosets.tables()
    assert scratch.met.size == scratch.ends.size == 1 << bits
    for pattern in cosets.sample(rng, 5):
        for limit in (cosets.most - 14, cosets.most - 13):
            check_coset(cosets, pattern, limit, EVERYTHING, tables, scratch)


def test_nothing_is_settled_wrongly_where_all_boards_have_one_sum():
    """Solutions are missed, but for the first one of a coset."""
    cosets = Cosets((2, 4), (0, 0), (0, 0, 2, 3), "step")
    scratch, tables = scratch_for(8, 60, no_stop()), cosets.tables()
    scratch.words[:] = 0
    for pattern in cosets.sample(random.Random(5), 20):
        for limit in (20, 25, cosets.most):
            assert check_coset(cosets, pattern, limit, 10**6, tables, scratch)[2] >= 1


def test_one_coset_leaves_nothing_to_the_next():
    """In any order, with the same memory or with new one."""
    cosets, rng = Cosets((2, 4), (0, 0), (0, 0, 2, 3), "step"), random.Random(3)
    patterns, tables = cosets.sample(rng, 20), cosets.tables()
    used = scratch_for(8, 60, no_stop())
    for _ in range(3):
        rng.shuffle(patterns)
        for pattern in patterns:
            again = check_coset(cosets, pattern, 28, 1000, tables, used)
            anew = check_coset(cosets, pattern, 28, 1000, tables, scratch_for(8, 60, no_stop()))
            assert again[0] == anew[0]


@pytest.mark.sweep
def test_the_search_ends_when_it_is_not_worth_more():
    """After the look-ups that each open position is worth, but not before a first solution."""
    cosets = Cosets((2, 4), (0, 0), (0, 0, 2, 3), "step")
    scratch, tables = scratch_for(8, 60, no_stop()), cosets.tables()
    ended = 0
    for pattern in cosets.sample(random.Random(4), 30):
        first = check_coset(cosets, pattern, 24, 0, tables, scratch)
        if first[0] == 0:
            continue
        for worth in (first[1] // first[0] + 1, 50, 500):
            opened, nodes, _ = check_coset(cosets, pattern, 24, worth, tables, scratch)
            assert first[0] >= opened
            # The solution that ends it may take a look-up of every open position more.
            assert nodes <= max(first[1], worth * first[0]) + first[0]
            ended += opened > 0
        for most in (1, 70):
            opened, nodes, _ = check_coset(cosets, pattern, 24, 10**6, tables, scratch, most)
            assert first[0] >= opened
            assert nodes <= max(first[1], most) + first[0]
    assert ended > 10


# --- some cosets


@swept(("room", "enough"), [(1, 10**9), (2, 10**9), (5, 10**9), (5, 1)], few=[(2, 10**9), (5, 1)])
def test_as_many_cosets_as_have_room(cosets, room, enough):
    """The positions left open by all of them, by calls whose room is a few cosets each, or that end
    with a node."""
    rng, scratch, tables = random.Random(room), cosets.scratch(), cosets.tables()
    patterns = cosets.sample(rng, 12)
    rng.shuffle(patterns)
    limit, first, found, calls = cosets.most * 2 // 3, 0, [], 0
    boards = np.empty((cosets.largest * room, len(cosets.board.goal)), dtype=np.int8)
    numbers = np.array([cosets.number(pattern) for pattern in patterns])
    distances = np.array([cosets.patterns[pattern] for pattern in patterns], dtype=np.uint8)
    homes = np.array([as_homes(cosets.board, pattern) for pattern in patterns])
    while first < numbers.size:
        done, written, nodes, solutions = search_cosets(
            numbers[first:], distances[first:], homes[first:], limit, EVERYTHING, 10**9, enough,
            tables, scratch, boards,
        )  # fmt: skip
        assert done > 0
        assert nodes >= 0
        assert solutions >= done
        found += [from_homes(cosets.board, row) for row in boards[:written]]
        first, calls = first + done, calls + 1
    distances = cosets.board.distances
    labelled = cosets.labelled
    farther = {
        board
        for pattern in patterns
        for board, distance in cosets.cosets[pattern].items()
        if distance > limit
    }
    assert len(found) == len(set(found))
    assert set(found) == farther
    assert {pattern_of(board, labelled) for board in found} <= set(patterns)
    assert all(distances[board] > limit for board in found)
    assert calls >= len(found) / len(boards)
    assert calls > 3 or enough > 1
