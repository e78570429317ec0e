"""One writer a run.

In a file system the writing process holds a lock file open (`RunLock`). The lock is the operating
system's (`flock`), so on its own host it goes with its process, however that dies. Not every shared
file system carries it to other hosts. So the file also says who holds it, a clean end empties it,
and what a process of another host has left there is taken over on request only. Processes that read
all of a run share the lock, which keeps writers out.

An object store has no locks. The process that writes a run there puts an object beside it that says
so, and renews it as long as it lives (`Lease`). This is a courtesy to people: another process that
finds the object fresh ends with an error rather than do the same work again. Nothing else relies on
it: two writers that do not see each other compute the same parts, and only one of their commits
succeeds (`frontier.store.run`). Of two that begin at once only one can put its object there, and a
process whose object another one has replaced renews it no more. The age of the object is the
difference between the clock of this host and the time that the store gives it; where the two clocks
differ by a minute, the object counts for too long or not at all.
"""

import errno
import fcntl
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from frontier.errors import InputError, StorageError
from frontier.store.buckets import Replaced
from frontier.store.objects import ObjectPath, Place
from frontier.text import age, moment

TRIES, TRY_SECONDS = 8, 0.05
"""Attempts to take the lock after the first, and the seconds between two of them. They are there
because a process that only asks whether the lock is held holds it for a moment."""

MOST_BYTES = 10_000
"""The most bytes that are read of what says who holds the lock."""

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""The errors of a file system that has no locks."""

RENEWED, FRESH = 15.0, 60.0
"""Seconds after which the object of a lease is renewed, and seconds for which it is fresh."""


class NotWritable(StorageError):
    """The system lets nothing be written to the directory, so no lock can be taken."""


class _Writer:
    """Context manager that makes this process the one that writes a run.

    take_over: True if the user says that a holder which cannot be seen from here is gone. A text is
    the name of the queue's job to which this process belongs: such a holder is then taken to be
    gone if it belonged to the same job, as a queue never runs one job twice at the same time.
    """

    def __init__(self, path: Place, take_over: bool | str = False):
        self._path, self._take_over = path, take_over
        self._said = {"host": socket.gethostname(), "process": os.getpid(), "since": time.time()}
        if isinstance(take_over, str):
            self._said["job"] = take_over

    def _takes_over(self) -> bool:
        """Whether the holder is taken to be gone."""
        job = holder(self._path).get("job")
        return self._take_over is True or bool(self._take_over and self._take_over == job)


class RunLock(_Writer):
    """Holds the lock of a run directory."""

    def __enter__(self) -> "RunLock":
        self._file = self._locked()
        if left_by(self._path) and not self._takes_over():
            said = describe_holder(self._path)
            self._file.close()
            raise InputError(
                f"{self._path.parent} was being written by {said}, which has not said that it "
                "ended, and from here that cannot be seen. If it is gone, run again with "
                "--take-over"
            )
        self._file.truncate(0)
        try:
            self._file.write(json.dumps(self._said))
            self._file.flush()
        except BaseException:  # such as an interrupt, after which `with` would not release it
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        with suppress(OSError):  # else only other hosts ask whether this process is gone
            self._file.truncate(0)
        with suppress(OSError):  # the file is closed nevertheless
            self._file.close()

    def _locked(self) -> IO[str]:
        """The lock file, open and locked."""
        tries = 0
        while True:
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):  # its holder has deleted the run
                    if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                        return file
            except BlockingIOError:
                if tries == TRIES:
                    file.close()
                    raise _refused(self._path) from None
                tries += 1
                time.sleep(TRY_SECONDS)
            except OSError as error:
                file.close()
                if error.errno not in NO_LOCKS:
                    raise
                raise InputError(
                    f"{self._path} cannot be locked ({error.strerror}): its file system has no "
                    "locks; mount it with them (Lustre: -o flock), or choose another directory "
                    "with --set store.path=…"
                ) from None
            file.close()

    def _opened(self) -> IO[str]:
        try:
            return _open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, "a+")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            raise NotWritable(
                f"{self._path.parent} cannot be written ({error.strerror}); make it writable, or "
                "choose another directory with --set store.path=…"
            ) from None


class Lease(_Writer):
    """Says in an object store that this process writes a run."""

    def __enter__(self) -> "Lease":
        self._version = self._path.version()
        try:
            if is_held(self._path) and not self._takes_over():
                raise Replaced
            self._write()
        except Replaced:
            there = holder(self._path)
            raise InputError(
                f"{self._path.parent} is being written by process {there.get('process')} on host "
                f"{there.get('host')}; stop that run first, or wait for it. If it was killed, "
                f"wait for {FRESH:.0f} seconds, or run again with --take-over"
            ) from None
        self._over = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._renewing.start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._renewing.join(RENEWED)  # no longer, if the store does not answer
        with suppress(OSError):  # else it soon stops being fresh
            if holder(self._path) == self._said:
                self._path.unlink(missing_ok=True)

    def _renew(self) -> None:
        while not self._over.wait(RENEWED):
            try:
                self._write()
            except OSError:  # the next time may succeed
                continue
            except Replaced:  # another has taken over
                return

    def _write(self) -> None:
        self._version = self._path.replace_bytes(json.dumps(self._said).encode(), self._version)


def writing(path: Place, take_over: bool | str = False) -> RunLock | Lease:
    """The `_Writer` of a run. path: its lock."""
    return (Lease if isinstance(path, ObjectPath) else RunLock)(path, take_over)


@contextmanager
def reading(path: Place) -> Iterator[None]:
    """Keep writers away from a run while it is read.

    path: its lock. InputError if a writer is at work. Where there is no lock file, as in a copy of
    a run that nobody has written to, nobody is kept away.
    """
    file = None
    if isinstance(path, ObjectPath):
        if is_held(path):
            raise _refused(path)
    else:
        with suppress(FileNotFoundError):
            file = _open(path)
    with file or nullcontext():
        try:
            if file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refused(path) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:  # without them nobody writes either
                raise
        yield


def is_held(path: Place) -> bool:
    """Whether a process holds the lock, or says in an object store that it writes.

    Of a file's lock, that of another host is seen only if the file system carries locks to others.
    """
    if isinstance(path, ObjectPath):
        try:
            renewed = path.stat().st_mtime
        except FileNotFoundError:
            return False
        said = holder(path)
        return bool(said) and time.time() - renewed < FRESH and not _has_died(said)
    try:
        with _open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, InputError):
        return False
    return False


def _has_died(said: dict) -> bool:
    """Whether a holder is known to be gone, as it was a process of this host and has ended."""
    if said.get("host") != socket.gethostname() or type(said.get("process")) is not int:
        return False
    try:
        os.kill(said["process"], 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it is somebody else's
        pass
    return False


def _open(path: Path, flags: int = os.O_RDONLY, mode: str = "r") -> IO[str]:
    """A lock file, opened; InputError if it is none, such as a link to another file."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise InputError(
                f"{path} is no file that a run has made, but a directory, a pipe, or a link to "
                "something else, so nobody can be kept out by it; take it away"
            )
    return open(os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666), mode)


