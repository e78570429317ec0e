"""The log of a run: it has a line of JSON for each event but those within a layer."""

import json
import time
from contextlib import suppress
from dataclasses import asdict, fields

from frontier.search.events import Event, LayerFinished, RunFinished, RunStarted, RunStopped
from frontier.store.files import make_own, read_bounded, write_text
from frontier.store.objects import ObjectPath, Place

LOGGED = {kind.__name__: kind for kind in (RunStarted, LayerFinished, RunFinished, RunStopped)}

PUT_SECONDS = 2.0
"""The least seconds between two writings of the log to an object store, while layers end."""


class EventLog:
    """Appends events to a file."""

    def __init__(self, path: Place):
        self._path, self._is_own = path, False
        self._text, self._written = "", 0.0

    def __call__(self, event: Event) -> None:
        if type(event).__name__ not in LOGGED:
            return
        values = {"time": time.time(), "event": type(event).__name__, **_logged(event)}
        line = json.dumps(values) + "\n"
        if isinstance(self._path, ObjectPath):
            self._put(line, wait=isinstance(event, LayerFinished))
            return
        if not self._is_own:
            make_own(self._path)
            self._is_own = True
        with self._path.open("a") as file:
            file.write(line)

    def _put(self, line: str, wait: bool) -> None:
        """Write the log anew, as nothing is appended to an object. wait: the next line may do."""
        if not self._is_own:
            with suppress(FileNotFoundError, ValueError):
                self._text = read_bounded(self._path).decode(errors="replace")
            self._is_own = True
        self._text += line
        if not wait or time.monotonic() - self._written > PUT_SECONDS:
            write_text(self._path, self._text)
            self._written = time.monotonic()


def _logged(event: Event) -> dict:
    """What the line of an event says of it."""
    said = asdict(event)
    if isinstance(event, LayerFinished):
        layer = said.pop("layer")
        said |= {name: layer[name] for name in ("depth", "states", "form", "seconds")}
        said["written"] = layer["bytes"]
    return said


def read_last_start(path: Place) -> list[tuple[float, Event | None]]:
    """The events since the last start, each with its time; lines that are damaged are left out.

    A layer, which the ledger describes, is None.
    """
    events = []
    with suppress(OSError, ValueError):  # it is for people
        for line in read_bounded(path).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError):
                values = json.loads(line)
                kind, when, event = LOGGED[values["event"]], float(values["time"]), None
                if kind is not LayerFinished:
                    known = {of.name: values[of.name] for of in fields(kind) if of.name in values}
                    event = kind(**known)
                if kind is RunStarted:
                    events = [(when, event)]
                elif events:
                    events.append((when, event))
    return events
