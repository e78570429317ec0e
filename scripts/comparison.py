"""What a user would otherwise run, on the same boards, beside `python -m frontier run`.

Every contender is a separate command, timed from outside from its start to its end, in alternation,
and must find the same layers. Add your program with `--program PATH`: it is called as
`PATH ROWS COLUMNS` and prints a line `DEPTH STATES` for each layer, or a JSON object with
`layers`, for the goal with the blank in the first cell and the tiles in order.
"""

import json
import platform
import re
import sys
import tempfile
from statistics import median

from timing import ROOT, command, config_of, timed, whole_run

from frontier.config import load_config
from frontier.machine import cores, processor
from frontier.text import rate, span
from frontier.text import size as bytes_text

SIZES = ("3x3", "2x5", "2x6", "3x4", "2x7")
STATES = {
    "from disk": (1e8, 1e11),
    "dictionary": (0, 2e7),
    "straightforward": (0, 3e8),
}
"""The least and the most states of the boards on which a contender runs, if not all: a dictionary
takes 100 bytes of memory a state and more, the straightforward search one; smaller boards have only
thin layers, and much larger ones are searched from disk in any case."""

MINUTE = 60  # seconds; times are told to a hundredth of a second below it
FROM_DISK = ["search.in_memory=false", "cluster.memory=1.5GB"]

WHAT = {
    "frontier": "`frontier run`, with its cluster, its store on disk and its summary",
    "from disk": f"the same with `--set {'` and `--set '.join(FROM_DISK)}`",
    "straightforward": "`scripts/plain_search.py`: Numba, all cores, a byte a state in memory; it "
    "compiles each time, which *search alone* leaves out",
    "dictionary": "`scripts/dictionary_search.py`: a dictionary in plain Python",
}


def compare(sizes: list[str], repeats: int, programs: list[str], scratch: str | None) -> dict:
    """Results by size and contender: lists of `repeats`, `None` for those left out."""
    there = cores()
    results: dict[str, dict] = {}
    with tempfile.TemporaryDirectory(prefix="compare-", dir=scratch) as folder:
        for settings in ([], FROM_DISK):
            whole_run("2x5", folder, settings)  # kernels are in Numba's cache from now on
        for size in sizes:
            puzzle = load_config(config_of(size)).make_puzzle()
            contenders = {
                "frontier": lambda size=size: whole_run(size, folder, []),
                "from disk": lambda size=size: whole_run(size, folder, FROM_DISK),
                "straightforward": lambda p=puzzle: _script("plain_search.py", p),
                "dictionary": lambda p=puzzle: _script("dictionary_search.py", p),
                **{name: lambda name=name, p=puzzle: _program(name, p) for name in programs},
            }
            rows = results[size] = {"states": puzzle.states, "contenders": {}}
            for name in contenders:
                least, most = STATES.get(name, (0, puzzle.states))
                rows["contenders"][name] = [] if least <= puzzle.states <= most else None
            for i in range(repeats):
                for name, found in rows["contenders"].items():
                    if found is not None:
                        print(f"{size}: {name}, {i + 1} of {repeats}", file=sys.stderr, flush=True)
                        found.append(contenders[name]())
            _check(size, rows["contenders"])
    return {"cores": there, "processor": processor(), "python": platform.python_version(),
            "repeats": repeats, "sizes": results}  # fmt: skip


def _script(name: str, puzzle) -> dict:
    found = command(ROOT / "scripts" / name, puzzle.grid.rows, puzzle.grid.columns, "--json")
    return {**found, "alone": found["seconds"], "seconds": found["wall"]}


def _program(path: str, puzzle) -> dict:
    output, figures = timed([path, str(puzzle.grid.rows), str(puzzle.grid.columns)])
    return {**figures, "layers": layers_in(output), "seconds": figures["wall"]}


