"""Times of every kind of work, and their history.

`figures` generates what is timed: runs of the shipped configs and of larger patterns, in memory and
by tasks, searches for God's numbers, solutions in bulk and distances. Each figure is the wall time
in seconds of one command, or of one call in its own process, with all kernels already compiled.

docs/benchmarks.csv is the history: a line for each commit, machine and figure. A figure counts as
slower if it is more than `SLOWER` times its last value on the same machine.
"""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

from timing import ROOT, config_of

from frontier.codec.instructions import features
from frontier.config.loading import load_config
from frontier.machine import cores, processor

HISTORY = ROOT / "docs" / "benchmarks.csv"
SLOWER = 1.3
MOST_IN_MEMORY, MOST_BY_TASKS = 2 * 10**11, 5 * 10**10
"""Configs of at most this many states take less than 5 minutes, in memory and by tasks."""

LARGER_PATTERNS = {"pattern-2x20-k2": (20, 2), "pattern-2x13-k3": (13, 3), "pattern-2x9-k4": (9, 4)}
"""Patterns of docs/results without a file in configs/: (columns, k)."""

BY_TASKS = "search.in_memory=false", "cluster.memory=1.5GB"
DISTANCES = 1_000_000
SOLUTIONS = 1000


class Line(NamedTuple):
    """A line of the history."""

    commit: str
    date: str
    machine: str
    figure: str
    seconds: str


Figure = tuple[str, Callable[[Path], float]]
"""The name of a figure, and the function that measures it in a scratch directory."""


def figures() -> Iterator[Figure]:
    """Generate all figures, the short ones of configs/ first."""
    sizes = {path.stem: _states(path) for path in (ROOT / "configs").glob("*.toml")}
    for name, states in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        if states <= MOST_IN_MEMORY:
            yield f"run {name}", lambda scratch, name=name: _run(scratch, config_of(name))
        if states <= MOST_BY_TASKS:
            yield (
                f"run {name} by tasks",
                lambda scratch, name=name: _run(scratch, config_of(name), *BY_TASKS),
            )
    for how, settings in (("", ()), (" by tasks", BY_TASKS)):
        yield (
            f"run hanoi of 13 disks{how}",
            lambda scratch, settings=settings: _run(
                scratch, config_of("hanoi"), "puzzle.disks=13", *settings
            ),
        )
    for name in LARGER_PATTERNS:
        yield f"run {name}", lambda scratch, name=name: _run(scratch, _pattern(scratch, name))
    for name in ("2x7", "2x8"):
        yield f"gods-number {name}", lambda scratch, name=name: _gods_number(scratch, name)
    yield f"solve {SOLUTIONS:,} of 2x5", _solve
    yield "one distance of 2x5", lambda scratch: _distances(scratch, 1)
    yield f"{DISTANCES:,} distances of 2x5", lambda scratch: _distances(scratch, DISTANCES)


def _states(path: Path) -> int:
    """Return the number of states of a config, of all its members if it has several goals."""
    return sum(member.make_puzzle().states for member in load_config(path).members)


def _frontier(*words) -> float:
    """Return the wall time of a command of the package."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "frontier", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def _run(scratch: Path, config: Path, *settings: str) -> float:
    path = json.dumps(str(scratch / "run"))
    words = [word for setting in settings for word in ("--set", setting)]
    return _frontier("run", config, "--yes", "--quiet", "--set", f"store.path={path}", *words)


def _pattern(scratch: Path, name: str) -> Path:
    columns, k = LARGER_PATTERNS[name]
    path = scratch / f"{name}.toml"
    path.write_text(
        f'name = "{name}"\n\n[puzzle]\nkind = "pattern"\nrows = 2\ncolumns = {columns}\nk = {k}\n'
    )
    return path


def _gods_number(scratch: Path, name: str) -> float:
    path = json.dumps(str(scratch / "search"))
    return _frontier("gods-number", config_of(name), "--quiet", "--set", f"store.path={path}")


def _kept(scratch: Path) -> Path:
    """Make a run of 2x5 that keeps its layers, and return its path."""
    _run(scratch, config_of("2x5"), "search.keep=all")
    return scratch / "run"


BOARDS = """
import sys, time
import numpy as np
import frontier

run, count = frontier.open_run(sys.argv[1]), int(sys.argv[2])
boards = np.tile(np.arange(10), (count, 1))
rng = np.random.default_rng(1)
for cells in boards[:, 1:]:
    rng.shuffle(cells)
    inversions = sum(int((cells[i + 1 :] < cells[i]).sum()) for i in range(8))
    if inversions % 2:
        cells[:2] = cells[1::-1]
"""
"""Random reachable boards of 2x5: the blank at home, and an even permutation of the tiles."""

DISTANCE = (
    BOARDS
    + """
run.distance(boards[:1])
began = time.perf_counter()
run.distance(boards if count > 1 else boards[0])
print(time.perf_counter() - began)
"""
)


def _distances(scratch: Path, count: int) -> float:
    words = [sys.executable, "-c", DISTANCE, str(_kept(scratch)), str(count)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def _solve(scratch: Path) -> float:
    path, boards = _kept(scratch), scratch / "boards"
    code = f"{BOARDS}\nfor cells in boards: print(*cells[:5], '/', *cells[5:])\n"
    words = [sys.executable, "-c", code, str(path), str(SOLUTIONS)]
    boards.write_text(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return _frontier("solve", path, "--file", boards, "--json")


def machine() -> str:
    """Return the processor and the number of cores."""
    vectors = " with AVX-512" if "avx512vbmi2" in features() else ""
    return f"{processor()}{vectors}, {cores()} cores"


def commit() -> str:
    """Return the commit of the working tree, marked if files other than the history have
    changed."""

    def said(*words: str) -> str:
        words = ["git", *words]
        done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    changed = said("status", "--porcelain", "-uno", "--", ".", f":!{HISTORY.relative_to(ROOT)}")
    return said("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


def read_history(path: Path = HISTORY) -> list[Line]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [Line(**row) for row in csv.DictReader(file)]


def append_history(lines: Iterable[Line], path: Path = HISTORY) -> None:
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(Line._fields)
        writer.writerows(lines)


def line_of(figure: str, seconds: float) -> Line:
    return Line(commit(), date.today().isoformat(), machine(), figure, f"{seconds:.3g}")


def slower(line: Line, history: Iterable[Line]) -> float | None:
    """Return the ratio of a figure to its last value on the same machine if it exceeds `SLOWER`,
    else None."""
    last = [old for old in history if (old.machine, old.figure) == (line.machine, line.figure)]
    if not last:
        return None
    ratio = float(line.seconds) / float(last[-1].seconds)
    return ratio if ratio > SLOWER else None
