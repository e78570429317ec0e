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

Numba numbers the files of a kernel one after the other, by an index. Two processes that save the
kernel for different types at once could take the same number, and run each other's code. So one
process at a time saves kernels and seals them, or looks at a seal, under a lock of the folder.
Numba's events say when: it saves what it has compiled after the end of ``numba:compile`` and before
that of the ``numba:compiler_lock`` around it.
"""

import fcntl
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from glob import escape, iglob
from pathlib import Path
from typing import NamedTuple

import numba
from numba.core import event

from frontier.stopwatch import preparing

SETTINGS = {"nogil": True, "error_model": "numpy"}


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
        files = KernelFiles(folder / "lock", str(place / name))
        with files.lock():
            files.delete_unless_sealed()
    except (RuntimeError, OSError):
        return None
    finally:
        numba.config.CACHE_DIR = before
    _files[kernel] = files
    return kernel


class KernelFiles(NamedTuple):
    """The files of one kernel: Numba's, and the seal.

    lock_file: that of the folder. start: what their paths begin with; a point and more follow.
    """

    lock_file: Path
    start: str

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from saving kernels, and from looking at seals."""
        with open(self.lock_file, "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

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


_files: dict[Callable, KernelFiles] = {}
"""The files of each kernel that is kept."""


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
    """Lets the clock run while Numba compiles, tells that it does, and locks before it saves."""

    def on_start(self, event):
        preparing.tell()
        preparing.__enter__()

    def on_end(self, event):
        preparing.__exit__()
        if files := _files.get(event.data["dispatcher"]):
            _saving.begin(files)


class _Saving(event.Listener, threading.local):
    """Lets the clock run while a kernel is loaded or saved, and seals what was saved.

    Each thread has the depth of the locks of Numba's compiler that it holds or waits for, and the
    kernels that it saves inside them: a kernel may call others, which are compiled meanwhile.
    """

    def __init__(self):
        self._depth = 0
        self._kernels: list[tuple[int, KernelFiles, ExitStack]] = []

    def begin(self, files: KernelFiles) -> None:
        """Lock the folder until the innermost lock of the compiler is released."""
        held = ExitStack()
        with suppress(OSError):
            held.enter_context(files.lock())
        self._kernels.append((self._depth, files, held))

    def on_start(self, event):
        preparing.__enter__()
        self._depth += 1

    def on_end(self, event):
        if self._kernels and self._kernels[-1][0] == self._depth:
            _, files, held = self._kernels.pop()
            with held, suppress(OSError):  # such as a full disk: it is not loaded then
                files.write_seal()
        self._depth -= 1
        preparing.__exit__()


_saving = _Saving()
event.register("numba:compile", _Compiling())
event.register("numba:compiler_lock", _saving)
