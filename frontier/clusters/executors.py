"""How tasks are run: here one after the other, or by the workers of a Dask scheduler.

An executor runs one function over many arguments with a bounded number under way and hands
back each result as it comes. Dask is imported only where it is asked for.
"""

import pickle
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import chain, count
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

TELL_SECONDS = 0.1
"""Seconds for which what calls return is collected, rather than told each by itself."""

HOST = "frontier-host"
"""The name of the plugin by which the worker of a host has processes below it."""

PROCESSES = "processes"
"""The resource, as Dask calls it, that says how many."""

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

    def run(
        self,
        function: Callable,
        calls: Iterable[tuple | None],
        stop: Callable[[], bool],
        rank: Callable[[tuple], int] = lambda arguments: 0,
    ) -> Iterator:
        """The results of function(*arguments) for all calls, in any order.

        calls: are asked for when all before have been begun; None where there is none before more
        results have been taken. stop: once it holds, no further call is begun. rank: a call that is
        late is copied only while none of a lower rank is without a result.
        """


class Serial:
    """Runs every call in this process, one after the other, for debugging."""

    here = True
    workers = at_once = 1
    dashboard = None

    def run(self, function, calls, stop, rank=None):
        for arguments in calls:
            if stop():
                return
            yield function(*arguments)


