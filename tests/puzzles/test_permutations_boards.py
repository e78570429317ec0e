"""Permutation puzzles: boards as states and texts, and a whole run as a user types it."""

import json

import pytest

from frontier.errors import InputError
from frontier.puzzles import permutation_puzzle
from tests.support.commands import invoke
from tests.support.reference_permutations import burnt_pancakes


def test_a_board_out_of_reach():
    puzzle = permutation_puzzle({"a": "(1 2)"}, orientations=2)
    assert not puzzle.model.reaches(puzzle.parse("1+1 2"))
    with pytest.raises(InputError, match=r"board 1\+1 2: the goal cannot be reached"):
        puzzle.check_reached(puzzle.parse("1+1 2"))


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
    assert "no faults" in invoke("verify", path, "--deep").stdout
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
