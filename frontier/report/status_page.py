"""``status.html``: a run in a browser, while it is under way and afterwards.

The page reads no other file; while the run is under way, the page reloads every few seconds.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, log10

from frontier.report.console import warn_unwritten
from frontier.report.html import page
from frontier.report.status import describe_state
from frontier.runs.events import Listener
from frontier.runs.progress import BEAT as NAME
from frontier.runs.progress import RESUME, Progress
from frontier.storage.places import Place, storage_at
from frontier.text import power

SECONDS = 3.0
"""The seconds between two versions of the page. A shorter run writes it only at the end."""


@contextmanager
def kept_page(place: Place, progress: Progress) -> Iterator[Listener]:
    """Yield a listener that writes the page of a run every few seconds and at the end. progress:
    follows the run.

    A thread writes the page, because events may be far apart and the page shows the remaining time.
    """
    storage, over = storage_at(place), threading.Event()

    def keep() -> None:
        last = warned = False
        while not last:
            last = over.wait(SECONDS)
            try:
                if progress.started:
                    storage.write(NAME, status_page(progress).encode())
            except Exception as error:  # the search continues without a page
                if not warned:
                    warn_unwritten(storage.place(NAME), error)
                warned = True

    writer = threading.Thread(target=keep, name=NAME, daemon=True)
    writer.start()
    try:
        yield progress
    finally:
        over.set()
        writer.join()


def status_page(progress: Progress, now: float | None = None) -> str:
    """Return the page of a run, as HTML."""
    now = time.time() if now is None else now
    coming = progress.coming(now)[:400]  # a puzzle may have thousands of thin layers
    layers = progress.known_layers()
    states = [*(layer.states for layer in layers), *coming]
    decades = max(1, ceil(log10(max([*states, 1]) * 1.05)))

    def height(states: int) -> float:
        # On a logarithmic scale on which a layer of one state still has a bar.
        return round(100 * (log10(states) + 0.12) / (decades + 0.12), 2)

    return page(
        "status.html",
        progress=progress,
        known=len(layers),
        figures=progress.figures(now),
        resume=RESUME,
        state=describe_state(progress),
        now=now,
        bars=[(number, height(number)) for number in states],
        lines=[(power(n), height(10**n)) for n in range(0, decades + 1, ceil(decades / 5))],
    )
