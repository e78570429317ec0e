"""A checked copy of all files at a place, from one kind of storage to another.

A backup relies on only two facts: ``run.json`` marks a run, and the ledger says how far the run has
progressed. The backup writes these two files last, so an interrupted backup leaves no run. It
leaves a marker, which tells the next backup that it may overwrite the files there. Every file is
forced to the disk, read again and compared.
"""

import re
import uuid
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field

import google_crc32c

from frontier.errors import CorruptRunError, InputError, path_error
from frontier.runs.directory import refuse_inside_run
from frontier.storage.base import PARTIAL, Storage
from frontier.storage.local import MARKED
from frontier.storage.lock import reading, writing

CHUNK_BYTES = 16 << 20
"""The number of bytes of a file that are in memory at a time."""

LEDGER, RUN = LAST = "ledger.json", "run.json"

MARKER = re.compile(rf"backup\.[0-9a-f]{{32}}{re.escape(PARTIAL)}")
"""The name of an empty file that marks a place from the beginning of a backup to its end."""


@dataclass
class Backup:
    """The result of a backup: the number of its files and bytes. left_out: the files that could not
    be read and that the run does not need."""

    path: str
    files: int = 0
    bytes: int = 0
    left_out: list[str] = field(default_factory=list)


def back_up(
    source: Storage,
    target: Storage,
    spare: Set[str] = frozenset(),
    say: Callable[[str], None] = lambda text: None,
) -> Backup:
    """Copy a run, which no process may be writing, to an empty place.

    spare: names of files that are left out if the system cannot read them. say: called with the
    name of each file before it is copied. Raises InputError if another process is writing the run,
    or if something is at `target`; CorruptRunError if a name stands for something other than a
    file, or if a copy differs.
    """
    check_new(target)
    names, own = target.names() - {"lock"}, source.names()
    begun = any(map(MARKER.fullmatch, names)) and RUN not in names
    if names and not (begun and all(name in own or MARKED.fullmatch(name) for name in names)):
        raise taken(target)
    try:
        target.make_folder()
    except OSError as error:
        raise path_error(f"{target} cannot be made: {error.strerror}", error) from None
    backup = Backup(str(target))
    with reading(source), writing(target):
        old = [name for name, _ in target.files() if name != "lock"]
        target.write(marker := f"backup.{uuid.uuid4().hex}{PARTIAL}", b"", durable=True)
        # Delete older markers last: without one, the next backup could not overwrite the other
        # files.
        target.delete(*sorted(old, key=lambda name: MARKER.fullmatch(name) is not None))
        version = source.version(LEDGER)
        files = [name for name, _ in source.files() if not _is_passing(name)]
        in_order = sorted(files, key=lambda name: (name in LAST, name != LEDGER, name))
        try:
            for name in in_order:
                if name in LAST and source.version(LEDGER) != version:
                    raise _written(source)
                say(name)
                try:
                    backup.bytes += _copy(source, target, name)
                    backup.files += 1
                except FileNotFoundError:
                    raise _written(source) from None
                except (OSError, ValueError):
                    if name not in spare:
                        raise
                    backup.left_out.append(name)
        except BaseException:
            target.delete(*LAST)
            raise
        target.delete(marker)
    target.force_above()
    return backup


def taken(place: Storage) -> InputError:
    """Return the error for a place that is already taken."""
    return InputError(f"{place} already exists; name another place")


def check_new(target: Storage) -> None:
    """Raise InputError if a place is a file, or lies inside a run."""
    if target.exists("") and not target.is_folder():
        raise taken(target)
    refuse_inside_run(target)


def _is_passing(name: str) -> bool:
    return name == "lock" or any(map(MARKED.fullmatch, name.split("/")))


def _written(source: Storage) -> InputError:
    return InputError(f"{source} changed while it was being copied; stop that run first")


def _copy(source: Storage, target: Storage, name: str) -> int:
    """Copy a file, and return its size in bytes."""
    for end in range(len(name)):
        if name[end] == "/":
            target.make_folder(name[:end])
    total = source_checksum = target_checksum = 0
    with target.new_file(name) as writer:
        for chunk in _chunks(source, name):
            writer.write(chunk)
            total, source_checksum = (
                total + len(chunk),
                google_crc32c.extend(source_checksum, bytes(chunk)),
            )
        writer.finish(durable=True)
    for chunk in _chunks(target, name):
        target_checksum = google_crc32c.extend(target_checksum, bytes(chunk))
    if target_checksum != source_checksum:
        raise CorruptRunError(f"{target.place(name)} is corrupt; try again")
    return total


def _chunks(storage: Storage, name: str) -> Iterator[memoryview]:
    """Generate the bytes of a file, some at a time."""
    _, size = storage.read_tail(name, 1)
    room = memoryview(bytearray(min(size, CHUNK_BYTES)))
    for begin in range(0, size, CHUNK_BYTES):
        view = room[: size - begin]
        storage.read_ranges(name, [begin], [view])
        yield view
