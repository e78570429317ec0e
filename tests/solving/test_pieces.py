"""Positions solved one by one, against a dictionary search of their puzzles."""

import random
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from frontier.errors import InputError, Unsolved
from frontier.puzzles import block_puzzle, graph_puzzle, moves, puzzle_of
from frontier.solving import pieces
from frontier.solving.piece_bound import bound_of
from frontier.solving.pieces import IdaSolver
from frontier.solving.pieces_kernel import MOST_DEPTH
from tests.support.reference_puzzles import HEXAGON, LINES, blocks, cells, graph, of_config, tiles
from tests.support.reference_search import layers_of
from tests.support.sweeps import swept

THETA = [[1, 3, 4], [0, 2], [1, 3], [0, 2, 5], [0, 5], [3, 4]]
RING = [[1, 5], [0, 2], [1, 3], [2, 4], [3, 5], [4, 0]]
OF_BLOCKS = moves.metrics_of("blocks")
CASES = {
    "2x4": tiles(2, 4),
    "3x2, another goal": tiles(3, 2, goal=[[3, 0], [1, 5], [4, 2]]),
    "1x7": tiles(1, 7),
    "several tiles of 1x7": tiles(1, 7, "multi"),
    "several tiles of 7x1": tiles(7, 1, "multi", goal=[[1], [2], [3], [0], [4], [5], [6]]),
    "several tiles of 2x4": tiles(2, 4, "multi"),
    "goals of 2x3": tiles(2, 3, goals=[[[0, 1, 2], [3, 4, 5]], [[5, 4, 0], [2, 3, 1]]]),
    "part of 2x3": tiles(2, 3, goal=[[1, 2, "?"], ["?", "?", "?"]]),
    "several tiles, part of 2x4": tiles(2, 4, "multi", goal=[[1, 2, "?", "?"], [3, "?", "?", 0]]),
    "hexagram": of_config("hexagram"),
    "theta": graph(THETA, "abcde."),
    "theta with colours": graph(THETA, "aabbc."),
    "part of theta": graph(THETA, "ab????", start="abcde."),
    "ring": graph(RING, "abcde."),
    "line with colours": graph([[1], [0, 2], [1, 3], [2, 4], [3]], "aabb."),
    **{f"alike, {m}": blocks(m, ["ac", "de"], goal="aab/ccb/d../e..") for m in OF_BLOCKS},
    **{f"different, {m}": blocks(m, goal="aab/ccb/d../e..") for m in OF_BLOCKS},
    **{f"polyominoes, {m}": blocks(m, goal="aab./a.b./cc.d/.c..") for m in OF_BLOCKS},
    **{f"walls, {m}": blocks(m, ["abc"], goal="ab.#/c..d/##ee") for m in OF_BLOCKS},
    "goals": blocks(goals=["aab./a.b./cc.d/.c..", ".aab/.a.b/cc.d/.c.."]),
    "part": blocks("step", ["ab"], goal="aa?/???/??./???", start="aac/bbc/d../e.."),
    "goals and part": blocks("path", goals=["aab/ccb/d../e..", "?aa/???/??d/???"]),
    "free": blocks("step", ["ab"], goal="ab./..c"),
    "cells": cells(HEXAGON, LINES, "aa.b.cd"),
    "cells, a path a move": cells(HEXAGON, LINES, "aa.b.c.", metric="path"),
    "cells, alike": cells(HEXAGON, LINES, "aa.bb.c", alike=["ab"]),
    "cells, two blanks": cells(HEXAGON, LINES, "abcde..", alike=["abc"]),
    "cells, part": cells(HEXAGON, LINES, "aa.b.c.", goal="?????aa"),
}
GOAT = of_config("goat")
FAR = "weBB/fgbh/.kda"
"""A position of the Goat that needs 52 moves, as many as any."""


def solvers(case):
    """One that tells like pieces apart where it may, and one that does not."""
    puzzle = puzzle_of(case.table)
    return IdaSolver(puzzle), IdaSolver(puzzle, distinguish=False)


def some_of(case, count):
    """Positions that are not too far; with paths the bound says least."""
    most = 9 if case.table.get("metric") == "path" else 14
    near = [board for board, depth in case.depths.items() if depth <= most]
    return random.Random(8).sample(near, min(count, len(near)))


