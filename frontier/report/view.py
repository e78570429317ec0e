"""A run as people watch it: put together from its events, or from its files alone."""

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from frontier.forecast.timeleft import Estimate, Timed, time_left
from frontier.puzzles import puzzle_of
from frontier.report.log import read_last_start
from frontier.search.events import (
    Event,
    LayerFinished,
    LayerStarted,
    RunFinished,
    RunStarted,
    RunStopped,
    TaskFinished,
)
from frontier.store.lock import describe_holder, held_since, is_held, left_by
from frontier.store.run import LayerRecord, RunStore
from frontier.text import counted, moment, rough, span

NOT_BEGUN, UNDER_WAY, STOPPED, COMPLETE = "not begun", "under way", "stopped", "complete"
"""The states of a run."""

NO_LAYER = "no layer is committed yet"

LONGEST = 100 * 365 * 86400
"""Seconds; nobody asks for the hour when a run ends later than that."""


class Left(NamedTuple):
    """Seconds that are left, and the depth of the last layer: likely, least and most.

    passed: whether the largest layer is behind, for sure. rising: whether the last is the largest
    so far.
    """

    seconds: float
    least: float
    most: float
    depth: int
    least_depth: int
    most_depth: int
    passed: bool
    rising: bool = True


class View:
    """What is known of a run at a moment. It listens to a run's events.

    started: the last start. layers: all that are committed, from depth 0. finished: those since
    the last start, as their events told. disk: bytes of the layers there. step, task: of the layer
    under way; a task of 0 where nobody knows of how many. since: when that layer was begun, in
    seconds of the epoch. began: when the run was started last. ended: how it ended, None while it
    is under way. when: at which time that was, if known. holder: who writes it, if asked.
    """

    def __init__(self):
        self.started: RunStarted | None = None
        self.layers: list[Timed] = []
        self.finished: list[LayerFinished] = []
        self.disk = 0
        self.step: LayerStarted | None = None
        self.task: TaskFinished | None = None
        self.since = self.began = time.time()
        self.ended: RunFinished | RunStopped | None = None
        self.when: float | None = None
        self.holder: str | None = None
        self._estimate: tuple[tuple[int, int | None], Estimate | None] | None = None

    def __call__(self, event: Event, now: float | None = None) -> None:
        """Take note of an event that happens now."""
        now = time.time() if now is None else now
        match event:
            case RunStarted():
                self.__init__()
                self.started, self.since, self.began = event, now, now
                if event.resumed:
                    self.take(RunStore.open(Path(event.path)).records)
            case LayerStarted():
                self.step, self.task, self.since = event, None, now
            case TaskFinished():
                self.task = event
            case LayerFinished():
                self.layers.append(event)
                self.finished.append(event)
                self.disk = event.disk
                self.step, self.task, self.since = None, None, now
            case RunFinished() | RunStopped():
                self.ended, self.when = event, now

    def take(self, records: list[LayerRecord]) -> None:
        """Take note of layers that a ledger lists."""
        self.layers = list(records)
        self.disk = sum(record.bytes for record in records if record.stored)

    @property
    def depth(self) -> int | None:
        """Of the last committed layer, if there is one."""
        return len(self.layers) - 1 if self.layers else None

    @property
    def states(self) -> int:
        """Of all committed layers."""
        return sum(layer.states for layer in self.layers)

    @property
    def seconds(self) -> float:
        """That the committed layers took."""
        return sum(layer.seconds for layer in self.layers)

    @property
    def state(self) -> str:
        """One of the states at the top."""
        if self.started is None:
            return NOT_BEGUN
        if self.ended is None:
            return UNDER_WAY
        return COMPLETE if isinstance(self.ended, RunFinished) and self.ended.complete else STOPPED

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def reason(self) -> str | None:
        """Why it is stopped, if it is."""
        if self.state != STOPPED:
            return None
        if isinstance(self.ended, RunStopped):
            return self.ended.reason
        return f"depth {self.ended.depth} reached as asked"

    @property
    def estimate(self) -> Estimate | None:
        """As of the last committed layer; None where it is too early to tell."""
        if not (self.started and self.layers):
            return None
        # The depth that was asked for and is reached says nothing of what is left.
        until = None if isinstance(self.ended, RunFinished) else self.started.until
        known = len(self.layers), until
        if self._estimate is None or self._estimate[0] != known:
            # The terminal asks from a thread of its own, while layers are added.
            made = time_left(self.layers[: known[0]], self.started.states, until)
            self._estimate = known, made
        return self._estimate[1]

    def left(self, now: float | None = None) -> Left | None:
        """The estimate, less the time that the layer under way has already had.

        Of a run that is stopped: what it will take once it is resumed.
        """
        made = self.estimate
        if made is None:
            return None
        had = 0.0
        if self.ended is None:
            had = min(max(0.0, (time.time() if now is None else now) - self.since), made.first)
        endings = made.likely, made.least, made.most
        seconds = [max(0.0, ending.seconds - had) for ending in endings]
        return Left(*seconds, *(ending.depth for ending in endings), made.passed, made.rising)


def words_of_left(left: Left | None) -> tuple[str, str]:
    """How long it takes, and how sure that is."""
    if left is None:
        return "too early to tell", ""
    if left.most < 2:
        return "a moment", ""
    likely, least, most = map(rough, (left.seconds, left.least, left.most))
    if left.passed:
        return f"about {likely}", "" if least == most else f"{least} to {most}"
    where = (
        "the largest layers are still to come" if left.rising else "among the largest layers so far"
    )
    return f"{least} to {most}", where


