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
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from frontier.errors import InputError
from frontier.text import age, moment

TRIES, TRY_SECONDS = 8, 0.05
"""The lock is tried so often, so many seconds apart: a process that only asks whether it is held
holds it for a moment."""

MOST_LETTERS = 10_000
"""At most so many letters of the lock file are read."""


class NotWritable(InputError):
    """The run directory cannot be written, so that there is no lock to take."""


class RunLock:
    """Context manager that holds the lock of a run directory.

    take_over: the user says that a holder on another host is gone. Text is the name of the job of a
    queue that this process belongs to: a holder of that name is gone, since a queue runs a job
    once at a time, and no other is.
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
                raise InputError(
                    f"{self.path} cannot be locked ({error.strerror}): its file system has no "
                    "locks; mount it with them (Lustre: -o flock), or choose another directory "
                    "with --set store.path=…"
                ) from None
            if self._is_there():
                break
            self._file.close()  # whoever held it has deleted the run
        mine = self._take_over is True or (self._take_over and self._take_over == self._job())
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
        self._file.write(json.dumps(holder))
        self._file.flush()
        return self

    def _job(self) -> str | None:
        return _holder(self.path).get("job")

    def _opened(self) -> IO[str]:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            if os.path.lexists(self.path) and not stat.S_ISREG(self.path.lstat().st_mode):
                raise NotWritable(
                    f"{self.path} cannot be written: it is no file that a run has made, but maybe "
                    "a link to one; take it away"
                )
            return open(os.open(self.path, flags, 0o666), "a+")
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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Keep writers away from a run while it is read.

    InputError if one is at work. Where there is no lock to be shared, as in a directory that nobody
    has written to, nobody is kept away.
    """
    try:
        file = _opened_to_read(path)
    except OSError:
        file = None
    with file or nullcontext():
        try:
            if file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{path.parent} {_why_held(path)}") from None
        except OSError:
            pass  # of a file system without locks, where nobody writes either
        yield


def is_held(path: Path) -> bool:
    """Whether some process writes (of this host, or of any where the file system says)."""
    try:
        with _opened_to_read(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _opened_to_read(path: Path) -> IO[str]:
    return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK))


def _why_held(path: Path) -> str:
    """Why a run may not be used."""
    if is_held(path):
        return f"is being written by {describe_holder(path)}; stop that run first, or wait for it"
    return "is being read by another process, such as verify; wait until that has ended"


def _holder(path: Path) -> dict:
    """What the process has written that took the lock last; empty if it said that it ended."""
    try:
        with _opened_to_read(path) as file:
            holder = json.loads(file.read(MOST_LETTERS))
    except (OSError, ValueError, RecursionError):
        return {}
    return holder if isinstance(holder, dict) else {}


def left_by(path: Path) -> str | None:
    """The other host whose process wrote the file last and has not said that it ended."""
    host = _holder(path).get("host")
    return None if host == socket.gethostname() else host


def held_since(path: Path) -> float | None:
    """When the lock was taken, in seconds of the epoch, as far as the file says."""
    try:
        return float(_holder(path)["since"])
    except (ValueError, TypeError, KeyError):
        return None


def describe_holder(path: Path) -> str:
    """Who holds the lock, as far as the file says."""
    try:
        holder, now = _holder(path), time.time()
        since = f"since {moment(holder['since'])} (for {age(now - holder['since'])})"
        return f"process {holder['process']} on host {holder['host']} {since}"
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return "another process"
