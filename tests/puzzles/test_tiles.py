import gc
import random
from itertools import permutations
from math import factorial
from weakref import ref

import pytest

from frontier.config.loading import make_config
from frontier.errors import InputError
from frontier.puzzles import puzzle_of, tile_puzzle
from tests.support.reference_search import blank_moves
from tests.support.sweeps import swept
from tests.support.tile_boards import (
    AT_MOST_6,
    FEW_SHAPES,
    SHAPES,
    shaped,
    with_blank_at,
)
from tests.support.whole_searches import arcs_of, origins_of


def transposed(cells, columns):
    """A flat board mirrored in its diagonal, flat again."""
    return tuple(cell for column in range(columns) for cell in cells[column::columns])


# --- boards and states


@swept("shape", AT_MOST_6, few=[shape for shape in AT_MOST_6 if shape != (3, 2)])
def test_boards_and_states_correspond_one_to_one(shape):
    rows, columns = shape
    puzzle = tile_puzzle(rows, columns)
    boards = list(permutations(range(rows * columns)))
    if min(shape) == 1:
        boards = [board for board in boards if puzzle.model.reaches(board)]
    states = {puzzle.model.state(board) for board in boards}
    assert (
        len(states) == len(boards) == puzzle.model.graph.vertices * factorial(puzzle.model.graph.m)
    )


def test_the_goal_is_the_sequence_in_order():
    puzzle = tile_puzzle(2, 3, goal=((5, 1, 0), (3, 2, 4)))
    assert puzzle.goals == ((5, 1, 0, 3, 2, 4),)
    assert puzzle.model.state(puzzle.goals[0]) == (4, (0, 1, 2, 3, 4))
    assert origins_of(puzzle) == [(4, (0, 1, 2, 3, 4))]


@pytest.mark.parametrize(
    ("board", "state"),
    [
        ((0, 1, 2, 3, 4, 5), (0, (0, 1, 2, 3, 4))),
        ((3, 1, 2, 0, 4, 5), (1, (0, 1, 2, 3, 4))),
        ((1, 0, 2, 3, 4, 5), (2, (1, 0, 2, 3, 4))),
    ],
)
def test_states_of_2x3_by_hand(board, state):
    """Reading column by column, the default goal is 0 3 1 4 2 5."""
    assert tile_puzzle(2, 3).model.state(board) == state


def test_the_default_goal_has_the_blank_first():
    assert tile_puzzle(2, 3).goals == ((0, 1, 2, 3, 4, 5),)
    assert tile_puzzle(3, 1).goals == ((0, 1, 2),)
    assert tile_puzzle(1, 1).goals == ((0,),)


def test_title():
    assert tile_puzzle(2, 7).title == "2×7 tiles"


# --- moves


@swept("shape", SHAPES, few=FEW_SHAPES)
def test_with_every_arc_comes_the_one_that_undoes_it(shape):
    arcs = arcs_of(tile_puzzle(*shape).model.graph)
    assert len(set(arcs)) == len(arcs)
    assert {(v, u, word[::-1]) for u, v, word in arcs} == set(arcs)


@swept("shape", SHAPES, few=FEW_SHAPES)
def test_turned_boards_have_the_same_graph(shape):
    rows, columns = shape
    graph, turned = tile_puzzle(rows, columns).model.graph, tile_puzzle(columns, rows).model.graph
    assert graph.vertices == turned.vertices == rows * columns
    assert graph.m == turned.m
    assert graph.voltages == turned.voltages
    assert sorted(arcs_of(graph)) == sorted(arcs_of(turned))


@swept("shape", [(2, 4), (3, 4), (2, 7), (1, 6)], few=2)
def test_turned_boards_have_the_same_states(shape):
    rows, columns = shape
    rng = random.Random(rows * columns)
    board = tuple(rng.sample(range(rows * columns), rows * columns))
    puzzle = tile_puzzle(rows, columns, shaped(board, columns))
    turned = tile_puzzle(columns, rows, shaped(transposed(board, columns), rows))
    for _ in range(200):
        board = rng.choice(blank_moves(rows, columns, board))
        assert puzzle.model.state(board) == turned.model.state(transposed(board, columns))


@swept(
    "shape",
    [shape for shape in SHAPES if min(shape) > 1],
    few=[shape for shape in FEW_SHAPES if min(shape) > 1],
)
def test_tiles_are_read_along_the_shorter_side(shape):
    """A move along it changes nothing, a move across it jumps over the rest of a line."""
    line = min(shape)
    lengths = {len(word) for word in tile_puzzle(*shape).model.graph.voltages}
    assert lengths == {0, line - 1}
    assert all(
        word in {(), *_turns(line, shape)} for word in tile_puzzle(*shape).model.graph.voltages
    )


def _turns(line, shape):
    """The words that turn `line` neighbouring tiles by one, either way."""
    for first in range(shape[0] * shape[1] - line):
        yield tuple(range(first, first + line - 1))
        yield tuple(reversed(range(first, first + line - 1)))


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (1, 9), (25, 1)])
def test_one_line_has_no_sequence(shape):
    puzzle = tile_puzzle(*shape)
    cells = shape[0] * shape[1]
    graph = puzzle.model.graph
    assert (graph.vertices, graph.m) == (cells, 0)
    assert sorted(arcs_of(graph)) == sorted(
        (p, q, ()) for p in range(cells) for q in (p - 1, p + 1) if 0 <= q < cells
    )
    assert puzzle.states == cells
    for place in range(cells):
        board = with_blank_at(range(cells), place)
        assert puzzle.model.state(board) == (place, ())
        assert puzzle.model.board((place, ())) == board


# --- puzzles and boards that are given


def test_puzzle_of_settings():
    settings = {"kind": "tiles", "rows": 2, "columns": 2, "goal": [[1, 2], [3, 0]]}
    puzzle = puzzle_of(settings)
    assert puzzle.kind == "tiles"
    assert (puzzle.grid.rows, puzzle.grid.columns, puzzle.goals) == (2, 2, ((1, 2, 3, 0),))
    assert settings["kind"] == "tiles"


def test_a_puzzle_is_made_once_and_goes_with_who_has_it():
    settings = {"kind": "tiles", "rows": 2, "columns": 2}
    config = make_config("x", settings)
    puzzle = config.make_puzzle()
    assert puzzle_of(config.puzzle_settings) is puzzle
    there = ref(puzzle)
    del puzzle
    gc.collect()
    assert config.make_puzzle() is there()
    del config
    gc.collect()
    assert there() is None


def test_a_line_says_that_its_tiles_keep_their_order():
    with pytest.raises(InputError, match="keep their order"):
        tile_puzzle(1, 4, start=((0, 3, 2, 1),)).check()
    with pytest.raises(InputError, match="rows of 3"):
        tile_puzzle(1, 3).parse(((0, 1), (2,)))
    with pytest.raises(InputError, match="write whole numbers"):
        tile_puzzle(2, 2).parse("1 ._ 2 3")
