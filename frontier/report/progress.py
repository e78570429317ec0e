"""Progress for people: a live table in a terminal, plain lines elsewhere."""

import sys
from collections import deque
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from frontier.search.events import (
    Event,
    LayerFinished,
    RunFinished,
    RunStarted,
    RunStopped,
    TaskFinished,
)
from frontier.text import counted, rate, size, span

ROWS = 12


class PlainProgress:
    """A line for each layer that took a while, and for the last of those that did not."""

    SECONDS = 1.0

    def __init__(self, file: TextIO):
        self._file = file
        self._states: int | None = None
        self._printed = float("-inf")
        self._waiting: LayerFinished | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._states = event.states
                self._say(_headline(event))
                self._say(f"{'depth':>5} {'states':>18} {'so far':>20} {'rate':>9} {'time':>12}")
            case LayerFinished() if event.elapsed - self._printed >= self.SECONDS:
                self._layer(event)
            case LayerFinished():
                self._waiting = event
            case RunFinished() | RunStopped():
                if self._waiting:
                    self._layer(self._waiting)
                self._say(_ending(event))

    def _layer(self, event: LayerFinished) -> None:
        self._printed, self._waiting = event.elapsed, None
        share = f" {event.states_so_far / self._states:6.1%}" if self._states else ""
        self._say(
            f"{event.depth:>5} {event.states:>18,} {event.states_so_far:>20,} "
            f"{rate(event.states, event.seconds):>9} {span(event.elapsed):>12}{share}"
            f"  disk {size(event.disk)}"
        )

    def _say(self, line: str) -> None:
        if self._file is None:
            return
        try:
            print(line, file=self._file, flush=True)
        except (OSError, ValueError):  # nobody listens any more; the search goes on
            self._file = None


class LiveProgress:
    """A table of the last layers that stays in place, with a bar for the layer under way."""

    def __init__(self, console: Console):
        self._console = console
        self._live: Live | None = None
        self._started: RunStarted | None = None
        self._layers: deque[LayerFinished] = deque(maxlen=ROWS)
        self._task: TaskFinished | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._started = event
                self._console.print(_headline(event))
                self._live = Live(console=self._console, refresh_per_second=8)
                self._live.start()
            case LayerFinished():
                self._layers.append(event)
                self._task = None
            case TaskFinished():
                self._task = event
        if self._live:
            self._live.update(self._view())
            if isinstance(event, RunFinished | RunStopped):
                self._live.stop()
                self._live = None
                self._console.print(_ending(event), soft_wrap=True)

    def _view(self) -> Group:
        table = Table(box=None, pad_edge=False)
        for name in ("depth", "states", "so far", "share", "rate", "elapsed", "disk"):
            table.add_column(name, justify="right")
        total = self._started.states
        for layer in self._layers:
            table.add_row(
                str(layer.depth),
                f"{layer.states:,}",
                f"{layer.states_so_far:,}",
                f"{layer.states_so_far / total:.2%}" if total else "",
                rate(layer.states, layer.seconds),
                span(layer.elapsed),
                size(layer.disk),
            )
        parts = [table]
        if self._layers and total:
            parts.append(ProgressBar(total=total, completed=self._layers[-1].states_so_far))
        if self._task:
            parts.append(
                Text(
                    f"layer {self._task.depth}: {self._task.done} of "
                    f"{counted(self._task.tasks, 'task')}, {counted(self._task.states, 'state')}",
                    style="dim",
                )
            )
        return Group(*parts)


def _headline(event: RunStarted) -> str:
    states = f", {counted(event.states, 'state')}" if event.states else ""
    again = f", resuming after depth {event.depth}" if event.resumed else ""
    workers = counted(event.workers, "worker")
    return f"{event.name}: {event.title}{states}; {workers}; {event.path}{again}"


def _ending(event: RunFinished | RunStopped) -> str:
    if isinstance(event, RunStopped):
        return f"stopped after depth {event.depth} ({event.reason}), {span(event.elapsed)}"
    found = f"{counted(event.states, 'state')}, {span(event.elapsed)}"
    if not event.complete:
        return f"depth {event.depth} reached as asked: {found}"
    return f"complete: depth {event.depth}, {found}"


def progress_display() -> LiveProgress | PlainProgress:
    """On standard error: the live table where there is a terminal, plain lines elsewhere."""
    file = sys.stderr
    console = Console(file=file)
    return LiveProgress(console) if console.is_terminal else PlainProgress(file)
