"""docs/results/thesis.json and thesis.md: what the script says of the runs that they name."""

import json
from pathlib import Path

import pytest
from thesis import claims
from thesis.comparison import TABLES, beyond
from thesis.report import describe_thesis, thesis_value
from thesis.runs import Depths, ThesisRuns

RESULTS = Path(__file__).parents[2] / "docs" / "results"
SLOW = "shortest sequences, n = 100"


class Published(ThesisRuns):
    """The runs that the JSON names, which are not there."""

    def __init__(self, runs):
        super().__init__(Path("nowhere"), 0)
        self._published = {run["run"]: Depths(**run) for run in runs}

    def _look_up(self, name, puzzle, states):
        return self._published.get(name) or self._published.get(f"{name}-gods-number")


@pytest.fixture(scope="module")
def published():
    return json.loads((RESULTS / "thesis.json").read_text(encoding="utf-8"))


@pytest.mark.sweep
def test_the_json_follows_from_its_runs(published, monkeypatch):
    monkeypatch.delitem(claims.SEQUENCES, 100)  # it takes some seconds
    kept = [row for row in published["tables"]["4.2"] if row["claim"] != SLOW]
    expected = {**published, "tables": published["tables"] | {"4.2": kept}}
    runs = Published(published["runs"])
    tables = {name: list(table(runs)) for name, table in TABLES.items()}
    found = json.loads(json.dumps(thesis_value(tables, beyond(runs), runs)))
    assert found == expected | {"made_with": found["made_with"]}


def test_the_page_says_what_the_json_says(published):
    depths = published["beyond"]["depths"]
    numbers = {k: {int(n): depth for n, depth in of.items()} for k, of in depths.items()}
    value = {**published, "beyond": published["beyond"] | {"depths": numbers}}
    text = (RESULTS / "thesis.md").read_text(encoding="utf-8")
    assert text.rstrip() == describe_thesis(value).rstrip()


def test_god_s_numbers_in_it_are_those_of_the_list(published):
    """And what was searched coset by coset has the positions of the last layer, where known."""
    entries = json.loads((RESULTS / "gods-numbers.json").read_text(encoding="utf-8"))
    numbers = {
        f"{of['rows']}x{of['columns']}": (of["lower"], of["upper"], *of["last"][:1])
        for of in entries
        if (of["metric"], of["blank"]) == ("step", [0, 0])
    }
    searched = [run for run in published["runs"] if run["by_cosets"]]
    assert len(searched) >= 3
    for run in searched:
        lower, upper, *farthest = numbers[run["run"].removesuffix("-gods-number")]
        assert lower == upper == run["depth"]
        assert run["farthest"] in (*farthest, None)
