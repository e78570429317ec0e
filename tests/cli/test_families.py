"""`run` from every blank cell, and the diameter that it finds; directories of several runs."""

import json
import re
import shlex

import pytest

from frontier.api import runs as api
from frontier.errors import InputError
from tests.support.commands import invoke, serial
from tests.support.reference_search import bfs_layers
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS, made


@pytest.mark.sweep
def test_run_from_every_blank_cell(tmp_path):
    """A corner, an edge and the centre stand for all; the deepest of them says the diameter."""
    layers = {
        (blank // 3, blank % 3): bfs_layers(3, 3, (*range(1, blank + 1), 0, *range(blank + 1, 9)))
        for blank in (0, 1, 4)
    }
    config, run = (CONFIGS / "3x3-diameter.toml", *serial(tmp_path)), tmp_path / "run"
    stopped = invoke("run", *config, "--until", 5).stdout
    assert stopped.endswith("some blank cells have no complete run, so the diameter is not known\n")
    said = json.loads(invoke("status", run, "--json").stdout)["runs"]
    assert [(one["state"], one["depth"]) for one in said] == [("stopped", 5)] * 3
    assert "known to depth 5" in invoke("farthest", run, code=2).stderr
    resumed = invoke("run", *config)
    assert resumed.stderr.count("resuming after depth 5") == 3
    last = "diameter of the state graph: 31, with the blank at (0, 0), (0, 1)\n"
    assert resumed.stdout.endswith(last)
    value = json.loads(invoke("run", *config, "--json").stdout)
    assert (value["complete"], value["diameter"]) == (True, 31)
    assert {tuple(one["puzzle"]["blank"]): one["layers"] for one in value["runs"]} == {
        cell: [len(layer) for layer in found] for cell, found in layers.items()
    }
    far = json.loads(invoke("farthest", run, "--json", "--limit", 1000).stdout)["runs"]
    for one, found in zip(far, layers.values(), strict=True):
        positions = {tuple(tile for row in board for tile in row) for board in one["positions"]}
        assert (positions, one["depth"]) == (found[-1], len(found) - 1)
    assert "complete" in invoke("status", run).stdout


@pytest.mark.parametrize(("size", "depth"), [(2, 6), (1, 0)])
def test_a_family_of_one(tmp_path, size, depth):
    """All cells of these boards are alike, and yet the diameter is what was asked for."""
    shape = "--set", f"puzzle.rows={size}", "--set", f"puzzle.columns={size}"
    config = CONFIGS / "2x2.toml", *serial(tmp_path), *shape, "--set", "puzzle.blank=all"
    said = invoke("run", *config).stdout
    assert said.endswith(f"diameter of the state graph: {depth}, with the blank at (0, 0)\n")
    value = json.loads(invoke("run", *config, "--json").stdout)
    assert (value["complete"], value["diameter"], len(value["runs"])) == (True, depth, 1)


def test_fresh_from_every_blank_cell(tmp_path):
    config = CONFIGS / "2x3.toml", *serial(tmp_path), "--set", "puzzle.blank=all"
    invoke("run", *config)
    names = [tmp_path / "run" / f"blank-0-{column}" / "run.json" for column in (0, 1)]
    before = [name.read_text() for name in names]
    assert "was not deleted" in invoke("run", *config, "--fresh", code=2).stderr
    assert [name.read_text() for name in names] == before
    assert "diameter of the state graph: 21" in invoke("run", *config, "--fresh", "--yes").stdout
    assert all(name.read_text() != old for name, old in zip(names, before, strict=True))


def some_runs(folder):
    """Two runs in one directory that have nothing to do with each other, the second one stopped."""
    made(folder / "2x2", "2x2")
    made(folder / "2x3", "2x3", until=9)
    return folder


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_directory_of_unrelated_runs_is_no_family(tmp_path, command):
    """It is refused as by `layer`, and nothing else is searched."""
    runs = some_runs(tmp_path / "runs")
    files = sorted(tmp_path.rglob("*"))
    refused = invoke(command, runs, code=2).stderr
    assert refused == f"frontier: {runs} names several runs; name one of {runs}/2x2, {runs}/2x3\n"
    assert refused == invoke("layer", runs, 0, code=2).stderr
    assert sorted(tmp_path.rglob("*")) == files
    with pytest.raises(InputError, match="names several runs"):
        api.run(runs)


def test_the_only_run_in_a_directory_is_that_run(tmp_path):
    made(tmp_path / "runs" / "2x3", "2x3", until=9)
    assert "depth (God's number from this goal): 21" in invoke("run", tmp_path / "runs").stdout
    assert [entry.name for entry in (tmp_path / "runs").iterdir()] == ["2x3"]


def test_runs_of_a_directory_are_resumed_one_by_one(tmp_path):
    runs = some_runs(tmp_path / "runs")
    resumed = [f"python -m frontier run {shlex.quote(str(runs / '2x3'))}"]
    assert hints(runs) == resumed
    assert hints(runs / "2x3") == resumed
    values = json.loads(invoke("status", runs, "--json").stdout)["runs"]
    assert [value.get("resume") for value in values] == [None, *resumed]


def test_a_family_is_resumed_as_a_whole(tmp_path):
    """Its runs that have not begun have no directory by which they could be named."""
    config = CONFIGS / "2x3.toml", *serial(tmp_path), "--set", "puzzle.blank=all"
    made(
        tmp_path / "run" / "blank-0-0", "2x3", "puzzle.blank=[0, 0]", "name=mine-blank-0-0", until=9
    )
    assert hints(tmp_path / "run") == [f"python -m frontier run {tmp_path / 'run'}"]
    assert "blank-0-1: not begun" in invoke("status", tmp_path / "run").stdout
    assert "diameter of the state graph: 21" in invoke("run", tmp_path / "run").stdout
    assert "diameter of the state graph: 21" in invoke("run", *config).stdout


@swept(
    ("name", "settings"),
    [
        ("blank-0-1", ["puzzle.blank=[0, 0]"]),  # not the cell of its name
        ("blank-1-1", ["puzzle.columns=4", "puzzle.blank=[1, 1]"]),  # another board
        ("blank-0-1", ["puzzle.metric=multi", "puzzle.blank=[0, 1]"]),
        ("other", ["puzzle.blank=[0, 1]"]),
    ],
    few=2,
)
def test_what_is_no_member_of_a_family(tmp_path, name, settings):
    runs = tmp_path / "runs"
    made(runs / "blank-0-0", "2x3", "puzzle.blank=[0, 0]", until=3)
    made(runs / name, "2x3", *settings, until=3)
    assert "names several runs" in invoke("run", runs, code=2).stderr
    assert hints(runs) == [f"python -m frontier run {runs / of}" for of in ("blank-0-0", name)]


def hints(run):
    """The commands that `status` names to resume runs."""
    return re.findall(r"resume with: (.*)\n", invoke("status", run).stdout)


def test_verify_names_the_damaged_run_of_a_family(tmp_path):
    config = CONFIGS / "2x3.toml", *serial(tmp_path), "--set", "puzzle.blank=all"
    invoke("run", *config)
    damaged = tmp_path / "run" / "blank-0-1"
    (damaged / "ledger.copy.json").write_text("{}")
    said = invoke("verify", tmp_path / "run", code=4).stderr
    assert f"{damaged} has 1 fault" in said
    assert "blank-0-0" not in said


def test_no_run_begins_inside_another(tmp_path):
    invoke("run", CONFIGS / "2x2.toml", *serial(tmp_path))
    inside = tmp_path / "run" / "further" / "run"
    said = invoke("run", CONFIGS / "2x3.toml", "--out", inside, code=2).stderr
    assert "which may hold only its run" in " ".join(said.split())
    assert not inside.exists()
