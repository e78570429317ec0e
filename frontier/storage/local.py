"""Files in a directory."""

import errno
import mmap
import os
import re
import shutil
import stat
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from frontier.storage.base import DELETING, MOST_BYTES, PARTIAL, Replaced, Storage, Writer
from frontier.storage.lock import is_held
from frontier.storage.paths import ABSENT, about_path, is_file, is_folder, naming, opened

MARKED = re.compile(rf".+\.[0-9a-f]{{32}}({re.escape(PARTIAL)}|{re.escape(DELETING)})")
"""The names of files and folders that are being written or deleted, and of no others."""


CANNOT_MAP = errno.EINVAL, errno.ENODEV, errno.ENOSYS, errno.EOPNOTSUPP
"""The errors of file systems that cannot map files."""


class LocalStorage(Storage):
    """A directory, which need not exist yet."""

    path: Path

    def __init__(self, path: Path):
        self.path, self._root = path, str(path)
        self.lock_file = path / "lock"

    @property
    def parent(self) -> "LocalStorage":
        return LocalStorage(self.path.parent)

    def absolute(self) -> "LocalStorage":
        return LocalStorage(self.path.absolute())

    def resolved(self) -> "LocalStorage":
        return LocalStorage(self.path.resolve())

    def below(self, name: str) -> "LocalStorage":
        return LocalStorage(self.path / name)

    def place(self, name: str = "") -> Path:
        return self.path / name

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    # Names and versions.

    def version(self, name: str) -> object:
        about = about_path(self._at(name))  # None also for a link that leads nowhere
        return about and (about.st_ino, about.st_mtime_ns, about.st_size)

    def is_folder(self, name: str = "") -> bool:
        return is_folder(self._at(name))

    def names(self, folder: str = "") -> set[str]:
        if folder and self.is_link(folder):
            return set()
        try:
            return set(os.listdir(self._at(folder)))
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def files(self, folder: str = "") -> Iterator[tuple[str, int]]:
        for root, _, names in os.walk(self._at(folder), onerror=_raise_unless_gone):
            for name in names:
                path = os.path.join(root, name)
                if (about := about_path(path, follow=False)) is not None:  # None if just deleted
                    yield os.path.relpath(path, self._root), about.st_size

    def modified(self, name: str) -> float:
        return os.stat(self._at(name)).st_mtime

    # Reading.

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        content, size = self.read_tail(name, most)
        if size > most:
            raise ValueError(f"it has more than {most:,} bytes")
        return content

    def read_tail(self, name: str, size: int) -> tuple[bytes, int]:
        with opened(self._at(name)) as number:
            total = os.fstat(number).st_size
            view = memoryview(bytearray(min(size, total)))
            return bytes(view[: _fill(view, number, total - len(view))]), total

    def read_ranges(self, name: str, begin: Sequence[int], views: Sequence[memoryview]) -> None:
        with opened(self._at(name)) as number:
            for offset, view in zip(begin, views, strict=True):
                if _fill(view, number, offset) < len(view):
                    raise EOFError

    def map_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> np.ndarray | None:
        if sys.platform != "linux":  # elsewhere `sendfile` takes only sockets
            return None
        with opened(self._at(name)) as number, open(os.devnull, "wb") as nowhere:
            try:
                for begin, end in ranges:
                    _fetch(number, begin, end, nowhere.fileno())
                # Nothing writes to it, but Numba would compile kernels again for read-only memory.
                data = np.frombuffer(mmap.mmap(number, 0, access=mmap.ACCESS_COPY), dtype=np.uint8)
                if ranges and data.size < max(end for _, end in ranges):
                    raise EOFError
                return data
            except OSError as error:
                if error.errno in CANNOT_MAP:
                    return None
                raise

    # Writing.

    def write(self, name: str, content: bytes, durable: bool = False) -> None:
        write_bytes(self._at(name), content, durable)

    def replace(self, name: str, content: bytes, was: object, durable: bool = False) -> object:
        if self.version(name) != was:
            raise Replaced(str(self.place(name)))
        self.write(name, content, durable)
        return self.version(name)

    def append(self, name: str, content: bytes) -> None:
        self._make_own(name)
        with naming(self._at(name)), open(self._at(name), "ab") as file:
            file.write(content)

    def _make_own(self, name: str) -> None:
        """Make sure that a file to append to has only one name. A copy replaces a link, or a file
        with several names; an empty file replaces a pipe or a device."""
        path = self._at(name)
        about = about_path(path, follow=False)
        if about and not (stat.S_ISREG(about.st_mode) and about.st_nlink == 1):
            self.write(name, Path(path).read_bytes() if is_file(path) else b"")

    def new_file(self, name: str) -> "FileWriter":
        return FileWriter(self._at(name))

    def delete(self, *names: str) -> None:
        for name in names:
            with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                os.unlink(self._at(name))

    # Folders, links and the disk.

    def make_folder(self, name: str = "") -> None:
        if name:
            with suppress(FileExistsError):
                os.mkdir(self._at(name))
        else:
            self.path.mkdir(parents=True, exist_ok=True)

    def remove_folder(self, name: str = "") -> None:
        with suppress(OSError):  # any file left in it belongs to somebody else
            os.rmdir(self._at(name))

    def force(self, *names: str) -> None:
        for name in names:
            force(self._at(name))

    def force_above(self) -> None:
        device = self.path.stat().st_dev
        for folder in self.path.resolve().parents:
            if folder.stat().st_dev != device or not os.access(folder, os.R_OK | os.W_OK):
                break  # this process made nothing from here up
            force(folder)

    def sweep(self, folder: str = "") -> None:
        """Delete the remains of interrupted writes directly in a folder. A folder whose lock is
        held is still being made, so it stays."""
        for marked in filter(MARKED.fullmatch, self.names(folder)):
            path = self.place(folder) / marked
            if not is_folder(path, follow=False):
                path.unlink(missing_ok=True)
            elif not is_held(path / "lock"):
                shutil.rmtree(path, ignore_errors=True)

    def is_link(self, name: str) -> bool:
        about = about_path(self._at(name), follow=False)
        return about is not None and stat.S_ISLNK(about.st_mode)

    def free(self) -> float:
        return shutil.disk_usage(existing(self.path)).free

    def free_files(self) -> int | None:
        files = os.statvfs(existing(self.path))
        return files.f_favail if files.f_files else None

    def zarr(self, name: str) -> Path:
        return self.place(name)


