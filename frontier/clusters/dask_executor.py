"""Calls done by the workers of a Dask scheduler, however many there are at the moment.

Calls are numbered, and handed out in batches: one Dask future each. A worker reports which calls
have returned in events of Dask's, over the connections that worker, scheduler and client have
anyway; a scheduler that had to ask more than 512 workers for results would open and close
connections all the time. If an event is lost, the future has the results all the same. A call that
is reported twice, as it was handed out twice, counts once.
"""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from math import ceil, inf
from queue import Empty, SimpleQueue
from statistics import median

from frontier.clusters.dask_settings import has_dashboard
from frontier.clusters.executor import TASKS_UNDER_WAY, Call, Executor
from frontier.errors import FrontierError, Stopped
from frontier.stopwatch import preparing

WINDOW = 3
"""The batches for each worker that the scheduler has at a time: one more than the worker has
threads, so that no thread waits for the next one."""

BATCHES_A_SECOND = 500
"""The most batches that are handed out in a second; a scheduler can do a thousand."""

OVERDUE, OVERDUE_SECONDS = 3, 0.1
"""A call is late, and handed out again, when its batch has reported nothing for the first number
times as long as a call takes, and for at least the second number of seconds. If fewer calls are
awaited than there are workers, it is late sooner in proportion, the first time."""

LOOK_SECONDS, WAIT_SECONDS, TELL_SECONDS = 1.0, 0.05, 0.1
"""The seconds between two counts of the workers and the finished futures; for which results are
awaited before late calls are looked up again; and for which a worker collects results before it
reports."""

RETRIES = 3
"""How often a batch that raises is tried again."""

TOPIC = "frontier"
"""The topic of the events by which workers report what calls have returned."""

COMPILING = "frontier-compiling"
"""The topic of the event by which a worker tells that it compiles its first kernel."""

Numbered = tuple[int, Call]
"""A call and its number."""

Ended = tuple[int, float, object]
"""The number of a call, the seconds that it took, and what it returned."""

LOST = "the connection to the scheduler was lost"


@dataclass
class Pending:
    """A call that was handed out and has no result.

    last_sign: when it was handed out or, if that is later, when a call of its batch was last done.
    copied: True if it was handed out again.
    """

    call: Call
    last_sign: float
    copied: bool = False


@dataclass
class Batch:
    """Calls handed out together. missing: the numbers of those that are not reported."""

    future: object
    missing: set[int]


