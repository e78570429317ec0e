"""The log of a run: it has a line of JSON for each event but those within a layer."""

import json
import time
from dataclasses import asdict, fields
from pathlib import Path

from frontier.search.events import (
    Event,
    LayerFinished,
    RunFinished,
    RunStarted,
    RunStopped,
)
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
    try:
        lines = read_bounded(path).decode(errors="replace").splitlines()
    except (OSError, ValueError):  # it is for people
        return []
    events = []
    for line in lines:
        event = _event_of(line)
        if event and isinstance(event[1], RunStarted):
            events = [event]
        elif event and events:
            events.append(event)
    return events


def _event_of(line: str) -> tuple[float, Event] | None:
    try:
        values = json.loads(line)
        kind = LOGGED[values["event"]]
        known = {field.name: values[field.name] for field in fields(kind) if field.name in values}
        return float(values["time"]), kind(**known)
    except (ValueError, TypeError, KeyError):
        return None
