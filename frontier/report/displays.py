"""Displays of a run under way: a live table in a terminal, lines elsewhere, HTML in a notebook."""

import sys
import time
from itertools import accumulate
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.text import Text

from frontier.report.console import console_on, fitting_table, is_live, say
from frontier.report.html import run_html
from frontier.report.progress import Progress
from frontier.report.progress_text import (
    describe_end,
    describe_step,
    figures,
    headline,
    in_a_line,
    time_left_words,
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
from frontier.text import percent, rate, size, span

ROWS = 12
"""The number of layers in the live table."""

DROPPED = ("written", "share", "time", "so far", "rate")
"""A narrow terminal leaves out these columns, the first ones first."""

WIDEST = 80
"""The greatest width of the bar, in columns of the terminal."""


class PlainProgress:
    """Prints a line for each layer that took a while, and for the last of those that did not.

    The rate in a line is that of the layers since the line before.
    """

    SECONDS = 1.0
    """The least seconds between the lines of two layers."""

    TASK_SECONDS = 60.0
    """The seconds between two lines within a layer that takes longer."""

    def __init__(self, file: TextIO | None):
        self._file, self._progress = file, Progress()
        self._waiting: list[LayerFinished] = []  # the layers since the last line
        self._printed = float("-inf")
        self._last_line = time.monotonic()

    def __call__(self, event: Event) -> None:
        self._progress(event)
        match event:
            case RunStarted():
                self._say(headline(event))
                if event.dashboard:
                    self._say(f"dashboard: {event.dashboard}")
                self._say(f"{'depth':>5} {'states':>18} {'so far':>20} {'rate':>9} {'time':>12}")
            case LayerFinished():
                self._waiting.append(event)
                if event.elapsed - self._printed >= self.SECONDS:
                    self._layer()
            case TaskFinished() if time.monotonic() - self._last_line >= self.TASK_SECONDS:
                self._say(f"{describe_step(self._progress)}{self._left()}")
            case RunFinished() | RunStopped():
                if self._waiting:
                    self._layer()
                self._say(describe_end(event))

    def _layer(self) -> None:
        event, layers = self._waiting[-1], self._waiting
        self._printed, self._waiting = event.elapsed, []
        speed = rate(sum(of.layer.states for of in layers), sum(of.layer.seconds for of in layers))
        share = percent(event.states_so_far / self._progress.started.states)
        self._say(
            f"{event.depth:>5} {event.layer.states:>18,} {event.states_so_far:>20,} {speed:>9} "
            f"{span(event.elapsed):>12} {share:>8}  disk {size(event.disk)}"
            f"{self._left() if event.elapsed >= self.SECONDS else ''}"
        )

    def _left(self) -> str:
        left = None if self._progress.ended else self._progress.left()
        return f"  left {in_a_line(time_left_words(left))}" if left else ""

    def _say(self, line: str) -> None:
        self._last_line = time.monotonic()
        if not say(line, self._file):
            self._file = None


class LiveProgress:
    """Shows a table of the last layers in place, and what is known of the layers to come."""

    def __init__(self, console: Console):
        self._console, self._progress = console, Progress()
        self._live = Live(
            get_renderable=lambda: ProgressTable(self._progress),
            console=console,
            refresh_per_second=4,
        )

    def __call__(self, event: Event) -> None:
        self._progress(event)
        try:
            match event:
                case RunStarted():
                    self._console.print(headline(event), soft_wrap=True)
                    if event.dashboard:
                        self._console.print(dashboard(event.dashboard), soft_wrap=True)
                    self._live.start(refresh=True)
                case RunFinished() | RunStopped():
                    self._live.stop()
                    self._console.print(describe_end(event), soft_wrap=True)
        except OSError:  # the terminal is gone; the search goes on
            self._console.quiet = True


class ProgressTable:
    """The last layers, with the states and the time up to each, a bar, and the time left."""

    def __init__(self, progress: Progress):
        self._progress = progress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        progress, total = self._progress, self._progress.started.states
        layers = list(progress.layers)  # a copy, as a search in another thread may add one
        so_far = list(accumulate(layer.states for layer in layers))[-ROWS:]
        times = list(accumulate(layer.seconds for layer in layers))[-ROWS:]
        last = layers[-ROWS:]
        columns = {
            "depth": [str(layer.depth) for layer in last],
            "states": [f"{layer.states:,}" for layer in last],
            "so far": [f"{states:,}" for states in so_far],
            "share": [percent(states / total) for states in so_far],
            "rate": [rate(layer.states, layer.seconds) for layer in last],
            "time": list(map(span, times)),
            "written": [size(layer.bytes) for layer in last],
        }
        yield fitting_table(columns, DROPPED, console, options.max_width)
        bar = ProgressBar(
            total=total, completed=progress.states, width=min(WIDEST, options.max_width)
        )
        yield Padding(bar, 0, expand=False)  # the padding ends the line of the bar
        if progress.ended:
            return
        yield Text(describe_step(progress), style="dim")
        known = figures(progress)
        for name in ("time left", "ends", "last depth", "layers on disk"):
            if name in known:
                yield Text(f"{name}: {in_a_line(known[name])}")


def dashboard(address: str) -> Text:
    """The address of Dask's dashboard, as a link in terminals that have links."""
    return Text.assemble("dashboard: ", (address, f"link {address}"))


class NotebookProgress:
    """Shows a table and a chart in a notebook, and replaces them as the run goes on."""

    SECONDS = 0.5
    """The least seconds between two replacements."""

    def __init__(self):
        self._progress, self._handle, self._shown = Progress(), None, 0.0

    def __call__(self, event: Event) -> None:
        self._progress(event)
        ended = isinstance(event, RunFinished | RunStopped)
        if ended or time.monotonic() - self._shown >= self.SECONDS:
            self._shown = time.monotonic()
            self._show(describe_end(event) if ended else describe_step(self._progress))

    def _show(self, now: str) -> None:
        from IPython.display import HTML, display

        progress = self._progress
        facts = {name: in_a_line(words) for name, words in figures(progress).items()}
        title = f"{progress.started.name}: {progress.started.title}"
        counts = [layer.states for layer in progress.layers]
        shown = HTML(run_html(title, {"now": now, **facts}, counts))
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


def display_for_people(wanted: bool | None) -> Listener | None:
    """The display on standard error: the live table in a terminal, plain lines elsewhere; in a
    notebook, HTML.

    wanted: whether to show one; with None only terminals and notebooks get one.
    """
    if wanted is False:
        return None
    if _in_notebook():
        return NotebookProgress()
    if sys.stderr is not None and is_live(console := console_on(sys.stderr)):
        return LiveProgress(console)
    return PlainProgress(sys.stderr) if wanted else None


def _in_notebook() -> bool:
    """Whether this process is an IPython kernel, whose output a notebook shows."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