def calls_together(calls: int, workers: int, seconds: float, processes: int = 1) -> int:
    """How many calls are a batch: one, unless calls are so short or workers so many that a
    scheduler could not hand out each call by itself.

    seconds: between the ends of two calls on one worker; 0 if they take no time. processes: the
    workers of a host that are one to the scheduler. They get half as many calls together as they
    are, as a batch with one slow call counts as whole until it ends.
    """
    share = ceil(calls * processes / workers)
    handed_out = ceil(workers / (seconds * BATCHES_A_SECOND)) if seconds else share
    return max(1, min(share, max(handed_out, processes // 2)))


@dataclass
class _Batch:
    """Calls that are handed out as one."""

    future: object
    missing: set[int]
    """The calls of which nothing has been heard."""
    heard: float
    """When the batch was handed out or, if that is later, when one of its calls was last done."""
    is_copy: bool = False
    copied: set[int] = field(default_factory=set)
    """The calls that have been handed out again."""


class _Calls:
    """The calls of a run, by number.

    waiting: those that have not been handed out. missing: those that have no result. over: whether
    there will be no more.
    """

    def __init__(self, calls: Iterable[tuple | None], rank: Callable[[tuple], int]):
        self._calls, self._numbers, self._rank = iter(calls), count(), rank
        self.waiting: deque[int] = deque()
        self.missing: dict[int, tuple] = {}
        self._ranked: defaultdict[int, set[int]] = defaultdict(set)
        self.over = False

    def ask(self) -> None:
        """Take those that there are now, of which some may depend on results."""
        for arguments in self._calls:
            if arguments is None:
                return
            self.waiting.append(number := next(self._numbers))
            self.missing[number] = arguments
            self._ranked[self._rank(arguments)].add(number)
        self.over = True

    def end(self, number: int) -> bool:
        """Note that a call has a result; returns whether it had none."""
        if (arguments := self.missing.pop(number, None)) is None:
            return False
        same = self._ranked[rank := self._rank(arguments)]
        same.discard(number)
        if not same:
            del self._ranked[rank]
        return True

    @property
    def urgent(self) -> set[int]:
        """Those of the missing ones that are waited for."""
        return self._ranked[min(self._ranked)] if self._ranked else set()


class Distributed:
    """Runs calls on the workers of a Dask scheduler, however many there are at the moment."""

    here = False

    WINDOW = 3
    """The calls or batches for each worker that the scheduler has at a time: one more than the
    worker has threads, so that no thread waits for the next one."""

    OVERDUE = 3
    """A batch is overdue when nothing has been heard of it for this many times as long as a call
    takes. Where fewer calls are waited for than there are workers it is the sooner, in proportion,
    unless it is a copy. The calls missing in it are then handed out again, each by itself."""

    OVERDUE_SECONDS = 0.1
    """A batch of which something has been heard more lately than that is never overdue."""

    REFRESH_SECONDS = 1.0
    """Seconds between two looks at the workers, and at the batches that may have failed."""

    WAIT_SECONDS = 0.05
    """Seconds that are waited for a call to end, before overdue batches are looked for again."""

    def __init__(self, client, patience: float, tend: Callable[[], None] = lambda: None):
        """patience: a run stops after so many seconds without any worker. tend: called once a
        second, to replace lost jobs."""
        self._client, self._patience, self._tend = client, patience, tend
        self.workers, self._hosts, self._looked = 0, 0, float("-inf")
        self._last_worker = time.monotonic()
        self.dashboard = (client.dashboard_link or None) if has_dashboard() else None
        self._call_seconds = inf
        self._durations: deque[float] = deque(maxlen=101)
        """The seconds that the last calls of this run took on a thread of a worker."""
        self._told: SimpleQueue = SimpleQueue()
        self._told_in_full: list = []
        """The futures of batches that end in a moment. Dask would cancel one that is dropped before
        it has ended."""
        client.subscribe_topic(TOPIC, lambda event: self._told.put(event[1]))
        self._look()

    @property
    def at_once(self) -> int:
        return self.WINDOW * max(1, self.workers)

    def run(self, function, calls, stop, rank=lambda arguments: 0):
        known = _Calls(calls, rank)
        under_way: dict[str, _Batch] = {}
        waiting, missing = known.waiting, known.missing
        self._durations.clear()
        try:
            while missing or not known.over:
                ended = self._ended(under_way, missing) if self._look() else []
                if not stop():
                    if not waiting:
                        known.ask()
                    urgent = known.urgent
                    if len(urgent) < self.workers and not (waiting and waiting[0] in urgent):
                        late = self._overdue(under_way.values(), urgent)
                        under_way |= self._hand_out(function, missing, late, are_copies=True)
                    if waiting:
                        ahead = sum(len(batch.missing) for batch in under_way.values())
                        under_way |= self._hand_out(function, missing, self._next(waiting, ahead))
                elif not (under_way and self.workers):
                    return
                told, untold = self._heard(under_way), self._asked_for(ended, under_way)
                for call, result in chain(told, untold):
                    if known.end(call):
                        yield result
        finally:
            if under_way:
                self._client.cancel([batch.future for batch in under_way.values()])

    def _next(self, waiting: deque[int], ahead: int) -> list[list[int]]:
        """Batches of the calls that wait, where workers have so many calls ahead of them."""
        workers, hosts = max(1, self.workers), max(1, self._hosts)
        seconds = self._call_seconds / TASKS_UNDER_WAY
        together = calls_together(len(waiting), workers, seconds, workers // hosts)
        room = max(0, self.WINDOW * max(workers, hosts * together) - ahead)
        some = min(len(waiting), room - room % together)  # whole batches, as each costs something
        calls = [waiting.popleft() for _ in range(some)]
        return [calls[i : i + together] for i in range(0, len(calls), together)]

    def _overdue(self, under_way: Iterable[_Batch], missing: Collection[int]) -> list[list[int]]:
        """The calls of overdue batches, each by itself; none before a call has ended."""
        if not self._durations:
            return []
        now, whole = time.monotonic(), self.OVERDUE * self._call_seconds
        soon = max(self.OVERDUE_SECONDS, whole * len(missing) / self.workers)
        late = []
        for batch in under_way:
            patience = max(soon, whole) if batch.is_copy else soon
            if now - batch.heard > patience:
                calls = batch.missing.intersection(missing) - batch.copied
                batch.copied |= calls
                late += [[call] for call in sorted(calls)]
        return late

    def _hand_out(
        self,
        function: Callable,
        calls: Mapping[int, tuple],
        batches: list[list[int]],
        are_copies: bool = False,
    ) -> dict[str, _Batch]:
        """These batches, by their keys. Many that are handed out at once cost the scheduler and
        this process a third of what they do one by one."""
        if not batches:
            return {}
        futures = self._client.map(
            _do, [[calls[call] for call in batch] for batch in batches], batches,
            function=function, key=function.__name__, pure=False, retries=RETRIES,
            priority=int(are_copies),  # a worker may have calls that are less urgent
        )  # fmt: skip
        now = time.monotonic()
        return {
            future.key: _Batch(future, set(batch), now, are_copies)
            for future, batch in zip(futures, batches, strict=True)
        }

    def _heard(self, under_way: dict[str, _Batch]) -> Iterator[tuple[int, object]]:
        """What workers have told meanwhile, or tell in a moment: calls and what they returned."""
        with suppress(Empty):
            told = self._told.get(timeout=self.WAIT_SECONDS)
            while True:
                key, packed = told
                if batch := under_way.get(key):
                    batch.heard = time.monotonic()
                    results = pickle.loads(packed)
                    self._durations += [seconds for _, seconds, _ in results]
                    self._call_seconds = median(self._durations)
                    for call, _, result in results:
                        batch.missing.discard(call)
                        yield call, result
                    if not batch.missing:
                        self._told_in_full.append(under_way.pop(key).future)
                told = self._told.get_nowait()

    def _ended(self, under_way: dict[str, _Batch], missing: Collection[int]) -> list[str]:
        """The keys of the batches that have ended, well or not. Those of which nothing is missing
        any more, as copies have ended before them, are cancelled."""
        self._told_in_full.clear()
        needless = [key for key, batch in under_way.items() if batch.missing.isdisjoint(missing)]
        if needless:
            self._client.cancel([under_way.pop(key).future for key in needless])
        return [key for key, batch in under_way.items() if batch.future.done()]

    def _asked_for(
        self, ended: list[str], under_way: dict[str, _Batch]
    ) -> Iterator[tuple[int, object]]:
        """The calls of the batches that have ended before all had been heard of them, and what they
        returned. Stopped if the cluster, not a call, failed."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        for batch in [under_way.pop(key) for key in ended if key in under_way]:
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
        if self._hosts != found.get("n_workers", 0):  # to ask for all of them takes longer
            about = self._client.scheduler_info(n_workers=-1).get("workers", {}).values()
            self._hosts, self.workers = len(about), sum(map(processes_of, about))
        self._tend()
        if self.workers:
            self._last_worker = now
        elif now - self._last_worker > self._patience:
            raise Stopped(
                f"there has been no worker for {self._patience} s (cluster.patience); see why none "
                f"comes to the scheduler at {self._client.scheduler.address}, or wait longer"
            )
        return True


def _do(calls: list[tuple], numbers: list[int], function: Callable) -> list:
    """A batch of calls, on a worker: what they return, by their numbers.

    It is told as events too, which take the connections that worker, scheduler and client have. A
    scheduler that has to ask more than 512 workers for it opens and closes connections all the
    time. Where an event is lost, it is asked for all the same.
    """
    from distributed import get_worker

    worker, results = get_worker(), {}
    key, host = worker.get_current_task(), worker.plugins.get(HOST)
    for ended in host.each(function, calls) if host else _one_by_one(function, calls):
        told = [(numbers[i], seconds, result) for i, seconds, result in ended]
        worker.log_event(TOPIC, [key, pickle.dumps(told)])
        results |= {numbers[i]: result for i, _, result in ended}
    return list(results.items())


def _one_by_one(
    function: Callable, calls: list[tuple]
) -> Iterator[list[tuple[int, float, object]]]:
    """Groups of (index of a call, seconds that it took, what it returned). Calls that are so short
    that they are told together are a group."""
    ended, told = [], time.perf_counter()
    for index, arguments in enumerate(calls):
        ended.append((index, *timed(arguments, function)))
        if time.perf_counter() - told > TELL_SECONDS:
            yield ended
            ended, told = [], time.perf_counter()
    yield ended


def timed(arguments: tuple, function: Callable) -> tuple[float, object]:
    """The seconds that a call takes, and what it returns."""
    began = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - began, result


def processes_of(worker: dict) -> int:
    """How many processes compute for a worker, by what its scheduler tells about it."""
    return max(1, int(worker["resources"].get(PROCESSES, 1)))


def has_dashboard() -> bool:
    """Whether what Dask draws its dashboard with is installed."""
    return find_spec("bokeh") is not None
