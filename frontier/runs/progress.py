"""The progress of a run, by layers or by cosets, from its events or from its files alone: the work
done, and whether the run is under way, or how it ended."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from frontier.layers.record import LayerRecord
from frontier.runs import events
from frontier.runs.directory import LEDGER
from frontier.runs.kinds import open_run
from frontier.runs.layer_run import LayerRun
from frontier.runs.log import ENDS, STARTS, LastStart, read_last_start
from frontier.runs.stored_run import StoredRun
from frontier.runs.time_left import TimeLeft, time_left
from frontier.storage.base import Storage
from frontier.storage.lock import describe_holder, held_since, is_held, left_by

if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun

NOT_BEGUN, UNDER_WAY, STOPPED, COMPLETE = "not begun", "under way", "stopped", "complete"
"""The possible conditions of a run."""

PAGE, FRESH_SECONDS = "status.html", 60.0
"""The status page, and the greatest age in seconds at which it indicates that its run is under
way."""

FINISHED = events.RunFinished | events.SearchFinished


RunT = TypeVar("RunT", bound=StoredRun)
StartT = TypeVar("StartT", events.RunStarted, events.SearchStarted)


@dataclass(eq=False)
class Standing(Generic[RunT, StartT]):
    """The known progress of a run of either kind at a given moment. It listens to the events of the
    run.

    name: the name of the run. started: the event of the last start, None if the run has not begun.
    began, since: the Unix times when the run began, and when the work under way began. ended: the
    event that ended the run, None while it is under way. when: the Unix time of that event, None if
    not known. compiling: the event that says that kernels are being made ready, and its time; None
    after the next event. run, holder: the run as it was read from its files, and the process that
    writes it; None if no files were read.
    """

    name: str = ""
    started: StartT | None = None
    began: float = 0.0
    since: float = 0.0
    ended: events.End | None = None
    when: float | None = None
    compiling: tuple[events.Compiling, float] | None = None
    run: RunT | None = None
    holder: str | None = None

    def __call__(self, event: events.Event, now: float | None = None) -> None:
        """Record an event that happens now."""
        now = time.time() if now is None else now
        if isinstance(event, STARTS):
            started: Any = event  # of the kind of this run
            vars(self).update(vars(type(self)(event.name, started, began=now, since=now)))
        elif isinstance(event, ENDS):
            self.ended, self.when = event, now
        if isinstance(event, events.Compiling):
            before = self.compiling
            self.compiling = before if before and before[0] == event else (event, now)
        elif not isinstance(event, events.LayerStarted | events.Stopping):
            self.compiling = None
        self.note(event, now)

    def note(self, event: events.Event, now: float) -> None:
        """Update this from an event of this kind of run."""
        raise NotImplementedError

    @property
    def source(self) -> RunT:
        """The run from which this was read."""
        assert self.run is not None
        return self.run

    def read(self) -> None:
        """Update this from the files of `run`."""
        raise NotImplementedError

    @staticmethod
    def untold_start(run: RunT) -> StartT:
        """Return a start event for a run whose log has none."""
        raise NotImplementedError

    def end(self, reason: str | None, elapsed: float) -> events.End:
        """Return the event that ends the run in the state that its files show. reason: why it is
        stopped; None if it is complete."""
        raise NotImplementedError

    @property
    def state(self) -> str:
        if self.ended:
            return COMPLETE if isinstance(self.ended, FINISHED) else STOPPED
        return UNDER_WAY if self.started else NOT_BEGUN

    @property
    def share(self) -> float | None:
        """The share of the work under way that is done, as a progress bar shows it; None if not
        known."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def reason(self) -> str | None:
        """Why the run is stopped, if it is."""
        if isinstance(self.ended, events.RunStopped | events.SearchStopped):
            return self.ended.reason
        return None


