"""Beam searches of additive positions, against the distances of all positions."""

import random

import numpy as np
import pytest

from frontier.solving import beam
from frontier.solving.beam import beam_for, beam_within
from frontier.solving.group_states import distance_of, state_of
from frontier.solving.paths import BLANK, no_stop
from tests.support.additive_databases import additive_of
from tests.support.coset_boards import rows_of, some_boards
from tests.support.reference_cosets import board_of
from tests.support.sweeps import swept

CASES = [
    ((2, 3), (0, 0), (2, 3)),
    ((3, 2), (1, 1), (5,)),
    ((2, 4), (0, 1), (4, 3)),
    ((4, 2), (2, 1), (1,) * 7),
    ((3, 3), (1, 1), (4, 4)),
]
each_case = swept(("shape", "blank", "sizes"), CASES, few=[CASES[0], CASES[2]])


def tables_of(shape, blank, sizes):
    return additive_of(shape, blank, sizes)[0].tables


def inversions(row):
    tiles = [tile for tile in row.tolist() if tile != BLANK]
    return sum(a > b for i, a in enumerate(tiles) for b in tiles[i + 1 :])


@each_case
def test_a_wide_beam_finds_all_there_is_and_a_narrow_one_nothing_else(shape, blank, sizes):
    """One that keeps all positions decides; of the others some solve what they can. A solution
    that is found leads home."""
    board, tables = board_of(*shape, blank), tables_of(shape, blank, sizes)
    rng = random.Random(2)
    memory = beam_for(tables, 20_000, no_stop(), trace=True)
    solved = {1: 0, 10: 0, 20_000: 0}
    for tiles in some_boards(board, rng, 60):
        (row,), distance = rows_of(board, [tiles]), board.distances[tiles]
        for limit in {distance, distance - 1, distance - 2, distance + 6, rng.randrange(30)}:
            for width in solved:
                length, nodes = beam_within(row, max(0, limit), width, tables, memory)
                assert 0 <= nodes <= width * max(0, limit)
                if length >= 0:
                    assert distance <= length <= max(0, limit)
                    blanks = [board.reading[cell] for cell in memory.blanks[1 : length + 1]]
                    assert board.leads_home(tiles, blanks)
                    assert length == distance or width < 20_000
                solved[width] += length >= 0
            assert (length >= 0) == (distance <= max(0, limit))
    assert 0 < solved[1] < solved[20_000]
    assert 0 < solved[10] <= solved[20_000]


def test_the_nearest_positions_are_kept():
    """By their scores."""
    board, tables = board_of(2, 4, (0, 1)), tables_of((2, 4), (0, 1), (4, 3))
    memory = beam_for(tables, 64, no_stop())
    tiles = next(tiles for tiles in board.distances if len(board.near(tiles)) == 3)
    (row,) = rows_of(board, [tiles])
    for width in (1, 2, 3, 64):
        beam_within(row, 0, width, tables, memory)  # the first layer is made
        memory.counts[:] = 0
        listed, _ = beam._list_moves(0, 1, 1, 99, tables, memory)
        near = rows_of(board, board.near(tiles))
        assert listed == len(near)
        count = beam._keep_nearest(0, listed, width, 1, tables, memory)
        assert count == min(width, len(near))
        kept = {tuple(of) for of in memory.board[1, :count].tolist()}
        scores = {}
        for there in near:
            bound, blank = 0, int(np.flatnonzero(there == BLANK)[0])
            for view in range(2):
                mask, rank, order = state_of(view, there, blank, tables)
                bound += distance_of(view, np.uint64(mask), rank, order, blank, tables)
            scores[tuple(there.tolist())] = bound + beam.INVERSION_WEIGHT * inversions(there)
        assert kept <= scores.keys()
        worst = max(scores[of] for of in kept)
        assert all(score >= worst for of, score in scores.items() if of not in kept)


def test_a_search_is_stopped():
    board, tables, stop = board_of(2, 3, (0, 0)), tables_of((2, 3), (0, 0), (2, 3)), no_stop()
    memory = beam_for(tables, 100, stop)
    (row,) = rows_of(board, [max(board.distances, key=board.distances.get)])
    assert beam_within(row, 30, 100, tables, memory)[0] == 21
    stop[:] = 1
    assert beam_within(row, 30, 100, tables, memory) == (-1, 0)


@pytest.mark.parametrize("width", [1, 2, 7])
def test_scores_beyond_the_counts(monkeypatch, width):
    """They are taken for the greatest one."""
    monkeypatch.setattr(beam, "SCORES", 3)
    board, tables = board_of(2, 3, (0, 0)), tables_of((2, 3), (0, 0), (2, 3))
    memory = beam_for(tables, width, no_stop())
    for tiles in some_boards(board, random.Random(3), 50):
        (row,) = rows_of(board, [tiles])
        length, nodes = beam_within(row, 40, width, tables, memory)
        assert length == -1 or board.distances[tiles] <= length <= 40
        assert nodes <= 40 * width
    assert np.count_nonzero(memory.counts) <= 3
