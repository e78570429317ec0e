"""Cells, moves and pieces of one's own: whole searches against dictionaries, texts, refusals."""

import json
import random
from contextlib import suppress

import numpy as np
import pytest
from engine import bitmap_sizes, boards_at, list_layers
from hypothesis import assume, given
from hypothesis import strategies as st
from twins import (
    both_ways,
    floor_moves,
    floor_position,
    floor_steps,
    layers_of,
    random_sequence,
    within_reach,
)

from frontier.errors import InputError
from frontier.puzzles import Blocks, Cells, Graph, Tiles, define_puzzle, puzzle_of
from frontier.space.layout import Layout

HEXAGON = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if abs(x + y) <= 1]
"""Seven cells, in coordinates along two of their three directions."""
HEXAGON_MOVES = {"→/←": (1, 0), "↘/↖": (0, 1), "↙/↗": (-1, 1)}
TRAPEZE = [(0, 0), (1, 0), (2, 0), (3, 0), (-1, 1), (0, 1), (1, 1), (2, 1), (-1, 2), (0, 2), (1, 2)]
BOX = [(x, y) for y in range(2) for x in range(3)]
SQUARE = {"right/left": (1, 0), "down/up": (0, 1)}
THETA = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "e"), ("e", "c"), ("e", "f")]


def pairs_of(cells, moves):
    """The pairs of cells of each direction that is given as a vector."""
    if isinstance(moves, dict):
        return [
            [(a, b) for a in cells for b in cells if (b[0] - a[0], b[1] - a[1]) == vector]
            for vector in moves.values()
        ]
    return [[pair] for pair in moves]


