"""Boards of a puzzle of one's own: to states and back, as texts, from values."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import cell_puzzle, define_puzzle, puzzle_of
from tests.support.cell_boards import BOX, HEXAGON, HEXAGON_MOVES, SQUARE

BAR = cell_puzzle(HEXAGON, HEXAGON_MOVES, "aa.b.c.")


def test_a_move_of_several_steps():
    puzzle = cell_puzzle(BOX, SQUARE, "a..b..", metric="path")
    assert puzzle.notation.name_move((1, 0, 0, 2, 0, 0), (0, 1, 0, 2, 0, 0)) == "a right"
    assert puzzle.notation.name_move((1, 0, 0, 2, 0, 0), (0, 0, 0, 2, 1, 0)) == "a right down"
    assert puzzle.notation.name_move((0, 0, 0, 2, 1, 0), (1, 0, 0, 2, 0, 0)) == "a up left"
    line = cell_puzzle(list("abc"), [("a", "b"), ("b", "c")], "x..")
    assert line.notation.name_move((0, 1, 0), (1, 0, 0)) == "x b→a"
    one = cell_puzzle(list("ab"), {"on": [("a", "b")]}, "x.")
    assert (one.notation.name_move((1, 0), (0, 1)), one.notation.name_move((0, 1), (1, 0))) == (
        "x on",
        "x -on",
    )


def test_vectors_are_taken_with_some_tolerance():
    """Points may be written with few figures."""
    hexagon = [(0, 0), (1, 0), (0.5, 0.87), (1.5, 0.87), (0, 1.73), (1, 1.73)]
    puzzle = cell_puzzle(
        hexagon, {"e/w": (1, 0), "se/nw": (0.5, 0.866), "sw/ne": (-0.5, 0.866)}, "a....."
    )
    assert [sorted(there.items()) for there in puzzle.notation.directions.ways[::2]] == [
        [(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 3), (2, 5)], [(1, 2), (2, 4), (3, 5)],
    ]  # fmt: skip


def test_names_points_and_both():
    moves = {"e/w": (1, 0)}
    named = cell_puzzle([["p", 0, 0], ["q", 1, 0]], moves, {"x": "p"})
    points = cell_puzzle([[0, 0], [1, 0]], moves, {"x": [0, 0]})
    assert named.goals == points.goals == ((1, 0),)
    assert named.notation.directions.names == ["p", "q"]
    assert points.notation.directions.names == ["0,0", "1,0"]
    assert cell_puzzle(["p", "q"], {"e/w": [["p", "q"]]}, {"x": ["p"]}).goals == ((1, 0),)


def test_the_order_of_a_table_does_not_matter():
    """What makes two runs the same is compared without it."""
    one = cell_puzzle(BOX, SQUARE, {"a": [(2, 0), (1, 0)], "b": (0, 1)})
    other = cell_puzzle(BOX, dict(reversed(SQUARE.items())), {"b": (0, 1), "a": [(1, 0), (2, 0)]})
    assert one.notation.labels == other.notation.labels == [".", "a", "b"]
    assert one.goals == other.goals
    assert (one.model.encoding.shapes.rows == other.model.encoding.shapes.rows).all()


def test_ways_to_write_a_board():
    puzzle = cell_puzzle(list("abc"), [("a", "b"), ("b", "c")], "xy.")
    for notation in ("xy.", "x y .", "x/y/.", ["x", "y", "."], "xy_", {"x": "a", "y": ["b"]}):
        assert puzzle.parse(notation) == (1, 2, 0)
    assert puzzle.write((2, 1, 0)) == puzzle.line((2, 1, 0)) == "yx."
    like = cell_puzzle(list("abc"), [("a", "b"), ("b", "c")], "xy.", alike=["xy"])
    assert like.parse("yx.") == (1, 2, 0)


def test_title():
    assert cell_puzzle(BOX, SQUARE, "aa....").title == "1 piece on 6 cells (step)"


def test_puzzle_of_settings():
    table = define_puzzle(
        {"p": (0, 0), "q": (np.float64(1), np.int64(0))}, {"e/w": (1, 0)}, {"x": "p"}
    )
    assert table == json.loads(json.dumps(table))
    assert table["cells"] == [["p", 0, 0], ["q", 1.0, 0]]
    puzzle = puzzle_of(table)
    assert puzzle.kind == "cells"
    assert puzzle.goals == ((1, 0),)
    assert puzzle_of(define_puzzle(HEXAGON, HEXAGON_MOVES, "aa.b.c.")).states == BAR.states


ROW = {"cells": ["p", "q"], "moves": [["p", "q"]], "pieces": {"x": "p"}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pieces": {"x": object()}}, "own: <object .* is nothing that a config file could say"),
        ({"cells": {"a": 1}}, r"puzzle\.cells\.a = 1: expected the coordinates"),
        ({"cells": {0: [1]}}, r"puzzle\.cells\.0 = \[1\]: expected the coordinates"),
        ({"cells": {"a": object()}}, r"puzzle\.cells\.a: <object .* is nothing that"),
        ({"cells": {7: (0, 0)}}, r"puzzle\.cells: \[7, 0, 0\] is not a cell"),
        ({"cells": 5}, r"puzzle\.cells: 5; a list of"),
        ({"cells": None}, r"puzzle\.cells: None; a list of"),
        ({"moves": None}, r"puzzle\.moves = None: expected pairs"),
        ({"pieces": None}, r"puzzle\.pieces = None: expected one label per cell"),
        ({"goals": 5}, r"puzzle\.goals = 5: expected a list of one board or more"),
        ({"goals": []}, r"puzzle\.goals = \[\]: expected a list of one board or more"),
        ({"alike": 3}, r"puzzle\.alike = 3: expected a list of groups"),
        ({"alike": "xx"}, r"puzzle\.alike = 'xx': expected a list of groups"),
        ({"alike": [3]}, r"puzzle\.alike = \[3\]: expected a list of groups"),
        ({"alike": [["x", ["x"]]]}, r"puzzle\.alike = .*: expected a list of groups"),
    ],
)
def test_a_puzzle_of_what_is_no_value(values, message):
    assert define_puzzle(**ROW)["kind"] == "cells"
    with pytest.raises(InputError, match=message):
        define_puzzle(**{**ROW, **values})


leaves = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from("pqx.?")


anything = st.recursive(
    leaves,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.sampled_from("pqx"), some),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*ROW, "goal", "goals", "start", "alike"]), anything))
def test_whatever_is_given_is_a_puzzle_or_a_refusal(values):
    with suppress(InputError):
        assert define_puzzle(**{**ROW, **values})["kind"] == "cells"
