"""What a run notes for people: a log, with a line of JSON for each event but those within a layer,
and its starts."""

import json
import time
from contextlib import suppress
from dataclasses import asdict

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
)
from frontier.store.files import make_own, read_bounded, write_text
from frontier.store.objects import ObjectPath, Place

LOGGED = {kind.__name__: kind for kind in (RunStarted, LayerFinished, RunFinished, RunStopped)}

PUT_SECONDS = 2.0
"""The least seconds between two writings of the log to an object store, while layers end."""


def noted(file: Place, note: Listener) -> Listener:
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

    def __init__(self, path: Place, config: Config):
        self._path, self._config = path, config

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            note_start(self._path, self._config, event.depth + 1, event.workers)


class EventLog:
    """Appends events to a file."""

    def __init__(self, path: Place):
        self._path, self._text, self._written = path, None, 0.0

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
        line = json.dumps({"time": time.time(), "event": kind, **said}) + "\n"
        if not isinstance(self._path, ObjectPath):
            make_own(self._path)
            with self._path.open("a") as file:
                file.write(line)
            return
        if self._text is None:  # nothing is appended to an object, so all of it is written anew
            self._text = ""
            with suppress(FileNotFoundError, ValueError):
                self._text = read_bounded(self._path).decode(errors="replace")
        self._text += line
        if kind != "LayerFinished" or time.monotonic() - self._written > PUT_SECONDS:
            write_text(self._path, self._text)
            self._written = time.monotonic()


def read_last_start(path: Place) -> list[tuple[float, Event]]:
    """The last start of a run and its end, if it has one, each with its time. Layers, which the
    ledger describes, and lines that are damaged are left out."""
    events = []
    with suppress(OSError, ValueError):  # the log is for people: a run does not need it
        for line in read_bounded(path).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                values = json.loads(line)
                when, kind = float(values.pop("time")), LOGGED[values.pop("event")]
                if kind is RunStarted:
                    events = [(when, kind(**values))]
                elif events and kind is not LayerFinished:
                    events.append((when, kind(**values)))
    return events
