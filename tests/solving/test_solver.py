"""`frontier.solver`, which solves many positions from Python."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frontier.api.solving import solver
from frontier.errors import InputError, Unsolved
from tests.support.reference_cosets import board_of
from tests.support.reference_puzzles import CONFIGS


def test_many_positions():
    board = board_of(2, 4, (0, 0))
    boards = sorted(board.distances)[::499]
    with solver(CONFIGS / "2x4.toml", memory="10MB") as found:
        for tiles in boards:
            solution = found.solve(tiles)
            assert solution.distance == found.distance(tiles) == board.distances[tiles]
            assert solution.method == "databases"
            assert [board.distances[step] for step in solution.boards] == [
                *range(solution.distance, -1, -1)
            ]
        bounds = found.bound(boards)
        distances = np.array([board.distances[tiles] for tiles in boards])
        assert bounds.shape == distances.shape
        assert (bounds <= distances).all()
        assert found.bound(boards[1]) == bounds[1]
        assert found.bound(boards[1]).shape == ()
        with pytest.raises(InputError, match="parity"):
            found.solve("0 2 1 3/4 5 6 7")
    with pytest.raises(InputError, match="closed"):
        found.solve(boards[1])


def test_a_limit_of_nodes():
    far = max(board_of(3, 3, (0, 0)).distances.items(), key=lambda item: item[1])[0]
    with solver(CONFIGS / "3x3.toml", memory=2_000_000) as found:
        with pytest.raises(Unsolved, match="needs at least"):
            found.distance(far, most_nodes=1)
        assert found.distance(far) == 31


@pytest.mark.parametrize("most_nodes", [0, -1, 1.5, True, "1"])
def test_a_limit_that_is_no_number_of_nodes(most_nodes):
    with solver(CONFIGS / "2x3.toml") as found, pytest.raises(InputError, match="most_nodes = "):
        found.solve("0 1 2/3 4 5", most_nodes=most_nodes)


@pytest.mark.parametrize("first", [1, -1, 9])
def test_a_bound_of_what_is_no_board(first):
    with solver(CONFIGS / "3x3.toml") as found, pytest.raises(InputError, match="board"):
        found.bound([[0, 1, 2, 3, 4, 5, 6, 7, 8], [first, 1, 2, 3, 4, 5, 6, 7, 8]])


def test_threads_share_a_solver():
    distances = board_of(3, 3, (0, 0)).distances
    boards = sorted(distances)[::499]
    with solver(CONFIGS / "3x3.toml", memory="40kB") as found, ThreadPoolExecutor(4) as threads:
        bounds = found.bound(boards).tolist()
        halves = threads.map(found.bound, np.array_split(boards, 40))
        solved = list(threads.map(found.distance, boards))
        assert np.concatenate(list(halves)).tolist() == bounds
    assert solved == [distances[tiles] for tiles in boards]


@pytest.mark.parametrize("memory", ["16", "1,5GB", "much", 5, True, -1, 1.5, None])
def test_a_memory_that_is_none(memory):
    with pytest.raises(InputError, match="memory = "):
        solver(CONFIGS / "3x3.toml", memory=memory)


def test_what_has_no_databases():
    with pytest.raises(InputError, match="databases are for tile puzzles"):
        solver(CONFIGS / "goat.toml")
    with pytest.raises(InputError, match="fits in 1,000 bytes"):
        solver(CONFIGS / "24-puzzle.toml", memory="1kB")
