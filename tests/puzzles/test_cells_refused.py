"""Puzzles of cells that cannot be, and how a board may be written."""

import re
import tomllib
from pathlib import Path

import pytest

from frontier.config.loading import make_config
from frontier.errors import InputError
from frontier.puzzles import cell_puzzle
from frontier.puzzles.directions import MOST_CELLS
from tests.support.cell_boards import BOX, SQUARE

ABC = list("abc")


LINE = [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cells": []}, r"puzzle\.cells: 0 cells; a list of 1\.\.64"),
        ({"cells": "abc"}, r"puzzle\.cells: 'abc'; a list of"),
        ({"cells": [f"c{i}" for i in range(65)]}, r"puzzle\.cells: 65 cells"),
        ({"cells": ["a", "b", 3]}, r"puzzle\.cells: 3 is not a cell; a cell is a name such as"),
        ({"cells": ["a", "b", ["c", 0]]}, r"puzzle\.cells: \['c', 0\] is not a cell"),
        ({"cells": [[0, 0], [float("inf"), 0]]}, r"inf, 0\] is not a cell"),
        ({"cells": ["a", "b", "a"]}, r"puzzle\.cells names 'a' twice"),
        ({"cells": [["a", 0, 0], ["b", 0, 0]]}, "two cells have the same point"),
        ({"cells": [["a", 0, 0], "b", "c"]}, r"cell 'b' has no point, but other cells have one"),
        ({"moves": [("a", "d")]}, r"puzzle\.moves: 'd' is not a cell of this board; .* a b c"),
        ({"moves": [("a", "b", "c")]}, r"puzzle\.moves: \('a', 'b', 'c'\) is not a pair of cells"),
        ({"moves": [("a", "a")]}, "leads from a cell to itself"),
        ({"moves": "ab"}, r"puzzle\.moves = 'ab': expected pairs of cells, or a table"),
        ({"moves": {"on": [("a", "b"), ("a", "c")]}}, r"moves\.on: two moves leave cell a"),
        ({"moves": {"on": [("a", "c"), ("b", "c")]}}, r"moves\.on: two moves enter"),
        ({"moves": {"on": [1, 0]}}, r"puzzle\.moves\.on = .*the cells have no points"),
        ({"moves": {"on": LINE, "up/on": LINE}}, r"\.moves\.up/on: a direction needs one name"),
        ({"moves": {"a/b/c": LINE}}, "a direction needs one name, or two"),
        ({"moves": {"a/a": LINE}}, "a direction needs one name, or two"),
        ({"moves": {"to b": LINE}}, r"puzzle\.moves: 'to b' is not a label"),
        ({"cells": BOX, "moves": {"on": (7, 0)}}, r"moves\.on = \[7\.0, 0\.0\]: no two cells"),
        ({"pieces": "xx."}, r"'x' covers 2 cells, which move together .*puzzle\.moves has no dir"),
        ({"pieces": "x?."}, r"puzzle\.pieces = 'x\?\.': \? is not allowed"),
        ({"pieces": "x."}, r"puzzle\.pieces = 'x\.' has 2 labels"),
        ({"pieces": 7}, r"puzzle\.pieces = 7: expected one label per cell"),
        ({"pieces": {"x": "d"}}, r"puzzle\.pieces\.x: 'd' is not a cell"),
        ({"pieces": {"x": 5}}, r"puzzle\.pieces\.x = 5: expected a cell or a list of cells"),
        ({"pieces": {"x": []}}, r"puzzle\.pieces\.x: a piece needs a cell"),
        ({"pieces": {"x": "a", "y": "a"}}, r"cell a already has 'x', so 'y' cannot be there"),
        ({"pieces": {"?": "a"}}, r"'\?' cannot be the name of a piece"),
        ({"pieces": {"x y": "a"}}, r"puzzle\.pieces: 'x y' is not a label"),
        ({"goal": "x..", "goals": ["x.."]}, r"either puzzle\.goal or puzzle\.goals"),
        ({"goal": "xz."}, r"puzzle\.goal = xz\.: 'z' is not a piece of .*; its pieces are x y"),
        ({"goal": "x.."}, r"puzzle\.goal x\.\.: every piece of xy\. must appear once, whole"),
        ({"goal": "xx?"}, "piece 'x' on a b is not whole"),
        ({"start": "x?y"}, r"puzzle\.start = x\?y: '\?' is not a piece"),
        ({"start": {"x": "a"}}, r"puzzle\.start x\.\.: every piece"),
        ({"alike": ["xz"]}, r"puzzle\.alike = \['xz'\]: 'z' is not a piece"),
        ({"alike": ["xy", "x"]}, "'x' is named twice"),
        (
            {"moves": [("a", "b")], "pieces": "x.y", "alike": ["xy"]},
            "'x' and 'y' differ in form or in the places that they can reach",
        ),
        ({"metric": "straight"}, r"puzzle\.metric = 'straight': expected one of step, path"),
    ],
)  # fmt: skip
def test_puzzles_that_cannot_be(arguments, message):
    settings = {"cells": ABC, "moves": LINE, "pieces": "xy."} | arguments
    with pytest.raises(InputError, match=message):
        cell_puzzle(**settings)


def test_a_ring_is_refused_for_pieces_of_several_cells():
    """Round a ring, a piece of two cells comes to lie on its first cell another way."""
    ring = {"on": [(a, b) for a, b in zip("abcd", "bcda", strict=True)]}
    with pytest.raises(InputError, match=r"the piece that can be on a b .* as on a ring"):
        cell_puzzle(list("abcd"), ring, "xx..")


@pytest.mark.parametrize("board", [(1, 1, 0), (1, 2, 9), (1, 0, 0), (-1, 1, 2)])
def test_codes_that_are_no_board(board):
    puzzle = cell_puzzle(ABC, LINE, "xy.")
    for ask in (puzzle.model.state, puzzle.model.reaches):
        with pytest.raises(InputError, match=r"codes are 0|every piece"):
            ask(board)


@pytest.mark.parametrize(("text", "message"), [
    ("xx.", "every piece|not whole"), ("xz.", "'z' is not a piece"),
    ("x?.", r"'\?' is not a piece"), ("xy", "has 2 labels"),
])  # fmt: skip
def test_boards_of_another_puzzle(text, message):
    with pytest.raises(InputError, match=message):
        cell_puzzle(ABC, LINE, "xy.").parse(text)


def test_the_example_of_the_page():
    pages = Path(__file__).parents[2] / "docs" / "reference"
    page = (pages / "puzzles" / "cells.md").read_text(encoding="utf-8")
    table = tomllib.loads(page.split("```toml\n")[1].split("```")[0])["puzzle"]
    puzzle = make_config("page", table).make_puzzle()
    assert (puzzle.line(puzzle.start), puzzle.line(puzzle.goals[0])) == ("KKx.y..", "?????KK")
    assert puzzle.parse("KKx.y..") == puzzle.parse(table["pieces"]) == puzzle.start
    limits = (pages / "puzzles.md").read_text(encoding="utf-8")
    assert f"| `cells` | {MOST_CELLS} cells |" in limits


def test_text_that_names_a_cell_by_its_point():
    with pytest.raises(InputError, match=re.escape("(9, 9) is not a cell of this board")):
        cell_puzzle(BOX, SQUARE, {"x": (9, 9)})
