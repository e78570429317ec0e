"""Shortest sequences of the one-column pattern, against a dictionary search that counts."""

from itertools import pairwise, permutations

import pytest
from thesis.manhattan import manhattan_formula
from thesis.sequences import (
    farthest_of_one_column,
    replayed,
    thesis_sequence,
)

from tests.support.reference_search import attaining_formula, blank_moves, layers_of, sign

DEPTHS = {1: 1, 2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54}
SEQUENCES = {1: 1, 2: 2, 3: 8, 4: 12, 5: 24, 6: 40, 7: 60}
STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def masked(columns, board):
    """The board with the tiles of the last column alone told apart."""
    return tuple(tile if tile in (0, columns - 1, 2 * columns - 1) else -1 for tile in board)


def goal_of(columns):
    return masked(columns, range(2 * columns))


def farthest_board(columns):
    """The labelled tiles in the left column, the blank in the last cell of the top row."""
    board = [-1] * (2 * columns)
    board[0], board[columns], board[columns - 1] = columns - 1, 2 * columns - 1, 0
    return tuple(board)


def walked(columns, board, steps):
    """The boards on the way of a blank that takes these steps."""
    cells, boards = dict(enumerate(board)), []
    for step in steps:
        blank = next(cell for cell, tile in cells.items() if tile == 0)
        row, column = (a + b for a, b in zip(divmod(blank, columns), STEPS[step], strict=True))
        assert 0 <= row < 2
        assert 0 <= column < columns
        there = row * columns + column
        cells[blank], cells[there] = cells[there], 0
        boards.append(tuple(cells[i] for i in range(2 * columns)))
    return boards


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_farthest_positions_and_sequences_of_a_dictionary_search(columns):
    def near(board):
        return blank_moves(2, columns, board)

    layers = layers_of([goal_of(columns)], near)
    ways = {goal_of(columns): 1}
    for before, layer in pairwise(layers):
        for board in layer:
            ways[board] = sum(ways[other] for other in near(board) if other in before)
    found = farthest_of_one_column(columns)
    assert found.depth == len(layers) - 1 == DEPTHS[columns]
    positions = [masked(columns, board) for board in found.positions]
    assert len(positions) == len(set(positions))
    assert set(positions) == layers[-1]
    assert found.sequences == sum(ways[board] for board in layers[-1]) == SEQUENCES[columns]


@pytest.mark.parametrize("columns", range(4, 13))
def test_depth_and_number_of_sequences_follow_a_formula(columns):
    found = farthest_of_one_column(columns)
    assert found.depth == 9 * (columns - 1)
    assert found.sequences == 2 * (columns - 1) * (columns - 2)
    assert [masked(columns, b) for b in found.positions] == [farthest_board(columns)]


@pytest.mark.parametrize("columns", range(4, 31))
def test_the_thesis_s_sequence_leads_to_the_goal(columns):
    steps = thesis_sequence(columns)
    assert len(steps) == 9 * (columns - 1)
    boards = walked(columns, farthest_board(columns), steps)
    assert boards[-1] == goal_of(columns)
    assert goal_of(columns) not in boards[:-1]
    assert replayed(columns, farthest_board(columns), steps) == boards[-1]


def test_a_sequence_that_is_not_quite_the_thesis_s():
    """So the test above can fail."""
    steps = thesis_sequence(6)
    shorter, fewer = steps[:-1], steps.replace("RRRDLLU", "RRDLLU", 1)
    assert replayed(6, farthest_board(6), shorter) != goal_of(6)
    for other in (fewer, steps[::-1]):
        with pytest.raises(ValueError, match="leaves the board"):
            replayed(6, farthest_board(6), other)


def test_boards_are_replayed_step_by_step():
    board = (1, 2, 0, 5, 3, 4)
    for steps in ("L", "LL", "D", "DLLURRDL", "LDRU" * 5):
        assert replayed(3, board, steps) == walked(3, board, steps)[-1]
    assert replayed(3, board, "") == board
    assert replayed(3, board, "LR") == board


@pytest.mark.parametrize("steps", ["U", "R", "DD", "LLL", "DR", "LLDLU"])
def test_steps_over_the_border(steps):
    with pytest.raises(ValueError, match=rf"step {steps[-1] if steps != 'LLDLU' else 'L'} leaves"):
        replayed(3, (1, 2, 0, 5, 3, 4), steps)


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_boards_that_attain_the_greatest_sum(columns):
    """Those of all permutations of the right parity."""

    def total(board):
        homes = [(divmod(tile, columns), divmod(cell, columns)) for cell, tile in board if tile]
        return sum(abs(r - rr) + abs(c - cc) for (r, c), (rr, cc) in homes)

    sums = {}
    for board in permutations(range(2 * columns)):
        row, column = divmod(board.index(0), columns)
        if columns == 1 or (sign(board) + row + column) % 2 == 0:
            sums.setdefault(total(list(enumerate(board))), []).append(board)
    assert max(sums) == manhattan_formula(columns)
    assert len(sums[max(sums)]) == attaining_formula(columns)
