"""``status.html``: a run in a browser, while it is under way and afterwards.

The page reads nothing; while the run is under way it loads itself again every few seconds.
"""

import sys
import threading
import time
from math import ceil, log10

from frontier.report.console import say
from frontier.report.html import page
from frontier.report.progress import Progress
from frontier.report.progress_text import describe_step, figures
from frontier.search.events import Event, RunFinished, RunStarted, RunStopped
from frontier.store.files import write_text
from frontier.store.objects import Place
from frontier.text import power

NAME = "status.html"

REFRESH_SECONDS = 5
"""The seconds after which the page loads itself again."""

MOST_GUESSED = 400
"""The number of layers to come that are drawn, at most."""


class StatusPage:
    """Writes the page of a run every few seconds, within a ``with``, and at the end of the run.

    A thread writes it, as events may be far apart and the page names the time left.
    """

    SECONDS = 3.0
    """The seconds between two writings of the page; a shorter run has it at the end alone."""

    def __init__(self, folder: Place):
        self._path, self._progress = folder / NAME, Progress()
        self._noting, self._over = threading.Lock(), threading.Event()
        self._warned = False
        self._writer = threading.Thread(target=self._keep, name=NAME, daemon=True)

    def __call__(self, event: Event) -> None:
        with self._noting:
            self._progress(event)
        if isinstance(event, RunStarted):
            self._writer.start()
        elif isinstance(event, RunFinished | RunStopped):
            self.__exit__()
            self._write()

    def __enter__(self) -> "StatusPage":
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        if self._writer.is_alive():
            self._writer.join()

    def _keep(self) -> None:
        while not self._over.wait(self.SECONDS):
            self._write()

    def _write(self) -> None:
        try:
            with self._noting:
                text = status_page(self._progress)
            write_text(self._path, text)
        except Exception as error:  # the search needs no page
            reason = error.strerror if isinstance(error, OSError) else repr(error)
            if not self._warned:
                warning = f"warning: {self._path} cannot be written ({reason})"
                say(warning + ("" if self._over.is_set() else "; the run goes on"), sys.stderr)
            self._warned = True


def status_page(progress: Progress, now: float | None = None) -> str:
    """The page of a run, as HTML."""
    now = time.time() if now is None else now
    return page(
        "status.html",
        progress=progress,
        start=progress.started,
        refresh=REFRESH_SECONDS,
        now=now,
        figures=figures(progress, now),
        step=None if progress.ended else describe_step(progress, now),
        **_chart(progress),
    )


def _chart(progress: Progress) -> dict:
    """The bars on a logarithmic scale: known layers, guessed ones, and lines at powers of ten."""
    estimate = None if progress.ended else progress.estimate
    guess = estimate.sizes[:MOST_GUESSED] if estimate else []
    known = [layer.states for layer in progress.layers]
    decades = max(1, ceil(log10(max([*known, *guess, 1]) * 1.05)))

    def height(states: int) -> float:
        # A layer of one state still has a bar.
        return round(100 * (log10(states) + 0.12) / (decades + 0.12), 2)

    depths = len(known) + len(guess)
    every = next(n * 10**e for e in range(9) for n in (1, 2, 5) if depths <= 8 * n * 10**e)
    ticks = list(range(0, depths, every))
    if known and not guess:  # the last tick is at the depth of the run
        ticks = [depth for depth in ticks if depth < depths - 1 - 0.6 * every] + [depths - 1]
    return {
        "bars": [(depth, states, height(states)) for depth, states in enumerate(known)],
        "guess": [(len(known) + at, states, height(states)) for at, states in enumerate(guess)],
        "lines": [(power(n), height(10**n)) for n in range(0, decades + 1, ceil(decades / 5))],
        "ticks": [(depth, round(100 * (depth + 0.5) / depths, 3)) for depth in ticks],
    }
