"""How kernels are compiled and kept on disk: Numba's cache, in a folder of our own.

Kernels release the interpreter lock, so a worker still answers its scheduler while one runs. They
are kept in the user's cache directory or in ``NUMBA_CACHE_DIR``, so only the first run on a machine
compiles them. Nobody else may write there, because loading a kernel runs code from its files. Numba
does not notice changes in a kernel that was inlined from another file. The name of the folder
therefore carries a hash of all sources on which kernels depend. Functions that other packages
compile in the same process are cached where they would be without this package.

Processes that begin at the same time, such as the workers of a cluster, need the same kernels at
the same time. So only one of them compiles at a time, under the lock of the folder; the others
wait, and load what it has saved. The lock has a second purpose. Numba numbers the files of a kernel
consecutively, so two processes that saved it for different types at the same time could take the
same number and run each other's code. A process that cannot lock the folder therefore compiles and
does not save.
"""

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from stat import S_ISDIR, S_ISVTX, S_IWGRP, S_IWOTH
from typing import BinaryIO

import numba
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import unliteral

from frontier.jit.notices import tell_compiling
from frontier.stopwatch import preparing

SETTINGS = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Without its runtime, Numba counts no references to arrays. Counting takes an atomic operation at
each slice and each call, and took half of the time where rows are short. A kernel without the
runtime cannot allocate an array or assign one to a slice, so it uses loops, and callers pass it
scratch arrays."""


COMPILED = {"space", "codec", "kernels"}
"""The packages whose sources kernels depend on, including modules without a kernel."""


def compiled(function: Callable) -> Callable:
    """Return what Numba makes from a function, loaded from the folder of kernels or compiled and
    kept there."""
    folder = _folder()
    kernel = _kept(function, folder) if folder else None
    if kernel is None:
        warn(folder)
        kernel = numba.njit(**SETTINGS)(function)
    _take_constants_as_numbers(kernel)
    return kernel


def _take_constants_as_numbers(kernel) -> None:
    """Compile a kernel for the type of a number where another kernel calls it with a constant.

    Otherwise Numba would compile it once more for each constant.
    """
    call = kernel.get_call_template

    def call_with_numbers(arguments, keywords):
        return call(tuple(map(unliteral, arguments)), keywords)

    kernel.get_call_template = call_with_numbers


def _kept(function: Callable, folder: Path) -> Callable | None:
    """Return what Numba makes from a function and keeps; None if the folder cannot be written to,
    or if others can write to it."""
    if not _is_private(folder):
        return None
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        kernel = numba.njit(cache=True, **SETTINGS)(function)
    except (RuntimeError, OSError):
        return None
    finally:
        numba.config.CACHE_DIR = before
    if folder not in Path(kernel.stats.cache_path).parents:
        return None  # Numba would use another folder, whose name does not depend on our sources
    _compile_in_turn(kernel, folder)
    return kernel


def _is_private(folder: Path) -> bool:
    """Return whether only this user can put files into the folder; it is made if it does not exist.
    Loading a kernel runs code from its files."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        about, above = folder.lstat(), [parent.stat().st_mode for parent in folder.parents]
    except OSError:
        return False
    own = S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()
    # In a folder without the sticky bit, others could put a folder of theirs in the place of this.
    exposed = any(mode & S_IWOTH and not mode & S_ISVTX for mode in above)
    return own and not about.st_mode & (S_IWGRP | S_IWOTH) and not exposed


PATIENCE = 120.0
"""The seconds for which a process waits while another one compiles; then it compiles without the
lock, and saves nothing."""

_turn: list[BinaryIO] = []
"""The lock of the folder, while this process holds it. Code that uses this list holds Numba's
lock."""


def _compile_in_turn(kernel, folder: Path) -> None:
    """Have a kernel that is not in the folder compiled and saved under the folder's lock.

    The process keeps the lock until the outermost kernel is saved, because that one calls the
    others. Loading needs no lock, because Numba replaces each file atomically.
    """
    compile, load = kernel.compile, kernel._cache.load_overload

    def compile_in_turn(signature):
        with global_compiler_lock:
            outermost = not _turn
            try:
                return compile(signature)
            finally:
                if outermost and _turn:
                    with _turn.pop() as lock:
                        fcntl.flock(lock, fcntl.LOCK_UN)  # a child may have the file open

    def load_or_take_turn(signature, context):
        with suppress(Exception):
            found = load(signature, context)
            if found is not None:
                return found
        try:
            _take_turn(folder)
        except OSError:
            kernel._cache.disable()
            warn(folder)
            return None
        try:
            return load(signature, context)  # another process may have saved it meanwhile
        except Exception:  # a file is cut short, or is not a pickle
            shutil.rmtree(kernel.stats.cache_path, ignore_errors=True)
            return None

    kernel.compile, kernel._cache.load_overload = compile_in_turn, load_or_take_turn


def _take_turn(folder: Path) -> None:
    """Wait until no other process compiles. Raises OSError if files cannot be locked there, or if
    another process holds the lock for longer than `PATIENCE`."""
    if _turn:
        return
    until = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        lock = stack.enter_context((folder / "lock").open("ab"))
        while True:
            tell_compiling()  # the listener may end the wait
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)
        stack.pop_all()
    _turn.append(lock)


@cache
def _folder() -> Path | None:
    """Return the folder of kernels; None if the user has no home directory."""
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
        if b"@kernel" in content or source.parent.name in COMPILED:
            digest.update(content)
    return base.absolute() / f"kernels-{digest.hexdigest()[:16]}"


@cache
def warn(folder: Path | None) -> None:
    """Say, only once, that kernels are not kept."""
    where = f"in {folder}" if folder else "anywhere, because there is no home directory"
    said = (
        f"frontier: warning: compiled kernels cannot be kept {where}. Each process compiles them "
        "again; to avoid this, set NUMBA_CACHE_DIR to a directory with file locks to which only "
        "you can write"
    )
    if sys.stderr:
        print(said, file=sys.stderr)


class _Compiling(event.Listener):
    """Reports that Numba compiles."""

    def on_start(self, event):
        tell_compiling()

    def on_end(self, event):
        pass


class _Clock(event.Listener):
    """Runs the clock while a kernel is loaded, compiled or saved."""

    def on_start(self, event):
        preparing.__enter__()

    def on_end(self, event):
        preparing.__exit__()


event.register("numba:compile", _Compiling())
event.register("numba:compiler_lock", _Clock())
