"""The state of a run in a line, the same in a terminal, a notebook and a page."""

import time

from frontier.runs.events import Started, Starting
from frontier.runs.progress import Progress
from frontier.text import counted, moment, named, near, span


def describe_state(progress: Progress) -> str:
    """Return the state of a run and, if it is stopped, since when and why."""
    at = f" at {moment(progress.when)}" if progress.when else ""
    return f"{progress.state}{at}: {progress.reason}" if progress.reason else progress.state


def title(progress: Progress) -> str:
    """Return the name of a run, its puzzle and its state."""
    if not progress.started:
        return f"{progress.name}: {describe_state(progress)}"
    return f"{named(progress.name, progress.started.title)}, {describe_state(progress)}"


def line(progress: Progress) -> str:
    """Return the progress in one line."""
    names = (
        "depth", "states", "not stored yet", "time in layers", "next layer", "God's number", "now",
        "time left",
    )  # fmt: skip
    figures = progress.figures(time.time()) if progress.started else {}
    parts = [f"{name} {figures[name]}" for name in names if name in figures]
    if progress.ended and "time in layers" not in figures:
        parts.append(f"{span(progress.ended.elapsed)} since it was started")
    return "; ".join([title(progress), *parts])


def headline(start: Starting | Started) -> str:
    """Return what is searched and where, in one line."""
    what = "God's number" if start.states is None else counted(start.states, "state")
    after = "" if start.depth < 0 else f" after depth {start.depth}"
    again = f", resuming{after}" if start.resumed else ""
    return f"{named(start.name, start.title)}, {what}, in {near(start.path)}{again}"


def start_details(start: Started) -> list[str]:
    """Return how a run is searched, as lines."""
    details = [f"searched {start.mode}"] if start.mode else []
    details += [counted(start.workers, "worker")] if start.workers > 1 else []
    return details + ([f"dashboard: {start.dashboard}"] if start.dashboard else [])
