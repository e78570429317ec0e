"""Small files that are put in place whole or not at all."""

import hashlib
import json
import os
import re
import shutil
import stat
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

from frontier.errors import CorruptRunError
from frontier.store.lock import is_held

DELETING = ".deleting"
PARTIAL = ".partial"
MARKED = re.compile(rf".+\.[0-9a-f]{{32}}({re.escape(PARTIAL)}|{re.escape(DELETING)})")
"""Names of files and folders that are being written or deleted; nobody else has such names."""

MOST_BYTES = 1 << 28
"""A file that is read as a whole has at most so many bytes."""

MOST = 1 << 63
"""Numbers in the files of a run are smaller than this."""


def write_json(path: Path, value: object, durable: bool = False) -> None:
    """Write a value as JSON, as `write_bytes` does."""
    write_text(path, json.dumps(value), durable)


def write_text(path: Path, text: str, durable: bool = False) -> None:
    """Write a text in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode(), durable)


def write_bytes(path: Path, content: bytes, durable: bool = False) -> None:
    """Write a file that a reader sees either as it was or as it is now.

    That holds however the process dies. durable: it is on the disk when this returns; else a
    power failure may lose the last seconds.
    """
    scratch = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with scratch.open("wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        scratch.replace(path)
    except OSError:  # such as a full disk, which it would fill further
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise
    if durable:
        force(path.parent)


def make_own(path: Path) -> None:
    """Make a file that is appended to one of ours alone: a link, or a file with other names, is
    replaced by a copy, and a pipe or a device by an empty file."""
    try:
        about = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
        return
    write_bytes(path, path.read_bytes() if path.is_file() else b"")


def force(path: Path) -> None:
    """Return when the disk has a file's content, or the names in a folder."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def force_above(path: Path) -> None:
    """Return when the disk has the name of a directory, and of those above it that may be new."""
    device = path.stat().st_dev
    for folder in path.resolve().parents:
        if folder.stat().st_dev != device or not os.access(folder, os.R_OK | os.W_OK):
            break  # this process has made nothing there
        force(folder)


def read_json(path: Path) -> dict:
    """The value of a file of `write_json`; CorruptRunError if it does not hold one.

    That a file cannot be read, for whatever reason of the system's, is an OSError: it says nothing
    about what the file holds.
    """
    try:
        return json.loads(read_bounded(path))
    except FileNotFoundError:
        raise CorruptRunError(f"{path} is missing, though the run says it was written") from None
    except IsADirectoryError:
        raise CorruptRunError(f"{path} is a directory, not the file that was written") from None
    except (ValueError, RecursionError) as error:
        raise CorruptRunError(f"{path} is not what was written there: {error}") from None


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file; ValueError if it is none or has more than `most` bytes."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would be waited for
    with open(number, "rb") as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is no regular file")
        content = file.read(min(most, about.st_size) + 1)  # so much memory is taken at once
    if len(content) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return content


def check_types(value: object) -> None:
    """ValueError if a field of a dataclass is not of its type, or is a number below 0 or from
    `MOST` on."""
    for name, kind in _types(type(value)).items():
        if not _is(getattr(value, name), kind):
            raise ValueError(f"its {name} is not what a run writes")


_types = cache(get_type_hints)


def _is(value: object, kind: object) -> bool:
    inside = get_args(kind)
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in inside
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(_is(each, inside[1]) for each in value.values())
    if inside:
        return any(_is(value, one) for one in inside)
    if kind in (int, float):
        return type(value) in (int, kind) and 0 <= value < MOST
    return isinstance(value, kind)


def write_sealed(path: Path, value: dict, durable: bool = False) -> None:
    """Write a value as `write_json` does, with a digest that `read_sealed` checks."""
    write_json(path, {**value, "digest": _digest(value)}, durable)


def read_sealed(path: Path) -> dict:
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
    """Delete a directory so that an interrupted deletion is never taken for data."""
    if path.exists():
        doomed = path.with_name(f"{path.name}.{uuid.uuid4().hex}{DELETING}")
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove what interrupted writes and deletions of ours left directly in a folder.

    name: only what would have got that name. A folder whose lock is held is being made.
    """
    for path in folder.iterdir():
        if not MARKED.fullmatch(path.name) or name not in (None, path.name.rsplit(".", 2)[0]):
            continue
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        elif not is_held(path / "lock"):
            shutil.rmtree(path, ignore_errors=True)


def disk_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except FileNotFoundError:  # deleted while we looked
                continue
    return total


def existing(path: Path) -> Path:
    """The nearest directory above a path, or the path itself, that is there."""
    return next(place for place in (path, *path.parents) if place.is_dir())
