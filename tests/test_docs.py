"""What the pages say is what the program does."""

import re
from pathlib import Path

import pytest
from sweeps import swept

import frontier
from frontier.answers.oracle import MOST_COUNTED
from frontier.puzzles import graphs, tiles
from frontier.puzzles.board_shapes import MOST_SHAPES
from frontier.puzzles.pieces import MOST_ORIGINS
from frontier.search.plan import MOST_STATES
from frontier.space.deepening import MOST_DEPTH

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "puzzles.md"
SMALL, LARGE = 6_000_000, 240_000_000
"""Positions of what is searched here by default, and in a sweep; only the number of positions is
known without a search."""


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


@swept(
    ("name", "states", "depth", "farthest"),
    [result for result in RESULTS if result[1] <= LARGE],
    few=[result for result in RESULTS if result[1] <= SMALL],
)
def test_what_has_been_computed(tmp_path, name, states, depth, farthest):
    settings = (f"store.path={tmp_path / 'run'}", "cluster.kind=serial", "cluster.memory=2GB")
    config = frontier.load_config(ROOT / "configs" / f"{name}.toml", settings)
    found = frontier.run(frontier.plan(config))
    assert (found.states, found.depth, found.counts[-1]) == (states, depth, farthest)


@pytest.mark.parametrize(("name", "states"), [result[:2] for result in RESULTS])
def test_as_many_positions_as_the_readme_says(name, states):
    config = frontier.load_config(ROOT / "configs" / f"{name}.toml")
    assert config.make_puzzle().states == states


def test_all_results_are_read():
    assert {"2x2", "2x7", "3x4", "goat", "hakoiri", "hexagram"} <= {name for name, *_ in RESULTS}
