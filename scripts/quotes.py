"""The times that pages quote, in one file, and the sentences that quote them.

docs/results/timings.json has the figures of whole commands for each board, under the name of its
config. `scripts/bench.py --compare --write` measures them, and writes the file and then the figures
into the sentences of `SENTENCES`, which stand on their pages with any figures;
docs/results/comparison.md is made from the whole file.
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
        "On {2x7 cores} cores the search takes {2x7 frontier seconds}, and {2x7 frontier memory} "
        "of memory",
        "  time in layers: {2x7 frontier in_layers}; written: {2x7 frontier written}; on disk: 108",
    ),
    "docs/runs.md": (
        "On {2x7 cores} cores 2×7 takes {2x7 frontier seconds} in memory and "
        "{2x7 from disk seconds} from disk.",
        "653,837,184,000 states, takes {3x5 frontier seconds} and {3x5 frontier disk} of disk",
    ),
    "docs/tutorial.md": ("tiles and a blank. It takes {2x5 frontier seconds}, but",),
    "docs/architecture.md": (
        "A whole 2×6 takes {2x6 frontier seconds} this way, of which half is start-up, against "
        "{2x6 from disk seconds} by tasks.",
        "| 2×6, in memory | {2x6 frontier seconds} | {2x6 frontier memory} | "
        "{2x6 frontier written} | |",
        "| 2×7, in memory | {2x7 frontier seconds} | {2x7 frontier memory} | "
        "{2x7 frontier written} | |",
        "| 2×7, from disk | {2x7 from disk seconds} | {2x7 from disk memory} | "
        "{2x7 from disk written} | {2x7 from disk disk} |",
        "| 3×5, from disk | {3x5 frontier seconds} | | {3x5 frontier written} | "
        "{3x5 frontier disk} |",
        "Its layers took {2x7 from disk in_layers}, those in memory {2x7 frontier in_layers}.\n",
        "Of the {2x7 frontier seconds} of 2×7 in memory the layers take "
        "{2x7 frontier in_layers}; the rest is",
    ),
    "docs/programs.md": (
        "| `frontier`, {2x7 cores} cores, no GPU | {2x6 frontier seconds} | "
        "{2x7 frontier seconds}, in {2x7 frontier memory} of memory | {3x5 frontier seconds} |",
        "| … bytes written | {2x6 frontier written} | {2x7 frontier written} | "
        "{3x5 frontier written} |",
    ),
    "docs/scale.md": (
        "2×7 takes {2x7 from disk seconds} by tasks and {2x7 frontier seconds} in memory",
        "3×5 takes {3x5 frontier seconds} by tasks",
        "2×6 takes\n{2x6 frontier seconds} in memory and {2x6 from disk seconds} by tasks, 3×4 "
        "{3x4 frontier seconds} and {3x4 from disk seconds};",
    ),
}
"""Sentences, or parts of sentences, by their page. Braces hold a figure of the file: the config,
the program, and the name of the figure, which also says its unit."""

FIELD = re.compile(r"\{(\w+) (?:([a-z ]+) )?(\w+)\}")


def read(file: Path = ROOT / TIMINGS) -> dict:
    """The figures by config."""
    return json.loads(file.read_text(encoding="utf-8"))


def write(found: dict, root: Path = ROOT) -> None:
    """Put figures into the file, replacing those of the same boards and programs, and from there
    into all pages that quote them."""
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
    """A page with the figures in its sentences; ends the program if a sentence is not on it, or
    stands there twice."""
    for sentence in sentences:
        said = FIELD.sub(lambda field: figure(timings, *field.groups()), sentence)
        parts = map(re.escape, FIELD.sub("\0", sentence).split("\0"))
        text, count = re.subn(".+?".join(parts), lambda _, said=said: said, text)
        if count != 1:
            sys.exit(f"expected once on its page, found {count} times: {sentence}")
    return text


def figure(timings: dict, name: str, program: str | None, key: str) -> str:
    """A figure in words; ends the program if it has not been measured."""
    board = timings.get(name, {})
    value = (board.get("programs", {}).get(program, {}) if program else board).get(key)
    if value is None:
        sys.exit(f"{TIMINGS.name} lacks {key} of {program or 'the machine'} for {name}")
    if key in ("seconds", "in_layers"):
        return span(value)
    return str(value) if key == "cores" else size(value)
