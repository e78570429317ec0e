"""The versions, machines and settings of the starts of a run, for people.

``environment.json`` has an entry for each start of the run, resumed or not. It names no user, host,
path or account, so that a report that uses it can be published. The search never reads it.
"""

import platform
import time
from contextlib import suppress
from importlib.metadata import version

from frontier import __version__, machine
from frontier.config.loading import Config
from frontier.errors import CorruptRunError
from frontier.runs.events import Event, Started
from frontier.storage.base import Storage
from frontier.storage.sealed import read_sealed, write_sealed

NAME = "environment.json"

LIBRARIES = ("dask", "distributed", "numba", "numpy", "zarr")


def versions() -> dict[str, str]:
    """Return the versions of frontier and of the libraries on which a result may depend."""
    return {"frontier": __version__, **{name: version(name) for name in LIBRARIES}}


def note_start(storage: Storage, config: Config, event: Event) -> None:
    """Add a start to the environment of the run in a storage; other events are ignored.

    A run by layers also records the number of layers committed before, a run by cosets its
    question. Raises OSError if the system cannot read or write the file.
    """
    if not isinstance(event, Started):
        return
    visits = event.states is not None
    start = {
        "began": time.time(),
        **({"layers": event.depth + 1} if visits else {"asked": event.request}),
        "workers": event.workers,
        "python": platform.python_version(),
        "versions": versions(),
        "processor": machine.processor(),
        "cores": machine.cores(),
        "memory": machine.memory(),
        "platform": f"{platform.system()}, {platform.machine()}",
        "config": {"puzzle": config.puzzle_settings, **config.settings},
    }
    write_sealed(storage, NAME, {"starts": [*read_starts(storage), start]})


def read_starts(storage: Storage) -> list[dict]:
    """Return the starts of the run in a storage, in order.

    The list is empty if the file is missing or damaged. Raises OSError if the system cannot read
    it.
    """
    with suppress(CorruptRunError, ValueError):  # the second if it is no file
        return read_sealed(storage, NAME)["starts"]
    return []
