"""How tasks are run: here one after the other, or by the workers of a Dask scheduler.

An executor runs one function over many arguments with a bounded number under way and hands
back each result as it comes. Dask is imported only where it is asked for.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Protocol

from frontier.errors import Stopped

TASKS_UNDER_WAY = 2
"""A worker has so many threads, each with a task: one computes while another waits for the disk."""

LOST = "the connection to the scheduler was lost"

RETRIES = 3
"""A call that raises is tried again so many times."""


class Executor(Protocol):
    here: bool
    """Whether calls are done in this process."""

    workers: int
    at_once: int
    """The number of calls that may be under way."""

    dashboard: str | None

    def run(self, function: Callable, calls: Iterable[tuple], stop: Callable[[], bool]) -> Iterator:
        """The results of function(*arguments) for all calls, in any order; once `stop()` holds, no
        further call is begun."""


class Serial:
    """Runs every call in this process, one after the other, for debugging."""

    here = True
    workers = at_once = 1
    dashboard = None

    def run(self, function, calls, stop):
        for arguments in calls:
            if stop():
                return
            yield function(*arguments)


class Distributed:
    """Runs calls on the workers of a Dask scheduler, however many there are at the moment."""

    here = False

    WINDOW = 3
    """So many calls are under way for each worker, so that it need not wait for the next one."""

    REFRESH_SECONDS = 1.0
    """Whether workers came or went is looked at so often."""

    def __init__(self, client, patience: float, tend: Callable[[], None] = lambda: None):
        """patience: a run stops after so many seconds without any worker. tend: called once a
        second, to replace lost jobs."""
        self._client, self._patience, self._tend = client, patience, tend
        self.workers, self._looked = 0, float("-inf")
        self._last_worker = time.monotonic()
        self.dashboard = (client.dashboard_link or None) if has_dashboard() else None
        self._look()

    @property
    def at_once(self) -> int:
        return self.WINDOW * max(1, self.workers)

    def run(self, function, calls, stop):
        waiting, done, futures = iter(calls), SimpleQueue(), set()

        def fill():
            room = max(0, self.at_once - len(futures))
            if stop() or not (some := list(islice(waiting, room))):
                return
            # Many calls that are handed out at once, and many results that are asked for at once,
            # cost the scheduler and this process a third of what they do one by one.
            more = self._client.map(_call, some, function=function, pure=False, retries=RETRIES)
            futures.update(more)
            for future in more:
                future.add_done_callback(done.put)

        fill()
        try:
            while futures:
                self._look()
                if stop() and not self.workers:
                    return
                try:
                    ended = [done.get(timeout=self.REFRESH_SECONDS)]
                except Empty:
                    fill()  # workers may have come
                    continue
                with suppress(Empty):
                    while True:
                        ended.append(done.get_nowait())
                futures.difference_update(ended)
                fill()
                results = self._results(ended)
                for future in ended:
                    future.release()
                yield from results
        finally:
            if futures:
                self._client.cancel(list(futures))

    def _results(self, futures: list) -> list:
        """The results of finished futures; Stopped if the cluster, not a task, failed."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            for future in futures:
                if future.status != "finished":
                    future.result()  # raises what went wrong
            return self._client.gather(futures)
        except KilledWorker as error:
            raise Stopped(
                f"worker after worker died doing the same task ({error}); if memory ran out, raise "
                "cluster.memory or lower cluster.workers"
            ) from None
        except (CancelledError, CommClosedError):
            raise Stopped(LOST) from None

    def _look(self) -> None:
        """Count the workers, at most once a second; Stopped if there have been none for long, or
        the scheduler is gone."""
        now = time.monotonic()
        if now - self._looked < self.REFRESH_SECONDS:
            return
        self._looked = now
        found = self._client.scheduler_info(n_workers=0)  # empty where the scheduler is gone
        if self._client.status == "closed":
            raise Stopped(LOST)
        self.workers = found.get("n_workers", 0)
        self._tend()
        if self.workers:
            self._last_worker = now
        elif now - self._last_worker > self._patience:
            raise Stopped(
                f"there has been no worker for {self._patience} s (cluster.patience); see why none "
                f"comes to the scheduler at {self._client.scheduler.address}, or wait longer"
            )


def _call(arguments: tuple, function: Callable):
    return function(*arguments)


def has_dashboard() -> bool:
    """Whether what Dask draws its dashboard with is installed."""
    return find_spec("bokeh") is not None
