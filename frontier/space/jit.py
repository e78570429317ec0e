"""The one place where Numba is told how to compile the kernels.

Kernels release the interpreter lock, so a worker still answers its scheduler while one
runs, and are cached on disk, so only the first run on a machine compiles them. Numba does
not notice when a kernel that was inlined from another file changes; the cache folder's
name therefore carries a hash of the sources of this package. The cache is local to the
machine and the user, and ``NUMBA_CACHE_DIR`` overrides it. Functions that others compile
in the same process are cached where they would be without this package.
"""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import numba
from numba.core import event


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache() -> str:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(base / "frontier" / f"kernels-{_source_hash()}")


CACHE = numba.config.CACHE_DIR or _cache()


def kernel(function: Callable) -> Callable:
    """Compile a function when it is called first."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, CACHE  # read by njit
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = before


class _Compiling(event.Listener):
    """Adds up the seconds in which kernels are compiled; one inside another counts once."""

    def __init__(self):
        self.seconds, self._under_way, self._began = 0.0, 0, 0.0

    def on_start(self, event):
        if not self._under_way:
            self._began = time.perf_counter()
        self._under_way += 1

    def on_end(self, event):
        self._under_way -= 1
        if not self._under_way:
            self.seconds += time.perf_counter() - self._began


_compiling = _Compiling()
event.register("numba:compile", _compiling)


def compile_seconds() -> float:
    """Seconds in which this process has compiled kernels so far; none where all were cached."""
    return _compiling.seconds
