"""The events of a run, by layers or by cosets, as values that progress displays and logs
receive."""

from collections.abc import Callable
from dataclasses import dataclass

from frontier.layers.record import LayerRecord


@dataclass(frozen=True)
class Starting:
    """A run of either kind is about to begin. Its workers are started or joined first.

    Attributes
    ----------
    name
        The name of the run.
    title
        The title of its puzzle.
    path
        The run directory, or its URL.
    resumed
        True if the run had begun before, or, for a search of cosets, if its tables had been made.
    workers
        How many workers are started or joined; 0 if this process does all the work.
    states
        The number of states of the whole space, None for a search of cosets.
    depth
        The depth of the last committed layer, -1 if there is none.
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
    """A run begins, or is resumed.

    Attributes
    ----------
    name
        The name of the run.
    title
        The title of its puzzle.
    path
        The run directory, or its URL.
    depth
        The depth of the last committed layer, -1 if there is none.
    states_so_far
        The number of states in the committed layers.
    states
        The number of states of the whole space.
    workers
        How many workers there are.
    resumed
        True if the run had begun before this start.
    dashboard
        The address of Dask's dashboard.
    until
        The last depth to compute, None for all.
    mode
        Where layers are during the search, in words.
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
    """A kernel is about to be compiled. All kernels together may take half a minute. The thread
    that compiles the kernel emits the event.

    Attributes
    ----------
    elsewhere
        True if workers of a cluster are about to load their kernels, or to compile them.
    """

    elsewhere: bool = False


@dataclass(frozen=True)
class LayerStarted:
    """A layer is under way.

    Attributes
    ----------
    depth
        The depth of the layer.
    tasks
        The number of its tasks; None if the driver's process makes this layer and perhaps more.
    """

    depth: int
    tasks: int | None


@dataclass(frozen=True)
class TaskFinished:
    """A task of the layer under way is done.

    Attributes
    ----------
    depth
        The depth of the layer.
    done
        How many tasks of the layer are done.
    tasks
        How many tasks the layer has.
    states
        How many new states the layer has so far.
    """

    depth: int
    done: int
    tasks: int
    states: int


@dataclass(frozen=True)
class LayerMade:
    """A layer has been made in the driver's process but not yet committed. If the run is killed,
    the resumed run makes the layer again. `LayerFinished` follows once the layer is committed,
    perhaps with others.

    Attributes
    ----------
    layer
        The layer as the ledger will list it, without what is known only from files.
    elapsed
        Seconds since the run was started.
    """

    layer: LayerRecord
    elapsed: float

    @property
    def depth(self) -> int:
        return self.layer.depth


@dataclass(frozen=True)
class StoringLayers:
    """The last of the layers made in memory are being stored.

    Attributes
    ----------
    layers
        How many layers.
    """

    layers: int


@dataclass(frozen=True)
class LayerFinished:
    """A layer is committed.

    Attributes
    ----------
    layer
        Its ledger line as it was committed; the layer may have been deleted since.
    states_so_far
        The number of states in all layers up to this one.
    elapsed
        Seconds since the run was started.
    disk
        The bytes of the layers on disk.
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
    """The run is done.

    Attributes
    ----------
    depth
        The depth of the last layer.
    states
        The number of states in all layers.
    complete
        True if the search has visited the whole space, False if it has reached the requested depth.
    elapsed
        Seconds since the run was started.
    """

    depth: int
    states: int
    complete: bool
    elapsed: float


@dataclass(frozen=True)
class RunStopped:
    """The run ends early, and can be resumed.

    Attributes
    ----------
    depth
        The depth of the last committed layer, -1 if there is none.
    reason
        Why the run ends, in words.
    elapsed
        Seconds since the run was started.
    """

    depth: int
    reason: str
    elapsed: float


@dataclass(frozen=True)
class Stopping:
    """The run was asked to stop. It first finishes the work under way."""


@dataclass(frozen=True)
class SearchStarted:
    """A search of cosets begins, or is resumed.

    Attributes
    ----------
    name
        The name of the search.
    title
        The title of its puzzle.
    path
        The directory of the search, or its URL.
    workers
        How many workers there are.
    at_most
        The argument of `frontier.gods_number`.
    layers
        The argument of `frontier.gods_number`.
    resumed
        True if its tables had been made before.
    dashboard
        The address of Dask's dashboard.
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

    Attributes
    ----------
    doing
        What is under way, in words.
    lower
        The lower bound on God's number, None before there are tables.
    upper
        The upper bound, None before there are tables.
    limit
        The number of moves that the question is about, None before there is one.
    done
        How many portions of the question are done.
    portions
        How many portions the question has.
    left
        The seconds that the question may still take, None if unknown.
    positions
        How many positions were found to need more moves.
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
    """A search of cosets has answered all questions.

    Attributes
    ----------
    lower
        The lower bound on God's number.
    upper
        The upper bound.
    elapsed
        Seconds since the search was started.
    """

    lower: int
    upper: int
    elapsed: float


@dataclass(frozen=True)
class SearchStopped:
    """A search of cosets ends early, and can be resumed.

    Attributes
    ----------
    reason
        Why the search ends, in words.
    elapsed
        Seconds since the search was started.
    """

    reason: str
    elapsed: float


Event = (
    Starting | RunStarted | Compiling | LayerStarted | TaskFinished | LayerMade | StoringLayers
    | LayerFinished | RunFinished | RunStopped | Stopping | SearchStarted | Asking | SearchFinished
    | SearchStopped
)  # fmt: skip
Start = RunStarted | SearchStarted
End = RunFinished | RunStopped | SearchFinished | SearchStopped
Listener = Callable[[Event], None]
