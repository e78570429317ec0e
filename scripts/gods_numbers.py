"""Collect God's numbers of m×n boards in docs/results/gods-numbers.json, and write its tables.

    python scripts/gods_numbers.py [SEARCH ...]

An entry of the file has a board, a metric and the home of the blank, with both bounds of God's
number, the numbers of positions at the last depths as far as they are known for certain, and the
command that finds them. Enumerated boards come from the tables of layers/, with the seconds of the
whole command from timings.json. Other boards come from the directories of `gods-number` that SEARCH
names, such as runs/2x8-gods-number, with seconds of processor time. Entries of earlier searches
stay.

If there are several sources for one board, the entry is from the one that says most, and all must
agree. The script ends with an error, and writes nothing, if two disagree, if others have published
another number, or if a stored solution does not lead from its position to the goal. It writes the
positions of each search at the last depths to farthest/, with their solutions, and tables to
docs/results/README.md, each between two marks. The tables take the bounds of thesis.json where
nothing else is known.
"""

import argparse
import json
import re
import sys
from math import factorial
from pathlib import Path

from frontier.config.loading import load_config
from frontier.cosets.checks import check_cosets
from frontier.cosets.kind import gods_number_value
from frontier.cosets.regions import best_region
from frontier.cosets.run import CosetRun
from frontier.storage.local import write_bytes
from frontier.text import span

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path("docs", "results")
FILE = RESULTS / "gods-numbers.json"
LAYERS = 4
"""How many of the last layers an entry of an enumerated board has; layers/ has them all."""

LARGE = 10**10
"""Boards of this many positions or more are in the tables even if they were enumerated."""

BOUNDARY = "<!-- {} scripts/gods_numbers.py: {} -->"

PUBLISHED = {
    "step": {
        (2, 7, 0, 0): (108, [1, 8, 43, 198], "R. E. Korf 2008; layers: O. Tarakanov 2022"),
        (2, 8, 0, 0): (140, [1, 8, 49, 294, 1158], "R. E. Korf 2008; layers: O. Tarakanov 2022"),
        (3, 5, 0, 0): (84, [1, 2, 5, 12], "R. E. Korf 2008; layers: O. Tarakanov 2022"),
        (4, 4, 0, 0): (
            80,
            [17, 70, 3406, 26638],
            "A. Brüngger, A. Marzetta, K. Fukuda and J. Nievergelt 1999; layers: R. E. Korf and P. "
            "Schultze 2005",
        ),
        (4, 4, 0, 1): (80, [2, 58, 1544, 21096], "O. Tarakanov 2022"),
        (4, 4, 1, 1): (80, [1, 50, 1416, 19522], "O. Tarakanov 2022"),
    },
    "multi": {
        (2, 7, 0, 0): (52, [1, 7, 12, 70], "O. Tarakanov 2022"),
        (2, 8, 0, 0): (57, [80, 601, 4984, 15343], "O. Tarakanov 2022"),
        (3, 5, 0, 0): (44, [1, 6, 22, 1153], "O. Tarakanov 2022"),
        (4, 4, 0, 0): (43, [16, 4616, 1148071, 106073878], "O. Tarakanov 2022"),
    },
}
"""God's numbers and sizes of the last layers that others have published, by metric, sides and home
of the blank. O. Tarakanov's are in the logs of github.com/lightln2/SlidingTilesSolver."""

HEAD = (
    "# {}, the blank's home in [{}, {}]: all positions at depth {}.",
    "# Depth; position, row by row (0 is the blank); a shortest solution, as steps of the blank: "
    "up, down, left, right{}.",
)
"""The first lines of a file of farthest positions."""

IN_PARENTHESES = {"step": "", "multi": "; a move over several cells is in parentheses"}
"""The end of the second line, by metric."""

SIDES = 4
"""The most rows of a board in the table beside the OEIS."""

OF_ONE_LINE = 9
"""The most cells of the boards of one row that were enumerated."""


