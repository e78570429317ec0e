"""How well `plan` foretells what `run` then takes.

    python scripts/forecast.py 2x6 2x7

For each size, which names a config of configs/, `plan` and then `run` as a user starts them, in a
scratch directory; where the run's layers fit in memory, again by tasks. Time is that of the
layers, disk the most that the run directory held when it was looked at, every 0.05 s. Fails if
a ratio of the two exceeds 2. "Others" is how many cores everything else on the machine kept busy
during the plan and during the run: only where they are alike do figures say something. With
--write they go to docs/results/timings.json, and from there to the pages that quote them
(`scripts/quotes.py`).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import quotes
from timing import time_of_others

from frontier.storage.places import storage_at
from frontier.text import size as bytes_text
from frontier.text import span

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
WATCH_SECONDS = 0.05
FACTOR = 2
BY_TASKS = "search.in_memory=false"


def main():
    parser = argparse.ArgumentParser(description="Compare forecasts of `plan` with runs.")
    parser.add_argument("sizes", nargs="+", metavar="SIZE", help="such as 2x6")
    parser.add_argument("--scratch", metavar="DIR", help="where runs go; default: the system's")
    parser.add_argument(
        "--write",
        action="store_true",
        help="put the figures into docs/results/timings.json and the pages that quote them",
    )
    options = parser.parse_args()
    print(f"{'':5}{'form':8}{'':6}{'foretold':>14}{'taken':>14}{'ratio':>7}{'others':>14}")
    ratios = []
    for size in options.sizes:
        forecasts = compare(size, [], options.scratch)
        if "memory" in forecasts:
            forecasts |= compare(size, [BY_TASKS], options.scratch)
        ratios += [of[key] for of in forecasts.values() for key in ("ratio_time", "ratio_disk")]
        if options.write:
            quotes.write({size: {"forecasts": forecasts}})
    good = all(1 / FACTOR <= ratio <= FACTOR for ratio in ratios)
    sys.exit(0 if good else f"forecast: more than a factor of {FACTOR}")


def compare(size: str, settings: list[str], scratch: str | None) -> dict[str, dict]:
    """Plan and run once, and print both; the figures by the form of the layers: seconds in layers,
    bytes of disk, cores that other work took."""
    with tempfile.TemporaryDirectory(prefix="forecast-", dir=scratch) as folder:
        path = Path(folder) / "run"
        options = [f"store.path={json.dumps(str(path))}", *settings]
        words = [CONFIGS / f"{size}.toml", *(w for option in options for w in ("--set", option))]
        planned, _, others_then = _watched(_command("plan", *words), path)
        ran, disk, others = _watched(_command("run", *words), path)
    planned = planned["forecast"]
    form = planned["form"]
    found = {"plan_others": round(others_then, 2), "run_others": round(others, 2)}
    for what, text, foretold, taken in (
        ("time", span, planned["seconds"]["total"], ran["seconds"]),
        ("disk", bytes_text, planned["disk"]["peak"], disk),
    ):
        ratio = foretold / taken
        found |= {
            f"foretold_{what}": round(foretold, 2),
            f"taken_{what}": round(taken, 2),
            f"ratio_{what}": round(ratio, 2),
        }
        print(
            f"{size:5}{form:8}{what:6}{text(foretold):>14}{text(taken):>14}{ratio:7.2f}"
            f"{others_then:8.2f}{others:6.2f}",
            flush=True,
        )
    return {form: found}


def _command(*words) -> list[str]:
    return [sys.executable, "-m", "frontier", *map(str, words), "--json"]


def _watched(command: list[str], path: Path) -> tuple[dict, int, float]:
    """(what it prints, greatest bytes of the directory, cores of others) of a command."""
    before, began, most = time_of_others(), time.perf_counter(), 0
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdout=output, stderr=errors) as process:
            while process.poll() is None:
                most = max(most, storage_at(path).size())
                time.sleep(WATCH_SECONDS)
        seconds = time.perf_counter() - began
        for file in (output, errors):
            file.seek(0)
        if process.returncode:
            sys.exit(f"forecast: {' '.join(command)} failed: {errors.read().decode()}")
        return json.load(output), most, max(0.0, time_of_others() - before) / seconds


if __name__ == "__main__":
    main()
