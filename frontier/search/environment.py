"""Where and with what a run was made: kept beside it for people, and read by nothing that searches.

``environment.json`` has an entry for each time that the run was started or resumed. It names no
user, host, path or account, so that a report of it can be published. Losing it costs the search
nothing.
"""

import platform
import time
from importlib.metadata import version
from pathlib import Path

from frontier import __version__, machine
from frontier.config import Config
from frontier.errors import CorruptRunError
from frontier.storage.base import Storage
from frontier.storage.sealed import read_sealed, write_sealed

NAME = "environment.json"

LIBRARIES = ("dask", "distributed", "numba", "numpy", "zarr")

PUBLIC = {
    "search": {"keep", "spare", "until", "in_memory"},
    "store": {"codec", "fsync"},
    "cluster": {"kind", "workers", "memory"},
}
"""These keys of a config say nothing of the place where it ran."""


def versions() -> dict[str, str]:
    """Return the versions of frontier and of the libraries on which a result may depend."""
    return {"frontier": __version__, **{name: version(name) for name in LIBRARIES}}


def note_start(storage: Storage, config: Config, workers: int, **more) -> None:
    """Add this start to the environment of the run at a place.

    workers: their number at the start. more: of a run by layers, the number of layers that were
    committed before it; of a search of cosets, what is asked. OSError if the system cannot read or
    write the file.
    """
    start = {
        "began": time.time(),
        **more,
        "workers": workers,
        "python": platform.python_version(),
        "versions": versions(),
        "processor": processor(),
        "cores": machine.cores(),
        "memory": machine.memory(),
        "platform": f"{platform.system()}, {platform.machine()}",
        "config": {
            "puzzle": config.puzzle_settings,
            **config.model_dump(mode="json", include=PUBLIC, exclude_none=True),
        },
    }
    write_sealed(storage, NAME, {"starts": [*read_starts(storage), start]})


def read_starts(storage: Storage) -> list[dict]:
    """The starts of the run at a place, in order; none if the file is missing, damaged or of
    another version.

    OSError if the system cannot read it.
    """
    try:
        found = read_sealed(storage, NAME)
        return found.get("starts") or found.get("legs", [])  # their former name
    except CorruptRunError:
        return []


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
