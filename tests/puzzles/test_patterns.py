"""Patterns: compared with dictionaries of boards on which all but a few tiles look alike."""

import json
import random
import tracemalloc
from collections import deque
from functools import cache
from itertools import combinations, permutations
from math import comb, factorial, inf, perm

import numpy as np
import pytest
from engine import arcs_of, boards_at, list_layers, origins_of
from hypothesis import given
from hypothesis import strategies as st
from sweeps import swept
from twins import bfs_layers, blank_moves, layers_of, moved

from frontier import api
from frontier.config import Config
from frontier.errors import InputError
from frontier.puzzles import Pattern, puzzle_of
from frontier.puzzles import patterns as patterns_module
from frontier.space.memory import layer_sizes, memory_layout

LIKE = -1
ARROWS = {(-1, 0): "↑", (1, 0): "↓", (0, -1): "←", (0, 1): "→"}
SHAPES = [(rows, columns) for rows in range(1, 13) for columns in range(1, 12 // rows + 1)]


def shaped(cells, columns):
    """A flat board row by row, as a config has it."""
    return tuple(tuple(cells[i : i + columns]) for i in range(0, len(cells), columns))


def masked(board, labelled):
    """A board on which all tiles but the labelled ones look alike."""
    return tuple(n if n == 0 or n in labelled else LIKE for n in board)


def region_of(rows, columns, board):
    """What a position is where the other tiles move freely: the labelled tiles' cells and those
    that the blank reaches without moving one."""
    reached, ahead = set(), [board.index(0)]
    while ahead:
        cell = ahead.pop()
        reached.add(cell)
        for other in range(rows * columns):
            (r, c), (rr, cc) = divmod(cell, columns), divmod(other, columns)
            near = abs(r - rr) + abs(c - cc) == 1
            if near and board[other] <= 0 and other not in reached:
                ahead.append(other)
    labels = tuple((cell, n) for cell, n in enumerate(board) if n > 0)
    return labels, frozenset(reached)


@cache
def step_layers(rows, columns, goal, labelled):
    """Masked boards by the number of moves from the goal."""
    return layers_of([masked(goal, labelled)], lambda board: blank_moves(rows, columns, board))


@cache
def labelled_layers(rows, columns, goal, labelled):
    """Positions (see `region_of`) by the number of moves of labelled tiles from the goal; the
    boards are searched one by one, those that a free move leads to before all others."""
    start = masked(goal, labelled)
    distance, ahead = {start: 0}, deque([start])
    done = set()
    while ahead:
        board = ahead.popleft()
        if board in done:
            continue
        done.add(board)
        for after in blank_moves(rows, columns, board):
            costs = board[after.index(0)] != LIKE
            if distance[board] + costs < distance.get(after, inf):
                distance[after] = distance[board] + costs
                (ahead.append if costs else ahead.appendleft)(after)
    layers = [set() for _ in range(max(distance.values()) + 1)]
    for board, depth in distance.items():
        layers[depth].add(region_of(rows, columns, board))
    assert sum(map(len, layers)) == len(set().union(*layers))
    return layers


def layers_by(puzzle, goal, metric):
    find = step_layers if metric == "step" else labelled_layers
    return find(puzzle.rows, puzzle.columns, goal, puzzle.labelled)


def position_of(puzzle, board):
    """What tells a board from others in this metric."""
    board = masked(board, puzzle.labelled)
    if puzzle.metric == "step":
        return board
    return region_of(puzzle.rows, puzzle.columns, board)


def lists_of(puzzle):
    """The state numbers of all layers."""
    return list_layers(puzzle.space, [puzzle.space.number(*s) for s in origins_of(puzzle)])


def memory_sizes(puzzle, threads):
    """How many states the layers have, by bitmaps."""
    space = puzzle.space
    origins = [space.number(*state) for state in origins_of(puzzle)]
    return list(layer_sizes(space, origins, memory_layout(space, threads), threads))


def assert_layers(puzzle, expected):
    """The engine finds these positions, layer by layer."""
    space, layers = puzzle.space, lists_of(puzzle)
    assert [layer.size for layer in layers] == [len(layer) for layer in expected]
    assert puzzle.states == sum(map(len, expected))
    for depth, (numbers, positions) in enumerate(zip(layers, expected, strict=True)):
        boards = boards_at(space, puzzle, space.class_of(depth), numbers.tolist())
        assert len(boards) == numbers.size
        assert {position_of(puzzle, board) for board in boards} == positions


def home(cells):
    return tuple(range(cells))


def column_labels(columns, k):
    """The tiles of the k right-most columns of the 2 x n board with the blank first."""
    return tuple(n for n in range(1, 2 * columns) if n % columns >= columns - k)


def patterns_of(shape, seed, few=None):
    """(goal, labels): all choices of tiles, or `few` of them, each with a goal of its own."""
    cells, rng = shape[0] * shape[1], random.Random(seed)
    choices = [labels for size in range(1, cells) for labels in combinations(range(1, cells), size)]
    if few:
        choices = rng.sample(choices, few)
    return [(tuple(rng.sample(range(cells), cells)), labels) for labels in choices]


# --- whole searches


def all_columns(k, most=100_000):
    """All n for which the 2 x n pattern has at most that many positions."""
    return [n for n in range(max(2, k), 40) if perm(2 * n, len(column_labels(n, k)) + 1) <= most]


@swept(
    ("k", "columns"),
    [(k, n) for k in (1, 2, 3) for n in all_columns(k)],
    few=[(k, n) for k in (1, 2, 3) for n in all_columns(k)[:2]],
)
def test_layers_of_columns(k, columns):
    """The right-most columns of 2 x n, whole layers where there are not many positions."""
    puzzle, labels = Pattern(2, columns, k=k), column_labels(columns, k)
    assert puzzle.labelled == labels
    expected = step_layers.__wrapped__(2, columns, home(2 * columns), labels)
    if puzzle.states <= 4000:
        assert_layers(puzzle, expected)
    sizes = [len(layer) for layer in expected]
    assert [layer.size for layer in lists_of(puzzle)] == sizes
    assert puzzle.states == sum(sizes)
    assert memory_sizes(puzzle, 1) == sizes


def test_columns_are_all_that_are_small():
    assert all_columns(1) == list(range(2, 24))
    assert all_columns(2) == [2, 3, 4, 5, 6]
    assert all_columns(3) == [3, 4]


CASES = [
    (shape, *pattern)
    for shape in [(1, 2), (1, 3), (1, 5), (4, 1), (2, 2), (2, 3), (3, 2)]
    for pattern in patterns_of(shape, sum(shape))
]
FEW_CASES = [case for case in CASES if case[0][0] * case[0][1] < 6] + CASES[-30::5]
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
    puzzle = Pattern(*shape, labels=labels, goal=shaped(goal, shape[1]), metric=metric)
    assert_layers(puzzle, layers_by(puzzle, goal, metric))


@swept(
    ("shape", "labels"),
    [((3, 3), (1, 2, 3, 4)), ((3, 3), (2, 4, 5, 7, 8)), ((2, 4), (1, 2, 4, 5, 6, 7)),
     ((3, 4), (4, 7, 11)), ((4, 3), (1, 2, 3))], few=1,
)  # fmt: skip
@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_layer_sizes_of_more_positions(shape, labels, metric):
    puzzle = Pattern(*shape, labels=labels, metric=metric)
    expected = [len(layer) for layer in layers_by(puzzle, home(puzzle.cells), metric)]
    assert [layer.size for layer in lists_of(puzzle)] == expected
    assert puzzle.states == sum(expected)


@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("fewer", [0, 1])
def test_all_columns_or_all_but_one_are_the_whole_puzzle(columns, fewer):
    """With the blank in the first column, at most one tile is left unlabelled."""
    puzzle = Pattern(2, columns, k=columns - fewer)
    assert len(puzzle.labelled) == 2 * columns - 1 - fewer
    expected = [len(layer) for layer in bfs_layers(2, columns)]
    assert [layer.size for layer in lists_of(puzzle)] == expected
    assert puzzle.states == sum(expected) == (12 if columns == 2 else factorial(2 * columns) // 2)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (1, 4), (4, 1)])
def test_all_tiles_labelled_are_the_whole_puzzle(shape):
    goal = home(shape[0] * shape[1])
    for metric in ("step", "labelled"):
        puzzle = Pattern(*shape, labels=goal[1:], metric=metric)
        layers = bfs_layers(*shape, goal)
        assert_layers(puzzle, [{position_of(puzzle, board) for board in at} for at in layers])


THESIS = {
    1: {2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54},
    2: {2: 6, 3: 21, 4: 35, 5: 48, 6: 61, 7: 74},
    3: {3: 21, 4: 36, 5: 54, 6: 71},
}


@pytest.mark.parametrize(
    ("k", "columns", "depth"),
    [(k, n, d) for k, depths in THESIS.items() for n, d in depths.items()],
)
def test_known_depths(k, columns, depth):
    puzzle = Pattern(2, columns, k=k)
    sizes = memory_sizes(puzzle, 2)
    assert len(sizes) - 1 == depth
    assert sum(sizes) == puzzle.states


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2), (2, 4)])
def test_patterns_bound_the_whole_puzzle(rows, columns):
    """No position is nearer than its pattern; where only moves of labelled tiles count, the
    distances of patterns without a common tile add up to a bound."""
    cells = rows * columns
    labels = (home(cells)[1 : cells // 2], home(cells)[cells // 2 :])
    found = {}
    for metric in ("step", "labelled"):
        for part in labels:
            puzzle = Pattern(rows, columns, labels=part, metric=metric)
            found[metric, part] = (
                puzzle,
                {
                    (puzzle.space.class_of(depth), number): depth
                    for depth, layer in enumerate(lists_of(puzzle))
                    for number in layer.tolist()
                },
            )
    exact = 0
    for depth, layer in enumerate(bfs_layers(rows, columns)):
        for board in random.Random(depth).sample(sorted(layer), min(40, len(layer))):
            near = {
                key: depths[puzzle.space.number(*puzzle.state(board))]
                for key, (puzzle, depths) in found.items()
            }
            assert max(near["step", part] for part in labels) <= depth
            assert sum(near["labelled", part] for part in labels) <= depth
            exact += sum(near["labelled", part] for part in labels) == depth
    assert exact > 10


# --- what can be reached


@pytest.mark.parametrize("metric", ["step", "labelled"])
@swept(("shape", "goal", "labels"), CASES, few=FEW_CASES)
def test_reaches_exactly_what_a_search_reaches(shape, goal, labels, metric):
    puzzle = Pattern(*shape, labels=labels, goal=shaped(goal, shape[1]), metric=metric)
    reached = set().union(*layers_by(puzzle, goal, metric))
    cells, rng, seen = shape[0] * shape[1], random.Random(7), set()
    for marks in set(permutations(masked(goal, labels))):
        others = [n for n in range(1, cells) if n not in labels]
        rng.shuffle(others)
        board = tuple(others.pop() if n == LIKE else n for n in marks)
        position = position_of(puzzle, board)
        assert puzzle.reaches(board) == (position in reached)
        seen.add(position)
    assert reached <= seen
    if min(shape) > 1 and cells > 4:
        assert len(reached) * (1 if cells - 1 - len(labels) > 1 else 2) == len(seen)


@pytest.mark.parametrize("metric", ["step", "labelled"])
@pytest.mark.parametrize(("shape", "unlabelled"), [((2, 4), 0), ((4, 2), 1), ((3, 3), 1)])
def test_parity_where_at_most_one_tile_is_unlabelled(shape, unlabelled, metric):
    """Then two tiles exchanged cannot be mended, as in the whole puzzle."""
    rows, columns = shape
    cells = rows * columns
    puzzle = Pattern(rows, columns, labels=range(1 + unlabelled, cells), metric=metric)
    rng = random.Random(cells)
    board = home(cells)
    for _ in range(300):
        board = rng.choice(blank_moves(rows, columns, board))
        one, two = rng.sample(range(1, cells), 2)
        exchanged = tuple({one: two, two: one}.get(n, n) for n in board)
        assert puzzle.reaches(board)
        assert not puzzle.reaches(exchanged)
    assert puzzle.states == puzzle.graph.vertices * factorial(len(puzzle.labelled)) // 2


@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_two_like_tiles_mend_the_parity(metric):
    puzzle = Pattern(3, 3, labels=range(3, 9), metric=metric)
    rng = random.Random(1)
    for _ in range(100):
        assert puzzle.reaches(tuple(rng.sample(range(9), 9)))
    assert puzzle.states == puzzle.graph.vertices * factorial(6)


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
    assert Pattern(*shape, k=k).states == states


# --- boards and states


@st.composite
def patterns(draw):
    """(pattern, its goal, a board of numbers, which need not be reachable)"""
    rows, columns = draw(st.sampled_from([shape for shape in SHAPES if shape != (1, 1)]))
    cells = rows * columns
    goal = tuple(draw(st.permutations(range(cells))))
    board = tuple(draw(st.permutations(range(cells))))
    labels = draw(st.permutations(range(1, cells)))[: draw(st.integers(1, cells - 1))]
    metric = draw(st.sampled_from(["step", "labelled"]))
    puzzle = Pattern(rows, columns, labels=labels, goal=shaped(goal, columns), metric=metric)
    return puzzle, goal, board


@given(patterns())
def test_board_undoes_state(case):
    puzzle, _, board = case
    vertex, sequence = puzzle.state(board)
    assert 0 <= vertex < puzzle.graph.vertices
    assert sorted(sequence) == list(range(len(puzzle.labelled))) == list(range(puzzle.graph.m))
    again = puzzle.board((vertex, sequence))
    assert sorted(again) == list(range(puzzle.cells))
    assert position_of(puzzle, again) == position_of(puzzle, board)
    assert puzzle.state(again) == (vertex, sequence)


@given(patterns(), st.data())
def test_state_undoes_board(case, data):
    puzzle, *_ = case
    vertex = data.draw(st.integers(0, puzzle.graph.vertices - 1))
    sequence = tuple(data.draw(st.permutations(range(puzzle.graph.m))))
    assert puzzle.state(puzzle.board((vertex, sequence))) == (vertex, sequence)


@given(patterns())
def test_the_goal_is_the_sequence_in_order(case):
    puzzle, goal, _ = case
    (origin,) = origins_of(puzzle)
    assert origin == puzzle.state(goal) == puzzle.state(puzzle.goals[0])
    assert origin[1] == tuple(range(len(puzzle.labelled)))
    assert [masked(board, puzzle.labelled) for board in puzzle.goals] == [
        masked(goal, puzzle.labelled)
    ]
    assert puzzle.reaches(goal)


@given(patterns(), st.randoms())
def test_like_tiles_are_interchangeable(case, rng):
    puzzle, _, board = case
    others = [n for n in range(1, puzzle.cells) if n not in puzzle.labelled]
    mixed = dict(zip(others, rng.sample(others, len(others)), strict=True))
    other = tuple(mixed.get(n, n) for n in board)
    assert puzzle.state(other) == puzzle.state(board)
    assert puzzle.reaches(other) == puzzle.reaches(board)

    def look(board):
        return [(p.label, p.kind, p.cells) for p in puzzle.picture(board).parts if p.label]

    for show in (puzzle.line, puzzle.write, look):
        assert show(other) == show(board)
    rows = shaped(board, puzzle.columns), shaped(other, puzzle.columns)
    assert puzzle.parse(rows[0]) == puzzle.parse(rows[1])


@given(patterns())
def test_labelled_tiles_are_not_interchangeable(case):
    puzzle, _, board = case
    for one, two in combinations(puzzle.labelled, 2):
        other = tuple({one: two, two: one}.get(n, n) for n in board)
        assert puzzle.state(other) != puzzle.state(board)


@pytest.mark.parametrize("metric", ["step", "labelled"])
@swept(("shape", "goal", "labels"), CASES, few=FEW_CASES)
def test_boards_and_states_correspond_one_to_one(shape, goal, labels, metric):
    puzzle = Pattern(*shape, labels=labels, goal=shaped(goal, shape[1]), metric=metric)
    boards = list(permutations(range(puzzle.cells)))
    vertex, sequence = puzzle.states_of(np.array(boards))
    state_of = {}
    for board, v, s in zip(boards, vertex.tolist(), sequence.tolist(), strict=True):
        state_of.setdefault(masked(board, labels), set()).add((v, tuple(s)))
    assert all(len(states) == 1 for states in state_of.values())
    positions = {position_of(puzzle, board): states for board, states in state_of.items()}
    assert len(set().union(*state_of.values())) == len(positions)
    assert len(positions) == puzzle.graph.vertices * factorial(len(labels))


def test_states_of_2x3_by_hand():
    """Read column by column: 0 3 1 4 2 5 at the goal; of 2 and 5, 2 comes first."""
    puzzle = Pattern(2, 3, k=1)
    assert puzzle.reading.tolist() == [0, 3, 1, 4, 2, 5]
    assert puzzle.members.tolist() == [2, 5]
    last = comb(5, 2) - 1  # the last two places
    assert puzzle.state((0, 1, 2, 3, 4, 5)) == (6 * last, (0, 1))
    assert puzzle.state((1, 3, 5, 4, 0, 2)) == (6 * last + 3, (1, 0))
    assert puzzle.state((2, 1, 3, 5, 4, 0)) == (5, (0, 1))


# --- moves


@given(patterns())
def test_arcs_are_moves(case):
    puzzle, _, board = case
    vertex, sequence = puzzle.state(board)
    after = {
        position_of(puzzle, puzzle.board((target, moved(sequence, word))))
        for source, target, word in arcs_of(puzzle.graph)
        if source == vertex
    }
    rows, columns = puzzle.rows, puzzle.columns
    start = masked(board, puzzle.labelled)
    ahead, reached = [start], {start}
    if puzzle.metric == "labelled":
        reached = set().union(*layers_of(ahead, lambda b: free_moves(rows, columns, b)))
    expected = {
        position_of(puzzle, there)
        for here in reached
        for there in blank_moves(rows, columns, here)
        if puzzle.metric == "step" or here[there.index(0)] != LIKE
    }
    assert after == expected


def free_moves(rows, columns, board):
    return [after for after in blank_moves(rows, columns, board) if board[after.index(0)] == LIKE]


@given(patterns(), st.randoms())
def test_moves_are_named_and_followed(case, rng):
    """Along a walk of tiles that all have numbers, of which the engine tells but the pattern."""
    puzzle, _, board = case
    if puzzle.metric != "step":
        puzzle = Pattern(puzzle.rows, puzzle.columns, labels=puzzle.labelled)
    for _ in range(12):
        after = rng.choice(blank_moves(puzzle.rows, puzzle.columns, board))
        told = puzzle.board(puzzle.state(after))
        source, target = after.index(0), board.index(0)
        (r, c), (rr, cc) = divmod(source, puzzle.columns), divmod(target, puzzle.columns)
        mark = board[source] if board[source] in puzzle.labelled else "x"
        assert puzzle.name_move(board, told) == f"{mark}{ARROWS[rr - r, cc - c]}"
        assert puzzle.follow(board, told) == after
        board = after


@given(patterns(), st.randoms())
def test_labelled_moves_are_named(case, rng):
    """Along a walk on which unlabelled tiles move as they like."""
    puzzle, _, board = case
    rows, columns = puzzle.rows, puzzle.columns
    puzzle = Pattern(rows, columns, labels=puzzle.labelled, metric="labelled")
    before = puzzle.board(puzzle.state(board))
    board = masked(before, puzzle.labelled)
    for _ in range(40):
        after = rng.choice(blank_moves(rows, columns, board))
        source, target = after.index(0), board.index(0)
        if board[source] != LIKE:
            told = puzzle.board(puzzle.state(filled(after)))
            (r, c), (rr, cc) = divmod(source, columns), divmod(target, columns)
            assert puzzle.name_move(before, told) == f"{board[source]}{ARROWS[rr - r, cc - c]}"
            assert puzzle.follow(before, told) == told
            before = told
        board = after


def filled(marks):
    """The board with numbers for the tiles that look alike."""
    others = iter(sorted(set(range(len(marks))) - set(marks), reverse=True))
    return tuple(next(others) if n == LIKE else n for n in marks)


def test_moves_by_hand():
    puzzle = Pattern(2, 3, k=1)
    assert puzzle.name_move((0, 1, 2, 3, 4, 5), (1, 0, 2, 3, 4, 5)) == "x←"
    assert puzzle.name_move((1, 0, 2, 3, 4, 5), (1, 2, 0, 3, 4, 5)) == "2←"
    assert puzzle.name_move((1, 2, 0, 3, 4, 5), (1, 2, 5, 3, 4, 0)) == "5↑"
    assert puzzle.name_move((1, 2, 5, 3, 4, 0), (1, 2, 5, 3, 0, 4)) == "x→"
    assert puzzle.name_move((1, 2, 5, 0, 3, 4), (0, 2, 5, 1, 3, 4)) == "x↓"
    assert puzzle.follow((3, 0, 2, 1, 4, 5), (1, 4, 2, 3, 0, 5)) == (3, 4, 2, 1, 0, 5)


# --- settings


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_k_labels_the_right_most_columns_of_the_goal(shape):
    rows, columns = shape
    cells, rng = rows * columns, random.Random(rows)
    goal = tuple(rng.sample(range(cells), cells))
    for k in range(1, columns + 1):
        if {0} == {n for i, n in enumerate(goal) if i % columns >= columns - k}:
            continue
        puzzle = Pattern(rows, columns, k=k, goal=shaped(goal, columns))
        right = {row[columns - i] for row in shaped(goal, columns) for i in range(1, k + 1)}
        assert puzzle.labelled == tuple(sorted(right - {0}))
        same = Pattern(
            rows, columns, labels=sorted(right - {0}, reverse=True), goal=shaped(goal, columns)
        )
        assert same.labelled == puzzle.labelled
        assert same.goals == puzzle.goals


@pytest.mark.parametrize("metric", ["step", "labelled"])
@pytest.mark.parametrize("blank", [(0, 0), (0, 2), (1, 1), (1, 2)])
def test_blank_is_where_it_is_set(blank, metric):
    at = 3 * blank[0] + blank[1]
    goal = (*range(1, at + 1), 0, *range(at + 1, 6))
    puzzle = Pattern(2, 3, k=1, blank=blank, metric=metric)
    assert masked(puzzle.goals[0], puzzle.labelled) == masked(goal, puzzle.labelled)
    assert puzzle.labelled == tuple(sorted({goal[2], goal[5]} - {0}))
    assert_layers(puzzle, layers_by(puzzle, goal, metric))


def test_the_default_goal_has_the_blank_first():
    assert Pattern(2, 3, k=1).write(Pattern(2, 3, k=1).goals[0]) == [[0, "x", 2], ["x", "x", 5]]
    assert Pattern(2, 3, k=3).goals == ((0, 1, 2, 3, 4, 5),)
    assert Pattern(2, 3, k=1).labelled == (2, 5)
    assert Pattern(3, 2, k=1).labelled == (1, 3, 5)
    assert Pattern(2, 3, k=1).start is None


@given(patterns())
def test_blank_home(case):
    puzzle, goal, _ = case
    home = puzzle.blank_home()
    if puzzle.metric == "labelled":
        assert home is None
        return
    vertices = np.arange(puzzle.graph.vertices)
    sequences = np.tile(np.arange(puzzle.graph.m), (vertices.size, 1))
    boards = puzzle.boards_of(vertices, sequences)
    assert home.tolist() == (boards[:, goal.index(0)] == 0).tolist()


def test_title():
    assert Pattern(2, 7, k=2).title == "2×7 tiles, 4 of them labelled"
    assert Pattern(3, 3, labels=[1], metric="labelled").title == (
        "3×3 tiles, 1 of them labelled, only their moves counted"
    )


def test_puzzle_of_settings():
    puzzle = puzzle_of({"kind": "pattern", "rows": 2, "columns": 4, "k": 2, "metric": "labelled"})
    assert isinstance(puzzle, Pattern)
    assert (puzzle.rows, puzzle.columns, puzzle.metric) == (2, 4, "labelled")
    assert puzzle.labelled == (2, 3, 6, 7)
    start = [[0, "x", 2], [5, "x", "x"]]
    settings = {"kind": "pattern", "rows": 2, "columns": 3, "labels": [5, 2], "start": start}
    assert puzzle_of(settings).start == (0, 1, 2, 5, 3, 4)
    assert puzzle_of(settings).labelled == (2, 5)


# --- writing and reading


@given(patterns(), st.sampled_from(["\n", "/", " / ", "\n\n"]), st.booleans())
def test_parse_takes_rows_of_words(case, between, commas):
    puzzle, _, board = case
    text = puzzle.line(board).replace("/", between)
    if commas:
        text = text.replace(" ", ",")
    assert masked(puzzle.parse(text), puzzle.labelled) == masked(board, puzzle.labelled)
    assert puzzle.parse(text.replace("x", "X")) == puzzle.parse(text)


@given(patterns())
def test_parse_undoes_write_and_line(case):
    puzzle, _, board = case
    settled = puzzle.parse(shaped(board, puzzle.columns))
    assert masked(settled, puzzle.labelled) == masked(board, puzzle.labelled)
    assert puzzle.parse(puzzle.write(board)) == settled
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == settled
    assert puzzle.parse(puzzle.line(board)) == settled
    assert puzzle.parse(puzzle.line(board).replace("/", " ")) == settled
    assert "\n" not in puzzle.line(board)


@given(patterns())
def test_what_is_read_has_its_like_tiles_in_order(case):
    """So that equal positions are equal boards."""
    puzzle, _, board = case
    read = puzzle.parse(shaped(board, puzzle.columns))
    assert [read[cell] for cell in puzzle.reading if read[cell] not in (0, *puzzle.labelled)] == [
        n for n in range(1, puzzle.cells) if n not in puzzle.labelled
    ]
    if puzzle.metric == "step":
        assert read == puzzle.board(puzzle.state(board))


@given(patterns())
def test_marks_stand_for_like_tiles(case):
    puzzle, _, board = case
    marks = ["x" if n == LIKE else n for n in masked(board, puzzle.labelled)]
    assert puzzle.write(board) == [list(row) for row in shaped(marks, puzzle.columns)]
    assert puzzle.line(board) == "/".join(
        " ".join(map(str, row)) for row in shaped(marks, puzzle.columns)
    )


@pytest.mark.parametrize(
    "text", ["0 x 2 / 3 x 5", "0 3 2 / x X 5", ". 1 2 / 3 4 5", "_ 4 2 / 3 1 5", "· x 2 x x 5"]
)
def test_ways_to_write_a_board(text):
    assert Pattern(2, 3, k=1).parse(text) == (0, 3, 2, 1, 4, 5)


# --- errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"labels": [1, 6]}, r"puzzle\.labels: 6 is no tile .* 6 cells; .* 1\.\.5"),
        ({"labels": [0]}, r"puzzle\.labels: 0 is no tile .* 1\.\.5"),
        ({"labels": [-1, 2]}, r"puzzle\.labels: -1 is no tile .* 1\.\.5"),
        ({"labels": [2, 3, 2]}, r"puzzle\.labels = \[2, 3, 2\] names a tile twice"),
        ({"labels": []}, r"puzzle\.labels name 0 tiles: 1\.\.5 can be labelled"),
        ({"k": 0}, r"puzzle\.k = 0: .* 3 columns, 1\.\.3 can"),
        ({"k": 4}, r"puzzle\.k = 4: .* 3 columns, 1\.\.3 can"),
        ({"k": -1}, r"puzzle\.k = -1: .* 3 columns, 1\.\.3 can"),
        ({}, r"either puzzle\.k or puzzle\.labels"),
        ({"k": 1, "labels": [1]}, r"either puzzle\.k or puzzle\.labels"),
        (
            {"k": 1, "goal": ((0, 1, 2), (3, 4, 5)), "blank": (0, 0)},
            r"puzzle\.goal and puzzle\.blank exclude each other",
        ),
        ({"k": 1, "metric": "multi"}, r"puzzle\.metric = 'multi': known are step, labelled"),
        ({"k": 1, "metric": ""}, r"puzzle\.metric = ''"),
        ({"k": 1, "blank": (2, 0)}, r"puzzle\.blank = \[2, 0\]: rows are 0\.\.1, columns 0\.\.2"),
        ({"k": 1, "blank": (0, -1)}, r"puzzle\.blank = \[0, -1\]: rows are"),
        ({"k": 1, "blank": 1}, r"puzzle\.blank = 1: expected \[row, column\]"),
        (
            {"k": 1, "goal": ((0, 1, 2), (3, 4, 4))},
            r"puzzle\.goal = \[\[0, 1, 2\], \[3, 4, 4\]\]: .*0\.\.5 must",
        ),
        (
            {"k": 1, "goal": ((6, 1, 2), (3, 4, 5))},
            r"puzzle\.goal = \[\[6, 1, 2\], \[3, 4, 5\]\]: .*0\.\.5 must",
        ),
        ({"k": 1, "goal": "0 1 2/3 4 x"}, r"puzzle\.goal = .*'x' is not a number"),
        ({"k": 1, "goal": "0 1/2 3/4 5"}, r"puzzle\.goal = .*expected 2 rows of 3"),
        ({"k": 1, "start": "0 x/2 x/x 5"}, r"puzzle\.start = .*expected 2 rows of 3"),
        ({"k": 1, "start": "0 1 3/3 2 5"}, r"puzzle\.start = 0 1 3/3 2 5: .* 2, 5 must"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        Pattern(2, 3, **settings)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((0, 3), r"puzzle\.rows = 0: .*at least 1"), ((3, -1), r"puzzle\.columns = -1: .*at least 1")],
)
def test_shapes_that_cannot_be(shape, message):
    with pytest.raises(InputError, match=message):
        Pattern(*shape, k=1)


@pytest.mark.parametrize(
    ("shape", "labels", "shapes"),
    [((5, 5), 10, "49,031,400"), ((2, 50), 4, "376,437,600"), ((2, 200), 3, "4,202,959,600")],
)
def test_too_many_shapes(shape, labels, shapes):
    assert comb(shape[0] * shape[1] - 1, labels) * shape[0] * shape[1] == int(
        shapes.replace(",", "")
    )
    with pytest.raises(
        InputError, match=rf"{labels} of them labelled has {shapes} .* 40,000,000 .*fewer tiles"
    ):
        Pattern(*shape, labels=range(1, labels + 1))


BAD_BOARDS = [
    ("0 1 2/3 4 4", "0 1 2/3 4 4"),
    ("0 1 2/3 4 2", "0 1 2/3 4 2"),
    ("0 0 2/3 4 5", "0 0 2/3 4 5"),
    ("3 1 2/0 4 6", "3 1 2/0 4 6"),
    ("0 1 2/3 5 6", "0 1 2/3 5 6"),
]


@pytest.mark.parametrize(("board", "said"), BAD_BOARDS)
def test_boards_that_are_none(board, said):
    """Tiles that are missing, there twice, or none of the board's."""
    why = r": 0 \(the blank\) and the labelled tiles 2, 5 must .* 1\.\.5 none twice \(x is any"
    with pytest.raises(InputError, match=rf"^board = {said}" + why):
        Pattern(2, 3, k=1).parse(board)
    with pytest.raises(InputError, match=rf"^puzzle\.start = {said}" + why):
        Pattern(2, 3, k=1, start=board)
    codes = tuple(int(word) for word in board.replace("/", " ").split())
    for ask in (Pattern(2, 3, k=1).state, Pattern(2, 3, k=1).reaches):
        with pytest.raises(InputError, match=r"^board = .*" + why):
            ask(codes)


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("x x 2/x x 5", "must stand in it once"),
        ("0 x x/x x 5", "must stand in it once"),
        ("0 1 2/1 x 5", "none twice"),
        ("0 x 2/7 x 5", "none twice"),
        ("0 x 2/x x 5 x", "expected 2 rows of 3"),
        ("0 x 2/x ? 5", r"'\?' is not a number"),
        ("0 x 2/x -1 5", "'-1' is not a number"),
        (((0, 1, 2), (3, -1, 5)), "-1 is not a number"),
        (((0, True, 2), (3, 4, 5)), "True is not a number"),
        (5, "5: expected rows of numbers, or text"),
    ],
)
def test_marks_that_make_no_board(board, message):
    with pytest.raises(InputError, match=message):
        Pattern(2, 3, k=1).parse(board)


