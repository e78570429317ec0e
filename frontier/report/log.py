"""The log of a run: one JSON object a line for each event but those within a layer."""

import json
import time
from dataclasses import asdict
from pathlib import Path

from frontier.search.events import Event, LayerStarted, TaskFinished


class EventLog:
    """Appends events to a file."""

    def __init__(self, path: Path):
        self._path = path

    def __call__(self, event: Event) -> None:
        if isinstance(event, LayerStarted | TaskFinished):
            return
        line = {"time": time.time(), "event": type(event).__name__, **asdict(event)}
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")
