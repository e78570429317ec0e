"""The events of a run of any kind, as values that progress displays and logs receive.

A start of a run emits `Starting`, `Started`, any number of `Working` and `Committed`, and at its
end `Stopped` or `Finished`. `Compiling` and `Stopping` may come at any time in between. A kind of
run extends `Working` and `Committed` by what it does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that happens to a run."""

    @property
    def logged(self) -> dict[str, Any] | None:
        """What the log of the run keeps of the event; None if the log leaves it out."""
        return None


@dataclass(frozen=True)
class _Start(Event):
    """The values that both events of a start have."""

    kind: str
    """The kind of the run, such as "layers"."""
    name: str
    """The name of the run."""
    title: str
    """The title of its puzzle."""
    path: str
    """The run directory, or its URL."""
    resumed: bool
    """True if an earlier start has committed something."""
    workers: int
    """How many workers there are, or are about to be; 0 if this process does all the work."""
    states: int | None = None
    """The number of states of the whole space; None if the run does not visit them all."""
    depth: int = -1
    """The depth of the last committed layer, -1 if there is none."""


@dataclass(frozen=True)
class Starting(_Start):
    """A run is about to begin or to resume. Its workers are started or joined first."""


@dataclass(frozen=True)
class Started(_Start):
    """A run begins, or is resumed."""

    request: dict[str, int | None] = field(default_factory=dict)
    """What this start is asked for: the arguments of the function that started it."""
    mode: str = ""
    """How the run searches, in words."""
    dashboard: str | None = None
    """The address of Dask's dashboard."""

    @property
    def logged(self) -> dict[str, Any]:
        return vars(self)


@dataclass(frozen=True)
class Working(Event):
    """Work is under way, or a part of it is done."""


@dataclass(frozen=True)
class Committed(Event):
    """The ledger lists more work than before."""


@dataclass(frozen=True)
class Compiling(Event):
    """A kernel is about to be compiled. All kernels together may take half a minute. The thread
    that compiles the kernel emits the event."""

    elsewhere: bool = False
    """True if workers of a cluster are about to load their kernels, or to compile them."""


@dataclass(frozen=True)
class Stopping(Event):
    """The run was asked to stop. It first finishes the work under way."""


@dataclass(frozen=True)
class End(Event):
    """This start of the run ends."""

    elapsed: float
    """Seconds since the run was started."""

    @property
    def logged(self) -> dict[str, Any]:
        return vars(self)


@dataclass(frozen=True)
class Finished(End):
    """The run is complete."""


@dataclass(frozen=True)
class Stopped(End):
    """The run ends early, and can be resumed."""

    reason: str
    """Why the run ends, in words."""


Listener = Callable[[Event], None]
