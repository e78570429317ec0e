"""Make tables of the m×n tile puzzles for each home of the blank, for moves of one tile and of
several, and of the k-column patterns of 2×n.


    python scripts/boards.py --runs runs/boards

For each board of `BOARDS`, each kind of blank cell (one of each orbit under the board's symmetries)
and each metric, the script finds God's number, the number of farthest positions and the sizes of
all layers. It does the same for the patterns in which the last k columns of 2×n are labelled, where
either all moves count or only those of labelled tiles. boards.md lists the results, with the number
of the sequence in the On-Line Encyclopedia of Integer Sequences if it has one; layers/ has the
sizes of all layers, in the format of the encyclopedia. The script makes missing runs, except of
boards with more than --most states, which it lists only if their tables exist already: 3×5 takes
about 20 minutes on two cores and 60 GB of disk for each cell and metric.

"""

import argparse
import sys
from itertools import product
from pathlib import Path

from frontier.api import runs as api
from frontier.config.loading import Config, config_of
from frontier.report.formats import report_bfile
from frontier.report.statistics import statistics_of
from frontier.storage.local import write_bytes

TARGET = Path(__file__).resolve().parents[1] / "docs" / "results"
BOARDS = [(2, n) for n in range(2, 8)] + [(3, 3), (3, 4), (3, 5)]
METRICS = {"step": "one tile", "multi": "any number of tiles"}

SEQUENCES = {
    "2x3-step-0-0": "A090034",
    "2x4-step-0-0": "A090035",
    "2x5-step-0-0": "A090036",
    "2x6-step-0-0": "A090167",
    "3x3-step-0-0": "A089473",
    "3x3-step-0-1": "A089483",
    "3x3-step-1-1": "A089474",
    "3x4-step-0-0": "A090166",
}
"""The sequences of layer sizes in the OEIS, by the name of the table: board, metric, row and column
of the blank."""

COUNTED = {"step": "all", "labelled": "those of labelled tiles"}
MOST_LABELLED = 4
"""The most labelled columns."""

INTRODUCTION = """\
# Tile puzzles from each blank cell

The table has God's number and the number of farthest positions of m×n boards in two metrics: a move
slides one tile, or any number of tiles of a row or column. The goal has the blank in the named cell
(row and column, counted from 0). Of the cells that a symmetry of the board maps to each other, the
table has one; so the greatest number of a board in a metric is the diameter of its state graph. The
last columns link to the sizes of all layers, in the format of the OEIS, and to their entries in it.

`python scripts/boards.py --runs runs/boards` makes this page; 3×5 needs `--most 1000000000000`. An
earlier version made the tables of 3×5 for moves of several tiles. It searched [lines of
positions](../mathematics.md#lines-of-positions) and counted the positions on them, in twenty
minutes and with 60 GB of disk for each cell, on two cores. The present version searches positions,
and needs 95 GB of disk for each cell.

| board | a move slides | blank at | states | God's number | farthest | layers | OEIS |
| --- | --- | --- | ---: | ---: | ---: | --- | --- |
"""

PATTERNS = """
## k-column patterns

This table has the same for the 2×n puzzle in which the tiles of the last k columns of the goal are
labelled and all other tiles are alike ([pattern databases](../reference/puzzles/pattern.md)). The
blank's home is the first cell. Where only moves of labelled tiles count, a state consists of the
cells of the labelled tiles and the connected area of other cells that contains the blank.

| board | k | moves that count | states | greatest distance | farthest | layers |
| --- | ---: | --- | ---: | ---: | ---: | --- |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--runs", type=Path, required=True, metavar="DIR", help="where run directories are or go")
    add("--target", type=Path, default=TARGET, metavar="DIR",
        help="where boards.md and layers/ go; default: docs/results")  # fmt: skip
    add("--most", type=int, default=10**11, metavar="STATES",
        help="do not search boards with more states, and list only their existing tables; "
        "default: 10^11, which excludes 3×5")  # fmt: skip
    options = parser.parse_args()
    (options.target / "layers").mkdir(parents=True, exist_ok=True)
    page = INTRODUCTION
    for config in boards(options.runs):
        puzzle = config.make_puzzle()
        row, column = divmod(puzzle.goals[0].index(0), puzzle.grid.columns)
        name = f"{puzzle.grid.rows}x{puzzle.grid.columns}-{puzzle.metric}-{row}-{column}"
        first = [
            f"{puzzle.grid.rows}×{puzzle.grid.columns}",
            METRICS[puzzle.metric],
            f"{row}, {column}",
        ]
        known = SEQUENCES.get(name)
        last = [f"[{known}](https://oeis.org/{known})" if known else ""]
        page += line(first, table(config, name, options), last)
    page += PATTERNS
    for config in patterns(options.runs):
        of = config.puzzle
        first = [f"2×{of.columns}", of.k, COUNTED[of.metric]]
        page += line(first, table(config, config.name, options), [])
    write_bytes(options.target / "boards.md", page.encode())


def boards(runs: Path) -> list[Config]:
    """Return the configs of all boards, metrics and kinds of blank cells."""
    families = [
        made(f"{rows}x{columns}-{metric}", runs, kind="tiles", rows=rows, columns=columns,
             metric=metric, blank="all")
        for rows, columns in BOARDS
        for metric in METRICS
    ]  # fmt: skip
    return [member for family in families for member in family.members]


def patterns(runs: Path) -> list[Config]:
    """Return the configs of the k-column patterns of 2×n, in both metrics."""
    return [
        made(f"2x{n}-k{k}-{metric}", runs, kind="pattern", rows=2, columns=n, k=k, metric=metric)
        for n, metric in product(range(2, 8), COUNTED)
        for k in range(1, min(n, MOST_LABELLED + 1))
    ]


def made(name: str, runs: Path, **puzzle) -> Config:
    """Return the config of a run, or of several."""
    tables = {"name": name, "puzzle": puzzle, "store": {"path": str(runs / name)}}
    return config_of(tables, "boards")


def table(config: Config, name: str, options: argparse.Namespace) -> tuple[str, list[int]] | None:
    """Return the file of a table, with the sizes of its layers; None if there is no file.

    Makes the table if the puzzle has at most `options.most` states.
    """
    puzzle, file = config.make_puzzle(), options.target / "layers" / f"{name}.txt"
    if puzzle.states <= options.most:
        print(config.name, file=sys.stderr, flush=True)
        found = report_bfile(statistics_of(api.run(config).store))
        if file.exists() and file.read_text() != found:
            sys.exit(f"{file} differs from the table of {config.name}")
        write_bytes(file, found.encode())
    if not file.exists():
        return None
    lines = [line.split() for line in file.read_text().splitlines()[1:]]
    layers = [int(size) for n, (depth, size) in enumerate(lines) if int(depth) == n]
    if sum(layers) != puzzle.states:
        sys.exit(f"{file}: the layers add up to {sum(layers):,}, not to {puzzle.states:,} states")
    return f"layers/{name}.txt", layers


def line(first: list, found: tuple[str, list[int]] | None, last: list[str]) -> str:
    """Return a line of the page; an empty string if there is no table."""
    if found is None:
        return ""
    file, layers = found
    depth, farthest = len(layers) - 1, layers[-1]
    cells = [*first, f"{sum(layers):,}", depth, f"{farthest:,}", f"[table]({file})", *last]
    return f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    main()
