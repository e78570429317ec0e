"""References to runs, and the cache that keeps the run of a process open."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from frontier.errors import InputError

if TYPE_CHECKING:
    from frontier.runs.stored_run import StoredRun

Opened = TypeVar("Opened")
RunT = TypeVar("RunT", bound="StoredRun")


@dataclass(frozen=True)
class RunRef:
    """A reference to a run, by which any process opens it.

    path: where the run is. identifier: distinguishes the run from an earlier one at its place.
    durable: True if written files are forced to the disk. host: the host of the driver.
    """

    path: str
    identifier: str
    durable: bool = False
    host: str = field(default_factory=socket.gethostname)

    def open(self, kind: type[RunT]) -> RunT:
        """Open the run in a worker; raises InputError if it is not at the path on this host."""
        if kind.exists(self.path):
            run = kind.open(self.path)
            if run.identity["identifier"] == self.identifier:
                run.durable = self.durable
                return run
        raise InputError(
            f"{self.path} does not hold the run of the driver (on host {self.host}) on the host of "
            f"this worker ({socket.gethostname()}): every worker must see the same run directory"
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
