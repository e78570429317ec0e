"""Patterns: boards and states, moves, settings, and how boards are written."""

import random
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.puzzles import pattern_puzzle, puzzle_of
from tests.support.reference_patterns import (
    ARROWS,
    CASES,
    FEW_CASES,
    LIKE,
    SHAPES,
    assert_layers,
    layers_by,
    masked,
    patterns,
    position_of,
    shaped,
)
from tests.support.reference_search import blank_moves, layers_of, moved
from tests.support.sweeps import swept
from tests.support.whole_searches import arcs_of, origins_of

# --- boards and states


@given(patterns())
def test_the_goal_is_the_sequence_in_order(case):
    puzzle, goal, _ = case
    (origin,) = origins_of(puzzle)
    assert origin == puzzle.model.state(goal) == puzzle.model.state(puzzle.goals[0])
    assert origin[1] == tuple(range(len(puzzle.model.labelled)))
    assert [masked(board, puzzle.model.labelled) for board in puzzle.goals] == [
        masked(goal, puzzle.model.labelled)
    ]
    assert puzzle.model.reaches(goal)


@given(patterns(), st.randoms())
def test_like_tiles_are_interchangeable(case, rng):
    puzzle, _, board = case
    others = [n for n in range(1, puzzle.cells) if n not in puzzle.model.labelled]
    mixed = dict(zip(others, rng.sample(others, len(others)), strict=True))
    other = tuple(mixed.get(n, n) for n in board)
    assert puzzle.model.state(other) == puzzle.model.state(board)
    assert puzzle.model.reaches(other) == puzzle.model.reaches(board)

    def look(board):
        return [
            (p.label, p.kind, p.cells) for p in puzzle.notation.picture(board).pieces if p.label
        ]

    for show in (puzzle.line, puzzle.write, look):
        assert show(other) == show(board)
    rows = shaped(board, puzzle.grid.columns), shaped(other, puzzle.grid.columns)
    assert puzzle.parse(rows[0]) == puzzle.parse(rows[1])


@given(patterns())
def test_labelled_tiles_are_not_interchangeable(case):
    puzzle, _, board = case
    for one, two in combinations(puzzle.model.labelled, 2):
        other = tuple({one: two, two: one}.get(n, n) for n in board)
        assert puzzle.model.state(other) != puzzle.model.state(board)


@pytest.mark.parametrize("metric", ["step", "labelled"])
@swept(("shape", "goal", "labels"), CASES, few=FEW_CASES)
def test_boards_and_states_correspond_one_to_one(shape, goal, labels, metric):
    puzzle = pattern_puzzle(*shape, labels=labels, goal=shaped(goal, shape[1]), metric=metric)
    boards = list(permutations(range(puzzle.cells)))
    vertex, sequence = puzzle.model.states_of(np.array(boards))
    state_of = {}
    for board, v, s in zip(boards, vertex.tolist(), sequence.tolist(), strict=True):
        state_of.setdefault(masked(board, labels), set()).add((v, tuple(s)))
    assert all(len(states) == 1 for states in state_of.values())
    positions = {position_of(puzzle, board): states for board, states in state_of.items()}
    assert len(set().union(*state_of.values())) == len(positions)
    assert len(positions) == puzzle.model.graph.vertices * factorial(len(labels))


def test_states_of_2x3_by_hand():
    """Read column by column: 0 3 1 4 2 5 at the goal; of 2 and 5, 2 comes first."""
    puzzle = pattern_puzzle(2, 3, k=1)
    assert puzzle.notation.pieces.reading.tolist() == [0, 3, 1, 4, 2, 5]
    assert puzzle.model.encoding.members.tolist() == [2, 5, 1, 3, 4]
    last = comb(5, 2) - 1  # the last two places
    assert puzzle.model.state((0, 1, 2, 3, 4, 5)) == (6 * last, (0, 1))
    assert puzzle.model.state((1, 3, 5, 4, 0, 2)) == (6 * last + 3, (1, 0))
    assert puzzle.model.state((2, 1, 3, 5, 4, 0)) == (5, (0, 1))


# --- moves


