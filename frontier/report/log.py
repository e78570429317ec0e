"""What a run notes for people: a log, with a line of JSON for each event but those within a layer,
and its starts."""

import json
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from frontier.config import Config
from frontier.report.console import warn_unwritten
from frontier.search.environment import note_start
from frontier.search.events import (
    Event,
    LayerFinished,
    Listener,
    RunFinished,
    RunStarted,
    RunStopped,
    SearchFinished,
    SearchStarted,
    SearchStopped,
)
from frontier.storage.base import Storage

STARTS, ENDS = (RunStarted, SearchStarted), (RunFinished, RunStopped, SearchFinished, SearchStopped)
LOGGED = {kind.__name__: kind for kind in (*STARTS, LayerFinished, *ENDS)}

NAME = "events.jsonl"

LINE_SECONDS = 2.0
"""The least seconds between two writings of the log, while layers end."""


def noted(file: Path | str, note: Listener) -> Listener:
    """A listener that writes a file for people. If the system refuses that, it says so once, and
    the search goes on."""
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
            asked = {"at_most": event.at_most, "layers": event.layers}
            note_start(self._storage, self._config, event.workers, asked=asked)


class EventLog:
    """Appends events to the log of a run. Those of layers wait for a moment, as to append to an
    object is to write all of it anew."""

    def __init__(self, storage: Storage):
        self._storage, self._lines, self._written = storage, "", 0.0

    def __call__(self, event: Event) -> None:
        kind = type(event).__name__
        if kind not in LOGGED:
            return
        said = asdict(event)
        if isinstance(event, LayerFinished):
            del said["layer"]
            layer = event.layer
            said |= {
                "depth": layer.depth, "states": layer.states, "form": layer.form,
                "seconds": layer.seconds, "written": layer.bytes,
            }  # fmt: skip
        self._lines += json.dumps({"time": time.time(), "event": kind, **said}) + "\n"
        if kind != "LayerFinished" or time.monotonic() - self._written > LINE_SECONDS:
            lines, self._lines, self._written = self._lines, "", time.monotonic()
            self._storage.append(NAME, lines.encode())


def read_last_start(storage: Storage) -> list[tuple[float, Event]]:
    """The last start of a run and its end, if it has one, each with its time. Layers, which the
    ledger describes, and lines that are damaged are left out."""
    events = []
    with suppress(OSError, ValueError):  # the log is for people: a run does not need it
        for line in storage.read(NAME).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                values = json.loads(line)
                when, kind = float(values.pop("time")), LOGGED[values.pop("event")]
                if kind in STARTS:
                    events = [(when, kind(**values))]
                elif events and kind is not LayerFinished:
                    events.append((when, kind(**values)))
    return events
