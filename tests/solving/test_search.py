"""Solvers of positions with stages of databases and several threads, against a dictionary."""

import random
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from frontier.errors import InputError
from frontier.kernels.distances import UNREACHED, distance_table
from frontier.machine import memory
from frontier.puzzles import tile_puzzle
from frontier.solving import search as search_module
from frontier.solving.databases import DatabaseFiles, different
from frontier.solving.groups import MOST_LABELLED, MOST_OF_LINES, held_bytes, making_bytes
from frontier.solving.search import GROWTH, SMALLEST, Search, TileSolver, stages
from frontier.values import bytes_of
from tests.support import sweeps
from tests.support.coset_boards import some_boards
from tests.support.reference_cosets import blank_cells, board_of
from tests.support.reference_search import blank_moves, layers_of, line_moves
from tests.support.sweeps import cases, swept, tried

ROOM = 100_000_000

THREE = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
"""Corners, edges and the middle of 3×3."""

CASES = [
    (shape, blank, metric)
    for shape, metric in [
        ((2, 3), "step"),
        ((3, 2), "multi"),
        ((2, 4), "step"),
        ((2, 4), "multi"),
        ((3, 3), "step"),
    ]
    for blank in (THREE if shape == (3, 3) else blank_cells(*shape))
]
FEW = [((2, 3), (0, 1), "step"), ((2, 4), (1, 2), "multi"), ((3, 3), (0, 0), "step")]
each_board = swept(("shape", "blank", "metric"), CASES, few=FEW)


def solver_of(puzzle, threads=2, room=ROOM):
    return TileSolver(puzzle, DatabaseFiles(threads, lambda *_: None), room, threads)


@cache
def puzzle_and_solver(shape, blank, metric, threads=2):
    puzzle = tile_puzzle(*shape, blank=blank, metric=metric)
    return puzzle, solver_of(puzzle, threads)


def searched(solver, board, most_nodes=None, watch=lambda: None):
    search = Search(solver.databases.homes(board))
    solver.solve(search, most_nodes, watch)
    return search


def leads_home(puzzle, near, board, search):
    """Whether the blank, going to the cells of the solution, makes the goal of a board."""
    for cell in puzzle.grid.reading[search.best].tolist():
        board = {there.index(0): there for there in near(board)}[cell]
    return board == puzzle.goals[0]


@swept("threads", [1, 2], few=[2])
@each_board
def test_solutions_are_shortest(shape, blank, metric, threads):
    board = board_of(*shape, blank, metric)
    puzzle, solver = puzzle_and_solver(shape, blank, metric, threads)
    assert puzzle.goals[0] == board.goal
    for tiles in some_boards(board, random.Random(1), tried(60, 150)):
        search = searched(solver, tiles)
        assert search.proved
        assert search.length == search.limit == board.distances[tiles]
        assert sum(search.iterations) == search.nodes
        assert leads_home(puzzle, board.near, tiles, search)


@swept("metric", ["step", "multi"], few=2)
@swept("seed", range(6), few=1)
def test_any_goal(metric, seed):
    """The tiles of the goal in any order."""
    rng = random.Random(seed)
    rows, columns = rng.choice([(2, 3), (2, 4), (4, 2)])
    goal = rng.sample(range(rows * columns), rows * columns)
    lines = [goal[row * columns : (row + 1) * columns] for row in range(rows)]
    puzzle = tile_puzzle(rows, columns, goal=lines, metric=metric)
    moves = {"step": blank_moves, "multi": line_moves}[metric]

    def near(board):
        return moves(rows, columns, board)

    layers = [sorted(layer) for layer in layers_of([tuple(goal)], near)]
    solver = solver_of(puzzle)
    for distance, layer in enumerate(layers):
        for board in rng.sample(layer, min(len(layer), 5)):
            search = searched(solver, board)
            assert search.length == distance
            assert leads_home(puzzle, near, board, search)
    solver.close()


