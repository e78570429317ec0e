"""Files of a run, in a file system or in an object store (`frontier.store.objects`).

A file is put in place whole or not at all.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from frontier.errors import CorruptRunError
from frontier.store.buckets import Replaced
from frontier.store.lock import is_held
from frontier.store.objects import ObjectPath, ObjectWriter, Place

DELETING = ".deleting"
PARTIAL = ".partial"
MARKED = re.compile(rf".+\.[0-9a-f]{{32}}({re.escape(PARTIAL)}|{re.escape(DELETING)})")
"""Names of files and folders that are being written or deleted; nothing else has such names."""

MOST_BYTES = 1 << 28
"""The greatest size in bytes of a file that is read as a whole."""

Count = Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
Seconds = Annotated[float, Field(strict=True, ge=0, lt=1 << 63)]
"""Numbers in the files of a run."""


def write_json(path: Place, value: object, durable: bool = False) -> None:
    """Write a value as JSON, as `write_bytes` does."""
    write_text(path, json.dumps(value), durable)


def write_text(path: Place, text: str, durable: bool = False) -> None:
    """Write a text in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode(), durable)


def write_bytes(path: Place, content: bytes, durable: bool = False) -> None:
    """Write a file so that a reader sees either its old content or the new one.

    That holds however the process dies. durable: whether it is on the disk when this returns; else
    a power failure may lose what was written in the last seconds.
    """
    if isinstance(path, ObjectPath):
        path.write_bytes(content)
        return
    writer = FileWriter(path)
    try:
        writer.write(memoryview(content))
        writer.finish(durable)
    except BaseException:  # such as a full disk, on which the scratch file would stay
        writer.abandon()
        raise


class FileWriter:
    """A file that is written piece by piece, and gets its name by `finish`."""

    def __init__(self, path: Path):
        self._path = path
        self._scratch = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
        self._file = self._scratch.open("xb", buffering=0)

    def write(self, data: memoryview) -> None:
        while data:
            data = data[self._file.write(data) :]  # a file may take less than it is given

    def finish(self, durable: bool) -> None:
        """Put the file in place, whole. durable: whether it is on the disk when this returns."""
        if durable:
            os.fsync(self._file.fileno())
        self._file.close()
        self._scratch.replace(self._path)
        if durable:
            force(self._path.parent)

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        with suppress(OSError):
            self._scratch.unlink(missing_ok=True)


def new_file(path: Place) -> FileWriter | ObjectWriter:
    """A file to be written piece by piece."""
    return ObjectWriter(path) if isinstance(path, ObjectPath) else FileWriter(path)


def version_of(path: Place) -> object:
    """What distinguishes a file from those that replace it; None if there is none."""
    if isinstance(path, ObjectPath):
        return path.version()
    try:
        about = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size


def replace_bytes(path: Place, content: bytes, was: object, durable: bool = False) -> object:
    """Write a file as `write_bytes` does, if its version (`version_of`) still is `was`.

    Returns the new version; `Replaced` if it was another. Of two processes that replace an object
    at once, one gets that error; in a file system the caller must hold the lock of the run.
    """
    if isinstance(path, ObjectPath):
        return path.replace_bytes(content, was)
    if version_of(path) != was:
        raise Replaced(str(path))
    write_bytes(path, content, durable)
    return version_of(path)


def make_own(path: Path) -> None:
    """Make sure that a file to be appended to has no other name: a link, or a file that has one, is
    replaced by a copy, and a pipe or a device by an empty file."""
    try:
        about = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
        return
    write_bytes(path, path.read_bytes() if path.is_file() else b"")


def force(path: Place) -> None:
    """Return when a file's content, or the names in a folder, are on the disk; in an object store
    they always are."""
    if isinstance(path, ObjectPath):
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def force_above(path: Place) -> None:
    """Return when the name of a directory is on the disk, and those above it that may be new."""
    if isinstance(path, ObjectPath):
        return
    device = path.stat().st_dev
    for folder in path.resolve().parents:
        if folder.stat().st_dev != device or not os.access(folder, os.R_OK | os.W_OK):
            break  # this process has made nothing there
        force(folder)


def read_json(path: Place) -> dict:
    """The value of a file of `write_json`; CorruptRunError if it is missing or holds none.

    OSError if the system cannot read the file, which says nothing about what the file holds.
    """
    try:
        return json.loads(read_bounded(path))
    except FileNotFoundError:
        raise CorruptRunError(f"{path} is missing, though the run says it was written") from None
    except (ValueError, RecursionError) as error:
        raise CorruptRunError(f"{path} is not what was written there: {error}") from None


