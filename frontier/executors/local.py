"""Workers on this machine, each a process that Dask supervises.

Anyone who reaches a Dask scheduler can run code under its account, and all users of a host reach
its loopback interface. So all connections here use TLS. Each cluster has a new certificate, which
only its own processes get.
"""

import logging
import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker, spawn

from frontier.config.schema import ClusterTable
from frontier.errors import Stopped
from frontier.executors.dask_settings import (
    SCHEDULER_SETTINGS,
    WORKER_SETTINGS,
    has_dashboard,
    security,
)
from frontier.executors.executor import TASKS_UNDER_WAY
from frontier.signals import ending, handling
from frontier.text import counted

END_SECONDS = 1.0
"""The seconds that idle workers have to exit."""

FEW_FILES = 256
"""If a process may open no more files than this, its workers may fail to start."""

WORKER_PROCESS = "Dask Worker process"
"""The name that Dask gives the processes of its workers."""

NO_ROUTES: dict[str, list[str]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Dask's settings without a dashboard: it serves nothing to browsers."""


@contextmanager
def local_cluster(settings: ClusterTable) -> Iterator:
    """Yield a cluster of workers started here; raises Stopped if they do not start.

    Ctrl-C interrupts this process at any time, and only this process.
    """
    from dask import config

    dask_settings = WORKER_SETTINGS | SCHEDULER_SETTINGS | ({} if has_dashboard() else NO_ROUTES)
    patience = 0.0
    with _script_left_alone(), config.set(dask_settings), ExitStack() as stack:
        with _interrupts_later():
            cluster = _empty_cluster(settings, stack.enter_context(_loop()))
            stack.callback(lambda: _end(cluster, patience))
        _start(cluster, settings.workers)
        yield cluster
        patience = END_SECONDS


def _empty_cluster(settings: ClusterTable, loop):
    """Return a cluster with a scheduler and without workers."""
    from distributed import LocalCluster, Security

    try:
        return LocalCluster(
            n_workers=0,
            threads_per_worker=TASKS_UNDER_WAY,
            processes=True,
            loop=loop,
            memory_limit=int(settings.memory),
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": has_dashboard()},
            security=security() or Security.temporary(),
            silence_logs=logging.CRITICAL,  # the driver reports what goes wrong
        )
    except (RuntimeError, OSError) as error:
        raise Stopped(f"Dask's scheduler did not start here ({error})") from None


def _start(cluster, workers: int) -> None:
    """Start workers and wait for them."""
    import asyncio  # this import is slow

    async def start():
        await cluster._correct_state()

    for _ in range(workers):
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        # Unlike cluster.sync, this does not cancel the start when Ctrl-C ends the wait.
        asyncio.run_coroutine_threadsafe(start(), cluster.loop.asyncio_loop).result()
    except (RuntimeError, OSError) as error:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        more = f", or with more open files than {files} (ulimit -n)" if files <= FEW_FILES else ""
        raise Stopped(
            f"the local cluster of {counted(workers, 'worker')} did not start ({error}); try "
            f"fewer (cluster.workers){more}"
        ) from None


def _end(cluster, patience: float) -> None:
    """Close the cluster. Kill workers that have not ended after `patience` seconds: their finished
    work is on the disk."""

    def close():
        with suppress(Exception):  # raised by workers killed before they had started
            cluster.close()

    closing = threading.Thread(target=close, daemon=True)
    with _interrupts_later():  # Dask would fail on a half-closed cluster when the process exits
        try:
            closing.start()
        except RuntimeError:  # there is no memory for another thread
            _kill(cluster)
            return
        closing.join(patience)
        while closing.is_alive():
            _kill(cluster)
            closing.join(0.1)


def _kill(cluster) -> None:
    for nanny in list(cluster._created):
        # The thread that closes the cluster may end this worker process at any moment.
        with suppress(ProcessLookupError, AttributeError):
            if pid := nanny.pid:
                os.kill(pid, signal.SIGKILL)


@contextmanager
def _loop() -> Iterator:
    """Yield the event loop of a cluster, in a thread that neither Ctrl-C nor the hang-up of a
    terminal reaches. They do not reach the processes that the loop starts either, because the
    driver alone decides how to stop."""
    from distributed.utils import LoopRunner

    runner = LoopRunner(asynchronous=False)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # first, because it unblocks Ctrl-C
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        runner.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Until the body is done, defer the signals that end this process, because the body must not be
    interrupted."""
    signals: list[int] = []

    def note(number, frame):
        signals.append(number)

    with handling(dict.fromkeys([signal.SIGINT, *ending()], note)):
        yield
    for number in signals:
        signal.raise_signal(number)


@contextmanager
def _script_left_alone() -> Iterator[None]:
    """Keep workers from running the user's script. A process that Python spawns would run the
    script for its definitions, which tasks do not need."""
    prepare = spawn.get_preparation_data

    def without_script(name):
        data = prepare(name)
        if not name.startswith(WORKER_PROCESS):
            return data
        return {key: value for key, value in data.items() if not key.startswith("init_main")}

    spawn.get_preparation_data = without_script
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare
