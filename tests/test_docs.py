"""What the pages say is what the program does."""

from pathlib import Path

from frontier.answers.oracle import MOST_COUNTED
from frontier.puzzles import graphs, tiles
from frontier.puzzles.pieces import MOST_ORIGINS
from frontier.puzzles.shapes import MOST_SHAPES
from frontier.search.plan import MOST_STATES
from frontier.space.deepening import MOST_DEPTH

PAGE = Path(__file__).parents[1] / "docs" / "puzzles.md"


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
