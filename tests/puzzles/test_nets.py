"""Pictures of permutation puzzles in grids and nets, against a cube of stickers turned in space."""

import random
from itertools import pairwise, product

import numpy as np
import pytest

import frontier
from frontier.errors import InputError
from frontier.puzzles import puzzle_of
from frontier.report.boards import draw_boards, film_page, film_strip
from frontier.solving.solution import Solution
from tests.support.commands import invoke
from tests.support.temporary_runs import CONFIGS

AXES = {
    "R": (1, 0, 0),
    "L": (-1, 0, 0),
    "U": (0, 1, 0),
    "D": (0, -1, 0),
    "F": (0, 0, 1),
    "B": (0, 0, -1),
}
"""The normals of the faces: x to the right, y up, z to the one who looks."""

NET = {"U": (2, 0), "L": (0, 2), "F": (2, 2), "R": (4, 2), "B": (6, 2), "D": (2, 4)}
"""The upper left square of each face in the net."""

ACROSS = {
    "U": ((1, 0, 0), (0, 0, 1)), "D": ((1, 0, 0), (0, 0, -1)), "F": ((1, 0, 0), (0, -1, 0)),
    "B": ((-1, 0, 0), (0, -1, 0)), "R": ((0, 0, -1), (0, -1, 0)), "L": ((0, 0, 1), (0, -1, 0)),
}  # fmt: skip
"""The directions in space to the right and downwards in each face of the net."""


def turned(axis, vector):
    """A vector after a quarter turn, clockwise for one who looks at that face from outside."""
    axis, vector = np.array(axis), np.array(vector)
    return tuple((axis * axis.dot(vector) - np.cross(axis, vector)).tolist())


def solved_stickers():
    """(corner, normal) -> face, of a cube whose corners lie at ±1."""
    return {
        (corner, normal): face
        for corner in product((-1, 1), repeat=3)
        for face, normal in AXES.items()
        if np.dot(corner, normal) > 0
    }


def after(stickers, move):
    """The stickers after a move such as R2 or R'."""
    axis = AXES[move[0]]
    for _ in range({"2": 2, "'": 3}.get(move[1:], 1)):
        stickers = {
            (turned(axis, corner), turned(axis, normal))
            if np.dot(corner, axis) > 0
            else (corner, normal): face
            for (corner, normal), face in stickers.items()
        }
    return stickers


def net(stickers):
    """(x, y) -> face."""
    squares = {}
    for (corner, normal), face in stickers.items():
        side = next(name for name, axis in AXES.items() if axis == normal)
        right, down = ACROSS[side]
        x, y = (np.dot(corner, way) > 0 for way in (right, down))
        squares[NET[side][0] + int(x), NET[side][1] + int(y)] = face
    return squares


def seen(puzzle, board):
    picture = puzzle.notation.picture(board)
    return {picture.places[piece.cells[0]]: piece.label for piece in picture.pieces}


@pytest.fixture(scope="module")
def cube():
    return frontier.load_config(CONFIGS / "cube-2x2x2.toml").make_puzzle()


def boards_after(puzzle, board, moves):
    """The boards on the way of some moves, the first included."""
    named = {generator.name: generator for generator in puzzle.notation.generators}
    boards = [board]
    for move in moves:
        boards.append(puzzle.notation.moved(named[move], boards[-1]))
    return boards


@pytest.mark.parametrize("seed", range(5))
def test_the_net_of_the_cube_is_that_of_a_cube_turned_in_space(cube, seed):
    moves = random.Random(seed).choices(["U", "U'", "U2", "R", "R'", "R2", "F", "F'", "F2"], k=12)
    stickers = solved_stickers()
    boards = boards_after(cube, cube.goals[0], moves)
    assert seen(cube, boards[0]) == net(stickers)
    for move, board in zip(moves, boards[1:], strict=True):
        stickers = after(stickers, move)
        assert seen(cube, board) == net(stickers)


def test_stickers_keep_their_numbers_along_moves(cube):
    """So on a page each of them slides to where it comes: none of another face takes its place."""
    boards = boards_after(cube, cube.goals[0], ["R", "U", "F'", "R2"])
    pictures = [cube.notation.picture(board) for board in boards]
    faces = [{piece.code: piece.label for piece in picture.pieces} for picture in pictures]
    assert len(faces[0]) == 24
    assert all(face == faces[0] for face in faces)
    where = [{piece.code: piece.cells for piece in picture.pieces} for picture in pictures]
    moved = [sum(a[n] != b[n] for n in a) for a, b in pairwise(where)]
    assert moved == [12] * 4, "four corners of three stickers"
    solution = Solution(boards, ["R", "U", "F'", "R2"])
    assert film_strip(cube, solution).count("<svg") == 1
    assert "3. F" in film_page(cube, solution, "x")


