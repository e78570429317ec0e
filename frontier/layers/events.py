"""The steps of a run by layers, as events."""

from dataclasses import dataclass
from typing import Any

from frontier.layers.record import LayerRecord
from frontier.runs.events import Committed, Working


def _facts(layer: LayerRecord) -> dict[str, Any]:
    """Return what the log keeps of a layer, whether committed or not."""
    return {
        "depth": layer.depth, "states": layer.states, "form": layer.form, "seconds": layer.seconds,
    }  # fmt: skip


@dataclass(frozen=True)
class LayerStarted(Working):
    """A layer is under way."""

    depth: int
    """The depth of the layer."""
    tasks: int | None
    """The number of its tasks; None if the driver's process makes this layer and perhaps more."""


@dataclass(frozen=True)
class TaskFinished(Working):
    """A task of the layer under way is done."""

    depth: int
    """The depth of the layer."""
    done: int
    """How many tasks of the layer are done."""
    tasks: int
    """How many tasks the layer has."""
    states: int
    """How many new states the layer has so far."""


@dataclass(frozen=True)
class LayerMade(Working):
    """A layer has been made in the driver's process but not yet committed. If the run is killed,
    the resumed run makes the layer again. `LayerFinished` follows once the layer is committed,
    perhaps with others."""

    layer: LayerRecord
    """The layer as the ledger will list it, without what is known only from files."""
    elapsed: float
    """Seconds since the run was started."""

    @property
    def depth(self) -> int:
        return self.layer.depth

    @property
    def logged(self) -> dict[str, Any]:
        return {**_facts(self.layer), "elapsed": self.elapsed}


@dataclass(frozen=True)
class StoringLayers(Working):
    """The last of the layers made in memory are being stored."""

    layers: int
    """How many layers."""


@dataclass(frozen=True)
class LayerFinished(Committed):
    """A layer is committed."""

    layer: LayerRecord
    """Its ledger line as it was committed; the layer may have been deleted since."""
    states_so_far: int
    """The number of states in all layers up to this one."""
    elapsed: float
    """Seconds since the run was started."""
    disk: int
    """The bytes of the layers on disk."""

    @property
    def depth(self) -> int:
        return self.layer.depth

    @property
    def logged(self) -> dict[str, Any]:
        return {
            **_facts(self.layer), "elapsed": self.elapsed, "written": self.layer.bytes,
            "states_so_far": self.states_so_far, "disk": self.disk,
        }  # fmt: skip
