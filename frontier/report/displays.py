"""Displays of runs under way: a live table in a terminal, lines elsewhere, HTML in a notebook; and
the listeners to a run, of which its display is one."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from frontier.config import Config
from frontier.errors import CorruptRunError, InputError
from frontier.report.console import (
    COMPILING,
    console_on,
    fitting_table,
    is_live,
    say,
    share_bar,
    warn_unwritten,
)
from frontier.report.figures import figures, headline, line, title
from frontier.report.html import run_html
from frontier.report.status_page import kept_page
from frontier.runs.environment import NAME as ENVIRONMENT
from frontier.runs.events import Compiling, Event, LayerFinished, Listener, Stopping
from frontier.runs.kinds import open_run
from frontier.runs.layer_run import LayerRun
from frontier.runs.log import NAME as LOG
from frontier.runs.log import STARTS, EventLog, StartLog
from frontier.runs.progress import UNDER_WAY, Progress, Standing, is_written, progress_of
from frontier.runs.resolve import begun_at
from frontier.storage.base import Storage
from frontier.text import fitted, rate, span

STOPPING = (
    "stopping: what is under way is ended and kept first, as a rule in seconds; Ctrl-C again ends "
    "at once, and what is under way is done anew later"
)
COMPILING_FIRST = "; a kernel is being compiled, which ends first and may take half a minute"

LAYERS_SHOWN = 10
SPARE_LINES = 4
"""Lines of a terminal that `shown` leaves free: the table's heading, and room for messages."""


class PlainProgress:
    """Prints lines when a run begins and ends, after its layers, and during long ones."""

    LAYER_SECONDS, TASK_SECONDS = 1.0, 60.0
    """The least seconds between the lines of two layers, and between two within a layer; in a
    search of cosets between two questions, and within one."""

    def __init__(self, file: TextIO | None = None, progress: Standing | None = None):
        self._file, self._progress = file, progress or Progress()
        self._shown_at, self._shown_state = 0.0, (None, None, None)
        self._said_compiling = False

    def __call__(self, event: Event) -> None:
        self._progress(event)
        if isinstance(event, Stopping):
            self._show(STOPPING + COMPILING_FIRST * (self._progress.compiling == Compiling()))
        elif isinstance(event, Compiling):
            if not (event.elsewhere or self._said_compiling):
                self._said_compiling = True
                self._show(COMPILING)
        elif isinstance(event, LayerFinished) and self._progress.storing:
            pass  # the others that were stored with it are told in the same moment
        elif news := self.news(self._progress):
            self._show(headline(event) if isinstance(event, STARTS) else news)

    def news(self, progress: Standing) -> str | None:
        """Return a line about a run, if there is something new and it is time for one."""
        now, state_now = time.monotonic(), (progress.state, progress.ended, progress.stage)
        if state_now[:2] == self._shown_state[:2]:
            least = self.TASK_SECONDS if state_now == self._shown_state else self.LAYER_SECONDS
            if progress.state != UNDER_WAY or now - self._shown_at < least:
                return None
        self._shown_at, self._shown_state = now, state_now
        return f"{time.strftime('%H:%M:%S')}  {line(progress)}"

    def _show(self, news: str) -> None:
        say(news, self._file)


class NotebookProgress(PlainProgress):
    """Shows a table and a chart in a notebook, and replaces them as the run goes on."""

    LAYER_SECONDS = TASK_SECONDS = 0.5
    _handle = None

    def _show(self, news: str) -> None:
        from IPython.display import HTML, display

        progress = self._progress
        html = run_html(title(progress), figures(progress), progress.counts)
        self._handle = self._handle or display(HTML(""), display_id=True)
        self._handle.update(HTML(html))


class LiveProgress(PlainProgress):
    """Shows the figures of a run in place, from its start to its end."""

    LAYER_SECONDS = TASK_SECONDS = float("inf")

    def __init__(self, console: Console, progress: Standing | None = None):
        super().__init__(progress=progress)
        self._live = Live(get_renderable=lambda: shown([self._progress], console), console=console)

    def _show(self, news: str) -> None:
        try:
            if self._progress.ended:
                self._live.stop()
            else:
                console = self._live.console
                console.print(fitted(news, console.width), soft_wrap=True)
                self._live.start(refresh=True)
        except OSError:  # the terminal is gone; the search goes on
            self._live.console.quiet = True


