"""The search of single positions, in both metrics, against the distances of all positions."""

import random
import threading
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontier.cosets import questions
from frontier.puzzles import tile_puzzle
from frontier.solving.groups import equal_sizes
from frontier.solving.paths import BLANK, no_stop, nothing_met
from tests.support.coset_boards import made, rows_of, some_boards
from tests.support.reference_cosets import Board, board_of
from tests.support.sweeps import cases, swept, tried

STEP = [
    ((2, 3), (0, 0), (2, 3), "step"),
    ((2, 3), (1, 2), (5,), "step"),
    ((3, 2), (0, 0), (4, 1), "step"),
    ((2, 4), (0, 1), (1, 6), "step"),
    ((4, 2), (2, 1), (2, 3, 2), "step"),
    ((3, 3), (0, 0), (4, 4), "step"),
    ((3, 3), (0, 1), (8,), "step"),
]
MULTI = [
    ((2, 3), (0, 1), (1, 1, 1, 1, 1), "multi"),
    ((3, 2), (2, 0), (5,), "multi"),
    ((2, 4), (1, 2), (3, 3, 3), "multi"),
    ((4, 2), (0, 0), (7,), "multi"),
    ((3, 3), (1, 1), (6, 6), "multi"),
]
FEW = [STEP[4], MULTI[0]]


@cache
def databases_of(shape, blank, sizes, metric):
    return questions.databases_of(tile_puzzle(*shape, blank=blank, metric=metric), sizes, 2, made)


def made_for(shape, blank, sizes, metric):
    """(board of the twin, a decider)"""
    databases = databases_of(shape, blank, sizes, metric)
    return board_of(*shape, blank, metric), databases.decider(no_stop())


@pytest.fixture(scope="module", params=cases(STEP + MULTI, few=FEW))
def case(request):
    """What is made for a case, by one test after the other."""
    return made_for(*request.param)


def boards_to_try(board, rng):
    """All boards of six cells and some larger ones among the sweeps, else a few."""
    return some_boards(board, rng, tried(60, 360 if len(board.goal) == 6 else 150))


def check_solution(board, solver, tiles, limit):
    """Assert that the search says whether a board takes so few moves, and how."""
    (row,), distance = rows_of(board, [tiles]), board.distances[tiles]
    cells = solver.solution(row, limit)
    assert (cells is not None) == (distance <= limit)
    if cells is not None:
        assert distance <= len(cells) <= limit
        assert board.leads_home(tiles, [board.reading[cell] for cell in cells])


def test_solutions(case):
    """In just enough moves, one or two too few, and other numbers of them."""
    board, solver = case
    rng = random.Random(3)
    for tiles in boards_to_try(board, rng):
        distance = board.distances[tiles]
        for limit in {distance - 2, distance - 1, distance, distance + 1, rng.randrange(40)}:
            if limit >= 0:
                check_solution(board, solver, tiles, limit)


