"""The records that a run keeps for people: its starts, and a log with a line of JSON for each
event, except for the events within a layer."""

import json
import time
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any, Literal, NamedTuple

from frontier.config import Config
from frontier.layers.record import LayerRecord
from frontier.layers.tally import Tally
from frontier.runs.environment import note_start
from frontier.runs.events import (
    End,
    Event,
    LayerFinished,
    LayerMade,
    RunFinished,
    RunStarted,
    RunStopped,
    SearchFinished,
    SearchStarted,
    SearchStopped,
    Start,
)
from frontier.storage.base import Storage

STARTS, ENDS = (RunStarted, SearchStarted), (RunFinished, RunStopped, SearchFinished, SearchStopped)
LOGGED: dict[str, type] = {
    kind.__name__: kind for kind in (*STARTS, LayerMade, LayerFinished, *ENDS)
}

NAME = "events.jsonl"

REST = 50
"""While layers are made, the time between two writes of the log is at least this many times the
duration of the first write. Appending to an object means writing all of it again."""


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
    """Appends events to the log of a run, each with its time. Events of layers may wait briefly
    before they are written."""

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
            self._storage.append(NAME, lines.encode())
            now = time.monotonic()
            self._due = now + REST * (now - began)


class LastStart(NamedTuple):
    """The last start of a run, the layers made since then, and the end if there is one, each with
    its time."""

    start: tuple[float, Start]
    made: list[tuple[float, LayerMade]]
    end: tuple[float, End] | None


def read_last_start(storage: Storage) -> LastStart | None:
    """Return what the log says about the last start; None if it has no start. The result leaves out
    committed layers (the ledger describes them), damaged lines, and values that events of this
    version do not have."""
    last: LastStart | None = None
    with suppress(OSError, ValueError):  # the log is for people: a run does not need it
        for line in storage.read(NAME).decode(errors="replace").splitlines():
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


def total_seconds(storage: Storage) -> float | None:
    """Return the seconds of all starts of a run, including those of its workers; None if the log
    does not say. A start that was killed counts up to its last logged event."""
    total, last = 0.0, None
    with suppress(OSError, ValueError):
        for line in storage.read(NAME).decode(errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                values = json.loads(line)
                if LOGGED[values["event"]] in STARTS:
                    total, last = total + (last or 0.0), 0.0
                else:
                    last = float(values["elapsed"])
    return None if last is None else total + last


def _event(kind: type, values: dict) -> Any:
    names = {of.name for of in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names})


def _layer_made(
    depth: int, states: int, form: Literal["bits", "list"], seconds: float, elapsed: float
) -> LayerMade:
    return LayerMade(LayerRecord.of(depth, form, Tally(states), seconds), elapsed)
