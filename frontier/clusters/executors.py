"""How calls are done: here one after the other, or by the workers of a Dask scheduler.

An executor is given calls, has a bounded number of them under way and hands back each result as it
comes. Dask is imported only where it is asked for.
"""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, count, islice
from math import ceil, inf
from queue import Empty, SimpleQueue
from statistics import median
from typing import NamedTuple

from frontier.errors import Stopped

TASKS_UNDER_WAY = 2
"""The threads of a worker, each with a task: one computes while another waits for the disk."""

BATCHES_A_SECOND = 500
"""The batches of calls that are handed out in a second, at most; a scheduler can do a thousand."""

TOPIC = "frontier"
"""The topic of the Dask events by which workers send what their calls have returned."""

TELL_SECONDS = 0.1
"""The seconds for which a worker collects what calls return before it tells it."""

LOST = "the connection to the scheduler was lost"

RETRIES = 3
"""How often a call that raises is tried again."""


WORKER_SETTINGS = {
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
}
"""Dask's settings of the workers that are started here or in jobs."""

SCHEDULER_SETTINGS = {
    # A thousand messages of each worker, kept for debugging, would be for the garbage collector to
    # go through every second or two.
    "distributed.admin.low-level-log-length": 0,
}


class Call(NamedTuple):
    """What is to be done: function(*arguments).

    rank: a call that is overdue is handed out again only once every call of a lower rank has a
    result. No call has a lower rank than the call before it.
    """

    function: Callable
    arguments: tuple
    rank: int = 0


class Executor:
    """Runs every call in this process, one after the other.

    here: whether calls are done in this process. at_once: the number of calls that may be under
    way.
    """

    here = True
    workers = at_once = 1
    dashboard: str | None = None

    def run(self, calls: Iterable[Call | None], stop: Callable[[], bool]) -> Iterator:
        """The results of all calls, in any order.

        calls: one is asked for when all before it have been begun; None stands for none until more
        results have been taken. stop: once it holds, no further call is begun.
        """
        for call in calls:
            if stop():
                return
            yield call.function(*call.arguments)


class Threads(Executor):
    """Runs calls on threads of this process, for functions that let other threads work meanwhile.

    Where the results are not taken to the end, calls under way are waited for.
    """

    def __init__(self, threads: int):
        self.workers = self.at_once = threads

    def run(self, calls, stop):
        with ThreadPoolExecutor(self.workers) as pool:
            waiting, under_way = iter(calls), set()
            while True:
                while len(under_way) < self.workers and not stop():
                    if (call := next(waiting, None)) is None:
                        break
                    under_way.add(pool.submit(call.function, *call.arguments))
                if not under_way:
                    return
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()


class _Batch(NamedTuple):
    """Calls that were handed out as one. missing: those of which nothing has been heard."""

    future: object
    missing: set[int]


@dataclass
class _Awaited:
    """A call that has no result.

    heard: when it was handed out or, if that is later, when a call of its batch was last done;
    infinite before it is handed out. copied: whether it has been handed out again.
    """

    call: Call
    heard: float = inf
    copied: bool = False


class Distributed(Executor):
    """Runs calls on the workers of a Dask scheduler, however many there are at the moment."""

    here = False

    WINDOW = 3
    """The calls or batches for each worker that the scheduler has at a time: one more than the
    worker has threads, so that no thread waits for the next one."""

    OVERDUE = 3
    """A call is overdue, and handed out again, when nothing has been heard of its batch for this
    many times as long as a call takes. Where fewer calls are waited for than there are workers, it
    is overdue sooner in proportion, unless it has been handed out again before."""

    OVERDUE_SECONDS = 0.1
    """The seconds without news of its batch that must have passed before a call is overdue."""

    REFRESH_SECONDS = 1.0
    """Seconds between two looks at the workers, and at the batches that may have failed."""

    WAIT_SECONDS = 0.05
    """Seconds that are waited for a call to end, before overdue calls are looked for again."""

    def __init__(self, client, patience: float, tend: Callable[[], None] | None = None):
        """patience: a run stops after so many seconds without any worker. tend: called once a
        second, to replace lost jobs."""
        self._client, self._patience, self._tend = client, patience, tend
        self.workers, self._looked = 0, float("-inf")
        self._last_worker = time.monotonic()
        self.dashboard = (client.dashboard_link or None) if has_dashboard() else None
        self._call_seconds = inf
        self._durations: deque[float] = deque(maxlen=101)
        """The seconds that the last calls of this run took on a thread of a worker."""
        self._awaited: dict[int, _Awaited] = {}
        """The calls of this run, by number."""
        self._under_way: dict[str, _Batch] = {}
        """Batches by the keys of their futures. Those of which nothing is missing stay for a while,
        as they end in a moment: Dask would cancel one that is dropped before it has ended."""
        self._told: SimpleQueue = SimpleQueue()
        client.subscribe_topic(TOPIC, lambda event: self._told.put(event[1]))
        self._look()

    @property
    def at_once(self) -> int:
        return self.WINDOW * max(1, self.workers)

    def run(self, calls, stop):
        calls, numbers, over = iter(calls), count(), False
        waiting: deque[int] = deque()
        self._awaited, self._under_way = {}, {}
        self._durations.clear()
        try:
            while self._awaited or not over:
                ended = self._ended() if self._look() else []
                if not stop():
                    if not waiting:
                        for call in calls:
                            if call is None:
                                break
                            waiting.append(number := next(numbers))
                            self._awaited[number] = _Awaited(call)
                        else:
                            over = True
                    # A worker may have calls that are less urgent than a copy.
                    self._hand_out([[number] for number in self._overdue(waiting)], priority=1)
                    self._hand_out(self._next(waiting))
                elif not self.workers or all(of.heard == inf for of in self._awaited.values()):
                    return
                for number, result in chain(self._heard(), self._asked_for(ended)):
                    if self._awaited.pop(number, None):
                        yield result
        finally:
            if self._under_way:
                self._client.cancel([batch.future for batch in self._under_way.values()])
                self._under_way = {}

    def _next(self, waiting: deque[int]) -> list[list[int]]:
        """Batches of the calls that wait, as many as workers have room for.

        A batch is one call, unless calls are so short or workers so many that a scheduler could not
        hand out each call by itself.
        """
        workers = max(1, self.workers)
        share = ceil(len(waiting) / workers)
        seconds = self._call_seconds / TASKS_UNDER_WAY  # between the ends of two on one worker
        handed_out = ceil(workers / (seconds * BATCHES_A_SECOND)) if seconds else share
        together = max(1, min(share, handed_out))
        ahead = sum(len(batch.missing) for batch in self._under_way.values())
        room = max(0, self.WINDOW * workers * together - ahead)
        some = min(len(waiting), room - room % together)  # whole batches, as each costs something
        calls = [waiting.popleft() for _ in range(some)]
        return [calls[i : i + together] for i in range(0, len(calls), together)]

    def _overdue(self, waiting: deque[int]) -> list[int]:
        """The calls to be handed out again; none before a call has ended, or while others of the
        lowest rank wait."""
        lowest = next((awaited.call.rank for awaited in self._awaited.values()), 0)
        if not self._durations or (waiting and self._awaited[waiting[0]].call.rank == lowest):
            return []
        first = islice(self._awaited.items(), self.workers)
        urgent = [(number, of) for number, of in first if of.call.rank == lowest]
        if len(urgent) >= self.workers:
            return []
        now, whole = time.monotonic(), self.OVERDUE * self._call_seconds
        soon = max(self.OVERDUE_SECONDS, whole * len(urgent) / self.workers)
        late = []
        for number, awaited in urgent:
            if now - awaited.heard > (max(soon, whole) if awaited.copied else soon):
                awaited.copied = True
                late.append(number)
        return late

    def _hand_out(self, batches: list[list[int]], priority: int = 0) -> None:
        """Hand out batches, all in one go: that costs the scheduler and this process a third of
        what it would cost one by one."""
        if not batches:
            return
        calls = [[self._awaited[number].call for number in batch] for batch in batches]
        futures = self._client.map(
            _do, calls, batches, key=calls[0][0].function.__name__, pure=False,
            retries=RETRIES, priority=priority,
        )  # fmt: skip
        for future, batch in zip(futures, batches, strict=True):
            self._under_way[future.key] = _Batch(future, set(batch))
            self._note_news(batch)

    def _note_news(self, numbers: Iterable[int]) -> None:
        now = time.monotonic()
        for awaited in filter(None, map(self._awaited.get, numbers)):
            awaited.heard = now

    def _heard(self) -> Iterator[tuple[int, object]]:
        """The calls of which workers have told, or tell in a moment, and what they returned."""
        with suppress(Empty):
            told = self._told.get(timeout=self.WAIT_SECONDS)
            while True:
                key, packed = told
                if batch := self._under_way.get(key):
                    results = pickle.loads(packed)
                    self._durations += [seconds for _, seconds, _ in results]
                    self._call_seconds = median(self._durations)
                    batch.missing.difference_update(number for number, _, _ in results)
                    self._note_news(batch.missing)
                    yield from ((number, result) for number, _, result in results)
                told = self._told.get_nowait()

    def _ended(self) -> list[str]:
        """The keys of the batches that have ended, well or not, while calls of them are awaited.
        All other batches, whose calls have been told by them or by copies, are dropped; Dask
        cancels what has not ended of them."""
        needed = {
            key: batch
            for key, batch in self._under_way.items()
            if not batch.missing.isdisjoint(self._awaited)
        }
        self._under_way = needed
        return [key for key, batch in needed.items() if batch.future.done()]

    def _asked_for(self, ended: list[str]) -> Iterator[tuple[int, object]]:
        """The calls of the batches that have ended, but have not been told in full, and what they
        returned. Stopped if the cluster, not a call, failed."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        untold = [key for key in ended if self._under_way[key].missing]
        for batch in [self._under_way.pop(key) for key in untold]:
            try:
                yield from batch.future.result()
            except KilledWorker as error:
                raise Stopped(
                    f"worker after worker died doing the same task ({error}); if memory ran out, "
                    "raise cluster.memory or lower cluster.workers"
                ) from None
            except (CancelledError, CommClosedError):
                raise Stopped(LOST) from None

    def _look(self) -> bool:
        """Count the workers, at most once a second, and return whether they were counted; Stopped
        if there have been none for long, or the scheduler is gone."""
        now = time.monotonic()
        if now - self._looked < self.REFRESH_SECONDS:
            return False
        self._looked = now
        found = self._client.scheduler_info(n_workers=0)  # empty where the scheduler is gone
        if self._client.status == "closed":
            raise Stopped(LOST)
        self.workers = found.get("n_workers", 0)
        if self._tend:
            self._tend()
        if self.workers:
            self._last_worker = now
        elif now - self._last_worker > self._patience:
            raise Stopped(
                f"there has been no worker for {self._patience} s (cluster.patience); see why none "
                f"comes to the scheduler at {self._client.scheduler.address}, or wait longer"
            )
        return True


def _do(calls: list[Call], numbers: list[int]) -> list:
    """Do a batch of calls on a worker; returns pairs of a number and what that call returned.

    The worker also tells this in events, over the connections that worker, scheduler and client
    have anyway. A scheduler that had to ask more than 512 workers for results would open and close
    connections all the time. Where an event is lost, the driver asks all the same.
    """
    from distributed import get_worker

    worker, results = get_worker(), {}
    key = worker.get_current_task()
    for ended in _one_by_one(calls):
        told = [(numbers[i], seconds, result) for i, seconds, result in ended]
        worker.log_event(TOPIC, [key, pickle.dumps(told)])
        results |= {numbers[i]: result for i, _, result in ended}
    return list(results.items())


def _one_by_one(calls: list[Call]) -> Iterator[list[tuple[int, float, object]]]:
    """Groups of (index of a call, seconds that it took, what it returned), each to be told at once.
    Short calls share a group."""
    ended, told = [], time.perf_counter()
    for index, call in enumerate(calls):
        began = time.perf_counter()
        result = call.function(*call.arguments)
        ended.append((index, time.perf_counter() - began, result))
        if time.perf_counter() - told > TELL_SECONDS:
            yield ended
            ended, told = [], time.perf_counter()
    yield ended


def security():
    """Dask's TLS settings, None if it is to encrypt nothing."""
    from distributed import Security

    settings = Security()
    return settings if settings.require_encryption else None


def has_dashboard() -> bool:
    """Whether what Dask draws its dashboard with is installed."""
    return find_spec("bokeh") is not None
