"""Which boards of a tile puzzle can be reached."""

import random
from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.puzzles import tile_puzzle
from tests.support.reference_search import bfs_layers, blank_moves, sign
from tests.support.sweeps import swept
from tests.support.tile_boards import AT_MOST_6, AT_MOST_8, puzzles_and_boards, shaped


def goals(shape):
    """The default goal and two others, one of either parity where there is a choice."""
    cells = list(range(shape[0] * shape[1]))
    rng = random.Random(sum(shape))
    shuffled = rng.sample(cells, len(cells))
    exchanged = [*shuffled[:-2], *reversed(shuffled[-2:])]
    return [tuple(goal) for goal in (cells, shuffled, exchanged)]


@swept(
    ("shape", "goal"),
    [(shape, goal) for shape in AT_MOST_6 for goal in goals(shape)],
    few=[
        (shape, goal)
        for shape in AT_MOST_6
        if 6 not in shape and shape != (3, 2)
        for goal in goals(shape)[-2:]
    ],
)
def test_reaches_exactly_what_a_search_reaches(shape, goal):
    rows, columns = shape
    puzzle = tile_puzzle(rows, columns, goal=shaped(goal, columns))
    reached = set().union(*bfs_layers(rows, columns, goal))
    for cells in permutations(range(rows * columns)):
        assert puzzle.model.reaches(cells) == (cells in reached)


@pytest.mark.parametrize("shape", AT_MOST_8)
def test_states_are_those_of_a_search(shape):
    assert tile_puzzle(*shape).states == sum(map(len, bfs_layers(*shape)))


@pytest.mark.parametrize(
    ("shape", "states"),
    [((3, 3), 181_440), ((2, 5), 1_814_400), ((4, 4), 10_461_394_944_000), ((25, 1), 25)],
)
def test_known_numbers_of_states(shape, states):
    assert tile_puzzle(*shape).states == states


@given(puzzles_and_boards(most=12), st.data())
def test_moves_keep_what_can_be_reached(case, data):
    puzzle, board = case
    reaches = puzzle.model.reaches(board)
    for _ in range(data.draw(st.integers(0, 30))):
        moves = blank_moves(puzzle.grid.rows, puzzle.grid.columns, board)
        if moves:
            board = data.draw(st.sampled_from(moves))
    assert puzzle.model.reaches(board) == reaches
    assert puzzle.model.reaches(puzzle.goals[0])


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 6), (2, 9)])
def test_two_tiles_exchanged_cannot_be_mended(rows, columns):
    """Sam Loyd's puzzle, on larger boards than a search can try."""
    puzzle, rng = tile_puzzle(rows, columns), random.Random(rows)
    board = tuple(range(rows * columns))
    for _ in range(200):
        board = rng.choice(blank_moves(rows, columns, board))
    exchanged = tuple({1: 2, 2: 1}.get(tile, tile) for tile in board)
    assert puzzle.model.reaches(board)
    assert not puzzle.model.reaches(exchanged)
    assert puzzle.states == factorial(rows * columns) // 2


@swept("shape", AT_MOST_6, few=[shape for shape in AT_MOST_6 if shape != (3, 2)])
def test_the_space_holds_exactly_what_can_be_reached(shape):
    rows, columns = shape
    puzzle = tile_puzzle(rows, columns)
    space = puzzle.model.space
    numbers = set()
    for cells in permutations(range(rows * columns)):
        if puzzle.model.reaches(cells):
            numbers.add(space.number(*puzzle.model.state(cells)))
        elif min(shape) > 1:
            assert space.number(*puzzle.model.state(cells)) is None
    assert numbers == {
        (c, n) for c in range(space.sides) for n in range(space.nodes[c] * space.code.half)
    }
    assert puzzle.states == space.states


def test_the_sign_is_the_same_for_all_boards_of_a_blank():
    """What makes half of the lift unreachable: the blank's cell fixes the sign."""
    puzzle, signs = tile_puzzle(2, 3), {}
    for layer in bfs_layers(2, 3):
        for cells in layer:
            vertex, sequence = puzzle.model.state(cells)
            signs.setdefault(vertex, set()).add(sign(sequence))
    assert all(len(found) == 1 for found in signs.values())
    assert len(signs) == 6
