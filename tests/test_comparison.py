"""What `scripts/bench.py --compare` runs and says."""

import re
import runpy
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support import reference_search
from tests.support.commands import script

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def comparison(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return runpy.run_path(str(SCRIPTS / "comparison.py"))


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2), (2, 4)])
def test_the_dictionary_search(rows, columns):
    search = runpy.run_path(str(SCRIPTS / "dictionary_search.py"))["search"]
    assert search(rows, columns) == list(map(len, reference_search.bfs_layers(rows, columns)))


@pytest.mark.sweep
def test_the_plain_search_of_pancakes(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    search = runpy.run_path(str(SCRIPTS / "plain_pancakes.py"))["search"]
    assert search(5, threads=2) == [1, 4, 12, 35, 48, 20]


@pytest.mark.parametrize(
    "output",
    [
        '{"layers": [1, 2, 4]}',
        "0 1\n1 2\n2 4\n",
        "layers:\n   0: 1\n   1: 2\n   2: 4\n",
        "2 4\n0 1\n1 2",
    ],
)
def test_layers_of_another_program(comparison, output):
    assert comparison["layers_in"](output) == [1, 2, 4]


@pytest.mark.sweep
def test_a_comparison(comparison, tmp_path, capsys):
    program = tmp_path / "other"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {SCRIPTS / 'plain_search.py'} $1 $2\n")
    program.chmod(0o755)
    figures = comparison["compare"](["2x3"], 1, [str(program)], str(tmp_path))
    contenders = figures["sizes"]["2x3"]["contenders"]
    assert contenders.pop("from disk") is None  # it is for larger boards
    assert {sum(found[0]["layers"]) for found in contenders.values()} == {360}
    timings = comparison["timings_of"](figures)
    assert set(timings["2x3"]["programs"]) == set(contenders)
    row = comparison["table"](timings).split("| 2×3 | 360 |")[1].splitlines()[0]
    assert row.count(" s (") == 4


def test_the_page_shows_the_figures_of_the_file(comparison):
    page = (SCRIPTS.parent / "docs" / "results" / "comparison.md").read_text(encoding="utf-8")
    assert page == comparison["page"](comparison["read"]())


@pytest.mark.sweep
def test_the_script_measures_and_writes(monkeypatch, tmp_path, capsys):
    """A small board in place of those of the page."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    bench = script("bench")
    module, results = bench.comparison, tmp_path / "results"
    shutil.copytree(module.RESULTS, results, ignore=shutil.ignore_patterns("*.html", "*.svg"))
    monkeypatch.setattr(module, "write", partial(module.write, folder=results))
    arguments = ["bench.py", "2x5", "--compare", "--write", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--scratch", str(tmp_path / "scratch")])
    bench.main()
    old, new = module.read()["2x5"], module.read(results)["2x5"]
    assert new["states"] == old["states"]
    assert set(new["programs"]) == set(old["programs"])
    assert all(of["seconds"] > 0 and of["memory"] > 1e6 for of in new["programs"].values())
    took = f"{new['programs']['frontier']['seconds']:.2f} s"
    page = (results / "comparison.md").read_text(encoding="utf-8")
    assert f"| 2×5 | 1,814,400 | {took}" in page
    assert re.search(rf"^\| 2×5 \| .* \| {took} \|", page, re.MULTILINE)
    assert "| 2×5 | 1,814,400 |" in capsys.readouterr().out


def test_other_layers_are_noticed(comparison):
    layers = {"layers": [1, 2, 4]}
    comparison["_check"]("2x2", {"frontier": [layers], "other": [layers, layers], "left out": None})
    with pytest.raises(SystemExit, match="2x2: other finds other layers"):
        comparison["_check"]("2x2", {"frontier": [layers], "other": [layers, {"layers": [1, 3]}]})