@given(patterns())
def test_arcs_are_moves(case):
    puzzle, _, board = case
    vertex, sequence = puzzle.model.state(board)
    after = {
        position_of(puzzle, puzzle.model.board((target, moved(sequence, word))))
        for source, target, word in arcs_of(puzzle.model.graph)
        if source == vertex
    }
    rows, columns = puzzle.grid.rows, puzzle.grid.columns
    start = masked(board, puzzle.model.labelled)
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
        puzzle = pattern_puzzle(puzzle.grid.rows, puzzle.grid.columns, labels=puzzle.model.labelled)
    for _ in range(12):
        after = rng.choice(blank_moves(puzzle.grid.rows, puzzle.grid.columns, board))
        told = puzzle.model.board(puzzle.model.state(after))
        source, target = after.index(0), board.index(0)
        (r, c), (rr, cc) = divmod(source, puzzle.grid.columns), divmod(target, puzzle.grid.columns)
        mark = board[source] if board[source] in puzzle.model.labelled else "x"
        assert puzzle.notation.name_move(board, told) == f"{mark}{ARROWS[rr - r, cc - c]}"
        assert puzzle.notation.follow(board, told) == after
        board = after


@given(patterns(), st.randoms())
def test_labelled_moves_are_named(case, rng):
    """Along a walk on which unlabelled tiles move as they like."""
    puzzle, _, board = case
    rows, columns = puzzle.grid.rows, puzzle.grid.columns
    puzzle = pattern_puzzle(rows, columns, labels=puzzle.model.labelled, metric="labelled")
    before = puzzle.model.board(puzzle.model.state(board))
    board = masked(before, puzzle.model.labelled)
    for _ in range(40):
        after = rng.choice(blank_moves(rows, columns, board))
        source, target = after.index(0), board.index(0)
        if board[source] != LIKE:
            told = puzzle.model.board(puzzle.model.state(filled(after)))
            (r, c), (rr, cc) = divmod(source, columns), divmod(target, columns)
            assert (
                puzzle.notation.name_move(before, told)
                == f"{board[source]}{ARROWS[rr - r, cc - c]}"
            )
            assert puzzle.notation.follow(before, told) == told
            before = told
        board = after


def filled(marks):
    """The board with numbers for the tiles that look alike."""
    others = iter(sorted(set(range(len(marks))) - set(marks), reverse=True))
    return tuple(next(others) if n == LIKE else n for n in marks)


def test_moves_by_hand():
    puzzle = pattern_puzzle(2, 3, k=1)
    assert puzzle.notation.name_move((0, 1, 2, 3, 4, 5), (1, 0, 2, 3, 4, 5)) == "x←"
    assert puzzle.notation.name_move((1, 0, 2, 3, 4, 5), (1, 2, 0, 3, 4, 5)) == "2←"
    assert puzzle.notation.name_move((1, 2, 0, 3, 4, 5), (1, 2, 5, 3, 4, 0)) == "5↑"
    assert puzzle.notation.name_move((1, 2, 5, 3, 4, 0), (1, 2, 5, 3, 0, 4)) == "x→"
    assert puzzle.notation.name_move((1, 2, 5, 0, 3, 4), (0, 2, 5, 1, 3, 4)) == "x↓"
    assert puzzle.notation.follow((3, 0, 2, 1, 4, 5), (1, 4, 2, 3, 0, 5)) == (3, 4, 2, 1, 0, 5)


# --- settings


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_k_labels_the_right_most_columns_of_the_goal(shape):
    rows, columns = shape
    cells, rng = rows * columns, random.Random(rows)
    goal = tuple(rng.sample(range(cells), cells))
    for k in range(1, columns + 1):
        if {0} == {n for i, n in enumerate(goal) if i % columns >= columns - k}:
            continue
        puzzle = pattern_puzzle(rows, columns, k=k, goal=shaped(goal, columns))
        right = {row[columns - i] for row in shaped(goal, columns) for i in range(1, k + 1)}
        assert puzzle.model.labelled == tuple(sorted(right - {0}))
        same = pattern_puzzle(
            rows, columns, labels=sorted(right - {0}, reverse=True), goal=shaped(goal, columns)
        )
        assert same.model.labelled == puzzle.model.labelled
        assert same.goals == puzzle.goals