def _refused(path: Place) -> InputError:
    """The error that says why a run may not be used now."""
    why = "is being read by another process, such as verify; wait until that has ended"
    if is_held(path):
        why = f"is being written by {describe_holder(path)}; stop that run first, or wait for it"
    return InputError(f"{path.parent} {why}")


def holder(path: Place) -> dict:
    """What the process that took the lock last said of itself; empty if it has ended cleanly."""
    # If an object store does not answer, that says nothing about who writes, and is an error.
    not_there = FileNotFoundError if isinstance(path, ObjectPath) else OSError
    try:
        if isinstance(path, ObjectPath):
            said = json.loads(path.read_bytes(MOST_BYTES))
        else:
            with _open(path) as file:
                said = json.loads(file.read(MOST_BYTES))
    except (not_there, ValueError, RecursionError):  # an InputError is a ValueError
        return {}
    return said if isinstance(said, dict) else {}


def left_by(path: Place) -> str | None:
    """The host of the last holder, if that was a process of another host which has not said that it
    ended: from here it cannot be seen whether it did."""
    if isinstance(path, ObjectPath):
        return None
    host = holder(path).get("host")
    return None if host == socket.gethostname() else host


def held_since(path: Place) -> float | None:
    """When the lock was taken, in seconds of the epoch, as far as the file says."""
    try:
        return float(holder(path)["since"])
    except (ValueError, TypeError, KeyError):
        return None


def describe_holder(path: Place) -> str:
    """Who holds the lock, as far as the file says."""
    try:
        said, now = holder(path), time.time()
        since = f"since {moment(said['since'])} (for {age(now - said['since'])})"
        return f"process {said['process']} on host {said['host']} {since}"
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return "another process"
