"""Where tasks run, by name: here one after the other, or on a Dask cluster.

An executor runs one function over many arguments with a bounded number under way and hands
back each result as it comes. Dask is imported only where it is asked for.
"""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from frontier.config import ClusterTable
from frontier.errors import InputError, Stopped

Call = tuple[int, tuple]
"""(key, arguments): the key says which worker had the same partition last."""


class Executor(Protocol):
    workers: int
    dashboard: str | None

    def run(self, function: Callable, calls: Iterable[Call], stop: Callable[[], bool]) -> Iterator:
        """Results of function(*arguments), in any order; no new calls once `stop()` holds."""


class Serial:
    """Runs every call here, one after the other; what one debugs with."""

    workers = 1
    dashboard = None

    def run(self, function, calls, stop):
        for _, arguments in calls:
            if stop():
                return
            yield function(*arguments)


class Distributed:
    """Runs calls on the workers of a Dask scheduler.

    Each call prefers the worker that ran the call of the same key last, whose caches hold its
    chunks; a worker without calls of its own takes those of the one that has most.
    """

    WINDOW = 2
    """Calls handed to a worker at a time, so it need not wait for the next one."""

    def __init__(self, client):
        self._client = client
        self._owner: dict[int, str] = {}
        self.dashboard = client.dashboard_link or None

    @property
    def workers(self) -> int:
        return max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def run(self, function, calls, stop):
        from distributed import KilledWorker, as_completed

        names = list(self._client.scheduler_info(n_workers=-1)["workers"])
        queues: dict[str | None, deque[Call]] = {name: deque() for name in names or [None]}
        for i, call in enumerate(calls):
            owner = self._owner.get(call[0])
            if owner not in queues:
                owner = list(queues)[i % len(queues)]
            queues[owner].append(call)
        under_way = as_completed()
        home: dict[Any, tuple[str | None, int]] = {}

        def submit(name):
            queue = queues[name] or max(queues.values(), key=len)
            if not queue or stop():
                return
            key, arguments = queue.popleft()
            place = {"workers": [name], "allow_other_workers": True} if name else {}
            future = self._client.submit(function, *arguments, pure=False, retries=3, **place)
            home[future] = name, key
            under_way.add(future)

        for _ in range(self.WINDOW):
            for name in queues:
                submit(name)
        try:
            for future in under_way:
                name, key = home.pop(future)
                try:
                    result = future.result()
                except KilledWorker as error:
                    raise Stopped(
                        f"worker after worker died doing the same task ({error}); if memory ran "
                        "out, raise cluster.memory or lower cluster.workers"
                    ) from None
                self._owner[key] = name
                future.release()
                submit(name)
                yield result
        finally:
            self._client.cancel(list(home))


@contextmanager
def executor_of(settings: ClusterTable) -> Iterator[Executor]:
    """Start or join the cluster that ``[cluster]`` names; it is closed at the end."""
    if settings.kind == "serial":
        yield Serial()
        return
    import dask
    from distributed import Client, LocalCluster

    if settings.kind == "local":
        with dask.config.set(_LOCAL_SETTINGS), _interrupts_ignored():
            cluster = LocalCluster(
                n_workers=settings.workers,
                threads_per_worker=1,
                processes=True,
                memory_limit=int(settings.memory),
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=40,
            )
        with cluster, Client(cluster) as client:
            yield Distributed(client)
        return
    place = (
        {"address": settings.address}
        if settings.kind == "address"
        else {"scheduler_file": settings.scheduler_file}
    )
    try:
        client = Client(**place, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"cluster.kind = {settings.kind}: no scheduler answers at "
            f"{settings.address or settings.scheduler_file} within {CONNECT_SECONDS} s ({error}); "
            "start one with `dask scheduler` and workers with `dask worker`"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise Stopped(
                f"the scheduler at {client.scheduler.address} has no workers after "
                f"{CONNECT_SECONDS} s; start some with `dask worker` and run again"
            ) from None
        yield Distributed(client)


CONNECT_SECONDS = 30

_LOCAL_SETTINGS = {
    # Buffers of many megabytes come and go: keep their pages rather than map them anew.
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    },
    # The layout keeps workers within their memory; pausing half-way would only hang the run.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.scheduler.worker-saturation": "inf",
}


@contextmanager
def _interrupts_ignored():
    """Processes started meanwhile ignore Ctrl-C: the driver alone decides how to stop."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not in the main thread, where Ctrl-C does not arrive anyway
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
