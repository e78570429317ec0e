"""Patterns: what is refused, and what is said then."""

import re
import tracemalloc
from itertools import permutations
from math import comb, factorial, perm

import numpy as np
import pytest

from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.puzzles import pattern_puzzle
from frontier.puzzles import patterns as patterns_module
from tests.support.reference_patterns import home, masked, step_layers


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"labels": [1, 6]}, r"puzzle\.labels: 6 is not a tile .* 6 cells; .* 1\.\.5"),
        ({"labels": [0]}, r"puzzle\.labels: 0 is not a tile .* 1\.\.5"),
        ({"labels": [-1, 2]}, r"puzzle\.labels: -1 is not a tile .* 1\.\.5"),
        ({"labels": [2, 3, 2]}, r"puzzle\.labels = \[2, 3, 2\] names a tile twice"),
        ({"labels": []}, r"puzzle\.labels name 0 tiles: 1\.\.5 can be labelled"),
        ({"k": 0}, r"puzzle\.k = 0: expected 1\.\.3, "),
        ({"k": 4}, r"puzzle\.k = 4: expected 1\.\.3, "),
        ({"k": -1}, r"puzzle\.k = -1: expected 1\.\.3, "),
        ({}, r"either puzzle\.k or puzzle\.labels"),
        ({"k": 1, "labels": [1]}, r"either puzzle\.k or puzzle\.labels"),
        (
            {"k": 1, "goal": ((0, 1, 2), (3, 4, 5)), "blank": (0, 0)},
            r"puzzle\.goal and puzzle\.blank cannot be used together",
        ),
        ({"k": 1, "metric": "multi"}, r"puzzle\.metric = 'multi': expected one of step, labelled"),
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
        ({"k": 1, "goal": "0 1 2/3 4 x"}, r"puzzle\.goal = .*'x' is not the number of a tile"),
        ({"k": 1, "goal": "0 1/2 3/4 5"}, r"puzzle\.goal = .*expected 2 rows of 3"),
        ({"k": 1, "start": "0 x/2 x/x 5"}, r"puzzle\.start = .*expected 2 rows of 3"),
        ({"k": 1, "start": "0 1 3/3 2 5"}, r"puzzle\.start = 0 1 3/3 2 5: .* 2, 5 must"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        pattern_puzzle(2, 3, **settings)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((0, 3), r"puzzle\.rows = 0: .*at least 1"), ((3, -1), r"puzzle\.columns = -1: .*at least 1")],
)
def test_shapes_that_cannot_be(shape, message):
    with pytest.raises(InputError, match=message):
        pattern_puzzle(*shape, k=1)


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
        pattern_puzzle(*shape, labels=range(1, labels + 1))


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
    why = (
        r": 0 \(the blank\) and the labelled tiles 2, 5 must .* no other tile of 1\.\.5 twice \(x "
    )
    with pytest.raises(InputError, match=rf"^board = {said}" + why):
        pattern_puzzle(2, 3, k=1).parse(board)
    with pytest.raises(InputError, match=rf"^puzzle\.start = {said}" + why):
        pattern_puzzle(2, 3, k=1, start=board)
    codes = tuple(int(word) for word in board.replace("/", " ").split())
    for ask in (
        pattern_puzzle(2, 3, k=1).model.state,
        pattern_puzzle(2, 3, k=1).model.reaches,
    ):
        with pytest.raises(
            InputError, match="^board " + re.escape(f"{list(codes)}: ") + "(codes are|0)"
        ):
            ask(codes)


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("x x 2/x x 5", "must each appear once"),
        ("0 x x/x x 5", "must each appear once"),
        ("0 1 2/1 x 5", "twice"),
        ("0 x 2/7 x 5", "twice"),
        ("0 x 2/x x 5 x", "expected 2 rows of 3"),
        ("0 x 2/x ? 5", r"'\?' is not the number of a tile"),
        ("0 x 2/x -1 5", "'-1' is not the number of a tile"),
        (((0, 1, 2), (3, -1, 5)), "-1 is not the number of a tile"),
        (((0, True, 2), (3, 4, 5)), "True is not the number of a tile"),
        (5, r"board = 5: expected 2 rows of 3 numbers"),
        (5.5, r"5\.5: expected rows of numbers, or text"),
    ],
)
def test_marks_that_make_no_board(board, message):
    with pytest.raises(InputError, match=message):
        pattern_puzzle(2, 3, k=1).parse(board)


@pytest.mark.parametrize(
    "wrong", [(0, 1, 2, 2), (1, 2, 3, 1), (0, 1, 2, 4), (0, 1, 2, -1), (0, 0, 1, 2), (9, 9, 9, 9)]
)
@pytest.mark.parametrize("before", [0, 1, 3])
def test_the_first_board_that_lacks_a_number_is_told(before, wrong):
    good, puzzle = list(permutations(range(4)))[:before], pattern_puzzle(2, 2, labels=[1, 3])
    with pytest.raises(InputError, match=re.escape(f"board {list(wrong)}: ")):
        puzzle.model.states_of(np.array([*good, wrong, (0, 1, 2, 3), (2, 2, 2, 2)]))


