"""How far a run is, by its events or by its files alone."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from frontier.forecast.time_left import TimeLeft, time_left
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
from frontier.store.ledger import LayerRecord
from frontier.store.lock import describe_holder, held_since, is_held, left_by
from frontier.store.objects import place_of
from frontier.store.run import RunStore

NOT_BEGUN, UNDER_WAY, STOPPED, COMPLETE = "not begun", "under way", "stopped", "complete"
"""The states of a run."""


class LayerTotals:
    """What follows from `layers`, which are those known from depth 0 on."""

    layers: Sequence

    @property
    def depth(self) -> int | None:
        """The depth of the last layer, None if there is none."""
        return len(self.layers) - 1 if self.layers else None

    @property
    def states(self) -> int:
        """The number of states in all layers."""
        return sum(layer.states for layer in self.layers)

    @property
    def seconds(self) -> float:
        """The seconds that all layers took."""
        return sum(layer.seconds for layer in self.layers)


@dataclass(eq=False)
class Progress(LayerTotals):
    """What is known of a run at a moment. It listens to the run's events.

    started: the event of the last start. layers: all committed layers, from depth 0. disk: the
    bytes of the layers on the disk. step, task: the last events of the layer under way; their
    number of tasks is 0 where it is not known. since, began: when the layer under way and the run
    were begun, in seconds of the epoch. ended: the event that ended the run, None while it is under
    way. when: the time of that, if it is known. holder: the process that writes the run, as its
    files name it.
    """

    started: RunStarted | None = None
    layers: list[LayerRecord] = field(default_factory=list)
    disk: int = 0
    step: LayerStarted | None = None
    task: TaskFinished | None = None
    since: float = field(default_factory=time.time)
    began: float = field(default_factory=time.time)
    ended: RunFinished | RunStopped | None = None
    when: float | None = None
    holder: str | None = None

    def __call__(self, event: Event, now: float | None = None) -> None:
        """Take note of an event that happens now."""
        now = time.time() if now is None else now
        match event:
            case RunStarted():
                vars(self).update(vars(Progress(event, since=now, began=now)))  # a run anew
                if event.resumed:
                    run = RunStore.open(place_of(event.path))
                    self.layers, self.disk = list(run.records), run.disk
            case LayerStarted():
                self.step, self.task, self.since = event, None, now
            case TaskFinished():
                self.task = event
            case LayerFinished():
                self.layers.append(event.layer)
                self.disk = event.disk
                self.step, self.task, self.since = None, None, now
            case RunFinished() | RunStopped():
                self.ended, self.when = event, now

    @property
    def state(self) -> str:
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
        """Why the run is stopped, if it is."""
        if self.state != STOPPED:
            return None
        if isinstance(self.ended, RunStopped):
            return self.ended.reason
        return f"depth {self.ended.depth} reached as asked"

    @property
    def estimate(self) -> TimeLeft | None:
        """The time left as of the last committed layer; None where it is too early to say."""
        if not (self.started and self.layers):
            return None
        # A depth that was asked for and is reached says nothing of what is left.
        until = None if isinstance(self.ended, RunFinished) else self.started.until
        # A copy: the terminal asks from another thread while layers are added.
        return time_left(list(self.layers), self.started.states, until)

    def left(self, now: float | None = None) -> TimeLeft | None:
        """The estimate, less the time that the layer under way has already had.

        For a stopped run it is the time that the run takes once it is resumed.
        """
        made = self.estimate
        if made is None:
            return None
        had = 0.0
        if self.ended is None:
            had = min(max(0.0, (time.time() if now is None else now) - self.since), made.first)
        seconds = (max(0.0, value - had) for value in made[:3])
        return TimeLeft(*seconds, *made[3:])


def reopened(run: RunStore) -> tuple[RunStore, str]:
    """A run as its files are now, and what it is: complete, under way or stopped.

    The lock is looked at first: what a process wrote before it let go of the lock is there
    afterwards, and only then the ledger is read again.
    """
    held = is_held(run.path / "lock")
    if not held and not run.complete:
        run = RunStore.open(run.path)
    return run, COMPLETE if run.complete else UNDER_WAY if held else STOPPED


def progress_of(run: RunStore) -> Progress:
    """The progress of a run by its files, while it may be under way in another process."""
    run, state = reopened(run)
    progress, lock = Progress(layers=list(run.records), disk=run.disk), run.path / "lock"
    log = read_last_start(run.path / "events.jsonl")
    lost = bool(run.records) and not log
    progress.began, progress.started = (
        log.pop(0) if log else (run.identity["created"], _start_of(run))
    )
    progress.since = progress.began
    with suppress(OSError):
        progress.since = max(progress.began, (run.path / "ledger.json").stat().st_mtime)
    if state == UNDER_WAY:
        progress.holder = describe_holder(lock)
        progress.began = held_since(lock) or progress.began
        if done := run.tasks_done():
            progress.task = TaskFinished(len(progress.layers), done, 0, 0)
        return progress
    progress.when, last = log[-1] if log else (progress.since, None)
    elapsed = progress.when - progress.began
    if state == COMPLETE:
        progress.ended = RunFinished(progress.depth, progress.states, True, elapsed)
    elif isinstance(last, RunFinished | RunStopped):
        progress.ended = last
    else:
        reason = _reason(run, lost, left_by(lock))
        progress.ended, progress.when = RunStopped(len(run.records) - 1, reason, elapsed), None
    return progress


def _reason(run: RunStore, lost: bool, host: str | None) -> str:
    """Why a run is not under way whose log does not say so.

    lost: whether its log is lost. host: the other host whose process held the run last, if any.
    """
    if host:
        return f"killed, or under way on host {host}, which cannot be seen from here"
    if not run.records:
        return "it ended during its start, before the first layer"
    return "its log is lost" if lost else "killed, or its machine failed"


def _start_of(run: RunStore) -> RunStarted:
    """The event of the start, where the log is lost."""
    identity = run.identity
    title, states = run.puzzle.title, identity["states"]
    return RunStarted(identity["name"], title, str(run.path), -1, 0, states, 0, False)