def main(root: Path = ROOT):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "searches", nargs="*", type=Path, metavar="SEARCH", help="a directory of gods-number"
    )
    options = parser.parse_args()
    found = [*enumerated(root), *searched_before(root)]
    files = {}
    for path in options.searches:
        run = CosetRun.open(path)
        if run.proof is None:
            sys.exit(f"{path}: the search has not made a table yet")
        if faults := check_cosets(run).faults:
            sys.exit(f"{path}: {faults[0].message}")
        value = gods_number_value(run)
        found.append(entry_of(run, value))
        file = RESULTS / "farthest" / f"{name_of(found[-1])}.txt"
        text = farthest(run, value)
        before = (root / file).read_text(encoding="utf-8") if (root / file).exists() else ""
        if text.count("\n") >= max(before.count("\n"), len(HEAD) + 1):
            files[file] = text
    entries = merged(found)
    compare(entries)
    lines = ",\n ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    files[FILE] = f"[\n {lines}\n]\n"
    for page, parts in tables(entries, beyond(root)).items():
        files[page] = filled(root / page, parts)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(root / name, text.encode())


def enumerated(root: Path) -> list[dict]:
    """Return the entries of the boards whose layers are all known."""
    entries = []
    timings = json.loads((root / RESULTS / "timings.json").read_text(encoding="utf-8"))
    for file in (root / RESULTS / "layers").glob("*.txt"):
        named = re.fullmatch(r"(\d+)x(\d+)-(step|multi)-(\d+)-(\d+)", file.stem)
        if not named:
            continue
        metric, (rows, columns, row, column) = named[3], map(int, named.group(1, 2, 4, 5))
        lines = file.read_text(encoding="utf-8").splitlines()[1:]
        sizes = [int(line.split()[1]) for line in lines]
        if sum(sizes) != states(rows, columns):
            sys.exit(f"{file}: the layers add up to {sum(sizes):,} positions")
        command = f"frontier run configs/{rows}x{columns}.toml"
        timing = timings.get(f"{rows}x{columns}")
        if metric != "step":
            command += f" --set puzzle.metric={metric}"
        if (row, column) != (0, 0):
            command += f' --set "puzzle.blank=[{row}, {column}]"'
        if (metric, row, column) != ("step", 0, 0):
            timing = None
        entries.append({
            "rows": rows, "columns": columns, "metric": metric, "blank": [row, column],
            "lower": len(sizes) - 1, "upper": len(sizes) - 1, "last": sizes[: -LAYERS - 1 : -1],
            "command": command,
            "seconds": timing and timing["programs"]["frontier"]["seconds"],
        })  # fmt: skip
    return entries


def states(rows: int, columns: int) -> int:
    """Return the number of positions of a board with at least two rows and two columns."""
    return factorial(rows * columns) // 2


def searched_before(root: Path) -> list[dict]:
    """Return the entries of the file that searches by cosets have added."""
    file = root / FILE
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return [entry for entry in known if by_cosets(entry)]


def by_cosets(entry: dict) -> bool:
    return " gods-number " in entry["command"]


def entry_of(run: CosetRun, value: dict) -> dict:
    """Return the entry of a search."""
    puzzle, region = run.region.puzzle, run.region.name
    rows, columns, blank = puzzle.grid.rows, puzzle.grid.columns, home_of(run)
    config = f"configs/{rows}x{columns}.toml"
    if not (ROOT / config).exists():
        sys.exit(f"{run.path}: {config} is missing, which the command would name")
    command = f"frontier gods-number {config}"
    if puzzle.metric != "step":
        command += f" --set puzzle.metric={puzzle.metric}"
    if load_config(ROOT / config).make_puzzle().goals != puzzle.goals:
        command += f' --set "puzzle.blank=[{blank[0]}, {blank[1]}]"'
    if region != best_region(puzzle).name:
        command += f" --region {region}"
    last = [layer["count"] for layer in value["layers"]]
    # The time excludes what the command does not ask for: a layer, or other bounds.
    if value["known"]:
        more = [asked["seconds"] for asked in value["questions"] if not asked["searched"]]
        seconds = value["seconds"] - sum(more)
    else:
        command += f" --at-most {value['upper']}"
        answered = ((of["limit"], of["seconds"]) for of in value["questions"] if of["searched"])
        _, seconds = min(answered, default=(None, 0))
    if len(last) > 1:
        command += f" --layers {len(last)}"
    return {
        "rows": rows, "columns": columns, "metric": puzzle.metric, "blank": list(blank),
        "lower": value["lower"], "upper": value["upper"], "last": last,
        "command": command, "seconds": round(seconds, 3),
    }  # fmt: skip


