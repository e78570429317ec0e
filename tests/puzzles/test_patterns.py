"""Patterns: whole searches, and what can be reached, compared with dictionaries of boards."""

import random
from itertools import permutations
from math import comb, factorial, perm

import pytest

from frontier.puzzles import pattern_puzzle
from tests.support.reference_patterns import (
    CASES,
    FEW_CASES,
    LIKE,
    assert_layers,
    column_labels,
    home,
    layers_by,
    lists_of,
    masked,
    memory_sizes,
    position_of,
    shaped,
    step_layers,
)
from tests.support.reference_search import bfs_layers, blank_moves
from tests.support.sweeps import swept

# --- whole searches


def all_columns(k, most=100_000):
    """All n to 12 for which the 2 x n pattern has at most that many positions."""
    return [n for n in range(max(2, k), 13) if perm(2 * n, len(column_labels(n, k)) + 1) <= most]


@swept(
    ("k", "columns"),
    [(k, n) for k in (1, 2, 3) for n in all_columns(k)],
    few=[(k, n) for k in (1, 2, 3) for n in all_columns(k)[:2]],
)
def test_layers_of_columns(k, columns):
    """The right-most columns of 2 x n, whole layers where there are not many positions."""
    puzzle, labels = pattern_puzzle(2, columns, k=k), column_labels(columns, k)
    assert puzzle.model.labelled == labels
    expected = step_layers.__wrapped__(2, columns, home(2 * columns), labels)
    if puzzle.states <= 4000:
        assert_layers(puzzle, expected)
    sizes = [len(layer) for layer in expected]
    assert [layer.size for layer in lists_of(puzzle)] == sizes
    assert puzzle.states == sum(sizes)
    assert memory_sizes(puzzle, 1) == sizes


def test_columns_are_all_that_are_small():
    assert all_columns(1) == list(range(2, 13))
    assert all_columns(2) == [2, 3, 4, 5, 6]
    assert all_columns(3) == [3, 4]


MORE_CASES = [
    ((3, 3), home(9), (1,)),
    ((3, 3), home(9), (1, 2)),
    ((3, 3), (8, 7, 6, 0, 4, 3, 2, 5, 1), (3, 5, 8)),
    ((2, 4), (1, 2, 3, 4, 5, 6, 7, 0), (2, 3, 7)),
    ((4, 2), (3, 2, 5, 0, 1, 4, 7, 6), (1, 4, 6)),
    ((1, 9), (3, 2, 5, 0, 1, 4, 7, 8, 6), (2, 7)),
    ((2, 5), home(10), (4, 6)),
    ((5, 2), home(10), (1, 9)),
]


@pytest.mark.parametrize("metric", ["step", "labelled"])
@swept(("shape", "goal", "labels"), [*CASES, *MORE_CASES], few=[*FEW_CASES, *MORE_CASES[:4]])
def test_layers(shape, goal, labels, metric):
    puzzle = pattern_puzzle(*shape, labels=labels, goal=shaped(goal, shape[1]), metric=metric)
    assert_layers(puzzle, layers_by(puzzle, goal, metric))


@swept(
    ("shape", "labels"),
    [((3, 3), (1, 2, 3, 4)), ((3, 3), (2, 4, 5, 7, 8)), ((2, 4), (1, 2, 4, 5, 6, 7)),
     ((3, 4), (4, 7, 11)), ((4, 3), (1, 2, 3))], few=1,
)  # fmt: skip
@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_layer_sizes_of_more_positions(shape, labels, metric):
    puzzle = pattern_puzzle(*shape, labels=labels, metric=metric)
    expected = [len(layer) for layer in layers_by(puzzle, home(puzzle.cells), metric)]
    assert [layer.size for layer in lists_of(puzzle)] == expected
    assert puzzle.states == sum(expected)


