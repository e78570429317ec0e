"""Whether a run, by layers or of cosets, is under way, and how it ended."""

import time
from contextlib import suppress
from pathlib import Path

from frontier.report.log import read_last_start
from frontier.search import events
from frontier.storage.base import Storage
from frontier.storage.lock import is_held, left_by

NOT_BEGUN, UNDER_WAY, STOPPED, COMPLETE = "not begun", "under way", "stopped", "complete"
"""The states of a run."""

PAGE, FRESH_SECONDS = "status.html", 60.0
"""The status page, and the age up to which it says that its run is under way."""

FINISHED = events.RunFinished | events.SearchFinished


class Standing:
    """What displays ask of a run of either kind.

    name: of the run. started: the event of the last start, None if it has not begun. ended: the
    event that ended the run, None while it is under way. when: the Unix time of that event, None if
    not known.
    """

    name: str
    started: events.RunStarted | events.SearchStarted | None
    ended: events.Event | None
    when: float | None

    @property
    def state(self) -> str:
        if self.ended:
            return COMPLETE if isinstance(self.ended, FINISHED) else STOPPED
        return UNDER_WAY if self.started else NOT_BEGUN

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def reason(self) -> str | None:
        """Why the run is stopped, if it is."""
        return self.ended.reason if self.state == STOPPED else None


def is_under_way(storage: Storage) -> bool:
    """Whether a run is being written: its lock is held or, where there are no locks, its log has no
    end and its status page was written a moment ago."""
    if storage.lock_file:
        return is_held(storage.lock_file)
    with suppress(FileNotFoundError):
        fresh = time.time() - storage.modified(PAGE) < FRESH_SECONDS
        return fresh and len(read_last_start(storage)) == 1
    return False


def untold_reason(log: list, lock: Path | None) -> str:
    """Why a run is stopped whose log does not tell. log: the last start, and what came after it.
    lock: its lock file, None where there are no locks."""
    if lock and (host := left_by(lock)):
        return f"killed, or under way on host {host}, which cannot be seen from here"
    return "killed, or its machine failed" if len(log) == 1 else "its log does not say why"