def test_a_net_has_no_walls_in_a_terminal(cube):
    drawn = draw_boards(cube, cube.goals)
    assert "░" not in drawn
    assert drawn.splitlines()[0].strip() == "┌───┬───┐"


FLIP = {"kind": "permutations", "orientations": [2, 2, 1], "closed": True}
FLIP["generators"] = {"a": {"moves": "(1 2)", "turns": [1, 0, 0]}}


def test_positions_in_a_grid():
    puzzle = puzzle_of({**FLIP, "picture": "3 . 1\n. 2 ."})
    assert puzzle.notation.picture(puzzle.goals[0]).places == ((2, 0), (1, 1), (0, 0))
    board = puzzle.parse("2 1+1 3")
    assert seen(puzzle, board) == {(2, 0): "2", (1, 1): "1+1", (0, 0): "3"}


def test_what_is_solved_shows_its_faces_however_it_is_turned():
    puzzle = puzzle_of({**FLIP, "goal": "1+1 2 3", "picture": "X1.0 Y1.1 X2.0 Y2.1 Z3 W"})
    shown = [seen(puzzle, board) for board in boards_after(puzzle, puzzle.goals[0], "aaaa")]
    words = ["".join(at[x, 0] for x in range(6)) for at in shown]
    # a brings the piece in 1 to 2, turned by one, and the one in 2 to 1, as it is.
    assert words == ["XYXYZW", "XYYXZW", "YXYXZW", "YXXYZW", "XYXYZW"]


def test_like_pieces_look_alike():
    puzzle = puzzle_of(
        {"kind": "permutations", "generators": {"a": "(1 2)", "b": "(2 3)"}, "goal": "xxy",
         "picture": "A1 B2 C3"}
    )  # fmt: skip
    assert seen(puzzle, puzzle.goals[0]) == {(0, 0): "A", (1, 0): "A", (2, 0): "C"}
    assert seen(puzzle, puzzle.parse("xyx")) == {(0, 0): "A", (1, 0): "C", (2, 0): "A"}


WRONG = {
    "shows position 2 0 times; expected once": "1 3",
    "shows position 1 2 times; expected once": "1 2 1 3",
    "'4' names position 4: this puzzle has 3 positions": "1 2 3 4",
    "'0' names position 0": "0 1 2 3",
    "'1' names no face, but 'U2.0' does": "1 U2.0 3",
    "'2.1' is not a square": "1 2.1 3",
    "'U-1' is not a square": "U-1",
    "shows sticker 1 of position 2 0 times": "A1.0 A1.1 B2.0 C3",
    "'A1': position 1 has the stickers 0..1, such as A1.0": "A1",
    "'C3.1': position 3 has the stickers 0..0": "C3.1",
    "shows position 1 0 times": "",
}


@pytest.mark.parametrize("said", WRONG)
def test_pictures_that_cannot_be(said):
    with pytest.raises(InputError) as error:
        puzzle_of({**FLIP, "picture": WRONG[said]})
    assert str(error.value).startswith("puzzle.picture")
    assert said in str(error.value)


def test_a_picture_may_be_changed_after_a_run_has_begun(tmp_path):
    puzzle = {**FLIP, "picture": "1 2 3"}
    tables = {"store": {"path": str(tmp_path / "run")}, "cluster": {"kind": "serial"}}
    frontier.run(frontier.make_config("x", puzzle, **tables))
    again = frontier.run(frontier.make_config("x", {**FLIP, "picture": "3 2 1"}, **tables))
    assert again.complete
    with pytest.raises(InputError, match=r"puzzle\.goal"):
        frontier.run(frontier.make_config("x", {**puzzle, "goal": "1+1 2 3"}, **tables))


def test_stickers_that_may_be_any_are_drawn_as_such():
    puzzle = puzzle_of({**FLIP, "goal": "1 ? 3", "picture": "X1.0 Y1.1 X2.0 Y2.1 Z3 W"})
    for board, labels in (("1 ? 3", "XY??ZW"), ("? 1+1 3", "??YXZW")):
        drawn = seen(puzzle, puzzle.parse(board))
        assert "".join(drawn[x, 0] for x in range(6)) == labels


@pytest.mark.parametrize("name", ["cube-2x2x2", "pancake-9", "topspin-9", "xcross"])
def test_configs_are_drawn(name):
    assert invoke("draw", CONFIGS / f"{name}.toml").stdout.startswith("goal")