def found_layers(puzzle):
    """The boards of each layer as labels, by the list kernel; bitmaps must find as many."""
    space = puzzle.space
    side, numbers = space.numbers(*puzzle.origins())
    origins = list(zip(side.tolist(), numbers.tolist(), strict=True))
    layers = list_layers(space, origins)
    sizes = [layer.size for layer in layers]
    assert sum(sizes) == puzzle.states
    layout = Layout(space, 0, -(-max(space.nodes) // 3))
    assert bitmap_sizes(space, origins, layout, threads=2) == sizes
    return [
        boards_at(space, puzzle, space.side_of(depth), found) for depth, found in enumerate(layers)
    ]


def assert_layers(cells, directions, puzzle, board, alike=(), metric="step"):
    """The engine finds what a dictionary finds from this board, a label a cell."""
    ways = both_ways(directions)
    expected = layers_of(
        [floor_position(cells, board, alike)], lambda at: floor_moves(ways, at, metric)
    )
    found = [
        {floor_position(cells, [puzzle.labels[code] for code in b], alike) for b in layer}
        for layer in found_layers(puzzle)
    ]
    assert [len(layer) for layer in found] == [len(layer) for layer in expected]
    assert found == expected
    return expected


# --- whole searches

SEARCHES = {
    "hexagon, a piece of two cells": (HEXAGON, HEXAGON_MOVES, "aa.b.c.", ()),
    "hexagon, like pieces of two cells": (HEXAGON, HEXAGON_MOVES, "aa.bb.c", ("ab",)),
    "hexagon, different pieces of two cells": (HEXAGON, HEXAGON_MOVES, "aabb...", ()),
    "trapeze, a triangle and others": (TRAPEZE, HEXAGON_MOVES, "aabba.c....", ()),
    "trapeze, pieces in two parts": (TRAPEZE, HEXAGON_MOVES, "a.a.b.b.c..", ("ab",)),
    "two blanks": (list("abcdef"), THETA, "wxyz..", ()),
    "two blanks and like pieces": (list("abcdef"), THETA, "wxyz..", ("wx", "yz")),
    "a line": (list("abcd"), [("a", "b"), ("b", "c"), ("c", "d")], "xy..", ()),
    "apart": (list("abcd"), [("a", "b"), ("c", "d")], "x.y.", ()),
    "nothing moves": (list("abc"), [], "x.y", ()),
    "no piece": (list("ab"), [("a", "b")], "..", ()),
    "no empty cell": (list("ab"), [("a", "b")], "xy", ()),
    "a ring of one direction": (
        list("abc"), {"on": [("a", "b"), ("b", "c"), ("c", "a")]}, "xy.", (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("metric", ["step", "path"])
@pytest.mark.parametrize("name", SEARCHES)
def test_searches(name, metric):
    cells, moves, board, alike = SEARCHES[name]
    puzzle = Cells(cells, moves, board, alike=alike, metric=metric)
    directions = [moves["on"]] if "on" in moves else pairs_of(cells, moves)
    assert_layers(cells, directions, puzzle, board, alike, metric)


def test_hexagon_has_moves_in_three_directions():
    layers = found_layers(Cells(HEXAGON, HEXAGON_MOVES, "a......"))
    assert [len(layer) for layer in layers] == [1, 3, 3]


def sizes(puzzle):
    return [len(layer) for layer in found_layers(puzzle)]


def test_tiles_expressed_as_cells():
    cells = Cells(BOX, SQUARE, [".", *"12345"])
    assert sizes(cells) == sizes(Tiles(2, 3))


@pytest.mark.parametrize("metric", ["step", "path"])
@pytest.mark.parametrize("alike", [(), ("ac",)])
def test_blocks_expressed_as_cells(metric, alike):
    drawing = "aab/ccb/d../e.."
    cells = [(x, y) for y in range(4) for x in range(3)]
    mine = Cells(cells, SQUARE, drawing.replace("/", ""), alike=alike, metric=metric)
    theirs = Blocks(drawing, alike=alike, metric=metric)
    assert mine.states == theirs.states
    assert sizes(mine) == sizes(theirs)


def test_graph_expressed_as_cells():
    adjacency = [[1, 3], [0, 2, 4], [1, 3], [0, 2], [1]]
    edges = [(str(u), str(v)) for u in range(5) for v in adjacency[u] if u < v]
    mine = Cells(list("01234"), edges, "wbxy.", alike=["wb"])
    assert sizes(mine) == sizes(Graph(adjacency, "wwxy."))


def random_floor(rng):
    """Cells, directions as pairs, and a board with pieces of one to three cells."""
    cells = list("abcdefg"[: rng.randint(2, 7)])
    directions = {}
    for name in ("on", "up", "by")[: rng.randint(1, 3)]:
        sources, targets = rng.sample(cells, len(cells)), rng.sample(cells, len(cells))
        pairs = [p for p in zip(sources, targets, strict=True) if p[0] != p[1]]
        directions[name] = rng.sample(pairs, rng.randint(0, len(pairs)))
    marks = dict.fromkeys(cells, ".")
    for label in "wxyz"[: rng.randint(0, 4)]:
        free = [cell for cell in cells if marks[cell] == "."]
        if len(free) > 1:
            some = rng.sample(free, min(len(free) - 1, rng.choice([1, 1, 1, 1, 2, 3])))
            marks |= dict.fromkeys(some, label)
    return cells, directions, "".join(marks.values())


def test_random_floors():
    """Any partial permutations will do as directions, where placements have a first cell each."""
    searched = 0
    for seed in range(200):
        cells, directions, board = random_floor(random.Random(seed))
        try:
            puzzle = Cells(cells, directions, board, metric="path" if seed % 3 == 0 else "step")
        except InputError as error:
            assert "another way round" in str(error)  # noqa: PT017
            continue
        searched += (
            len(assert_layers(cells, directions.values(), puzzle, board, (), puzzle.metric)) > 2
        )
    assert searched > 20


# --- goals and starts


def test_goals():
    """Where a goal is given the pieces are the start; a table that leaves out pieces is a part."""
    cells = [(x, 0) for x in range(4)]
    puzzle = Cells(cells, {"r/l": (1, 0)}, "ab..", goal={"b": (3, 0)})
    assert puzzle.goals == ((-1, -1, -1, 2),)
    assert puzzle.start == (1, 2, 0, 0)
    assert puzzle.line(puzzle.goals[0]) == "???b"
    whole = Cells(cells, {"r/l": (1, 0)}, "ab..", goal={"a": (1, 0), "b": (3, 0)})
    assert (whole.goals, whole.start) == (((0, 1, 0, 2),), (1, 2, 0, 0))
    plain = Cells(cells, {"r/l": (1, 0)}, "ab..")
    assert (plain.goals, plain.start) == (((1, 2, 0, 0),), None)
    several = Cells(cells, {"r/l": (1, 0)}, "ab..", goals=["a?b?", {"b": (3, 0)}], start="a.b.")
    assert several.goals == ((1, -1, 2, -1), (-1, -1, -1, 2))
    assert several.start == (1, 0, 2, 0)


def everywhere(ways, pieces):
    """Every way to lay these pieces where each may lie, whether it can be reached or not."""
    found = {frozenset()}
    for kind, covered in pieces:
        places = set().union(*layers_of([covered], lambda at: floor_steps(ways, at, frozenset())))
        found = {
            laid | {(kind, place)}
            for laid in found
            for place in places
            if not any(place & other for _, other in laid)
        }
    return found


@pytest.mark.parametrize("goal", ["?????c?", "aa?????", "?????aa", "..?????", "b.?aa??"])
def test_a_goal_in_part(goal):
    pieces = "aa.b.c."
    puzzle = Cells(HEXAGON, HEXAGON_MOVES, pieces, goal=goal, start=pieces)
    ways = both_ways(pairs_of(HEXAGON, HEXAGON_MOVES))
    shown = floor_position(HEXAGON, goal)
    empty = {cell for cell, mark in zip(HEXAGON, goal, strict=True) if mark == "."}
    goals = {
        laid
        for laid in everywhere(ways, floor_position(HEXAGON, pieces))
        if shown <= laid and not any(empty & at for _, at in laid)
    }
    found = [
        {floor_position(HEXAGON, puzzle.line(board)) for board in layer}
        for layer in found_layers(puzzle)
    ]
    start = floor_position(HEXAGON, pieces)
    goals = within_reach(goals, start, lambda at: floor_moves(ways, at))
    assert found == layers_of(goals, lambda at: floor_moves(ways, at))


def test_a_goal_shows_pieces_whole():
    with pytest.raises(InputError, match="piece 'a' on 1,0 is not whole"):
        Cells(HEXAGON, HEXAGON_MOVES, "aa.b.c.", goal="????a??")


def test_a_start_that_cannot_be_reached():
    line = [("a", "b"), ("b", "c")]
    with pytest.raises(InputError, match=r"puzzle\.start = ba\.: .*cannot be reached"):
        Cells(list("abc"), line, "ab.", start="ba.").check()
    with pytest.raises(InputError, match=r"puzzle\.start = ab\.: .*cannot be reached"):
        Cells(list("abc"), line, "ab.", goal="ba.").check()
    Cells(list("abc"), line, "ab.", start="a.b").check()


# --- boards and states

LARGE = [
    Cells(HEXAGON, HEXAGON_MOVES, "aa.b.c."),
    Cells(TRAPEZE, HEXAGON_MOVES, "aabbccdefg.", alike=["abc", "dg"]),
    Cells(TRAPEZE, HEXAGON_MOVES, ["ten", "ten", "b", "b", "c", "c", "d", "e", "f", "2", "."]),
    Cells(list("abcdef"), THETA, "wxyz.."),
]


@given(st.integers(0, len(LARGE) - 1), st.randoms(use_true_random=False))
def test_state_undoes_board(number, rng):
    puzzle = LARGE[number]
    graph = puzzle.graph
    state = rng.randrange(graph.vertices), random_sequence(rng, graph.m, graph.smaller)
    board = puzzle.board(state)
    assert puzzle.state(board) == state
    assert puzzle.parse(puzzle.write(board)) == board
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == board
    assert puzzle.parse(puzzle.line(board)) == board
    assert "\n" not in puzzle.line(board)
    laid = {
        puzzle.labels[code]: [
            puzzle.directions.names[c] for c, there in enumerate(board) if there == code
        ]
        for code in set(board) - {0}
    }
    if puzzle.directions.points is None:
        assert puzzle.parse(laid) == board


def some_move(puzzle, rng):
    """A board and one that a move leads to."""
    arcs = puzzle.graph.source
    assume(arcs.size)
    arc = rng.randrange(arcs.size)
    sequence = random_sequence(rng, puzzle.graph.m, puzzle.graph.smaller)
    before = puzzle.board((int(arcs[arc]), sequence))
    word = puzzle.graph.voltages[puzzle.graph.voltage[arc]]
    after = list(sequence)
    for i in word:
        after[i], after[i + 1] = after[i + 1], after[i]
    return before, puzzle.board((int(puzzle.graph.target[arc]), tuple(after)))


@given(st.integers(0, len(LARGE) - 1), st.randoms(use_true_random=False))
def test_followed_pieces_keep_their_labels(number, rng):
    puzzle = LARGE[number]
    before, after = some_move(puzzle, rng)
    followed = puzzle.follow(before, after)
    assert puzzle.parse([puzzle.labels[code] for code in followed]) == after
    label, way = puzzle.name_move(before, followed).split(" ")
    moved = {code for here, there in zip(before, followed, strict=True) if here != there
             for code in (here, there)} - {0}  # fmt: skip
    assert moved == {puzzle.labels.index(label)}
    there = puzzle.directions.ways[puzzle.directions.way_names.index(way)]
    cells = [[c for c, code in enumerate(b) if code in moved] for b in (before, followed)]
    assert sorted(there[c] for c in cells[0]) == cells[1]


# --- cells, moves, texts


def test_a_move_of_several_steps():
    puzzle = Cells(BOX, SQUARE, "a..b..", metric="path")
    assert puzzle.name_move((1, 0, 0, 2, 0, 0), (0, 1, 0, 2, 0, 0)) == "a right"
    assert puzzle.name_move((1, 0, 0, 2, 0, 0), (0, 0, 0, 2, 1, 0)) == "a right down"
    assert puzzle.name_move((0, 0, 0, 2, 1, 0), (1, 0, 0, 2, 0, 0)) == "a up left"
    line = Cells(list("abc"), [("a", "b"), ("b", "c")], "x..")
    assert line.name_move((0, 1, 0), (1, 0, 0)) == "x b→a"
    one = Cells(list("ab"), {"on": [("a", "b")]}, "x.")
    assert (one.name_move((1, 0), (0, 1)), one.name_move((0, 1), (1, 0))) == ("x on", "x -on")


def test_vectors_are_taken_with_some_tolerance():
    """Points may be written with few figures."""
    hexagon = [(0, 0), (1, 0), (0.5, 0.87), (1.5, 0.87), (0, 1.73), (1, 1.73)]
    puzzle = Cells(
        hexagon, {"e/w": (1, 0), "se/nw": (0.5, 0.866), "sw/ne": (-0.5, 0.866)}, "a....."
    )
    assert [sorted(there.items()) for there in puzzle.directions.ways[::2]] == [
        [(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 3), (2, 5)], [(1, 2), (2, 4), (3, 5)],
    ]  # fmt: skip


def test_names_points_and_both():
    moves = {"e/w": (1, 0)}
    named = Cells([["p", 0, 0], ["q", 1, 0]], moves, {"x": "p"})
    points = Cells([[0, 0], [1, 0]], moves, {"x": [0, 0]})
    assert named.goals == points.goals == ((1, 0),)
    assert named.directions.names == ["p", "q"]
    assert points.directions.names == ["0,0", "1,0"]
    assert Cells(["p", "q"], {"e/w": [["p", "q"]]}, {"x": ["p"]}).goals == ((1, 0),)


def test_the_order_of_a_table_does_not_matter():
    """What makes two runs the same is compared without it."""
    one = Cells(BOX, SQUARE, {"a": [(2, 0), (1, 0)], "b": (0, 1)})
    other = Cells(BOX, dict(reversed(SQUARE.items())), {"b": (0, 1), "a": [(1, 0), (2, 0)]})
    assert one.labels == other.labels == [".", "a", "b"]
    assert one.goals == other.goals
    assert (one.shapes.rows == other.shapes.rows).all()


def test_ways_to_write_a_board():
    puzzle = Cells(list("abc"), [("a", "b"), ("b", "c")], "xy.")
    for notation in ("xy.", "x y .", "x/y/.", ["x", "y", "."], "xy_", {"x": "a", "y": ["b"]}):
        assert puzzle.parse(notation) == (1, 2, 0)
    assert puzzle.write((2, 1, 0)) == puzzle.line((2, 1, 0)) == "yx."
    like = Cells(list("abc"), [("a", "b"), ("b", "c")], "xy.", alike=["xy"])
    assert like.parse("yx.") == (1, 2, 0)


def test_title():
    assert Cells(BOX, SQUARE, "aa....").title == "1 piece on 6 cells (step)"


def test_puzzle_of_settings():
    table = define_puzzle(
        {"p": (0, 0), "q": (np.float64(1), np.int64(0))}, {"e/w": (1, 0)}, {"x": "p"}
    )
    assert table == json.loads(json.dumps(table))
    assert table["cells"] == [["p", 0, 0], ["q", 1.0, 0]]
    puzzle = puzzle_of(table)
    assert isinstance(puzzle, Cells)
    assert puzzle.goals == ((1, 0),)
    assert puzzle_of(define_puzzle(HEXAGON, HEXAGON_MOVES, "aa.b.c.")).states == LARGE[0].states


ROW = {"cells": ["p", "q"], "moves": [["p", "q"]], "pieces": {"x": "p"}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pieces": {"x": object()}}, "own: <object .* is nothing that a config file could say"),
        ({"cells": {"a": 1}}, r"puzzle\.cells\.a = 1: expected where the cell lies"),
        ({"cells": {0: [1]}}, r"puzzle\.cells\.0 = \[1\]: expected where the cell lies"),
        ({"cells": {"a": object()}}, r"puzzle\.cells\.a: <object .* is nothing that"),
        ({"cells": {7: (0, 0)}}, r"puzzle\.cells: \[7, 0, 0\] is no cell"),
        ({"cells": 5}, r"puzzle\.cells: 5; a list of"),
        ({"cells": None}, r"puzzle\.cells: None; a list of"),
        ({"moves": None}, r"puzzle\.moves = None: expected pairs"),
        ({"pieces": None}, r"puzzle\.pieces = None: expected a label a cell"),
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
