"""Compare `python -m frontier run` with other programs on the same boards.

Each contender is a separate command, timed from its start to its end; the contenders take turns,
and must find the same layers. `--program PATH` adds a program. It is called as
`PATH ROWS COLUMNS`, and prints a line `DEPTH STATES` for each layer, or a JSON object with
`layers`, for the goal with the blank in the first cell and the tiles in order.

docs/results/timings.json keeps the figures of each board, under the name of its config, and
docs/results/comparison.md shows them. Other pages round what they need, and link to that page.
"""

import json
import platform
import re
import sys
import tempfile
from pathlib import Path
from statistics import median

from timing import ROOT, command, config_of, timed, whole_run

from frontier.config.loading import load_config
from frontier.machine import cores, processor
from frontier.storage.local import write_bytes
from frontier.text import rate, span
from frontier.text import size as bytes_text

RESULTS = ROOT / "docs" / "results"
TIMINGS, PAGE = "timings.json", "comparison.md"

SIZES = ("3x3", "2x5", "2x6", "3x4", "2x7")
STATES = {
    "from disk": (1e8, 1e11),
    "dictionary": (0, 2e7),
    "straightforward": (0, 3e8),
}
"""For contenders that do not run on all boards, the least and the most states. A dictionary takes
100 bytes of memory a state or more, and the straightforward search one byte. From disk, smaller
boards have only thin layers, and much larger ones are never searched in memory."""

MINUTE = 60  # seconds; shorter times are given to a hundredth of a second
FROM_DISK = ["search.in_memory=false", "cluster.memory=1.5GB"]

WHAT = {
    "frontier": "`frontier run`, with its cluster, its store on disk and its summary",
    "from disk": f"`frontier run` with `--set {'` and `--set '.join(FROM_DISK)}`",
    "straightforward": "`scripts/plain_search.py`: Numba, all cores, one byte a state in memory; "
    "it compiles its kernel each time, which *search alone* excludes",
    "dictionary": "`scripts/dictionary_search.py`: a dictionary in plain Python",
}
FORMS = {"list": "as lists", "memory": "in memory", "tasks": "from disk"}


def compare(sizes: list[str], repeats: int, programs: list[str], scratch: str | None) -> dict:
    """Return the results by size and contender: a list of `repeats`, or None if left out."""
    there = cores()
    results: dict[str, dict] = {}
    with tempfile.TemporaryDirectory(prefix="compare-", dir=scratch) as folder:
        for settings in ([], FROM_DISK):
            whole_run("2x5", folder, settings)  # puts the kernels into Numba's cache
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
    """Return the layers that a program printed: a JSON object, or lines of depth and states."""
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
    """Return the figures of `compare` as timings.json keeps them.

    For each board, times are medians, and all other figures are maxima, in seconds and bytes.
    `alone` is the time of the search without its start, `others` the number of cores that
    everything else kept busy, and `form` says how most layers were made.
    """
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
    """Return the figures of a contender over all repeats."""
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


def read(folder: Path = RESULTS) -> dict:
    """Return the figures by config."""
    return json.loads((folder / TIMINGS).read_text(encoding="utf-8"))


def write(found: dict, folder: Path = RESULTS) -> None:
    """Put figures into the file, in place of those of the same boards and programs, and make the
    page from it."""
    timings = read(folder)
    for name, board in found.items():
        timings[name] = timings.get(name, {}) | board
    text = json.dumps(timings, indent=1, ensure_ascii=False)
    write_bytes(folder / TIMINGS, f"{text}\n".encode())
    write_bytes(folder / PAGE, page(timings).encode())


def page(timings: dict) -> str:
    """Return the page of all figures in Markdown."""
    compared = table({size: timings[size] for size in SIZES})
    return f"{compared}\n{runs_table(timings)}"


def runs_table(timings: dict) -> str:
    """Return what each run of `frontier` took, as a section in Markdown."""
    lines = [
        "## Runs of frontier",
        "",
        "Memory and disk are the greatest at any moment, of all processes together. The speed of "
        "virtual",
        "machines varies by half from hour to hour, so compare only times measured side by side.",
        "",
        "| board | | time | its layers | memory | disk | written | machine |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, board in timings.items():
        for of in (board["programs"].get(program) for program in ("frontier", "from disk")):
            if of is None:
                continue
            times = [_time(of[key]) for key in ("seconds", "in_layers")]
            sizes = [bytes_text(of[k]) if k in of else "" for k in ("memory", "disk", "written")]
            machine = f"{board['cores']} cores, {board['processor']}"
            cells = [name.replace("x", "×"), FORMS[of["form"]], *times, *sizes, machine]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table(timings: dict) -> str:
    """Return the comparison as a page in Markdown."""
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
        f"cell, on {' and on '.join(machines)}.",
        "Times are of the whole command, the median if it was repeated. Parentheses hold the "
        "ratio to the",
        "time of `frontier`, the peak memory, and the states per second.",
        "",
        *(f"* **{name}**: {WHAT.get(name, 'named with `--program`')}" for name in names),
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
        f"Meanwhile, everything else on the machine kept at most {busy:.2f} cores busy.",
        "`python scripts/bench.py --compare --write` writes this page; without `--write`, "
        "`--program PATH`",
        "adds another program. [Other programs](../programs.md) has times that others have "
        "published.",
    ]
    return "\n".join(lines) + "\n"


def _cell(board: dict, name: str) -> str:
    """Return the time, memory and rate of a program on a board."""
    of, base = board["programs"].get(name), board["programs"]["frontier"]["seconds"]
    if of is None:
        return "left out"
    said = [f"{of['seconds'] / base:.1f}×"] if name != "frontier" else []
    if "alone" in of:
        said.append(f"search alone {of['alone']:.2f} s")
    if "memory" in of:
        said.append(bytes_text(of["memory"]))
    said.append(rate(board["states"], of["seconds"]))
    return f"{_time(of['seconds'])} ({', '.join(said)})"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < MINUTE else span(seconds)
