"""The progress of a run of any kind, from its events or from its files alone: the work done, and
whether the run is under way, or how it ended."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from frontier.runs import events
from frontier.runs.copies import LEDGER
from frontier.runs.kind import kind_of, open_run
from frontier.runs.log import LastStart, read_last_start
from frontier.runs.resolve import resume_command
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage
from frontier.storage.lock import describe_holder, held_since, is_held, left_by
from frontier.text import span

NOT_BEGUN, UNDER_WAY, STOPPED, COMPLETE = "not begun", "under way", "stopped", "complete"
"""The possible conditions of a run."""

RESUME = "resume with"
"""The figure of a stopped run that is the command to resume it."""

RunT = TypeVar("RunT", bound=StoredRun)


@dataclass(eq=False)
class Progress(Generic[RunT]):
    """The known progress of a run at a given moment. It listens to the events of the run. This
    class serves a run that has not begun; each kind of run has a subclass.

    name: the name of the run. started: the event of the last start, None if the run has not begun.
    began, since: the Unix times when the run began, and when the work under way began. ended: the
    event that ended the run, None while it is under way. when: the Unix time of that event, None if
    not known. compiling: the event that says that kernels are being made ready, and its time; None
    after the next event. run, holder: the run as it was read from its files, and the process that
    writes it; None if no files were read.
    """

    legend: ClassVar[str] = ""
    """The line before the heads of a table of the progress; "" for none."""

    name: str = ""
    started: events.Started | None = None
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
        if isinstance(event, events.Started):
            vars(self).update(vars(type(self)(event.name, event, began=now, since=now)))
        elif isinstance(event, events.End):
            self.ended, self.when = event, now
        if isinstance(event, events.Compiling):
            before = self.compiling
            self.compiling = before if before and before[0] == event else (event, now)
        elif self._ends_compiling(event):
            self.compiling = None
        self.note(event, now)

    def _ends_compiling(self, event: events.Event) -> bool:
        """Return whether an event shows that kernels are no longer being compiled."""
        return not isinstance(event, events.Stopping)

    def note(self, event: events.Event, now: float) -> None:
        """Update this from an event."""

    @property
    def source(self) -> RunT:
        """The run from which this was read."""
        assert self.run is not None
        return self.run

    def read(self) -> None:
        """Update this from the files of `run`."""

    def repeat(self, name: str, values: Mapping[str, Any], when: float) -> None:
        """Update this from a line of the log about work under way. name: the name of the event."""

    @property
    def state(self) -> str:
        if self.ended:
            return COMPLETE if isinstance(self.ended, events.Finished) else STOPPED
        return UNDER_WAY if self.started else NOT_BEGUN

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def reason(self) -> str | None:
        """Why the run is stopped, if it is."""
        return self.ended.reason if isinstance(self.ended, events.Stopped) else None

    @property
    def stage(self) -> Any:
        """The number or the numbers that change with each row of a table; None if there is nothing
        to show yet."""
        return None

    @property
    def within_stage(self) -> bool:
        """True if a part of the stage that comes next is done."""
        return False

    def lost(self, stage: Any) -> bool:
        """Return whether a stop has lost the work of a stage that was shown before."""
        return False

    @property
    def share(self) -> float | None:
        """The share of the work under way that is done, as a progress bar shows it; None if not
        known."""
        return None

    def figures(self, now: float) -> dict[str, str]:
        """Return what there is to say about the run, by name."""
        return {}

    def row(self, now: float) -> dict[str, str]:
        """Return the values of a row by the heads of their columns, without units or spaces; an
        unknown value is -."""
        return {}

    def value(self, now: float) -> dict[str, Any]:
        """Return the values in the JSON of `status` that only this kind of run has."""
        return {}

    def known_layers(self) -> Sequence[Any]:
        """Return the known layers, from depth 0; none if the run has no layers."""
        return ()

    def coming(self, now: float) -> Sequence[int]:
        """Return the likely number of states of each layer to come."""
        return ()

    def compiling_words(self, now: float) -> str | None:
        """Return how long kernels have been compiling; None if they are not."""
        if self.compiling is None:
            return None
        event, began = self.compiling
        doing = "workers load or compile their kernels" if event.elsewhere else "compiling kernels"
        return f"{doing} ({span(max(0.0, now - began))})"

    def resume_options(self) -> dict[str, Any]:
        """Return the options of the command that resumes the run as it was last started."""
        return {}

    def resuming(self) -> dict[str, str]:
        """Return the command that resumes a stopped run, by its name among the figures."""
        if not (self.started and self.reason):
            return {}
        return {RESUME: resume_command(self.started, self.resume_options())}

    def particulars(self) -> dict[str, str]:
        """Return the process that writes the run, and the address of Dask's dashboard."""
        dashboard = self.started.dashboard if self.started and not self.ended else None
        known = {"written by": self.holder, "dashboard": dashboard}
        return {name: text for name, text in known.items() if text}

    def elapsed(self, now: float) -> float:
        """Return the seconds since the run started or, if it has ended, the seconds that it
        took."""
        return self.ended.elapsed if self.ended else now - self.began


def progress_of(run: StoredRun) -> Any:
    """Return the progress of a run from its files. The run may be under way in another process.

    The lock is checked first. If it is free, its last holder has written everything, so the ledger
    is then read again. Where there are no locks, the log decides.
    """
    storage, lock = run.storage, run.storage.lock_file
    held = is_written(storage)
    if not held and not run.complete:
        run = open_run(storage)
    state = COMPLETE if run.complete else UNDER_WAY if held else STOPPED
    log, created = read_last_start(storage), run.identity.get("created", 0.0)
    began, started = log.start if log else (created, events.Started(**run.particulars()))
    progress = kind_of(run).progress(run.identity["name"], started, began, began, run=run)
    with suppress(FileNotFoundError):  # a run that was stopped at its beginning has no ledger
        progress.since = max(began, storage.modified(LEDGER))
    if state == UNDER_WAY and lock:
        progress.holder, progress.began = describe_holder(lock), held_since(lock) or began
    elif state != UNDER_WAY and log and log.end:
        when, end = log.end
        progress(end, when)
    progress.read()
    if state == UNDER_WAY and log:
        for when, name, values in log.work:
            progress.repeat(name, values, when)
    if state != progress.state:  # the log has no end of the run, or an outdated one
        elapsed = progress.since - began
        if state == COMPLETE:
            progress.ended, progress.when = events.Finished(elapsed), progress.since
        else:
            reason = _untold_reason(log, lock)
            progress.ended, progress.when = events.Stopped(elapsed, reason), None
    return progress


BEAT, BEAT_SECONDS = "status.html", 60.0
"""A file that a run writes every few seconds, and the greatest age in seconds at which it shows
that the run is under way where there are no locks."""


def is_written(storage: Storage) -> bool:
    """Return whether a process is writing a run, complete or not: its lock is held or, without
    locks, its log has no end and the process has shown a sign of life."""
    if storage.lock_file:
        return is_held(storage.lock_file)
    with suppress(FileNotFoundError):
        fresh = time.time() - storage.modified(BEAT) < BEAT_SECONDS
        return fresh and (log := read_last_start(storage)) is not None and log.end is None
    return False


def _untold_reason(log: LastStart | None, lock: Path | None) -> str:
    """Return why a run whose log has no end is stopped.

    log: the log of the last start. lock: the run's lock file, None if there are no locks.
    """
    if lock and (host := left_by(lock)):
        return f"killed, or under way on host {host}, which this host cannot see"
    return "killed, or its machine failed" if log and not log.end else "its log does not say why"
