"""Permutation puzzles: boards as states and texts, and a whole run as a user types it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import invoke
from puzzles.permutation_twins import PYRAMINX, burnt_pancakes, pancakes

from frontier.errors import InputError
from frontier.puzzles import permutation_puzzle

LARGE = [
    permutation_puzzle(**pancakes(9)),
    permutation_puzzle(**burnt_pancakes(5)),
    permutation_puzzle(**PYRAMINX, closed=True),
    permutation_puzzle({"a": "(1 2 3 4 5)(6 7 8)", "b": "(1 2)"}, closed=True, goal="aabcdefg"),
    permutation_puzzle(
        {"a": {"moves": "(1 2 3 4)", "turns": [1, 0, 0, 0]}},
        orientations=4, closed=True, goal=["ten", "x", "x", "x"],
    ),
]  # fmt: skip


@given(st.integers(0, len(LARGE) - 1), st.randoms(use_true_random=False))
def test_state_undoes_board(number, rng):
    puzzle = LARGE[number]
    board = puzzle.goals[0]
    for _ in range(12):
        generator = rng.choice(puzzle.notation.generators)
        after = puzzle.notation._after(generator, board)
        followed = puzzle.notation.follow(board, puzzle.notation.pieces.settled(after))
        assert puzzle.notation.pieces.settled(followed) == puzzle.notation.pieces.settled(after)
        assert followed in [puzzle.notation._after(g, board) for g in puzzle.notation.generators]
        name = puzzle.notation.name_move(board, after)
        assert name in [
            g.name for g in puzzle.notation.generators if puzzle.notation._after(g, board) == after
        ]
        board = after
    board = puzzle.notation.pieces.settled(board)
    assert puzzle.positions.board(puzzle.positions.state(board)) == board
    assert puzzle.positions.reaches(board)
    assert puzzle.parse(puzzle.write(board)) == board
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == board
    assert puzzle.parse(puzzle.line(board)) == board
    assert "\n" not in puzzle.line(board)


def test_codes_that_are_no_board():
    puzzle = permutation_puzzle({"a": "(1 2)(3 4)"})
    for board in ((1, 1, 3, 4), (3, 2, 1, 4), (5, 2, 3, 4), (0, 2, 3, 4)):
        with pytest.raises(InputError, match=r"each of the pieces 1\.\.4 must lie in it once"):
            puzzle.positions.state(board)


def test_a_board_out_of_reach():
    puzzle = permutation_puzzle({"a": "(1 2)"}, orientations=2)
    assert not puzzle.positions.reaches(puzzle.parse("1+1 2"))
    with pytest.raises(InputError, match=r"board \[3, 2\] cannot be reached"):
        puzzle.positions.state(puzzle.parse("1+1 2"))


def test_a_run_from_a_config(tmp_path):
    """It is whole, its answers are shortest, and boards are drawn as a row."""
    path = tmp_path / "run"
    settings = [f"store.path={path}", "search.keep=all", "cluster.kind=serial"]
    config = tmp_path / "burnt.toml"
    moves = burnt_pancakes(4)["generators"]
    lines = [
        f"{name} = {{moves = {of['moves']}, turns = {of['turns']}}}" for name, of in moves.items()
    ]
    config.write_text(
        'name = "burnt"\n[puzzle]\nkind = "permutations"\norientations = 2\n'
        "[puzzle.generators]\n" + "\n".join(lines),
        encoding="utf-8",
    )
    options = [word for setting in settings for word in ("--set", setting)]
    invoke("run", config, *options)
    assert "all sound" in invoke("verify", path, "--deep").stdout
    summary = json.loads((path / "summary.json").read_text())
    assert (summary["depth"], summary["states"]) == (8, 384)
    assert "1+1" in invoke("farthest", path).stdout
    assert "| 8 |" in invoke("report", path, "--markdown", "-").stdout
    for method in ("layers", "ida", "search"):
        asked = path if method == "layers" else config
        board = "1+1 2+1 3+1 4+1"
        answer = json.loads(invoke("solve", asked, board, "--method", method, "--json").stdout)
        assert answer["distance"] == 8
        assert set(answer["moves"]) <= set(moves)
    drawn = invoke("draw", config, "2+1 1 3 4").stdout
    assert "│ 2+1 │  1  │  3  │  4  │" in drawn
