"""The progress of a run in words, the same in a terminal, a notebook and a page."""

import time
from typing import TYPE_CHECKING

from frontier.runs.events import Asking, RunStarted, SearchStarted, Starting
from frontier.runs.progress import AnyProgress, Progress, SearchProgress
from frontier.runs.resolve import resume_command
from frontier.runs.time_left import TimeLeft
from frontier.text import (
    counted,
    moment,
    named,
    near,
    percent,
    rate,
    rough,
    rough_range,
    size,
    span,
)

if TYPE_CHECKING:
    from frontier.cosets.proof import Proof
    from frontier.cosets.questions import Farther
    from frontier.runs.coset_run import CosetRun

RESUME = "resume with"
"""The figure of a stopped run that is the command to resume it."""


def figures(progress: AnyProgress, now: float | None = None) -> dict[str, str]:
    """Return the figures of a run by name."""
    if isinstance(progress, SearchProgress):
        return _search_figures(progress, time.time() if now is None else now)
    now = time.time() if now is None else now
    start, layers = progress.started, progress.layers
    assert start is not None  # only a run that has begun has figures
    figures_known: dict[str, str] = {}
    if progress.reason:
        figures_known[RESUME] = resume_command(start)
    elif not progress.ended and progress.states < start.states:
        time_left = progress.left(now)
        figures_known["time left"] = time_left_words(time_left)
        if end := end_of(time_left, now):
            times = moment(end[1], now), moment(end[2], end[1])
            figures_known["ends"] = "–".join(dict.fromkeys(times))  # once if both are the same
        if time_left and time_left.least_depth < time_left.most_depth:
            figures_known["last depth"] = (
                f"about {time_left.depth} ({time_left.least_depth} to {time_left.most_depth})"
            )
    figures_known["depth"] = "– (no layer is committed yet)"
    if layers:
        figures_known["depth"] = f"{progress.depth} ({counted(layers[-1].states, 'state')} there)"
    states, seconds = progress.states, progress.seconds
    share = "all" if progress.complete else f"{percent(states / start.states)} of {start.states:,}"
    figures_known["states"] = f"{states:,} ({share})"
    if waiting := len(layers) - progress.committed:
        depths = f"depth {progress.committed}"
        depths = f"from {depths} on" if waiting > 1 else f"at {depths}"
        figures_known["not stored yet"] = f"{counted(waiting, 'layer')} ({depths})"
    figures_known["time in layers"] = f"{span(seconds)} ({rate(states, seconds)})"
    if progress.storing:
        figures_known["now"] = f"storing {counted(progress.storing, 'layer')}"
    elif words := compiling_words(progress, now):
        figures_known["now"] = words
    elif words := next_layer_words(progress, now):
        figures_known["next layer"] = f"{len(layers)} ({words})"
    figures_known["layers on disk"] = size(progress.disk)
    dashboard = None if progress.ended else start.dashboard
    more = {"written by": progress.holder, "dashboard": dashboard}
    return figures_known | {name: text for name, text in more.items() if text}


def time_left_words(left: TimeLeft | None) -> str:
    """Return the remaining time of a run in words."""
    if left is None:
        return "too early to tell"
    if left.most < 2:
        return "a moment"
    between = rough_range(left.least, left.most)
    if left.passed:
        return f"about {rough(left.seconds)} ({between})"
    rising = "the largest layers are still to come"
    return f"{between} ({rising if left.rising else 'among the largest layers so far'})"


def end_of(left: TimeLeft | None, now: float) -> tuple[float, float, float] | None:
    """Return when a run under way ends, in Unix time: the likely, the earliest and the latest
    time.

    Returns None if this is not known, or if the latest time is more than a hundred years away.
    """
    if left is None or left.most > 100 * 365 * 86400:
        return None
    return now + left.seconds, now + left.least, now + left.most


def next_layer_words(progress: Progress, now: float) -> str:
    """Return how much of the next layer is done, and how long it has taken so far."""
    task, words = progress.task, []
    if task:
        of = f"{task.done:,} of {counted(task.tasks, 'task')}"
        words.append(f"{of if task.tasks else counted(task.done, 'task')} done")
    if progress.ended is None:
        words.append(f"under way for {span(max(0.0, now - progress.since))}")
    return ", ".join(words)


