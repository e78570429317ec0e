"""One worker of Dask for all processors of a host.

A scheduler spends some milliseconds on each batch of calls and on each worker that tells what they
returned, so a thousand workers keep it busier than it keeps them. A host with a job to itself is
therefore one worker to the scheduler, with a local cluster below it:

    dask worker ADDRESS --no-nanny --resources processes=32 --nthreads 64 --memory-limit 64GB \\
        --preload frontier.clusters.host

The threads only wait, `TASKS_UNDER_WAY` for each of the processes, which share the memory.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from distributed import Client, WorkerPlugin, as_completed

from frontier.clusters.executors import HOST, PROCESSES, TELL_SECONDS
from frontier.clusters.local import local_cluster
from frontier.config import ClusterTable


class Host(WorkerPlugin):
    """The processes of a host, which do the calls that its worker gets."""

    name = HOST

    def setup(self, worker) -> None:
        processes = int(worker.state.total_resources[PROCESSES])
        memory = (worker.memory_manager.memory_limit or 0) // processes
        settings = ClusterTable(kind="local", workers=processes, memory=memory)
        with ExitStack() as stack:
            cluster = stack.enter_context(local_cluster(settings, None))
            self._client = stack.enter_context(Client(cluster, set_as_default=False))
            self._close = stack.pop_all().close

    def teardown(self, worker) -> None:
        self._close()

    def each(
        self, function: Callable, calls: list[tuple]
    ) -> Iterator[list[tuple[int, float, object]]]:
        """Groups of (index of a call, seconds that it took, what it returned), as they end."""
        futures = self._client.map(_timed, calls, function=function, pure=False)
        indices = {future.key: index for index, future in enumerate(futures)}
        loop = self._client.loop
        for ended in as_completed(futures, loop=loop, with_results=True).batches():
            yield [(indices[future.key], *timed) for future, timed in ended]
            time.sleep(TELL_SECONDS)  # so that a group is worth a message


def _timed(arguments: tuple, function: Callable) -> tuple[float, object]:
    began = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - began, result


async def dask_setup(worker) -> None:
    """Dask calls this where a worker starts that preloads this module."""
    await worker.plugin_add(Host())
