"""Workers on this machine, each a process that Dask looks after.

Whoever reaches a Dask scheduler has the account it runs under, and all users of a host reach its
loopback. So everything here speaks TLS, with a certificate that is made anew for each cluster and
that only its own processes get.
"""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker, spawn

from frontier.config import ClusterTable
from frontier.errors import Stopped
from frontier.search.executors import TASKS_UNDER_WAY, has_dashboard
from frontier.signals import handling
from frontier.text import counted

END_SECONDS = 1.0
"""Workers get so long to end when they have nothing left to do."""

WORKER_PROCESS = "Dask Worker process"
"""How Dask names the processes of its workers."""


@contextmanager
def local_cluster(settings: ClusterTable, security) -> Iterator:
    """A cluster of workers started here; Stopped if they do not start.

    security: Dask's, where its settings say what to use. An interrupt is heard at any time, and in
    this process alone.
    """
    from dask import config
    from distributed import Security

    patience = 0.0
    with _script_left_alone(), config.set(_routes()), ExitStack() as stack:
        security = security or Security.temporary()
        with _interrupts_later():
            cluster = _empty_cluster(settings, security, stack.enter_context(_loop()))
            stack.callback(lambda: _end(cluster, patience))
        _start(cluster, settings.workers)
        yield cluster
        patience = END_SECONDS


def _empty_cluster(settings: ClusterTable, security, loop):
    """A scheduler that can start workers."""
    from distributed import LocalCluster

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
            security=security,
            silence_logs=logging.CRITICAL,  # what goes wrong is said once, by us
        )
    except (RuntimeError, OSError) as error:
        raise Stopped(f"Dask's scheduler did not start here ({error})") from None


def _routes() -> dict[str, list]:
    """What is served to browsers: nothing, where there is no dashboard."""
    return {} if has_dashboard() else {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }  # fmt: skip


def _start(cluster, workers: int) -> None:
    """Start workers and wait for them."""
    started = Future()

    async def start():
        try:
            await cluster._correct_state()
        except BaseException as error:
            started.set_exception(error)
        else:
            started.set_result(None)

    for _ in range(workers):
        cluster.worker_spec.update(cluster.new_worker_spec())
    cluster.loop.add_callback(start)
    try:
        started.result()
    except (RuntimeError, OSError) as error:
        raise Stopped(
            f"the local cluster of {counted(workers, 'worker')} did not start ({error}); with "
            "fewer, cluster.workers, they may"
        ) from None


def _end(cluster, patience: float) -> None:
    """Close the cluster. Workers that have not ended by then are killed: what they have finished is
    on the disk."""

    def close():
        with suppress(Exception):  # of workers that were killed before they had started
            cluster.close()

    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    try:
        closing.join(patience)
    finally:
        while closing.is_alive():
            _kill(cluster)
            closing.join(0.1)


def _kill(cluster) -> None:
    for nanny in list(cluster._created):
        if nanny.pid:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)


@contextmanager
def _loop() -> Iterator:
    """The event loop of a cluster, in a thread that hears no Ctrl-C. Nor do the processes that it
    starts, whenever it does: the driver alone decides how to stop."""
    from distributed.utils import LoopRunner

    resource_tracker.ensure_running()  # it would let its thread hear them again
    runner = LoopRunner(asynchronous=False)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        runner.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """For moments that must not be interrupted: Ctrl-C and SIGTERM are answered after them."""
    asked: list[int] = []

    def note(number, frame):
        asked.append(number)

    with handling({signal.SIGINT: note, signal.SIGTERM: note}):
        yield
    for number in asked:
        signal.raise_signal(number)


@contextmanager
def _script_left_alone() -> Iterator[None]:
    """Workers do not run the user's script: a process that Python spawns would do so, for what is
    defined there, and tasks need nothing of it."""
    prepare = spawn.get_preparation_data

    def without_script(name):
        found = prepare(name)
        if not name.startswith(WORKER_PROCESS):
            return found
        return {key: value for key, value in found.items() if not key.startswith("init_main")}

    spawn.get_preparation_data = without_script
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare
