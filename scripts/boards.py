"""Tables of the m×n tile puzzles from each blank cell, by moves of one tile and of several.

    python scripts/boards.py --runs runs/boards

For each board of `BOARDS`, each kind of blank cell (one for each that symmetries of the board do
not make alike) and each metric: God's number, the number of farthest positions, and the sizes of
all layers. boards.md is a table of them, with the number of the sequence in the On-Line
Encyclopedia of Integer Sequences where it has one; layers/ has the sizes of the layers of each, as
the encyclopedia takes them. Runs are made where they are missing; those of boards with more than
--most states are left out.
"""

import argparse
import sys
from pathlib import Path

from frontier import api
from frontier.config import Config, config_of
from frontier.report.report_text import report_bfile
from frontier.report.statistics import RunStatistics, statistics_of
from frontier.store.files import write_bytes

TARGET = Path(__file__).resolve().parents[1] / "docs" / "results"
BOARDS = [(2, n) for n in range(2, 8)] + [(3, 3), (3, 4)]
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
number of a board in a metric is the diameter of its graph of positions. Made by `python
scripts/boards.py --runs runs/boards`.

| board | a move slides | blank at | states | God's number | farthest | layers | OEIS |
| --- | --- | --- | ---: | ---: | ---: | --- | --- |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--target", type=Path, default=TARGET, metavar="DIR")
    parser.add_argument("--most", type=int, default=10**11, metavar="STATES")
    options = parser.parse_args()
    rows = []
    for config in configs(options.runs):
        if (run := complete(config, options.most)) is None:
            continue
        name = f"{run.puzzle.rows}x{run.puzzle.columns}-{run.puzzle.metric}-{cell(run, '-')}"
        file = f"layers/{name}.txt"
        (options.target / "layers").mkdir(parents=True, exist_ok=True)
        write_bytes(options.target / file, report_bfile(run).encode())
        rows.append(row_of(run, file, SEQUENCES.get(name)))
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


def complete(config: Config, most: int) -> RunStatistics | None:
    """What a run of a config found, made where it is missing; None if it has too many states."""
    if config.make_puzzle().states > most:
        return None
    print(config.name, file=sys.stderr, flush=True)
    return statistics_of(api.run(config).store)


def cell(run: RunStatistics, between: str) -> str:
    """The row and the column of the goal's blank."""
    row, column = divmod(run.puzzle.goals[0].index(0), run.puzzle.columns)
    return f"{row}{between}{column}"


def row_of(run: RunStatistics, file: str, sequence: str | None) -> str:
    """A line of the table."""
    known = f"[{sequence}](https://oeis.org/{sequence})" if sequence else ""
    cells = [
        f"{run.puzzle.rows}×{run.puzzle.columns}", METRICS[run.puzzle.metric], cell(run, ", "),
        f"{run.states:,}", run.depth, f"{run.farthest:,}", f"[table]({file})", known,
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
