"""What a picture says of a board, for every kind of puzzle."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.config.loading import load_config
from frontier.errors import InputError
from frontier.puzzles import block_puzzle, graph_puzzle, pattern_puzzle, tile_puzzle
from frontier.puzzles.picture import laid_out, shown_in
from frontier.report.boards import board_svg
from frontier.solving.pieces import IdaSolver
from tests.support.reference_blocks import random_blocks
from tests.support.temporary_runs import CONFIGS

SQUARES = ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1))


def told(picture):
    """(code, name, label, kind, cells) of each piece."""
    return [(p.code, p.name, p.label, p.kind, p.cells) for p in picture.pieces]


def empty(picture):
    """The cells of a picture on which nothing lies."""
    held = {*picture.open, *(cell for piece in picture.pieces for cell in piece.cells)}
    return tuple(cell for cell in range(len(picture.places)) if cell not in held)


def test_tiles_have_the_colour_of_the_column_that_they_come_to():
    picture = tile_puzzle(2, 3).notation.picture((4, 1, 0, 3, 5, 2))
    assert picture.places == SQUARES
    assert told(picture) == [
        (1, "1", "1", 1, (1,)),
        (2, "2", "2", 2, (5,)),
        (3, "3", "3", 0, (3,)),
        (4, "4", "4", 1, (0,)),
        (5, "5", "5", 2, (4,)),
    ]
    assert (empty(picture), picture.open, picture.edges) == ((2,), (), None)
    assert (picture.kinds, picture.ordered) == (3, True)
    assert picture.bounds == (-0.5, -0.5, 2.5, 1.5)


@pytest.mark.parametrize(("rows", "columns", "kinds"), [(2, 2, [0, 1, 1]), (3, 1, [1, 2])])
def test_tiles_of_boards_that_are_not_broad_have_the_colour_of_their_row(rows, columns, kinds):
    puzzle = tile_puzzle(rows, columns)
    assert [piece.kind for piece in puzzle.notation.picture(puzzle.goals[0]).pieces] == kinds


def test_tiles_that_the_goal_leaves_open_have_no_colour():
    puzzle = tile_puzzle(2, 3, goal="0 1 ?/3 ? ?", start="0 1 2/3 4 5")
    goal = puzzle.notation.picture(puzzle.goals[0])
    assert (goal.open, empty(goal), [piece.label for piece in goal.pieces]) == (
        (2, 4, 5),
        (0,),
        ["1", "3"],
    )
    kinds = {piece.label: piece.kind for piece in puzzle.notation.picture(puzzle.start).pieces}
    assert kinds == {"1": 1, "2": None, "3": 0, "4": None, "5": None}


def test_patterns_say_their_labelled_tiles_alone():
    picture = pattern_puzzle(2, 3, k=1).notation.picture((1, 5, 0, 2, 3, 4))
    assert told(picture) == [
        (1, "x", "", None, (0,)),
        (2, "2", "2", 2, (3,)),
        (3, "x", "", None, (4,)),
        (4, "x", "", None, (5,)),
        (5, "5", "5", 2, (1,)),
    ]
    assert (picture.places, empty(picture)) == (SQUARES, (2,))


def test_blocks_cover_cells_and_like_ones_share_a_kind():
    puzzle = block_puzzle("aa#/bcd/.ee", alike=["bc"], symbols={"a": "羊", "e": ""})
    picture = puzzle.notation.picture(puzzle.goals[0])
    assert picture.places == ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2))
    kinds = {piece.name: piece.kind for piece in picture.pieces}
    assert kinds["b"] == kinds["c"] != kinds["d"]
    assert kinds["a"] == kinds["e"]
    assert picture.kinds == len(set(kinds.values())) == 3
    assert [(p.label, p.cells) for p in picture.pieces] == [
        ("羊", (0, 1)), ("b", (2,)), ("c", (3,)), ("d", (4,)), ("", (6, 7)),
    ]  # fmt: skip
    assert empty(picture) == (5,)
    part = block_puzzle("?a/..", start="ba/..")
    goal = part.notation.picture(part.goals[0])
    assert ([p.name for p in goal.pieces], goal.open, empty(goal)) == (["a"], (0,), (2, 3))


@pytest.mark.parametrize(
    ("goal", "middle"),
    [
        ("aa.", ((0.5, 0), 2)),
        ("aa/aa", ((0.5, 0.5), 2)),
        ("a/a/.", ((0, 0.5), 1)),
        ("aaa/aaa/aaa", ((1, 1), 3)),
        ("aaa/a.a/aaa", ((1, 0), 3)),
        ("a../aaa", ((1, 1), 3)),
        (".a./aaa/.a.", ((1, 1), 3)),
        ("a.a/aaa", ((1, 1), 3)),
        ("aa./.aa", ((1, 0.5), 1)),
    ],
)
def test_where_a_label_stands(goal, middle):
    puzzle = block_puzzle(goal)
    picture = puzzle.notation.picture(puzzle.goals[0])
    assert picture.middle(picture.pieces[0]) == middle


@given(st.integers(0, 300))
def test_labels_stand_on_their_pieces(seed):
    drawing, alike = random_blocks(random.Random(seed))
    puzzle = block_puzzle(drawing, alike=alike)
    picture = puzzle.notation.picture(puzzle.goals[0])
    held = [cell for piece in picture.pieces for cell in piece.cells]
    assert sorted(held) == [cell for cell, code in enumerate(puzzle.goals[0]) if code]
    for piece in picture.pieces:
        (x, y), broad = picture.middle(piece)
        squares = {picture.places[cell] for cell in piece.cells}
        for row in {np.floor(y), np.ceil(y)}:
            first = int(np.floor(x - (broad - 1) / 2))
            assert {(first + n, row) for n in range(broad)} <= squares


def test_graphs():
    puzzle = graph_puzzle([[1, 2], [0, 2], [0, 1]], "aa.", picture="  0\n\n1   2")
    picture = puzzle.notation.picture((1, 0, 2))
    assert told(picture) == [(1, "a", "a", 0, (0,)), (2, "a", "a", 0, (2,))]
    assert (picture.edges, empty(picture)) == (((0, 1), (0, 2), (1, 2)), (1,))
    assert np.allclose(picture.places, [(0.5, 0), (0, 3**0.5 / 2), (1, 3**0.5 / 2)], atol=1e-3)
    part = graph_puzzle([[1], [0, 2], [1]], "?b.", start="ab.")
    assert part.notation.picture(part.goals[0]).open == (0,)


def test_a_hexagram_is_regular():
    text = "      0\n1   2   3   4\n  5   6   7\n8   9   10  11\n      12"
    edges = [(0, 2), (0, 3), (1, 2), (2, 3), (1, 5), (5, 6), (6, 7), (9, 10), (10, 12)]
    places = np.array(shown_in(text, edges))
    lengths = np.linalg.norm([places[a] - places[b] for a, b in edges], axis=1)
    assert np.allclose(lengths, 1, atol=1e-3)


def test_a_picture_of_one_line_has_no_height():
    assert shown_in("0 1 2", [(0, 1), (1, 2)]) == ((0, 0), (1, 0), (2, 0))
    assert shown_in("0", []) == ((0, 0),)


def drawn(adjacency):
    edges = [(u, v) for u, row in enumerate(adjacency) for v in row if u < v]
    return laid_out(len(adjacency), edges)


def grid(rows, columns):
    at = {(r, c): r * columns + c for r in range(rows) for c in range(columns)}
    ways = ((0, 1), (1, 0), (0, -1), (-1, 0))
    return [[at[r + a, c + b] for a, b in ways if (r + a, c + b) in at] for r, c in at]


@pytest.mark.parametrize("cells", [3, 4, 6, 9])
def test_a_cycle_is_laid_out_as_a_regular_polygon(cells):
    places = np.array(drawn([[(u - 1) % cells, (u + 1) % cells] for u in range(cells)]))
    sides = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
    radii = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert np.allclose(sides, 1, atol=0.02)
    assert np.allclose(radii, radii[0], atol=0.02)


@pytest.mark.parametrize("size", [(2, 2), (2, 4), (3, 3), (4, 5)])
def test_neighbours_of_a_grid_are_nearer_than_others(size):
    adjacency = grid(*size)
    places = np.array(drawn(adjacency))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    joined = [apart[u, v] for u, row in enumerate(adjacency) for v in row]
    assert np.allclose(joined, 1, atol=0.25)
    assert (places >= 0).all()
    assert drawn(adjacency) == drawn(adjacency)


@pytest.mark.parametrize(
    "adjacency", [[[]], [[], []], [[1], [0], [], []], [[1], [0, 2], [1]], grid(1, 5)]
)
def test_cells_never_lie_on_each_other(adjacency):
    places = np.array(drawn(adjacency))
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
    assert (apart > 0.99).all()


def test_a_move_along_a_path_passes_each_of_its_steps():
    puzzle = block_puzzle("a.../###./b...", metric="path")
    before, after = puzzle.parse("a.../###./b..."), puzzle.parse("..../###./ba..")
    lines = [puzzle.line(board) for board in puzzle.notation.steps(before, after)]
    assert lines == [
        ".a../###./b...", "..a./###./b...", "...a/###./b...",
        "..../###a/b...", "..../###./b..a", "..../###./b.a.", "..../###./ba..",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("puzzle", "before", "after"),
    [
        (tile_puzzle(2, 3, metric="multi"), "0 1 2/3 4 5", "1 2 0/3 4 5"),  # two tiles slide as one
        (graph_puzzle([[1, 2], [0, 2], [0, 1]], goal=".aa"), ".aa", "aa."),
    ],
)
def test_a_move_of_one_step_passes_nothing(puzzle, before, after):
    before, after = puzzle.parse(before), puzzle.parse(after)
    assert puzzle.notation.steps(before, after) == [puzzle.notation.follow(before, after)]
    assert puzzle.write(puzzle.notation.follow(before, after)) == puzzle.write(after)


@pytest.mark.parametrize("seed", range(6))
def test_the_last_step_of_a_move_is_the_move(seed):
    drawing, alike = random_blocks(random.Random(seed))
    puzzle = block_puzzle(drawing, alike=alike, metric="path")
    vertices = range(puzzle.model.graph.vertices)
    far = puzzle.model.board(
        (random.Random(seed).choice(vertices), tuple(range(puzzle.model.graph.length)))
    )
    if not puzzle.model.reaches(far):
        far = puzzle.goals[0]
    solution = IdaSolver(puzzle, True).solve(far, None, lambda *_: None).solution
    for before, after in pairwise(solution.boards):
        steps = puzzle.notation.steps(before, after)
        assert steps[-1] == after
        for one, other in pairwise([before, *steps]):
            assert sum(a != b for a, b in zip(one, other, strict=True)) >= 2
            assert sorted(one) == sorted(other)


@pytest.mark.parametrize(
    "puzzle",
    [
        block_puzzle("ab/.b", colours={"a": "#123456"}),
        graph_puzzle([[1, 2], [0, 2], [0, 1]], goal=".ab", colours={"a": "#123456"}),
    ],
)
def test_a_config_may_give_pieces_their_colours(puzzle):
    picture = puzzle.notation.picture(puzzle.goals[0])
    assert {piece.name: piece.colour for piece in picture.pieces} == {"a": "#123456", "b": ""}
    assert "#123456" in board_svg(puzzle, puzzle.goals[0])


def test_colours_of_unknown_pieces_are_refused():
    with pytest.raises(InputError, match="colours"):
        block_puzzle("ab/.b", colours={"x": "#123456"})
    with pytest.raises(InputError, match="colours"):
        graph_puzzle([[1], [0]], goal=".a", colours={"x": "#123456"})


@pytest.mark.parametrize("name", ["goat", "goat-start"])
def test_goat_wolf_and_fences_differ_without_a_font_for_chinese(name):
    puzzle = load_config(CONFIGS / f"{name}.toml").make_puzzle()
    pieces = puzzle.notation.picture(puzzle.start or puzzle.goals[0]).pieces
    looks = {piece.name: (piece.colour, piece.kind) for piece in pieces}
    assert len({looks[name] for name in "gwa"}) == 3
    assert all(ord(letter) < 0x2E80 for piece in pieces for letter in piece.label)
