"""The notes that a run makes for people: a log of its events, and the environment of its starts.

``events.jsonl`` has a line of JSON for each event but those within a layer. ``environment.json``
has the versions, hosts and settings of each start, resumed or not. It names no user, host, path or
account, so that a report of it can be published. The search itself reads neither, and losing them
costs it nothing.
"""

import json
import platform
import time
from contextlib import suppress
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from frontier import __version__, machine
from frontier.config import Config
from frontier.errors import CorruptRunError
from frontier.report.console import warn_unwritten
from frontier.search.events import (
    Event,
    LayerFinished,
    LayerMade,
    Listener,
    RunFinished,
    RunStarted,
    RunStopped,
    SearchFinished,
    SearchStarted,
    SearchStopped,
)
from frontier.storage.base import Storage
from frontier.storage.sealed import read_sealed, write_sealed
from frontier.store.ledger import LayerRecord
from frontier.store.tally import Tally

STARTS, ENDS = (RunStarted, SearchStarted), (RunFinished, RunStopped, SearchFinished, SearchStopped)
LOGGED = {kind.__name__: kind for kind in (*STARTS, LayerMade, LayerFinished, *ENDS)}

LOG, ENVIRONMENT = "events.jsonl", "environment.json"
"""The names of the files."""

LIBRARIES = ("dask", "distributed", "numba", "numpy", "zarr")

PUBLIC = {
    "search": {"keep", "spare", "until", "in_memory"},
    "store": {"codec", "fsync"},
    "cluster": {"kind", "workers", "memory"},
}
"""These keys of a config say nothing about the place where it ran."""

REST = 50
"""While layers are made, the log is written so rarely that between two writings there is this many
times as long as the first one took. To append to an object is to write all of it anew."""


def noted(file: Path | str, note: Listener) -> Listener:
    """Return a listener that writes a file for people. If the system refuses that, it warns once,
    and the search goes on."""
    warned = False

    def listen(event: Event) -> None:
        nonlocal warned
        try:
            note(event)
        except OSError as error:
            if not warned:
                warn_unwritten(file, error)
            warned = True

    return listen


class StartLog:
    """Adds the start of a run to its environment."""

    def __init__(self, storage: Storage, config: Config):
        self._storage, self._config = storage, config

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            note_start(self._storage, self._config, event.workers, layers=event.depth + 1)
        elif isinstance(event, SearchStarted):
            question = {"at_most": event.at_most, "layers": event.layers}
            note_start(self._storage, self._config, event.workers, asked=question)


class EventLog:
    """Appends events to the log of a run, each with the time at which it came. Those of layers may
    wait for a moment until they are written."""

    def __init__(self, storage: Storage):
        self._storage, self._lines, self._due = storage, "", 0.0

    def __call__(self, event: Event) -> None:
        kind = type(event).__name__
        if kind not in LOGGED:
            return
        values = asdict(event)
        if isinstance(event, LayerMade | LayerFinished):
            layer = event.layer
            values |= {
                "depth": layer.depth, "states": layer.states, "form": layer.form,
                "seconds": layer.seconds,
            }  # fmt: skip
            del values["layer"]
            if isinstance(event, LayerFinished):
                values["written"] = layer.bytes
        self._lines += json.dumps({"time": time.time(), "event": kind, **values}) + "\n"
        began = time.monotonic()
        if not isinstance(event, LayerMade | LayerFinished) or began >= self._due:
            lines, self._lines = self._lines, ""
            self._storage.append(LOG, lines.encode())
            now = time.monotonic()
            self._due = now + REST * (now - began)


class LastStart(NamedTuple):
    """The last start of a run, the layers that were made since then, and the end if there is one;
    each with its time."""

    start: tuple[float, Event]
    made: list[tuple[float, LayerMade]]
    end: tuple[float, Event] | None


def read_last_start(storage: Storage) -> LastStart | None:
    """Return what the log tells of the last start; None if it tells of none. Layers that are
    committed, which the ledger describes, and lines that are damaged are left out, as are values
    that events of this version do not have."""
    last = None
    with suppress(OSError, ValueError):  # the log is for people: a run does not need it
        for line in storage.read(LOG).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                values = json.loads(line)
                when, kind = float(values.pop("time")), LOGGED[values.pop("event")]
                if kind in STARTS:
                    last = LastStart((when, _event(kind, values)), [], None)
                elif last and kind is LayerMade:
                    last.made.append((when, _layer_made(**values)))
                elif last and kind in ENDS:
                    last = last._replace(end=(when, _event(kind, values)))
    return last


def _event(kind: type[Event], values: dict) -> Event:
    names = {of.name for of in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names})


def _layer_made(depth: int, states: int, form: str, seconds: float, elapsed: float) -> LayerMade:
    return LayerMade(LayerRecord.of(depth, form, Tally(states), seconds), elapsed)


def versions() -> dict[str, str]:
    """Return the versions of frontier and of the libraries on which a result may depend."""
    return {"frontier": __version__, **{name: version(name) for name in LIBRARIES}}


def note_start(storage: Storage, config: Config, workers: int, **more) -> None:
    """Add this start to the environment of the run in a storage.

    workers: their number at the start. more: further entries; a run by layers notes the number of
    layers committed before, a search of cosets its question. Raises OSError if the system cannot
    read or write the file.
    """
    start = {
        "began": time.time(),
        **more,
        "workers": workers,
        "python": platform.python_version(),
        "versions": versions(),
        "processor": processor(),
        "cores": machine.cores(),
        "memory": machine.memory(),
        "platform": f"{platform.system()}, {platform.machine()}",
        "config": {
            "puzzle": config.puzzle_settings,
            **config.model_dump(mode="json", include=PUBLIC, exclude_none=True),
        },
    }
    write_sealed(storage, ENVIRONMENT, {"starts": [*read_starts(storage), start]})


def read_starts(storage: Storage) -> list[dict]:
    """Return the starts of the run in a storage, in order.

    The list is empty if the file is missing, damaged or of another version. Raises OSError if the
    system cannot read it.
    """
    try:
        content = read_sealed(storage, ENVIRONMENT)
        return content.get("starts") or content.get("legs", [])  # their former name
    except CorruptRunError:
        return []


def processor() -> str:
    """Return the processor's name, as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
