"""References to runs, and the cache that keeps the run of a process open."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from frontier.errors import InputError

Opened = TypeVar("Opened")


@dataclass(frozen=True)
class RunRef:
    """A reference to a run, by which any process opens it.

    path: where the run is. identifier: distinguishes the run from an earlier one at its place.
    durable: True if written files are forced to the disk.
    """

    path: str
    identifier: str
    durable: bool = False

    def check(self, identity: dict) -> None:
        """Raise InputError if the run at the path has another identity."""
        if identity["identifier"] != self.identifier:
            raise InputError(
                f"{self.path} does not hold the driver's run on this host: every worker must see "
                "the same run directory"
            )


class RunCache(Generic[Opened]):
    """Keeps open the run on which this process works. Only one run is open at a time, because it
    may take gigabytes."""

    def __init__(self, open_run: Callable[[RunRef], Opened]):
        self._open_run = open_run
        self._open: dict[RunRef, Opened] = {}
        self._opening = threading.Lock()

    def of(self, run_ref: RunRef) -> Opened:
        """Return the open form of a run, and open the run if necessary."""
        with self._opening:  # two tasks may arrive at once
            if run_ref not in self._open:
                self._open.clear()  # frees its memory before another run takes it
                self._open[run_ref] = self._open_run(run_ref)
            return self._open[run_ref]

    def close(self, run_ref: RunRef) -> None:
        """Free the memory of an open run."""
        with self._opening:
            self._open.pop(run_ref, None)
