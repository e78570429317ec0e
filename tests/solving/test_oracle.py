"""Distances, solutions and counts from the layers of runs, against a dictionary search."""

import dataclasses
import random
from functools import cache
from itertools import permutations
from math import comb

import numpy as np
import pytest

from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.layers.task import Workspace
from frontier.puzzles import puzzle_of
from frontier.solving import oracle as oracle_module
from frontier.space.layout import Layout
from frontier.space.tower_space import TowerSpace
from tests.support.reference_blocks import all_positions, board_cells, position
from tests.support.reference_puzzles import HEXAGON, LINES, blocks, cells, graph, of_config, tiles
from tests.support.sweeps import cases, swept

RING = [[1, 5], [0, 2], [1, 3], [2, 4], [3, 5], [4, 0]]
CASES = {
    "2x3": tiles(2, 3),
    "2x4": tiles(2, 4),
    "1x6": tiles(1, 6),
    "several tiles of 2x4": tiles(2, 4, "multi"),
    "part of 2x3": tiles(2, 3, goal=[[1, 2, "?"], ["?", "?", "?"]]),
    "hexagram": of_config("hexagram"),
    "ring": graph(RING, "abcde."),
    "steps": blocks("step", ["ac"], goal="aab/ccb/d../e.."),
    "straight": blocks("straight", ["ac"], goal="aab/ccb/d../e.."),
    "paths": blocks("path", ["ac", "de"], goal="aab/ccb/d../e.."),
    "polyominoes": blocks("step", goals=["aab./a.b./cc.d/.c..", ".aab/.a.b/cc.d/.c.."]),
    "cells": cells(HEXAGON, LINES, "aa.b.c.", alike=["bc"]),
    "cells, a path a move": cells(HEXAGON, LINES, "aa.bcd.", metric="path"),
    "walls": blocks("step", ["abc"], goal="ab.#/c..d/##ee"),
    "part of blocks": blocks("step", ["ab"], goal="aa?/???/??./???", start="aac/bbc/d../e.."),
}
GOAT = of_config("goat")


def config_of(path, case, **search):
    return Config(
        name="asked",
        puzzle=case.table,
        search={"keep": "all", "in_memory": False, **search},
        store={"path": str(path / "run")},
        cluster={"kind": "serial"},
    )


def run_of(path, case, form="list", until=None):
    """A run that keeps its layers: as lists, as finely cut bits, or as both in turn."""
    plan = api.plan(config_of(path, case))
    if form != "list":
        tower = isinstance(plan.space, TowerSpace)  # whose rows have no prefix
        digits = 0 if tower else min(1, len(plan.space.code.leading))
        layout = Layout.with_tasks(plan.space, digits, 5)
        assert layout.fits_voltages
        plan = dataclasses.replace(
            plan,
            list_states=500 if form == "both" else 0,
            layout=layout,
        )
    done = api.run(plan, until)
    forms = {record.form for record in done.store.records[1:]}
    assert forms == {"list": {"list"}, "bits": {"bits"}, "both": {"list", "bits"}}[form]
    return done


def some_of(case, count):
    """(what they are without the package, boards) of some positions."""
    twins, puzzle = list(case.depths), puzzle_of(case.table)
    chosen = random.Random(7).sample(twins, min(count, len(twins)))
    return [(twin, puzzle.parse(case.text(twin))) for twin in chosen]


@pytest.fixture(scope="module", params=cases(["list", "bits"], few=["bits"]))
def form(request):
    return request.param


@pytest.fixture(scope="module")
def runs(tmp_path_factory, form):
    """The run of a case by its name, made when it is asked for."""
    path = tmp_path_factory.mktemp(form)
    return cache(lambda name: run_of(path / name, CASES[name], form))


