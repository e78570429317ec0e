"""Cells, moves and pieces of one's own: whole searches against dictionaries, texts, refusals."""

import random

import pytest

from frontier.errors import InputError
from frontier.puzzles import block_puzzle, cell_puzzle, graph_puzzle, tile_puzzle
from frontier.space.layout import Layout
from tests.support.cell_boards import BOX, HEXAGON, HEXAGON_MOVES, SQUARE, THETA, TRAPEZE
from tests.support.reference_cells import both_ways, floor_moves, floor_position, floor_steps
from tests.support.reference_search import layers_of, within_reach
from tests.support.sweeps import swept, tried
from tests.support.whole_searches import bitmap_sizes, boards_at, list_layers


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
    space = puzzle.model.space
    side, numbers = space.numbers(*puzzle.model.origins())
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
        {floor_position(cells, [puzzle.notation.labels[code] for code in b], alike) for b in layer}
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
    puzzle = cell_puzzle(cells, moves, board, alike=alike, metric=metric)
    directions = [moves["on"]] if "on" in moves else pairs_of(cells, moves)
    assert_layers(cells, directions, puzzle, board, alike, metric)


def test_hexagon_has_moves_in_three_directions():
    layers = found_layers(cell_puzzle(HEXAGON, HEXAGON_MOVES, "a......"))
    assert [len(layer) for layer in layers] == [1, 3, 3]


def sizes(puzzle):
    return [len(layer) for layer in found_layers(puzzle)]


def test_tiles_expressed_as_cells():
    cells = cell_puzzle(BOX, SQUARE, [".", *"12345"])
    assert sizes(cells) == sizes(tile_puzzle(2, 3))


@pytest.mark.parametrize("metric", ["step", "path"])
@swept("alike", [(), ("ac",)], few=[("ac",)])
def test_blocks_expressed_as_cells(metric, alike):
    drawing = "aab/ccb/d../e.."
    cells = [(x, y) for y in range(4) for x in range(3)]
    mine = cell_puzzle(cells, SQUARE, drawing.replace("/", ""), alike=alike, metric=metric)
    theirs = block_puzzle(drawing, alike=alike, metric=metric)
    assert mine.states == theirs.states
    assert sizes(mine) == sizes(theirs)


def test_graph_expressed_as_cells():
    adjacency = [[1, 3], [0, 2, 4], [1, 3], [0, 2], [1]]
    edges = [(str(u), str(v)) for u in range(5) for v in adjacency[u] if u < v]
    mine = cell_puzzle(list("01234"), edges, "wbxy.", alike=["wb"])
    assert sizes(mine) == sizes(graph_puzzle(adjacency, "wwxy."))


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
    for seed in range(tried(80, 200)):
        cells, directions, board = random_floor(random.Random(seed))
        try:
            puzzle = cell_puzzle(
                cells, directions, board, metric="path" if seed % 3 == 0 else "step"
            )
        except InputError as error:
            assert "two placements that begin in the same cell" in str(error)  # noqa: PT017
            continue
        searched += (
            len(assert_layers(cells, directions.values(), puzzle, board, (), puzzle.metric)) > 2
        )
    assert searched > tried(8, 20)


# --- goals and starts


def test_goals():
    """Where a goal is given the pieces are the start; a table that leaves out pieces is a part."""
    cells = [(x, 0) for x in range(4)]
    puzzle = cell_puzzle(cells, {"r/l": (1, 0)}, "ab..", goal={"b": (3, 0)})
    assert puzzle.goals == ((-1, -1, -1, 2),)
    assert puzzle.start == (1, 2, 0, 0)
    assert puzzle.line(puzzle.goals[0]) == "???b"
    whole = cell_puzzle(cells, {"r/l": (1, 0)}, "ab..", goal={"a": (1, 0), "b": (3, 0)})
    assert (whole.goals, whole.start) == (((0, 1, 0, 2),), (1, 2, 0, 0))
    plain = cell_puzzle(cells, {"r/l": (1, 0)}, "ab..")
    assert (plain.goals, plain.start) == (((1, 2, 0, 0),), None)
    several = cell_puzzle(
        cells, {"r/l": (1, 0)}, "ab..", goals=["a?b?", {"b": (3, 0)}], start="a.b."
    )
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
    puzzle = cell_puzzle(HEXAGON, HEXAGON_MOVES, pieces, goal=goal, start=pieces)
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
        cell_puzzle(HEXAGON, HEXAGON_MOVES, "aa.b.c.", goal="????a??")


def test_a_start_that_cannot_be_reached():
    line = [("a", "b"), ("b", "c")]
    with pytest.raises(InputError, match=r"puzzle\.start = ba\.: .*cannot be reached"):
        cell_puzzle(list("abc"), line, "ab.", start="ba.").check()
    with pytest.raises(InputError, match=r"puzzle\.start = ab\.: .*cannot be reached"):
        cell_puzzle(list("abc"), line, "ab.", goal="ba.").check()
    cell_puzzle(list("abc"), line, "ab.", start="a.b").check()