def end_of(left: Left | None, now: float) -> tuple[float, float, float] | None:
    """When a run under way ends, in seconds of the epoch: likely, least and most."""
    if left is None or left.most > LONGEST:
        return None
    return now + left.seconds, now + left.least, now + left.most


def words_of_end(left: Left | None, now: float) -> tuple[str, str]:
    """At what time of day a run under way ends, and how sure that is; empty if it cannot be said,
    and where it is but a moment."""
    end = end_of(left, now)
    if end is None or left.most < 2:
        return "", ""
    likely, least = moment(end[0], now), moment(end[1], now)
    most = moment(end[2], end[1])  # with its date if it is another than that of the least
    if left.passed:
        return f"about {likely}", "" if least == most else f"{least}–{most}"
    return f"between {least} and {most}", ""


def words_of_depth(left: Left) -> tuple[str, str]:
    """The depth that the search is likely to reach, and how sure that is."""
    least, most = left.least_depth, left.most_depth
    return f"about {left.depth}", f"{least} to {most}" if least < most else ""


def in_a_line(words: tuple[str, str]) -> str:
    """What is said, and how sure that is."""
    said, sure = words
    return f"{said} ({sure})" if sure else said


def describe_step(view: View, now: float | None = None) -> str:
    """What is being done."""
    step, task = view.step, view.task
    if view.states >= view.started.states:
        return "all states are found; making sure and closing"
    elapsed = span(max(0.0, (time.time() if now is None else now) - view.since))
    if step is None and task is None:
        return f"layer {len(view.layers)} under way for {elapsed}"
    if task and not task.tasks:
        return f"layer {task.depth}: {counted(task.done, 'task')} done, {elapsed}"
    if task:
        of = f"{task.done:,} of {counted(task.tasks, 'task')}, {counted(task.states, 'state')}"
        return f"layer {task.depth}: {of}, {elapsed}"
    if step.tasks is None:
        return f"from layer {step.depth} on: under way for {elapsed}"
    return f"layer {step.depth}: {counted(step.tasks, 'task')}, under way for {elapsed}"


def describe_state(view: View) -> str:
    """The state, and by whom it is written, or since when and why it is stopped."""
    if view.holder:
        return f"{view.state}, by {view.holder}"
    if view.state != STOPPED:
        return view.state
    at = f" at {moment(view.when)}" if view.when else ""
    return f"{view.state}{at}: {view.reason}"


def state_of(run: RunStore) -> tuple[RunStore, str]:
    """A run as it stands, and its state.

    The lock is asked first: what a process wrote before it let go is there afterwards, and then
    the ledger is read again.
    """
    held = is_held(run.path / "lock")
    if not held and not run.complete:
        run = RunStore.open(run.path)
    return run, COMPLETE if run.complete else UNDER_WAY if held else STOPPED


def view_of(run: RunStore) -> View:
    """A run as its files tell it, while it may be under way in another process."""
    run, state = state_of(run)
    view, lock = View(), run.path / "lock"
    log = read_last_start(run.path / "events.jsonl")
    lost = bool(run.records) and not log
    view.take(run.records)
    view.began, view.started = log.pop(0) if log else (run.identity["created"], _start_of(run))
    view.finished = _finished(view, [event for _, event in log])
    view.since = view.began
    with suppress(OSError):
        view.since = max(view.began, (run.path / "ledger.json").stat().st_mtime)
    if state == UNDER_WAY:
        view.holder = describe_holder(lock)
        view.began = held_since(lock) or view.began
        if done := run.tasks_done():
            view.task = TaskFinished(len(view.layers), done, 0, 0)
        return view
    when, last = log[-1] if log else (view.since, None)
    view.when = when
    if state == COMPLETE:
        view.ended = RunFinished(view.depth, view.states, True, when - view.began)
    elif isinstance(last, RunFinished | RunStopped):
        view.ended = last
    else:
        reason = "its log is lost" if lost else "killed, or its machine failed"
        if not view.layers:
            reason = "it ended during its start, before the first layer"
        if host := left_by(lock):
            reason = f"killed, or under way on host {host}, which cannot be seen from here"
        view.ended, view.when = RunStopped(len(view.layers) - 1, reason, when - view.began), None
    return view


def _finished(view: View, events: list[Event]) -> list[LayerFinished]:
    """The layers since the start, by the log where it lists them, else by the ledger."""
    logged = {event.depth: event for event in events if isinstance(event, LayerFinished)}
    finished, so_far, elapsed = [], 0, 0.0
    for record in view.layers:
        so_far += record.states
        if record.depth <= view.started.depth:
            continue
        elapsed += record.seconds
        event = LayerFinished(
            record.depth, record.states, so_far, record.form, record.seconds, elapsed, view.disk,
            record.bytes,
        )  # fmt: skip
        finished.append(logged.get(record.depth, event))
    return finished


def _start_of(run: RunStore) -> RunStarted:
    """What the log would say, where it is lost."""
    identity = run.identity
    title, states = puzzle_of(identity["puzzle"]).title, identity["states"]
    return RunStarted(identity["name"], title, str(run.path), -1, 0, states, 0, False)