def replayed(run, case, board):
    """(solution, its boards) where each step is what a move is without the package."""
    puzzle, solution = run.puzzle, run.solve(board)
    written = [puzzle.write(step) for step in solution.boards]
    steps = [case.read(step) for step in written]
    assert solution.boards[0] == board
    assert len(steps) == solution.distance + 1 == len(solution.moves) + 1
    for k, name in enumerate(solution.moves):
        assert steps[k + 1] in set(case.neighbours(steps[k]))
        assert case.do(written[k], name) == written[k + 1]
    assert steps[-1] in case.goals
    return solution, steps


# --- distances


@swept("name", CASES, few=["cells", "ring"])
def test_distances(runs, name):
    """Of all positions, or of 400."""
    run, case = runs(name), CASES[name]
    twins, boards = zip(*some_of(case, 400), strict=True)
    found = run.distance(boards)
    assert found.dtype == np.int32
    assert found.tolist() == [case.depths[twin] for twin in twins]
    assert run.oracle.distance_of(boards[-1]) == case.depths[twins[-1]]
    assert run.counts == np.bincount(list(case.depths.values())).tolist()


@pytest.mark.parametrize("shape", [(-1, 2, 4), (-1, 8)])
def test_boards_may_come_in_rows(runs, shape):
    run, case = runs("2x4"), CASES["2x4"]
    some = [twin for twin, _ in some_of(case, 500)]
    boards = np.array(some, dtype=np.int8).reshape(shape)
    for given in (boards, boards.tolist(), np.asfortranarray(boards)):
        assert run.distance(given).tolist() == [case.depths[twin] for twin in some]


def test_no_boards_have_no_distances(runs):
    for nothing in ([], np.empty((0, 8), dtype=np.int64), np.empty((0, 2, 4), dtype=np.int64)):
        found = runs("2x4").distance(nothing)
        assert (found.shape, found.dtype) == ((0,), np.int32)


def everything(name):
    """All positions of a case, those that cannot be reached too."""
    case = CASES[name]
    if case.table["kind"] == "blocks":
        cells = board_cells(case.table["goal"])
        return list(all_positions(cells, position(case.table["goal"], case.table["alike"])))
    (goal,) = case.goals
    every = list(permutations(sorted(goal)))
    every = random.Random(4).sample(every, min(len(every), 600))
    return ["".join(board) for board in every] if case.table["kind"] == "graph" else every


@swept("name", ["2x3", "walls", "2x4", "1x6", "several tiles of 2x4", "ring"], few=1)
def test_positions_that_cannot_be_reached_have_no_distance(runs, name):
    """In one array with those that can."""
    run, case, every = runs(name), CASES[name], everything(name)
    found = run.distance([run.puzzle.parse(case.text(twin)) for twin in every])
    assert found.tolist() == [case.depths.get(twin, -1) for twin in every]
    assert (found < 0).sum() > 20
    lost = run.puzzle.parse(case.text(every[int(np.argmin(found))]))
    for ask in (run.oracle.distance_of, run.solve, run.count_solutions):
        with pytest.raises(InputError, match="reached"):
            ask(lost)


@swept("name", ["2x4", "hexagram", "steps"], few=1)
def test_closed_layers_are_opened_again(runs, name, monkeypatch):
    case = CASES[name]
    run = api.open_run(runs(name).path)
    monkeypatch.setattr(oracle_module, "MOST_OPEN_STATES", 300)
    for twin, board in some_of(case, 10):
        assert run.distance([board]) == [case.depths[twin]]
        assert run.count_solutions(board) == case.shortest[twin]


# --- solutions


@swept("name", CASES, few=["2x3", "ring", "part of 2x3"])
def test_solutions_are_shortest_ways(runs, form, name):
    case = CASES[name]
    for twin, board in some_of(case, 15 if form == "list" else 6):
        solution, steps = replayed(runs(name), case, board)
        assert steps[0] == twin
        assert [case.depths[step] for step in steps] == [*range(solution.distance, -1, -1)]


