"""Patterns without the package: dictionaries of boards on which all but a few tiles look alike."""

import random
from collections import deque
from functools import cache
from itertools import combinations
from math import inf

from hypothesis import strategies as st

from frontier.kernels.shift_search import memory_layout
from frontier.puzzles import pattern_puzzle
from tests.support.reference_search import blank_moves, layers_of
from tests.support.whole_searches import boards_at, layer_sizes, list_layers, origins_of

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
    return find(puzzle.grid.rows, puzzle.grid.columns, goal, puzzle.model.labelled)


def position_of(puzzle, board):
    """What tells a board from others in this metric."""
    board = masked(board, puzzle.model.labelled)
    if puzzle.metric == "step":
        return board
    return region_of(puzzle.grid.rows, puzzle.grid.columns, board)


def lists_of(puzzle):
    """The state numbers of all layers."""
    return list_layers(
        puzzle.model.space, [puzzle.model.space.number(*s) for s in origins_of(puzzle)]
    )


def memory_sizes(puzzle, threads):
    """How many states the layers have, by bitmaps."""
    space = puzzle.model.space
    origins = [space.number(*state) for state in origins_of(puzzle)]
    return list(layer_sizes(space, origins, memory_layout(space, threads), threads))


def assert_layers(puzzle, expected):
    """The engine finds these positions, layer by layer."""
    space, layers = puzzle.model.space, lists_of(puzzle)
    assert [layer.size for layer in layers] == [len(layer) for layer in expected]
    assert puzzle.states == sum(map(len, expected))
    for depth, (numbers, positions) in enumerate(zip(layers, expected, strict=True)):
        boards = boards_at(space, puzzle, space.side_of(depth), numbers.tolist())
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


CASES = [
    (shape, *pattern)
    for shape in [(1, 2), (1, 3), (1, 5), (4, 1), (2, 2), (2, 3), (3, 2)]
    for pattern in patterns_of(shape, sum(shape))
]
FEW_CASES = [case for case in CASES if case[0][0] * case[0][1] < 6] + CASES[-30::5]


@st.composite
def patterns(draw):
    """(pattern, its goal, a board of numbers, which need not be reachable)"""
    rows, columns = draw(st.sampled_from([shape for shape in SHAPES if shape != (1, 1)]))
    cells = rows * columns
    goal = tuple(draw(st.permutations(range(cells))))
    board = tuple(draw(st.permutations(range(cells))))
    labels = draw(st.permutations(range(1, cells)))[: draw(st.integers(1, cells - 1))]
    metric = draw(st.sampled_from(["step", "labelled"]))
    puzzle = pattern_puzzle(rows, columns, labels=labels, goal=shaped(goal, columns), metric=metric)
    return puzzle, goal, board
