"""How kernels are compiled, and kept on disk: Numba's cache in a folder of our own, under seals.

Kernels release the interpreter lock, so a worker still answers its scheduler while one runs. They
are kept, so only the first run on a machine compiles them, in the user's cache directory or in that
of ``NUMBA_CACHE_DIR``. Numba does not notice when a kernel that was inlined from another file
changes; the name of the folder therefore carries a hash of all sources that have kernels.
Functions that others compile in the same process are cached where they would be without this
package.

Numba takes what it finds in its cache for what it has written there: a file that is cut ends the
program with an error of the module `pickle`, and machine code in which a bit has turned is run. So
the files of a kernel have a *seal*, a digest over all of them. A process loads a kernel only if the
files agree with the seal; it deletes them if they do not, and the kernel is compiled anew.

Processes that begin at once, such as the workers of a cluster, need the same kernels at once. So
each kernel has a lock. A process that does not find the kernel locks it and looks again; if the
kernel is still not there, it compiles, saves and seals it before it unlocks it. Meanwhile the other
processes wait. The lock has a second purpose: Numba numbers the files of a kernel one after the
other, by an index, so two processes that saved it for different types at once could take the same
number, and run each other's code. Therefore a process that cannot lock a kernel compiles it and
does not save it.
"""

import fcntl
import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from glob import escape, iglob
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numba
from numba.core import event
from numba.core.types import unliteral

from frontier.stopwatch import preparing

SETTINGS = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Without its runtime, Numba counts no references to arrays. It counts them by atomic operations at
each slice and each call, which took half of the time where rows are short. A kernel without the
runtime can allocate no array, and assign none to a slice: its callers hand it scratch arrays, and
it has loops."""


def compiled(function: Callable) -> Callable:
    """Return what Numba makes of a function, loaded from the folder of kernels or kept there."""
    folder = _folder()
    kernel = _kept(function, folder) if folder else None
    if kernel is None:
        warn(folder)
        kernel = numba.njit(**SETTINGS)(function)
    _take_constants_as_numbers(kernel)
    return kernel


def _take_constants_as_numbers(kernel) -> None:
    """Compile a kernel for the type of a number where another kernel calls it with a constant.

    Numba would compile it once more for each constant.
    """
    call = kernel.get_call_template

    def call_with_numbers(arguments, keywords):
        return call(tuple(map(unliteral, arguments)), keywords)

    kernel.get_call_template = call_with_numbers


def _kept(function: Callable, folder: Path) -> Callable | None:
    """Return what Numba makes of a function, and keeps; None if the folder cannot be written."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        kernel = numba.njit(cache=True, **SETTINGS)(function)
        place, code = Path(kernel.stats.cache_path), function.__code__
        if folder not in place.parents:
            return None  # Numba would use another folder, whose name does not depend on our sources
        name = f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}"
        files = KernelFiles(str(place / name))
    except (RuntimeError, OSError):
        return None
    finally:
        numba.config.CACHE_DIR = before
    kernel._cache = SharedCache(kernel._cache, files)
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

    def sealed(self) -> bool:
        """Return whether Numba's files are those that were sealed."""
        with suppress(OSError):
            return self.seal.read_bytes() == self._digest()
        return False

    def delete_unless_sealed(self) -> None:
        """Delete Numba's files if they are not those that were sealed."""
        if not self.sealed():
            for path in self._paths():
                os.unlink(path)

    def write_seal(self) -> None:
        new = self.seal.with_suffix(".new")
        new.write_bytes(self._digest())
        os.replace(new, self.seal)


class SharedCache:
    """Numba's cache of a kernel, of which one process at a time compiles what is not there.

    Numba calls `load_overload`, and `save_overload` if that has found nothing and nothing fails. It
    does so under a lock of its own, so one thread of a process is here at a time.

    patience: for how many seconds a process waits for others in vain, once; then it waits no more.
    """

    patience = 120.0

    def __init__(self, cache, files: KernelFiles):
        self._cache, self._files = cache, files
        self._lock: BinaryIO | None = None

    def __getattr__(self, name):
        return getattr(self._cache, name)

    def load_overload(self, signature, context):
        """Return what is kept for a signature. If that is None, the kernel is locked, where this is
        possible, until `save_overload` or `release` is called."""
        found = None
        try:
            if self._files.sealed():
                found = self._cache.load_overload(signature, context)
            if found is None and self._acquire():
                self._files.delete_unless_sealed()
                found = self._cache.load_overload(signature, context)
        except OSError:
            self.release()
            warn(_folder())
            return None
        except BaseException:
            self.release()
            raise
        if found is not None:
            self.release()
        return found

    def save_overload(self, signature, result) -> None:
        """Save and seal what was compiled for a signature, if the kernel is locked."""
        try:
            if self._lock:
                self._cache.save_overload(signature, result)
                with suppress(OSError):  # such as a full disk: it is not loaded then
                    self._files.write_seal()
        finally:
            self.release()

    def _acquire(self) -> bool:
        """Lock the kernel, and return True; or False if others hold it for long.

        Raises OSError if it cannot be locked at all.
        """
        self.release()
        self._lock = open(f"{self._files.start}.lock", "ab")  # noqa: SIM115
        until, pause = time.monotonic() + self.patience, 0.01
        while not _try_lock(self._lock):
            if time.monotonic() >= until:
                SharedCache.patience = 0.0
                self.release()
                return False
            preparing.tell()
            time.sleep(pause)
            pause = min(1.2 * pause, 0.25)  # many may ask a network's file system
        return True

    def release(self) -> None:
        """Unlock the kernel if this process has locked it."""
        file, self._lock = self._lock, None
        if file:
            with suppress(OSError), file:
                fcntl.flock(file, fcntl.LOCK_UN)  # a child of this process may have the file open


def _try_lock(file: BinaryIO) -> bool:
    """Lock a file if no other process holds it, and return whether this was done."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
        "compiles them anew; let NUMBA_CACHE_DIR name a directory that can be written and locked"
    )
    if sys.stderr:
        print(said, file=sys.stderr)


class _Compiling(event.Listener):
    """Says that Numba compiles, and unlocks a kernel that it fails to compile.

    `event.is_failed` is true where nothing failed, at least until Numba 0.68.
    """

    def on_start(self, event):
        preparing.tell()

    def on_end(self, event):
        cache = getattr(event.data["dispatcher"], "_cache", None)
        if event._exc_details and isinstance(cache, SharedCache):
            cache.release()


class _Clock(event.Listener):
    """Lets the clock run while a kernel is loaded, compiled or saved."""

    def on_start(self, event):
        preparing.__enter__()

    def on_end(self, event):
        preparing.__exit__()


event.register("numba:compile", _Compiling())
event.register("numba:compiler_lock", _Clock())
