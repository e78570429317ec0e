"""How fast the search is, and what each part around the kernels costs.

    python scripts/bench.py 2x6 3x4 --repeats 3 --json bench.json

For each size, which names a config of configs/, three searches of the same states:

(a) kernels: `frontier.space.memory.layer_sizes`, bitmaps in memory and nothing else, on a
    thread a core. The time is that of the search alone, after a warm-up on a small board.
(b) run: `python -m frontier run CONFIG --fresh` as a user starts it, from the start of the
    process until it ends, with its cluster, store and summary, in a scratch directory.
(c) plain: `scripts/plain_search.py`, a byte a state and no code of the package, on a thread a
    core. The time is that of the search alone, without compiling. Once, as it is slow.

Start-up is (b) on the 2x2 board, which has 12 states. All kernels are in Numba's cache
before anything is timed: a whole run of 2x6 comes first. The layer counts of all searches
must be equal, else the benchmark fails.

Each search is a command of its own. Peak memory is the most that its process and all their
children held at once: resident sizes are added up every 0.1 s, and pages that processes share
count in each. "Others" is how many cores everything else on the machine kept busy meanwhile:
figures are good for comparison only where it is near 0.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from math import ceil
from pathlib import Path
from statistics import median

import psutil

from frontier.config import load_config
from frontier.puzzles import Tiles
from frontier.report.text import size as bytes_text
from frontier.space.layout import Layout
from frontier.space.memory import layer_sizes

ROOT = Path(__file__).resolve().parents[1]
CORES = len(os.sched_getaffinity(0))
SAMPLE_SECONDS = 0.1
WORD_SECONDS, CALL_SECONDS = 2e-9, 10e-6  # of one core for a word, of the interpreter for a chunk
THIN_FIRST, THIN_LAST = 35, 15  # layers whose share of the time is printed
LABELS = {"kernels": "(a) kernels", "run": "(b) run", "plain": "(c) plain"}


def main():
    options = _options()
    if options.kernels_only:
        print(json.dumps(kernels(options.sizes[0])))
        return
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.scratch) as scratch:
        _say("warm-up: run 2x6")
        whole_run("2x6", scratch)
        startup = []
        for i in range(options.repeats):
            _say(f"start-up {i + 1} of {options.repeats}")
            startup.append(whole_run("2x2", scratch))
        figures = {"cores": CORES, "startup": startup, "sizes": {}}
        for size in options.sizes:
            figures["sizes"][size] = measure_size(size, scratch, options)
    print(f"{'':7}{'':15}{'seconds':>25}{'states/s':>12}{'written':>12}{'peak':>10}{'others':>8}")
    print(
        f"{'size':7}{'part':15}{'min':>9}{'median':>8}{'max':>8}{'':>24}{'memory':>10}{'cores':>8}"
    )
    _print_part("2x2", "start-up", startup)
    for size, parts in figures["sizes"].items():
        _print_size(size, parts, _median(startup))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


def _options():
    parser = argparse.ArgumentParser(
        description="Time the kernels alone (a), whole runs (b) and a plain search (c).",
        epilog="What is measured and how stands at the top of this file.",
    )
    add = parser.add_argument
    add("sizes", nargs="+", metavar="SIZE", help="a config of configs/, such as 2x6")
    add("--repeats", type=int, default=3, metavar="N", help="of (a) and (b); default: 3")
    add(
        "--plain-limit", type=float, default=3e8, metavar="STATES",
        help="(c) only for sizes of at most so many states; default: 3e8",
    )  # fmt: skip
    add("--json", metavar="FILE", help="write all figures, of every repeat, to this file")
    add("--scratch", metavar="DIR", help="where run directories go; default: the system's")
    add("--kernels-only", action="store_true", help="do (a) once for one size, print JSON")
    options = parser.parse_args()
    for size in options.sizes:
        if not _config(size).exists():
            parser.error(f"{size}: there is no {_config(size)}")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def _config(size: str) -> Path:
    return ROOT / "configs" / f"{size}.toml"


def measure_size(size: str, scratch: str, options) -> dict[str, list[dict]]:
    """The results of all searches of one size, checked against each other."""
    puzzle = load_config(_config(size)).make_puzzle()
    parts = {"kernels": [], "run": []}
    for i in range(options.repeats):
        _say(f"{size}: kernels and run {i + 1} of {options.repeats}")
        parts["kernels"].append(
            _command(sys.executable, __file__, size, "--kernels-only"),
        )
        parts["run"].append(whole_run(size, scratch))
    if puzzle.states <= options.plain_limit:
        _say(f"{size}: plain search")
        script = Path(__file__).with_name("plain_search.py")
        sides = str(puzzle.rows), str(puzzle.columns)
        parts["plain"] = [
            _command(sys.executable, script, *sides, "--threads", str(CORES), "--json")
        ]
    wanted = parts["kernels"][0]["layers"]
    for part, results in parts.items():
        for result in results:
            if result["layers"] != wanted:
                sys.exit(_difference(size, part, wanted, result["layers"]))
    if sum(wanted) != puzzle.states:
        sys.exit(f"bench: {size}: {sum(wanted):,} states found, {puzzle.states:,} exist")
    return parts


def _difference(size: str, part: str, wanted: list[int], got: list[int]) -> str:
    where = next((d for d, (a, b) in enumerate(zip(wanted, got, strict=False)) if a != b), None)
    if where is None:
        return f"bench: {size}: (a) finds {len(wanted)} layers, {LABELS[part]} finds {len(got)}"
    return (
        f"bench: {size}: layer {where} has {wanted[where]:,} states by (a), "
        f"{got[where]:,} by {LABELS[part]}"
    )


def kernels(size: str) -> dict:
    """(a) in this process."""
    _search(Tiles(2, 4))  # compiles, or reads what was compiled
    began = time.perf_counter()
    layers, layout = _search(load_config(_config(size)).make_puzzle())
    seconds = time.perf_counter() - began
    cut = [layout.prefix_digits, layout.block_nodes, layout.task_blocks]
    return {"layers": layers, "seconds": seconds, "layout": cut}


def _search(puzzle) -> tuple[list[int], Layout]:
    space = puzzle.space()
    origins = [space.number(*state) for state in puzzle.origins()]
    layout = memory_layout(space)
    return list(layer_sizes(space, origins, layout, CORES)), layout


def memory_layout(space) -> Layout:
    """How to cut bitmaps in memory: at least two tasks a thread, even shares, few calls."""

    def cost(layout):
        tasks, chunks = layout.task_count(0), layout.prefixes * layout.blocks(0)
        words = ceil(tasks / CORES) / tasks * max(space.nodes) * space.code.words
        return tasks < 2 * CORES, words * WORD_SECONDS + chunks * CALL_SECONDS

    nodes = max(space.nodes)
    layouts = [
        Layout(space, digits, block_nodes, 1)
        for digits in range(min(3, len(space.code.leading)) + 1)
        for block_nodes in range(1, nodes + 1)
    ]
    return min((layout for layout in layouts if layout.fits_voltages), key=cost)


def whole_run(size: str, scratch: str) -> dict:
    """(b): the whole command, timed from outside, and what its ledger says of its layers."""
    path = Path(scratch) / "run"
    result = _command(
        sys.executable, "-m", "frontier", "run", _config(size), "--fresh", "--yes", "--json",
        "--set", f"store.path={json.dumps(str(path))}",
    )  # fmt: skip
    records = json.loads((path / "ledger.json").read_text())["layers"]
    shutil.rmtree(path)
    spent = [record["seconds"] for record in records]
    return {
        "layers": result["layers"],
        "seconds": result["wall"],
        "written": result["bytes_written"],
        "peak": result["peak"],
        "others": result["others"],
        "work": {
            step: sum(record["work"].get(step, 0.0) for record in records)
            for step in ("read", "expand", "write")
        },
        "in_layers": sum(spent),
        "in_thin_layers": sum(spent[:THIN_FIRST] + spent[-THIN_LAST:])
        if len(spent) > THIN_FIRST + THIN_LAST
        else None,
    }


def _command(*command) -> dict:
    """Run a command; what it prints (JSON), with `wall`, `peak` (bytes), `others` (cores)."""
    busy, own, began = _machine_seconds(), _children_seconds(), time.perf_counter()
    process = psutil.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    peak = 0
    while True:
        try:
            output, errors = process.communicate(timeout=SAMPLE_SECONDS)
            break
        except subprocess.TimeoutExpired:
            peak = max(peak, _tree_bytes(process))
    wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))} failed:\n{errors}")
    others = (_machine_seconds() - busy - _children_seconds() + own) / wall
    return {**json.loads(output), "wall": wall, "peak": peak, "others": max(0.0, others)}


def _tree_bytes(process: psutil.Process) -> int:
    """Resident bytes of a process and all its descendants."""
    total = 0
    try:
        for member in [process, *process.children(recursive=True)]:
            total += member.memory_info().rss
    except psutil.NoSuchProcess:
        pass  # one ended meanwhile; the next sample will do
    return total


def _machine_seconds() -> float:
    """Time that the machine's cores have been busy."""
    times = psutil.cpu_times()
    return sum(times[:8]) - times.idle - times.iowait