class LayerTotals:
    """The totals over `layers`, the known layers in order from depth 0."""

    layers: Sequence

    @property
    def depth(self) -> int | None:
        """The depth of the last layer, None if there is no layer. In a complete run, that depth is
        God's number of the goal."""
        return len(self.layers) - 1 if self.layers else None

    @property
    def counts(self) -> list[int]:
        """The number of states of each layer, from depth 0."""
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
class Progress(LayerTotals, Standing[LayerRun, events.RunStarted]):
    """The progress of a run by layers at a given moment.

    layers: all layers made, from depth 0. committed: how many of them are committed; a kill loses
    the rest. disk: the bytes of the layers on disk. task: the tasks done of the next layer, which
    began at `since`; None if not known. If only the total number of tasks is
    unknown, the total is given as 0. storing: the number of layers that are being stored.
    """

    layers: list[LayerRecord] = field(default_factory=list)
    committed: int = 0
    disk: int = 0
    task: events.TaskFinished | None = None
    storing: int = 0

    def note(self, event: events.Event, now: float) -> None:
        match event:
            case events.RunStarted(path=path, resumed=True):
                self._read(LayerRun.open(path))
            case events.LayerStarted(depth, tasks):
                self.task = None if tasks is None else events.TaskFinished(depth, 0, tasks, 0)
                self.since = now
            case events.TaskFinished():
                self.task = event
            case events.LayerMade(layer) if layer.depth == len(self.layers):
                self.layers.append(layer)
                self.since = now
            case events.StoringLayers(layers):
                self.storing = layers
            case events.LayerFinished(layer, disk=disk):
                self.layers[layer.depth :] = [layer, *self.layers[layer.depth + 1 :]]
                self.committed = layer.depth + 1
                self.disk, self.task, self.since = disk, None, now
                if self.committed == len(self.layers):
                    self.storing = 0
            case events.RunFinished(depth, _, False, elapsed):
                self.ended = events.RunStopped(
                    depth, f"depth {depth} reached, as requested", elapsed
                )
            case events.RunStopped():
                self.storing = 0
                del self.layers[self.committed :]

    def _read(self, run: LayerRun) -> None:
        self.layers, self.committed, self.disk = list(run.records), len(run.records), run.disk

    def read(self) -> None:
        run = self.source
        self._read(run)
        if not run.complete and (done := run.tasks_done()):
            self.task = events.TaskFinished(len(self.layers), done, 0, 0)

    @staticmethod
    def untold_start(run: LayerRun) -> events.RunStarted:
        name, states = run.identity["name"], run.identity["states"]
        return events.RunStarted(name, run.puzzle.title, str(run.path), -1, 0, states, 0, False)

    def end(self, reason: str | None, elapsed: float) -> events.End:
        depth = len(self.layers) - 1
        if reason is None:
            return events.RunFinished(depth, self.states, True, elapsed)
        return events.RunStopped(depth, reason, elapsed)

    @property
    def stage(self) -> int | None:
        """The depth of the last layer."""
        return self.depth

    @property
    def share(self) -> float | None:
        """The share of all states in the layers so far."""
        return self.states / self.started.states if self.started else None

    def left(self, now: float) -> TimeLeft | None:
        """Return the time left, less the time that the layer under way has already taken; None if
        it is too early to say. For a stopped run, return the time that it will take once it is
        resumed."""
        layers = list(self.layers)  # a copy, because a display asks from another thread
        if not layers or self.started is None:
            return None
        until = self.started.until
        if until is not None and until < len(layers):
            until = None  # once reached, it does not limit the time left
        estimate = time_left(layers, self.started.states, until)
        if estimate is None or self.ended:
            return estimate
        elapsed = min(max(0.0, now - self.since), estimate.first)
        seconds, least, most = (max(0.0, of - elapsed) for of in estimate[:3])
        return estimate._replace(seconds=seconds, least=least, most=most)


