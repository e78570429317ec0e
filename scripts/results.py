"""Make the reports of docs/results/ from runs.

    python scripts/results.py --runs runs

For each config of `ONE` and each set of configs of `SETS` an HTML report and a table of the layers
as CSV; index.html links them, and README.md lists them between two marks, beside what is written
there by hand. A run is looked for in the directory, under the name of its config, and made there
or gone on with if it is not complete; those of `LARGE` only with --large. Where one of these is
missing, index.html and README.md stay as they are, and the exit code is 1. The reports name no
host and no path.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from frontier import api
from frontier.config import load_config
from frontier.report.charts import layers_png
from frontier.report.comparison import Comparison
from frontier.report.documents import comparison_page, index_page, report_page
from frontier.report.figures import Figures, figures_of
from frontier.report.tables import comparison_csv, layers_csv
from frontier.store.files import write_bytes
from frontier.store.identity import check_identity
from frontier.store.run import RunStore
from frontier.text import brief

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "results"
ONE = (
    "2x2", "2x3", "2x4", "2x5", "2x6", "2x7", "3x3", "3x3-multi", "3x4", "goat", "goat-start",
    "hexagram", "hakoiri", "hakoiri-exit", "rush-hour", "honeycomb",
)  # fmt: skip
SETS = {
    f"pattern-k{k}": [f"pattern-2x{n}-k{k}" for n in range(max(2, k), 8)] for k in (1, 2, 3)
} | {"3x3-diameter": ["3x3-diameter"]}
LARGE = {"2x7"}
PICTURE = "2x7"
"""The chart of this one is made as a picture too."""

BEGIN, END = "<!-- made by scripts/results.py -->", "<!-- end -->"
HEADER = ["run", "puzzle", "states", "depth", "farthest", "mean depth", "time in layers", "report"]
say = partial(print, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Make the reports of docs/results/ from runs.")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs", metavar="DIR")
    parser.add_argument("--target", type=Path, default=TARGET, metavar="DIR")
    parser.add_argument("--large", action="store_true", help="also make the runs that take minutes")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these, and neither index.html nor README.md"
    )
    options = parser.parse_args()
    known = [*ONE, *SETS]
    if unknown := set(options.names) - set(known):
        parser.error(f"no {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    options.target.mkdir(parents=True, exist_ok=True)
    rows, skipped = [], []
    for name in options.names or known:
        members = SETS.get(name, [name])
        runs = [run for member in members for run in runs_of(member, options.runs, options.large)]
        if not runs:
            say(f"{name}: no run in {options.runs}, and it takes minutes: see --large")
            skipped.append(name)
            continue
        if name in SETS:
            subject = Comparison(tuple(runs), tuple(run.name for run in runs), name)
            html, csv = comparison_page(subject), comparison_csv(subject)
        else:
            html, csv = report_page(runs[0]), layers_csv(runs[0])
        for suffix, text in (("html", html), ("csv", csv)):
            write_bytes(options.target / f"{name}.{suffix}", text.encode())
        if name == PICTURE:
            write_bytes(options.target / f"{name}.png", layers_png(runs[0]))
        rows += [row_of(name, run) for run in runs]
        say(f"{name}: {len(html) / 1000:.0f} kB")
    if skipped:
        sys.exit(f"index.html and README.md stay as they are, without {', '.join(skipped)}")
    if options.names:
        return
    write_bytes(options.target / "index.html", index_page(HEADER, rows).encode())
    fill_in(options.target / "README.md", rows)


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


def row_of(report: str, run: Figures) -> list[str]:
    """A run under `HEADER`; the last cell is the name of its report."""
    return [
        run.name, run.puzzle.title, f"{run.states:,}", str(run.depth), f"{run.farthest:,}",
        f"{run.mean:.2f}", brief(run.seconds), report,
    ]  # fmt: skip


def fill_in(page: Path, rows: list[list[str]]) -> None:
    """Put the table between the marks of a page."""
    text = page.read_text(encoding="utf-8") if page.exists() else f"{BEGIN}\n{END}\n"
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{page}: expected one line {BEGIN} and one line {END} after it")
    lines = ["| " + " | ".join(HEADER) + " |", "| --- | --- " + "| ---: " * 5 + "| --- |"]
    for *cells, report in rows:
        links = f"[page]({report}.html), [layers]({report}.csv)"
        lines.append("| " + " | ".join([*cells, links]) + " |")
    before, rest = text.split(BEGIN)
    table = "\n".join(lines)
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
