"""The program of a driver, which its workers must share."""

import socket
from typing import NamedTuple, Self

from frontier import __version__
from frontier.errors import InputError


class Program(NamedTuple):
    """The program of a driver or a worker: its host and its version, which determines the format
    of runs and the calls of tasks."""

    host: str
    version: str

    @classmethod
    def here(cls) -> Self:
        """Return the program of this process."""
        return cls(socket.gethostname(), __version__)

    def check_worker(self) -> None:
        """Raise InputError if this process, a worker of this driver, has another version."""
        worker = Program.here()
        if worker.version != self.version:
            raise InputError(
                f"the worker on host {worker.host} has frontier {worker.version}, but the driver "
                f"on host {self.host} has frontier {self.version}: install the same version on "
                "both and start the workers again"
            )
