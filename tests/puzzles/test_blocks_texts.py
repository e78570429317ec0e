"""Sliding blocks as text: what is read, written and drawn, and what is refused."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import block_puzzle, puzzle_of
from tests.support.reference_blocks import random_blocks


@given(st.integers(0, 500), st.sampled_from(["/", "\n", " / ", "\n\n"]), st.sampled_from(".·_□"))
def test_parse_undoes_write_and_line(seed, between, blank):
    drawing, alike = random_blocks(random.Random(seed))
    puzzle = block_puzzle(drawing, alike=alike)
    board = puzzle.goals[0]
    assert puzzle.parse(puzzle.write(board)) == board
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == board
    assert puzzle.parse(puzzle.line(board)) == board
    assert "\n" not in puzzle.line(board)
    spaced = between.join(" ".join(row) for row in puzzle.write(board))
    assert puzzle.parse(spaced.replace(".", blank)) == board
    assert puzzle.parse("".join(puzzle.write(board))) == board


def test_letters_of_like_pieces_may_stand_in_any_order():
    puzzle = block_puzzle("abb/c../.dd", alike=["ac", "bd"])
    assert puzzle.parse("cdd/a../.bb") == puzzle.parse("abb/c../.dd") == puzzle.goals[0]
    assert puzzle.line(puzzle.goals[0]) == "abb/c../.dd"


def test_parts_of_goals_are_written_as_they_were():
    puzzle = block_puzzle("??./a?#", start="bb./a.#")
    assert puzzle.write(puzzle.goals[0]) == ["??.", "a?#"]
    assert puzzle.line(puzzle.goals[0]) == "??./a?#"


def test_walls_are_drawn_once_or_twice():
    """A part of a goal may leave them open; a board that is drawn whole may not."""
    start = "ab#/.../#.c"
    puzzles = [block_puzzle(goal, start=start) for goal in ("???/?a?/???", "??#/?a?/#??")]
    assert {puzzle.line(puzzle.goals[0]) for puzzle in puzzles} == {"??#/?a?/#??"}
    assert len({puzzle.states for puzzle in puzzles}) == 1
    several = block_puzzle(goals=["a??/???/???", "??#/???/#?a"], start=start)
    assert several.line(several.goals[0]) == "a?#/???/#??"
    assert block_puzzle("??#/?a?/#??", start="ab#...#.c").cells == 7
    with pytest.raises(InputError, match=r"board = ab\./\.\.\./#\.c is not a board like \.\.#/"):
        puzzles[0].parse("ab./.../#.c")
    with pytest.raises(InputError, match=r"puzzle\.goal = \?\?\?/\?\?\?/c\?\? is not a board like"):
        block_puzzle("???/???/c??", start=start)


def test_axes_name_each_letter_as_often_as_they_like():
    once = block_puzzle("aab/..b/...", horizontal="a", vertical="b")
    twice = block_puzzle("aab/..b/...", horizontal="a a a", vertical="bb")
    assert once.states == twice.states < block_puzzle("aab/..b/...").states


def test_title_and_labels():
    puzzle = block_puzzle("aab/a.b/..#", metric="path")
    assert puzzle.title == "3×3 blocks, 2 pieces (path)"
    assert puzzle.notation.labels == [".", "a", "b"]
    assert puzzle.cells == 8


def test_puzzle_of_settings():
    settings = {"kind": "blocks", "goal": "ab/.c", "alike": ["ab"], "metric": "straight"}
    puzzle = puzzle_of(settings)
    assert puzzle.kind == "blocks"
    assert (puzzle.metric, puzzle.line(puzzle.goals[0])) == ("straight", "ab/.c")
    assert settings["kind"] == "blocks"


def test_cells_that_do_not_touch_are_named():
    """They may be several pieces that ought to have letters of their own."""
    (remark,) = block_puzzle("a.a/.b./bcc/...").remarks
    assert "'a' and 'b' do not touch" in remark
    assert block_puzzle("aa./.b./.cc/...").remarks == []


# --- what is refused

REFUSED = [
    ({"goal": "abc/...", "alike": ["ab", "bc"]}, r"puzzle\.alike = .*'b' is named twice"),
    ({"goal": "abc/...", "alike": ["aba"]}, r"puzzle\.alike = .*'a' is named twice"),
    ({"goal": "abc/...", "alike": ["ax"]}, r"puzzle\.alike = .*'x' is not a piece .* a b c"),
    ({"goal": "aab/c..", "alike": ["ab"]}, r"puzzle\.alike = .*'a' and 'b' differ in form"),
    ({"goal": "aab/..b", "alike": ["ab"]}, r"'a' and 'b' differ in form"),
    ({"goal": "aa./.bb/..b", "alike": ["ab"]}, r"'a' and 'b' differ in form"),
    ({"goal": "ab/c"}, r"ab/c have lengths \[2, 1\]: a board is a rectangle; write #"),
    (
        {"goal": "abc/..#", "start": "abc/..."},
        r"puzzle\.start = abc/\.\.\. is not a board like \.\.\./\.\.#: .* walls",
    ),
    ({"goal": "abc/...", "start": "abc"}, r"puzzle\.start = abc is not a board like \.\.\./"),
    ({"goal": "abc/...", "start": "abd/..."}, r"puzzle\.start = abd/.*'d' is not a piece .* a b c"),
    (
        {"goal": "abc/...", "start": "ab./..."},
        r"ab\./\.\.\.: every piece of abc/\.\.\. must appear",
    ),
    (
        {"goal": "abc/...", "start": "aab/c.."},
        r"puzzle\.start = aab/c\.\.: piece 'a' has a different form",
    ),
    (
        {"goal": "aab/...", "start": "a.b/a.."},
        r"puzzle\.start = a\.b/a\.\.: piece 'a' has a different form",
    ),
    (
        {"goal": "aab/...", "start": "abb/..."},
        r"abb/\.\.\.: piece 'a' has .* in aab/\.\.\.; .* who",
    ),
    ({"goal": "aab/...", "start": "a?b/..."}, r"puzzle\.start = a\?b/\.\.\.: '\?' is not a piece"),
    ({"goal": "a??/???"}, "no board shows all pieces.* puzzle.start without"),
    ({"goals": ["a?/??", "??/?b"]}, "no board shows all pieces"),
    ({"goal": "a?/??", "start": "?a/.."}, "no board shows all pieces"),
    ({"goals": ["ab/..", "ac/.."]}, r"puzzle\.goals? = ac/\.\.: 'c' is not a piece"),
    (
        {"goals": ["ab/..", "ab/.#"]},
        r"puzzle\.goals? = ab/\.\. is not a board like \.\./\.#: .* walls",
    ),
    ({}, r"either puzzle\.goal or puzzle\.goals"),
    ({"goal": "ab", "goals": ["ab"]}, r"either puzzle\.goal or puzzle\.goals"),
    (
        {"goal": "ab.", "metric": "far"},
        r"puzzle\.metric = 'far': expected one of step, straight, path",
    ),
    (
        {"goal": "ab.", "symbols": {"a": "x", "c": "y"}},
        r"puzzle\.symbols names c: the board has no such piece",
    ),
    ({"goal": [["a", "b"]]}, r"puzzle\.goal = .*expected text, or a list of rows of text"),
    ({"goal": "##/##"}, "cell"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_puzzles_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        block_puzzle(**settings)


ALIKE_FORMS = [
    (
        {"goal": "AB./AB.", "start": "AA./BB."},
        r"puzzle\.start = AA\./BB\.: piece 'A' has .* AB\./AB\.;",
    ),
    ({"goal": "AB./AB.", "start": "AB./BA."}, r"puzzle\.start = AB\./BA\.: piece 'A' has .* in AB"),
    (
        {"goals": ["AB../AB../..CC", "AA../BB../..CC"]},
        r"puzzle\.goals = AA.*: piece 'A' has a different form",
    ),
    ({"goal": "AB??/BA??/????"}, r"puzzle\.goal = AB.*: piece 'A' has a different form"),
    ({"goal": "AA??/????/????"}, r"puzzle\.goal = AA.*: piece 'A' has a different form"),
    ({"goal": "A???/B???/????"}, r"puzzle\.goal = A\?.*: piece 'A' has a different form"),
    ({"goal": "A?A?/A?A?/????"}, r"puzzle\.goal = A\?.*: piece 'A' has a different form"),
]


@pytest.mark.parametrize(("settings", "message"), ALIKE_FORMS)
def test_like_pieces_have_forms_too(settings, message):
    with pytest.raises(InputError, match=message):
        block_puzzle(**{"start": "AB../AB../..CC", **settings}, alike=["AB"])


AXES = [
    ({"horizontal": "z"}, r"puzzle\.horizontal = 'z': 'z' is not a piece .* are a b c"),
    ({"horizontal": "a", "vertical": "a"}, r"puzzle\.vertical = 'a': 'a' is one of puzzle\.hor"),
    (
        {"horizontal": "b", "alike": ["bc"]},
        r"puzzle\.alike = .*'b' and 'c' differ in form or in the places that they can reach",
    ),
    (
        {"horizontal": "a", "goal": "???/aa?"},
        r"puzzle\.goal = .*: piece 'a' begins in row 2; puzzle\.horizontal .* in row 1, as",
    ),
    (
        {"vertical": "b", "goal": "?b?/???"},
        r"puzzle\.goal = .*: piece 'b' begins in column 2; puzzle\.vertical .* in column 1, ",
    ),
]


@pytest.mark.parametrize(("settings", "message"), AXES)
def test_axes_that_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        block_puzzle(**{"goal": "??./???", "start": "aa./bc.", **settings})


def test_like_pieces_on_one_axis_may_lie_in_each_others_rows():
    puzzle = block_puzzle("a.b/c..", alike=["abc"], horizontal="abc")
    assert puzzle.states == 9
    assert not puzzle.model.reaches(
        puzzle.parse("a.b/..c".replace("b/", "./").replace("..c", "bc."))
    )
    with pytest.raises(InputError, match="piece 'a' begins in column 3"):
        block_puzzle("a.b/c..", alike=["ac"], vertical="ac").parse("..a/cb.")


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("BBAA/CCAA/DEEF/DGHF/I..J", "board = BBAA/.*: piece 'B' has a different form in"),
        ("BCAA/CBAA/DEEF/DGHF/I..J", "board = BCAA/.*: piece 'B' has a different form"),
        ("BCAA/BCAA/DEEF/DGHF/I..J", None),
        ("CAAF/CAAF/BEED/BHGD/J..I", None),
    ],
)
def test_like_pieces_of_a_large_board(board, message):
    puzzle = block_puzzle("BAAC/BAAC/DEEF/DGHF/I..J", alike=["BCDF", "GHIJ"], metric="path")
    if message is None:
        puzzle.parse(board)
        return
    with pytest.raises(InputError, match=message):
        puzzle.parse(board)


@pytest.mark.parametrize(
    ("goal", "start", "message"),
    [
        ("a??/???", "aab/...", "piece 'a' has a different form in aab/"),
        ("?a?/???", "aab/...", "piece 'a' has a different form"),
        ("??a/???", "aab/...", "piece 'a' has a different form"),
        ("?.a/???", "aab/...", "piece 'a' has a different form"),
        ("aa?/?ab/???", "aab/a.b/...", "piece 'a' has a different form"),
        ("a??/?a?", "abc/...", "piece 'a' has a different form"),
        ("aa?/aa?", "aab/...", "piece 'a' has a different form"),
        ("a?b/???", "aab/...", "piece 'a' has a different form"),
    ],
)
def test_parts_of_goals_leave_their_pieces_whole(goal, start, message):
    with pytest.raises(InputError, match=rf"puzzle\.goal = {re.escape(goal)}: {message}"):
        block_puzzle(goal, start=start)
    assert len(block_puzzle("aa?/a??/???", start="aab/a.b/...").model.origins()[0])


@pytest.mark.parametrize(
    ("goal", "start", "message"),
    [
        ("..?/..?", "ab./...", None),
        ("...?/....", "ab../....", r"no board agrees with the goal \.\.\.\?/"),
        ("?????/?????", "abcde/fgh..", "1,814,400 boards agree .* at most 1,000,000 positions"),
        ("?????/?????/?????", "abcde/fghij/klm..", "at most 1,000,000 positions"),
    ],
)
def test_goals_that_cannot_be(goal, start, message):
    puzzle = block_puzzle(goal, start=start)
    if message is None:
        assert len(puzzle.model.origins()[0])
        return
    with pytest.raises(InputError, match=message):
        puzzle.model.origins()


NOT_ON_THE_BOARD = [
    ("ab.", r"board = ab\. is not a board like \.\.\./\.\.\.: expected 2 rows of 3 letters"),
    ("", "board =  is not a board like .*: expected 2 rows of 3 letters"),
    ("aab/c../...", "expected 2 rows of 3 letters"),
    ("aab/c.#", "expected 2 rows of 3 letters"),
    ("aab/d..", "board = aab/d.*'d' is not a piece of this puzzle; its pieces are a b c"),
    ("aab/c.?", r"board = aab/c\.\?: '\?' is not a piece"),
    ("aa./c..", r"board aa\./c\.\.: every piece of aab/c\.\. must appear once, whole"),
    ("aab/cb.", "piece 'b' has a different form"),
    ("a.b/a.c", r"board = a\.b/a\.c: piece 'a' has a different form in aab/c"),
    ("a.b/..c", "piece 'a' has a different form"),
    ("aab/aac", "piece 'a' has a different form"),
    ("aab/bcc", "piece 'b' has a different form"),
    (["aab", 3], "board = .*expected text"),
]


@pytest.mark.parametrize(("text", "message"), NOT_ON_THE_BOARD)
def test_boards_of_another_puzzle(text, message):
    with pytest.raises(InputError, match=message):
        block_puzzle("aab/c..").parse(text)


@pytest.mark.parametrize(
    ("board", "said"),
    [
        ((1, 1, 2, 3, 3, 0), r"\[1, 1, 2, 3, 3, 0\]: every piece of aab/c\.\. must"),
        ((1, 1, 2, 0, 0, 0), r"\[1, 1, 2, 0, 0, 0\]: every piece of aab"),
        ((1, 1, 2, 4, 0, 0), r"\[1, 1, 2, 4, 0, 0\]: codes are 0 \(empty\) and 1\.\.3"),
        ((1, 1, 2, 3, 0, -7), r"\[1, 1, 2, 3, 0, -7\]: codes are 0 \(empty\) and 1\.\.3"),
        ((1, 0, 1, 2, 3, 0), r"\[1, 0, 1, 2, 3, 0\]: every piece of aab"),
    ],
)
def test_codes_that_are_no_board(board, said):
    puzzle = block_puzzle("aab/c..")
    for ask in (
        puzzle.model.state,
        puzzle.model.reaches,
        lambda b: puzzle.model.states_of([puzzle.goals[0], b]),
    ):
        with pytest.raises(InputError, match=f"board {said}"):
            ask(board)


def test_a_start_that_cannot_be_reached():
    puzzle = block_puzzle("ab.", start="ba.")
    with pytest.raises(InputError, match=r"puzzle\.start = ba\.: .*cannot be reached"):
        puzzle.check()
    block_puzzle("ab.", start=".ab").check()
