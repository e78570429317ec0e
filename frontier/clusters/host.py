"""One worker of Dask for all processors of a host.

A scheduler spends some milliseconds on each batch of calls and on each worker that tells what they
returned, which is too much for a thousand workers. A host with a job to itself is
therefore one worker to the scheduler, with a local cluster below it:

    dask worker ADDRESS --no-nanny --resources processes=32 --nthreads 64 --memory-limit 64GB \\
        --preload frontier.clusters.host

The processes share the memory. For each there are `TASKS_UNDER_WAY` threads, which only wait.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing import current_process

from distributed import Client, WorkerPlugin, as_completed

from frontier import machine
from frontier.clusters.executors import HOST, PROCESSES, TASKS_UNDER_WAY, TELL_SECONDS, Call, timed
from frontier.clusters.local import local_cluster
from frontier.config import ClusterTable
from frontier.errors import FrontierError, InputError


class Host(WorkerPlugin):
    """The processes of a host, which do the calls that its worker gets."""

    name = HOST

    def __init__(self):
        self._below = ExitStack()

    def setup(self, worker) -> None:
        """Start the processes; InputError if the worker was not told how many."""
        processes = worker.state.total_resources.get(PROCESSES, 0)
        if processes < 1 or processes % 1 or worker.state.nthreads < TASKS_UNDER_WAY * processes:
            raise InputError(
                f"--resources {PROCESSES}={processes:g} --nthreads {worker.state.nthreads}: a host "
                f"needs a whole number of processes and {TASKS_UNDER_WAY} threads for each, such "
                f"as --resources {PROCESSES}=16 --nthreads {TASKS_UNDER_WAY * 16}"
            )
        if current_process().daemon:
            raise InputError("a worker with a nanny cannot have processes below it: --no-nanny")
        memory = worker.memory_manager.memory_limit or machine.memory()
        settings = ClusterTable(
            kind="local", workers=int(processes), memory=int(memory // processes)
        )
        with ExitStack() as stack:
            cluster = stack.enter_context(local_cluster(settings))
            self._client = stack.enter_context(Client(cluster, set_as_default=False))
            self._below = stack.pop_all()

    def teardown(self, worker) -> None:
        self._below.close()

    def each(self, calls: list[Call]) -> Iterator[list[tuple[int, float, object]]]:
        """Groups of (index of a call, seconds that it took, what it returned), as they end."""
        futures = self._client.map(timed, calls, pure=False)
        indices = {future.key: index for index, future in enumerate(futures)}
        completed = as_completed(futures, loop=self._client.loop, with_results=True)
        for ended in completed.batches():
            yield [(indices[future.key], *done) for future, done in ended]
            if completed.count():
                time.sleep(TELL_SECONDS)  # so that a group is worth a message


async def dask_setup(worker) -> None:
    """Dask calls this where a worker starts that preloads this module. Dask would go on after any
    other error, so SystemExit ends a worker that cannot be a host."""
    try:
        await worker.plugin_add(Host(), catch_errors=False)
    except FrontierError as error:
        raise SystemExit(f"frontier.clusters.host: {error}") from None
