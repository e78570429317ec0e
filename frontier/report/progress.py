"""Progress for people: a live table in a terminal, plain lines elsewhere."""

import sys
import time
from contextlib import suppress
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from frontier.report.console import console_on, fitting_table, is_live, say
from frontier.report.notebook import run_html
from frontier.report.view import (
    View,
    describe_step,
    in_a_line,
    words_of_depth,
    words_of_end,
    words_of_left,
)
from frontier.search.events import (
    Event,
    LayerFinished,
    Listener,
    RunFinished,
    RunStarted,
    RunStopped,
    TaskFinished,
)
from frontier.text import counted, percent, rate, size, span

ROWS = 12

DROPPED = ("disk", "share", "elapsed", "so far", "rate")
"""Columns of the table that a narrow terminal does without, these first."""

WIDEST = 80
"""Columns of a terminal that the bar fills, at most."""


class PlainProgress:
    """A line for each layer that took a while, and for the last of those that did not.

    The rate is that since the line before.
    """

    SECONDS = 1.0

    TASK_SECONDS = 60.0
    """A layer that takes longer has a line so often."""

    def __init__(self, file: TextIO | None):
        self._file, self._view = file, View()
        self._printed = float("-inf")
        self._waiting: LayerFinished | None = None
        self._states, self._seconds = 0, 0.0
        self._last_line = time.monotonic()

    def __call__(self, event: Event) -> None:
        self._view(event)
        match event:
            case RunStarted():
                self._say(headline(event))
                if event.way:
                    self._say(f"layers are searched {event.way}")
                if event.dashboard:
                    self._say(f"dashboard: {event.dashboard}")
                self._say(f"{'depth':>5} {'states':>18} {'so far':>20} {'rate':>9} {'time':>12}")
            case LayerFinished():
                self._waiting = event
                self._states += event.states
                self._seconds += event.seconds
                if event.elapsed - self._printed >= self.SECONDS:
                    self._layer(event)
            case TaskFinished() if time.monotonic() - self._last_line >= self.TASK_SECONDS:
                self._say(f"{describe_step(self._view)}{self._left()}")
            case RunFinished() | RunStopped():
                if self._waiting:
                    self._layer(self._waiting)
                self._say(_ending(event))

    def _layer(self, event: LayerFinished) -> None:
        speed = rate(self._states, self._seconds)
        self._printed, self._waiting = event.elapsed, None
        self._states, self._seconds = 0, 0.0
        total = self._view.started.states
        share = percent(event.states_so_far / total)
        left = self._left() if event.elapsed >= self.SECONDS else ""
        self._say(
            f"{event.depth:>5} {event.states:>18,} {event.states_so_far:>20,} "
            f"{speed:>9} {span(event.elapsed):>12} {share:>8}"
            f"  disk {size(event.disk)}{left}"
        )

    def _left(self) -> str:
        """What there is to say of the time left."""
        if self._view.ended:
            return ""
        left = self._view.left()
        return f"  left {in_a_line(words_of_left(left))}" if left else ""

    def _say(self, line: str) -> None:
        self._last_line = time.monotonic()
        if not say(line, self._file):
            self._file = None


