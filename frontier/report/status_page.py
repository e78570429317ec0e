"""``status.html``: a run in a browser, while it is under way and afterwards.

The page reads nothing; it asks for itself again every few seconds while the run is under way.
"""

import sys
import threading
import time
from math import ceil, log10
from pathlib import Path

from frontier.report.console import say
from frontier.report.pages import page
from frontier.report.view import (
    NO_LAYER,
    View,
    describe_step,
    words_of_depth,
    words_of_end,
    words_of_left,
)
from frontier.search.events import Event, RunFinished, RunStarted, RunStopped
from frontier.store.files import write_text
from frontier.text import counted, percent, power, rate, size, span

NAME = "status.html"

REFRESH_SECONDS = 5
"""How often the page asks for itself again."""

RECENT = 5
"""The rate is that of so many layers."""

MOST_GUESSED = 400
"""Layers to come that are drawn."""


class StatusPage:
    """Keeps the page of a run as its events come, within a ``with``.

    A thread of its own writes it: events may be far apart, and the page tells the time left.
    """

    SECONDS = 3.0
    """It is not written more often; nor so soon, as many runs are done by then."""

    AGED_SECONDS = 10.0
    """It is written anew so often where nothing happens."""

    def __init__(self, folder: Path):
        self._path, self._view = folder / NAME, View()
        self._events = threading.Lock()
        self._news, self._written, self._warned = False, 0.0, False
        self._over = threading.Event()
        self._writer: threading.Thread | None = None

    def __call__(self, event: Event) -> None:
        with self._events:
            self._view(event)
            self._news = True
        if isinstance(event, RunStarted):
            self._writer = threading.Thread(target=self._keep, name=NAME, daemon=True)
            self._writer.start()
        elif isinstance(event, RunFinished | RunStopped):
            self._end()
            self._write()

    def __enter__(self) -> "StatusPage":
        return self

    def __exit__(self, *_) -> None:
        self._end()

    def _end(self) -> None:
        self._over.set()
        if self._writer:
            self._writer.join()

    def _keep(self) -> None:
        while not self._over.wait(self.SECONDS):
            if self._news or time.monotonic() - self._written >= self.AGED_SECONDS:
                self._write()

    def _write(self) -> None:
        try:
            with self._events:
                self._news = False
                text = status_page(self._view)
            write_text(self._path, text)
        except Exception as error:  # the search needs no page
            if not self._warned:
                said = error.strerror if isinstance(error, OSError) else repr(error)
                say(
                    f"warning: {self._path} cannot be written ({said}); the run goes on", sys.stderr
                )
            self._warned = True
        self._written = time.monotonic()


def status_page(view: View, now: float | None = None) -> str:
    """The page of a view, as HTML."""
    now = time.time() if now is None else now
    start = view.started
    return page(
        "status.html",
        name=start.name,
        title=start.title,
        path=start.path,
        state=view.state,
        reason=view.reason,
        under_way=view.ended is None,
        refresh=REFRESH_SECONDS,
        now=now,
        began=view.began,
        ended=view.when,
        dashboard=None if view.ended else start.dashboard,
        figures=_figures(view, now),
        step=None if view.ended else describe_step(view, now),
        **_chart(view),
    )


def _figures(view: View, now: float) -> list[tuple[str, str, str]]:
    """What is said in numbers: of each a name, the number, and what is to be added."""
    said = []
    if view.ended is None:
        left, recent = view.left(now), view.layers[-RECENT:]
        seconds = sum(layer.seconds for layer in recent)
        said.append(("time left", *words_of_left(left)))
        if (end := words_of_end(left, now))[0]:
            said.append(("ends", *end))
        if left:
            said.append(("last depth", *words_of_depth(left)))
    elif not view.complete:
        said.append(("time left", *words_of_left(view.left())))
    depth = ("–", NO_LAYER)
    if view.layers:
        depth = (str(view.depth), f"{view.layers[-1].states:,} there")
    said += [
        ("depth", *depth),
        ("states", f"{view.states:,}", _share(view)),
        ("time in layers", span(view.seconds), rate(view.states, view.seconds)),
    ]
    if view.ended is None:
        last = counted(len(recent), "layer")
        said += [
            ("rate", rate(sum(layer.states for layer in recent), seconds), f"last {last}"),
            ("workers", f"{view.started.workers:,}", ""),
        ]
    return [*said, ("layers on disk", size(view.disk), "")]


def _share(view: View) -> str:
    total = view.started.states
    return "all" if view.complete else f"{percent(view.states / total)} of {total:,}"


def _chart(view: View) -> dict:
    """The bars, on a logarithmic scale: known layers, guessed ones, and lines of powers of ten."""
    guess = [] if view.ended or not view.estimate else view.estimate.sizes[:MOST_GUESSED]
    known = [layer.states for layer in view.layers]
    decades = max(1, ceil(log10(max([*known, *guess, 1]) * 1.05)))
    step = ceil(decades / 5)

    def height(states: int) -> float:
        # A layer of one state is a bar still.
        return round(100 * (log10(states) + 0.12) / (decades + 0.12), 2)

    depths = len(known) + len(guess)
    every = next(n * 10**e for e in range(9) for n in (1, 2, 5) if depths <= 8 * n * 10**e)
    ticks = list(range(0, depths, every))
    if known and not guess:  # the last one is at the depth
        ticks = [depth for depth in ticks if depth < depths - 1 - 0.6 * every] + [depths - 1]
    return {
        "bars": [(depth, states, height(states)) for depth, states in enumerate(known)],
        "guess": [(len(known) + at, states, height(states)) for at, states in enumerate(guess)],
        "lines": [(power(n), height(10**n)) for n in range(0, decades + 1, step)],
        "ticks": [(depth, round(100 * (depth + 0.5) / depths, 3)) for depth in ticks],
    }
