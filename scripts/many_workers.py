"""A thousand workers on one machine: the real driver and Dask's scheduler, tasks that only wait.

    python scripts/many_workers.py 2x8 --workers 10 100 1000 --layers 3

The largest layers of a puzzle, whose sizes and times of a task `plan` foretells, are handed out by
the driver as in a run. A task computes nothing: it waits as long as a real one takes, and one at a
time on each worker computes, as there. Workers are many in each of a few processes. So what is
measured is what the driver, the scheduler and the end of each layer cost: how busy workers are,
the processor time of driver and scheduler for a task, and the time from a layer's last task to the
first of the next. Workers share the machine with the scheduler, so on few cores it looks worse than
it is.

--stragglers: this share of tasks takes ten times as long. --deaths: so many seconds apart a worker
ends and another one comes.
"""

import argparse
import asyncio
import dataclasses
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster, Worker, get_worker

from frontier import api
from frontier.clusters.executors import TASKS_UNDER_WAY, Distributed
from frontier.config import load_config
from frontier.forecast.plan_forecast import described_cluster, forecast_of
from frontier.search import driver as driver_module
from frontier.search.driver import Driver
from frontier.search.task import TaskResult
from frontier.store.ledger import LayerRecord
from frontier.store.parts import Record
from frontier.store.run import RunStore

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
PROCESSES = 4
STRAGGLES = 10
SETTING = "MANY_WORKERS"
"""This variable of the environment tells workers how long tasks take."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("size", nargs="?", default="2x8", help="a config of configs/; default: 2x8")
    add("--workers", type=int, nargs="+", default=[10, 100, 300, 1000])
    add("--memory", default="1.5GB", help="of a worker; default: 1.5GB")
    add("--layers", type=int, default=3, help="so many, around the largest one; default: 3")
    add("--seconds", type=float, help="of a task; default: as foretold")
    add("--stragglers", type=float, default=0.0, metavar="SHARE")
    add("--deaths", type=float, metavar="SECONDS")
    add("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if options.serve:
        asyncio.run(serve(options.serve[0], int(options.serve[1]), options.deaths))
        return
    config = load_config(CONFIGS / f"{options.size}.toml", (f"cluster.memory={options.memory}",))
    print(f"{'workers':>8}{'tasks':>8}{'a task':>9}{'a layer':>9}{'busy':>7}"
          f"{'driver, scheduler':>19}{'between layers':>16}")  # fmt: skip
    for workers in options.workers:
        plan = api.plan(described_cluster(config, workers))
        made = forecast_of(plan)
        first = int(np.argmax(made.sizes.states)) - options.layers // 2
        tasks = plan.layout.task_count(plan.space.side_of(first))
        alone = dataclasses.replace(made.forecast, workers=1, depth=first - 1)
        seconds = options.seconds or alone.steps[0].seconds / tasks
        measure(options, plan, made.sizes.states, first, seconds, tasks, workers)


def measure(
    options, plan, sizes: list[int], first: int, seconds: float, tasks: int, workers: int
) -> None:
    """Run some layers on simulated workers, and print how it went."""
    os.environ[SETTING] = json.dumps(
        {"seconds": seconds, "stragglers": options.stragglers, "states": sizes[first] // tasks}
    )
    with (
        tempfile.TemporaryDirectory(prefix="many-") as folder,
        LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        servers = started(cluster.scheduler_address, workers, options.deaths)
        try:
            client.wait_for_workers(workers)
            executor = Noting(client, 60.0)
            run = RunStore.create(Path(folder) / "run", plan.identity)
            run.records = [LayerRecord(d, sizes[d], "bits", False, 0.0) for d in range(first)]
            run.roll_back(first - 1, [first - 2, first - 1])
            driver = Driver(plan, run, executor, lambda event: None, time.perf_counter())
            driver_module.expand_task = simulated_task()
            driver._check_disk = lambda left: None  # nothing is written
            used, began = time.process_time(), time.time()
            driver.search(first + options.layers - 1)
            taken, used = time.time() - began, time.process_time() - used
        finally:
            for server in servers:
                server.kill()
    told = np.array(executor.told)
    count, busy = len(told), told[:, 2].sum() / (workers * taken)
    depths = sorted(set(told[:, 3]))
    ends = [told[told[:, 3] == depth, 1].max() for depth in depths[:-1]]
    begins = [told[told[:, 3] == depth, 0].min() for depth in depths[1:]]
    between = float(np.median(np.subtract(begins, ends))) if ends else float("nan")
    print(f"{workers:8}{count // options.layers:8}{seconds:8.2f} s{taken / options.layers:8.1f} s"
          f"{busy:7.0%}{used / count * 1e3:16.2f} ms{between:14.2f} s", flush=True)  # fmt: skip


class Noting(Distributed):
    """Notes of each call when it began and ended, how long it waited as one that computes, and of
    which layer it was."""

    def __init__(self, client, patience: float):
        super().__init__(client, patience)
        self.told: list[list[float]] = []

    def run(self, function, calls, stop):
        for result in super().run(function, calls, stop):
            self.told.append([*result.seconds.pop("told"), result.record.depth])
            yield result


def simulated_task():
    """The task in the place of the real one, as workers import it."""
    sys.path.insert(0, str(Path(__file__).parent))
    from many_workers import waits

    return waits


def waits(
    path: str, identifier: str, durable: bool, gives_up: bool, depth: int, number: int
) -> TaskResult:
    """Wait as long as a task takes."""
    told = json.loads(os.environ[SETTING])
    straggles = random.Random(f"{depth} {number}").random() < told["stragglers"]
    seconds, worker, began = (
        told["seconds"] * (STRAGGLES if straggles else 1),
        get_worker(),
        time.time(),
    )
    with worker.computing:
        time.sleep(seconds)
    record = Record(identifier, depth, number, told["states"], 1, "", digest="0" * 64)
    return TaskResult(record, {"told": (began, time.time(), seconds)})


def started(address: str, workers: int, deaths: float | None) -> list[subprocess.Popen]:
    """Processes with so many workers in all."""
    processes = min(PROCESSES, workers)
    shares = [workers // processes + (i < workers % processes) for i in range(processes)]
    more = [] if deaths is None else ["--deaths", str(deaths * processes)]
    return [
        subprocess.Popen([sys.executable, __file__, "--serve", address, str(share), *more])
        for share in shares
    ]


async def serve(address: str, count: int, deaths: float | None) -> None:
    """Workers in this process, one of which ends now and then."""
    workers = []
    for _ in range(0, count, 10):
        more = [_worker(address) for _ in range(min(10, count - len(workers)))]
        workers += await asyncio.gather(*more)
    while True:
        await asyncio.sleep(3600 if deaths is None else deaths)
        gone = workers.pop(random.randrange(len(workers)))
        await gone.close(executor_wait=False)
        workers.append(await _worker(address))


async def _worker(address: str) -> Worker:
    worker = await Worker(
        address, nthreads=TASKS_UNDER_WAY, memory_limit=0, dashboard=False, dashboard_address=":0"
    )
    worker.computing = threading.Lock()
    return worker


if __name__ == "__main__":
    main()
