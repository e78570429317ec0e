"""Beam searches of additive positions, against the distances of all positions."""

import random
from functools import cache

import numpy as np
import pytest
from frontier.cosets.groups import distance_of

from frontier.puzzles import tile_puzzle
from frontier.solve import beam
from frontier.solve.additive import Additive
from frontier.solve.beam import beam_for, beam_within
from frontier.solve.paths import BLANK, no_stop
from tests.support.coset_boards import made, rows_of, some_boards
from tests.support.reference_cosets import board_of
from tests.support.sweeps import swept

CASES = [
    ((2, 3), (0, 0), (2, 3)),
    ((3, 2), (1, 1), (5,)),
    ((2, 4), (0, 1), (4, 3)),
    ((4, 2), (2, 1), (1,) * 7),
    ((3, 3), (1, 1), (4, 4)),
]
each_case = swept(("shape", "blank", "sizes"), CASES, few=3)


@cache
def additive_of(shape, blank, sizes):
    return Additive(tile_puzzle(*shape, blank=blank), sizes, 2, made)


def search(additive, row, limit, width, memory):
    """Whether a solution was found, and the nodes."""
    vertices, numbers = (states[0, 0] for states in additive.states(row[None]))
    return beam_within(row, vertices, numbers, limit, width, additive.tables, memory)


def inversions(row):
    tiles = [tile for tile in row.tolist() if tile != BLANK]
    return sum(a > b for i, a in enumerate(tiles) for b in tiles[i + 1 :])


@each_case
def test_a_wide_beam_finds_all_there_is_and_a_narrow_one_nothing_else(shape, blank, sizes):
    """One that keeps all positions decides; of the others some solve what they can."""
    board, additive = board_of(*shape, blank), additive_of(shape, blank, sizes)
    rng = random.Random(2)
    memory = beam_for(len(board.goal), len(sizes), 20_000, no_stop())
    solved = {1: 0, 10: 0, 20_000: 0}
    for tiles in some_boards(board, rng, 60):
        (row,), distance = rows_of(board, [tiles]), board.distances[tiles]
        for limit in {distance, distance - 1, distance - 2, distance + 6, rng.randrange(30)}:
            for width in solved:
                found, nodes = search(additive, row, max(0, limit), width, memory)
                assert not found or distance <= max(0, limit)
                assert 0 <= nodes <= width * max(0, limit)
                solved[width] += found
            assert found == (distance <= max(0, limit))
    assert 0 < solved[1] < solved[20_000]
    assert 0 < solved[10] <= solved[20_000]


def test_the_nearest_positions_are_kept():
    """By their scores."""
    board, additive = board_of(2, 4, (0, 1)), additive_of((2, 4), (0, 1), (4, 3))
    memory = beam_for(8, 2, 64, no_stop())
    tiles = next(tiles for tiles in board.distances if len(board.near(tiles)) == 3)
    (row,) = rows_of(board, [tiles])
    for width in (1, 2, 3, 64):
        search(additive, row, 0, width, memory)  # the first layer is made
        memory.counts[:] = 0
        tables = additive.tables
        listed, _ = beam._list_moves(0, 1, 1, 99, tables, memory)
        near = rows_of(board, board.near(tiles))
        assert listed == len(near)
        count = beam._keep_nearest(0, listed, width, tables, memory)
        assert count == min(width, len(near))
        kept = {tuple(of) for of in memory.board[1, :count].tolist()}
        scores = {}
        for there in near:
            vertices, numbers = (states[0, 0] for states in additive.states(there[None]))
            bound = sum(
                distance_of(0, tables.region[v], n, tables.arcs, tables)
                for v, n in zip(vertices, numbers, strict=True)
            )
            scores[tuple(there.tolist())] = bound + beam.INVERSION_WEIGHT * inversions(there)
        assert kept <= scores.keys()
        worst = max(scores[of] for of in kept)
        assert all(score >= worst for of, score in scores.items() if of not in kept)


def test_a_search_is_stopped():
    board, additive, stop = board_of(2, 3, (0, 0)), additive_of((2, 3), (0, 0), (2, 3)), no_stop()
    memory = beam_for(6, 2, 100, stop)
    (row,) = rows_of(board, [max(board.distances, key=board.distances.get)])
    assert search(additive, row, 30, 100, memory)[0]
    stop[:] = 1
    assert search(additive, row, 30, 100, memory) == (False, 0)


@pytest.mark.parametrize("width", [1, 2, 7])
def test_scores_beyond_the_counts(monkeypatch, width):
    """They are taken for the greatest one."""
    monkeypatch.setattr(beam, "SCORES", 3)
    board, additive = board_of(2, 3, (0, 0)), additive_of((2, 3), (0, 0), (2, 3))
    memory = beam_for(6, 2, width, no_stop())
    for tiles in some_boards(board, random.Random(3), 50):
        (row,) = rows_of(board, [tiles])
        found, nodes = search(additive, row, 40, width, memory)
        assert not found or board.distances[tiles] <= 40
        assert nodes <= 40 * width
    assert np.count_nonzero(memory.counts) <= 3
