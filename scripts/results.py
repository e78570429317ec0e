"""Make the reports of docs/results/ from runs.

    python scripts/results.py --runs runs

For each report of `GROUPS`, which is of one config or of those that `SETS` names, a page, a table
of the layers as CSV and a farthest position as SVG; index.html shows them, and README.md lists them
between two marks, beside what is written there by hand. A run is looked for in the directory, under
the name of its config, and made there or gone on with if it is not complete; those of `LARGE` only
with --large. Where one of these is missing, index.html and README.md stay as they are, and the exit
code is 1. The reports name no host and no path.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from frontier import api
from frontier.config import load_config
from frontier.report.charts import layers_picture
from frontier.report.comparison import Comparison
from frontier.report.documents import Card, card_of, comparison_page, index_page, report_page
from frontier.report.figures import Figures, figures_of
from frontier.report.tables import comparison_csv, layers_csv
from frontier.store.files import write_bytes
from frontier.store.identity import check_identity
from frontier.store.run import RunStore

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "results"
GROUPS = {
    "Tiles": (
        "2x2", "2x3", "2x4", "2x5", "2x6", "2x7", "3x3", "3x3-multi", "3x3-diameter", "3x4",
        "3x5",
    ),
    "Sliding blocks": ("goat", "goat-start", "hakoiri", "hakoiri-exit", "rush-hour"),
    "On graphs and other boards": ("hexagram", "honeycomb"),
    "Patterns of the 2×n puzzle": ("pattern-k1", "pattern-k2", "pattern-k3"),
}  # fmt: skip
SETS = {f"pattern-k{k}": [f"pattern-2x{n}-k{k}" for n in range(max(2, k), 8)] for k in (1, 2, 3)}
SETS["3x3-diameter"] = ["3x3-diameter"]  # one config, which has a run for each blank cell
LARGE = {"2x7", "3x5"}
PICTURE = "2x7"
"""The chart of this one is made as a picture too."""

BEGIN, END = "<!-- made by scripts/results.py -->", "<!-- end -->"
say = partial(print, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Make the reports of docs/results/ from runs.")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs", metavar="DIR")
    parser.add_argument("--target", type=Path, default=TARGET, metavar="DIR")
    parser.add_argument(
        "--large",
        action="store_true",
        help="also make the runs that take minutes, or most of an hour",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these, and neither index.html nor README.md"
    )
    options = parser.parse_args()
    known = [name for names in GROUPS.values() for name in names]
    if unknown := set(options.names) - set(known):
        parser.error(f"no {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    options.target.mkdir(parents=True, exist_ok=True)
    cards, skipped = {}, []
    for name in options.names or known:
        members = SETS.get(name, [name])
        runs = [run for member in members for run in runs_of(member, options.runs, options.large)]
        if not runs:
            say(f"{name}: no run in {options.runs}, and it takes minutes: see --large")
            skipped.append(name)
            continue
        cards[name] = publish(name, runs, options.target)
    if skipped:
        sys.exit(f"index.html and README.md stay as they are, without {', '.join(skipped)}")
    if not options.names:
        list_in(options.target, cards)


def publish(name: str, runs: list[Figures], target: Path) -> Card:
    """Write the files of a report; its card in the index."""
    if name in SETS:
        subject = Comparison(tuple(runs), tuple(run.name for run in runs), name)
        html, csv = comparison_page(subject), comparison_csv(subject)
    else:
        html, csv = report_page(runs[0]), layers_csv(runs[0])
    card = card_of(name, runs)
    for suffix, text in (("html", html), ("csv", csv), ("svg", card.board)):
        write_bytes(target / f"{name}.{suffix}", text.encode())
    if name == PICTURE:
        write_bytes(target / f"{name}.png", layers_picture(runs[0], "png"))
    say(f"{name}: {len(html) / 1000:.0f} kB")
    return card


def list_in(target: Path, cards: dict[str, Card]) -> None:
    """Show all reports in index.html, and list them in README.md."""
    groups = {group: [cards[name] for name in names] for group, names in GROUPS.items()}
    write_bytes(target / "index.html", index_page(groups).encode())
    fill_in(target / "README.md", groups)


def runs_of(name: str, directory: Path, large: bool) -> list[Figures]:
    """The complete runs of a config, made where they are missing; none if that would take long."""
    place = (f"store.path={directory / name}",)
    found = []
    for config in load_config(ROOT / "configs" / f"{name}.toml", place).members:
        store = RunStore.open(config.path) if RunStore.exists(config.path) else None
        if store is None or not store.complete:
            if name in LARGE and not large:
                return []
            say(f"{config.name}: searching")
            store = api.run(api.plan(config)).store
        check_identity(store, {"puzzle": config.puzzle_settings})
        found.append(figures_of(store))
    return found


def fill_in(page: Path, groups: dict[str, list[Card]]) -> None:
    """Put a table for each group between the marks of a page."""
    text = page.read_text(encoding="utf-8") if page.exists() else f"{BEGIN}\n{END}\n"
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{page}: expected one line {BEGIN} and one line {END} after it")
    tables = [table_of(group, cards) for group, cards in groups.items()]
    before, rest = text.split(BEGIN)
    inside = "\n\n".join([BEGIN, *tables, END])
    page.write_text(f"{before}{inside}{rest.split(END)[1]}", encoding="utf-8")


def table_of(group: str, cards: list[Card]) -> str:
    """A group in Markdown, a row for each report."""
    facts = [key for key, _ in cards[0].facts]
    lines = [f"### {group}", "", f"| | run | puzzle | {' | '.join(facts)} | report |"]
    lines.append("| --- | --- | --- | " + "---: | " * len(facts) + "--- |")
    for card in cards:
        picture = f'<img src="{card.name}.svg" alt="" height="48">'
        links = f"[page]({card.name}.html), [layers]({card.name}.csv)"
        cells = [picture, card.name, card.title, *(value for _, value in card.facts), links]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