@pytest.mark.parametrize("metric", ["step", "labelled"])
@pytest.mark.parametrize("blank", [(0, 0), (0, 2), (1, 1), (1, 2)])
def test_blank_is_where_it_is_set(blank, metric):
    at = 3 * blank[0] + blank[1]
    goal = (*range(1, at + 1), 0, *range(at + 1, 6))
    puzzle = pattern_puzzle(2, 3, k=1, blank=blank, metric=metric)
    assert masked(puzzle.goals[0], puzzle.model.labelled) == masked(goal, puzzle.model.labelled)
    assert puzzle.model.labelled == tuple(sorted({goal[2], goal[5]} - {0}))
    assert_layers(puzzle, layers_by(puzzle, goal, metric))


def test_the_default_goal_has_the_blank_first():
    assert pattern_puzzle(2, 3, k=1).write(pattern_puzzle(2, 3, k=1).goals[0]) == [
        [0, "x", 2],
        ["x", "x", 5],
    ]
    assert pattern_puzzle(2, 3, k=3).goals == ((0, 1, 2, 3, 4, 5),)
    assert pattern_puzzle(2, 3, k=1).model.labelled == (2, 5)
    assert pattern_puzzle(3, 2, k=1).model.labelled == (1, 3, 5)
    assert pattern_puzzle(2, 3, k=1).start is None


def test_title():
    assert pattern_puzzle(2, 7, k=2).title == "2×7 tiles, 4 of them labelled"
    assert pattern_puzzle(3, 3, labels=[1], metric="labelled").title == (
        "3×3 tiles, 1 of them labelled, only their moves counted"
    )


def test_puzzle_of_settings():
    puzzle = puzzle_of({"kind": "pattern", "rows": 2, "columns": 4, "k": 2, "metric": "labelled"})
    assert puzzle.kind == "pattern"
    assert (puzzle.grid.rows, puzzle.grid.columns, puzzle.metric) == (2, 4, "labelled")
    assert puzzle.model.labelled == (2, 3, 6, 7)
    start = [[0, "x", 2], [5, "x", "x"]]
    settings = {"kind": "pattern", "rows": 2, "columns": 3, "labels": [5, 2], "start": start}
    assert puzzle_of(settings).start == (0, 1, 2, 5, 3, 4)
    assert puzzle_of(settings).model.labelled == (2, 5)


# --- writing and reading


@given(patterns(), st.sampled_from(["\n", "/", " / ", "\n\n"]), st.booleans())
def test_parse_takes_rows_of_words(case, between, commas):
    puzzle, _, board = case
    text = puzzle.line(board).replace("/", between)
    if commas:
        text = text.replace(" ", ",")
    assert masked(puzzle.parse(text), puzzle.model.labelled) == masked(board, puzzle.model.labelled)
    assert puzzle.parse(text.replace("x", "X")) == puzzle.parse(text)


@given(patterns())
def test_what_is_read_has_its_like_tiles_in_order(case):
    """So that equal positions are equal boards."""
    puzzle, _, board = case
    read = puzzle.parse(shaped(board, puzzle.grid.columns))
    assert [
        read[cell]
        for cell in puzzle.notation.pieces.reading
        if read[cell] not in (0, *puzzle.model.labelled)
    ] == [n for n in range(1, puzzle.cells) if n not in puzzle.model.labelled]
    if puzzle.metric == "step":
        assert read == puzzle.model.board(puzzle.model.state(board))


@given(patterns())
def test_marks_stand_for_like_tiles(case):
    puzzle, _, board = case
    marks = ["x" if n == LIKE else n for n in masked(board, puzzle.model.labelled)]
    assert puzzle.write(board) == [list(row) for row in shaped(marks, puzzle.grid.columns)]
    assert puzzle.line(board) == "/".join(
        " ".join(map(str, row)) for row in shaped(marks, puzzle.grid.columns)
    )


@pytest.mark.parametrize(
    "text", ["0 x 2 / 3 x 5", "0 3 2 / x X 5", ". 1 2 / 3 4 5", "_ 4 2 / 3 1 5", "· x 2 x x 5"]
)
def test_ways_to_write_a_board(text):
    assert pattern_puzzle(2, 3, k=1).parse(text) == (0, 3, 2, 1, 4, 5)