def replayed(case, solver, board):
    """The search for a board, each step of its solution checked without the package."""
    puzzle = solver.puzzle
    searched = solver.solve(puzzle.parse(case.text(board)))
    solution = searched.solution
    written = [puzzle.write(step) for step in solution.boards]
    steps = [case.read(step) for step in written]
    assert steps[0] == board
    assert len(steps) == solution.distance + 1 == len(solution.moves) + 1
    for k, name in enumerate(solution.moves):
        assert steps[k + 1] in set(case.neighbours(steps[k]))
        assert case.do(written[k], name) == written[k + 1]
    assert steps[-1] in case.goals
    return searched


@swept(
    "name",
    CASES,
    few=[
        "2x4",
        "several tiles of 1x7",
        "goals of 2x3",
        "part of 2x3",
        "hexagram",
        "theta with colours",
        "cells",
    ],
)
def test_distances_are_those_of_a_dictionary_search(name):
    """Of many positions, told apart or not."""
    case = CASES[name]
    for solver in solvers(case):
        for board in some_of(case, 12):
            assert replayed(case, solver, board).solution.distance == case.depths[board]


# --- puzzles made at random

FORMS = ("a", "a", "aa", "aa", "a/a", "aa/a.", "aa/aa")


def random_case(seed):
    """A block puzzle made at random: its board, pieces, likes, metric, and goal, whole or not."""
    rng = random.Random(seed)
    layers = [()]
    while sum(map(len, layers)) < 60:  # else too little moves
        case = blocks(rng.choice(OF_BLOCKS), **random_board(rng))
        layers = layers_of(case.goals, case.neighbours, 6)
    return case


def random_board(rng):
    rows, columns = rng.choice([(2, 4), (3, 3), (4, 3), (3, 4), (2, 5)])
    cells = {(r, c): "." for r in range(rows) for c in range(columns)}
    for cell in rng.sample(sorted(cells), rng.choice([0, 0, 1, 2])):
        cells[cell] = "#"
    forms = {}
    kinds = rng.sample(FORMS, 2)
    for letter in "abcde"[: rng.randint(2, 5)]:
        shape = rng.choice(kinds).split("/")
        piece = [(r, c) for r, row in enumerate(shape) for c, x in enumerate(row) if x == "a"]
        spots = [[(r + dr, c + dc) for dr, dc in piece] for r, c in cells]
        spots = [spot for spot in spots if all(cells.get(cell) == "." for cell in spot)]
        if spots and sum(mark == "." for mark in cells.values()) >= len(piece) + 2:
            cells |= dict.fromkeys(rng.choice(spots), letter)
            forms.setdefault(tuple(piece), []).append(letter)
    alike = ["".join(group) for group in forms.values() if len(group) > 1 and rng.random() < 0.7]
    whole = written(cells, rows, columns)
    if rng.random() < 0.6:
        return {"alike": alike, "goal": whole}
    left_open = [*rng.sample("abcde", rng.randint(1, 3)), "."]
    part = {cell: "?" if mark in left_open else mark for cell, mark in cells.items()}
    return {"alike": alike, "goal": written(part, rows, columns), "start": whole}


def written(cells, rows, columns):
    return "/".join("".join(cells[r, c] for c in range(columns)) for r in range(rows))


@swept("seed", range(25), few=[2, 3])
def test_puzzles_made_at_random(seed):
    case = random_case(seed)
    rng = random.Random(seed)
    layers = layers_of(case.goals, case.neighbours, 6)
    for solver in solvers(case):
        for depth, layer in enumerate(layers[:7]):
            for board in rng.sample(sorted(layer, key=case.text), min(len(layer), 2)):
                assert replayed(case, solver, board).solution.distance == depth


# --- the bound

LARGE = ("2x4", "hexagram", "different", "part", "goals", "alike, step", "alike, path")
SMALL = [name for name in CASES if not (name.startswith(LARGE) or name.endswith("2x4"))]
SMALL += ["goals of 2x3"]