def describe_state(progress: AnyProgress) -> str:
    """Return the state of a run and, if it is stopped, since when and why."""
    at = f" at {moment(progress.when)}" if progress.when else ""
    return f"{progress.state}{at}: {progress.reason}" if progress.reason else progress.state


def title(progress: AnyProgress) -> str:
    """Return the name of a run, its puzzle and its state."""
    if not progress.started:
        return f"{progress.name}: {describe_state(progress)}"
    return f"{named(progress.name, progress.started.title)}, {describe_state(progress)}"


def compiling_words(progress: AnyProgress, now: float) -> str | None:
    """Return how long kernels have been compiling, in words; None if they are not."""
    if progress.compiling is None:
        return None
    event, began = progress.compiling
    doing = "workers load or compile their kernels" if event.elsewhere else "compiling kernels"
    return f"{doing} ({span(max(0.0, now - began))})"


def line(progress: AnyProgress) -> str:
    """Return the progress in one line."""
    names = (
        "depth", "states", "not stored yet", "time in layers", "next layer", "God's number", "now",
        "time left",
    )  # fmt: skip
    figures_known = figures(progress) if progress.started else {}
    parts = [f"{name} {figures_known[name]}" for name in names if name in figures_known]
    if progress.ended and "time in layers" not in figures_known:
        parts.append(f"{span(progress.ended.elapsed)} since it was started")
    return "; ".join([title(progress), *parts])


def headline(start: Starting | RunStarted | SearchStarted) -> str:
    """Return what is searched and where, in one line."""
    states, depth = getattr(start, "states", None), getattr(start, "depth", -1)
    what = "God's number" if states is None else counted(states, "state")
    after = "" if depth < 0 else f" after depth {depth}"
    again = f", resuming{after}" if start.resumed else ""
    return f"{named(start.name, start.title)}, {what}, in {near(start.path)}{again}"


def start_details(start: RunStarted | SearchStarted) -> list[str]:
    """Return how a run is searched, as lines."""
    mode = getattr(start, "mode", "") or "coset by coset"
    details = [f"searched {mode}"]
    details += [counted(start.workers, "worker")] if start.workers > 1 else []
    return details + ([f"dashboard: {start.dashboard}"] if start.dashboard else [])


def _search_figures(progress: SearchProgress, now: float) -> dict[str, str]:
    """Return the figures of a search by name."""
    asking, run = progress.asking or Asking("nothing yet"), progress.run
    figures: dict[str, str] = {}
    if progress.reason and progress.started:
        figures[RESUME] = resume_command(progress.started)
    elif asking.portions and not progress.ended:
        time_left = "too early to tell"
        if asking.left is not None:
            time_left = f"about {rough(asking.left)}" if asking.left >= 2 else "a moment"
        figures["time left"] = f"{time_left} (for this question)"
    figures["God's number"] = bounds_words(asking.lower, asking.upper)
    if words := compiling_words(progress, now):
        figures["now"] = words
    elif asking.doing and not progress.complete:
        figures["next" if progress.ended else "now"] = _doing_words(asking)
    if run and run.proof:
        if layers := last_layers(run):
            counts = (f"{counted(len(some), 'position')} at depth {d}" for d, some in layers)
            figures["last layers"] = ", ".join(counts)
        figures["cosets searched"] = _cosets_words(run.proof)
    start = progress.started
    dashboard = start.dashboard if start and not progress.ended else None
    more = {"written by": progress.holder, "dashboard": dashboard}
    return figures | {name: text for name, text in more.items() if text}


def last_layers(run: "CosetRun") -> "list[tuple[int, list[Farther]]]":
    """Return (depth, positions) of the last known layers, the deepest first."""
    return list(run.proof.last_layers()) if run.proof else []


def bounds_words(lower: int | None, upper: int | None) -> str:
    """Return the bounds on God's number in words."""
    if upper is None:
        return "not known yet"
    return str(upper) if lower == upper else f"from {lower} to {upper}"


def _doing_words(asking: Asking) -> str:
    """Return the current step of a search, and how much of it is done."""
    done = [f"{asking.done / asking.portions:.0%}"] if asking.done else []
    if asking.positions:
        done.append(f"{counted(asking.positions, 'position')} found")
    return f"{asking.doing} ({', '.join(done)})" if done else asking.doing


def _cosets_words(proof: "Proof") -> str:
    answers = proof.answers.values()
    cosets = sum(answer.total("cosets") for answer in answers)
    return f"{cosets:,}, in {span(proof.seconds)} of processor time"