@pytest.mark.parametrize(
    "wrong", [(0, 1, 2, 2), (1, 2, 3, 1), (0, 1, 2, 4), (0, 1, 2, -1), (0, 0, 1, 2), (9, 9, 9, 9)]
)
@pytest.mark.parametrize("before", [0, 1, 3])
def test_the_first_board_that_lacks_a_number_is_told(before, wrong):
    good, puzzle = list(permutations(range(4)))[:before], Pattern(2, 2, labels=[1, 3])
    said = "/".join(" ".join("x" if n == -1 else str(n) for n in row)
                    for row in (wrong[:2], wrong[2:]))  # fmt: skip
    with pytest.raises(InputError, match=f"^board = {said}: "):
        puzzle.states_of(np.array([*good, wrong, (0, 1, 2, 3), (2, 2, 2, 2)]))


@pytest.mark.parametrize("board", ["x x 2/x x 5", "0 x x/x x 5", "0 1 2/1 x 5"])
def test_bad_boards_are_told_as_they_were_given(board):
    with pytest.raises(InputError, match=f"board = {board}: "):
        Pattern(2, 3, k=1).parse(board)


@pytest.mark.parametrize(("columns", "blank"), [(3, (0, 2)), (1, (0, 0))])
def test_k_labels_at_least_one_tile(columns, blank):
    """The right-most column may hold the blank alone."""
    with pytest.raises(InputError, match=r"puzzle\.k .* 0 tiles: 1\.\.\d can be labelled"):
        Pattern(1, columns, k=1, blank=blank)


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        ((7, 10), {"k": 10}, r"69 tiles: 1\.\.24 can"),
        ((1, 68), {"k": 68}, r"67 tiles: 1\.\.24 can"),
        ((2, 13), {"labels": range(1, 26)}, r"25 tiles: 1\.\.24 can"),
        ((1, 1001), {"k": 1}, r"1 x 1001 = 1001 cells: at most 1000 are"),
        ((501, 2), {"labels": [1]}, r"501 x 2 = 1002 cells: at most 1000 are"),
    ],
)
def test_boards_that_are_too_large(shape, settings, message):
    """Though they may have few shapes."""
    with pytest.raises(InputError, match=message):
        Pattern(*shape, **settings)


