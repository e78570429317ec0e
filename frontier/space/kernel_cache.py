"""How kernels are compiled, and kept on disk: Numba's cache, with a digest at the end of each file.

Kernels release the interpreter lock, so a worker still answers its scheduler while one runs. They
are kept, so only the first run on a machine compiles them, in the user's cache directory or in that
of ``NUMBA_CACHE_DIR``. Numba does not notice when a kernel that was inlined from another file
changes; the name of the folder therefore carries a hash of all sources that have kernels.
Functions that others compile in the same process are cached where they would be without this
package.

Numba takes what it finds in its cache for what it has written there: a file that is cut ends the
program with an error of the module `pickle`, and machine code in which a bit has turned is run.
Here a file counts only if the digest at its end is that of its name and its content; Numba's own
way of reading ends before the digest. Any other file is as good as none: the kernel is compiled
anew, and written over it. Where nothing can be written, each process compiles its kernels, and says
so.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

from frontier.stopwatch import preparing

DIGEST_BYTES = 32


def compiled(function: Callable) -> Callable:
    """What Numba makes of a function: loaded from the folder of kernels, or kept there."""
    kernel, folder = numba.njit(nogil=True, error_model="numpy")(function), _folder()
    before, kernels = numba.config.CACHE_DIR, None
    if folder:
        numba.config.CACHE_DIR = str(folder)
        with suppress(RuntimeError):  # there is no folder that can be written
            kernels = _Cache(function)
        numba.config.CACHE_DIR = before
    if kernels and folder in Path(kernels.cache_path).parents:
        kernel._cache = kernels
    else:  # Numba would use another folder, whose name does not depend on our sources
        warn(folder)
    return kernel


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
    """Lets the clock run while Numba compiles, and tells that it does."""

    def on_start(self, event):
        preparing.tell()
        preparing.__enter__()

    def on_end(self, event):
        preparing.__exit__()


event.register("numba:compile", _Compiling())


class _Cache(FunctionCache):
    """The cache of one function."""

    def __init__(self, function: Callable):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Files(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        with preparing:
            return super().load_overload(sig, target_context)

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError:  # such as a full disk
            warn(Path(self.cache_path))


class _Files(IndexDataCacheFile):
    """The files of one function: an index, and one for each signature."""

    def save(self, key, data):
        """Numba numbers the files of a function one after the other. Two processes that compile it
        for different types at once may then take the same number, and run each other's code. Here
        the number is that of the types."""
        overloads = self._load_index()
        if key not in overloads:
            number = int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "little")
            overloads[key] = self._data_name(number)
            self._save_index(overloads)
        self._save_data(overloads[key], data)

    def _load_index(self):
        return super()._load_index() if _is_whole(self._index_path) else {}

    def _load_data(self, name):
        path = self._data_path(name)
        if not _is_whole(path):
            raise FileNotFoundError(path)  # the function is compiled then
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath) -> Iterator:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            file.write(_digest(filepath, Path(file.name).read_bytes()))


def _is_whole(path: str) -> bool:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return content[-DIGEST_BYTES:] == _digest(path, content[:-DIGEST_BYTES])


def _digest(path: str, content: bytes) -> bytes:
    return hashlib.sha256(Path(path).name.encode() + b"\0" + content).digest()
