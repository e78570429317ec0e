"""The one place where Numba is told how to compile the kernels.

Kernels release the interpreter lock, so a worker still answers its scheduler while one
runs, and are cached on disk (`frontier.space.kernel_cache`), so only the first run on a machine
compiles them. Numba does not notice when a kernel that was inlined from another file changes; the
cache folder's name therefore carries a hash of the sources of this package. The folder is in the
user's cache directory, or in that of ``NUMBA_CACHE_DIR``. Functions that others compile in the same
process are cached where they would be without this package.

Numba takes longer to import than many a command takes, so it is when a kernel is called first.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from functools import cache, update_wrapper
from pathlib import Path

LITTLE = 10_000

_one_thread = threading.RLock()


class Preparing:
    """A clock that runs while kernels are got ready: Numba imported, kernels loaded or compiled.

    One thread at a time uses it: under `_one_thread` while Numba is imported, later under the lock
    of Numba's compiler. Entering it again inside itself changes nothing.
    """

    def __init__(self):
        self.seconds, self._began, self._inside = 0.0, 0.0, 0

    def __enter__(self) -> None:
        if not self._inside:
            self._began = time.perf_counter()
        self._inside += 1

    def __exit__(self, *_) -> None:
        self._inside -= 1
        if not self._inside:
            self.seconds += time.perf_counter() - self._began


preparing = Preparing()


class Kernel:
    """A function that is compiled when it is called first, by Python or by another kernel."""

    def __init__(self, function: Callable):
        self.function, self._compiled = function, None
        update_wrapper(self, function)

    def __call__(self, *arguments):
        return (self._compiled or self.compiled)(*arguments)

    def for_size(self, size: int) -> Callable:
        """The kernel, or for little work the Python function: it is done before Numba is loaded.

        size: how often its innermost loop is done, about.
        """
        return self.function if size <= LITTLE and self._compiled is None else self

    @property
    def compiled(self) -> Callable:
        """What Numba makes of it."""
        with _one_thread:
            if self._compiled is None:
                self._compiled = _compiler()(self.function)
        return self._compiled

    @property
    def _numba_type_(self):
        """How Numba takes it where another kernel calls it."""
        return self.compiled._numba_type_


kernel = Kernel


@cache
def _compiler() -> Callable:
    """What compiles a function."""
    with preparing:
        import numba

        from frontier.space.kernel_cache import keep_in, time_compiling, warn
    time_compiling()
    folder = _cache_folder(numba)

    def compiler(function: Callable) -> Callable:
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
        if folder is None:
            warn(folder)
            return compiled
        return keep_in(folder, compiled)

    return compiler


def _cache_folder(numba) -> Path | None:
    """Where kernels are kept; None if the user has no home."""
    base = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")
    try:
        base = Path(base or Path.home() / ".cache")
    except RuntimeError:
        return None
    if not numba.config.CACHE_DIR:
        base /= "frontier"
    return base.absolute() / f"kernels-{_source_hash(numba.__version__)}"


def _source_hash(version: str) -> str:
    digest = hashlib.sha256(version.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