def _children_seconds() -> float:
    """Processor time of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _median(results: list[dict]) -> float:
    return median(result["seconds"] for result in results)


def _print_part(size: str, part: str, results: list[dict]) -> None:
    spent = [result["seconds"] for result in results]
    rate = sum(results[0]["layers"]) / _median(results)
    written = bytes_text(results[0]["written"]) if "written" in results[0] else "–"
    peak = bytes_text(max(result["peak"] for result in results))
    others = max(result["others"] for result in results)
    print(
        f"{size:7}{part:15}{min(spent):9.3f}{median(spent):8.3f}{max(spent):8.3f}"
        f"{rate:12,.0f}{written:>12}{peak:>10}{others:8.2f}"
    )


def _print_size(size: str, parts: dict[str, list[dict]], startup: float) -> None:
    print()
    for part, results in parts.items():
        _print_part(size, LABELS[part], results)
    base, beyond = _median(parts["kernels"]), _median(parts["run"]) - startup
    ratios = [f"({part[1]})/(a) {_median(parts[name]) / base:.1f}" for name, part in LABELS.items()
              if name != "kernels" and name in parts]  # fmt: skip
    print(f"{'':7}{', '.join(ratios)}")
    print(f"{'':7}(b) beyond start-up {beyond:.2f} s, {beyond / base:.1f} times (a)")
    typical = sorted(parts["run"], key=lambda run: run["seconds"])[(len(parts["run"]) - 1) // 2]
    work = ", ".join(f"{step} {seconds:.2f} s" for step, seconds in typical["work"].items())
    print(f"{'':7}(b) in layers {typical['in_layers']:.2f} s; workers together: {work}")
    if typical["in_thin_layers"] is not None:
        share = typical["in_thin_layers"] / typical["in_layers"]
        print(f"{'':7}(b) first {THIN_FIRST} and last {THIN_LAST} layers {share:.0%} of the layers")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
