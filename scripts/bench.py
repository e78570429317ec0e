"""Benchmarks: the time of every kind of work, or what whole runs cost beyond their kernels.

    python scripts/bench.py --write
    python scripts/bench.py --only "run pattern" --repeats 3
    python scripts/bench.py 2x6 3x4 --repeats 3 --json bench.json

Without a size, the script times every kind of work (`scripts/kinds.py`), which takes about 30
minutes. It marks figures that are slower than their last values in docs/benchmarks.csv, and
--write adds the new figures to that file. --only TEXT limits it to figures whose names contain
TEXT.

With sizes, each the name of a config in configs/, it times three searches of the same states:

(a) kernels: `frontier.kernels.shift_search.ShiftSearch`, bitmaps in memory, with one thread per
    core. The time is that of the search alone, after a warm-up on a small board. Left out if a
    sequence has fewer than five members, because bitmaps then waste memory.
(b) run: `python -m frontier run CONFIG --fresh` as a user starts it, from the start of the
    process to its end, with its cluster, store and summary, in a scratch directory.
(c) plain: `scripts/plain_search.py`, one byte a state and no code of the package, with one
    thread per core, for tile puzzles. The time is that of the search alone, without compilation. It
    runs only once, because it is slow.

Start-up is (b) on the 2x2 board, which has 12 states. A whole run of 2x6 comes first, so that all
kernels are in Numba's cache before anything is timed. The benchmark fails if the layer counts of
the searches differ.

With --compare, `scripts/comparison.py` times programs that a user could run instead. With --compare
--write, the figures replace those of the same boards in docs/results/timings.json and on
docs/results/comparison.md. For the boards of the README this takes 15 minutes, or a
third of that with --repeats 1; 3x5, if it is named, takes 40 minutes more.

Each search is a separate command. Peak memory is the greatest sum of the resident sizes of
its process and all its children, sampled every 0.1 s; pages that processes share count in each.
Peak disk is the greatest total size of the run's files, sampled as often. "Others" is how many
cores everything else on the machine kept busy meanwhile; compare figures only if it is near 0. All
three are maxima over all repeats.
"""

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import comparison
import kinds
from comparison import SIZES, compare, table, timings_of
from timing import ROOT, THIN_FIRST, THIN_LAST, command, config_of, whole_run

from frontier.config.loading import load_config
from frontier.kernels.shift_search import ShiftSearch, memory_layout
from frontier.machine import cores
from frontier.puzzles import tile_puzzle
from frontier.text import rate
from frontier.text import size as bytes_text

CORES = cores()
say = partial(print, file=sys.stderr, flush=True)
FULL_WORD = 60  # states of a full word; with fewer, bitmaps waste memory and (a) is left out
LABELS = {"kernels": "(a) kernels", "run": "(b) run", "plain": "(c) plain"}
FORMS = {"list": "as lists", "memory": "as bitmaps in memory", "tasks": "by tasks from disk"}


