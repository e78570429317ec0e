"""The progress of a run in words: the same in a terminal, in a notebook and on a page."""

import time

from frontier.report.progress import STOPPED, Progress, TimeLeft
from frontier.search.events import RunFinished, RunStarted, RunStopped
from frontier.text import counted, moment, percent, rate, rough, size, span

NO_LAYER = "no layer is committed yet"

LONGEST = 100 * 365 * 86400
"""No time of day is named for a run that ends more than this many seconds from now."""

RECENT = 5
"""The rate of a run under way is that of this many last layers."""

Statement = tuple[str, str]
"""A statement and an addition to it, such as how sure it is; "" where there is none."""


def figures(progress: Progress, now: float | None = None) -> dict[str, Statement]:
    """What is known of a run in numbers, by the name of each number."""
    now = time.time() if now is None else now
    start, layers, found = progress.started, progress.layers, {}
    if not progress.complete and progress.states < start.states:
        left = progress.left(now)
        found["time left"] = time_left_words(left)
        if progress.ended:
            text, sure = found["time left"]
            found["time left"] = text, ", ".join(filter(None, [sure, "once it is resumed"]))
        elif (ends := end_words(left, now))[0]:
            found["ends"] = ends
        if left:
            low, high = left.least_depth, left.most_depth
            found["last depth"] = f"about {left.depth}", f"{low} to {high}" if low < high else ""
    found["depth"] = "–", NO_LAYER
    if layers:
        found["depth"] = str(progress.depth), f"{counted(layers[-1].states, 'state')} there"
    share = f"{percent(progress.states / start.states)} of {start.states:,}"
    found["states"] = f"{progress.states:,}", "all" if progress.complete else share
    found["time in layers"] = span(progress.seconds), rate(progress.states, progress.seconds)
    if progress.ended is None:
        last = layers[-RECENT:]
        states, seconds = (sum(getattr(of, key) for of in last) for key in ("states", "seconds"))
        found["rate"] = rate(states, seconds), f"last {counted(len(last), 'layer')}"
        if start.workers > 1:
            found["workers"] = f"{start.workers:,}", ""
    found["layers on disk"] = size(progress.disk), ""
    return found


def in_a_line(statement: Statement) -> str:
    """A statement with its addition in brackets."""
    text, more = statement
    return f"{text} ({more})" if more else text


def time_left_words(left: TimeLeft | None) -> Statement:
    """How long a run still takes."""
    if left is None:
        return "too early to tell", ""
    if left.most < 2:
        return "a moment", ""
    likely, least, most = map(rough, (left.seconds, left.least, left.most))
    if left.passed:
        return f"about {likely}", "" if least == most else f"{least} to {most}"
    largest = "the largest layers are still to come"
    return f"{least} to {most}", largest if left.rising else "among the largest layers so far"


def end_of(left: TimeLeft | None, now: float) -> tuple[float, float, float] | None:
    """When a run under way ends, in seconds of the epoch: likely, least and most."""
    if left is None or left.most > LONGEST:
        return None
    return now + left.seconds, now + left.least, now + left.most


def end_words(left: TimeLeft | None, now: float) -> Statement:
    """The time of day when a run under way ends; empty if it is not known or but a moment away."""
    end = end_of(left, now)
    if end is None or left.most < 2:
        return "", ""
    likely, least = moment(end[0], now), moment(end[1], now)
    most = moment(end[2], end[1])  # with its date if it is another day than that of the least
    if left.passed:
        return f"about {likely}", "" if least == most else f"{least}–{most}"
    return f"between {least} and {most}", ""


def describe_step(progress: Progress, now: float | None = None) -> str:
    """What the run is doing."""
    step, task = progress.step, progress.task
    if progress.states >= progress.started.states:
        return "all states are found; making sure and closing"
    elapsed = span(max(0.0, (time.time() if now is None else now) - progress.since))
    if step is None and task is None:
        return f"layer {len(progress.layers)} under way for {elapsed}"
    if task and not task.tasks:
        return f"layer {task.depth}: {counted(task.done, 'task')} done, {elapsed}"
    if task:
        of = f"{task.done:,} of {counted(task.tasks, 'task')}, {counted(task.states, 'state')}"
        return f"layer {task.depth}: {of}, {elapsed}"
    if step.tasks is None:
        return f"from layer {step.depth} on: under way for {elapsed}"
    return f"layer {step.depth}: {counted(step.tasks, 'task')}, under way for {elapsed}"


def describe_state(progress: Progress) -> str:
    """Whether a run is complete; who writes it, or since when and why it is stopped."""
    if progress.holder:
        return f"{progress.state}, by {progress.holder}"
    if progress.state != STOPPED:
        return progress.state
    at = f" at {moment(progress.when)}" if progress.when else ""
    return f"{progress.state}{at}: {progress.reason}"


def headline(start: RunStarted) -> str:
    """What is searched and where, in one line or two; how many workers, if there are several."""
    again = f", resuming after depth {start.depth}" if start.resumed else ""
    states = counted(start.states, "state")
    workers = f"; {counted(start.workers, 'worker')}" if start.workers > 1 else ""
    way = f"\nlayers are searched {start.way}" if start.way else ""
    return f"{start.name}: {start.title}, {states}{workers}; {start.path}{again}{way}"


def describe_end(event: RunFinished | RunStopped) -> str:
    """How the run has ended."""
    if isinstance(event, RunStopped):
        where = f"after depth {event.depth}" if event.depth >= 0 else "before the first layer"
        return f"stopped {where} ({event.reason}), {span(event.elapsed)}"
    found = f"{counted(event.states, 'state')}, {span(event.elapsed)} since it was started"
    if not event.complete:
        return f"depth {event.depth} reached as asked: {found}"
    return f"complete: depth {event.depth}, {found}"
