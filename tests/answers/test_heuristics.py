"""Pattern databases as the bound of a search, against dictionaries of all positions."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, combinations, pairwise

import numpy as np
import pytest

from frontier.answers import distances as distances_module
from frontier.api import runs as api
from frontier.errors import InputError
from frontier.puzzles import puzzle_of
from frontier.solve.pieces import IdaSolver
from tests.support.commands import invoke
from tests.support.reference_distances import Twin
from tests.support.reference_puzzles import CONFIGS
from tests.support.reference_search import blank_moves
from tests.support.sweeps import swept

GOAL = (5, 1, 7, 3, 2, 0, 4, 6)


def exported(path):
    """The path of the array of a run."""
    target = path.with_name(path.name + ".array")
    if not target.exists():
        api.open_run(path).export(target)
    return target


def pattern(rows, columns, labels, metric="step", **more):
    return {
        "kind": "pattern", "rows": rows, "columns": columns, "metric": metric,
        "labels": list(labels), **more,
    }  # fmt: skip


def in_rows(board, columns):
    return [list(board[i : i + columns]) for i in range(0, len(board), columns)]


# --- the bound


@cache
def twin_of(rows, columns, labels=None, metric="step", goal=None):
    return Twin(rows, columns, metric, labels=labels and [*labels], goal=goal and [*goal])


def manhattan(columns, goal, board, tiles):
    """The steps of some tiles from their homes."""
    total = 0
    for tile in tiles:
        (r, c), (rr, cc) = (divmod(where.index(tile), columns) for where in (goal, board))
        total += abs(r - rr) + abs(c - cc)
    return total


def slow_bound(rows, columns, goal, databases, board):
    """The greatest of the Manhattan sum, of each step database, and of all sums of databases
    that label disjoint tiles and count only the moves of those, with the Manhattan sum of the
    other tiles."""
    tiles = set(range(1, rows * columns))
    found = [manhattan(columns, goal, board, tiles)]
    added = []
    for metric, labels in databases:
        twin = twin_of(rows, columns, labels, metric, goal)
        distance = twin.depths[twin.masked(board)]
        if metric == "step":
            found.append(distance)
        else:
            added.append((set(labels), distance))
    for size in range(1, len(added) + 1):
        for family in combinations(added, size):
            labelled = [tile for labels, _ in family for tile in labels]
            if len(labelled) == len(set(labelled)):
                rest = manhattan(columns, goal, board, tiles - set(labelled))
                found.append(rest + sum(distance for _, distance in family))
    return max(found)


S, L = "step", "labelled"
SETS = {
    "one": (2, 4, None, [(S, (2, 3, 6, 7))]),
    "one tile": (2, 4, None, [(S, (5,))]),
    "all tiles but one": (2, 4, None, [(S, (1, 2, 3, 5, 6, 7))]),
    "the greatest of several": (2, 4, None, [(S, (1, 2, 3)), (S, (5, 6, 7)), (S, (3, 4))]),
    "a sum": (2, 4, None, [(L, (1, 2, 3)), (L, (5, 6, 7))]),
    "a sum of all tiles": (2, 4, None, [(L, (1, 4, 5)), (L, (2, 3, 6, 7))]),
    "overlapping": (2, 4, None, [(L, (1, 2, 3)), (L, (3, 4)), (L, (5, 6, 7)), (L, (7, 1, 4))]),
    "one to add": (2, 4, None, [(L, (2, 3, 6, 7))]),
    "the same twice": (2, 4, None, [(L, (1, 4, 5)), (L, (1, 4, 5)), (S, (2, 7)), (S, (2, 7))]),
    "both kinds": (2, 4, GOAL, [(S, (1, 2, 7)), (L, (1, 3, 4)), (L, (2, 5)), (L, (5, 6, 7))]),
    "whole goal": (2, 4, GOAL, [(L, (1, 2, 3, 4)), (L, (5, 6, 7))]),
    "3x2": (3, 2, None, [(S, (1, 4, 5)), (L, (3, 4)), (L, (1, 2)), (L, (2, 5))]),
    "2x3, all": (2, 3, (4, 5, 1, 3, 2, 0), [(S, (1, 2, 3, 4, 5))]),
    "2x3, all, to add": (2, 3, (4, 5, 1, 3, 2, 0), [(L, (1, 2, 3, 4, 5))]),
    "2x2": (2, 2, None, [(S, (1, 2)), (L, (1,)), (L, (3,))]),
}


WHOLLY = ("3x2", "2x3, all", "2x3, all, to add", "2x2")
"""At every position; else at SOME and at those next to them."""

SOME = 150


def tables_of(rows, columns, goal, databases):
    more = {} if goal is None else {"goal": in_rows(goal, columns)}
    tiles = {"kind": "tiles", "rows": rows, "columns": columns, **more}
    return tiles, [pattern(rows, columns, labels, m, **more) for m, labels in databases]


@swept("name", SETS, few=["a sum"])
def test_the_bound_is_the_greatest_that_the_databases_say(made, name):
    """It exceeds no distance, and a move changes it by one at most; a run says the same as what
    is exported of it."""
    rows, columns, goal, databases = SETS[name]
    tiles, patterns = tables_of(rows, columns, goal, databases)
    paths = [made(table) for table in patterns]
    paths = [exported(path) if i % 2 else path for i, path in enumerate(paths)]
    puzzle = puzzle_of(tiles)
    solver = IdaSolver(puzzle, heuristics=paths)
    depths = twin_of(rows, columns, goal=goal).depths
    rng = random.Random(4)
    asked = sorted(depths) if name in WHOLLY else rng.sample(sorted(depths), SOME)
    near = {board: blank_moves(rows, columns, board) for board in asked}
    bound = {b: solver.bound(b) for b in {*asked, *chain(*near.values())}}
    assert all(0 <= bound[board] <= depths[board] for board in bound)
    assert all(abs(bound[board] - bound[after]) <= 1 for board in asked for after in near[board])
    home = goal or tuple(range(rows * columns))
    for board in asked[:: max(1, len(asked) // 1500)]:
        assert bound[board] == slow_bound(rows, columns, home, databases, board)
    if rows * columns > 4:
        plain = IdaSolver(puzzle)
        assert any(bound[board] > plain.bound(board) for board in asked)


@pytest.mark.sweep
def test_databases_of_different_types(made, monkeypatch):
    """Bytes and words in one search."""
    tiles, patterns = tables_of(*SETS["both kinds"])
    paths = [made(table) for table in patterns]
    target = paths[1].with_name("words")
    form = distances_module._form
    monkeypatch.setattr(
        distances_module, "_form", lambda reader: (form(reader)[0], np.dtype(np.uint16))
    )
    assert api.open_run(paths[1]).export(target).dtype == np.uint16
    monkeypatch.undo()
    puzzle, depths = puzzle_of(tiles), twin_of(2, 4, goal=GOAL).depths
    solvers = [IdaSolver(puzzle, heuristics=[p, *paths[2:], paths[0]]) for p in (paths[1], target)]
    for board in random.Random(4).sample(sorted(depths), 400):
        one, other = (solver.bound(board) for solver in solvers)
        assert one == other == slow_bound(2, 4, GOAL, SETS["both kinds"][3], board)


@pytest.mark.parametrize("metric", [S, L])
@pytest.mark.parametrize(("rows", "columns"), [(1, 6), (6, 1)])
def test_a_board_of_one_line(made, rows, columns, metric):
    """There no tile passes another, and a database is refused."""
    tiles, patterns = tables_of(rows, columns, None, [(metric, (1, 3))])
    with pytest.raises(InputError, match=r"is of no use; name none"):
        IdaSolver(puzzle_of(tiles), heuristics=[made(table) for table in patterns])


# --- searches


def random_boards(rows, columns, goal, count, moves, seed=1):
    """Positions after random walks."""
    rng, boards = random.Random(seed), []
    for _ in range(count):
        board, before = goal, None
        for _ in range(moves):
            near = [after for after in blank_moves(rows, columns, board) if after != before]
            before, board = board, rng.choice(near)
        boards.append(board)
    return boards


def solved(solver, board, rows, columns, goal):
    """(moves, nodes) of a search, its solution checked without the package."""
    searched = solver.solve(board)
    boards = searched.solution.boards
    assert boards[0] == board
    assert boards[-1] == goal
    assert len(boards) == searched.solution.distance + 1
    for here, there in pairwise(boards):
        assert there in blank_moves(rows, columns, here)
    return searched.solution.distance, sum(searched.nodes)


FIFTH = (4, 1, 2, 3, 0, 5, 8, 6, 7)
MIDDLE = (1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 10, 11)
SEARCHES = {
    "2x5": (2, 5, None, 1, [
        [(S, (3, 4, 8, 9))],
        [(S, (3, 4, 8, 9)), (S, (1, 2, 6, 7))],
        [(L, (3, 4, 8, 9)), (L, (1, 2, 6, 7))],
    ]),
    "3x3": (3, 3, FIFTH, 1, [
        [(S, (1, 2, 4, 5))],
        [(L, (1, 2, 4, 5)), (L, (3, 6, 7, 8))],
        [(L, (1, 2, 4, 5)), (L, (5, 6)), (L, (3, 6, 7, 8)), (S, (1, 3, 5, 7))],
    ]),
    "3x4": (3, 4, None, 4, [
        [(S, (1, 2, 3, 4, 5)), (S, (7, 8, 9, 10, 11))],
        [(L, (1, 2, 4, 5, 8)), (L, (3, 6, 7, 11)), (L, (9, 10))],
    ]),
    "3x4, blank elsewhere": (3, 4, MIDDLE, 4, [
        [(L, (1, 2, 3, 4, 5)), (L, (6, 7, 8)), (L, (8, 9, 10, 11))],
    ]),
    "4x3": (4, 3, None, 4, [[(L, (1, 2, 3, 4, 5)), (L, (6, 7, 8, 9, 10))]]),
}  # fmt: skip
LARGE = [name for name in SEARCHES if name[:3] in ("3x4", "4x3")]


@swept("name", SEARCHES, few=["3x3"])
def test_searches_find_the_same_lengths_and_visit_fewer_nodes(made, name):
    rows, columns, goal, times, sets = SEARCHES[name]
    home = goal or tuple(range(rows * columns))
    boards = random_boards(rows, columns, home, 8, 150)
    plain = IdaSolver(puzzle_of(tables_of(rows, columns, goal, [])[0]))
    expected = [solved(plain, board, rows, columns, home) for board in boards]
    assert max(distance for distance, _ in expected) >= 20
    for databases in sets:
        tiles, patterns = tables_of(rows, columns, goal, databases)
        solver = IdaSolver(puzzle_of(tiles), heuristics=[made(table) for table in patterns])
        found = [solved(solver, board, rows, columns, home) for board in boards]
        assert [distance for distance, _ in found] == [distance for distance, _ in expected]
        assert times * sum(nodes for _, nodes in found) < sum(nodes for _, nodes in expected)
        assert solved(solver, home, rows, columns, home) == (0, 0)


def test_searches_in_several_threads_do_not_disturb_each_other(made):
    tiles, patterns = tables_of(3, 3, None, [(L, (1, 2, 4, 5))])
    solver = IdaSolver(puzzle_of(tiles), heuristics=[made(table) for table in patterns])
    boards = random_boards(3, 3, tuple(range(9)), 100, 150)
    one, other = (solver._search(boards[0])._databases.scratch for _ in range(2))
    assert not np.shares_memory(one, other)
    expected = [solver.solve(board).nodes for board in boards]
    with ThreadPoolExecutor(8) as pool:
        assert [found.nodes for found in pool.map(solver.solve, boards)] == expected


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["2x4", "2x4, goal"])
def test_searches_of_known_lengths(made, name):
    """The farthest positions among them."""
    goal = GOAL if name.endswith("goal") else None
    depths = twin_of(2, 4, goal=goal).depths
    databases = [(S, (2, 3, 6, 7)), (L, (1, 2, 3)), (L, (4, 5)), (L, (5, 6, 7))]
    tiles, patterns = tables_of(2, 4, goal, databases)
    solver = IdaSolver(puzzle_of(tiles), heuristics=[made(table) for table in patterns])
    rng = random.Random(3)
    most = max(depths.values())
    boards = [board for board, depth in depths.items() if depth == most]
    boards += rng.sample(sorted(depths), 15)
    for board in boards:
        found, _ = solved(solver, board, 2, 4, goal or tuple(range(8)))
        assert found == depths[board]


def test_the_blank_of_a_pattern_is_the_puzzle_s(made):
    """Where blank and goal say the same, either fits."""
    goal = [[1, 2, 3, 4], [5, 6, 0, 7]]
    ways = [{"blank": [1, 2]}, {"goal": goal}]
    for tiles in ways:
        puzzle = puzzle_of({"kind": "tiles", "rows": 2, "columns": 4, **tiles})
        for way in ways:
            path = made(pattern(2, 4, (1, 2, 6), L, **way))
            assert IdaSolver(puzzle, heuristics=[path]).bound((1, 2, 3, 4, 5, 0, 6, 7)) == 1


# --- the command


def test_heuristics_on_the_command_line(made):
    config, board = CONFIGS / "3x4.toml", "9 0 10 5/7 8 11 3/4 1 6 2"
    run, array = (
        (made(pattern(3, 4, labels, L))) for labels in ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10))
    )
    arguments = "solve", config, board, "--method", "ida", "--json"
    (plain, one, both) = (
        json.loads(invoke(*arguments, *more).stdout)
        for more in (
            (),
            ("--heuristic", run),
            ("--heuristic", run, "--heuristic", exported(array)),
        )
    )
    assert plain["distance"] == one["distance"] == both["distance"]
    assert plain["nodes"] > one["nodes"] > both["nodes"] > 0
    assert both["nodes"] < plain["nodes"] / 4
    assert (
        f"{board}: {plain['distance']} moves"
        in invoke("solve", config, board, "--method", "ida", "--heuristic", run).stdout
    )
