"""Boards of tiles that are refused, written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import tile_puzzle
from tests.support.tile_boards import (
    puzzles_and_boards,
)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((0, 3), r"puzzle\.rows = 0: .*at least 1"),
        ((3, 0), r"puzzle\.columns = 0: .*at least 1"),
        ((2, -4), r"puzzle\.columns = -4: .*at least 1"),
        ((2, 21), r"2 x 21 = 42 cells: at most 40"),
        ((41, 1), r"41 x 1 = 41 cells: at most 40"),
    ],
)
def test_shapes_that_cannot_be(shape, message):
    with pytest.raises(InputError, match=message):
        tile_puzzle(*shape)


BAD_BOARDS = [
    (((0, 1, 2), (3, 4, 4)), r"\[\[0, 1, 2\], \[3, 4, 4\]\]: the numbers 0\.\.5 must .* once"),
    (((1, 2, 3), (4, 5, 6)), r"\[\[1, 2, 3\], \[4, 5, 6\]\]: the numbers 0\.\.5"),
    (
        ((0, 1, 2), (3, 4, -5)),
        r"-5\]\]: -5 is not the number of a tile; write whole numbers, 0 for the blank",
    ),
    (((0, 1), (2, 3), (4, 5)), r"\[\[0, 1\], .*: expected 2 rows of 3 numbers"),
    (((0, 1, 2), (3, 4)), r"\[3, 4\]\]: expected 2 rows of 3 numbers"),
    (((0, 1, 2), (3, 4, 5), (6, 7, 8)), r"\[6, 7, 8\]\]: expected 2 rows of 3 numbers"),
    (((0, 1, 2, 3, 4, 5, 6),), r"\[6\]\]: expected 2 rows of 3 numbers"),
    ((), r"\(\): expected 2 rows of 3 numbers"),
]


@pytest.mark.parametrize(("board", "message"), BAD_BOARDS)
def test_boards_that_are_none(board, message):
    with pytest.raises(InputError, match=r"^puzzle\.goal = .*" + message):
        tile_puzzle(2, 3, goal=board)
    with pytest.raises(InputError, match=r"^puzzle\.start = .*" + message):
        tile_puzzle(2, 3, start=board)
    with pytest.raises(InputError, match=r"^board = .*" + message):
        tile_puzzle(2, 3).parse(board)


FIGURES = "0123456789abcdefghijklmno"


@given(puzzles_and_boards(), st.sampled_from(["", "/"]), st.booleans())
def test_boards_in_figures(puzzle_and_board, between, upper):
    puzzle, board = puzzle_and_board
    rows = ["".join(FIGURES[number] for number in row) for row in puzzle.grid.in_rows(board)]
    text = between.join(rows)
    assert puzzle.parse(text.upper() if upper else text) == board
    assert puzzle.parse(rows) == board
    if text.isdigit():
        assert tile_puzzle(puzzle.grid.rows, puzzle.grid.columns, goal=text).goals == (board,)


def test_figures_in_goals_and_on_short_boards():
    assert tile_puzzle(3, 3, goal="123/???/??0").goals == (
        tile_puzzle(3, 3, goal="1 2 3/? ? ?/? ? 0").goals
    )
    assert tile_puzzle(3, 3, goal=812043765).goals == tile_puzzle(3, 3, goal="812043765").goals
    tall = tile_puzzle(12, 1)
    assert tall.parse(" ".join(map(str, range(12)))) == tall.goals[0]  # a word a cell
    assert tall.parse("/".join("0123456789ab")) == tall.parse("0123456789ab") == tall.goals[0]


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("012345677", r"012345677: the numbers 0\.\.8 must .* 7 is repeated"),
        ("01234567g", r"16 is not one of them"),
        ("01234567-", r"'-' is not the number of a tile"),
        ("01234567²", r"'²' is not the number of a tile"),
        ("0123456789", r"0?123456789: expected 3 rows of 3 numbers"),
        ("012/345", r"012/345: expected 3 rows of 3 numbers"),
    ],
)
def test_figures_that_are_no_board(board, message):
    with pytest.raises(InputError, match=message):
        tile_puzzle(3, 3).parse(board)


@pytest.mark.parametrize(
    ("board", "said"),
    [
        ((0, 1, 2, 3, 4, 4), r"4, 4\]: the numbers 0\.\.5 must .* once"),
        ((1, 2, 3, 4, 5, 6), r"6\]: codes are 0 \(empty\) and 1\.\.5"),
        ((0, 1, 2, 3, 4, -5), r"-5\]: codes are 0 \(empty\) and 1\.\.5"),
    ],
)
def test_codes_that_are_no_board(board, said):
    for ask in (tile_puzzle(2, 3).model.state, tile_puzzle(2, 3).model.reaches):
        with pytest.raises(InputError, match=rf"^board \[.*{said}"):
            ask(board)


def test_start_of_the_wrong_parity():
    start = ((0, 2, 1), (3, 4, 5))
    with pytest.raises(
        InputError, match=r"puzzle\.start = 0 2 1/3 4 5: .* cannot be reached .*parity"
    ):
        tile_puzzle(2, 3, start=start).check()
    for puzzle in (
        tile_puzzle(2, 3, start=((1, 0, 2), (3, 4, 5))),
        tile_puzzle(2, 3, start, start=start),
    ):
        puzzle.check()
    assert tile_puzzle(2, 3, start=((1, 0, 2), (3, 4, 5))).start == (1, 0, 2, 3, 4, 5)
    assert tile_puzzle(2, 3).start is None
    tile_puzzle(2, 3).check()


@pytest.mark.parametrize("start", [((2, 0, 1),), ((0, 2, 1),)])
def test_start_in_another_order_on_one_line(start):
    with pytest.raises(InputError, match=r"puzzle\.start = .* cannot be reached .*keep their"):
        tile_puzzle(1, 3, start=start).check()


def test_a_board_in_another_order_on_one_line_has_no_state():
    with pytest.raises(InputError, match=r"\[2, 0, 1\] cannot be reached"):
        tile_puzzle(1, 3).model.state((2, 0, 1))


@given(puzzles_and_boards(), st.sampled_from(["\n", "/", " / ", "\n\n"]), st.booleans())
def test_parse_takes_rows_of_words(case, between, commas):
    puzzle, board = case
    text = puzzle.line(board).replace("/", between)
    if commas:
        text = text.replace(" ", ",")
    assert puzzle.parse(text) == board


@given(puzzles_and_boards())
def test_parse_takes_all_numbers_in_one_row(case):
    puzzle, board = case
    assert puzzle.parse(" ".join(map(str, board))) == board


@pytest.mark.parametrize("blank", ["0", ".", "_", "·"])
def test_ways_to_write_the_blank(blank):
    assert tile_puzzle(2, 2).parse(f"1 {blank}\n2 3") == (1, 0, 2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2 / 3 x 5", r"0 1 2 / 3 x 5.*'x'.*0 for the blank"),
        ("0 1 2 / 3 4 5.5", r"'5\.5'"),
        ("", "expected 2 rows of 3 numbers"),
        ("0 1 2 / 3 4", "expected 2 rows of 3 numbers"),
        ("0 1 2 3 4", "expected 2 rows of 3 numbers"),
        ("0 1 2 3 4 5 6", "expected 2 rows of 3 numbers"),
        ("0 1 2 / 3 4 4", r"4: the numbers 0\.\.5"),
        ("0 1 . / 3 4 5", r"0 1 \. / 3 4 5: the numbers 0\.\.5"),
        ("0 1 ? / 3 4 5", r"'\?' is not the number of a tile"),
    ],
)
def test_text_that_is_no_board(text, message):
    with pytest.raises(InputError, match=message):
        tile_puzzle(2, 3).parse(text)
