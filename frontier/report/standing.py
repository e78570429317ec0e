"""The state of a run, by layers or of cosets: under way, or how it ended."""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from frontier.cosets.store import CosetRun
from frontier.report.log import ENDS, STARTS, LastStart, read_last_start
from frontier.search import events
from frontier.storage.base import Storage
from frontier.storage.lock import is_held, left_by
from frontier.store.run import RunStore

NOT_BEGUN, UNDER_WAY, STOPPED, COMPLETE = "not begun", "under way", "stopped", "complete"
"""The states of a run."""

PAGE, FRESH_SECONDS = "status.html", 60.0
"""The status page, and the age in seconds up to which it shows that its run is under way."""

FINISHED = events.RunFinished | events.SearchFinished


@dataclass(eq=False)
class Standing:
    """What is known of a run of either kind at a moment. It listens to the events of the run.

    name: of the run. started: the event of the last start, None if the run has not begun. began,
    since: when the run and what is under way in it were begun, in Unix time. ended: the event that
    ended the run, None while it is under way. when: the Unix time of that event, None if not known.
    Only what was read from files has run, the run as these were then, and holder, the process that
    writes it.
    """

    name: str = ""
    started: events.RunStarted | events.SearchStarted | None = None
    began: float = 0.0
    since: float = 0.0
    ended: events.Event | None = None
    when: float | None = None
    run: RunStore | CosetRun | None = None
    holder: str | None = None

    def __call__(self, event: events.Event, now: float | None = None) -> None:
        """Take note of an event that happens now."""
        now = time.time() if now is None else now
        if isinstance(event, STARTS):
            vars(self).update(vars(type(self)(event.name, event, began=now, since=now)))
        elif isinstance(event, ENDS):
            self.ended, self.when = event, now
        self.note(event, now)

    def note(self, event: events.Event, now: float) -> None:
        """Update this from an event of this kind of run."""
        raise NotImplementedError

    def read(self) -> None:
        """Update this from the files of `run`."""
        raise NotImplementedError

    @staticmethod
    def untold_start(run: RunStore | CosetRun) -> events.Event:
        """Return the start of a run whose log has none."""
        raise NotImplementedError

    def end(self, reason: str | None, elapsed: float) -> events.Event:
        """Return the event that ends the run as its files are. reason: why it is stopped; None if
        it is complete."""
        raise NotImplementedError

    @property
    def state(self) -> str:
        if self.ended:
            return COMPLETE if isinstance(self.ended, FINISHED) else STOPPED
        return UNDER_WAY if self.started else NOT_BEGUN

    @property
    def share(self) -> float | None:
        """The share that is done of the work under way, as a bar shows it; None if not known."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def reason(self) -> str | None:
        """The reason why the run is stopped, if it is."""
        return self.ended.reason if self.state == STOPPED else None


def is_under_way(storage: Storage) -> bool:
    """Return whether a run is being written: its lock is held or, without locks, its log has no end
    and its status page was written a moment ago."""
    if storage.lock_file:
        return is_held(storage.lock_file)
    with suppress(FileNotFoundError):
        fresh = time.time() - storage.modified(PAGE) < FRESH_SECONDS
        return fresh and (log := read_last_start(storage)) is not None and log.end is None
    return False


def untold_reason(log: LastStart | None, lock: Path | None) -> str:
    """Return why a run is stopped whose log has no end.

    log: the log of the last start. lock: the run's lock file, None if there are no locks.
    """
    if lock and (host := left_by(lock)):
        return f"killed, or under way on host {host}, which cannot be seen from here"
    return "killed, or its machine failed" if log and not log.end else "its log does not say why"
