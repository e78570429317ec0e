"""One writer a run: a lock file that the writing process holds open.

The lock is the operating system's (`flock`), so it goes with its process, however that dies.
What the file says of its holder is for people.
"""

import fcntl
import json
import os
import socket
import time
from pathlib import Path

from frontier.errors import InputError
from frontier.text import counted


class RunLock:
    """Context manager that holds the lock of a run directory."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> "RunLock":
        try:
            self._file = self.path.open("a+")
        except OSError as error:
            raise InputError(
                f"{self.path.parent} cannot be written ({error.strerror}); make it writable, or "
                "choose another directory with --set store.path=…"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError(
                f"{self.path.parent} is being written by {describe_holder(self.path)}; stop that "
                "run first"
            ) from None
        self._file.truncate(0)
        holder = {"host": socket.gethostname(), "process": os.getpid(), "since": time.time()}
        self._file.write(json.dumps(holder))
        self._file.flush()
        return self

    def __exit__(self, *_) -> None:
        self._file.truncate(0)
        self._file.close()


def is_held(path: Path) -> bool:
    """Whether some process holds the lock (of this host, or of any where the file system says)."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def describe_holder(path: Path) -> str:
    """Who holds the lock, as far as the file says."""
    try:
        holder = json.loads(path.read_text())
        minutes = counted(round(max(0, time.time() - holder["since"]) / 60), "minute")
        return f"process {holder['process']} on host {holder['host']} for {minutes}"
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return "another process"