@dataclass(eq=False)
class SearchProgress(Standing["CosetRun", events.SearchStarted]):
    """The progress of a run by cosets at a given moment.

    asking: what the run does, None if not known.
    """

    asking: events.Asking | None = None

    layers, counts = (), ()
    """A run by cosets has no layers to show."""

    def note(self, event: events.Event, now: float) -> None:
        match event:
            case events.Asking():
                self.asking = event
            case events.SearchFinished(lower, upper):
                self.asking = events.Asking("", lower, upper)

    def read(self) -> None:
        self.asking = _asking(self.source, self.started.workers if self.started else 0)

    @staticmethod
    def untold_start(run: "CosetRun") -> events.SearchStarted:
        name, title = run.identity["name"], run.puzzle.title
        return events.SearchStarted(name, title, str(run.path), 0, *run.request, True)

    def end(self, reason: str | None, elapsed: float) -> events.End:
        if reason is None:
            proof = self.source.begun_proof
            return events.SearchFinished(proof.lower, proof.upper, elapsed)
        return events.SearchStopped(reason, elapsed)

    @property
    def share(self) -> float | None:
        """The share of the question under way that is done."""
        asking = self.asking
        return asking.done / asking.portions if asking and asking.portions else None

    @property
    def stage(self) -> tuple[int | None, int, int | None] | None:
        """The bounds and the limit of the question under way; None before there are bounds."""
        asking = self.asking
        if asking is None or asking.upper is None:
            return None
        return asking.lower, asking.upper, asking.limit


def _asking(run: "CosetRun", workers: int) -> events.Asking:
    """Return what a run by cosets does now or next, and the time that the question will still take:
    for each portion left, the mean time of the portions done. workers: 0 if not known."""
    proof = run.proof
    if proof is None:
        return events.Asking("making the tables")
    if (question := run.next_question) is None:
        return events.Asking("", proof.lower, proof.upper)
    limit, whole = question
    doing, answer = proof.in_words(limit, whole), proof.answers.get(limit)
    if answer is None:
        return events.Asking(doing, proof.lower, proof.upper, limit)
    left, done = None, len(answer.done)
    if done and workers:
        left = answer.seconds / done * (answer.portions - done) / workers
    return events.Asking(
        doing, proof.lower, proof.upper, limit, done, answer.portions, left, len(answer.farther)
    )


AnyProgress = Progress | SearchProgress


def progress_of(run: "LayerRun | CosetRun") -> AnyProgress:
    """Return the progress of a run from its files. The run may be under way in another process.

    The lock is checked first. If it is free, its last holder has written everything, so the ledger
    is then read again. Where there are no locks, the log and the status page decide.
    """
    storage, lock = run.storage, run.storage.lock_file
    held = is_written(storage)
    if not held and not run.complete:
        run = open_run(storage)
    state = COMPLETE if run.complete else UNDER_WAY if held else STOPPED
    kind: Any = Progress if isinstance(run, LayerRun) else SearchProgress
    log, about = read_last_start(storage), run.identity
    began, started = log.start if log else (about.get("created", 0.0), kind.untold_start(run))
    progress = kind(about["name"], started, began, began, run=run)
    with suppress(FileNotFoundError):  # a run that was stopped at its beginning has no ledger
        progress.since = max(began, storage.modified(LEDGER))
    if state == UNDER_WAY and lock:
        progress.holder, progress.began = describe_holder(lock), held_since(lock) or began
    elif state != UNDER_WAY and log and log.end:
        when, end = log.end
        progress(end, when)
    progress.read()
    if state == UNDER_WAY and log:
        for when, layer_made in log.made:
            progress(layer_made, when)
    if state != progress.state:  # the log has no end of the run, or an outdated one
        reason = None if state == COMPLETE else _untold_reason(log, lock)
        progress.ended = progress.end(reason, progress.since - began)
        progress.when = progress.since if state == COMPLETE else None
    return progress


def is_written(storage: Storage) -> bool:
    """Return whether a process is writing a run, complete or not: its lock is held or, without
    locks, its log has no end and its status page is recent."""
    if storage.lock_file:
        return is_held(storage.lock_file)
    with suppress(FileNotFoundError):
        fresh = time.time() - storage.modified(PAGE) < FRESH_SECONDS
        return fresh and (log := read_last_start(storage)) is not None and log.end is None
    return False


def _untold_reason(log: LastStart | None, lock: Path | None) -> str:
    """Return why a run whose log has no end is stopped.

    log: the log of the last start. lock: the run's lock file, None if there are no locks.
    """
    if lock and (host := left_by(lock)):
        return f"killed, or under way on host {host}, which this host cannot see"
    return "killed, or its machine failed" if log and not log.end else "its log does not say why"
