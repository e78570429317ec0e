"""What the larger puzzles take: the tables of docs/scale.md that are arithmetic.

    python scripts/scale.py

First, how many bytes a codec stores for a raw byte of real layers, by their share of ones, while
layers grow and while they shrink. Then the forecast of some puzzles on described machines. The time
of a task is measured here, as `plan` does, and multiplied by one factor, with which the forecast of
3x5 is what 3x5 took in layers (docs/results/timings.json). So the machine may be a slow one, or
busy, but should be of the kind that took that time.
"""

import csv
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import quotes

from frontier.codec.codecs import SlabCodec
from frontier.config import Config, load_config
from frontier.forecast.forecast import Forecast, parts_read
from frontier.forecast.rates import SAMPLE_STEP, Rates, SampleSlabs, calibrate
from frontier.kernels.memory import MemorySearch, memory_layout
from frontier.runs.sizes import Sizes, estimate_sizes, trial_of
from frontier.search.plan import make_plan
from frontier.space.layout import SLAB_BYTES
from frontier.text import size as bytes_text
from frontier.text import span

ROOT = Path(__file__).resolve().parents[1]
CODECS = "bitmap", "zstd:1"
BOARDS = "2x6", "2x7", "3x4"
SHARES = 0.005, 0.01, 0.02, 0.05, 0.08
say = partial(print, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Machine:
    """Workers that need not exist. read, write: the bytes a second that one worker gets of the
    disk."""

    title: str
    workers: int
    memory: str
    read: float = 800e6
    write: float = 500e6


MEASURED = Machine("2 cores, 9.5 GB each", 2, "9.5GB")
MACHINES = [
    Machine("2 cores, 1.5 GB each", 2, "1.5GB"),
    Machine("16 cores, 3 GB each", 16, "3GB", 3e9 / 16, 2e9 / 16),
    Machine("100 workers, 4 GB each", 100, "4GB"),
    Machine("1,000 workers, 4 GB each", 1000, "4GB"),
]
LARGE = {"2x9": [Machine(f"{n:,} workers, 16 GB each", n, "16GB") for n in (100, 1000)]}


def main():
    codecs()
    puzzles()


def codecs() -> None:
    """Print the stored bytes per raw byte of layers that grow and that shrink."""
    print("| share of ones | codec |", " | ".join(f"{share:.1%}" for share in SHARES), "|")
    for name in BOARDS:
        found = {codec: [] for codec in CODECS}
        puzzle = load_config(ROOT / "configs" / f"{name}.toml").make_puzzle()
        search = MemorySearch(memory_layout(puzzle.model.space, 2))
        for depth, _ in enumerate(search.layers(puzzle.model.origins())):
            if depth and depth % SAMPLE_STEP == 0:
                say(f"{name}: layer {depth}")
                words = search.layer(depth).words.reshape(-1)
                for codec, samples in found.items():
                    bits = puzzle.model.space.code.bits
                    sample = SampleSlabs(SlabCodec(codec), words, SLAB_BYTES, bits)
                    samples.append((sample.density, sample.stored))
        for codec, samples in found.items():
            density, stored = np.array(samples).T
            peak = density.argmax()
            sides = slice(peak + 1), slice(None, peak - 1, -1)
            growing, shrinking = (
                np.interp(SHARES, density[side], stored[side], right=np.nan) for side in sides
            )
            pairs = zip(growing, shrinking, strict=True)
            print(f"| {name} | {codec} |", " | ".join(f"{a:.2f} / {b:.2f}" for a, b in pairs), "|")


def puzzles() -> None:
    """Print the forecasts of the puzzles on all machines."""
    say("rates")
    plan = make_plan(config_on("3x5", MEASURED))
    rates = calibrate(plan, trial_of(plan.puzzle).state_seconds)
    took = quotes.read()["3x5"]["programs"]["frontier"]["in_layers"]
    rates, factor = scaled(rates, took)
    print(f"times of tasks here, multiplied by {factor:.2f}, in ns a word:")
    print(
        ", ".join(f"{1e9 * rates.task_at(share):.1f} at {share:.0%}" for share in (0, 0.02, 0.12))
    )
    for name in ("2x7", "3x5", "2x8", "4x4", "2x9"):
        for machine in LARGE.get(name, MACHINES):
            made = forecast(name, machine, rates)
            layout, moved = made.plan.layout, made.total("read") + made.total("written")
            cells = {
                "": machine.title,
                "raw layer": bytes_text(layout.layer_bytes(0)),
                "disk": bytes_text(made.disk),
                "read": bytes_text(made.total("read")),
                "written": bytes_text(made.total("written")),
                "time": span(made.seconds),
                "moved a second": bytes_text(moved / made.seconds),
                "tasks": f"{max(map(layout.task_count, range(layout.space.sides))):,}",
                "part": bytes_text(layout.part_bytes),
                "parts a task reads": f"{max(made.reads):.2f}",
                "memory": bytes_text(made.plan.task_bytes),
            }
            print(f"{name}:", "; ".join(f"{key} {cells[key]}" for key in cells), flush=True)


def scaled(rates: Rates, took: float) -> tuple[Rates, float]:
    """Return the rates with which 3x5 takes so many seconds, and the factor by which their
    processor times differ."""
    factor = 1.0
    for _ in range(20):  # what waits for the disk does not scale
        of = {key: getattr(rates, key) * factor for key in ("read_work", "write_work", "listed")}
        scaled_rates = replace(rates, task=[seconds * factor for seconds in rates.task], **of)
        ratio = took / forecast("3x5", MEASURED, scaled_rates).seconds
        if abs(ratio - 1) < 0.001:
            return scaled_rates, factor
        factor *= ratio
    sys.exit("scale: no factor of the times of tasks gives the time that 3x5 took")


def forecast(name: str, machine: Machine, rates: Rates) -> Forecast:
    """Return the forecast of a run from disk, with layers that are larger than the page cache."""
    plan = make_plan(config_on(name, machine))
    layers = ROOT / "docs" / "results" / f"{name}.csv"
    if layers.exists():
        with layers.open() as file:
            states = [int(row["states"]) for row in csv.DictReader(file)]
        sizes = Sizes(states, len(states))
    else:
        sizes = estimate_sizes(trial_of(plan.puzzle).sizes, plan.puzzle.states)
    reads = [parts_read(plan.layout, side) for side in range(plan.space.sides)]
    rates = replace(rates, read=1 / machine.read, write=1 / machine.write)
    return Forecast(plan, sizes, reads, rates, machine.workers, cached=False)


def config_on(name: str, machine: Machine) -> Config:
    """Return a config of configs/ for a machine, by tasks from disk to disk."""
    return load_config(
        ROOT / "configs" / f"{name}.toml",
        (
            f"cluster.workers={machine.workers}",
            f"cluster.memory={machine.memory}",
            "cluster.oversubscribe=true",
            "search.in_memory=false",
        ),
    )


if __name__ == "__main__":
    main()
