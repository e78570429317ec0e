"""What is drawn of cells, moves and pieces."""

import re
from xml.etree import ElementTree

import pytest

from frontier.puzzles import cell_puzzle
from frontier.report.boards import board_svg, draw_boards
from tests.puzzles.test_cells import pairs_of
from tests.puzzles.test_cells_boards import BAR
from tests.support.cell_boards import BOX, SQUARE, THETA


def test_a_picture_says_what_lies_where():
    table = {"r/l": (10, 0), "d/u": (0, 10)}
    puzzle = cell_puzzle(
        [(x, y) for y in (5, 15) for x in (0, 10, 20)], table, "aa.bcc", alike=["ac"]
    )
    picture = puzzle.notation.picture(puzzle.goals[0])
    assert picture.places == ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1))
    assert picture.edges is None  # squares
    assert [(p.code, p.label, p.kind, set(p.cells)) for p in picture.pieces] == [
        (1, "a", 0, {0, 1}), (2, "b", 1, {3}), (3, "c", 0, {4, 5}),
    ]  # fmt: skip
    part = cell_puzzle(BOX, SQUARE, "aa.b..", goal={"b": (2, 0)})
    assert part.notation.picture(part.goals[0]).open == (0, 1, 3, 4, 5)


@pytest.mark.parametrize("moves", [{"r/l": (1, 0)}, {**SQUARE, "x/y": (1, 1)}])
def test_cells_are_squares_only_where_all_sides_can_be_crossed(moves):
    puzzle = cell_puzzle(BOX, moves, "a.....")
    assert puzzle.notation.picture(puzzle.goals[0]).edges == puzzle.notation.directions.edges
    assert len(puzzle.notation.directions.edges) == sum(map(len, pairs_of(BOX, moves)))


def test_cells_without_points_are_laid_out():
    puzzle = cell_puzzle(list("abcdef"), THETA, "wxyz..")
    places = puzzle.notation.picture(puzzle.goals[0]).places
    assert len({(round(x, 1), round(y, 1)) for x, y in places}) == 6


def test_labels_stand_on_their_pieces():
    square = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]
    puzzle = cell_puzzle(square, {**SQUARE, "x/y": (1, 1)}, "aaaa.")
    picture = puzzle.notation.picture(puzzle.goals[0])
    assert picture.middle(picture.pieces[0]) == ((0, 0), 1)  # its middle lies between four cells
    bar = BAR.notation.picture(BAR.goals[0])
    assert bar.middle(bar.pieces[0]) == (((bar.places[0][0] + bar.places[1][0]) / 2, 0.0), 1)


def test_pieces_of_several_cells_are_drawn_as_one():
    puzzle = BAR
    root = ElementTree.fromstring(board_svg(puzzle, puzzle.goals[0]))
    _, _, _, *paths = [e for e in root.iter() if e.tag.endswith("path")]
    assert len(paths) == 2 * 3  # the pieces and the lines around them
    assert sorted(path.get("d").count("L") for path in paths) == [0, 0, 0, 0, 1, 1]
    assert sorted(path.get("d").count("h0") for path in paths) == [1, 1, 1, 1, 2, 2]
    drawn = draw_boards(puzzle, [puzzle.goals[0]])
    assert re.fullmatch(r"\s*a─+a", drawn.splitlines()[0])
    assert (drawn.count("a"), drawn.count("b"), drawn.count("c")) == (2, 1, 1)


def test_a_move_along_a_path_passes_each_of_its_steps():
    puzzle = cell_puzzle(BOX, SQUARE, "a..b..", metric="path")
    passed = puzzle.notation.steps((1, 0, 0, 2, 0, 0), (0, 0, 0, 2, 1, 0))
    assert passed == [(0, 1, 0, 2, 0, 0), (0, 0, 0, 2, 1, 0)]
