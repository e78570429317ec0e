"""Who writes a run in an object store, as far as the run itself says: a courtesy to people.

An object store has no locks. Who writes a run there puts an object beside it that says so, and
renews it as long as it lives. Another process that finds it fresh ends with an error rather than do
the same work again. Nothing else relies on it: two that do not see each other compute the same
parts, and of their commits one alone succeeds (`frontier.store.run`). Of two that begin at once one
puts the object there, and one whose object was replaced by another process renews it no more. The
age of the object is the difference between the clock of this host and the time that the store gives
it; where the two clocks differ by a minute, it counts for too long or not at all.
"""

import json
import os
import socket
import threading
import time
from contextlib import suppress

from frontier.errors import InputError
from frontier.store.buckets import Replaced
from frontier.store.objects import ObjectPath

RENEWED, FRESH = 15.0, 60.0
"""Seconds after which the object is renewed, and seconds for which it counts."""


class Lease:
    """Context manager that says that this process writes a run.

    take_over: True if the user says that the process which wrote the object is gone; a text is the
    name of a job, as for `RunLock`.
    """

    def __init__(self, path: ObjectPath, take_over: bool | str = False):
        self._path, self._take_over = path, take_over
        self._said = {"host": socket.gethostname(), "process": os.getpid(), "since": time.time()}
        if isinstance(take_over, str):
            self._said["job"] = take_over
        self._over = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> "Lease":
        self._version = self._path.version()
        there = holder(self._path)
        mine = self._take_over is True or (self._take_over and self._take_over == there.get("job"))
        if not mine and is_held(self._path):
            raise self._refused()
        try:
            self._write()
        except Replaced:
            raise self._refused() from None
        self._renewing.start()
        return self

    def _refused(self) -> InputError:
        there = holder(self._path)
        return InputError(
            f"{self._path.parent} is being written by process {there.get('process')} on host "
            f"{there.get('host')}; stop that run first, or wait for it. If it was killed, "
            f"wait for {FRESH:.0f} seconds, or run again with --take-over"
        )

    def __exit__(self, *_) -> None:
        self._over.set()
        self._renewing.join(RENEWED)  # no longer, if the store does not answer
        with suppress(OSError):  # it is not believed for long
            if holder(self._path) == self._said:
                self._path.unlink(missing_ok=True)

    def _renew(self) -> None:
        while not self._over.wait(RENEWED):
            try:
                self._write()
            except OSError:  # the next time, maybe
                continue
            except Replaced:  # another has taken over
                return

    def _write(self) -> None:
        self._version = self._path.replace_bytes(json.dumps(self._said).encode(), self._version)


def holder(path: ObjectPath) -> dict:
    """What the process has written that writes the run; empty if there is none."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_held(path: ObjectPath) -> bool:
    """Whether a process has said lately that it writes the run."""
    try:
        renewed = path.stat().st_mtime
    except FileNotFoundError:
        return False
    said = holder(path)
    return bool(said) and time.time() - renewed < FRESH and not _has_died(said)


def _has_died(said: dict) -> bool:
    """Whether a holder is known to be gone: a process of this host that is not there."""
    if said.get("host") != socket.gethostname() or type(said.get("process")) is not int:
        return False
    try:
        os.kill(said["process"], 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it is somebody else's
        pass
    return False