def shown(runs: Iterable[Standing], console: Console) -> Group:
    """Return the last layers of each run that is under way, as many as a screen has room for, a bar
    of the share that is done, and its figures; a line for any other run."""
    parts, runs = [], list(runs)
    for progress in runs:
        if progress.state != UNDER_WAY:
            parts.append(Text(fitted(line(progress), console.width)))
            continue
        named = [f"{name}: {text}" for name, text in figures(progress).items()]
        said = [Text(fitted(text, console.width)) for text in (title(progress), *named)]
        said[0].style = "bold"
        lines = sum(text.plain.count("\n") + 1 for text in said) + len(runs) - 1
        room = console.height - SPARE_LINES - lines - (progress.share is not None)
        rows = [
            [str(of.depth), f"{of.states:,}", span(of.seconds), rate(of.states, of.seconds)]
            for of in progress.layers[-max(1, min(LAYERS_SHOWN, room)) :]
        ]
        header = ("depth", "states", "time", "rate")
        parts.append(said[0])
        if rows:
            parts.append(fitting_table(header, rows, ("rate", "time"), console))
        if progress.share is not None:
            parts.append(share_bar(progress.share, console))
        parts += said[1:]
    return Group(*parts)


def noted(file: Path | str, note: Listener) -> Listener:
    """Return a listener that writes a file for people. If the system refuses that, it warns once,
    and the search goes on."""
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


@contextmanager
def listening(
    config: Config,
    storage: Storage,
    progress: type[Standing],
    listeners: Sequence[Listener],
    shown: bool | None,
) -> Iterator[list[Listener]]:
    """Yield the listeners to a run, for as long as it is under way: its display, those of the
    caller, and those that write its files for people.

    storage: its place. progress: the class that follows a run of its kind. shown: True for a
    display anywhere, False for none; by default only terminals and notebooks get one.
    """
    display = _display(shown, progress())
    start = noted(storage.place(ENVIRONMENT), StartLog(storage, config))
    log = noted(storage.place(LOG), EventLog(storage))
    with kept_page(storage, progress()) as page:
        displays = [display] if display else []
        yield [start, *displays, *listeners, log, page]


def _display(shown: bool | None, progress: Standing) -> Listener | None:
    """Return the display on standard error, or in a notebook; None if none is wanted."""
    if shown is False:
        return None
    if "IPython" in sys.modules:
        from IPython import get_ipython

        if getattr(get_ipython(), "kernel", None):  # its output is shown by a notebook
            return NotebookProgress(progress=progress)
    if sys.stderr is not None and is_live(console := console_on(sys.stderr)):
        return LiveProgress(console, progress)
    return PlainProgress(sys.stderr, progress) if shown else None


def watch(
    find: Callable[[], list[Storage]],
    interval: float,
    wait: Callable[[float], None] = time.sleep,
) -> list[Storage]:
    """Follow runs by their files until all are complete, on standard output, and return their
    places. A process that has completed a run still deletes files, so its end is awaited too.

    find: returns the places of the runs; it is asked again until one of them has begun, as a
    directory may turn out to hold several. A run that has not begun is awaited, or the search of
    God's number beside it, whichever begins first.
    """
    paths: list[Storage] = []
    runs: list[Standing] = []
    lines, console, table = [], console_on(), None
    if is_live(console):
        table = Live(get_renderable=lambda: shown(runs, console), console=console)
    with table or nullcontext():
        while True:
            if not any(progress.started for progress in runs):
                with suppress(*(InputError, CorruptRunError) if runs else ()):  # half made
                    if (found := find()) != paths:
                        paths, lines = found, [PlainProgress() for _ in found]
                        runs = [Progress(path.name) for path in found]
            for number, progress_known in enumerate(runs):
                if not progress_known.started:
                    paths[number] = begun_at(paths[number])
                path = paths[number]
                if not progress_known.complete and (
                    progress_known.started or LayerRun.exists(path)
                ):
                    runs[number] = _look(path, lambda: wait(interval))
                if table is None and (news := lines[number].news(runs[number])):
                    print(news, flush=True)
            if table:
                table.refresh()
            if all(progress.complete for progress in runs) and not any(map(is_written, paths)):
                return paths
            wait(interval)


def _look(path: Storage, pause: Callable[[], None]) -> Standing:
    """Return the progress of a run by its files; raises InputError if it is gone, CorruptRunError
    if it is damaged. While its files are being replaced it may look damaged, so it has three
    tries."""
    for _ in range(2):
        with suppress(InputError, CorruptRunError):
            return progress_of(open_run(path))
        if not path.is_folder():
            raise InputError(f"{path} is gone: the run was deleted")
        pause()
    return progress_of(open_run(path))
