"""How far a run is, by its events or by its files alone."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from frontier.cosets.store import CosetRun
from frontier.forecast.time_left import TimeLeft, time_left
from frontier.report.log import read_last_start
from frontier.report.search_progress import SearchProgress, search_progress_of
from frontier.report.standing import (
    COMPLETE,
    STOPPED,
    UNDER_WAY,
    Standing,
    is_under_way,
    untold_reason,
)
from frontier.search import events
from frontier.storage.lock import describe_holder, held_since
from frontier.store.directory import LEDGER
from frontier.store.ledger import LayerRecord
from frontier.store.run import RunStore


class LayerTotals:
    """The totals over `layers`, which are the known layers from depth 0 on."""

    layers: Sequence

    @property
    def depth(self) -> int | None:
        """The depth of the last layer, None if there is none; God's number of the goal, if the run
        is complete."""
        return len(self.layers) - 1 if self.layers else None

    @property
    def counts(self) -> list[int]:
        """The states of each layer, from depth 0."""
        return [layer.states for layer in self.layers]

    @property
    def states(self) -> int:
        """The number of states in all layers."""
        return sum(self.counts)

    @property
    def seconds(self) -> float:
        """The seconds that all layers took."""
        return sum(layer.seconds for layer in self.layers)


@dataclass(eq=False)
class Progress(LayerTotals, Standing):
    """What is known of a run by layers at a moment. It listens to the run's events.

    layers: all committed ones, from depth 0. disk: the bytes of the layers on the disk. task: the
    tasks done of the next layer, None if not known; its number of tasks is 0 if only that is not
    known. since, began: when the next layer and the run were begun, in Unix time. Only a progress
    that was read from files has run, the run as these were then, and holder, the process that
    writes it.
    """

    name: str = ""
    started: events.RunStarted | None = None
    layers: list[LayerRecord] = field(default_factory=list)
    disk: int = 0
    task: events.TaskFinished | None = None
    since: float = 0.0
    began: float = 0.0
    ended: events.RunFinished | events.RunStopped | None = None
    when: float | None = None
    run: RunStore | None = None
    holder: str | None = None

    def __call__(self, event: events.Event, now: float | None = None) -> None:
        """Take note of an event that happens now."""
        now = time.time() if now is None else now
        match event:
            case events.RunStarted():
                run = RunStore.open(event.path) if event.resumed else None
                layers, disk = (list(run.records), run.disk) if run else ([], 0)
                anew = Progress(event.name, event, layers, disk, since=now, began=now)
                vars(self).update(vars(anew))
            case events.LayerStarted(depth, tasks):
                self.task = None if tasks is None else events.TaskFinished(depth, 0, tasks, 0)
                self.since = now
            case events.TaskFinished():
                self.task = event
            case events.LayerFinished(layer, disk=disk):
                self.layers.append(layer)
                self.disk, self.task, self.since = disk, None, now
            case events.RunFinished(depth, _, False, elapsed):
                self(events.RunStopped(depth, f"depth {depth} reached as asked", elapsed), now)
            case events.RunFinished() | events.RunStopped():
                self.ended, self.when = event, now

    @property
    def stage(self) -> int | None:
        """The depth of the last layer."""
        return self.depth

    def left(self, now: float) -> TimeLeft | None:
        """The time left, less what the layer under way has already taken; None where it is too
        early to say. For a stopped run it is the time that the run takes once it is resumed."""
        layers = list(self.layers)  # a copy, as a display asks from another thread
        if not layers:
            return None
        until = self.started.until
        if until is not None and until < len(layers):
            until = None  # once it is reached, it says nothing of what is left
        made = time_left(layers, self.started.states, until)
        if made is None or self.ended:
            return made
        had = min(max(0.0, now - self.since), made.first)
        return TimeLeft(*(max(0.0, seconds - had) for seconds in made[:3]), *made[3:])


def progress_of(run: RunStore | CosetRun) -> Progress | SearchProgress:
    """The progress of a run by its files, while it may be under way in another process.

    The lock is looked at first: if it is free, all that its last holder wrote is there, and only
    then the ledger is read again. Where there are no locks, the log and the status page tell.
    """
    if isinstance(run, CosetRun):
        return search_progress_of(run)
    storage, lock = run.storage, run.storage.lock_file
    held = is_under_way(storage)
    if not held and not run.complete:
        run = RunStore.open(storage)
    state = COMPLETE if run.complete else UNDER_WAY if held else STOPPED
    log, about = read_last_start(storage), run.identity
    name, title, place = about["name"], run.puzzle.title, str(run.path)
    lost = events.RunStarted(name, title, place, -1, 0, about["states"], 0, False)
    began, started = log[0] if log else (about["created"], lost)
    progress = Progress(name, started, list(run.records), run.disk, began=began, run=run)
    progress.since = began
    with suppress(FileNotFoundError):  # in an object store, if the run was stopped as it began
        progress.since = max(began, storage.modified(LEDGER))
    if state != COMPLETE and (done := run.tasks_done()):
        progress.task = events.TaskFinished(len(progress.layers), done, 0, 0)
    if state == UNDER_WAY:
        if lock:
            progress.holder, progress.began = describe_holder(lock), held_since(lock) or began
        return progress
    if len(log) > 1:
        progress(log[-1][1], log[-1][0])
    elapsed = progress.since - began
    if state == COMPLETE and not progress.complete:
        progress(events.RunFinished(progress.depth, progress.states, True, elapsed), progress.since)
    elif state != progress.state:  # the log has no end of the run, or one that is out of date
        reason = untold_reason(log, lock)
        progress.ended = events.RunStopped(len(run.records) - 1, reason, elapsed)
        progress.when = None
    return progress