def home_of(run: CosetRun) -> tuple[int, int]:
    """Return the row and column of the blank in the goal."""
    puzzle = run.region.puzzle
    return divmod(puzzle.goals[0].index(0), puzzle.grid.columns)


def merged(found: list[dict]) -> list[dict]:
    """Return for each board the entry that says most, with the best bounds of all its entries; end
    the program if two disagree."""
    best: dict[tuple, dict] = {}
    for entry in found:
        key = key_of(entry)
        known = best.setdefault(key, entry)
        if known is entry:
            continue
        shared = min(len(known["last"]), len(entry["last"]))
        if (
            max(known["lower"], entry["lower"]) > min(known["upper"], entry["upper"])
            or known["last"][:shared] != entry["last"][:shared]
        ):
            sys.exit(f"these do not agree:\n{json.dumps(known)}\n{json.dumps(entry)}")
        more = max(known, entry, key=says)  # the first, if both say as much
        best[key] = more | {
            "lower": max(known["lower"], entry["lower"]),
            "upper": min(known["upper"], entry["upper"]),
        }
    return [best[key] for key in sorted(best)]


def key_of(entry: dict) -> tuple:
    """Return the sides, the metric and the home of the blank, up to symmetries of the board."""
    (rows, columns), (row, column) = (entry["rows"], entry["columns"]), entry["blank"]
    if rows > columns:
        rows, columns, row, column = columns, rows, column, row
    homes = {(r, c) for r in (row, rows - 1 - row) for c in (column, columns - 1 - column)}
    if rows == columns:
        homes |= {(c, r) for r, c in homes}
    return rows, columns, entry["metric"] != "step", min(homes)


def compare(entries: list[dict]) -> None:
    """End the program if an entry differs from what others have published."""
    for entry in entries:
        if known := published(entry):
            depth, last, by = known
            shared = min(len(last), len(entry["last"]))
            right = entry["lower"] <= depth <= entry["upper"]
            if not right or entry["last"][:shared] != last[:shared]:
                sys.exit(f"{by} have {depth}, {last}:\n{json.dumps(entry)}")


def published(entry: dict) -> tuple[int, list[int], str] | None:
    rows, columns, _, home = key_of(entry)
    return PUBLISHED[entry["metric"]].get((rows, columns, *home))


def says(entry: dict) -> tuple[int, int, int]:
    """Return a key that is greater the more an entry says. The upper bound comes first: it is what
    the command proves."""
    return -entry["upper"], entry["lower"], len(entry["last"])


def name_of(entry: dict) -> str:
    row, column = entry["blank"]
    return f"{entry['rows']}x{entry['columns']}-{entry['metric']}-{row}-{column}"


def farthest(run: CosetRun, value: dict) -> str:
    """Return the text of the file of a search: its positions at the last depths."""
    puzzle, (row, column) = run.region.puzzle, home_of(run)
    solutions = {position.board: position.blanks for position in run.proof.farther}
    depths = ", ".join(str(layer["depth"]) for layer in value["layers"])
    lines = [
        HEAD[0].format(puzzle.title, row, column, depths),
        HEAD[1].format(IN_PARENTHESES[puzzle.metric]),
    ]
    for layer in value["layers"]:
        for position in run.proof.layer(layer["depth"]):
            here, steps = position.board.index(0), ""
            for there in solutions[position.board]:
                steps, here = steps + steps_of(here, there, puzzle.grid.columns), there
            lines.append(f"{layer['depth']}; {puzzle.line(position.board)}; {steps}")
    return "\n".join(lines) + "\n"


def steps_of(here: int, there: int, columns: int) -> str:
    """Return the steps of the blank from one cell to another in one move, in parentheses if there
    are several."""
    (r, c), (rr, cc) = divmod(here, columns), divmod(there, columns)
    steps = "U" * (r - rr) + "D" * (rr - r) + "L" * (c - cc) + "R" * (cc - c)
    return steps if len(steps) == 1 else f"({steps})"