@pytest.fixture
def small_searches(monkeypatch):
    """One thread visits few nodes, so that all positions but the nearest are searched in parts, by
    all threads, and larger databases are loaded at once. Parts begin after a few moves, as
    iterations have few moves here."""
    monkeypatch.setattr(search_module, "FIRST_NODES", 40)
    monkeypatch.setattr(search_module, "PARTS", 4)
    monkeypatch.setattr(search_module, "LOADED_BYTES", 10**9)
    monkeypatch.setattr(search_module, "MADE_BYTES", 10**9)


SMALL_SEARCHES = [
    ((2, 4), (0, 1), "step"), ((2, 4), (0, 0), "multi"), ((3, 3), (0, 0), "step"),
    ((3, 3), (0, 1), "step"), ((3, 3), (0, 0), "multi"),
]  # fmt: skip


@swept("threads", [1, 2, 5], few=[2])
@swept(("shape", "blank", "metric"), SMALL_SEARCHES, few=[SMALL_SEARCHES[1]])
def test_solutions_by_parts_and_threads(small_searches, monkeypatch, shape, blank, metric, threads):
    """Weak databases alone solve all; iterations are divided among the threads."""
    board = board_of(*shape, blank, metric)
    puzzle = tile_puzzle(*shape, blank=blank, metric=metric)
    weakest, watched, by_threads = (1,) * (puzzle.cells - 1), [], 0
    monkeypatch.setattr(search_module, "stages", lambda *_: [weakest])
    solver = solver_of(puzzle, threads)
    assert solver.groups == weakest
    for tiles in some_boards(board, random.Random(5), 60)[::3]:
        search = searched(solver, tiles, watch=lambda: watched.append(1))
        assert search.proved
        assert search.length == search.limit == board.distances[tiles]
        assert leads_home(puzzle, board.near, tiles, search)
        by_threads += search.nodes > 2 * 40
    solver.close()
    assert by_threads > 5
    assert len(watched) >= by_threads


@swept(("shape", "blank", "metric"), SMALL_SEARCHES, few=[SMALL_SEARCHES[1]])
def test_hard_positions_are_searched_with_larger_databases(small_searches, shape, blank, metric):
    """Which are loaded once; easy ones do not need them."""
    board = board_of(*shape, blank, metric)
    puzzle = tile_puzzle(*shape, blank=blank, metric=metric)
    solver, stage_of = solver_of(puzzle), []
    assert len(solver._stages) > 1
    for tiles in some_boards(board, random.Random(4), tried(45, 60)):
        search = searched(solver, tiles)
        assert search.proved
        assert search.length == search.limit == board.distances[tiles]
        assert leads_home(puzzle, board.near, tiles, search)
        stage_of.append(solver._stage)
    solver.close()
    assert stage_of == sorted(stage_of)
    assert stage_of[0] == 0 < stage_of[-1]


@each_board
def test_a_search_ends_after_so_many_nodes(shape, blank, metric):
    """It has then proved a bound, and may know a solution."""
    board = board_of(*shape, blank, metric)
    puzzle, solver = tile_puzzle(*shape, blank=blank, metric=metric), None
    ended = 0
    for tiles in some_boards(board, random.Random(2), 80)[::4]:
        solver = solver_of(puzzle)
        for most in (1, 5, 30):
            search = searched(solver, tiles, most)
            assert search.limit <= board.distances[tiles]
            assert (search.limit - board.distances[tiles]) % solver.databases.period == 0
            if search.best is not None:
                assert search.length >= board.distances[tiles]
                assert leads_home(puzzle, board.near, tiles, search)
            assert search.proved == (search.length == board.distances[tiles]) or not search.proved
            assert search.proved or most <= search.nodes <= most + 5
            ended += not search.proved
        solver.close()
    assert ended or len(stages(puzzle, ROOM)[0]) == 1 or shape == (2, 3)


