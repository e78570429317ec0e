"""`scripts/thesis`: which runs it makes, what it refuses."""

import json
from importlib.metadata import Distribution, PackageNotFoundError

import pytest
from thesis import claims
from thesis.comparison import TABLES as BY_NAME
from thesis.report import made_with

import frontier
from tests.scripts.study import study, verdicts
from tests.support.commands import invoke


def test_runs_are_told_before_they_are_made(tmp_path):
    result = study("--table", "4.1", "--runs", tmp_path / "runs", "--limit", 120)
    names = [line.split(":")[0] for line in result.stderr.splitlines()]
    assert names == [f"pattern-2x{n}-k1" for n in (1, 2, 3)]
    assert "pattern-2x3-k1: 120 states" in result.stderr
    assert "| f(3) | 20 | 20 | agrees |" in result.stdout
    assert "| f(4) | 27 | – | no run |" in result.stdout
    assert "pattern-2x4-k1" not in {entry.name for entry in (tmp_path / "runs").iterdir()}


COMPUTED = ("3.1", "4.2", "moves")
"""Tables that need no run."""


@pytest.fixture
def few(monkeypatch):
    """2×100 takes some seconds."""
    monkeypatch.delitem(claims.SEQUENCES, 100)


@pytest.mark.sweep
def test_nothing_is_made_without_a_limit(tmp_path, few):
    """All tables are shown, and nothing differs; what rests on runs has none."""
    arguments = "--runs", tmp_path / "runs", "--limit", 0
    study(*arguments, "--write", tmp_path / "written")
    found = json.loads((tmp_path / "written" / "thesis.json").read_text(encoding="utf-8"))
    assert list(found["tables"]) == list(BY_NAME)
    for name, rows in found["tables"].items():
        for row in rows:
            shown = name in COMPUTED or row["claim"].startswith("lower bound")
            assert (row["verdict"] != "no run") == shown
    assert found["runs"] == []
    assert "beyond" not in found
    result = study(*arguments)
    assert result.stderr == ""
    assert not (tmp_path / "runs").exists()
    none = verdicts(found["tables"]).count("no run")
    assert result.stdout.count(" | – | no run |") == none > 50
    assert f"different: 0; without a run: {none}." in result.stdout


@pytest.mark.sweep
def test_nothing_goes_beyond_without_runs(tmp_path):
    arguments = "--table", "beyond", "--runs", tmp_path / "runs", "--limit", 0
    study(*arguments, "--write", tmp_path / "written")
    found = json.loads((tmp_path / "written" / "thesis.json").read_text(encoding="utf-8"))
    assert found["tables"] == found["beyond"]["bounds"] == found["beyond"]["formulas"] == {}
    assert not any(found["beyond"]["depths"].values())
    assert "claims" not in study(*arguments).stdout
    assert not (tmp_path / "runs").exists()


@pytest.mark.sweep
def test_what_the_script_refuses(tmp_path):
    result = study("--table", "9.9", code=2)
    assert "invalid choice: '9.9'" in result.stderr
    config = tmp_path / "mine.toml"
    config.write_text(
        'name = "mine"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 3\n'
        f'[store]\npath = "{tmp_path / "pattern-2x3-k1"}"\n[cluster]\nkind = "serial"\n'
    )
    invoke("run", config)
    result = study("--table", "4.1", "--runs", tmp_path, "--limit", 400, code=2)
    assert "name another directory with --runs" in result.stderr


def test_a_clone_that_is_not_installed_can_make_the_tables(monkeypatch):
    from_name = Distribution.from_name

    def libraries_alone(name):
        if name == "frontier":
            raise PackageNotFoundError(name)
        return from_name(name)

    monkeypatch.setattr("importlib.metadata.Distribution.from_name", libraries_alone)
    assert made_with()["frontier"] == frontier.__version__