class FileWriter(Writer):
    """A file that is written chunk by chunk. `finish` gives it its name."""

    def __init__(self, path: str | Path):
        self._path = str(path)
        self._scratch: str | None = _scratch(path)
        self._file = open(self._scratch, "xb", buffering=0)  # noqa: SIM115

    def write(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        with naming(self._path):
            while view:
                view = view[self._file.write(view) :]  # a write may take fewer bytes than given

    def finish(self, durable: bool) -> None:
        with naming(self._path):
            if durable:
                os.fsync(self._file.fileno())
            self._file.close()
        if self._scratch:
            os.replace(self._scratch, self._path)
        self._scratch = None
        if durable:
            force(os.path.dirname(self._path) or ".")

    def abandon(self) -> None:
        self._file.close()
        if self._scratch:
            with suppress(OSError):
                os.unlink(self._scratch)


def _scratch(path: str | Path) -> str:
    """Return a temporary path for a file that will get this path."""
    return f"{path}.{uuid.uuid4().hex}{PARTIAL}"


def write_bytes(path: str | Path, content: bytes, durable: bool = False) -> None:
    """Write a file as `Storage.write` does."""
    with FileWriter(path) as writer:  # without `with`, a full disk would keep the scratch file
        writer.write(content)
        writer.finish(durable)


def force(path: str | Path) -> None:
    """Return once a file's content, or the names in a folder, are on the disk."""
    with opened(path, or_folder=True) as number:
        os.fsync(number)


def _fill(view: memoryview, number: int, offset: int) -> int:
    """Read a file from an offset until the memory is full or the file ends, and return the number
    of bytes read."""
    done = 0
    while done < len(view) and (got := os.preadv(number, [view[done:]], offset + done)):
        done += got
    return done


def _fetch(number: int, begin: int, end: int, nowhere: int) -> None:
    """Bring bytes of a file into the system's cache, where they can be mapped without another wait.

    Nothing is copied, and other threads continue meanwhile. Raises OSError if the disk fails,
    EOFError if the file ends before `end`. nowhere: the descriptor of the null device.
    """
    while begin < end:
        sent = os.sendfile(nowhere, number, begin, end - begin)
        if not sent:
            raise EOFError
        begin += sent


def _raise_unless_gone(error: OSError) -> None:
    """Let `os.walk` skip only folders that were deleted meanwhile."""
    if error.errno not in ABSENT:
        raise error


def remove_tree(path: Path) -> None:
    """Delete a directory so that its remains after an interruption are never taken for data."""
    if about_path(path) is not None:
        doomed = path.with_name(f"{path.name}.{uuid.uuid4().hex}{DELETING}")
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def existing(path: Path) -> Path:
    """Return the nearest existing directory: the path itself, or one above it."""
    return next(place for place in (path, *path.parents) if is_folder(place))
