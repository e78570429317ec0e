"""Additive databases, against searches by dictionary."""

import random

import numpy as np
import pytest

from frontier.puzzles import pattern_puzzle, tile_puzzle
from frontier.solving.additive import seen_as
from frontier.solving.group_states import distance_after, distance_of, moved, state_of
from frontier.solving.paths import no_stop
from frontier.solving.symmetry import mirrored, symmetries
from tests.support.additive_databases import additive_of
from tests.support.coset_boards import from_homes, rows_of, some_boards
from tests.support.reference_cosets import blank_cells, board_of, pattern_of
from tests.support.sweeps import cases, swept, tried

SIZES = {
    (2, 3): [(2, 3), (1,) * 5, (5,)],
    (3, 2): [(3, 2), (4, 1)],
    (2, 4): [(4, 3), (1, 6), (7,)],
    (4, 2): [(2, 3, 2), (1,) * 7],
    (3, 3): [(4, 4), (1, 3, 4), (8,)],
}
CASES = [
    (shape, blank, of_shape[i % len(of_shape)], *[i // len(of_shape) % 2 == 1] * 2)
    for shape, of_shape in SIZES.items()
    for i, blank in enumerate(blank_cells(*shape))
]
"""Each blank cell, and all sizes both as runs of tiles and as compact groups that share their
databases."""

FEW = [
    ((2, 3), (0, 0), (2, 3), False, False),
    ((2, 3), (1, 1), (1,) * 5, True, True),
    ((2, 4), (0, 3), (4, 3), True, True),
    ((4, 2), (2, 0), (2, 3, 2), False, False),
]


@pytest.fixture(scope="module", params=cases(CASES, few=FEW))
def made(request):
    """(board, the databases, the homes of the tiles of each group)"""
    shape, blank, *how = request.param
    return board_of(*shape, blank), *additive_of(shape, blank, *how)


def tiles_of(board, homes):
    """The tiles with these homes."""
    return [board.goal[board.reading[home]] for home in homes]


def states_of(row, tables):
    """(mask, rank, order, distance) of a position in each view."""
    blank, states = int(np.flatnonzero(row < 0)[0]), []
    for view in range(len(tables.cell)):
        mask, rank, order = state_of(view, row, blank, tables)
        seen = int(tables.cell[view, blank])
        far = distance_of(view, np.uint64(mask), rank, order, seen, tables)
        states.append((mask, rank, order, far))
    return states


def test_distances_in_groups(made):
    """In each view: those of the mirror image of the position in the view's group."""
    board, additive, groups = made
    tables, home = additive.tables, board.reading.index(board.goal.index(0))
    grid = tile_puzzle(board.rows, board.columns, blank=board.blank).grid
    pictures = [np.arange(len(board.goal)), *symmetries(grid, home)]
    assert len(tables.sides) == len(pictures)
    distances = [board.moves_of(tiles_of(board, homes)) for homes in groups]
    farthest = 0
    for row in rows_of(board, some_boards(board, random.Random(1), tried(150, 600))):
        expected = []
        for picture in pictures:
            image = from_homes(board, mirrored(row[None], picture)[0])
            expected += [
                distance[pattern_of(image, tiles_of(board, homes))]
                for distance, homes in zip(distances, groups, strict=True)
            ]
        assert [far for *_, far in states_of(row, tables)] == expected
        farthest = max(farthest, *expected)
    assert farthest > 2


def test_moves_lead_to_the_states_of_the_boards_that_they_make(made):
    """Along random walks; a move changes the state of the tile's group, and no other one."""
    (board, additive, _), rng = made, random.Random(2)
    tables = additive.tables
    for tiles in some_boards(board, rng, 45)[::4]:
        (row,) = rows_of(board, [tiles])
        states = states_of(row, tables)
        for _ in range(20):
            at = int(np.flatnonzero(row < 0)[0])
            k = rng.choice(np.flatnonzero(tables.moves.target[at] >= 0).tolist())
            target = int(tables.moves.target[at, k])
            tile = int(row[target])
            row[[at, target]] = row[[target, at]]
            for view in tables.group[:, tile].tolist():
                mask, rank, order, far = states[view]
                *after, number = moved(
                    int(tables.table[view]), int(tables.turn[view, at, k]), np.uint64(mask), rank,
                    order, tables,
                )  # fmt: skip
                states[view] = (*after, distance_after(far, number, tables))
            assert states == states_of(row, tables)


def test_the_bound_is_the_greatest_sum_of_distances(made):
    """It is at most the distance, of the same parity, and 0 only at the goal."""
    board, additive, groups = made
    decider, greatest = additive.decider(no_stop()), 0
    boards = some_boards(board, random.Random(3), tried(300, 1000))
    for tiles, row in zip(boards, rows_of(board, boards), strict=True):
        bound, states = decider.bound(row), np.array(states_of(row, additive.tables))
        least = states[:, 3].reshape(len(additive.tables.sides), len(groups)).sum(axis=1).max()
        assert least <= bound <= board.distances[tiles]
        assert (board.distances[tiles] - bound) % 2 == 0
        assert bound == least or min(board.rows, board.columns) == 2  # where inversions say more
        assert (bound == 0) == (tiles == board.goal)
        assert len(groups) > 1 or bound == board.distances[tiles] or tiles != board.goal
        greatest = max(greatest, bound)
    assert greatest > 10


def test_bounds_of_many_positions(made):
    """Of boards of six cells; of every third one of eight cells, and every ninth of nine."""
    board, additive, _ = made
    decider = additive.decider(no_stop())
    boards = list(board.distances)[:: {6: 1, 8: 3, 9: 9}[len(board.goal)]]
    for tiles, row in zip(boards, rows_of(board, boards), strict=True):
        assert (tiles != board.goal) <= decider.bound(row) <= board.distances[tiles]


@pytest.mark.parametrize(
    ("shape", "blank", "sizes", "databases"),
    [((3, 3), (0, 0), (1,) * 8, 3), ((2, 3), (0, 1), (1,) * 5, 2), ((2, 3), (0, 0), (2, 3), 2)],
)
def test_groups_in_equal_places_share_a_database(shape, blank, sizes, databases):
    shared, groups = additive_of(shape, blank, sizes, True, True)
    apart, _ = additive_of(shape, blank, sizes, True, False)
    assert shared.tables.first.size == databases
    assert apart.tables.first.size == len(groups)


@swept("shape", [(2, 3), (3, 2), (3, 3), (2, 4)], few=2)
def test_a_database_is_that_of_the_group_as_it_is_seen(shape):
    """Its states are those of the labelled pattern; the layers of a dictionary search have as
    many."""
    puzzle = tile_puzzle(*shape)
    for homes in (np.array([1, 2]), np.array([2, puzzle.cells - 1])):
        database, cells = seen_as(puzzle.grid, homes, 0)
        assert sorted(cells[homes].tolist()) == list(database.homes)
        board = board_of(*shape, (0, 0))
        labels = tiles_of(board, homes)
        pattern = pattern_puzzle(*shape, labels=labels, metric="labelled")
        assert database.pattern.model.states == pattern.model.states
        found = board.moves_of(labels)
        assert max(found.values()) > 3
        shares, table = [], np.zeros(database.words, dtype=np.uint64)
        database.fill(table, 1, shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1
        assert len(shares) == 1 + max(found.values())
