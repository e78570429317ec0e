"""The history of `scripts/bench.py`, and what it times."""

import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
sys.path.insert(0, str(SCRIPTS))  # the modules there import one another by their names

import kinds  # noqa: E402


def line(figure, seconds, machine="m"):
    return kinds.Line("c", "2026-11-26", machine, figure, seconds)


def test_the_history_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "benchmarks.csv"
    assert kinds.read_history(path) == []
    first, second = line("run 2x6", "1.5"), line("gods-number 2x7", "20", "an EPYC, 2 cores")
    kinds.append_history([first], path)
    kinds.append_history([second], path)
    assert kinds.read_history(path) == [first, second]
    assert path.read_text().splitlines()[0] == "commit,date,machine,figure,seconds"


def test_a_figure_is_compared_with_its_last_value_on_the_same_machine():
    history = [line("a", "1"), line("a", "2"), line("a", "50", "other"), line("b", "1")]
    assert kinds.slower(line("a", "2.5"), history) is None
    assert kinds.slower(line("a", "3"), history) == 1.5
    assert kinds.slower(line("c", "3"), history) is None


@pytest.mark.sweep
def test_every_kind_is_timed(tmp_path):
    timed = list(kinds.figures())
    names = [name for name, _ in timed]
    assert len(set(names)) == len(names)
    for kind in ("2x7", "pattern-2x100-k1", "pattern-2x7-k2", "pattern-2x13-k3", "pattern-2x8-k4"):
        assert f"run {kind}" in names
    for kind in ("pattern-2x8-k5", "goat", "hexagram", "cube-2x2x2", "rush-hour"):
        assert f"run {kind}" in names
    assert {"run 2x7 by tasks", "run goat by tasks", "gods-number 2x8"} <= set(names)
    assert dict(timed)["run 2x3"](tmp_path) > 0
    assert (tmp_path / "run" / "ledger.json").exists()