class LiveProgress:
    """A table of the last layers that stays in place, and what is known of those to come."""

    def __init__(self, console: Console):
        self._console, self._view = console, View()
        self._live: Live | None = None
        self._gone = False

    def __call__(self, event: Event) -> None:
        self._view(event)
        if self._gone:
            return
        try:
            self._show(event)
        except OSError:  # the terminal is gone; the search goes on
            self._gone = True
            if self._live:
                with suppress(OSError):
                    self._live.stop()

    def _show(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._console.print(headline(event))
            if event.way:
                self._console.print(f"layers are searched {event.way}", soft_wrap=True)
            if event.dashboard:
                self._console.print(dashboard(event.dashboard), soft_wrap=True)
            self._live = Live(
                get_renderable=lambda: ViewTable(self._view),
                console=self._console,
                refresh_per_second=4,
            )
            self._live.start(refresh=True)
        elif self._live and isinstance(event, RunFinished | RunStopped):
            self._live.stop()
            self._live = None
            self._console.print(_ending(event), soft_wrap=True)


class ViewTable:
    """A view for a terminal of any width."""

    def __init__(self, view: View):
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view, total = self._view, self._view.started.states
        width = min(WIDEST, options.max_width)
        bar = ProgressBar(total=total, completed=view.states, width=width)
        parts = [
            layer_table(view, console, options),
            Padding(bar, 0, expand=False),  # ends its line
        ]
        if not view.ended:
            left = view.left()
            parts.append(Text(describe_step(view), style="dim"))
            if view.states < total:
                parts.append(Text(f"time left: {in_a_line(words_of_left(left))}"))
                if end := in_a_line(words_of_end(left, time.time())):
                    parts.append(Text(f"ends {end}"))
            if left and view.states < total:
                parts.append(Text(f"depth: {in_a_line(words_of_depth(left))}"))
        yield Group(*parts)


def layer_table(view: View, console: Console, options: ConsoleOptions) -> Table:
    """The last layers, in as many columns as there is room for."""
    total, rows = view.started.states, view.finished[-ROWS:]
    columns = {
        "depth": [str(layer.depth) for layer in rows],
        "states": [f"{layer.states:,}" for layer in rows],
        "so far": [f"{layer.states_so_far:,}" for layer in rows],
        "share": [percent(layer.states_so_far / total) for layer in rows],
        "rate": [rate(layer.states, layer.seconds) for layer in rows],
        "elapsed": [span(layer.elapsed) for layer in rows],
        "disk": [size(layer.disk) for layer in rows],
    }
    return fitting_table(columns, DROPPED, console, options.max_width)


def dashboard(address: str) -> Text:
    """Where Dask shows its workers: to be clicked, in terminals that can."""
    return Text.assemble("dashboard: ", (address, f"link {address}"))


def headline(event: RunStarted) -> str:
    again = f", resuming after depth {event.depth}" if event.resumed else ""
    states, workers = counted(event.states, "state"), counted(event.workers, "worker")
    return f"{event.name}: {event.title}, {states}; {workers}; {event.path}{again}"


def _ending(event: RunFinished | RunStopped) -> str:
    if isinstance(event, RunStopped):
        where = f"after depth {event.depth}" if event.depth >= 0 else "before the first layer"
        return f"stopped {where} ({event.reason}), {span(event.elapsed)}"
    found = f"{counted(event.states, 'state')}, {span(event.elapsed)} since it was started"
    if not event.complete:
        return f"depth {event.depth} reached as asked: {found}"
    return f"complete: depth {event.depth}, {found}"


class NotebookProgress:
    """A table and a chart in a notebook, which are replaced as the run goes on."""

    SECONDS = 0.5
    """They are not replaced more often."""

    def __init__(self):
        self._view, self._handle, self._shown = View(), None, 0.0

    def __call__(self, event: Event) -> None:
        self._view(event)
        ended = isinstance(event, RunFinished | RunStopped)
        if ended or time.monotonic() - self._shown >= self.SECONDS:
            self._shown = time.monotonic()
            self._show(_ending(event) if ended else describe_step(self._view))

    def _show(self, said: str) -> None:
        from IPython.display import HTML, display

        view = self._view
        facts = {"states": f"{view.states:,} of {view.started.states:,}", "now": said}
        if not view.ended:
            facts["time left"] = in_a_line(words_of_left(view.left()))
        title = f"{view.started.name}: {view.started.title}"
        shown = HTML(run_html(title, facts, [layer.states for layer in view.layers]))
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


def display_for_people(wanted: bool | None) -> Listener | None:
    """Progress for who calls the library; wanted: None where it depends on whether people look."""
    if wanted is False:
        return None
    if _in_notebook():
        return NotebookProgress()
    display = progress_display()
    return display if wanted or isinstance(display, LiveProgress) else None


def _in_notebook() -> bool:
    """Whether this is a kernel of IPython, whose output a notebook shows."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def progress_display() -> LiveProgress | PlainProgress:
    """On standard error: the live table where there is a terminal, plain lines elsewhere."""
    file = sys.stderr
    if file is None:
        return PlainProgress(None)
    console = console_on(file)
    return LiveProgress(console) if is_live(console) else PlainProgress(file)
