"""What a user would otherwise run, on the same boards, beside `python -m frontier run`.

Every contender is a command of its own, timed from outside from its start to its end, in turns,
and must find the same layers. A program of yours joins with `--program PATH`: it is called as
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
from frontier.machine import cores
from frontier.search.environment import processor
from frontier.text import rate
from frontier.text import size as bytes_text

SIZES = ("3x3", "2x5", "2x6", "3x4")
MOST_STATES = {"dictionary": 2e7, "straightforward": 3e8}
"""Larger boards are left to the others: a dictionary takes a hundred bytes a state and more, the
straightforward search a byte, in memory."""

WHAT = {
    "frontier": "`python -m frontier run`, with its cluster, its store on disk and its summary",
    "straightforward": "`scripts/plain_search.py`: Numba, all cores, a byte a state in memory; it "
    "is compiled each time, which its search alone leaves out",
    "dictionary": "`scripts/dictionary_search.py`: a dictionary in plain Python",
}


def compare(sizes: list[str], repeats: int, programs: list[str], scratch: str | None) -> dict:
    """Results by size and contender; each a list of `repeats`, `None` where it was left out."""
    there = cores()
    results: dict[str, dict] = {}
    with tempfile.TemporaryDirectory(prefix="compare-", dir=scratch) as folder:
        whole_run("3x3", folder, [])  # kernels are in Numba's cache from now on
        for size in sizes:
            puzzle = load_config(config_of(size)).make_puzzle()
            contenders = {
                "frontier": lambda size=size: whole_run(size, folder, []),
                "straightforward": lambda p=puzzle: _script("plain_search.py", p),
                "dictionary": lambda p=puzzle: _script("dictionary_search.py", p),
                **{name: lambda name=name, p=puzzle: _program(name, p) for name in programs},
            }
            rows = results[size] = {"states": puzzle.states, "contenders": {}}
            for name in contenders:
                out = puzzle.states > MOST_STATES.get(name, puzzle.states)
                rows["contenders"][name] = None if out else []
            for i in range(repeats):
                for name, found in rows["contenders"].items():
                    if found is not None:
                        print(f"{size}: {name}, {i + 1} of {repeats}", file=sys.stderr, flush=True)
                        found.append(contenders[name]())
            _check(size, rows["contenders"])
    return {"cores": there, "processor": processor(), "python": platform.python_version(),
            "repeats": repeats, "sizes": results}  # fmt: skip


def _script(name: str, puzzle) -> dict:
    found = command(ROOT / "scripts" / name, puzzle.rows, puzzle.columns, "--json")
    return {**found, "alone": found["seconds"], "seconds": found["wall"]}


def _program(path: str, puzzle) -> dict:
    output, figures = timed([path, str(puzzle.rows), str(puzzle.columns)])
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


def table(figures: dict) -> str:
    """The comparison as a page in Markdown."""
    names = list(next(iter(figures["sizes"].values()))["contenders"])
    lines = [
        "# Comparison",
        "",
        "The same boards, searched from the goal with the blank in the first cell until no state "
        "is",
        f"left, by whole commands on {figures['cores']} cores ({figures['processor']}, Python "
        f"{figures['python']}). Seconds are medians of {figures['repeats']}, from the start of the "
        "command to its",
        "end; in brackets how often `frontier` would have finished in that time, and the memory at "
        "its peak.",
        "",
        *(f"* **{name}**: {WHAT.get(name, 'given by path')}" for name in names),
        "",
        "| board | states | " + " | ".join(names) + " |",
        "| --- " * (len(names) + 2) + "|",
    ]
    for size, rows in figures["sizes"].items():
        base = median(result["seconds"] for result in rows["contenders"]["frontier"])
        cells = [_cell(found, base, name) for name, found in rows["contenders"].items()]
        lines.append(f"| {size.replace('x', '×')} | {rows['states']:,} | {' | '.join(cells)} |")
    others = [r["others"] for rows in figures["sizes"].values()
              for found in rows["contenders"].values() for r in found or []]  # fmt: skip
    lines += [
        "",
        f"Everything else on the machine kept at most {max(others):.2f} cores busy meanwhile. "
        "Written by",
        "`python scripts/bench.py --compare`, where `--program PATH` adds another program.",
        "What is published of programs that do the same, SlidingTilesSolver, PuzzleSearch, hog2, "
        "twsearch",
        "and 24puzzle, stands in [Other programs](../programs.md).",
    ]
    return "\n".join(lines) + "\n"


def _cell(found: list[dict] | None, base: float, name: str) -> str:
    if found is None:
        return f"left out: more than {MOST_STATES[name]:,.0f} states"
    seconds = median(result["seconds"] for result in found)
    peak = bytes_text(max(result["peak"] for result in found))
    speed = rate(sum(found[0]["layers"]), seconds)
    said = [f"{seconds / base:.1f}×"] if name != "frontier" else []
    if "alone" in found[0]:
        said.append(f"search alone {median(result['alone'] for result in found):.2f} s")
    return f"{seconds:.2f} s ({', '.join([*said, peak, speed])})"
