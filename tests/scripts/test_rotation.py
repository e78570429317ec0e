"""`scripts/rotation.py`: its solutions, replayed tile by tile on a plain list."""

import random
import re
import sys
from itertools import pairwise

import pytest

from frontier.config.loading import load_config
from frontier.errors import InputError
from frontier.report.boards import draw_boards
from frontier.solving.pieces import IdaSolver
from tests.support.commands import script
from tests.support.reference_search import sign
from tests.support.sweeps import cases
from tests.support.temporary_runs import CONFIGS

rotations = script("rotation")
FIFTEEN, cells_of, moved = rotations.FIFTEEN, rotations.cells_of, rotations.moved
solve_by_rotations, tiles_of = rotations.solve_by_rotations, rotations.tiles_of

GOAL = (*range(1, 16), 0)
PUBLISHED = (15, 13, 3, 9, 1, 4, 14, 5, 7, 2, 8, 10, 12, 11, 6, 0)
STAGES = [
    (4, "a 7, b 2, a -7"),
    (3, "a 4, b -1, a -4, a 6, b 1, a -6"),
    (2, ""),
    (1, "a 3, b -1, a -3, a 4, b 1, a -4"),
    (5, "b 2, a 3, b 2, a -3"),
    (9, "a 1, b -1, a -1, a 2, b 1, a -2"),
    (13, "c 1, a 2, c 1, a -2"),
    (8, "c -1, b 5, c 1, b -5"),
    (7, "b 4, c 1, b -4"),
    (6, ""),
    (10, ""),
    (14, "c -1, b 1, c 1, b -1"),
    (11, "c -1"),
]
"""Fujimoto's example, tile by tile."""

PLACES = {  # of a loop's tiles, each the next one's after a turn by one
    "a": (0, 4, 8, 12, 13, 14, 11, 7, 3, 2, 1),
    "b": (5, 9, 13, 14, 11, 7, 6),
    "c": (10, 14, 11),
}


def as_turns(text):
    words = (turn.split() for turn in text.split(", ") if turn)
    return [(loop, int(number)) for loop, number in words]


def beside(cell):
    """The cells that share a side with a cell."""
    row, column = divmod(cell, 4)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [4 * r + c for r, c in around if 0 <= r < 4 and 0 <= c < 4]


BESIDE = [beside(cell) for cell in range(16)]


def pushed(board, tiles):
    """The board after these tiles slid, one after the other, into the blank beside them."""
    place = {tile: cell for cell, tile in enumerate(board)}
    blank = place.pop(0)
    for tile in tiles:
        assert place[tile] in BESIDE[blank]
        place[tile], blank = blank, place[tile]
    place[0] = blank
    return tuple(sorted(place, key=place.__getitem__))


def walked(board, way):
    """The tiles that slide while the blank visits these cells, each beside the one before."""
    cells, tiles = list(board), []
    blank = cells.index(0)
    for cell in way:
        assert cell in BESIDE[blank]
        tiles.append(cells[cell])
        cells[blank], blank = cells[cell], cell
    return tiles


def parity(board):
    """0 where the solved board can be reached: the blank's way home as odd as the order."""
    row, column = divmod(board.index(0), 4)
    return (sign(board) + sign(GOAL) + row + 3 + column + 3) % 2


def random_boards(count, odd=0):
    """Boards of one parity, the blank anywhere."""
    rng = random.Random(15)
    for _ in range(count):
        board = rng.sample(range(16), 16)
        if parity(board) != odd:
            board[0], board[1] = board[1], board[0]
            if 0 in board[:2]:
                board[0], board[1] = board[1], board[0]
                board[2], board[3] = board[3], board[2]
        assert parity(board) == odd
        yield tuple(board)


def test_the_published_example():
    rotation = solve_by_rotations(PUBLISHED)
    assert [(stage.tile, stage.turns) for stage in rotation.stages] == [
        (tile, as_turns(turns)) for tile, turns in STAGES
    ]
    assert rotation.slide == []
    assert len(rotation.turns) == 41
    costs = {"a": 12, "b": 8, "c": 4}
    assert len(rotation.blank_path) == sum(costs[loop] * abs(n) for loop, n in rotation.turns)
    assert rotation.units == sum(abs(n) for _, n in rotation.turns)
    assert pushed(PUBLISHED, tiles_of(rotation, rotation.blank_path)) == GOAL


@pytest.mark.parametrize(("loop", "moves"), [("a", 12), ("b", 8), ("c", 4)])
@pytest.mark.parametrize("number", [-3, -2, -1, 1, 2, 3, 11])
def test_a_turn_moves_each_tile_of_its_loop_on_by_one(loop, moves, number):
    way = cells_of((loop, number))
    assert len(way) == moves * abs(number)
    after = moved(GOAL, way)
    expected = list(GOAL)
    places = PLACES[loop]
    for k, place in enumerate(places):
        expected[places[(k + number) % len(places)]] = GOAL[place]
    assert after == tuple(expected)
    assert moved(after, cells_of((loop, -number))) == GOAL
    assert pushed(GOAL, walked(GOAL, way)) == after


@pytest.fixture(scope="module", params=cases([300, 1000], few=1))
def solved(request):
    return [solve_by_rotations(board) for board in random_boards(request.param)]