ABSURD = [
    ((2, 40), {"k": 40}, r"79 tiles: 1\.\.24 can"),
    ((2, 40), {"k": 12}, rf"{comb(79, 24) * 80:,} shapes .*: at most 40,000,000 are"),
    ((2, 40), {"k": 2}, rf"{comb(79, 4) * 80:,} shapes .*: at most 40,000,000 are"),
    ((2, 500), {"k": 1}, rf"{comb(999, 2) * 1000:,} shapes .*: at most 40,000,000 are"),
    ((2, 40), {"k": 10**30}, rf"puzzle\.k = {10**30}: .* 1\.\.40 can"),
    ((2, 40), {"labels": [10**30]}, rf"{10**30} is no tile of .* 80 cells; they are 1\.\.79"),
    ((2, 10**12), {"k": 10**12}, rf"2 x {10**12} = {2 * 10**12} cells: at most 1000 are"),
    ((10**9, 10**9), {"k": 1}, rf"= {10**18} cells: at most 1000 are"),
    ((10**30, 1), {"labels": [1]}, rf"= {10**30} cells: at most 1000 are"),
]


def config_of(shape, settings, **cluster):
    puzzle = {"kind": "pattern", "rows": shape[0], "columns": shape[1], **settings}
    return Config(name="absurd", puzzle=puzzle, cluster={"kind": "serial", **cluster})