@pytest.mark.sweep
def test_a_search_by_threads_ends_after_so_many_nodes(small_searches, monkeypatch):
    """With the bound that has been proved."""
    board, puzzle = board_of(3, 3, (0, 0)), tile_puzzle(3, 3)
    monkeypatch.setattr(search_module, "stages", lambda *_: [(1,) * 8])
    solver, ended = solver_of(puzzle), 0
    for tiles in some_boards(board, random.Random(7), 80)[tried(72, 60) :]:
        for most in (60, 200, 1000):
            search = searched(solver, tiles, most)
            assert search.limit <= board.distances[tiles]
            if search.best is not None:
                assert search.length >= board.distances[tiles]
                assert leads_home(puzzle, board.near, tiles, search)
            ended += not search.proved
    solver.close()
    assert ended


def shortest_paths(board):
    """The number of shortest solutions of every board."""
    paths = {board.goal: 1}
    for tiles, distance in sorted(board.distances.items(), key=lambda item: item[1]):
        if distance:
            near = [there for there in board.near(tiles) if board.distances[there] < distance]
            paths[tiles] = sum(paths[there] for there in near)
    return paths


@swept(
    ("shape", "blank", "metric"),
    [case for case in CASES if case[2] == "step"],
    few=[((2, 4), (0, 0), "step")],
)
def test_shortest_solutions_are_counted(shape, blank, metric):
    board = board_of(*shape, blank, metric)
    _, solver = puzzle_and_solver(shape, blank, metric)
    paths = shortest_paths(board)
    for tiles in some_boards(board, random.Random(3), tried(60, 150)):
        search = searched(solver, tiles)
        assert solver.count(search, None) == paths[tiles]
        if search.length > 3:
            assert solver.count(search, 1) is None


def test_a_watch_may_end_a_search(small_searches, monkeypatch):
    """And the solver solves others afterwards."""
    board, puzzle = board_of(3, 3, (0, 0)), tile_puzzle(3, 3)
    monkeypatch.setattr(search_module, "stages", lambda *_: [(1,) * 8])
    solver = solver_of(puzzle)
    farthest = max(board.distances, key=board.distances.get)

    def interrupted():
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            searched(solver, farthest, watch=interrupted)
    assert searched(solver, farthest).length == 31
    solver.close()


def test_an_interruption_while_databases_are_made_leaves_a_solver(monkeypatch):
    """It makes them later."""
    board, puzzle = board_of(3, 3, (0, 0)), tile_puzzle(3, 3)
    solver = solver_of(puzzle)
    farthest, make = max(board.distances, key=board.distances.get), solver._files.databases

    def interrupted(*_):
        raise KeyboardInterrupt

    solver._files.databases = interrupted
    with pytest.raises(KeyboardInterrupt):
        solver.load_all()
    assert searched(solver, farthest).length == 31
    solver._files.databases = make
    solver.load_all()
    assert solver.bound([farthest]) == [31]
    solver.close()


@pytest.mark.parametrize("metric", ["step", "multi"])
def test_boards_have_one_memory_layout(metric):
    """Kernels would be compiled once more for another one."""
    puzzle = tile_puzzle(2, 3, metric=metric)
    solver = solver_of(puzzle)
    assert solver.databases.homes(puzzle.goals * 3).flags.c_contiguous
    solver.close()


def test_a_closed_solver():
    puzzle = tile_puzzle(2, 3)
    solver = solver_of(puzzle)
    solver.close()
    solver.close()
    for use in (lambda: searched(solver, puzzle.goals[0]), lambda: solver.bound(puzzle.goals)):
        with pytest.raises(InputError, match="closed"):
            use()


STAGES = [(shape, metric) for shape in [(2, 3), (3, 3), (2, 6), (4, 4), (5, 5)]
          for metric in ("step", "multi")]  # fmt: skip