def main():
    options = _options()
    if options.kernels_only:
        print(json.dumps(kernels(options.sizes[0])))
        return
    if not options.sizes:
        time_every_kind(options)
        return
    if options.compare:
        figures = compare(options.sizes, options.repeats, options.program, options.scratch)
        timings = timings_of(figures)
        print(table(timings), end="")
        if options.write:
            comparison.write(timings)
        if options.json:
            Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
        return
    figures = {"cores": CORES, "startup": [], "sizes": {}}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.scratch) as scratch:
        say("warm-up: a run of 2x6")
        whole_run("2x6", scratch, options.settings)
        for i in range(options.repeats):
            say(f"start-up, {i + 1} of {options.repeats}")
            figures["startup"].append(whole_run("2x2", scratch, options.settings))
        for size in options.sizes:
            figures["sizes"][size] = measure(size, scratch, options)
    print(f"{'':22}{'seconds':>25}{'':24}{'peak':>10}{'peak':>10}{'others':>8}")
    print(
        f"{'size':7}{'part':15}{'min':>9}{'median':>8}{'max':>8}"
        f"{'states':>12}{'written':>12}{'memory':>10}{'disk':>10}{'cores':>8}"
    )
    _print_part("2x2", "start-up", figures["startup"])
    for size, parts in figures["sizes"].items():
        _print_size(size, parts, _median(figures["startup"]))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Time the kernels alone (a), whole runs (b) and a plain search (c).",
        epilog="The top of this file says what is measured, and how.",
    )
    add = parser.add_argument
    add("sizes", nargs="*", metavar="SIZE", help="a config of configs/, such as 2x6")
    add("--compare", action="store_true",
        help="time frontier and other programs, and print a table in Markdown; without "
        f"SIZE: {' '.join(SIZES)}")  # fmt: skip
    add("--write", action="store_true",
        help="add the figures to docs/benchmarks.csv; with --compare, write them to "
        "docs/results/timings.json and docs/results/comparison.md")  # fmt: skip
    add("--only", default="", metavar="TEXT",
        help="without SIZE: time only the figures whose names contain this text")  # fmt: skip
    add("--program", action="append", default=[], metavar="PATH",
        help="with --compare: another program, called as scripts/comparison.py says")  # fmt: skip
    add("--repeats", type=int, default=3, metavar="N", help="repeats, except of (c); default: 3")
    add("--plain-limit", type=float, default=3e8, metavar="STATES",
        help="run (c) only for sizes of at most this many states; default: 3e8")  # fmt: skip
    add("--json", metavar="FILE", help="write the figures of every repeat to this file")
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="a setting of (b), such as search.in_memory=false; may be repeated")  # fmt: skip
    add("--scratch", metavar="DIR", help="where run directories go; default: the system's")
    add("--kernels-only", action="store_true", help="run (a) once for the first size, print JSON")
    options = parser.parse_args()
    if options.compare and not options.sizes:
        options.sizes = list(SIZES)
    if options.program and not options.compare:
        parser.error("--program needs --compare")
    if options.write and options.sizes and not options.compare:
        parser.error("--write with SIZE needs --compare")
    if options.program and options.write:
        parser.error("--write is for the programs that the pages name: leave out --program")
    missing = [str(config_of(size)) for size in options.sizes if not config_of(size).exists()]
    if missing or options.repeats < 1:
        parser.error(f"no {', '.join(missing)}" if missing else "--repeats must be at least 1")
    if options.scratch:
        Path(options.scratch).mkdir(parents=True, exist_ok=True)
    return options


def time_every_kind(options: argparse.Namespace) -> None:
    """Print the median of each figure, and its ratio to the last value if that is large."""
    history = kinds.read_history()
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.scratch) as scratch:
        say("warm-up: runs of 2x6, in memory and by tasks")
        whole_run("2x6", scratch, [])
        whole_run("2x6", scratch, list(kinds.BY_TASKS))
    for name, measure_figure in kinds.figures():
        if options.only not in name:
            continue
        seconds = []
        for _ in range(options.repeats):
            with tempfile.TemporaryDirectory(prefix="bench-", dir=options.scratch) as scratch:
                seconds.append(measure_figure(Path(scratch)))
        line = kinds.line_of(name, median(seconds))
        ratio = kinds.slower(line, history)
        mark = f"  {ratio:.2f} times its last value" if ratio else ""
        print(f"{name:40}{line.seconds:>10} s{mark}", flush=True)
        if options.write:
            kinds.append_history([line])