def beyond(root: Path) -> dict[tuple[int, int], str]:
    """Return the bounds that docs/results/thesis.json has for 2×n, by rows and columns."""
    study = json.loads((root / RESULTS / "thesis.json").read_text(encoding="utf-8"))
    return {
        (2, int(n)): f"{of['lower']['value']} … {of['upper']['value']}"
        for n, of in study["beyond"]["bounds"].items()
    }


def tables(entries: list[dict], bounds: dict[tuple[int, int], str]) -> dict[Path, dict[str, str]]:
    """Return the tables of each page, by the names in their marks.

    bounds: the text in the table beside the OEIS for boards without an entry.
    """
    rows = [
        entry
        for entry in entries
        if by_cosets(entry)
        or (states(entry["rows"], entry["columns"]) >= LARGE
            and (entry["metric"], entry["blank"]) == ("step", [0, 0]))
    ]  # fmt: skip
    boards = [
        {**cells(entry), "by": f"`{entry['command']}`", "time": time_of(entry),
         "others": others(entry)}
        for entry in rows
    ]  # fmt: skip
    first = ["board", "the blank's home", "positions", "God's number", "farthest positions"]
    return {
        RESULTS / "README.md": {
            "boards": table([*first, "found by", "time", "published by others"], boards),
            "beside the OEIS": beside(entries, bounds),
        },
    }


def cells(entry: dict) -> dict[str, str]:
    """Return the cells of the table for a board."""
    lower, upper, last = entry["lower"], entry["upper"], entry["last"]
    known = [
        f"{count:,}" if depth == upper else f"{count:,} at {depth}"
        for depth, count in zip(range(upper, 0, -1), last, strict=False)
    ]
    return {
        "board": f"{entry['rows']}×{entry['columns']}"
        + (", any number of tiles a move" if entry["metric"] != "step" else ""),
        "home": "corner" if entry["blank"] == [0, 0] else "{}, {}".format(*entry["blank"]),
        "positions": f"{states(entry['rows'], entry['columns']):,}",
        "number": f"**{upper}**" if lower == upper else f"{lower} … {upper}",
        "last": known[0] + (f" ({', '.join(known[1:])})" if known[1:] else "") if known else "",
    }


def time_of(entry: dict) -> str:
    if entry["seconds"] is None:
        return ""
    return span(entry["seconds"]) + " of processor time" * by_cosets(entry)


def others(entry: dict) -> str:
    known = published(entry)
    return f"{known[0]}: {known[2]}" if known else "none known"


def table(heads: list[str], rows: list[dict[str, str]]) -> str:
    lines = [heads, ["---"] * len(heads), *(row.values() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def beside(entries: list[dict], bounds: dict[tuple[int, int], str]) -> str:
    """Return the table of God's numbers by rows and columns, for moves of one tile and the blank's
    home in the corner."""
    said = {(1, n): f"**{n - 1}**" for n in range(1, OF_ONE_LINE + 1)} | bounds
    for entry in entries:
        if (entry["metric"], entry["blank"]) == ("step", [0, 0]):
            said[entry["rows"], entry["columns"]] = cells(entry)["number"]
    said |= {(n, m): number for (m, n), number in said.items()}
    columns = range(1, 1 + max(n for m, n in said if m <= SIDES))
    rows = [
        {"board": f"{m}×n"} | {str(n): said.get((m, n), "") for n in columns}
        for m in range(1, SIDES + 1)
    ]
    return table(["m×n", *map(str, columns)], rows)


def filled(page: Path, parts: dict[str, str]) -> str:
    """Return a page with the tables between their marks; end the program if a mark is missing."""
    text = page.read_text(encoding="utf-8")
    for name, inside in parts.items():
        begin, end = (BOUNDARY.format(word, name) for word in ("made by", "end of"))
        if text.count(begin) != 1 or text.count(end) != 1:
            sys.exit(f"{page}: expected one line {begin} and one line {end} after it")
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{inside}\n\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    main()
