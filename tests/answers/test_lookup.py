"""The compiled look-up of one distance, against the layers of its run."""

import numpy as np
import pytest

from frontier.api import runs as api
from frontier.errors import InputError
from tests.support.sweeps import cases

TILES = {"kind": "tiles", "rows": 2, "columns": 3}
PATTERN = {"kind": "pattern", "rows": 2, "columns": 4, "labels": [2, 5, 7]}

PUZZLES = {
    "tiles": TILES,
    "tall": {**TILES, "rows": 3, "columns": 2, "blank": [2, 1]},
    "a goal of one's own": {**TILES, "goal": "5 0 2/3 1 4"},
    "multi": {"kind": "tiles", "rows": 3, "columns": 3, "metric": "multi"},
    "pattern": PATTERN,
    "all but one labelled": {**PATTERN, "labels": [1, 2, 3, 4, 5, 6]},
    "regions": {**PATTERN, "metric": "labelled"},
}


@pytest.fixture(params=cases(PUZZLES, few=["tiles", "multi", "pattern", "regions"]))
def run(request, made):
    return api.open_run(made(PUZZLES[request.param]))


def test_every_board_has_its_distance(run):
    heuristic = run.heuristic()
    for layer in run.layers:
        boards = np.array(layer.boards(200))
        assert (heuristic.many(boards) == layer.depth).all()
        assert {heuristic(board) for board in boards.tolist()} == {layer.depth}


def test_random_boards_have_the_distances_of_the_layers(run):
    """Those that cannot be reached too."""
    rng = np.random.default_rng(1)
    boards = np.array([rng.permutation(run.puzzle.cells) for _ in range(300)])
    expected = run.distance(boards)
    heuristic = run.heuristic()
    assert heuristic.many(boards).tolist() == expected.tolist()
    assert [heuristic(board) for board in boards] == expected.tolist()


def test_a_board_has_many_forms(made):
    run = api.open_run(made(TILES))
    heuristic, board = run.heuristic(), (1, 0, 2, 3, 4, 5)
    strided = np.array([board, board]).T[:, 0]
    forms = board, list(board), np.array(board, np.int8), strided, [[1, 0, 2], [3, 4, 5]]
    assert {heuristic(form) for form in (*forms, "1 0 2/3 4 5", "102345")} == {1}
    assert type(heuristic(board)) is int
    assert heuristic("0 2 1/3 4 5") == -1
    assert repr(heuristic) == "<Heuristic: 720 distances of 2×3 tiles>"


@pytest.mark.parametrize(
    "board",
    [
        (1, 0, 2, 3, 4),
        (1, 0, 2, 3, 4, 4),
        (1, 0, 2, 3, 4, 6),
        (0, 0, 1, 2, 3, 4),
        (-1, 0, 1, 2, 3, 4),
        None,
        [1, [2, 3]],
    ],
)
def test_what_is_no_board_is_refused(made, board):
    heuristic = api.open_run(made(TILES)).heuristic()
    for ask in (heuristic, lambda board: heuristic.many([board])):
        with pytest.raises(InputError, match="board"):
            ask(board)


def test_what_has_no_heuristic_is_refused(made):
    goat = {"kind": "blocks", "goal": "ab./.cc"}
    with pytest.raises(InputError, match="heuristics are for tile puzzles"):
        api.open_run(made(goat)).heuristic()
    with pytest.raises(InputError, match="not complete"):
        api.open_run(made(TILES, until=5)).heuristic()
    with pytest.raises(InputError, match="kept only its last layers"):
        api.open_run(made(TILES, keep="frontier")).heuristic()