@swept(("shape", "metric"), STAGES, few=STAGES[2:5])
@swept("room", [10**6, 10**7, 10**8, 10**9], few=[10**6, 10**9])
def test_stages_grow_up_to_the_largest_databases_that_fit(shape, metric, room):
    puzzle = tile_puzzle(*shape, metric=metric)

    def held(sizes):
        if metric == "step":  # groups may share databases
            sizes = tuple(len(database.homes) for database in different(puzzle, sizes))
        return held_bytes(puzzle, sizes)

    found = stages(puzzle, room)
    taken, tiles = [held(sizes) for sizes in found], puzzle.cells - 1
    assert max(taken) <= room
    assert found[0][0] <= SMALLEST
    assert all(sum(sizes) == tiles if metric == "step" else sum(sizes) >= tiles for sizes in found)
    for before, after in pairwise(taken[1:]):
        assert after >= GROWTH * before or after == taken[-1]
    most = MOST_LABELLED if metric == "step" else MOST_OF_LINES
    for count in range(1, len(found[-1])):
        small, larger = divmod(tiles, count)
        sizes = (small + 1,) * larger + (small,) * (count - larger)
        sizes = sizes if metric == "step" else sizes[:1] * count
        assert sizes[0] > most or held(sizes) > room or making_bytes(puzzle, sizes) > memory()


@swept("shape", [(2, 3), (5, 5)], few=1)
@pytest.mark.parametrize("metric", ["step", "multi"])
def test_no_databases_fit(shape, metric):
    """The error names enough memory."""
    puzzle = tile_puzzle(*shape, metric=metric)
    with pytest.raises(InputError, match="fits in 100 bytes") as refused:
        stages(puzzle, 100)
    assert stages(puzzle, bytes_of("memory", str(refused.value).rpartition(" ")[2]))


@pytest.fixture(scope="module", params=cases(
    [((3, 3), (0, 0)), ((3, 3), (1, 1)), ((3, 3), (0, 1)), ((2, 5), (0, 0)), ((5, 2), (2, 1))],
    few=1,
))  # fmt: skip
def many_distances(request):
    """(puzzle, boards, int64 distances) of positions from all parts of the space, known from the
    engine, as a dictionary of 2×5 is slow."""
    shape, blank = request.param
    puzzle = tile_puzzle(*shape, blank=blank)
    space = puzzle.model.space
    table = distance_table(space, puzzle.model.origins(), 2)
    row, index = np.nonzero(table != UNREACHED)
    every = row.size // (5_000 if sweeps.left_out else 60_000) + 1
    row, index = row[::every], index[::every]
    vertex, sign = np.divmod(row, 2)
    boards = puzzle.model.boards_of(vertex, space.code.unranks(index, sign)).tolist()
    return puzzle, list(map(tuple, boards)), table[row, index].astype(np.int64)


def test_bounds_of_all_stages_are_admissible(many_distances):
    """And are 0 only at the goal; larger databases say more."""
    puzzle, boards, distances = many_distances
    solver, sums = solver_of(puzzle), []
    while True:
        bounds = solver.bound(boards)
        assert bounds.dtype == np.int64
        assert (bounds <= distances).all()
        assert ((bounds == 0) == (distances == 0)).all()
        assert ((distances - bounds) % 2 == 0).all()
        sums.append(bounds.sum())
        if solver._stage + 1 == len(solver._stages):
            break
        solver._load(solver._stage + 1)
    assert sums == sorted(sums)
    solver.close()


@pytest.mark.sweep
def test_bounds_of_twelve_cells():
    """Of positions some moves from the goal, which a dictionary of 12 cells still lists."""
    puzzle = tile_puzzle(3, 4)
    solver = solver_of(puzzle)
    solver.load_all()
    layers = layers_of(puzzle.goals, lambda board: blank_moves(3, 4, board), 16)
    for distance, layer in enumerate(layers):
        boards = sorted(layer)[:2000]
        bounds = solver.bound(boards)
        assert (bounds <= distance).all()
        assert (distance == 0) == (bounds == 0).any()
    solver.close()
