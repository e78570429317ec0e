"""One writer a run: a lock file that the writing process holds open.

The lock is the operating system's (`flock`), so on its own host it goes with its process, however
that dies. Not every shared file system carries it to other hosts. So the file also says who holds
it, a clean end empties it, and what a process of another host has left there is taken over on
request only. Who reads all of a run shares the lock with others who do, which keeps writers out.
"""

import errno
import fcntl
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from frontier.errors import InputError, StorageError
from frontier.store import lease
from frontier.store.objects import ObjectPath, Place
from frontier.text import age, moment

TRIES, TRY_SECONDS = 8, 0.05
"""Attempts to take the lock, and the seconds between two of them. A process that only asks whether
it is held holds it for a moment."""

MOST_LETTERS = 10_000
"""The number of letters of the lock file that are read, at most."""

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""What the system says where a file system has no locks."""


class NotWritable(StorageError):
    """The system lets nothing be written to the directory, so there is no lock to take."""


class RunLock:
    """Context manager that holds the lock of a run directory.

    take_over: True if the user says that a holder on another host is gone. A text is the name of
    the queue's job to which this process belongs: a holder on another host is then taken to be gone
    if it belonged to the same job, as a queue runs a job once at a time.
    """

    def __init__(self, path: Path, take_over: bool | str = False):
        self.path, self._take_over = path, take_over

    def __enter__(self) -> "RunLock":
        for last in (False,) * TRIES + (True,):
            self._file = self._opened()
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                if last:
                    raise InputError(f"{self.path.parent} {_why_held(self.path)}") from None
                time.sleep(TRY_SECONDS)
                continue
            except OSError as error:
                self._file.close()
                if error.errno not in NO_LOCKS:
                    raise
                raise InputError(
                    f"{self.path} cannot be locked ({error.strerror}): its file system has no "
                    "locks; mount it with them (Lustre: -o flock), or choose another directory "
                    "with --set store.path=…"
                ) from None
            if self._is_there():
                break
            self._file.close()  # whoever held it has deleted the run
        job = _holder(self.path).get("job")
        mine = self._take_over is True or (self._take_over and self._take_over == job)
        if not mine and left_by(self.path):
            said = describe_holder(self.path)
            self._file.close()
            raise InputError(
                f"{self.path.parent} was being written by {said}, which has not said that it "
                "ended, and from here that cannot be seen. If it is gone, run again with "
                "--take-over"
            )
        self._file.truncate(0)
        holder = {"host": socket.gethostname(), "process": os.getpid(), "since": time.time()}
        if isinstance(self._take_over, str):
            holder["job"] = self._take_over
        try:
            self._file.write(json.dumps(holder))
            self._file.flush()
        except BaseException:  # such as an interrupt, after which nobody else lets go
            self.__exit__()
            raise
        return self

    def _opened(self) -> IO[str]:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        try:
            return _open(self.path, flags, "a+")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            raise NotWritable(
                f"{self.path.parent} cannot be written ({error.strerror}); make it writable, or "
                "choose another directory with --set store.path=…"
            ) from None

    def _is_there(self) -> bool:
        """Whether the file that is open still has its name."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def __exit__(self, *_) -> None:
        self._file.truncate(0)
        self._file.close()


def writing(path: Place, take_over: bool | str = False) -> AbstractContextManager:
    """Be the one writer of a run, whose lock this is; take_over as of `RunLock`."""
    kind = lease.Lease if isinstance(path, ObjectPath) else RunLock
    return kind(path, take_over)


@contextmanager
def reading(path: Place) -> Iterator[None]:
    """Keep writers away from a run while it is read.

    InputError if one is at work. Where there is no lock to be shared, as in a directory that nobody
    has written to, nobody is kept away.
    """
    if isinstance(path, ObjectPath):
        if is_held(path):
            raise InputError(f"{path.parent} {_why_held(path)}")
        yield
        return
    try:
        file = _open(path)
    except FileNotFoundError:
        file = None
    with file or nullcontext():
        try:
            if file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{path.parent} {_why_held(path)}") from None
        except OSError as error:
            if error.errno not in NO_LOCKS:  # without them nobody writes either
                raise
        yield


def is_held(path: Place) -> bool:
    """Whether some process writes (of this host, or of any where the file system says)."""
    if isinstance(path, ObjectPath):
        return lease.is_held(path)
    try:
        with _open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, InputError):
        return False
    return False


def _open(path: Path, flags: int = os.O_RDONLY, mode: str = "r") -> IO[str]:
    """The file of a lock; InputError if it is no file, which might lead to another one."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise InputError(
                f"{path} is no file that a run has made, but a directory, a pipe, or a link to "
                "something else, so nobody can be kept out by it; take it away"
            )
    return open(os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666), mode)


def _why_held(path: Place) -> str:
    """Why a run may not be used."""
    if is_held(path):
        return f"is being written by {describe_holder(path)}; stop that run first, or wait for it"
    return "is being read by another process, such as verify; wait until that has ended"


def _holder(path: Place) -> dict:
    """What the process has written that took the lock last; empty if it said that it ended."""
    if isinstance(path, ObjectPath):
        return lease.holder(path)
    try:
        with _open(path) as file:
            holder = json.loads(file.read(MOST_LETTERS))
    except (OSError, ValueError, RecursionError):  # an InputError is a ValueError
        return {}
    return holder if isinstance(holder, dict) else {}


def left_by(path: Place) -> str | None:
    """The other host whose process wrote the file last and has not said that it ended, where it
    cannot be seen from here whether it did."""
    if isinstance(path, ObjectPath):
        return None
    host = _holder(path).get("host")
    return None if host == socket.gethostname() else host


def held_since(path: Place) -> float | None:
    """When the lock was taken, in seconds of the epoch, as far as the file says."""
    try:
        return float(_holder(path)["since"])
    except (ValueError, TypeError, KeyError):
        return None


def describe_holder(path: Place) -> str:
    """Who holds the lock, as far as the file says."""
    try:
        holder, now = _holder(path), time.time()
        since = f"since {moment(holder['since'])} (for {age(now - holder['since'])})"
        return f"process {holder['process']} on host {holder['host']} {since}"
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return "another process"