@pytest.fixture
def no_shapes(monkeypatch):
    """The base graph, which takes time and memory, is not made; nor is anything large."""

    def made(*_, **__):
        raise AssertionError("shapes are made")

    monkeypatch.setattr(patterns_module, "pattern_graph", made)
    tracemalloc.start()
    yield
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000


@pytest.mark.parametrize(("shape", "settings", "message"), ABSURD)
def test_absurd_sizes_are_refused_at_once(no_shapes, shape, settings, message):
    for ask in (
        lambda: Pattern(*shape, **settings),
        lambda: api.plan(config_of(shape, settings)),
    ):
        with pytest.raises(InputError, match=message):
            ask()


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        ((2, 12), {"k": 6}, r"cluster\.memory = 1\.5 GB .* at least [\d,]{13},"),
        ((2, 12), {"k": 12}, rf"has {factorial(24) // 2:,} states: .* at most {2**63:,} can"),
        ((2, 11), {"k": 10}, rf"has {factorial(22) // 2:,} states: .* at most {2**63:,} can"),
        ((5, 5), {"k": 4}, rf"has {perm(25, 21):,} states: .* at most {2**63:,} can"),
    ],
)
def test_runs_that_are_too_large_are_refused_at_once(no_shapes, shape, settings, message):
    with pytest.raises(InputError, match=message):
        api.plan(config_of(shape, settings, memory=1_500_000_000))


