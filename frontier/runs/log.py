"""The log that a run keeps for people: a line of JSON for each event that has something to log."""

import json
import time
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from frontier.runs.events import Committed, End, Event, Finished, Started, Stopped, Working
from frontier.storage.base import Storage
from frontier.storage.sealed import Moment

NAME = "events.jsonl"

MOMENT = TypeAdapter(Moment)

REST = 50
"""While work is under way, the time between two writes of the log is at least this many times the
duration of the first write. Appending to an object means writing all of it again."""


class EventLog:
    """Appends events to the log of a run, each with its time. Events of work may wait briefly
    before they are written."""

    def __init__(self, storage: Storage):
        self._storage, self._lines, self._due = storage, "", 0.0

    def __call__(self, event: Event) -> None:
        if (values := event.logged) is None:
            return
        line = {"time": time.time(), "event": type(event).__name__, **values}
        self._lines += json.dumps(line) + "\n"
        began = time.monotonic()
        if not isinstance(event, Working | Committed) or began >= self._due:
            lines, self._lines = self._lines, ""
            self._storage.append(NAME, lines.encode())
            now = time.monotonic()
            self._due = now + REST * (now - began)


class LastStart(NamedTuple):
    """What the log says about the last start of a run: the start, the lines about the work since
    then (the name of the event, and its values), and the end if there is one, each with its
    time."""

    start: tuple[float, Started]
    work: list[tuple[float, str, dict[str, Any]]]
    end: tuple[float, End] | None


def read_last_start(storage: Storage) -> LastStart | None:
    """Return what the log says about the last start; None if it has no start. The result leaves out
    damaged lines, and values that events of this version do not have."""
    last: LastStart | None = None
    with suppress(OSError, ValueError):  # the log is for people: a run does not need it
        for line in storage.read(NAME).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                values = json.loads(line)
                when = MOMENT.validate_python(values.pop("time"))
                name = values.pop("event")
                if name == Started.__name__:
                    last = LastStart((when, _event(Started, values)), [], None)
                elif last and name in ENDS:
                    last = last._replace(end=(when, _event(ENDS[name], values)))
                elif last:
                    last.work.append((when, name, values))
    return last


def total_seconds(storage: Storage) -> float | None:
    """Return the seconds of all starts of a run, including those of its workers; None if the log
    does not say. A start that was killed counts up to its last logged event."""
    total, last = 0.0, None
    with suppress(OSError, ValueError):
        for line in storage.read(NAME).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                values = json.loads(line)
                if values["event"] == Started.__name__:
                    total, last = total + (last or 0.0), 0.0
                else:
                    last = float(values["elapsed"])
    return None if last is None else total + last


ENDS: dict[str, type[End]] = {end.__name__: end for end in (Finished, Stopped)}


def _event(kind: type, values: dict) -> Any:
    """Return an event; raises ValueError if a value is one that no event has."""
    numbers = [of for of in values.values() if isinstance(of, int | float)]
    if not all(-1 <= number < 1 << 63 for number in numbers):  # false for NaN
        raise ValueError
    return TypeAdapter(kind).validate_python(values)
