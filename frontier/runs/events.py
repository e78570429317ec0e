"""The events of a run, by layers or by cosets, as values that progress displays and logs
receive."""

from collections.abc import Callable
from dataclasses import dataclass

from frontier.layers.record import LayerRecord


@dataclass(frozen=True)
class Starting:
    """A run of either kind is about to begin; its workers are started or joined first.

    states: the number of states of the whole space, None for a search of cosets. depth: that of the
    last committed layer, -1 if there is none. workers: how many are started or joined; 0 if this
    process does all the work.
    """

    name: str
    title: str
    path: str
    resumed: bool
    workers: int
    states: int | None = None
    depth: int = -1


@dataclass(frozen=True)
class RunStarted:
    """A run begins, or is resumed after `depth`, which is -1 if no layer is committed.

    states: the number of states of the whole space. dashboard: the address of Dask's dashboard.
    until: the last depth to compute, None for all. mode: in words, where layers are during the
    search.
    """

    name: str
    title: str
    path: str
    depth: int
    states_so_far: int
    states: int
    workers: int
    resumed: bool
    dashboard: str | None = None
    until: int | None = None
    mode: str = ""


@dataclass(frozen=True)
class Compiling:
    """A kernel is about to be compiled, which may take half a minute for all kernels; the thread
    that compiles it emits this. elsewhere: workers of a cluster are about to load or compile their
    kernels."""

    elsewhere: bool = False


@dataclass(frozen=True)
class LayerStarted:
    """The layer at `depth` is under way.

    tasks: their number; None if the driver's process makes this layer and perhaps others.
    """

    depth: int
    tasks: int | None


@dataclass(frozen=True)
class TaskFinished:
    """A task of the layer under way is done. states: the new states of that layer so far."""

    depth: int
    done: int
    tasks: int
    states: int


@dataclass(frozen=True)
class LayerMade:
    """A layer is made in the driver's process, and not yet committed: a run that is killed makes
    it again. `LayerFinished` follows, with its neighbours, once it is committed.

    layer: as the ledger will list it, without what only its files tell. elapsed: seconds since the
    run was started.
    """

    layer: LayerRecord
    elapsed: float

    @property
    def depth(self) -> int:
        return self.layer.depth


@dataclass(frozen=True)
class StoringLayers:
    """The last layers made in memory are being stored."""

    layers: int


@dataclass(frozen=True)
class LayerFinished:
    """A layer is committed.

    layer: its line of the ledger as it was committed; the layer may have been deleted since.
    states_so_far: the sum over all layers up to it. elapsed: seconds since the run was started.
    disk: bytes of the layers on disk.
    """

    layer: LayerRecord
    states_so_far: int
    elapsed: float
    disk: int

    @property
    def depth(self) -> int:
        return self.layer.depth


@dataclass(frozen=True)
class RunFinished:
    """The run is done: it has searched the whole space (`complete`), or reached `until`."""

    depth: int
    states: int
    complete: bool
    elapsed: float


@dataclass(frozen=True)
class RunStopped:
    """The run ends early, after `depth`, and can be resumed. The depth is -1 if no layer is
    committed."""

    depth: int
    reason: str
    elapsed: float


@dataclass(frozen=True)
class Stopping:
    """The run was asked to stop; work under way ends first."""


@dataclass(frozen=True)
class SearchStarted:
    """A run by cosets begins or is resumed.

    at_most, layers: the arguments of `frontier.gods_number`. dashboard: the address of Dask's
    dashboard.
    """

    name: str
    title: str
    path: str
    workers: int
    at_most: int | None
    layers: int
    resumed: bool
    dashboard: str | None = None


@dataclass(frozen=True)
class Asking:
    """Tables are made or read, or a question about all cosets is under way.

    doing: what is under way, in words. lower, upper: the bounds of God's number, None before there
    are tables. limit: the question's limit, None before there is a question. done, portions: how
    many portions of the question are done, and how many it has. left: the seconds that the question
    may still take, None if unknown. positions: how many were found to need more moves.
    """

    doing: str
    lower: int | None = None
    upper: int | None = None
    limit: int | None = None
    done: int = 0
    portions: int = 0
    left: float | None = None
    positions: int = 0


@dataclass(frozen=True)
class SearchFinished:
    """A run by cosets has answered all questions. elapsed: seconds since it was started."""

    lower: int
    upper: int
    elapsed: float


@dataclass(frozen=True)
class SearchStopped:
    """A run by cosets ends early, and can be resumed."""

    reason: str
    elapsed: float


Event = (
    Starting | RunStarted | Compiling | LayerStarted | TaskFinished | LayerMade | StoringLayers
    | LayerFinished | RunFinished | RunStopped | Stopping | SearchStarted | Asking | SearchFinished
    | SearchStopped
)  # fmt: skip
Listener = Callable[[Event], None]