@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("fewer", [0, 1])
def test_all_columns_or_all_but_one_are_the_whole_puzzle(columns, fewer):
    """With the blank in the first column, at most one tile is left unlabelled."""
    puzzle = pattern_puzzle(2, columns, k=columns - fewer)
    assert len(puzzle.model.labelled) == 2 * columns - 1 - fewer
    expected = [len(layer) for layer in bfs_layers(2, columns)]
    assert [layer.size for layer in lists_of(puzzle)] == expected
    assert puzzle.states == sum(expected) == (12 if columns == 2 else factorial(2 * columns) // 2)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (1, 4), (4, 1)])
def test_all_tiles_labelled_are_the_whole_puzzle(shape):
    goal = home(shape[0] * shape[1])
    for metric in ("step", "labelled"):
        puzzle = pattern_puzzle(*shape, labels=goal[1:], metric=metric)
        layers = bfs_layers(*shape, goal)
        assert_layers(puzzle, [{position_of(puzzle, board) for board in at} for at in layers])


THESIS = {
    1: {2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54},
    2: {2: 6, 3: 21, 4: 35, 5: 48, 6: 61, 7: 74},
    3: {3: 21, 4: 36, 5: 54, 6: 71},
}


@swept(
    ("k", "columns", "depth"),
    [(k, n, d) for k, depths in THESIS.items() for n, d in depths.items()],
    few=[(k, n, d) for k, depths in THESIS.items() for n, d in depths.items() if n < 5],
)
def test_known_depths(k, columns, depth):
    puzzle = pattern_puzzle(2, columns, k=k)
    sizes = memory_sizes(puzzle, 2)
    assert len(sizes) - 1 == depth
    assert sum(sizes) == puzzle.states


@swept(("rows", "columns"), [(2, 3), (3, 2), (2, 4)], few=2)
def test_patterns_bound_the_whole_puzzle(rows, columns):
    """No position is nearer than its pattern; where only moves of labelled tiles count, the
    distances of patterns without a common tile add up to a bound."""
    cells = rows * columns
    labels = (home(cells)[1 : cells // 2], home(cells)[cells // 2 :])
    found = {}
    for metric in ("step", "labelled"):
        for part in labels:
            puzzle = pattern_puzzle(rows, columns, labels=part, metric=metric)
            found[metric, part] = (
                puzzle,
                {
                    (puzzle.model.space.side_of(depth), number): depth
                    for depth, layer in enumerate(lists_of(puzzle))
                    for number in layer.tolist()
                },
            )
    exact = 0
    for depth, layer in enumerate(bfs_layers(rows, columns)):
        for board in random.Random(depth).sample(sorted(layer), min(40, len(layer))):
            near = {
                key: depths[puzzle.model.space.number(*puzzle.model.state(board))]
                for key, (puzzle, depths) in found.items()
            }
            assert max(near["step", part] for part in labels) <= depth
            assert sum(near["labelled", part] for part in labels) <= depth
            exact += sum(near["labelled", part] for part in labels) == depth
    assert exact > 10


# --- what can be reached


@pytest.mark.parametrize("metric", ["step", "labelled"])
@swept(("shape", "goal", "labels"), CASES, few=FEW_CASES[::3])
def test_reaches_exactly_what_a_search_reaches(shape, goal, labels, metric):
    puzzle = pattern_puzzle(*shape, labels=labels, goal=shaped(goal, shape[1]), metric=metric)
    reached = set().union(*layers_by(puzzle, goal, metric))
    cells, rng, seen = shape[0] * shape[1], random.Random(7), set()
    for marks in set(permutations(masked(goal, labels))):
        others = [n for n in range(1, cells) if n not in labels]
        rng.shuffle(others)
        board = tuple(others.pop() if n == LIKE else n for n in marks)
        position = position_of(puzzle, board)
        assert puzzle.model.reaches(board) == (position in reached)
        seen.add(position)
    assert reached <= seen
    if min(shape) > 1 and cells > 4:
        assert len(reached) * (1 if cells - 1 - len(labels) > 1 else 2) == len(seen)


@pytest.mark.parametrize("metric", ["step", "labelled"])
@swept(("shape", "unlabelled"), [((2, 4), 0), ((4, 2), 1), ((3, 3), 1)], few=1)
def test_parity_where_at_most_one_tile_is_unlabelled(shape, unlabelled, metric):
    """Then two tiles exchanged cannot be mended, as in the whole puzzle."""
    rows, columns = shape
    cells = rows * columns
    puzzle = pattern_puzzle(rows, columns, labels=range(1 + unlabelled, cells), metric=metric)
    rng = random.Random(cells)
    board = home(cells)
    for _ in range(300):
        board = rng.choice(blank_moves(rows, columns, board))
        one, two = rng.sample(range(1, cells), 2)
        exchanged = tuple({one: two, two: one}.get(n, n) for n in board)
        assert puzzle.model.reaches(board)
        assert not puzzle.model.reaches(exchanged)
    assert puzzle.states == puzzle.model.graph.vertices * factorial(len(puzzle.model.labelled)) // 2


@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_two_like_tiles_mend_the_parity(metric):
    puzzle = pattern_puzzle(3, 3, labels=range(3, 9), metric=metric)
    rng = random.Random(1)
    for _ in range(100):
        assert puzzle.model.reaches(tuple(rng.sample(range(9), 9)))
    assert puzzle.states == puzzle.model.graph.vertices * factorial(6)


@pytest.mark.parametrize(
    ("shape", "k", "states"),
    [
        ((2, 7), 3, 14 * comb(13, 6) * factorial(6)),
        ((2, 8), 3, 16 * comb(15, 6) * factorial(6)),
        ((4, 4), 1, 16 * 15 * 14 * 13 * 12),
        ((2, 30), 1, 60 * 59 * 58),
        ((5, 5), 1, perm(25, 6)),
        ((1, 9), 2, 9),
    ],
)
def test_known_numbers_of_states(shape, k, states):
    assert pattern_puzzle(*shape, k=k).states == states
