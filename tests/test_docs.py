"""What the pages say is what the program does."""

import json
import re
from pathlib import Path

import pytest

import frontier
from frontier.answers.oracle import MOST_COUNTED
from frontier.puzzles import graphs, tiles
from frontier.puzzles.pieces import MOST_ORIGINS
from frontier.puzzles.shapes import MOST_SHAPES
from frontier.search.plan import MOST_STATES
from frontier.space.deepening import MOST_DEPTH

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "puzzles.md"
SMALL = 6_000_000
"""Positions of what is searched here; what is larger was searched for docs/results/."""


def test_limits():
    limits = PAGE.read_text(encoding="utf-8").split("## Limits")[1].split("\n## ")[0]
    for said in (
        f"| `tiles` | {tiles.MOST_CELLS} cells |",
        f"| `graph` | {graphs.MOST_CELLS} cells |",
        f"{MOST_SHAPES:,} shapes",
        f"{MOST_ORIGINS:,} positions at depth 0",
        f"state numbers of {MOST_STATES.bit_length() - 1} bits",
        f"fewer than {MOST_DEPTH:,} moves",
        f"{MOST_COUNTED:,} positions",
    ):
        assert said in limits


RESULTS = [
    (name, *(int(number.replace(",", "")) for number in numbers))
    for name, *numbers in re.findall(
        r"^\| `(\S+)`[^|]* \| ([\d,]+) \| (\d+) \| (\d+) \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
]


@pytest.mark.parametrize(("name", "states", "depth", "farthest"), RESULTS)
def test_what_has_been_computed(tmp_path, name, states, depth, farthest):
    if states <= SMALL:
        settings = (f"store.path={tmp_path / 'run'}", "cluster.kind=serial")
        config = frontier.load_config(ROOT / "configs" / f"{name}.toml", settings)
        found = frontier.run(frontier.plan(config))
        assert (found.states, found.depth, found.counts[-1]) == (states, depth, farthest)
    else:
        text = (ROOT / "docs" / "results" / "thesis.json").read_text(encoding="utf-8")
        (known,) = (run for run in json.loads(text)["runs"] if run["run"] == name)
        assert (known["states"], known["depth"], known["farthest"]) == (states, depth, farthest)


def test_all_results_are_read():
    assert {"2x2", "2x7", "3x4", "goat", "hakoiri", "hexagram"} <= {name for name, *_ in RESULTS}