def read_bounded(path: Place, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file; ValueError if it is none or has more than `most` bytes."""
    if isinstance(path, ObjectPath):
        return path.read_bytes(most)
    content, size = read_tail(path, most)
    if size > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return content


def read_tail(path: Place, size: int) -> tuple[bytes, int]:
    """The last `size` bytes of a file, or all if it has fewer, and how many it has.

    ValueError if it is no regular file, such as a pipe, which never ends.
    """
    if isinstance(path, ObjectPath):
        return path.read_tail(size)
    with _opened(path) as number:
        total = os.fstat(number).st_size
        view = memoryview(bytearray(min(size, total)))
        return bytes(view[: _fill(view, number, total - len(view))]), total


def read_ranges(path: Place, begin: Sequence[int], views: Sequence[memoryview]) -> None:
    """Read some ranges of a file. begin: where each begins. views: memory of the size of each.

    EOFError if the file ends within a range; ValueError as of `read_tail`.
    """
    if isinstance(path, ObjectPath):
        path.read_ranges(begin, views)
        return
    with _opened(path) as number:
        for offset, view in zip(begin, views, strict=True):
            if _fill(view, number, offset) < len(view):
                raise EOFError


def _fill(view: memoryview, number: int, offset: int) -> int:
    """Read a file from an offset on; returns how many bytes came before the memory was full or the
    file ended."""
    done = 0
    while done < len(view) and (got := os.preadv(number, [view[done:]], offset + done)):
        done += got
    return done


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The number of a regular file that is open for reading; ValueError if it is none,
    FileNotFoundError also if a file is in the place of its folder."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # not to wait for the writer of a pipe
    except NotADirectoryError as error:
        raise FileNotFoundError(errno.ENOENT, error.strerror, str(path)) from None
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENODEV, errno.ELOOP):
            raise ValueError("it is no regular file") from None  # a socket, or a link to itself
        raise
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise ValueError("it is no regular file")
        yield number
    finally:
        os.close(number)


def first_wrong(error: ValidationError) -> str:
    """The first value that is not what a run writes, and why."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))[:100]!r}: {first['msg'][:200]!r}"


def write_sealed(path: Place, value: dict, durable: bool = False) -> None:
    """Write a value as `write_json` does, with a digest that `read_sealed` checks."""
    write_bytes(path, sealed(value), durable)


def sealed(value: dict) -> bytes:
    """What a file of `write_sealed` holds."""
    return json.dumps({**value, "digest": _digest(value)}).encode()


def read_sealed(path: Place) -> dict:
    """The value of a file of `write_sealed`; CorruptRunError if it was edited or damaged."""
    value = read_json(path)
    digest = value.pop("digest", None) if isinstance(value, dict) else None
    if digest is None or digest != _digest(value):
        raise CorruptRunError(f"{path} is not what was written there: its digest does not match")
    return value


def _digest(value: dict) -> str:
    plain = json.loads(json.dumps(value))  # as it will be read: keys are strings
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def remove_tree(path: Path) -> None:
    """Delete a directory so that what an interrupt leaves of it is never taken for data."""
    if path.exists():
        doomed = path.with_name(f"{path.name}.{uuid.uuid4().hex}{DELETING}")
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def sweep(folder: Place, name: str | None = None) -> None:
    """Remove what interrupted writes and deletions of this program left directly in a folder.

    name: if given, only what would have got that name. A folder whose lock is held is still being
    made, so it stays. In an object store nothing is ever left.
    """
    if isinstance(folder, ObjectPath):
        return
    for path in folder.iterdir():
        if not MARKED.fullmatch(path.name) or name not in (None, path.name.rsplit(".", 2)[0]):
            continue
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        elif not is_held(path / "lock"):
            shutil.rmtree(path, ignore_errors=True)


def unlink_all(paths: Sequence[Place]) -> None:
    """Delete those of some files of one folder that are there."""
    if paths and isinstance(paths[0], ObjectPath):
        ObjectPath.unlink_all(paths)
        return
    for path in paths:
        path.unlink(missing_ok=True)


def disk_bytes(folder: Place) -> int:
    """Bytes of all files below a folder."""
    if isinstance(folder, ObjectPath):
        return folder.bytes_below()
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except FileNotFoundError:  # deleted while we looked
                continue
    return total


def free_bytes(path: Place) -> float:
    """Bytes that are free where a directory is; no object store says how much room it has."""
    return inf if isinstance(path, ObjectPath) else shutil.disk_usage(path).free


def existing(path: Path) -> Path:
    """The nearest directory above a path, or the path itself, that is there."""
    return next(place for place in (path, *path.parents) if place.is_dir())
