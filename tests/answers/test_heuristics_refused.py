"""Pattern databases that do not fit a puzzle, or are none."""

import pytest

from frontier.errors import InputError
from frontier.puzzles import puzzle_of
from frontier.solve.pieces import IdaSolver
from tests.answers.test_heuristics import L, exported, pattern
from tests.support.commands import invoke
from tests.support.reference_puzzles import CONFIGS

TILES = {"kind": "tiles", "rows": 2, "columns": 4}


WRONG = {
    "another size": (TILES, pattern(2, 3, (1, 2)), "is of 2×3 tiles"),
    "turned": (TILES, pattern(4, 2, (1, 2)), "is of 4×2 tiles"),
    "another blank": (TILES, pattern(2, 4, (1, 2), blank=[1, 1]), "has the goal"),
    "another goal": (
        TILES,
        pattern(2, 4, (1, 2), goal=[[0, 2, 1, 3], [4, 5, 6, 7]]),
        "has the goal 0 2 1 x/x x x x, but the puzzle needs 0 1 2 x/x x x x",
    ),
    "the default goal": (
        {**TILES, "goal": [[0, 2, 1, 3], [4, 5, 6, 7]]},
        pattern(2, 4, (1, 2)),
        "has the goal",
    ),
    "no pattern": (TILES, TILES, "is a run of 2×4 tiles: expected a run of kind"),
    "several tiles": ({**TILES, "metric": "multi"}, pattern(2, 4, (1, 2)), "one goal whose moves"),
    "several goals": (
        {**TILES, "goals": ["0 1 2 3/4 5 6 7", "1 0 2 3/4 5 6 7"]},
        pattern(2, 4, (1, 2)),
        "tile puzzles with one goal",
    ),
    "part of a goal": ({**TILES, "goal": "0 1 2 ?/? ? ? ?"}, pattern(2, 4, (1, 2)), "leaves cells"),
    "blocks": (
        {"kind": "blocks", "goal": "aab/ccb/d../e.."},
        pattern(2, 4, (1, 2)),
        "are for tile puzzles",
    ),
    "a graph": (
        {"kind": "graph", "adjacency": [[1], [0, 2], [1]], "goal": "ab."},
        pattern(2, 4, (1, 2)),
        "are for tile puzzles",
    ),
    "a pattern": (pattern(2, 4, (1, 2)), pattern(2, 4, (1, 2)), "are for tile puzzles"),
}


@pytest.mark.parametrize("name", WRONG)
def test_databases_that_do_not_fit(made, name):
    puzzle, database, word = WRONG[name]
    path = made(database)
    for given in (path, exported(path)):
        with pytest.raises(InputError) as error:
            IdaSolver(puzzle_of(puzzle), heuristics=[given])
        assert word in str(error.value)


def test_what_holds_no_database(made, tmp_path):
    puzzle = puzzle_of(TILES)
    good = made(pattern(2, 4, (1, 2)))
    thin = made(pattern(2, 4, (1, 2)), keep="frontier")
    (tmp_path / "file").write_text("mine")
    for path, word in [
        (thin, 'search.keep = "all"'),
        (tmp_path / "none", "is neither a run nor an exported array"),
        (tmp_path / "file", "is neither a run nor an exported array"),
    ]:
        for paths in ([path], [good, path]):
            with pytest.raises(InputError) as error:
                IdaSolver(puzzle, heuristics=paths)
            assert word in str(error.value)


def test_so_many_databases_and_no_more(made):
    board, path = (1, 0, 2, 3, 4, 5, 6, 7), made(pattern(2, 4, (1, 2), L))
    assert IdaSolver(puzzle_of(TILES), heuristics=[path] * 12).bound(board) == 1
    with pytest.raises(InputError, match="13 pattern databases: at most 12 "):
        IdaSolver(puzzle_of(TILES), heuristics=[path] * 13)


def test_a_run_that_is_not_complete(made):
    """Its greatest distances are not known, so it bounds nothing."""
    path = made(pattern(2, 4, (2, 3, 6, 7)), until=10)
    with pytest.raises(InputError, match="not complete"):
        IdaSolver(puzzle_of(TILES), heuristics=[path])


def test_what_the_command_refuses(made, tmp_path):
    run, good = made(TILES), made(pattern(2, 4, (1, 2)))
    config, board = CONFIGS / "2x4.toml", "1 0 2 3/4 5 6 7"
    search = "--method", "ida"
    assert (
        "Searching by IDA* with 1 pattern database"
        in invoke("solve", run, board, "--heuristic", good).stderr
    )
    for arguments, word in [
        ((run, board, "--method", "layers", "--heuristic", good), "only for the method ida"),
        ((config, board, *search, "--heuristic", tmp_path / "none"), "nor an exported array"),
        ((config, board, *search, "--heuristic", run), "expected a run of kind"),
        ((config, board, *search, "--heuristic", made(pattern(2, 3, (1, 2)))), "is of 2×3"),
        ((CONFIGS / "3x3-multi.toml", *search, "1 0 2/3 4 5/6 7 8", "--heuristic", good), "metric"),
        ((CONFIGS / "goat.toml", *search, "--heuristic", good), "are for tile puzzles"),
    ]:
        result = invoke("solve", *arguments, code=2)
        assert result.stderr.startswith("frontier: ")
        assert word in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert f"{board}: 1 move" in invoke("solve", config, board, *search, "--heuristic", good).stdout