def measure(size: str, scratch: str, options: argparse.Namespace) -> dict[str, list[dict]]:
    """Return the results of all searches of one size, after comparing their layers."""
    puzzle = load_config(config_of(size)).make_puzzle()
    whole_words = puzzle.model.space.code.bits == FULL_WORD
    parts = {"kernels": [], "run": []} if whole_words else {"run": []}
    for i in range(options.repeats):
        say(f"{size}: {' and '.join(parts)}, {i + 1} of {options.repeats}")
        if whole_words:
            parts["kernels"].append(command(__file__, size, "--kernels-only"))
        parts["run"].append(whole_run(size, scratch, options.settings))
    if puzzle.kind == "tiles" and puzzle.states <= options.plain_limit:
        say(f"{size}: plain search")
        plain = ROOT / "scripts" / "plain_search.py"
        sides = puzzle.grid.rows, puzzle.grid.columns
        parts["plain"] = [command(plain, *sides, "--threads", CORES, "--json")]
    first = next(iter(parts))
    wanted = parts[first][0]["layers"]
    if sum(wanted) != puzzle.states:
        sys.exit(
            f"bench: {size}: {LABELS[first]} finds {sum(wanted):,} states, not {puzzle.states:,}"
        )
    for part, results in parts.items():
        for got in (result["layers"] for result in results if result["layers"] != wanted):
            d = next(d for d in range(len(wanted) + 1) if got[: d + 1] != wanted[: d + 1])
            sys.exit(
                f"bench: {size}: {LABELS[part]} differs from {LABELS[first]} from layer {d} on: "
                f"{got[d : d + 3]} and {wanted[d : d + 3]} states"
            )
    return parts


def kernels(size: str) -> dict:
    """Run (a) in this process."""
    for puzzle in (
        tile_puzzle(2, 4),
        load_config(config_of(size)).make_puzzle(),
    ):  # the first compiles
        space = puzzle.model.space
        layout = memory_layout(space, CORES)
        began = time.perf_counter()
        search = ShiftSearch(layout, CORES)
        layers = [int(states.sum()) for states in search.layers(puzzle.model.origins())]
        seconds = time.perf_counter() - began
    return {"layers": layers, "seconds": seconds, "layout": layout.settings}


def _median(results: list[dict]) -> float:
    return median(result["seconds"] for result in results)


def _print_part(size: str, label: str, results: list[dict]) -> None:
    spent = [result["seconds"] for result in results]
    written, disk = results[0].get("bytes_written"), max(run.get("disk", -1) for run in results)
    print(
        f"{size:7}{label:15}{min(spent):9.3f}{median(spent):8.3f}{max(spent):8.3f}"
        f"{rate(sum(results[0]['layers']), median(spent)):>12}"
        f"{'–' if written is None else bytes_text(written):>12}"
        f"{bytes_text(max(result['peak'] for result in results)):>10}"
        f"{'–' if disk < 0 else bytes_text(disk):>10}"
        f"{max(result['others'] for result in results):8.2f}"
    )


def _print_size(size: str, parts: dict[str, list[dict]], startup: float) -> None:
    print()
    for part, results in parts.items():
        _print_part(size, LABELS[part], results)
    seconds = {part: _median(results) for part, results in parts.items()}
    beyond = seconds["run"] - startup
    said = [f"(b) without start-up {beyond:.2f} s"]
    if "kernels" in seconds:
        base = seconds["kernels"]
        said.append(f"{beyond / base:.1f} times (a); (b)/(a) {seconds['run'] / base:.1f}")
        if "plain" in seconds:
            said.append(f"(c)/(a) {seconds['plain'] / base:.1f}")
    typical = sorted(parts["run"], key=lambda run: run["seconds"])[(len(parts["run"]) - 1) // 2]
    steps = ", ".join(f"{step} {spent:.2f} s" for step, spent in typical["work"].items())
    print(f"{'':7}{', '.join(said)}")
    print(f"{'':7}(b) in layers {typical['in_layers']:.2f} s; workers together: {steps or '–'}")
    print(f"{'':7}    most layers {FORMS[typical['form']]}")
    if len(typical["layers"]) > THIN_FIRST + THIN_LAST:
        share = typical["in_thin_layers"] / typical["in_layers"]
        print(f"{'':7}    first {THIN_FIRST} and last {THIN_LAST} layers: {share:.0%} of that time")


if __name__ == "__main__":
    main()
