"""Tables of the m×n tile puzzles from each blank cell, by moves of one tile and of several.

    python scripts/boards.py --runs runs/boards

For each board of `BOARDS`, each kind of blank cell (one for each that symmetries of the board do
not make alike) and each metric: God's number, the number of farthest positions, and the sizes of
all layers. boards.md is a table of them, with the number of the sequence in the On-Line
Encyclopedia of Integer Sequences where it has one; layers/ has the sizes of the layers of each, as
the encyclopedia takes them. Runs are made where they are missing, but for boards with more than
--most states, of which those are listed whose tables are there already: 3×5 takes some forty
minutes on two cores, and 46 GB of disk, for each cell and metric.
"""

import argparse
import sys
from pathlib import Path

from frontier import api
from frontier.config import Config, config_of
from frontier.puzzles.puzzle import Puzzle
from frontier.report.report_text import report_bfile
from frontier.report.statistics import statistics_of
from frontier.store.files import write_bytes

TARGET = Path(__file__).resolve().parents[1] / "docs" / "results"
BOARDS = [(2, n) for n in range(2, 8)] + [(3, 3), (3, 4), (3, 5)]
METRICS = {"step": "one tile", "multi": "any number of tiles in a line"}
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
"""The sequences of layer sizes, by the name of the table: board, metric, row and column of the
blank."""

INTRODUCTION = """\
# Tile puzzles from each blank cell

God's number and the number of farthest positions of m×n boards whose goal has the blank in the
cell that is named (row and column, counted from 0; one cell of each kind that symmetries of the
board make alike), where a move slides one tile, and where it slides any number of tiles of a row
or column. The last column links the sizes of all layers, as the OEIS takes them. The greatest
number of a board in a metric, if all of its cells are here, is the diameter of its graph of
positions. Made by `python scripts/boards.py --runs runs/boards`; 3×5 with `--most 1000000000000`.

| board | a move slides | blank at | states | God's number | farthest | layers | OEIS |
| --- | --- | --- | ---: | ---: | ---: | --- | --- |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--runs", type=Path, required=True, metavar="DIR", help="where run directories are or go")
    add("--target", type=Path, default=TARGET, metavar="DIR",
        help="where boards.md and layers/ go; default: docs/results")  # fmt: skip
    add("--most", type=int, default=10**11, metavar="STATES",
        help="boards with more states are not searched; the tables of them that are there stay "
        "listed; default: 10^11, which leaves 3×5 out")  # fmt: skip
    options = parser.parse_args()
    (options.target / "layers").mkdir(parents=True, exist_ok=True)
    rows = []
    for config in configs(options.runs):
        puzzle = config.make_puzzle()
        file = f"layers/{name_of(puzzle)}.txt"
        if puzzle.states <= options.most:
            print(config.name, file=sys.stderr, flush=True)
            table = report_bfile(statistics_of(api.run(config).store))
            if (options.target / file).exists() and (options.target / file).read_text() != table:
                sys.exit(f"{options.target / file} is another table than that of {config.name}")
            write_bytes(options.target / file, table.encode())
        if (options.target / file).exists():
            rows.append(row_of(puzzle, file, (options.target / file).read_text()))
    write_bytes(options.target / "boards.md", (INTRODUCTION + "\n".join(rows) + "\n").encode())


def configs(runs: Path) -> list[Config]:
    """The configs of all boards, metrics and kinds of blank cells."""
    families = [
        config_of(
            {
                "name": f"{rows}x{columns}-{metric}",
                "puzzle": {
                    "kind": "tiles", "rows": rows, "columns": columns, "blank": "all",
                    "metric": metric,
                },
                "store": {"path": str(runs / f"{rows}x{columns}-{metric}")},
            },
            "boards",
        )
        for rows, columns in BOARDS
        for metric in METRICS
    ]  # fmt: skip
    return [member for family in families for member in family.members]


def name_of(puzzle: Puzzle) -> str:
    """Board, metric, row and column of the goal's blank."""
    return f"{puzzle.rows}x{puzzle.columns}-{puzzle.metric}-{cell(puzzle, '-')}"


def cell(puzzle: Puzzle, between: str) -> str:
    """The row and the column of the goal's blank."""
    row, column = divmod(puzzle.goals[0].index(0), puzzle.columns)
    return f"{row}{between}{column}"


def row_of(puzzle: Puzzle, file: str, table: str) -> str:
    """A line of the page, from the table of a board's layers, which must be whole."""
    lines = [line.split() for line in table.splitlines()[1:]]
    layers = [int(size) for n, (depth, size) in enumerate(lines) if int(depth) == n]
    if sum(layers) != puzzle.states:
        sys.exit(f"{file}: the layers add up to {sum(layers):,}, not to {puzzle.states:,} states")
    sequence = SEQUENCES.get(name_of(puzzle))
    cells = [
        f"{puzzle.rows}×{puzzle.columns}", METRICS[puzzle.metric], cell(puzzle, ", "),
        f"{sum(layers):,}", len(layers) - 1, f"{layers[-1]:,}", f"[table]({file})",
        f"[{sequence}](https://oeis.org/{sequence})" if sequence else "",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
