"""The lower bound 2n² - n of the 2×n puzzle, against whole searches of small boards."""

import pytest
from thesis.inversions import inversion_formula

from tests.support.reference_search import bfs_layers, blank_moves


def inversions_and_rows(columns, board):
    """(inversions of the sequence read by columns, tiles that are not in their row)."""
    cells = [row * columns + column for column in range(columns) for row in (0, 1)]
    tiles = [board[cell] for cell in cells if board[cell]]
    place = {tile: i for i, tile in enumerate(cells)}  # in the goal, cell c holds tile c
    inversions = sum(place[tiles[i]] > place[tiles[j]] for j in range(len(tiles)) for i in range(j))
    rows = sum(tile // columns != cell // columns for cell, tile in enumerate(board) if tile)
    return inversions, rows


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_no_position_is_nearer_than_its_inversions_and_rows(columns):
    layers = bfs_layers(2, columns)
    sums = {}
    for depth, layer in enumerate(layers):
        for board in layer:
            sums[board] = sum(inversions_and_rows(columns, board))
            assert sums[board] <= depth
    greatest = max(sums.values())
    assert greatest == inversion_formula(columns) <= len(layers) - 1
    turned = tuple(reversed(range(2 * columns)))
    assert [board for board, total in sums.items() if total == greatest] == [turned]


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_every_move_changes_one_of_both_by_one(columns):
    for board in set().union(*bfs_layers(2, columns)[::5]):
        here = inversions_and_rows(columns, board)
        for after in blank_moves(2, columns, board):
            there = inversions_and_rows(columns, after)
            assert sorted(abs(a - b) for a, b in zip(here, there, strict=True)) == [0, 1]


def test_the_bound_is_that_of_the_encyclopedia():
    """OEIS A151943: 1, 6, 21, 36, 55, 80, 108, 140."""
    known = [1, 6, 21, 36, 55, 80, 108, 140]
    bounds = [inversion_formula(columns) for columns in range(1, 10)]
    assert bounds == [1, 6, 15, 28, 45, 66, 91, 120, 153]
    assert all(bound <= depth for bound, depth in zip(bounds, known, strict=False))