@swept("name", SMALL, few=5)
def test_the_bound_never_exceeds_the_distance(name):
    """A move changes it by one at most; telling like pieces apart never lowers it."""
    case = CASES[name]
    puzzle = puzzle_of(case.table)
    asked = random.Random(8).sample(list(case.depths), min(400, len(case.depths)))
    near = {board: set(case.neighbours(board)) for board in asked}
    boards = {board: puzzle.parse(case.text(board)) for board in {*asked, *chain(*near.values())}}
    told, shared = (
        {board: solver.bound(codes) for board, codes in boards.items()} for solver in solvers(case)
    )
    for bound in (told, shared):
        assert all(0 <= bound[board] <= case.depths[board] for board in boards)
        for board, after in near.items():
            assert all(abs(bound[board] - bound[other]) <= 1 for other in after)
    assert all(told[board] >= shared[board] for board in boards)


@swept(
    ("case", "most"),
    [
        (CASES["2x4"], 1),
        (CASES["several tiles of 2x4"], 3),
        (CASES["several tiles of 1x7"], 6),
        (CASES["hexagram"], 1),
        (CASES["alike, straight"], 1),
        (CASES["alike, path"], 1),
    ],
    few=2,
)
def test_the_sum_changes_by_the_steps_of_a_move(case, most):
    puzzle = puzzle_of(case.table)
    bound = bound_of(puzzle.model.explicit)
    assert bound.most_steps == most

    def total(board):
        boards = np.array([puzzle.parse(case.text(board))])
        return int(bound.sums(boards)[0])

    changes = [
        abs(total(board) - total(after))
        for board in some_of(case, 100)
        for after in case.neighbours(board)
    ]
    assert max(changes) == most


def leap(alone="leap"):
    """A metric of which a piece goes over any number of cells in one move."""
    return replace(moves.METRICS["straight"], name="leap", alone=alone)


def test_a_metric_is_defined_in_one_place(monkeypatch):
    monkeypatch.setitem(moves.METRICS, "leap", leap())
    assert IdaSolver(block_puzzle("...a", metric="leap")).bound((1, 0, 0, 0)) == 1


def test_every_metric_with_moves_has_a_lower_bound():
    """A metric defines the moves of a piece alone on the board, and has moves between shapes."""
    assert len(moves.METRICS) == len(moves.ALL)
    for metric in filter(lambda metric: metric.moves, moves.ALL):
        assert moves.METRICS[metric.alone].moves


def test_part_of_a_goal_that_shows_some_of_the_like_pieces():
    case = blocks(alike=["abc"], goal="aabb./?????/?????", start="aabb./cc.../.....")
    solver, _ = solvers(case)
    for board in case.goals:
        assert solver.bound(solver.puzzle.parse(case.text(board))) == 0
    board = solver.puzzle.parse("aa.bb/...cc/.....")
    assert solver.solve(board, most_nodes=1_000_000).solution.distance == 1


# --- telling apart

TOLD = [  # (board, groups of like pieces, whether some are told apart)
    ("aab/ccb/d../e..", ["ac"], True),  # they never pass each other
    ("aab/ccb/d../e..", ["de"], False),
    ("aab/ccb/d../e..", ["ac", "de"], True),
    ("ab./..c", ["ab"], False),
    ("abc/de.", ["ab"], True),  # their exchange is odd
    ("abc/de.", ["abc"], False),  # turning three is even
    ("abc/de.", ["ab", "cd"], False),  # so are two exchanges at once
    ("abcde.", ["abcde"], True),
    ("abcde.", ["ab", "cde"], True),
    ("abcdef.", ["abcdef"], False),  # they could be, but are too many
]


@swept(("board", "alike", "told"), TOLD, few=TOLD[3:5])
def test_like_pieces_are_told_apart_where_they_cannot_change_places(board, alike, told):
    """That is, where some group's letters may count without there being more positions."""
    case = blocks(alike=alike, goal=board)
    fewer = [blocks(alike=[g for g in alike if g != group], goal=board) for group in alike]
    can = any(len(other.depths) == len(case.depths) for other in fewer)
    assert can == (told or len(alike[0]) > 5)
    for solver, expected in zip(solvers(case), (told, False), strict=True):
        assert solver.distinguishes == expected
        for position in some_of(case, 30):
            assert replayed(case, solver, position).solution.distance == case.depths[position]


def test_a_solution_begins_with_the_board_that_was_given():
    """Its moves are named after the letters there."""
    case = blocks(alike=["ab"], goal="abc/de.")
    for solver in solvers(case):
        for position in some_of(case, 30):
            board = solver.puzzle.parse(case.text(position))
            assert solver.solve(board).solution.boards[0] == board