@pytest.mark.parametrize("board", ["x x 2/x x 5", "0 x x/x x 5", "0 1 2/1 x 5"])
def test_bad_boards_are_told_as_they_were_given(board):
    with pytest.raises(InputError, match=f"board = {board}: "):
        pattern_puzzle(2, 3, k=1).parse(board)


def test_k_labels_at_least_one_tile():
    """The right-most column may hold the blank alone."""
    with pytest.raises(InputError, match=r"puzzle\.k .* 0 tiles: 1\.\.2 can be labelled"):
        pattern_puzzle(1, 3, k=1, blank=(0, 2))


@pytest.mark.parametrize("labels", [{"k": 1}, {"k": 2}, {"labels": [1]}, {"labels": []}, {}])
def test_a_board_of_one_cell_has_no_tile(labels):
    said = "puzzle.rows x puzzle.columns = 1 x 1: "
    with pytest.raises(InputError) as refused:
        pattern_puzzle(1, 1, **labels)
    assert str(refused.value) == f"{said}a pattern needs at least 2 cells"


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
        pattern_puzzle(*shape, **settings)


ABSURD = [
    ((2, 40), {"k": 40}, r"79 tiles: 1\.\.24 can"),
    ((2, 40), {"k": 12}, rf"{comb(79, 24) * 80:,} shapes .*: at most 40,000,000 are"),
    ((2, 40), {"k": 2}, rf"{comb(79, 4) * 80:,} shapes .*: at most 40,000,000 are"),
    ((2, 500), {"k": 1}, rf"{comb(999, 2) * 1000:,} shapes .*: at most 40,000,000 are"),
    ((2, 40), {"k": 10**30}, rf"puzzle\.k = {10**30}: expected 1\.\.40, "),
    ((2, 40), {"labels": [10**30]}, rf"{10**30} is not a tile of .* 80 cells; they are 1\.\.79"),
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
        lambda: pattern_puzzle(*shape, **settings),
        lambda: api.plan(config_of(shape, settings)),
    ):
        with pytest.raises(InputError, match=message):
            ask()


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        ((2, 12), {"k": 6}, r"cluster\.memory = 1\.5 GB .* at least 6\.18GB"),
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
    assert pattern_puzzle(*shape, k=k).states == states


@pytest.mark.parametrize(
    "boards",
    [[[0, 1, 2, 3, 4]], [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]], [["0", "1", "2", "3", "4", "5"]]],
)
def test_arrays_that_are_no_boards(boards):
    with pytest.raises(InputError, match="6 whole numbers"):
        pattern_puzzle(2, 3, k=1).model.states_of(np.array(boards))


def test_the_first_bad_board_of_an_array_is_named():
    boards = np.array([[0, 1, 2, 3, 4, 5], [5, 1, 2, 3, 4, 5], [9, 1, 2, 3, 4, 5]])
    with pytest.raises(InputError, match=r"^board \[5, 1, 2, 3, 4, 5\]: 0 \(the blank\) and"):
        pattern_puzzle(2, 3, k=1).model.states_of(boards)


@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_starts_that_cannot_be_reached(metric):
    start = ((0, 2, 1), (3, 4, 5))
    with pytest.raises(
        InputError, match=r"puzzle\.start = 0 2 1/3 4 5: .*cannot be reached.*parity .* too few"
    ):
        pattern_puzzle(2, 3, labels=[1, 2, 3, 4, 5], start=start, metric=metric).check()
    with pytest.raises(
        InputError, match=r"puzzle\.start = 0 2 1/3 x 5: .*cannot be reached.*parity .* too few"
    ):
        pattern_puzzle(2, 3, labels=[1, 2, 3, 5], start=start, metric=metric).check()
    for shape, board, text in [
        ((1, 4), "0 3 x x", "0 3 x x"),
        ((2, 2), "0 1/3 x", "0 1/3 x"),
    ]:
        puzzle = pattern_puzzle(*shape, labels=[1, 3] if shape == (2, 2) else [3], start=board)
        reached = set().union(*step_layers(*shape, home(4), puzzle.model.labelled))
        assert masked(puzzle.start, puzzle.model.labelled) not in reached
        with pytest.raises(InputError, match=rf"puzzle\.start = {text}: .*keep their order"):
            puzzle.check()
    pattern_puzzle(2, 3, labels=[1, 2, 3], start=start, metric=metric).check()
    pattern_puzzle(2, 3, labels=[1, 2, 3], metric=metric).check()