@pytest.mark.parametrize(
    ("shape", "k", "states"),
    [((5, 5), 5, factorial(25) // 2), ((1, 25), 25, 25), ((1, 1000), 1, 1000)],
)
def test_boards_that_are_just_not_too_large(shape, k, states):
    assert Pattern(*shape, k=k).states == states


@pytest.mark.parametrize(
    "boards",
    [[[0, 1, 2, 3, 4]], [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]], [["0", "1", "2", "3", "4", "5"]]],
)
def test_arrays_that_are_no_boards(boards):
    with pytest.raises(InputError, match="6 whole numbers"):
        Pattern(2, 3, k=1).states_of(np.array(boards))


def test_the_first_bad_board_of_an_array_is_named():
    boards = np.array([[0, 1, 2, 3, 4, 5], [5, 1, 2, 3, 4, 5], [9, 1, 2, 3, 4, 5]])
    with pytest.raises(InputError, match=r"^board = 5 1 2/3 4 5: "):
        Pattern(2, 3, k=1).states_of(boards)


@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_starts_that_cannot_be_reached(metric):
    start = ((0, 2, 1), (3, 4, 5))
    with pytest.raises(
        InputError, match=r"puzzle\.start = 0 2 1/3 4 5: .*cannot be reached.*too few .* parity"
    ):
        Pattern(2, 3, labels=[1, 2, 3, 4, 5], start=start, metric=metric).check()
    with pytest.raises(
        InputError, match=r"puzzle\.start = 0 2 1/3 x 5: .*cannot be reached.*too few .* parity"
    ):
        Pattern(2, 3, labels=[1, 2, 3, 5], start=start, metric=metric).check()
    for shape, board, text in [
        ((1, 4), "0 3 x x", "0 3 x x"),
        ((2, 2), "0 1/3 x", "0 1/3 x"),
    ]:
        puzzle = Pattern(*shape, labels=[1, 3] if shape == (2, 2) else [3], start=board)
        reached = set().union(*step_layers(*shape, home(4), puzzle.labelled))
        assert masked(puzzle.start, puzzle.labelled) not in reached
        with pytest.raises(InputError, match=rf"puzzle\.start = {text}: .*keep their order"):
            puzzle.check()
    Pattern(2, 3, labels=[1, 2, 3], start=start, metric=metric).check()
    Pattern(2, 3, labels=[1, 2, 3], metric=metric).check()
