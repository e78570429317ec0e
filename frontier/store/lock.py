"""One writer a run: a lock file that names its holder.

The file is created exclusively, so of two runs that start together one wins. A holder on this
host that no longer lives is recognised by its process number and start time.
"""

import json
import os
import socket
import time
from pathlib import Path

import psutil

from frontier.errors import InputError


class RunLock:
    """Context manager that holds the lock of a run directory."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> "RunLock":
        mine = json.dumps(
            {
                "host": socket.gethostname(),
                "process": os.getpid(),
                "process_started": psutil.Process().create_time(),
                "since": time.time(),
            }
        )
        while True:
            try:
                with self.path.open("x") as file:
                    file.write(mine)
                return self
            except FileExistsError:
                self._clear_if_stale()

    def __exit__(self, *_) -> None:
        self.path.unlink(missing_ok=True)

    def _clear_if_stale(self) -> None:
        """Remove a lock whose holder is dead; InputError if it may live."""
        try:
            holder = json.loads(self.path.read_text())
        except FileNotFoundError:
            return
        except ValueError:
            holder = {"host": "unknown", "process": "unknown", "since": self.path.stat().st_mtime}
        if holder["host"] == socket.gethostname() and not _lives(holder):
            self.path.unlink(missing_ok=True)
            return
        minutes = (time.time() - holder["since"]) / 60
        raise InputError(
            f"{self.path.parent} is being written by process {holder['process']} on host "
            f"{holder['host']} since {minutes:.0f} minutes. Stop that run first; if you are sure "
            f"that it is dead, remove {self.path}"
        )


def _lives(holder: dict) -> bool:
    try:
        started = psutil.Process(holder["process"]).create_time()
    except psutil.NoSuchProcess:
        return False
    return abs(started - holder["process_started"]) < 1
