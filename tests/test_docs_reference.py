"""docs/reference: its tables have every command, key, file and field of JSON."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from frontier.cli import main
from frontier.config.schema import SearchTable, StoreTable
from frontier.puzzles.settings import KIND_TABLES
from tests.support.commands import invoke

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"


@cache
def tables(page):
    """The names in the first column of each table of a page, by table."""
    text = (PAGES / page).read_text(encoding="utf-8")
    found = re.findall(r"^\|[^\n]*\n\| ---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        {name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", cells(row)[0])}
        for table in found
    ]


def cells(row):
    return row.strip("|").split("|")


def test_commands():
    (commands, *_) = tables("commands.md")
    assert {name.split()[1] for name in commands} == set(main.commands)


def test_keys_of_a_config():
    (keys,) = tables("config.md")
    fields = {"search": SearchTable, "store": StoreTable}
    for name, table in fields.items():
        said = {key.split(".")[1] for key in keys if key.startswith(f"{name}.")}
        assert said == set(table.model_fields)


@pytest.mark.parametrize("kind", KIND_TABLES)
def test_keys_of_a_kind(kind):
    said = set.union(*tables(f"puzzles/{kind}.md"), *tables("puzzles.md"))
    if kind == "pattern":
        said |= set.union(*tables("puzzles/tiles.md"))
    assert set(KIND_TABLES[kind].model_fields) - {"kind"} <= said


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run that kept its layers, and a search for God's number."""
    place = tmp_path_factory.mktemp("runs")
    config = ROOT / "configs" / "2x3.toml"
    settings = "--set", f"store.path={place / 'run'}", "--set", "cluster.workers=1"
    started = "--set", "puzzle.start=1 0 2 / 3 4 5"
    invoke("run", config, *settings, *started, "--set", "search.keep=all")
    invoke("gods-number", config, *settings)
    return place


def test_files(runs):
    (files, *_) = tables("files.md")
    for path in (runs / "run", runs / "run-gods-number"):
        names = {part.name + "/" * part.is_dir() for part in path.iterdir()}
        assert names <= {re.sub(r"(?<=/).*", "", file) for file in files}


def said_by(*arguments):
    return json.loads(invoke(*arguments, "--json").stdout)


def test_fields_of_json(runs):
    _, _, run, status, report, search, _ = tables("files.md")
    path = runs / "run"
    summary = json.loads((path / "summary.json").read_text(encoding="utf-8"))
    assert set(summary) - {"digest"} == run
    assert set(said_by("status", path)) - run <= status
    assert set(said_by("report", path)) - run - status <= report
    found = said_by("status", runs / "run-gods-number")
    assert set(found) <= search | status | {"complete"}
    assert search - set(found) == set()
    text = (PAGES / "files.md").read_text(encoding="utf-8").split("| command | fields |")[1]
    fields = {cells(row)[0].strip(): cells(row)[1] for row in text.splitlines() if "`" in row}
    asked = {
        "solve": ("solve", path, "1 0 2 / 3 4 5", "--all-counts"),
        "farthest": ("farthest", path),
        "verify": ("verify", path),
        "plan": ("plan", path),
    }
    for name, arguments in asked.items():
        (row,) = (row for commands, row in fields.items() if f"`{name}`" in commands)
        keys = set(said_by(*arguments))
        assert keys - (run | status if name == "plan" else set()) <= set(
            re.findall(r"`(\w+)`", row)
        )