@swept("name", ["walls", "paths"], few=1)
def test_like_pieces_keep_their_letters(runs, name):
    """A board on the way may have them in another order than boards are written in."""
    run, case = runs(name), CASES[name]
    solutions = [run.solve(board) for _, board in some_of(case, 15)]
    steps = [board for solution in solutions for board in solution.boards]
    assert any(run.puzzle.parse(run.puzzle.write(board)) != board for board in steps)
    assert all(run.distance([b])[0] == case.depths[case.read(run.puzzle.write(b))] for b in steps)


def test_boards_are_taken_as_text_and_as_rows(runs):
    run = runs("2x4")
    (twin, board), *_ = some_of(CASES["2x4"], 1)
    rows = [list(board[:4]), list(board[4:])]
    for given in (board, rows, run.puzzle.line(board), run.puzzle.line(board).replace("/", "\n")):
        assert run.solve(given).boards[0] == board
        assert run.count_solutions(given) == CASES["2x4"].shortest[twin]


@pytest.mark.sweep
def test_positions_of_2x5(tmp_path):
    case, rng = tiles(2, 5), random.Random(5)
    run = run_of(tmp_path, case)
    boards = np.array([rng.sample(range(10), 10) for _ in range(140)])
    reached = boards[run.distance(boards) >= 0][:50].tolist()
    assert len(reached) == 50
    solutions = [replayed(run, case, tuple(board))[0] for board in reached]
    steps = [step for solution in solutions for step in solution.boards]
    depths = [depth for s in solutions for depth in range(s.distance, -1, -1)]
    assert run.distance(steps).tolist() == depths


@pytest.mark.sweep
def test_runs_of_both_forms(tmp_path):
    """Some layers are lists, some bits."""
    case = CASES["2x4"]
    run = run_of(tmp_path, case, "both")
    assert run.distance(list(case.depths)).tolist() == list(case.depths.values())
    for twin, board in some_of(case, 10):
        assert replayed(run, case, board)[0].distance == case.depths[twin]
        assert run.count_solutions(board) == case.shortest[twin]


@pytest.mark.sweep
def test_positions_of_every_layer_of_the_goat(tmp_path):
    goat = api.run(api.plan(config_of(tmp_path, GOAT)))
    assert (goat.depth, goat.states) == (52, 5_443_200)
    rng, work = random.Random(6), Workspace(goat.store)
    for depth, states in enumerate(goat.counts):
        numbers, side = work.layer(depth).numbers(), work.space.side_of(depth)
        for i in rng.sample(range(states), 1):
            board = goat.puzzle.model.board(work.space.state(side, numbers[i]))
            solution, _ = replayed(goat, GOAT, board)
            assert goat.distance(solution.boards).tolist() == [*range(depth, -1, -1)]


def test_the_start_of_the_goat(tmp_path):
    goat = api.run(api.plan(config_of(tmp_path, GOAT)), until=20)
    solution, _ = replayed(goat, GOAT, goat.puzzle.start)
    assert solution.distance == 20
    assert goat.store.start_depth == 20
    assert goat.solve("ahBB/b.eg/dkfw").moves == solution.moves


# --- counts


@swept("name", CASES, few=["ring", "2x3"])
def test_counts(runs, form, name):
    """Of fewer positions where layers are bits, which take longer to ask."""
    for twin, board in some_of(CASES[name], 30 if form == "bits" else 100):
        assert runs(name).count_solutions(board) == CASES[name].shortest[twin]


@pytest.mark.sweep
def test_counts_are_exact_beyond_64_bits(tmp_path, form):
    """Two pieces on lines of their own, so any order of their moves will do."""
    dots = "." * 35
    case = blocks(goal=f"a{dots}/{'#' * 36}/b{dots}")
    run = run_of(tmp_path, case, form)
    assert comb(70, 35) > 2**64
    for i, j in [(35, 35), (34, 35), (35, 0), (0, 0), (20, 30)]:
        board = f"{'.' * i}a{'.' * (35 - i)}/{'#' * 36}/{'.' * j}b{'.' * (35 - j)}"
        assert run.count_solutions(board) == comb(i + j, i)


