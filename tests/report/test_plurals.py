"""One of a thing is not several, wherever text counts things."""

import json
import re
import sys
import time

import pytest
from click.testing import CliRunner

from frontier.api import runs as api
from frontier.cli import main
from frontier.errors import InputError, Unsolved
from frontier.layers.events import LayerFinished
from frontier.layers.progress import LayerProgress
from frontier.puzzles import block_puzzle, graph_puzzle, tile_puzzle
from frontier.report.displays import PlainProgress
from frontier.runs.events import Finished
from frontier.solving.pieces import IdaSolver
from frontier.storage.lock import describe_holder
from frontier.text import counted
from tests.support.ledgers import line_of
from tests.support.run_files import layers_of
from tests.support.start_events import layers_started
from tests.support.temporary_runs import CONFIGS

SEVERAL = re.compile(r"(?<![\d,.×])1 (?!of )(\w+ )?\w+s\b")
"""Such as "1 states" or "1 tile moves", but not "1×1 tiles"."""


def output(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    assert not SEVERAL.search(result.output), result.output
    return result.output


def test_counted():
    assert [counted(n, "state") for n in (0, 1, 2, 2000)] == [
        "0 states", "1 state", "2 states", "2,000 states",
    ]  # fmt: skip


def test_a_run_of_one_state(tmp_path):
    path = tmp_path / "run"
    size = "--set", "puzzle.rows=1", "--set", "puzzle.columns=1", "--set", "search.keep=all"
    where = "--set", f"store.path={path}", "--set", "cluster.kind=serial"
    said = output("run", CONFIGS / "2x2.toml", *size, *where)
    assert "1×1 tiles, 1 state, in " in said
    assert "100.00" in said
    said = output("status", path)
    assert "depth: 0 (1 state there)" in said
    assert "states: 1 (all)" in said
    assert output("farthest", path).startswith("1 position at depth 0")
    assert "0 moves to 0, 1 shortest solution\n" in output("solve", path, "0", "--all-counts")
    assert "complete, 1 layer, 1 state>" in repr(api.open_run(path))


def test_a_run_of_one_move(tmp_path):
    config, path = CONFIGS / "2x2.toml", tmp_path / "run"
    start = "--set", "puzzle.start=1 0/2 3", "--set", "search.keep=all"
    where = "--set", f"store.path={path}", "--set", "cluster.kind=serial"
    assert "  not complete: depth 0, 1 state (" in output(
        "run", config, *start, *where, "--until", 0
    )
    (layers_of(path) / "0001").mkdir()
    (layers_of(path) / "0001" / "c.0.0.0").write_text("{}")
    assert "next layer: 1 (1 task done)\n" in output("status", path)
    assert "  start: 1 move\n" in output("run", config, *start, *where)
    assert "1 move to 0 1/2 3, 1 shortest solution\n" in output("solve", path, "--all-counts")
    assert ": 1 move to 0 1/2 3, " in output("solve", config, *start, "--method", "ida")


def test_progress_of_one_state(capsys):
    progress = PlainProgress(sys.stderr, LayerProgress())
    progress(layers_started("one", "title", "path", 1, 1))
    progress(LayerFinished(line_of(0, 1, seconds=0.0), 1, 0.0, 0))
    progress(Finished(0.0))
    said = capsys.readouterr().err
    assert "title, 1 state, in path\n" in said
    assert len(said.splitlines()) == 3  # with the heads of the columns and one row


def test_titles_of_small_puzzles():
    assert block_puzzle("a.").title == "1×2 blocks, 1 piece (step)"
    assert graph_puzzle([[]], ".").title == "graph of 1 cell, 0 kinds of tiles"
    assert graph_puzzle([[1], [0]], "a.").title == "graph of 2 cells, 1 kind of tiles"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: block_puzzle("a/.").parse("a/./."), "2 rows of 1 letter, "),
        (lambda: block_puzzle("a.").parse("a"), "1 row of 2 letters, "),
        (
            lambda: graph_puzzle([[]], ".").parse([]),
            "has 0 labels: expected one for each of the 1 cell",
        ),
        (lambda: graph_puzzle([[1], [0]], "a.").parse("a"), "has 1 label: expected"),
        (lambda: graph_puzzle([[1], [0]], "a.").parse("aa"), "more than 1 time"),
        (
            lambda: graph_puzzle([[]], ".").model.states_of([[0, 0]]),
            "this puzzle have 1 whole number",
        ),
        (lambda: graph_puzzle([[1], [0]], "a.").model.states_of([[0]]), "boards of 1 cell of"),
    ],
)
def test_complaints(ask, said):
    with pytest.raises(InputError, match=said) as caught:
        ask()
    assert not SEVERAL.search(str(caught.value))


def test_a_search_of_one_node():
    with pytest.raises(Unsolved, match=r"within 1 node; it needs at least \d+ moves$"):
        IdaSolver(tile_puzzle(3, 3)).solve((8, 7, 6, 0, 4, 1, 2, 5, 3), 1)


def test_a_lock_held_for_a_minute(tmp_path):
    for seconds, said in ((60, "1 minute"), (1, "1 second"), (120, "2 minutes"), (3600, "1 hour")):
        holder = {"host": "here", "process": 7, "since": time.time() - seconds}
        (tmp_path / "lock").write_text(json.dumps(holder))
        described = describe_holder(tmp_path / "lock")
        assert described.startswith("process 7 on host here since ")
        assert described.endswith(f" (for {said})")
