"""The lock that allows a run only one writer.

In a file system the writing process holds a lock file open (`RunLock`). The lock is the operating
system's (`flock`), so on its own host it ends with its process, however the process dies. Not every
shared file system carries the lock to other hosts. So the file also names the holder of the lock,
and a holder that ends cleanly empties it. A lock that a process of another host has left is taken
over only on request. Processes that read all of a run share the lock, and so keep writers out.

An object store has no locks. There the ledger protects a run: it is replaced only if it is
unchanged (`frontier.runs.stored_run`).
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
from frontier.storage.base import Storage
from frontier.storage.paths import ABSENT, about_path
from frontier.text import age, moment

TRIES, TRY_SECONDS = 8, 0.05
"""The number of attempts to take the lock after the first, and the seconds between two attempts. A
process that only checks whether the lock is held holds it for a moment."""

MOST_BYTES = 10_000
"""The most bytes that are read of the holder's description."""

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""The errors of a file system that has no locks."""


YEAR_10000 = 253_402_300_800
"""The first second, since the epoch, that has no date."""


class NotWritable(StorageError):
    """The system refuses to write to the directory, so no lock can be taken."""


class RunLock:
    """Context manager that makes this process the writer of a run.

    take_over: True if the user says that a holder on another host, which this process cannot check,
    is gone; or the name of the queue's job to which this process belongs. In the second case, a
    holder that belonged to the same job is taken to be gone, because a queue never runs one job
    twice at a time.
    """

    def __init__(self, path: Path, take_over: bool | str = False):
        self._path, self._take_over = path, take_over
        self._holder = {"host": socket.gethostname(), "process": os.getpid(), "since": time.time()}
        if isinstance(take_over, str):
            self._holder["job"] = take_over

    def _takes_over(self) -> bool:
        """Return whether the holder is taken to be gone."""
        job = holder(self._path).get("job")
        return self._take_over is True or bool(self._take_over and self._take_over == job)

    def __enter__(self) -> "RunLock":
        self._file = self._locked()
        try:
            self._check_left()
        except BaseException:
            self._file.close()
            raise
        self._file.truncate(0)
        try:
            self._file.write(json.dumps(self._holder))
            self._file.flush()
        except BaseException:  # such as an interrupt, after which `with` would not release the lock
            self.__exit__()
            raise
        return self

    def _check_left(self) -> None:
        """Raise InputError if a process of another host left the lock and may still run."""
        if left_by(self._path) and not self._takes_over():
            raise InputError(
                f"{self._path.parent} was last written by {describe_holder(self._path)}, which may "
                "still be running. If that process is gone, take the run over with take_over=True"
            )

    def __exit__(self, *_) -> None:
        with suppress(OSError):  # on failure, only other hosts may think that it still runs
            self._file.truncate(0)
        with suppress(OSError):  # the file is closed even after an error
            self._file.close()

    def _locked(self) -> IO[str]:
        """Return the lock file, open and locked."""
        tries = 0
        while True:
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):  # the holder has deleted the run
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
                    "locks; mount it with locks (Lustre: -o flock), or choose another store.path"
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
                "choose another store.path"
            ) from None


def writing(storage: Storage, take_over: bool | str = False) -> AbstractContextManager:
    """Return the context manager in which this process writes a run; see `RunLock`. If the storage
    has no locks, it does nothing."""
    file = storage.lock_file
    return RunLock(file, take_over) if file else nullcontext()


def reading(storage: Storage) -> AbstractContextManager:
    """Return the context manager that keeps writers away while a run is read; see `shared`."""
    return shared(storage.lock_file) if storage.lock_file else nullcontext()


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Keep writers away from a run while it is read.

    path: the lock of the run. Raises InputError if a writer is at work. Does nothing if there is no
    lock file, as in a copy of a run that nobody has written to.
    """
    file = None
    with suppress(FileNotFoundError):
        file = _open(path)
    with file or nullcontext():
        try:
            if file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refused(path) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:  # without locks there is no writer either
                raise
        yield


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock. A process of another host counts only if the file
    system carries locks between hosts. Raises OSError if the system cannot tell."""
    try:
        with _open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except InputError:
        return False
    except OSError as error:
        if error.errno in NO_LOCKS or error.errno in (*ABSENT, errno.EACCES):
            return False
        raise
    return False


def _open(path: Path, flags: int = os.O_RDONLY, mode: str = "r") -> IO[str]:
    """Open a lock file; raises InputError if it is something else, such as a link to another
    file."""
    about = about_path(path, follow=False)
    if about and not stat.S_ISREG(about.st_mode):
        raise InputError(f"{path} is not a regular file, so it cannot lock the run; remove it")
    return open(os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666), mode)


def _refused(path: Path) -> InputError:
    """Return the error for a run that may not be used now."""
    message = "is being read by another process, such as verify; wait until that process has ended"
    if is_held(path):
        message = (
            f"is being written by {describe_holder(path)}; stop that run first, or wait for it"
        )
    return InputError(f"{path.parent} {message}")


def holder(path: Path) -> dict:
    """Return the description that the last process to take the lock wrote; empty if that process
    ended cleanly. Raises OSError if the system cannot tell."""
    try:
        with _open(path) as file:
            content = json.loads(file.read(MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return {}  # an InputError is a ValueError
    return content if isinstance(content, dict) else {}


def left_by(path: Path) -> str | None:
    """Return the host of the last holder if that was a process of another host that did not end
    cleanly. This host cannot see whether that process still runs."""
    host = holder(path).get("host")
    return None if host == socket.gethostname() else host


def held_since(path: Path) -> float | None:
    """Return when the lock was taken, in seconds since the epoch; None if unknown."""
    try:
        since = float(holder(path)["since"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return since if 0 <= since < YEAR_10000 else None


def describe_holder(path: Path) -> str:
    """Return the holder of the lock in words."""
    try:
        content, now = holder(path), time.time()
        since = f"since {moment(content['since'])} (for {age(now - content['since'])})"
        return f"process {content['process']} on host {content['host']} {since}"
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return "another process"