def test_counting_has_a_limit(runs, monkeypatch):
    run, case = runs("2x4"), CASES["2x4"]
    board = max(case.depths, key=case.depths.get)
    monkeypatch.setattr(oracle_module, "MOST_COUNTED", 3)
    with pytest.raises(InputError, match="more than 3 positions at depth"):
        run.count_solutions(board)


# --- what cannot be answered


def test_a_run_that_forgot_its_layers_says_how_to_get_them(tmp_path):
    done = api.run(api.plan(config_of(tmp_path, CASES["2x3"], keep="frontier")))
    for ask in (done.distance, done.solve, done.count_solutions):
        with pytest.raises(InputError, match=r'search\.keep = "all" and another '):
            ask([[0, 1, 2], [3, 4, 5]])


def test_a_run_that_has_not_come_far_enough(tmp_path, form):
    case = CASES["2x3"]
    run = run_of(tmp_path, case, form, until=9)
    found = run.distance(list(case.depths)).tolist()
    assert found == [depth if depth <= 9 else -1 for depth in case.depths.values()]
    for twin, depth in case.depths.items():
        if depth == 9:
            assert replayed(run, case, twin)[0].distance == 9
        if depth == 10:
            with pytest.raises(InputError, match=r"is deeper than 9, .*resume the run"):
                run.solve(twin)
    with pytest.raises(InputError, match="parity"):
        run.solve((0, 2, 1, 3, 4, 5))


@swept(
    ("name", "boards"),
    [
        ("2x3", [[0, 1, 2, 3, 4, 6]]),
        ("2x3", [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 4]]),
        ("2x3", [[0, 1, 2, 3, 4, -1]]),
        ("steps", [[1, 1, 2, 3, 3, 2, 4, 0, 0, 0, 0, 0]]),
        ("steps", [[1, 1, 2, 3, 3, 0, 4, 2, 0, 5, 0, 0]]),
        ("steps", [[1, 1, 2, 3, 3, 2, 4, 0, 0, 6, 0, 0]]),
        ("hexagram", [[0] * 13]),
    ],
    few=6,
)
def test_boards_of_another_puzzle(runs, name, boards):
    with pytest.raises(InputError, match=r"^board .*(once|codes are)"):
        runs(name).distance(boards)
    with pytest.raises(InputError, match=r"^board .*(once|codes are)"):
        runs(name).solve(tuple(boards[-1]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, "2 rows of 3") for text in ("0 1 2/3 4 5/6 7 8", "0 1/2 3", "0 1 2 3 4 5 6 7")),
        ("ab./c..", "10 is not one of them"),  # figures from 10 on
    ],
)
def test_text_of_another_puzzle(runs, text, said):
    for ask in (runs("2x3").solve, runs("2x3").count_solutions):
        with pytest.raises(InputError, match=said):
            ask(text)


@pytest.mark.parametrize("shape", [(1, 9), (2, 4), (4, 3), (3, 2, 2)])
def test_arrays_of_boards_of_another_size(runs, shape):
    boards = np.resize(np.arange(6), shape)
    with pytest.raises(InputError, match=r"cells|rows"):
        runs("2x3").distance(boards)


@pytest.mark.parametrize("boards", ["abc", 7, None, [[0, 1, 2], [3]], [0, 1, 2, 3, 4], ["abc"]])
def test_what_is_no_array_of_boards(runs, boards):
    with pytest.raises(InputError, match=r"^boards? "):
        runs("2x3").distance(boards)


def test_codes_of_one_board_in_any_form(runs):
    run, codes = runs("2x3"), (3, 1, 2, 0, 4, 5)
    for board in (codes, list(codes), list(map(np.int64, codes)), np.array(codes), "3 1 2/0 4 5"):
        assert run.solve(board).boards[0] == codes
        assert (run.solve(board).distance, run.count_solutions(board)) == (1, 1)
    for board in ([], [0, 1, 2], [0, 1, 2, 3, 4, 4], 5, None, [10**30] * 6):
        with pytest.raises(InputError):
            run.solve(board)
