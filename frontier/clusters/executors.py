"""How tasks are run: here one after the other, or by the workers of a Dask scheduler.

An executor runs one function over many arguments with a bounded number under way and hands
back each result as it comes. Dask is imported only where it is asked for.
"""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil, inf
from queue import Empty, SimpleQueue
from statistics import median
from typing import Protocol

from frontier.errors import Stopped

TASKS_UNDER_WAY = 2
"""The threads of a worker, each with a task: one computes while another waits for the disk."""

BATCHES_A_SECOND = 500
"""The batches of calls that are handed out in a second, at most; a scheduler can do a thousand."""

TOPIC = "frontier"
"""The topic of the Dask events by which workers send what their calls have returned."""

LOST = "the connection to the scheduler was lost"

RETRIES = 3
"""How often a call that raises is tried again."""


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


def calls_together(calls: int, workers: int, seconds: float) -> int:
    """How many calls are a batch: one, unless calls are so short or workers so many that a
    scheduler could not hand out each call by itself.

    seconds: between the ends of two calls on one worker; 0 if they take no time.
    """
    most = ceil(calls / workers)
    if most * seconds * BATCHES_A_SECOND > workers:
        most = ceil(workers / (seconds * BATCHES_A_SECOND))
    return max(1, most)


@dataclass(eq=False)
class _Batch:
    """Calls that are handed out as one."""

    calls: list[int]
    since: float
    copied: bool = False


class Distributed:
    """Runs calls on the workers of a Dask scheduler, however many there are at the moment."""

    here = False

    WINDOW = 3
    """The batches for each worker that the scheduler has at a time: one more than the worker has
    threads, so that no thread waits for the next one."""

    OVERDUE = 1.5
    """A batch is overdue when it has taken this many times the median. Once no call waits any more,
    the calls of overdue batches are handed out again, each by itself."""

    STRAGGLERS = 0.1
    """No batch counts as overdue while more than this share of all calls are unfinished."""

    OVERDUE_SECONDS = 1.0
    """A batch that has taken fewer seconds than this is never overdue."""

    REFRESH_SECONDS = 1.0
    """Seconds between two counts of the workers."""

    WAIT_SECONDS = 0.2
    """Seconds that are waited for a future to end, before overdue batches are looked for again."""

    def __init__(self, client, patience: float, tend: Callable[[], None] = lambda: None):
        """patience: a run stops after so many seconds without any worker. tend: called once a
        second, to replace lost jobs."""
        self._client, self._patience, self._tend = client, patience, tend
        self.workers, self._looked = 0, float("-inf")
        self._last_worker = time.monotonic()
        self.dashboard = (client.dashboard_link or None) if has_dashboard() else None
        self._call_seconds = inf
        self._ended: SimpleQueue = SimpleQueue()
        self._told: dict[str, tuple[float, bytes]] = {}
        client.subscribe_topic(TOPIC, self._hear)
        self._look()

    @property
    def at_once(self) -> int:
        return self.WINDOW * max(1, self.workers)

    def run(self, function, calls, stop):
        calls = list(calls)
        waiting, missing = deque(range(len(calls))), set(range(len(calls)))
        under_way: dict[object, _Batch] = {}
        durations: list[float] = []
        self._told.clear()
        try:
            while missing:
                self._look()
                if stop():
                    if not (under_way and self.workers):
                        return
                elif waiting:
                    room = max(0, self.at_once - len(under_way))
                    under_way |= self._hand_out(function, calls, self._next(waiting, room))
                else:
                    late = self._overdue(under_way.values(), durations, missing)
                    under_way |= self._hand_out(function, calls, late)
                for future in self._just_ended():
                    if (batch := under_way.pop(future, None)) is None:
                        continue
                    durations.append(time.monotonic() - batch.since)
                    if missing.isdisjoint(batch.calls):
                        continue  # others were faster
                    results = self._results(future)
                    future.release()
                    for call, result in zip(batch.calls, results, strict=True):
                        if call in missing:
                            missing.remove(call)
                            yield result
        finally:
            if under_way:
                self._client.cancel(list(under_way))

    def _next(self, waiting: deque[int], room: int) -> list[list[int]]:
        """At most so many batches of the calls that wait."""
        workers = max(1, self.workers)
        seconds = self._call_seconds / TASKS_UNDER_WAY
        together = calls_together(len(waiting), workers, seconds)
        calls = [waiting.popleft() for _ in range(min(len(waiting), together * room))]
        return [calls[i : i + together] for i in range(0, len(calls), together)]

    def _overdue(
        self, under_way: Iterable[_Batch], durations: list[float], missing: set[int]
    ) -> list[list[int]]:
        """The calls of the batches that take much longer than others, each by itself."""
        if len(missing) > self.STRAGGLERS * (len(missing) + len(durations)):
            return []
        before = time.monotonic() - max(self.OVERDUE_SECONDS, self.OVERDUE * median(durations))
        late = [batch for batch in under_way if batch.since < before and not batch.copied]
        for batch in late:
            batch.copied = True
        return [[call] for batch in late for call in batch.calls if call in missing]

    def _hand_out(self, function: Callable, calls: list[tuple], batches: list[list[int]]) -> dict:
        """The futures of these batches. Many that are handed out at once cost the scheduler and
        this process a third of what they do one by one."""
        if not batches:
            return {}
        futures = self._client.map(
            _do, [[calls[call] for call in batch] for batch in batches], function=function,
            key=function.__name__, pure=False, retries=RETRIES,
        )  # fmt: skip
        for future in futures:
            future.add_done_callback(self._ended.put)
        now = time.monotonic()
        return {f: _Batch(batch, now) for f, batch in zip(futures, batches, strict=True)}

    def _just_ended(self) -> list:
        """The futures that have ended meanwhile, or do so in a moment."""
        ended = []
        with suppress(Empty):
            ended.append(self._ended.get(timeout=self.WAIT_SECONDS))
            while True:
                ended.append(self._ended.get_nowait())
        return ended

    def _hear(self, event: tuple) -> None:
        key, *told = event[1]
        self._told[key] = told

    def _results(self, future) -> list:
        """What the calls of a batch have returned; Stopped if the cluster, not a call, failed."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            if future.status != "finished" or future.key not in self._told:
                return future.result()
        except KilledWorker as error:
            raise Stopped(
                f"worker after worker died doing the same task ({error}); if memory ran out, raise "
                "cluster.memory or lower cluster.workers"
            ) from None
        except (CancelledError, CommClosedError):
            raise Stopped(LOST) from None
        seconds, results = self._told.pop(future.key)
        results = pickle.loads(results)
        self._call_seconds = seconds / len(results)
        return results

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


def _do(calls: list[tuple], function: Callable) -> list:
    """A batch of calls, on a worker.

    What they return is told as an event, which takes the connections that worker, scheduler and
    client have. A scheduler that has to ask more than 512 workers for it opens and closes
    connections all the time. Where the event is lost, it is asked for all the same.
    """
    from distributed import get_worker

    began = time.perf_counter()
    results = [function(*arguments) for arguments in calls]
    worker, seconds = get_worker(), time.perf_counter() - began
    worker.log_event(TOPIC, [worker.get_current_task(), seconds, pickle.dumps(results)])
    return results


def has_dashboard() -> bool:
    """Whether what Dask draws its dashboard with is installed."""
    return find_spec("bokeh") is not None
