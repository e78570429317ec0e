"""Where tasks run, by name: here one after the other, or on a Dask cluster.

An executor runs one function over many arguments with a bounded number under way and hands
back each result as it comes. Dask is imported only where it is asked for.
"""

import logging
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from frontier.config import ClusterTable
from frontier.errors import InputError, Stopped
from frontier.text import counted


class Executor(Protocol):
    workers: int
    dashboard: str | None

    def run(self, function: Callable, calls: Iterable[tuple], stop: Callable[[], bool]) -> Iterator:
        """Results of function(*arguments), in any order; no new calls once `stop()` holds."""


class Serial:
    """Runs every call here, one after the other; what one debugs with."""

    workers = 1
    dashboard = None

    def run(self, function, calls, stop):
        for arguments in calls:
            if stop():
                return
            yield function(*arguments)


class Distributed:
    """Runs calls on the workers of a Dask scheduler, however many there are at the moment."""

    WINDOW = 2
    """Calls under way for each worker, so it need not wait for the next one."""

    REFRESH_SECONDS = 1.0
    """How often to look whether workers came or went."""

    def __init__(self, client):
        self._client = client
        self._workers, self._counted = 0, float("-inf")
        self.dashboard = client.dashboard_link or None

    @property
    def workers(self) -> int:
        now = time.monotonic()
        if now - self._counted > self.REFRESH_SECONDS:
            self._workers = max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
            self._counted = now
        return self._workers

    def run(self, function, calls, stop):
        from distributed import as_completed

        waiting, under_way, futures = iter(calls), as_completed(), set()

        def fill():
            while len(futures) < self.WINDOW * self.workers and not stop():
                try:
                    arguments = next(waiting)
                except StopIteration:
                    return
                future = self._client.submit(function, *arguments, pure=False, retries=RETRIES)
                futures.add(future)
                under_way.add(future)

        fill()
        try:
            for future in under_way:
                futures.discard(future)
                result = _result(future)
                future.release()
                fill()
                yield result
        finally:
            if futures:
                self._client.cancel(list(futures))


def _result(future):
    """The result of a finished future; Stopped if the cluster, not the task, failed."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        return future.result()
    except KilledWorker as error:
        raise Stopped(
            f"worker after worker died doing the same task ({error}); if memory ran out, raise "
            "cluster.memory or lower cluster.workers"
        ) from None
    except (CancelledError, CommClosedError) as error:
        raise Stopped(f"the connection to the scheduler was lost ({error})") from None


@contextmanager
def executor_of(settings: ClusterTable, alone: bool) -> Iterator[Executor]:
    """Start or join the cluster that ``[cluster]`` names; it is closed at the end.

    alone: no local workers need be started, as there is no work to share.
    """
    if settings.kind == "serial" or (settings.kind == "local" and alone):
        yield Serial()
        return
    import dask
    from distributed import Client, LocalCluster

    if settings.kind == "local":
        with dask.config.set(_LOCAL_SETTINGS), _interrupts_ignored():
            try:
                cluster = LocalCluster(
                    n_workers=settings.workers,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=int(settings.memory),
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,  # what goes wrong is said once, by us
                )
            except (RuntimeError, OSError, TimeoutError) as error:
                raise Stopped(
                    f"the local cluster of {counted(settings.workers, 'worker')} did not start "
                    f"({error}); with fewer, cluster.workers, they may"
                ) from None
        with cluster, Client(cluster) as client:
            yield Distributed(client)
        return
    if settings.scheduler_file:
        _wait_for_file(settings.scheduler_file)
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


def _wait_for_file(path: str) -> None:
    """Wait for the file that a starting scheduler writes; InputError if it does not come."""
    end = time.monotonic() + CONNECT_SECONDS
    while not Path(path).exists():
        if time.monotonic() > end:
            raise InputError(
                f"cluster.scheduler_file = {path}: no such file after {CONNECT_SECONDS} s; start "
                f"a scheduler with `dask scheduler --scheduler-file {path}`"
            )
        time.sleep(0.2)


CONNECT_SECONDS = 30
RETRIES = 3

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
