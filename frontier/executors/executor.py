"""How calls are carried out: in this process, one after the other or on threads, or elsewhere.

An executor takes calls, has a bounded number of them under way, and yields each result when it
arrives. `frontier.executors.dask_executor` has the executor with workers elsewhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import NamedTuple

TASKS_UNDER_WAY = 2
"""The number of threads of a worker, each with a task: one computes while another waits for the
disk."""


class Call(NamedTuple):
    """A call to carry out: function(*arguments)."""

    function: Callable
    arguments: tuple = ()

    def __call__(self):
        """Call the function, and return its result."""
        return self.function(*self.arguments)


class Executor(ABC):
    """Carries out calls.

    in_process: True if this process carries out the calls. workers: how many workers there are at
    the moment. dashboard: the address of a page about them, None if there is no page.
    """

    in_process = True
    workers = 1
    dashboard: str | None = None

    @property
    def at_once(self) -> int:
        """The number of calls that may be under way."""
        return self.workers

    @abstractmethod
    def run(self, calls: Iterable[Call], stop: Callable[[], bool]) -> Generator:
        """Yield the result of each call once, in any order.

        stop: once it returns True, no further call begins, and only the calls under way still give
        results, on a cluster only those that finish soon. Closing the iterator abandons the calls
        under way.
        """


class Serial(Executor):
    """Carries out one call after another, in this thread."""

    def run(self, calls, stop):
        for call in calls:
            if stop():
                return
            yield call()


class Threads(Executor):
    """Carries out calls on threads of this process, for functions that let other threads work at
    the same time.

    Closing the iterator waits for the calls under way.
    """

    def __init__(self, threads: int):
        self.workers = threads

    def run(self, calls, stop):
        with ThreadPoolExecutor(self.workers) as pool:
            waiting = iter(calls)
            under_way: set[Future] = set()
            while True:
                if not stop():
                    free = self.workers - len(under_way)
                    under_way.update(map(pool.submit, islice(waiting, free)))
                if not under_way:
                    return
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