class DaskExecutor(Executor):
    """Does calls on the workers of a Dask scheduler."""

    in_process = False

    def __init__(self, client, patience: float, tend: Callable[[], None] | None = None):
        """client: a client of the scheduler. patience: the seconds without any worker after which a
        run is stopped. tend: called once a second, to replace lost jobs."""
        self._client, self._patience, self._tend = client, patience, tend
        self.dashboard = (client.dashboard_link or None) if has_dashboard() else None
        self.workers, self._last_worker, self._looked = 0, time.monotonic(), -inf
        self._numbers = count()
        self._call_seconds, self._durations = inf, deque(maxlen=101)
        self._pending: dict[int, Pending] = {}
        self._batches: dict[str, Batch] = {}
        self._reports: SimpleQueue = SimpleQueue()
        with self._lost_instead():
            client.subscribe_topic(TOPIC, lambda event: self._reports.put(event[1]))
            client.subscribe_topic(COMPILING, lambda event: preparing.tell())
            self._look()

    @property
    def at_once(self) -> int:
        return WINDOW * max(1, self.workers)

    def run(self, calls, stop):
        with self._lost_instead():
            yield from self._ended(calls, stop)

    @contextmanager
    def _lost_instead(self) -> Iterator[None]:
        """Raise Stopped in place of whatever Dask says of a client that was closed, by the user or
        with its cluster."""
        try:
            yield
        except FrontierError:
            raise
        except Exception:
            if self._client.status == "running":
                raise
            raise Stopped(LOST) from None

    def _ended(self, calls: Iterable[Call], stop: Callable[[], bool]) -> Iterator[object]:
        """Hand out calls, and yield their results."""
        waiting = deque(zip(self._numbers, calls, strict=False))
        self._durations.clear()
        try:
            while waiting or self._pending:
                finished = self._finished() if self._look() else []
                if not stop():
                    # A worker may have calls that are less urgent than a copy.
                    copies = [] if waiting else [[late] for late in self._late()]
                    self._hand_out(copies, priority=1)
                    self._hand_out(self._next_batches(waiting))
                elif not (self.workers and self._pending):
                    return
                for number, _, result in chain(self._reported(), self._results(finished)):
                    if self._pending.pop(number, None):
                        yield result
        finally:
            unfinished = list(filter(self._awaited, self._batches.values()))
            if unfinished and self._client.status == "running":
                self._client.cancel([batch.future for batch in unfinished])
            self._pending.clear()

    def _next_batches(self, waiting: deque[Numbered]) -> list[list[Numbered]]:
        """Take as many of the waiting calls as workers have room for, in batches.

        A batch is one call, unless calls are so short or workers so many that a scheduler could not
        hand out each call by itself.
        """
        workers = max(1, self.workers)
        share = ceil(len(waiting) / workers)
        seconds = self._call_seconds / TASKS_UNDER_WAY  # between the ends of two on one worker
        together = ceil(workers / (seconds * BATCHES_A_SECOND)) if seconds else share
        together = max(1, min(share, together))
        room = max(0, WINDOW * workers * together - len(self._pending))
        some = min(len(waiting), room - room % together)  # whole batches, as each costs something
        calls = [waiting.popleft() for _ in range(some)]
        return [calls[i : i + together] for i in range(0, some, together)]

    def _late(self) -> list[Numbered]:
        """Return the calls to be handed out again; there are none before one has ended."""
        missing = len(self._pending)
        if not self._durations or missing >= self.workers:
            return []
        now, whole = time.monotonic(), OVERDUE * self._call_seconds
        soon = whole * missing / self.workers
        return [
            (number, of.call)
            for number, of in self._pending.items()
            if now - of.last_sign > max(OVERDUE_SECONDS, whole if of.copied else soon)
        ]

    def _hand_out(self, batches: list[list[Numbered]], priority: int = 0) -> None:
        """Hand out batches, all in one go: that costs the scheduler and this process a third of
        what it would cost one by one. Calls of priority 1 are copies."""
        if not batches:
            return
        name = batches[0][0][1].function.__name__
        futures = self._client.map(
            _do, batches, key=name, pure=False, retries=RETRIES, priority=priority
        )
        now = time.monotonic()
        for future, batch in zip(futures, batches, strict=True):
            self._batches[future.key] = Batch(future, {number for number, _ in batch})
            for number, call in batch:
                self._pending[number] = Pending(call, now, priority > 0)

    def _reported(self) -> Iterator[Ended]:
        """Yield the calls that workers have reported, or report in a moment."""
        with suppress(Empty):
            report = self._reports.get(timeout=WAIT_SECONDS)
            while True:
                key, packed = report
                if batch := self._batches.get(key):
                    ended: list[Ended] = pickle.loads(packed)
                    self._durations += [seconds for _, seconds, _ in ended]
                    self._call_seconds = median(self._durations)
                    batch.missing -= {number for number, _, _ in ended}
                    for number in batch.missing & self._pending.keys():
                        self._pending[number].last_sign = time.monotonic()
                    yield from ended
                report = self._reports.get_nowait()

    def _finished(self) -> list[str]:
        """Return the keys of the batches that have ended. What they have reported is here by then.

        Batches of which nothing is awaited are dropped here, and not as soon as they are reported:
        Dask would cancel one that has not quite ended.
        """
        self._batches = {key: of for key, of in self._batches.items() if self._awaited(of)}
        return [key for key, batch in self._batches.items() if batch.future.done()]

    def _results(self, finished: list[str]) -> Iterator[Ended]:
        """Yield the calls of finished batches that have not been reported in full, as events were
        lost.

        Raises the error of a call, or Stopped if the cluster failed.
        """
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        for batch in filter(self._awaited, [self._batches.pop(key) for key in finished]):
            try:
                yield from batch.future.result()
            except KilledWorker as error:
                raise Stopped(
                    f"worker after worker died doing the same task ({error}); if memory ran out, "
                    "raise cluster.memory or lower cluster.workers"
                ) from None
            except (CancelledError, CommClosedError):
                raise Stopped(LOST) from None

    def _awaited(self, batch: Batch) -> bool:
        """Return whether the results of some calls of a batch are awaited."""
        return not batch.missing.isdisjoint(self._pending)

    def _look(self) -> bool:
        """Count the workers, at most once a second, and return whether they were counted.

        Raises Stopped if there have been none for long, or the scheduler is gone.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return False
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
                f"there has been no worker for {self._patience} s (cluster.patience); see why none "
                f"comes to the scheduler at {self._client.scheduler.address}, or wait longer"
            )
        return True


def _tell_driver() -> None:
    """Tell the driver that this thread of a worker compiles kernels."""
    from distributed import get_worker

    with suppress(ValueError):  # it does no task
        get_worker().log_event(COMPILING, None)


def _do(batch: list[Numbered]) -> list[Ended]:
    """Do the calls of a batch on a worker, and report what they return; short calls are reported
    together."""
    from distributed import get_worker

    worker, ended, reported = get_worker(), [], 0
    preparing.say = preparing.say or _tell_driver
    key, last = worker.get_current_task(), time.perf_counter()
    for number, call in batch:
        began = time.perf_counter()
        result = call()
        now = time.perf_counter()
        ended.append((number, now - began, result))
        if now - last > TELL_SECONDS or len(ended) == len(batch):
            worker.log_event(TOPIC, [key, pickle.dumps(ended[reported:])])
            reported, last = len(ended), now
    return ended
