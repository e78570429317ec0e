"""Displays of a run under way: a live block in a terminal, a table elsewhere, HTML in a notebook;
and the listeners to a run, one of which is its display."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from frontier.config.loading import Config
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
from frontier.report.html import run_html
from frontier.report.status import Rows, describe_state, headline, line, title
from frontier.report.status_page import kept_page
from frontier.runs.environment import NAME as ENVIRONMENT
from frontier.runs.environment import note_start
from frontier.runs.events import Compiling, Event, Listener, Started, Starting, Stopping
from frontier.runs.kind import open_run
from frontier.runs.log import NAME as LOG
from frontier.runs.log import EventLog
from frontier.runs.progress import UNDER_WAY, Progress, is_written, progress_of
from frontier.runs.resolve import begun_at
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage
from frontier.text import counted, fitted, rate, span

STOPPING = (
    "Finishing current tasks (usually a few seconds). Press Ctrl-C again to stop now; unfinished "
    "tasks will be redone."
)
WORKERS_COMPILE = "Workers load or compile their kernels (up to half a minute the first time) …"

LAYERS_SHOWN = 10
SPARE_LINES = 4
"""The lines of a terminal that `shown` leaves free, for the heading of the table and for
messages."""

IN_TABLE = {"depth", "states", "time in layers", "layers on disk"}
"""Figures that `shown` leaves out because its table or bar has them, or because nobody waits for
them."""


class PlainProgress:
    """Prints one line when a run begins, and then a table with a row for each layer or interval."""

    def __init__(self, file: TextIO | None, progress: Progress):
        self._file, self._progress, self._rows = file, progress, Rows()
        self._said: set[str] = set()

    def __call__(self, event: Event) -> None:
        self._progress(event)
        match event:
            case Starting() | Started():
                self._say_once(headline(event))
                if isinstance(event, Starting) and event.workers:
                    self._say(starting_words(event))
            case Compiling():
                self._say_once(WORKERS_COMPILE if event.elsewhere else COMPILING)
            case Stopping():
                self._say(STOPPING)
            case _:
                self._show()

    def _say_once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._say(message)

    def _say(self, message: str) -> None:
        say(message, self._file)

    def close(self) -> None:
        """Stop all updates, however the run has ended."""

    def _show(self) -> None:
        """Show the progress of the run if an update is due."""
        for row in self._rows.due(self._progress):
            say(row, self._file)


class NotebookProgress(PlainProgress):
    """Shows a table and a chart in a notebook, and replaces them as the run proceeds."""

    SECONDS = 0.5
    """The least number of seconds between two tables."""

    _handle, _shown_at = None, float("-inf")

    def _say(self, message: str) -> None:
        self._show(message)

    def _show(self, message: str | None = None) -> None:
        from IPython.display import HTML, display

        progress, now = self._progress, time.monotonic()
        if not (message or progress.ended) and now - self._shown_at < self.SECONDS:
            return
        self._shown_at = now
        facts = progress.figures(time.time()) if progress.started else {}
        html = run_html(
            message or title(progress), facts, [layer.states for layer in progress.known_layers()]
        )
        self._handle = self._handle or display(HTML(""), display_id=True)
        self._handle.update(HTML(html))


class LiveProgress(PlainProgress):
    """Shows a line when a run begins and, below it, the figures of the run, updated in place until
    it ends."""

    def __init__(self, console: Console, progress: Progress):
        super().__init__(None, progress)
        self._starting = "", 0.0  # the message until the run begins, and since when
        self._live = Live(get_renderable=self._block, console=console, transient=True)

    def __call__(self, event: Event) -> None:
        try:
            if isinstance(event, Starting):
                self._starting = starting_words(event), time.monotonic()
            elif isinstance(event, Compiling):
                self._progress(event)  # the figures show it
                return
            super().__call__(event)
        except OSError:  # the terminal is gone; the search continues
            self._live.console.quiet = True

    def _say(self, message: str) -> None:
        if message == self._starting[0]:  # the block shows it
            return
        console = self._live.console
        console.print(fitted(message, console.width), soft_wrap=True)
        self._live.start(refresh=True)

    def _show(self) -> None:
        if self._progress.ended:
            self._live.stop()

    def close(self) -> None:
        with suppress(OSError):  # the terminal is gone
            self._live.stop()

    def _block(self) -> Group:
        if self._progress.state == UNDER_WAY:
            return shown([self._progress], self._live.console, titled=False)
        said, since = self._starting
        return Group(*([Text(f"{said} {span(time.monotonic() - since)}")] if said else []))


def starting_words(event: Starting) -> str:
    """Return a sentence that says that workers are starting; "" if none are."""
    return f"Starting {counted(event.workers, 'worker')} …" if event.workers else ""


def shown(runs: Iterable[Progress], console: Console, titled: bool = True) -> Group:
    """Return, for each run under way, as many of its last layers as fit on a screen, a bar of the
    share done, and its figures; for any other run a line. titled: True to begin each run with its
    title."""
    parts: list[RenderableType] = []
    runs = list(runs)
    for progress in runs:
        if progress.state != UNDER_WAY:
            parts.append(Text(fitted(line(progress), console.width)))
            continue
        heading = [Text(fitted(title(progress), console.width), style="bold")] if titled else []
        said = [
            Text(fitted(f"{name}: {text}", console.width))
            for name, text in progress.figures(time.time()).items()
            if name not in IN_TABLE
        ]
        lines = sum(text.plain.count("\n") + 1 for text in heading + said) + len(runs) - 1
        room = console.height - SPARE_LINES - lines - (progress.share is not None)
        rows = [
            [str(of.depth), f"{of.states:,}", span(of.seconds), rate(of.states, of.seconds)]
            for of in progress.known_layers()[-max(1, min(LAYERS_SHOWN, room)) :]
        ]
        header = ("depth", "states", "time", "rate")
        parts += heading
        if rows:
            parts.append(fitting_table(header, rows, ("rate", "time"), console))
        if progress.share is not None:
            parts.append(share_bar(progress.share, console))
        parts += said
    return Group(*parts)


def say_details(event: Event) -> None:
    """Print on standard error how a search that is starting works."""
    if isinstance(event, Started):
        details = [f"searched {event.mode}"] if event.mode else []
        details += [counted(event.workers, "worker")] if event.workers > 1 else []
        details += [f"dashboard: {event.dashboard}"] if event.dashboard else []
        for detail in details:
            say(f"  {detail}", sys.stderr)


def noted(file: Path | str, note: Listener) -> Listener:
    """Return a listener that writes a file for people. If writing fails, it warns once, and the
    search continues."""
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
    progress: type[Progress],
    listeners: Sequence[Listener],
    shown: bool | None,
) -> Iterator[list[Listener]]:
    """Yield the listeners to a run while it is under way: its display, the listeners of the
    caller, and the listeners that write its files for people.

    storage: the storage of the run. progress: the class that follows a run of its kind. shown: True
    for a display anywhere, False for none; by default only terminals and notebooks have one.
    """
    display = _display(shown, progress())
    start = noted(storage.place(ENVIRONMENT), partial(note_start, storage, config))
    log = noted(storage.place(LOG), EventLog(storage))
    with kept_page(storage, progress()) as page, closing(display) if display else nullcontext():
        displays = [display] if display else []
        yield [start, *displays, *listeners, log, page]


def _display(shown: bool | None, progress: Progress) -> PlainProgress | None:
    """Return the display on standard error, or in a notebook; None if none is wanted."""
    if shown is False:
        return None
    if "IPython" in sys.modules:
        from IPython import get_ipython

        if getattr(get_ipython(), "kernel", None):  # a notebook shows the output
            return NotebookProgress(None, progress)
    if sys.stderr is not None and is_live(console := console_on(sys.stderr)):
        return LiveProgress(console, progress)
    return PlainProgress(sys.stderr, progress) if shown else None


def watch(
    find: Callable[[], list[Storage]], interval: float, wait: Callable[[float], None] = time.sleep
) -> list[Storage]:
    """Follow runs through their files until all are complete, report on standard output, and
    return their places. A process that has completed a run may still delete files, so `watch` also
    waits for the process to end.

    find: returns the places of the runs. It is called again until one of them has begun, because a
    directory may turn out to hold several runs. If a run has not begun, wait for it or for the
    search for God's number beside it, whichever begins first.
    """
    paths: list[Storage] = []
    runs: list[Progress] = []
    news, console, table = [], console_on(), None
    if is_live(console):
        table = Live(get_renderable=lambda: shown(runs, console), console=console)
    with table or nullcontext():
        while True:
            if not any(progress.started for progress in runs):
                with suppress(*(InputError, CorruptRunError) if runs else ()):  # half made
                    if (found := find()) != paths:
                        paths = found
                        runs = [Progress(path.name) for path in found]
                        names = [path.name if len(found) > 1 else None for path in found]
                        news = list(map(News, names))
            for number, progress_known in enumerate(runs):
                if not progress_known.started:
                    paths[number] = begun_at(paths[number])
                path = paths[number]
                if not progress_known.complete and (
                    progress_known.started or StoredRun.exists(path)
                ):
                    runs[number] = _look(path, lambda: wait(interval))
                if table is None:
                    for said in news[number].of(runs[number]):
                        print(said, flush=True)
            if table:
                table.refresh()
            if all(progress.complete for progress in runs) and not any(map(is_written, paths)):
                return paths
            wait(interval)


class News:
    """The news of a run that is watched through its files. name: as for `Rows`."""

    def __init__(self, name: str | None = None):
        self._rows, self._state = Rows(name), ""
        self._started: Started | None = None

    def of(self, progress: Progress) -> list[str]:
        """Return lines: the headline of the run when it begins, a row of the table if one is due,
        and the state when it changes to anything but under way."""
        lines, started, state = [], progress.started, describe_state(progress)
        if started and self._started is None:
            lines.append(headline(replace(started, resumed=False)))
        lines += self._rows.due(progress)
        if state != self._state and progress.state != UNDER_WAY:
            lines.append(f"{progress.name}: {state}")
        self._started, self._state = started, state
        return lines


def _look(path: Storage, pause: Callable[[], None]) -> Progress:
    """Return the progress of a run from its files; raises InputError if it is gone, CorruptRunError
    if it is damaged. A run whose files are being replaced may look damaged, so the files are read
    up to three times."""
    for _ in range(2):
        with suppress(InputError, CorruptRunError):
            return progress_of(open_run(path))
        if not path.is_folder():
            raise InputError(f"{path} is gone: the run was deleted")
        pause()
    return progress_of(open_run(path))
