"""The log of a run: it has a line of JSON for each event but those within a layer."""

import json
import time
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

from frontier.search.events import Event, LayerFinished, RunFinished, RunStarted, RunStopped
from frontier.store.files import make_own, read_bounded

LOGGED = {kind.__name__: kind for kind in (RunStarted, LayerFinished, RunFinished, RunStopped)}


class EventLog:
    """Appends events to a file."""

    def __init__(self, path: Path):
        self._path, self._is_own = path, False

    def __call__(self, event: Event) -> None:
        if type(event).__name__ not in LOGGED:
            return
        if not self._is_own:
            make_own(self._path)
            self._is_own = True
        line = {"time": time.time(), "event": type(event).__name__, **asdict(event)}
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def read_last_start(path: Path) -> list[tuple[float, Event]]:
    """The events since the last start, each with its time; lines that are damaged are left out."""
    events = []
    with suppress(OSError, ValueError):  # it is for people
        for line in read_bounded(path).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError):
                values = json.loads(line)
                kind = LOGGED[values["event"]]
                known = {of.name: values[of.name] for of in fields(kind) if of.name in values}
                when, event = float(values["time"]), kind(**known)
                if kind is RunStarted:
                    events = [(when, event)]
                elif events:
                    events.append((when, event))
    return events
