"""How much tasks depend on each other: what they read of others' parts, and what scheduling costs.

    python scripts/locality.py 2x8

The script takes a size, the name of a config in configs/. It divides it into tasks as for 1, 2 and
4 workers, and then more and more finely, and prints for each layout:

* what a task reads of the current layer, as a multiple of the part that it writes: slabs under its
  own prefixes (near) and under other prefixes (far); the share of far slabs in all that it reads,
  including the layer before; the files that it opens;
* the memory of a worker.

Then it prints, for local clusters of 1, 2 and 4 workers, how long an empty task takes from its
submission to its result, and the processor time that scheduler and driver take for one of many.
"""

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from frontier.config.loading import load_config
from frontier.config.schema import ClusterTable
from frontier.errors import InputError
from frontier.executors.choice import executor_of
from frontier.executors.dask_executor import BUNDLES_A_SECOND
from frontier.executors.executor import TASKS_UNDER_WAY, Call, Executor
from frontier.layers.layouts import task_bytes
from frontier.layers.plan import Plan, make_plan
from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of
from frontier.text import size as bytes_text

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
HERE = (1, 2, 4)
MOST_TASKS = 1_000_000
EMPTY_TASKS = 300

SAMPLE = 8
"""How many tasks of a layout are examined at most, evenly spaced."""


def main():
    parser = argparse.ArgumentParser(description="Measure locality and scheduling.")
    add = parser.add_argument
    add("size", metavar="SIZE", help="such as 2x8")
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    add("--json", metavar="FILE", help="write all figures to this file")
    options = parser.parse_args()
    try:
        plans = list(plans_of(options.size, options.settings))
    except InputError as error:
        sys.exit(f"locality: {error}")
    print(f"{'':27}{'parts a task':>15}{'far':>7}{'files':>7}{'worker':>9}")
    print(f"{'tasks':>9}{'part':>9}{'prefix':>9}{'near':>8}{'far':>7}{'share':>7}"
          f"{'a task':>7}{'memory':>9}")  # fmt: skip
    rows = [locality(plan) for plan in plans]
    scheduler = {}
    for workers in HERE:
        with executor_of(ClusterTable(workers=workers), alone=False) as executor:
            trip, task = scheduler[workers] = empty_tasks(executor)
        print(
            f"workers: {workers}; an empty task alone takes {trip * 1e3:.1f} ms, each of many "
            f"{task * 1e3:.2f} ms of the scheduler's processor"
        )
    if options.json:
        found = {"size": options.size, "layouts": rows, "scheduler_seconds": scheduler}
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


def plans_of(size: str, settings: list[str]) -> Iterator[Plan]:
    """Generate plans by tasks: those for `HERE` workers, then with longer and longer prefixes."""
    seen = set()
    for workers in HERE:
        here = f"cluster.workers={workers}", "cluster.oversubscribe=true"
        options = (*settings, "search.in_memory=false", *here)
        plan = make_plan(load_config(CONFIGS / f"{size}.toml", options))
        if plan.layout not in seen:
            seen.add(plan.layout)
            yield plan
    digits = plan.layout.prefix_digits
    while (digits := digits + 1) <= len(plan.space.code.leading):
        layout = Layout(plan.space, digits, max(plan.space.nodes))
        if not layout.fits_voltages or layout.task_count(0) > MOST_TASKS:
            break
        yield dataclasses.replace(plan, layout=layout, task_bytes=task_bytes(layout))


def locality(plan: Plan) -> dict:
    """Print the figures of one layout, and return them."""
    layout = plan.layout
    near, far, files = read_where(layout)
    share = far / (1 + near + far)
    row = {
        "tasks": layout.task_count(0),
        "part_bytes": layout.part_bytes,
        "prefix_digits": layout.prefix_digits,
        "near": near,
        "far": far,
        "files": files,
        "far_share": share,
        "memory": plan.task_bytes,
    }
    print(
        f"{row['tasks']:9,}{bytes_text(layout.part_bytes):>9}{layout.prefix_digits:9}"
        f"{near:8.2f}{far:7.2f}{share:7.1%}{files:7.0f}"
        f"{bytes_text(plan.task_bytes):>9}",
        flush=True,
    )
    return row


def read_where(layout: Layout) -> tuple[float, float, float]:
    """Return what a task reads of the current layer on average, in parts, under its own prefixes
    and under other prefixes, and how many files it opens."""
    tasks, found = layout.task_count(0), []
    for number in np.unique(np.linspace(0, tasks - 1, min(SAMPLE, tasks)).astype(np.int64)):
        task = layout.task(0, int(number))
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        prefix = program.slots[reads.slot] // layout.cuts
        near = ((task.first_prefix <= prefix) & (prefix < task.last_prefix)).sum()
        own = layout.slabs_made(task)
        found.append((near / own, (prefix.size - near) / own, np.unique(reads.task).size + 2))
    return tuple(np.mean(found, axis=0).tolist())


def empty_tasks(executor: Executor) -> tuple[float, float]:
    """Return the seconds that an empty task takes alone, and the processor time for one of many in
    this process, which runs the scheduler and the driver."""
    # Tasks this long are sent one to a bundle.
    seconds = 2 * TASKS_UNDER_WAY * executor.workers / BUNDLES_A_SECOND
    began = time.process_time()
    list(executor.run([Call(time.sleep, (seconds,))] * EMPTY_TASKS, lambda: False))
    used = time.process_time() - began
    trips = EMPTY_TASKS // 10
    began = time.perf_counter()
    for _ in range(trips):
        list(executor.run([Call(time.sleep, (0,))], lambda: False))
    return (time.perf_counter() - began) / trips, used / EMPTY_TASKS


if __name__ == "__main__":
    main()