def layers_in(output: str) -> list[int]:
    """The layers that a program printed: a JSON object, or lines of depth and states."""
    try:
        return json.loads(output)["layers"]
    except (ValueError, TypeError, KeyError):
        lines = re.findall(r"^\s*(\d+)[\s:]+([\d,]+)\b", output, re.MULTILINE)
        by_depth = {int(depth): int(states.replace(",", "")) for depth, states in lines}
        return [by_depth[depth] for depth in sorted(by_depth)]


def _check(size: str, contenders: dict) -> None:
    wanted = contenders["frontier"][0]["layers"]
    for name, found in contenders.items():
        for result in found or []:
            if result["layers"] != wanted:
                sys.exit(f"compare: {size}: {name} finds other layers than frontier")


def timings_of(figures: dict) -> dict:
    """The figures of `compare` as scripts/quotes.py keeps them: by board, the medians of times and
    the greatest values of everything else. Bytes; seconds; `alone` is the time of the search
    without its start, `others` the cores that everything else kept busy, `form` how most layers
    were made."""
    machine = {key: figures[key] for key in ("cores", "processor", "python", "repeats")}
    return {
        size: {
            "states": rows["states"],
            **machine,
            "programs": {name: _kept(found) for name, found in rows["contenders"].items() if found},
        }
        for size, rows in figures["sizes"].items()
    }


def _kept(found: list[dict]) -> dict:
    """The figures of a contender, of all repeats."""
    kept = {
        key: round(median(result[key] for result in found), 2)
        for key in ("seconds", "in_layers", "alone")
        if key in found[0]
    }
    for key, of in (("memory", "peak"), ("disk", "disk"), ("written", "bytes_written")):
        if of in found[0]:
            kept[key] = max(result[of] for result in found)
    if "form" in found[0]:
        kept["form"] = found[0]["form"]
    return {**kept, "others": round(max(result["others"] for result in found), 2)}


def table(timings: dict) -> str:
    """The comparison as a page in Markdown."""
    names = list(dict.fromkeys(name for board in timings.values() for name in board["programs"]))
    machines = dict.fromkeys(
        f"{board['cores']} cores ({board['processor']}, Python {board['python']})"
        for board in timings.values()
        if board["processor"]
    )
    lines = [
        "# Comparison",
        "",
        "Each program searches all positions of the same boards, from the goal with the blank in "
        "the first",
        f"cell, as a whole command on {' and on '.join(machines)}.",
        "Seconds are from the start of a command to its end, medians where it was repeated. "
        "Brackets have",
        "how often `frontier` would have finished in that time, and the memory at its peak.",
        "",
        *(f"* **{name}**: {WHAT.get(name, 'given by path')}" for name in names),
        "",
        "| board | states | " + " | ".join(names) + " |",
        "| --- " * (len(names) + 2) + "|",
    ]
    for size, board in timings.items():
        cells = [_cell(board, name) for name in names]
        lines.append(f"| {size.replace('x', '×')} | {board['states']:,} | {' | '.join(cells)} |")
    others = [of["others"] for board in timings.values() for of in board["programs"].values()]
    busy = max(of for of in others if of is not None)
    lines += [
        "",
        f"Everything else on the machine kept at most {busy:.2f} cores busy meanwhile.",
        "`python scripts/bench.py --compare --write` writes this page; without `--write`, "
        "`--program PATH`",
        "adds another program. [Other programs](../programs.md) has the times that others have "
        "published.",
    ]
    return "\n".join(lines) + "\n"


def _cell(board: dict, name: str) -> str:
    """The time, memory and rate of a program on a board."""
    of, base = board["programs"].get(name), board["programs"]["frontier"]["seconds"]
    if of is None:
        return "left out"
    said = [f"{of['seconds'] / base:.1f}×"] if name != "frontier" else []
    if "alone" in of:
        said.append(f"search alone {of['alone']:.2f} s")
    if "memory" in of:
        said.append(bytes_text(of["memory"]))
    said.append(rate(board["states"], of["seconds"]))
    took = f"{of['seconds']:.2f} s" if of["seconds"] < MINUTE else span(of["seconds"])
    return f"{took} ({', '.join(said)})"
