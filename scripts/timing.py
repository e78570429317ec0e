"""Time whole commands from outside: seconds, memory, disk, and what else the machine did."""

import json
import resource
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from subprocess import PIPE, TimeoutExpired

import psutil

from frontier.storage.places import storage_at

ROOT = Path(__file__).resolve().parents[1]
SAMPLE_SECONDS = 0.1
THIN_FIRST, THIN_LAST = 35, 15
"""How many of the first and the last layers count as thin; their share of the time is reported."""


def config_of(size: str) -> Path:
    return ROOT / "configs" / f"{size}.toml"


def whole_run(size: str, scratch: str, settings: list[str]) -> dict:
    """Run (b), the whole command; return its times and what its ledger says of the layers."""
    path = Path(scratch) / "run"
    result = command(
        "-m", "frontier", "run", config_of(size), "--fresh", "--yes", "--json",
        "--set", f"store.path={json.dumps(str(path))}",
        *(word for setting in settings for word in ("--set", setting)), folder=path,
    )  # fmt: skip
    records = json.loads((path / "ledger.json").read_text())["layers"]
    shutil.rmtree(path)
    spent = [record["seconds"] for record in records]
    work = sum((Counter(record["work"]) for record in records), Counter())
    return {
        **{key: result[key] for key in ("layers", "bytes_written", "peak", "disk", "others")},
        "seconds": result["wall"],
        "work": dict(work),
        "in_layers": sum(spent),
        "in_thin_layers": sum(spent[:THIN_FIRST] + spent[-THIN_LAST:]),
        "form": Counter(map(_form, records)).most_common(1)[0][0],
    }


def _form(record: dict) -> str:
    """Return how a layer was made: as a "list", in "memory" or by "tasks" (which record work)."""
    if record["form"] == "list":
        return "list"
    return "tasks" if record["work"] else "memory"


def command(*arguments, folder: Path | None = None) -> dict:
    """Run Python; return the JSON that it prints, together with the figures of `timed`."""
    output, figures = timed([sys.executable, *map(str, arguments)], folder)
    return {**json.loads(output), **figures}


def timed(words: list[str], folder: Path | None = None) -> tuple[str, dict]:
    """Run a command; return what it prints, and `wall` (seconds), `peak` (bytes) and `others`
    (cores).

    With a `folder`, also return `disk`, the greatest total size of the files below it.
    """
    before, began = time_of_others(), time.perf_counter()
    with psutil.Popen(words, stdout=PIPE, stderr=PIPE, text=True) as process:
        peak, disk = _tree_bytes(process), 0
        while True:
            try:
                output, errors = process.communicate(timeout=SAMPLE_SECONDS)
                break
            except TimeoutExpired:
                peak = max(peak, _tree_bytes(process))
                disk = max(disk, storage_at(folder).size() if folder else 0)
    wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{errors}")
    return output, {
        "wall": wall,
        "peak": peak,
        "others": max(0.0, time_of_others() - before) / wall,
        **({"disk": max(disk, storage_at(folder).size())} if folder else {}),
    }


def _tree_bytes(process: psutil.Process) -> int:
    """Return the resident bytes of a process and all its descendants."""
    try:
        members = [process, *process.children(recursive=True)]
        return sum(member.memory_info().rss for member in members)
    except psutil.NoSuchProcess:  # a process has just ended; the next sample counts
        return 0


def time_of_others() -> float:
    """Return the processor time of the machine, without this process and commands that have
    ended."""
    machine = psutil.cpu_times()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    idle = machine.idle + machine.iowait + machine.guest + machine.guest_nice
    return sum(machine) - idle - ended.ru_utime - ended.ru_stime - time.process_time()
