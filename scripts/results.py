"""Make the results of docs/results/ from runs.

    python scripts/results.py --runs runs

Each result of `GROUPS` is of one config, or of those that `SETS` names. It consists of a table of
the layers as CSV, a farthest position as SVG, and a page that shows both. README.md lists all
results between two marks. The script looks for a run in the directory, under the name of its
config, and makes or resumes it there if it is not complete; it makes runs of `LARGE` only with
--large. If one of these is missing, the files of its result stay as they are, and README.md takes
its numbers from them. If these files are missing too, README.md stays as it is, and the exit code
is 1.
"""

import argparse
import csv
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from frontier.api import runs as api
from frontier.config.loading import load_config
from frontier.layers.run import LayerRun
from frontier.report.boards import board_svg
from frontier.report.charts import report_picture
from frontier.report.formats import report_csv
from frontier.report.statistics import Report, RunStatistics, statistics_of
from frontier.runs.identity import check_identity
from frontier.storage.local import write_bytes

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "results"
GROUPS = {
    "Tiles": (
        "2x2", "2x3", "2x4", "2x5", "2x6", "2x7", "3x3", "3x3-multi", "3x3-diameter", "3x4",
        "3x5",
    ),
    "Sliding blocks": ("goat", "goat-start", "hakoiri", "hakoiri-exit", "rush-hour"),
    "On graphs and other boards": ("hexagram", "honeycomb"),
    "Permutation puzzles": ("pancake-9", "topspin-9", "cube-2x2x2", "xcross"),
    "Patterns of the 2×n puzzle": ("pattern-k1", "pattern-k2", "pattern-k3"),
}  # fmt: skip
SETS = {f"pattern-k{k}": [f"pattern-2x{n}-k{k}" for n in range(max(2, k), 8)] for k in (1, 2, 3)}
SETS["3x3-diameter"] = ["3x3-diameter"]  # one config, which has a run for each blank cell
LARGE = {"2x7", "3x5"}
PICTURE = "2x7"
"""The result whose chart is also made as a PNG picture."""

BEGIN, END = "<!-- made by scripts/results.py -->", "<!-- end -->"
say = partial(print, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Card:
    """A result in the list: the name of its files, its puzzle, and key figures with their names."""

    name: str
    title: str
    facts: list[tuple[str, str]]


def card_of(name: str, runs: list[RunStatistics]) -> Card:
    """Return the card of a result of one run or several."""
    titles = list(dict.fromkeys((runs[0].puzzle.title, runs[-1].puzzle.title)))
    return Card(name, " … ".join(titles), _facts([run.counts for run in runs]))


def published_card(name: str, target: Path) -> Card | None:
    """Return the card of a result of one run from its published files; None if they are missing."""
    table = target / f"{name}.csv"
    if not all((target / f"{name}.{suffix}").exists() for suffix in ("csv", "svg", "md")):
        return None
    ((_, counts),) = layers_in(table).items()
    puzzle = load_config(ROOT / "configs" / f"{name}.toml").make_puzzle()
    if sum(counts) != puzzle.model.states:
        sys.exit(f"{table}: the layers have {sum(counts):,} states, not {puzzle.model.states:,}")
    return Card(name, puzzle.title, _facts([counts]))


def layers_in(table: Path) -> dict[str, list[int]]:
    """Return the sizes of the layers of a CSV file by run; the name of a single run is ""."""
    layers = defaultdict(list)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            layers[row.get("run", "")].append(int(row["states"]))
    return layers


def _facts(layers: list[list[int]]) -> list[tuple[str, str]]:
    """Return the key figures of runs, from the sizes of their layers."""
    values = {
        "states": [sum(counts) for counts in layers],
        "depth": [len(counts) - 1 for counts in layers],
        "farthest": [counts[-1] for counts in layers],
    }
    return [(key, _from_to(of)) for key, of in values.items()]


def _from_to(numbers: list[int]) -> str:
    """Return the least and the greatest of the numbers as text."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} … {high:,}"


def result_page(card: Card, table: Path) -> str:
    """Return the page of a result: the picture, the key figures and the layers."""
    facts = ", ".join(f"{key}: {value}" for key, value in card.facts)
    layers = layers_in(table)
    heads = [name or "states" for name in layers]
    lines = [
        f"# {card.name}",
        "",
        f"{card.title}. {facts[0].upper()}{facts[1:]}. The picture shows a farthest position.",
        f"[{table.name}]({table.name}) also has the time and bytes of each layer.",
        "",
        f"![a farthest position]({card.name}.svg)",
        "",
        f"| depth | {' | '.join(heads)} |",
        f"| ---: |{' ---: |' * len(heads)}",
    ]
    for depth, sizes in enumerate(zip_longest(*layers.values())):
        cells = ["" if size is None else f"{size:,}" for size in sizes]
        lines.append(f"| {depth} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Make the results of docs/results/ from runs.")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs", metavar="DIR")
    parser.add_argument("--target", type=Path, default=TARGET, metavar="DIR")
    parser.add_argument(
        "--large",
        action="store_true",
        help="also make the runs that take minutes, or most of an hour",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="make only these results, without README.md",
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
        if runs:
            cards[name] = publish(name, runs, options.target)
            continue
        say(f"{name}: no run in {options.runs}; --large makes it, which takes minutes")
        if card := published_card(name, options.target):
            cards[name] = card
        else:
            skipped.append(name)
    if skipped:
        sys.exit(f"README.md is unchanged: no files of {', '.join(skipped)}")
    if not options.names:
        list_in(options.target, cards)


def publish(name: str, runs: list[RunStatistics], target: Path) -> Card:
    """Write the files of a result, and return its card in the list."""
    report = Report(tuple(runs), name=name if name in SETS else "", several=name in SETS)
    card, last, table = card_of(name, runs), runs[-1], target / f"{name}.csv"
    board = last.boards[0] if last.boards else last.puzzle.goals[0]
    write_bytes(table, report_csv(report).encode())
    write_bytes(target / f"{name}.svg", board_svg(last.puzzle, board).encode())
    write_bytes(target / f"{name}.md", result_page(card, table).encode())
    if name == PICTURE:
        write_bytes(target / f"{name}.png", report_picture(report, "png"))
    return card


def list_in(target: Path, cards: dict[str, Card]) -> None:
    """List all results in README.md."""
    groups = {group: [cards[name] for name in names] for group, names in GROUPS.items()}
    fill_in(target / "README.md", groups)


def runs_of(name: str, directory: Path, large: bool) -> list[RunStatistics]:
    """Return the complete runs of a config, made if missing; an empty list if it is too large."""
    place = (f"store.path={directory / name}",)
    found = []
    for config in load_config(ROOT / "configs" / f"{name}.toml", place).members:
        store = LayerRun.open(config.path) if LayerRun.exists(config.path) else None
        if store is None or not store.complete:
            if name in LARGE and not large:
                return []
            say(f"{config.name}: searching")
            store = api.run(api.plan(config)).store
        check_identity(store.path, store.identity, {"puzzle": config.puzzle_settings})
        found.append(statistics_of(store))
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
    """Return the table of a group in Markdown, with a row for each result."""
    facts = [key for key, _ in cards[0].facts]
    lines = [f"### {group}", "", f"| | run | puzzle | {' | '.join(facts)} | layers |"]
    lines.append("| --- | --- | --- | " + "---: | " * len(facts) + "--- |")
    for card in cards:
        picture = f'<img src="{card.name}.svg" alt="" height="48">'
        links = f"[page]({card.name}.md), [CSV]({card.name}.csv)"
        cells = [picture, card.name, card.title, *(value for _, value in card.facts), links]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
