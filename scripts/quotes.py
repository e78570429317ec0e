"""The file of the times that pages quote, and the sentences that quote them.

docs/results/timings.json has the figures of whole commands for each board, under the name of its
config. `scripts/bench.py --compare --write` measures them, writes the file, makes
docs/results/comparison.md from it, and puts the figures into the sentences of `SENTENCES` on their
pages, in place of the figures there.
"""

import json
import re
import sys
from pathlib import Path

from comparison import SIZES, table
from timing import ROOT

from frontier.storage.local import write_bytes
from frontier.text import size, span

TIMINGS = Path("docs", "results", "timings.json")
COMPARISON = Path("docs", "results", "comparison.md")

SENTENCES = {
    "README.md": (
        "On {2x7 cores} cores the search takes {2x7 frontier seconds} and {2x7 frontier memory} "
        "of memory",
    ),
    "docs/layers.md": (
        "On {2x7 cores} cores, 2×7 takes {2x7 frontier seconds} in memory and "
        "{2x7 from disk seconds} from disk.",
        "states, takes {3x5 frontier seconds} and {3x5 frontier disk} of disk",
    ),
    "docs/tutorial.md": ("tiles and a blank. This takes {2x5 frontier seconds}; your",),
    "docs/architecture.md": (
        "In memory 2×6 takes {2x6 frontier seconds}; by tasks it takes {2x6 from disk seconds}.\n",
        "| 2×6, in memory | {2x6 frontier seconds} | {2x6 frontier memory} | "
        "{2x6 frontier written} | |",
        "| 2×7, in memory | {2x7 frontier seconds} | {2x7 frontier memory} | "
        "{2x7 frontier written} | |",
        "| 2×7, from disk | {2x7 from disk seconds} | {2x7 from disk memory} | "
        "{2x7 from disk written} | {2x7 from disk disk} |",
        "| 3×5, from disk | {3x5 frontier seconds} | | {3x5 frontier written} | "
        "{3x5 frontier disk} |",
        "Its layers took {2x7 from disk in_layers}.\n",
    ),
    "docs/programs.md": (
        "| `frontier`, {2x7 cores} cores, no GPU | {2x6 frontier seconds} | "
        "{2x7 frontier seconds}, in {2x7 frontier memory} of memory | {3x5 frontier seconds} |",
        "| … bytes written | {2x6 frontier written} | {2x7 frontier written} | "
        "{3x5 frontier written} |",
    ),
    "docs/scale.md": (
        "| 2×6 in memory, from disk | {2x6 frontier seconds}, {2x6 from disk seconds} |",
        "| 3×4 in memory, from disk | {3x4 frontier seconds}, {3x4 from disk seconds} |",
        "| 2×7 in memory, from disk | {2x7 frontier seconds}, {2x7 from disk seconds}; "
        "{2x7 from disk disk} of disk |",
        "| 3×5 from disk, 9.5 GB a worker | {3x5 frontier seconds}; {3x5 frontier disk} of disk |",
        "2×7 wrote {2x7 from disk written} and 3×5 wrote {3x5 frontier written}, eight",
    ),
}
"""Sentences, or parts of sentences, by page. Braces hold a figure of the file: the config, the
program, and the name of the figure, which determines its unit."""

FIELD = re.compile(r"\{(\w+) (?:([a-z ]+) )?(\w+)\}")


def read(file: Path = ROOT / TIMINGS) -> dict:
    """Return the figures by config."""
    return json.loads(file.read_text(encoding="utf-8"))


def write(found: dict, root: Path = ROOT) -> None:
    """Put figures into the file, in place of those of the same boards and programs, and into all
    pages that quote them."""
    timings = read(root / TIMINGS)
    for name, board in found.items():
        timings[name] = timings.get(name, {}) | board
    text = json.dumps(timings, indent=1, ensure_ascii=False)
    pages = {TIMINGS: f"{text}\n", COMPARISON: table({size: timings[size] for size in SIZES})}
    for page, sentences in SENTENCES.items():
        pages[page] = filled((root / page).read_text(encoding="utf-8"), sentences, timings)
    for page, text in pages.items():
        write_bytes(root / page, text.encode())


def filled(text: str, sentences: tuple[str, ...], timings: dict) -> str:
    """Return a page with the figures in its sentences, wherever their lines break; end the program
    if a sentence is not on the page exactly once."""
    for sentence in sentences:
        figures = [figure(timings, *field.groups()) for field in FIELD.finditer(sentence)]
        words = (re.escape(part).replace(r"\ ", r"\s+") for part in split(sentence))
        pattern = ".+?".join(f"({part})" for part in words)
        replacement = "".join(f"\\g<{n}>{of}" for n, of in enumerate([*figures, ""], start=1))
        text, count = re.subn(pattern, replacement, text)
        if count != 1:
            sys.exit(f"expected once on its page, found {count} times: {sentence}")
    return text


def split(sentence: str) -> list[str]:
    """Return the text before, between and after the figures of a sentence."""
    return FIELD.sub("\0", sentence).split("\0")


def figure(timings: dict, name: str, program: str | None, key: str) -> str:
    """Return a figure as text; end the program if it has not been measured."""
    board = timings.get(name, {})
    value = (board.get("programs", {}).get(program, {}) if program else board).get(key)
    if value is None:
        sys.exit(f"{TIMINGS.name} lacks {key} of {program or 'the machine'} for {name}")
    if key in ("seconds", "in_layers"):
        return span(value)
    return str(value) if key == "cores" else size(value)