@pytest.mark.sweep
def test_telling_the_goats_pieces_apart_saves_nodes():
    """The bound is never lower, and of all searches together fewer nodes are visited."""
    rng = random.Random(9)
    told, shared = solvers(GOAT)
    (board,) = GOAT.goals
    nodes, higher = {told: 0, shared: 0}, 0
    for step in range(240):
        board = rng.choice(sorted(GOAT.neighbours(board), key=GOAT.text))
        given = told.puzzle.parse(GOAT.text(board))
        assert told.bound(given) >= shared.bound(given)
        higher += told.bound(given) > shared.bound(given)
        if step % 24 == 0:
            one, other = (replayed(GOAT, solver, board) for solver in (told, shared))
            assert one.solution.distance == other.solution.distance
            nodes[told] += sum(one.nodes)
            nodes[shared] += sum(other.nodes)
    assert higher > 0
    assert nodes[told] < nodes[shared]


# --- limits and refusals


def test_goals_are_solved_already():
    for name in ("2x4", "goals of 2x3", "part of 2x3", "part of theta", "goals and part"):
        case = CASES[name]
        for solver in solvers(case):
            for board in list(case.goals)[:20]:
                searched = replayed(case, solver, board)
                assert (searched.solution.moves, sum(searched.nodes)) == ([], 0)


def test_a_bound_too_large_for_the_search():
    """Tiles on a cycle keep their order; half way around, each of them needs cells / 2 moves."""
    cells, half = 48, 24
    cycle = [[(cell - 1) % cells, (cell + 1) % cells] for cell in range(cells)]
    labels = [str(number) for number in range(1, cells)]
    puzzle = graph_puzzle(cycle, [".", *labels])
    solver = IdaSolver(puzzle)
    near = puzzle.parse([labels[0], ".", *labels[1:]])
    assert solver.solve(near).solution.distance == 1
    far = puzzle.parse([".", *labels[half:], *labels[:half]])
    assert solver.bound(far) >= MOST_DEPTH
    with pytest.raises(InputError, match="needs 1000 moves or more"):
        solver.solve(far)


def test_nodes_are_limited():
    solver, _ = solvers(GOAT)
    with pytest.raises(Unsolved, match=r"no solution of weBB/.* within .* nodes.* at least 3\d"):
        solver.solve(solver.puzzle.parse(FAR), most_nodes=5000)
    near = solver.puzzle.parse("ahBB/b.eg/dkfw")
    assert solver.solve(near, most_nodes=100_000_000).solution.distance == 20


def test_slices_change_nothing(monkeypatch):
    """A search that is looked at often visits the same nodes."""
    case = CASES["2x4"]
    solver, _ = solvers(case)
    board = max(case.depths, key=lambda board: (case.depths[board] == 30, board))
    whole, told = solver.solve(board), []
    monkeypatch.setattr(pieces, "SLICE", 100)
    sliced = solver.solve(board, watch=lambda *now: told.append(now))
    assert sliced == whole
    assert len(told) >= sum(whole.nodes) // 100 > 5
    assert told == sorted(told)
    assert told[-1][0] == 30
    assert told[-1][1] <= sum(whole.nodes) < told[-1][1] + 100


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("2x4", "0 2 1 3 4 5 6 7"),
        ("1x7", "0 2 1 3 4 5 6"),
        ("ring", "bacde."),
        ("alike, step", "aab/cce/d.b/..b"),
        ("walls, step", "abd/c..e/##.e"),
    ],
)
def test_positions_that_cannot_be_reached(name, text):
    case = CASES[name]
    for solver in solvers(case):
        with pytest.raises(InputError, match=r"reached|2 1|aab|abd"):
            solver.solve(solver.puzzle.parse(text))


def test_a_board_out_of_the_reach_of_the_start():
    """A search from one board needs no start; a run with one is of what that reaches."""
    table = graph(RING, "ab????", start="abcde.").table
    elsewhere = graph(RING, "ab????", start="abdce.")
    puzzle = puzzle_of(table)
    solver = IdaSolver(puzzle)
    for board, depth in elsewhere.depths.items():
        assert not puzzle.model.reaches(puzzle.parse(board))
        assert solver.solve(puzzle.parse(board)).solution.distance == depth
