"""How kernels are compiled, and kept on disk: Numba's cache in a folder of our own, under seals.

Kernels release the interpreter lock, so a worker still answers its scheduler while one runs. They
are kept, so only the first run on a machine compiles them, in the user's cache directory or in that
of ``NUMBA_CACHE_DIR``. Numba does not notice when a kernel that was inlined from another file
changes; the name of the folder therefore carries a hash of all sources that have kernels.
Functions that others compile in the same process are cached where they would be without this
package.

Numba takes what it finds in its cache for what it has written there: a file that is cut ends the
program with an error of the module `pickle`, and machine code in which a bit has turned is run. So
the files of a kernel have a *seal*, a digest over all of them. Before a process loads a kernel it
compares them with the seal, and deletes them if they differ: the kernel is compiled anew.

Processes that begin at once, such as the workers of a cluster, need the same kernels at once. So
each kernel has a lock: a process that finds that it is not there compiles, saves and seals it
before others may look, and they find it then. Numba also numbers the files of a kernel one after
the other, by an index, so that two processes that save it for different types could take the same
number, and run each other's code. Therefore a process that could not lock a kernel, because another
one holds it for long or the file system has no locks, compiles it and does not save it.
"""

import fcntl
import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from glob import escape, iglob
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numba
from numba.core import event

from frontier.stopwatch import preparing

SETTINGS = {"nogil": True, "error_model": "numpy"}

PATIENCE = 60.0
"""For how many seconds a process waits for a kernel that another one compiles, which takes a few;
the other one may have been stopped meanwhile."""


def compiled(function: Callable) -> Callable:
    """What Numba makes of a function: loaded from the folder of kernels, or kept there."""
    folder = _folder()
    if folder and (kernel := _kept(function, folder)):
        return kernel
    warn(folder)
    return numba.njit(**SETTINGS)(function)


def _kept(function: Callable, folder: Path) -> Callable | None:
    """What Numba makes of a function that it keeps; None where the folder cannot be written."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        kernel = numba.njit(cache=True, **SETTINGS)(function)
        place, code = Path(kernel.stats.cache_path), function.__code__
        if folder not in place.parents:
            return None  # Numba would use another folder, whose name does not depend on our sources
        name = f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}"
        cache = SharedCache(kernel._cache, KernelFiles(str(place / name)))
        cache.delete_unless_sealed()
    except (RuntimeError, OSError):
        return None
    finally:
        numba.config.CACHE_DIR = before
    kernel._cache = _caches[kernel] = cache
    return kernel


class KernelFiles(NamedTuple):
    """The files of one kernel: Numba's, and the seal.

    start: what their paths begin with; a point and more follow.
    """

    start: str

    @property
    def seal(self) -> Path:
        return Path(f"{self.start}.seal")

    def _paths(self) -> list[str]:
        """The paths of Numba's files."""
        return sorted(iglob(f"{escape(self.start)}.py*.nb[ic]"))

    def _digest(self) -> bytes:
        """A digest over the names and the content of Numba's files."""
        found = hashlib.sha256()
        for path in map(Path, self._paths()):
            found.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
        return found.hexdigest().encode()

    def delete_unless_sealed(self) -> None:
        """Delete Numba's files if they are not those that were sealed."""
        with suppress(FileNotFoundError):
            if self.seal.read_bytes() == self._digest():
                return
        for path in self._paths():
            os.unlink(path)

    def write_seal(self) -> None:
        new = self.seal.with_suffix(".new")
        new.write_bytes(self._digest())
        os.replace(new, self.seal)


class SharedCache:
    """Numba's cache of a kernel, in which one process at a time looks for it or compiles it.

    Numba calls `load_overload`, and `save_overload` if that has found nothing and nothing fails.
    """

    def __init__(self, cache, files: KernelFiles):
        self._cache, self._files = cache, files
        self._lock: ExitStack | None = None

    def __getattr__(self, name):
        return getattr(self._cache, name)

    def delete_unless_sealed(self) -> None:
        """Delete what was not sealed; raise OSError where the kernel cannot be locked."""
        self._acquire()
        try:
            if not self._lock:
                raise OSError(f"{self._files.start} cannot be locked")
            self._files.delete_unless_sealed()
        finally:
            self.release()

    def load_overload(self, signature, context):
        """What is kept for a signature; if it is None, other processes wait for what is saved."""
        self._acquire()
        try:
            found = self._cache.load_overload(signature, context)
        except BaseException:
            self.release()
            raise
        if found is not None:
            self.release()
        return found

    def save_overload(self, signature, result) -> None:
        try:
            if self._lock:
                self._cache.save_overload(signature, result)
                with suppress(OSError):  # such as a full disk: it is not loaded then
                    self._files.write_seal()
        finally:
            self.release()

    def _acquire(self) -> None:
        """Lock the kernel, or go on without a lock."""
        until, pause = time.monotonic() + PATIENCE, 0.01
        with suppress(OSError), ExitStack() as opened:
            file = opened.enter_context(open(f"{self._files.start}.lock", "ab"))
            while not _locked(file):
                if time.monotonic() > until:
                    return
                preparing.tell()
                pause = min(1.2 * pause, 1.0)  # many may ask a network's file system
                time.sleep(pause)
            self._lock = opened.pop_all()

    def release(self) -> None:
        """Let other processes look for the kernel."""
        if self._lock:
            self._lock.close()
        self._lock = None


def _locked(file: BinaryIO) -> bool:
    """Whether this process could lock a file, which no other one holds then."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


_caches: dict[Callable, SharedCache] = {}
"""The cache of each kernel that is kept."""


@cache
def _folder() -> Path | None:
    """Where kernels are kept; None if the user has no home."""
    base = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")
    try:
        base = Path(base or Path.home() / ".cache")
    except RuntimeError:
        return None
    if not numba.config.CACHE_DIR:
        base /= "frontier"
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parents[1]
    for source in sorted(package.rglob("*.py")):
        content = source.read_bytes()
        if b"@kernel" in content or source.parent == Path(__file__).parent:
            digest.update(content)
    return base.absolute() / f"kernels-{digest.hexdigest()[:16]}"


@cache
def warn(folder: Path | None) -> None:
    """Say, once, that kernels are not kept."""
    where = f"in {folder}" if folder else "anywhere, as there is no home directory"
    said = (
        f"frontier: warning: compiled kernels cannot be kept {where}, so that each process "
        "compiles them anew; let NUMBA_CACHE_DIR name a directory that can be written"
    )
    if sys.stderr:
        print(said, file=sys.stderr)


class _Compiling(event.Listener):
    """Tells that Numba compiles, and unlocks a kernel that it fails to compile.

    `event.is_failed` is true where nothing failed, at least until Numba 0.68.
    """

    def on_start(self, event):
        preparing.tell()

    def on_end(self, event):
        if event._exc_details and (cache := _caches.get(event.data["dispatcher"])):
            cache.release()


class _Clock(event.Listener):
    """Lets the clock run while a kernel is loaded, compiled or saved."""

    def on_start(self, event):
        preparing.__enter__()

    def on_end(self, event):
        preparing.__exit__()


event.register("numba:compile", _Compiling())
event.register("numba:compiler_lock", _Clock())
