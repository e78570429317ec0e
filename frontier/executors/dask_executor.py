"""Calls carried out by the workers of a Dask scheduler, however many there are at the moment.

Calls are handed out in bundles, one Dask future each. Dask does the rest: it moves futures from
busy workers to idle ones, repeats those of a dead worker, and fetches what they return.
"""

import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import ceil, inf
from statistics import median
from typing import Any

from frontier import __version__
from frontier.errors import FrontierError, InputError, Stopped
from frontier.executors.dask_settings import has_dashboard
from frontier.executors.executor import TASKS_UNDER_WAY, Call, Executor

WINDOW = TASKS_UNDER_WAY + 1
"""The number of bundles that the scheduler has at a time for each worker: one more than the worker
has threads, so that no thread waits for a bundle."""

BUNDLES_A_SECOND = 300
"""The most bundles that are handed out in a second: half of what a scheduler can handle."""

LOOK_SECONDS, WAIT_SECONDS = 1.0, 0.005
"""The seconds between two counts of the workers, and between two checks for results."""

STOP_SECONDS = 10.0
"""The seconds that the calls under way have to finish once the run should stop."""

RETRIES = 3
"""How many times a bundle that raises an error is retried."""

LOST = "the connection to the scheduler was lost"


class DaskExecutor(Executor):
    """Carries out calls on the workers of a Dask scheduler."""

    in_process = False

    def __init__(self, client, patience: float, tend: Callable[[], None] | None = None):
        """client: a client of the scheduler. patience: the seconds without any worker after which a
        run stops. tend: called once a second to replace lost jobs."""
        self._client, self._patience, self._tend = client, patience, tend
        self.dashboard = (client.dashboard_link or None) if has_dashboard() else None
        self.workers, self._last_worker, self._looked = 0, time.monotonic(), -inf
        self._call_seconds = inf
        with self._errors_in_our_words():
            self._look()

    @property
    def at_once(self) -> int:
        return WINDOW * max(1, self.workers)

    def run(self, calls, stop):
        with self._errors_in_our_words():
            yield from self._results(calls, stop)

    def _results(self, calls: Iterable[Call], stop: Callable[[], bool]) -> Iterator[object]:
        """Hand out calls, and yield their results."""
        from distributed import as_completed

        waiting, under_way, ends = deque(calls), set[Any](), inf
        durations: deque[float] = deque(maxlen=100)
        finished = as_completed(loop=self._client.loop, with_results=True)
        try:
            while waiting or under_way:
                self._look()
                if not stop():
                    bundles = self._next_bundles(waiting, self.at_once - len(under_way))
                    futures = self._hand_out(bundles)
                    under_way.update(futures)
                    finished.update(futures)
                elif not (self.workers and under_way) or time.monotonic() > ends:
                    return
                else:
                    ends = min(ends, time.monotonic() + STOP_SECONDS)
                time.sleep(WAIT_SECONDS)
                for future, bundle in finished.next_batch(block=False):
                    under_way.remove(future)
                    if future.status in ("error", "cancelled"):
                        future.result()  # raises its error
                    seconds, results = bundle
                    durations.append(seconds / len(results))
                    self._call_seconds = median(durations)
                    yield from results
        finally:
            if under_way and self._client.status == "running":
                self._client.cancel(list(under_way))

    def _next_bundles(self, waiting: deque[Call], most: int) -> list[list[Call]]:
        """Take waiting calls, in at most `most` bundles.

        A bundle is one call, unless calls are so short, or workers so numerous, that a scheduler
        could not hand out calls one by one.
        """
        workers = max(1, self.workers)
        bundles: list[list[Call]] = []
        calls_a_second = TASKS_UNDER_WAY * workers / max(self._call_seconds, 1e-6)
        while waiting and len(bundles) < most:
            for_each = ceil(len(waiting) / workers)
            together = max(1, min(for_each, ceil(calls_a_second / BUNDLES_A_SECOND)))
            bundles.append([waiting.popleft() for _ in range(together)])
        return bundles

    def _hand_out(self, bundles: list[list[Call]]) -> list:
        """Hand out bundles and return their futures. Handing out all of them together costs the
        scheduler and this process a third of what it costs one by one."""
        if not bundles:
            return []
        name = bundles[0][0].function.__name__
        more = {"key": name, "pure": False, "retries": RETRIES}
        return self._client.map(_do, bundles, driver=program_here(), **more)

    @contextmanager
    def _errors_in_our_words(self) -> Iterator[None]:
        """Raise Stopped instead of Dask's error if the cluster failed, if the user closed the
        client, or if the client closed with its cluster."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            yield
        except FrontierError:
            raise
        except KilledWorker as error:
            raise Stopped(
                f"several workers died during the same task ({error}); if memory ran out, raise "
                "cluster.memory or lower cluster.workers"
            ) from None
        except (CancelledError, CommClosedError):
            raise Stopped(LOST) from None
        except Exception:
            if self._client.status == "running":
                raise
            raise Stopped(LOST) from None

    def _look(self) -> None:
        """Count the workers, at most once a second.

        Raises Stopped if there has been no worker for too long, or if the scheduler is gone.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        # Without a scheduler the answer has no workers.
        self.workers = self._client.scheduler_info(n_workers=0).get("n_workers", 0)
        if self._client.status == "closed":
            raise Stopped(LOST)
        if self._tend:
            self._tend()
        if self.workers:
            self._last_worker = now
        elif now - self._last_worker > self._patience:
            raise Stopped(
                f"no worker was connected for {self._patience} s (cluster.patience); check why "
                f"none connects to the scheduler at {self._client.scheduler.address}, or raise "
                "cluster.patience"
            )


def program_here() -> tuple[str, str]:
    """Return the host of this process, and its version of frontier, which determines the format of
    runs and the calls of tasks."""
    return socket.gethostname(), __version__


def _do(bundle: list[Call], driver: tuple[str, str]) -> tuple[float, list]:
    """Carry out calls on a worker. Return the seconds that all took together, and what each
    returned. driver: `program_here` of the driver. Raises InputError if the worker has another
    version."""
    (host, version), (driver_host, driver_version) = program_here(), driver
    if version != driver_version:
        raise InputError(
            f"the worker on host {host} has frontier {version}, but the driver on host "
            f"{driver_host} has frontier {driver_version}: install the same version on both and "
            "start the workers again"
        )
    began = time.perf_counter()
    results = [call() for call in bundle]
    return time.perf_counter() - began, results
