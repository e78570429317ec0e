"""A thousand workers on one machine: the real driver and Dask's scheduler, tasks that only wait.

    python tests/campaigns/many_workers.py 2x8 --workers 100 300 1000 --memory 4GB

The largest layers of a puzzle, by their estimated sizes, are handed out by the driver as in a run.
A task computes nothing: it waits for --seconds, and one at a time on each worker waits, as one at a
time computes in a run. Workers are many in each of a few processes. So what is measured is what the
driver, the scheduler and the end of each layer cost: how busy workers are, the processor time of
driver and scheduler for a task, and the time from the end of a layer's last task to the first end
of one of the next. Only tasks whose results count are work. Workers share the machine with the
scheduler, so on few cores it looks worse than it is.

--stragglers: this share of tasks takes ten times as long. --deaths: so many seconds apart a worker
of Dask ends and another one comes.
"""

import argparse
import asyncio
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import count as numbers_from
from math import inf
from pathlib import Path

import dask
import numpy as np
from distributed import Client, LocalCluster, rpc
from distributed.batched import BatchedSend
from distributed.comm import CommClosedError, connect
from distributed.core import Server, Status
from distributed.protocol import to_serialize

from frontier.api import runs as api
from frontier.config.loading import load_config
from frontier.executors.dask_executor import DaskExecutor
from frontier.executors.dask_settings import SCHEDULER_SETTINGS
from frontier.executors.executor import TASKS_UNDER_WAY
from frontier.layers.estimate import estimate_sizes
from frontier.layers.forecast import described_cluster
from frontier.layers.loop import Driver
from frontier.layers.parts import PartRecord
from frontier.layers.rates import trial_of
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.tally import Tally
from frontier.layers.task import TaskResult
from frontier.storage.local import LocalStorage

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SERVERS = 2
STRAGGLES = 10
NUMBERS = numbers_from(1)
METRICS = {
    "cpu": 0, "memory": 0, "managed_bytes": 0, "spilled_bytes": {"memory": 0, "disk": 0},
    "transfer": {"incoming_bytes": 0, "incoming_count": 0, "incoming_count_total": 0,
                 "outgoing_bytes": 0, "outgoing_count": 0, "outgoing_count_total": 0},
    "event_loop_interval": 0.02, "time": 0, "host_net_io": {},
    "bandwidth": {"total": 1e8, "workers": {}, "types": {}},
    "task_counts": {}, "digests_total_since_heartbeat": {},
}  # fmt: skip
SETTING = "MANY_WORKERS"
"""This variable of the environment tells workers how long tasks take."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("size", nargs="?", default="2x8", help="a config of configs/; default: 2x8")
    add("--workers", type=int, nargs="+", default=[10, 100, 300, 1000])
    add("--memory", default="1.5GB", help="of a worker; default: 1.5GB")
    add("--layers", type=int, default=3, help="so many, around the largest one; default: 3")
    add("--seconds", type=float, default=0.5, help="of a task; default: 0.5")
    add("--stragglers", type=float, default=0.0, metavar="SHARE")
    add("--deaths", type=float, metavar="SECONDS")
    add("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if options.serve:
        asyncio.run(serve(options.serve[0], int(options.serve[1]), options.deaths))
        return
    config = load_config(CONFIGS / f"{options.size}.toml", (f"cluster.memory={options.memory}",))
    puzzle = config.make_puzzle()
    sizes = estimate_sizes(trial_of(puzzle).sizes, puzzle.states).states
    first = int(np.argmax(sizes)) - options.layers // 2 - 1
    print(f"{'workers':>8}{'tasks':>8}{'a task':>9}{'a layer':>9}{'busy':>7}"
          f"{'driver, scheduler':>19}{'between layers':>16}")  # fmt: skip
    for workers in options.workers:
        plan = api.plan(described_cluster(config, workers))
        measure(options, plan, sizes, first, workers)


def measure(options, plan, sizes: list[int], first: int, workers: int) -> None:
    """Run some layers on simulated workers, and print how it went."""
    seconds, tasks = options.seconds, plan.layout.task_count(plan.space.side_of(first))
    os.environ[SETTING] = json.dumps(
        {
            "seconds": seconds,
            "stragglers": options.stragglers,
            "states": sizes[first] // tasks,
            "run": "run",
        }
    )
    with (
        dask.config.set(SCHEDULER_SETTINGS),
        tempfile.TemporaryDirectory(prefix="many-") as folder,
        LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        servers = started(cluster.scheduler_address, workers, options.deaths)
        try:
            client.wait_for_workers(workers)
            executor = Noting(client, 60.0)
            run = LayerRun.create(Path(folder) / "run", plan.identity)
            learning = first - 1
            run.records = [LayerRecord.of(d, "bits", Tally(sizes[d]), 0.0) for d in range(learning)]
            run.roll_back(learning - 1, [learning - 2, learning - 1])
            driver = Driver(plan, run, executor, lambda event: None, time.perf_counter())
            LocalStorage.free = lambda storage: inf  # nothing is written
            driver.search(first)  # from then on it is known how long tasks take
            executor.told.clear()
            used, began = time.process_time(), time.time()
            driver.search(first + options.layers)
            taken, used = time.time() - began, time.process_time() - used
        finally:
            for server in servers:
                server.kill()
    told = np.array(executor.told)
    count, busy = len(told), told[:, 2].sum() / (workers * taken)
    depths = sorted(set(told[:, 3]))
    ends = [told[told[:, 3] == depth, 1].max() for depth in depths[:-1]]
    begins = [told[told[:, 3] == depth, 1].min() for depth in depths[1:]]
    between = float(np.median(np.subtract(begins, ends))) if ends else float("nan")
    print(f"{workers:8}{count // options.layers:8}{seconds:8.2f} s{taken / options.layers:8.1f} s"
          f"{busy:7.0%}{used / count * 1e3:16.2f} ms{between:14.2f} s", flush=True)  # fmt: skip


class Noting(DaskExecutor):
    """Notes of each call when it began and ended, how long it waited as one that computes, and of
    which layer it was."""

    def __init__(self, client, patience: float):
        super().__init__(client, patience)
        self.told: list[tuple] = []

    def run(self, calls, stop):
        for result in super().run(calls, stop):
            self.told.append((*result.seconds.pop("told"), result.record.depth))
            yield result


def started(address: str, workers: int, deaths: float | None) -> list[subprocess.Popen]:
    """Processes with so many workers in all."""
    servers = min(SERVERS, workers)
    shares = [workers // servers + (i < workers % servers) for i in range(servers)]
    script = os.path.abspath(__file__)
    more = [] if deaths is None else ["--deaths", str(deaths * servers)]
    return [
        subprocess.Popen([sys.executable, script, "--serve", address, str(share), *more])
        for share in shares
    ]


async def serve(address: str, count: int, deaths: float | None) -> None:
    """Workers in this process, one of which ends now and then."""
    told = json.loads(os.environ[SETTING])
    server = Server({"get_data": get_data})
    await server.listen("tcp://0.0.0.0:0")
    workers = [await SimulatedWorker.come(address, server.port, told) for _ in range(count)]
    while True:
        await asyncio.sleep(3600 if deaths is None else deaths)
        gone = workers.pop(random.randrange(len(workers)))
        gone.die()
        workers.append(await SimulatedWorker.come(address, server.port, told))


RESULTS: dict[str, tuple[float, list[TaskResult]]] = {}
"""What the workers of this process have computed, by the keys of the tasks."""


async def get_data(comm, keys, who=None, serializers=None) -> Status:
    """Answer one who asks a worker for results."""
    data = {key: to_serialize(RESULTS[key]) for key in keys if key in RESULTS}
    await comm.write({"status": "OK", "data": data}, serializers=serializers)
    assert await comm.read() == "OK"
    return Status.dont_reply


class SimulatedWorker:
    """What a scheduler sees of a worker: Dask's own takes a millisecond of the processor for each
    task, which on one machine leaves nothing to the scheduler of a thousand."""

    def __init__(self, scheduler: str, port: int, told: dict):
        # All addresses of the loopback lead to the one server of this process.
        number = next(NUMBERS)
        self.address = f"tcp://127.1.{number // 250}.{number % 250 + 1}:{port}"
        self.scheduler, self.told = scheduler, told
        self.computing = asyncio.Semaphore(1)
        self.threads = asyncio.Semaphore(TASKS_UNDER_WAY)
        self.waiting: dict[str, asyncio.Task] = {}
        self.done: set[str] = set()
        self.stream = BatchedSend(interval="2ms")
        self.tasks: set[asyncio.Task] = set()

    @classmethod
    async def come(cls, scheduler: str, port: int, told: dict) -> "SimulatedWorker":
        """A worker that is registered with the scheduler."""
        worker = cls(scheduler, port, told)
        worker.comm = await connect(scheduler)
        await worker.comm.write(
            {
                "op": "register-worker", "reply": False, "address": worker.address,
                "server_id": worker.address, "name": worker.address, "nanny": None,
                "status": "running", "nthreads": TASKS_UNDER_WAY,
                "resources": {}, "now": time.time(), "services": {},
                "memory_limit": 0, "local_directory": "", "pid": os.getpid(), "versions": {},
                "metrics": METRICS, "extra": {},
                "stimulus_id": "comes",
            }
        )  # fmt: skip
        answer = await worker.comm.read()
        assert answer["status"] == "OK", answer
        worker.stream.start(worker.comm)
        worker.go_on(worker.listen())
        worker.go_on(worker.beat(answer["heartbeat-interval"]))
        return worker

    def go_on(self, what) -> asyncio.Task:
        task = asyncio.ensure_future(what)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def die(self) -> None:
        self.comm.abort()
        for task in list(self.tasks):
            task.cancel()
        self.forget(self.done)

    async def beat(self, seconds: float) -> None:
        async with rpc(self.scheduler) as scheduler:
            while True:
                await asyncio.sleep(seconds)
                answer = await scheduler.heartbeat_worker(
                    address=self.address, now=time.time(), metrics=METRICS, executing={},
                    extensions={},
                )  # fmt: skip
                seconds = answer["heartbeat-interval"]

    async def listen(self) -> None:
        with suppress(CommClosedError):
            while True:
                for message in await self.comm.read():
                    if message["op"] == "compute-task":
                        self.waiting[message["key"]] = self.go_on(self.compute(message))
                    elif message["op"] == "free-keys":
                        self.forget(message["keys"])
                    elif message["op"] == "steal-request":
                        key = message["key"]
                        state = "ready" if key in self.waiting else "executing"
                        if state == "ready":
                            self.forget([key])
                        self.send(
                            "steal-response", key=key, state=state,
                            stimulus_id=message["stimulus_id"],
                        )  # fmt: skip

    def forget(self, keys) -> None:
        """Drop results of this worker, and tasks that it has not begun."""
        for key in keys:
            if key in self.done:
                RESULTS.pop(key)
            elif key in self.waiting:
                self.waiting.pop(key).cancel()
        self.done.difference_update(keys)

    async def compute(self, message: dict) -> None:
        """Do calls as one of the threads of a worker does, of which half wait for the others."""
        (batch,), key = message["run_spec"].args, message["key"]
        async with self.threads:
            del self.waiting[key]  # it cannot be stolen any more
            began = time.time()
            results = [await self.wait(*call.arguments[-2:]) for call in batch]
            RESULTS[key] = time.time() - began, results
            self.done.add(key)
        self.send(
            "task-finished", status="OK", key=key, run_id=message["run_id"], nbytes=100,
            type=b"", typename="tuple", metadata={}, thread=0, stimulus_id="done",
            startstops=({"action": "compute", "start": began, "stop": time.time()},),
        )  # fmt: skip

    async def wait(self, depth: int, part: int) -> TaskResult:
        straggles = random.random() < self.told["stragglers"]
        seconds = self.told["seconds"] * (STRAGGLES if straggles else 1)
        began = time.time()
        async with self.computing:
            await asyncio.sleep(seconds)
        tally = Tally(self.told["states"])
        record = PartRecord(self.told["run"], depth, part, tally, 1, "", digest="0" * 64)
        return TaskResult(record, {"told": (began, time.time(), seconds)})

    def send(self, operation: str, **more) -> None:
        self.stream.send({"op": operation, **more})


if __name__ == "__main__":
    main()
