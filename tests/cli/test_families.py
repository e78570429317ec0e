"""`run` from every blank cell, and the diameter that it finds."""

import json

import pytest
from making import CONFIGS, invoke, serial
from twins import bfs_layers


@pytest.mark.sweep
def test_run_from_every_blank_cell(tmp_path):
    """A corner, an edge and the centre stand for all; the deepest of them says the diameter."""
    layers = {
        (blank // 3, blank % 3): bfs_layers(3, 3, (*range(1, blank + 1), 0, *range(blank + 1, 9)))
        for blank in (0, 1, 4)
    }
    config, run = (CONFIGS / "3x3-diameter.toml", *serial(tmp_path)), tmp_path / "run"
    stopped = invoke("run", *config, "--until", 5).stdout
    assert stopped.endswith("not complete from every blank cell, so the diameter is not known\n")
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
    assert "nothing is deleted" in invoke("run", *config, "--fresh", code=2).stderr
    assert [name.read_text() for name in names] == before
    assert "diameter of the state graph: 21" in invoke("run", *config, "--fresh", "--yes").stdout
    assert all(name.read_text() != old for name, old in zip(names, before, strict=True))