def test_random_boards_are_solved(solved):
    """Each solution replayed, all of it and without ways there and straight back."""
    assert {rotation.start.index(0) for rotation in solved} == set(range(16))
    for number, rotation in enumerate(solved):
        way, short = rotation.blank_path, rotation.short_path
        tiles, fewer = walked(rotation.start, way), walked(rotation.start, short)
        assert pushed(rotation.start, tiles) == GOAL
        assert pushed(rotation.start, fewer) == GOAL
        assert len(fewer) <= len(tiles)
        assert all(tile != after for tile, after in pairwise(fewer))
        if number % 100 == 0:
            assert tiles_of(rotation, way) == tiles
            assert tiles_of(rotation, short) == fewer
    assert any(len(rotation.short_path) < len(rotation.blank_path) for rotation in solved)


def test_placed_tiles_stay_after_each_stage(solved):
    """A tile that has its place has it again at the end of every later stage."""
    for rotation in solved:
        board = moved(rotation.start, rotation.slide)
        assert board.index(0) == 15
        placed = []
        for stage, (tile, _) in zip(rotation.stages, STAGES, strict=True):
            for turn in stage.turns:
                board = moved(board, cells_of(turn))
            assert stage.board == board
            assert stage.tile == tile
            placed.append(tile)
            assert all(board[n - 1] == n for n in placed)
        assert board == GOAL


def test_the_page_says_how_its_board_is_solved_otherwise():
    """Under the config of the 15-puzzle, whose own goal has the blank elsewhere."""
    page = (CONFIGS.parent / "docs" / "reference" / "puzzles" / "tiles.md").read_text(
        encoding="utf-8"
    )
    (board,) = re.findall(r'^python scripts/rotation.py "(.*)"$', page, re.MULTILINE)
    assert f'frontier solve 15-puzzle "{board}"' in page
    puzzle = load_config("15-puzzle").make_puzzle()
    assert puzzle.goals == FIFTEEN.goals
    moves = len(IdaSolver(puzzle).solve(puzzle.parse(board)).solution.moves)
    turned = len(solve_by_rotations(puzzle.parse(board)).blank_path)
    said = f"{turned:,} tile moves for this board, where {moves} would suffice"
    assert said in " ".join(page.split())


def test_the_solved_board_needs_nothing():
    rotation = solve_by_rotations(GOAL)
    assert (rotation.turns, rotation.blank_path, rotation.short_path) == ([], [], [])
    assert [stage.tile for stage in rotation.stages] == [tile for tile, _ in STAGES]


def test_boards_of_the_other_parity_are_refused():
    for board in random_boards(300, odd=1):
        with pytest.raises(InputError, match=r"parity .* goal is 1 2 3 4/.*/13 14 15 0$"):
            solve_by_rotations(board)


@pytest.mark.parametrize(
    "board",
    [
        (*range(1, 15), 14, 0),
        (*range(1, 16), 16),
        tuple(range(1, 17)),
        (-1, *range(2, 16), 0),
    ],
)
def test_boards_that_are_none_are_refused(board):
    with pytest.raises(InputError, match=r"0\.\.15|1\.\.15"):
        solve_by_rotations(board)


@pytest.mark.parametrize("text", ["1 2 3/4 5 6/7 8 0", "1 2 3 4", "", "1 2 3 x " + "4 " * 12])
def test_text_that_is_no_board_of_the_15_puzzle(text):
    with pytest.raises(InputError, match=r"4 rows of 4|write whole numbers"):
        FIFTEEN.parse(text)


def said(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["rotation.py", *arguments])
    rotations.main()
    return capsys.readouterr().out


def test_what_the_script_says(monkeypatch, capsys):
    board = "15 13 3 9/1 4 14 5/7 2 8 10/12 11 0 6"
    solution = solve_by_rotations(FIFTEEN.parse(board))
    text = said(monkeypatch, capsys, board)
    assert text.startswith(f"{board}:\n  blank to the corner: 6\n   4: (a 7) (b 2) (a -7)\n")
    assert "   2: in place\n" in text
    assert f"41 commands, {solution.units} unit rotations, " in text
    assert f" {len(solution.blank_path):,} tile moves\n" in text
    count, tiles = re.search(r"without backtracking, (\S+) tile moves:\n(.*)", text, re.S).groups()
    tiles = [int(tile) for tile in tiles.split()]
    assert int(count.replace(",", "")) == len(tiles)
    assert pushed(solution.start, tiles) == GOAL
    shown = said(monkeypatch, capsys, board, "--boards")
    assert all(draw_boards(FIFTEEN, [stage.board]) in shown for stage in solution.stages)


def test_one_rotation(monkeypatch, capsys):
    text = said(monkeypatch, capsys, "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15")
    assert "  0 commands, 0 unit rotations, 1 tile move\n" in text
    assert "  without backtracking, 1 tile move:\n" in text
    board = FIFTEEN.line(moved(GOAL, cells_of(("c", -1))))
    assert "  1 command, 1 unit rotation, 4 tile moves\n" in said(monkeypatch, capsys, board)


def test_what_the_script_refuses(monkeypatch, capsys):
    with pytest.raises(SystemExit) as end:
        said(monkeypatch, capsys, "13 15 3 9/1 4 14 5/7 2 8 10/12 11 6 0")
    assert end.value.code == 2
    assert "parity" in capsys.readouterr().err