@pytest.mark.sweep
def test_all_positions_that_need_more_are_told(case):
    """For some limits of both parities."""
    board, solver = case
    boards = boards_to_try(board, random.Random(4))
    rows, most = rows_of(board, boards), max(board.distances.values())
    for limit in {0, 1, most // 2, most - 3, most - 2, most - 1, most, most + 10}:
        needs_more = [solver.needs_more(row, limit)[0] for row in rows]
        assert needs_more == [board.distances[tiles] > limit for tiles in boards]


def test_a_search_ends_after_so_many_nodes(case):
    """It tells nothing then. Nodes differ a little from one search to the next, as what was met
    before is in other places of the table."""
    board, solver = case
    undecided, exact = 0, True  # one group has all tiles
    for row, tiles in (
        (rows_of(board, [tiles])[0], tiles) for tiles in some_boards(board, random.Random(6), 60)
    ):
        for limit in (board.distances[tiles] - 1, board.distances[tiles]):
            if limit < 0:
                continue
            needs_more, nodes = solver.needs_more(row, limit)
            assert needs_more == (board.distances[tiles] > limit)
            exact &= solver.bound(row) == board.distances[tiles]
            assert solver.needs_more(row, limit, 2 * nodes + 9)[0] == needs_more
            if nodes > 3:
                needs_more, visited = solver.needs_more(row, limit, nodes // 4)
                assert needs_more in (None, board.distances[tiles] > limit)
                if needs_more is None:
                    assert visited >= nodes // 4
                    undecided += 1
    assert undecided or exact


@swept("metric", ["step", "multi"], few=1)
def test_a_search_is_ended_by_another_thread(metric):
    """In the middle; what it has found then is nothing."""
    stop = no_stop()
    solver = databases_of((2, 5), (0, 0), (1,) * 9, metric).decider(stop)
    row = np.array([BLANK, 2, 1, 3, 4, 5, 6, 7, 8, 9], dtype=np.int8)  # no moves lead home
    assert solver.needs_more(row, 5)[0]  # it is compiled now
    threading.Timer(0.2, stop.fill, (1,)).start()
    assert solver.needs_more(row, 200)[0] is None
    assert stop[0]
    assert solver.solution(row, 200) is None


@swept(("sizes", "metric"), [((1,) * 7, "step"), ((1,) * 7, "multi")], few=1)
def test_more_moves_than_a_byte_tells(sizes, metric):
    """Solutions of weak databases are long where they may be: depths of boards met go beyond 255,
    and nothing is written behind the memory of a path."""
    board, solver = made_for((2, 4), (0, 0), sizes, metric)
    longest = 0
    for tiles in some_boards(board, random.Random(8), 40):
        for limit in (255, 256, 300, 507, 508):
            check_solution(board, solver, tiles, limit)
            (row,) = rows_of(board, [tiles])
            longest = max(longest, len(solver.solution(row, limit)))
    assert longest > 255


@swept("bits", [9, 11], few=[9])
def test_small_tables_of_what_was_met(case, bits):
    """Most of it is forgotten, and nothing is missed."""
    board, solver = case
    path = solver.path
    solver.path = solver.path._replace(met=nothing_met(bits))
    for tiles in some_boards(board, random.Random(5), 60):
        for limit in range(max(0, board.distances[tiles] - 2), board.distances[tiles] + 1):
            check_solution(board, solver, tiles, limit)
    solver.path = path


@cache
def boards_of(shape, blank, metric):
    return sorted(board_of(*shape, blank, metric).distances)


@pytest.mark.parametrize("case", [STEP[3], MULTI[2]])
@given(st.lists(st.integers(0, 20159), min_size=1, max_size=30), st.integers(0, 40))
def test_positions_are_settled_one_like_another(case, picks, limit):
    """In any order, each as by itself."""
    shape, blank, _, metric = case
    board, solver = made_for(*case)
    boards = [boards_of(shape, blank, metric)[pick] for pick in picks]
    needs_more = [solver.needs_more(row, limit)[0] for row in rows_of(board, boards)]
    assert needs_more == [board.distances[tiles] > limit for tiles in boards]


@pytest.mark.parametrize("metric", ["step", "multi"])
@pytest.mark.parametrize("sizes", [(3, 3), (1,) * 5, (5,)])
def test_tables_are_kept_by_their_name(metric, sizes):
    puzzle, kept = tile_puzzle(2, 3, metric=metric), {}
    sizes = (3, 2) if sizes == (3, 3) and metric == "step" else sizes

    def keep(name, make):
        kept[name] = make()
        return kept[name]

    first = questions.databases_of(puzzle, sizes, 1, keep).tables
    assert list(kept) == ["groups"]
    again = questions.databases_of(puzzle, sizes, 1, lambda name, make: kept[name]).tables
    for name in ("residue", "first", "image"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert first.residue.any()


@pytest.mark.sweep
@settings(max_examples=50)
@given(st.data())
def test_states_of_lines_tell_boards_apart(data):
    """Two boards that differ are not of the same states in all groups."""
    shape = data.draw(st.sampled_from([(2, 3), (3, 2), (2, 4), (3, 3)]))
    cells = shape[0] * shape[1]
    sizes = data.draw(st.sampled_from(equal_sizes(tile_puzzle(*shape, metric="multi"))))
    board = Board(*shape, (0, 0), "multi")
    boards = list(data.draw(st.sets(st.permutations(range(cells)).map(tuple), max_size=20)))
    if boards:
        databases = databases_of(shape, (0, 0), sizes, "multi")
        vertices, numbers = databases.states(rows_of(board, boards))
        states = np.hstack([part.reshape(len(boards), -1) for part in (vertices, numbers)])
        assert len(np.unique(states, axis=0)) == len(boards)
