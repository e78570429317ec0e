"""A consistent copy of a run directory, also while the run goes on.

The file of a part gets its name when it is whole and is never written again, and part n of layer
t - 1 is deleted only when part n of layer t + 1 is in place. So the parts of the stored layers are
taken first, and those of the layer under way after them: if a part was deleted before it could be
taken, the part that replaces it is there by then. If the ledger has not changed meanwhile, these
files are the run as it stood when the ledger was read last; else it is all done once more, and only
files that are new are taken.

Within one file system a file is taken by a hard link, which costs neither time nor room. For a
target on another one the links are made in the run directory and copied from there, however long
that takes and however far the run goes meanwhile. Where no links can be made, files are copied.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from frontier.errors import CorruptRunError, InputError, StorageError, unwritable
from frontier.store.directory import FOR_PEOPLE, force_all, names_in, part_names
from frontier.store.files import PARTIAL, force, sweep
from frontier.store.lock import RunLock
from frontier.store.objects import ObjectPath, Place
from frontier.store.run import RunStore

NAME = "backup"
"""The name of a folder of links in a run directory begins so."""


@dataclass(frozen=True)
class Backup:
    """What a backup holds.

    depth: that of the last committed layer, None before the first. layers, parts, bytes: how many
    are stored. under_way: how many of the parts are of the layer that is not committed. linked:
    whether the files are hard links to those of the run. left_out: names of files for people that
    are no regular files or that the system could not copy.
    """

    path: str
    depth: int | None
    layers: int
    parts: int
    bytes: int
    under_way: int
    linked: bool
    left_out: list[str]


class _NoLinks(Exception):
    """Hard links cannot be made here."""


def back_up(path: Place, target: Place, say: Callable[[str], None] = lambda text: None) -> Backup:
    """Copy the run at `path` to a new run directory, which gets its name when it is whole.

    say: called with the name of each layer before it is taken. InputError if `target` exists;
    CorruptRunError if files of the run are missing.
    """
    if isinstance(path, ObjectPath):
        raise InputError(
            f"{path} cannot be backed up to {target}: a backup is made from one file system to "
            "another. Copy a run in an object store while no process writes it, by a program of "
            "that store, or let the store keep versions of its objects"
        )
    RunStore.open(path)
    check_target(target)
    sweep(path, NAME)  # the links of one that was killed
    with _in_the_making(target.parent, target.name) as folder:
        copy, linked = _filled(path, folder, say)
        left_out = sorted(names_in(path) & FOR_PEOPLE - names_in(folder))
        sizes = [file.stat().st_size for file in folder.glob("layers/*/c.*")]
        made = Backup(
            str(target), len(copy.records) - 1 if copy.records else None, len(copy.stored_depths()),
            len(sizes), sum(sizes), 0 if copy.complete else copy.tasks_done(), linked, left_out,
        )  # fmt: skip
        force_all(folder)
        _put_in_place(folder, target)
    return made


def _put_in_place(folder: Path, target: Path) -> None:
    """Give a backup its name; StorageError if it has got it, but a power failure may take it."""
    try:
        folder.rename(target)
        force(target.parent)
    except OSError as error:
        if folder.exists():
            raise
        raise StorageError(
            f"{target} is there and whole, but the system failed to force its name to the disk "
            f"({error}), so that a power failure may take it: keep it, or delete it and try again"
        ) from None


def check_target(target: Place) -> None:
    """Make the folder above a path; InputError if nothing new can be made at the path."""
    if isinstance(target, ObjectPath):
        raise InputError(
            f"{target} is in an object store: name a place in a file system, from where a program "
            "of the store copies it"
        )
    if os.path.lexists(target):
        raise InputError(f"{target} exists; nothing is overwritten, name another place")
    if inside := next(filter(RunStore.exists, target.resolve().parents), None):
        raise InputError(
            f"{target} lies in the run directory {inside}, which holds nothing but its run; name "
            "another place"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(f"{target.parent} cannot be made: {error.strerror}", error) from None


@contextmanager
def _in_the_making(where: Path, name: str) -> Iterator[Path]:
    """A folder whose name says what it will be, and whose lock says that a process is at work.

    It is deleted at the end, unless it has been renamed. Those that killed processes have left are
    deleted at the beginning.
    """
    sweep(where, name)
    folder = where / f"{name}.{uuid.uuid4().hex}{PARTIAL}"
    try:
        folder.mkdir()
    except OSError as error:
        raise unwritable(f"{where} cannot be written: {error.strerror}", error) from None
    try:
        with RunLock(folder / "lock"):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _filled(path: Path, folder: Path, say: Callable[[str], None]) -> tuple[RunStore, bool]:
    """Copy a run to a folder: the copy, and whether it consists of links."""
    try:
        return _taken(path, folder, _link, say), True
    except _NoLinks:
        shutil.rmtree(folder / "layers")
    try:
        with _in_the_making(path, NAME) as links:
            _taken(path, links, _link, say)
            for file in sorted(links.rglob("*")):
                name = file.relative_to(links)
                if file.is_dir():
                    say(str(name))
                    (folder / name).mkdir(exist_ok=True)
                elif file.name != "lock":
                    shutil.copy2(file, folder / name)
        return RunStore.open(folder), False
    except (_NoLinks, StorageError):
        return _taken(path, folder, shutil.copy2, say), False


def _link(file: Path, to: Path) -> None:
    try:
        os.link(file.resolve(), to)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _NoLinks from error


def _taken(
    path: Path, folder: Path, take: Callable[[Path, Path], None], say: Callable[[str], None]
) -> RunStore:
    """Take the files of a run as they stood at one moment."""
    run, now = None, RunStore.open(path)
    while run is None or (now.records, now.complete) != (run.records, run.complete):
        run = now
        copy = RunStore(folder, run.identity, run.records, run.complete)
        _take_files(run, copy, take, say)
        now = RunStore.open(path)
        if now.identity != run.identity:
            raise InputError(f"{path} has been begun anew meanwhile; back it up again")
    copy.write()
    if lost := run.missing() or copy.missing():
        what = lost[0].replace(str(folder), str(path))
        raise CorruptRunError(f"{what}, though its layer is stored; nothing is backed up")
    return copy


def _take_files(
    run: RunStore, copy: RunStore, take: Callable[[Path, Path], None], say: Callable[[str], None]
) -> None:
    """Make a copy hold what a run holds; layers are taken from the first to the one under way."""
    for name in FOR_PEOPLE:
        try:
            _take(run.path / name, copy.path / name, shutil.copy2)
        except OSError:  # the run goes on without it
            (copy.path / name).unlink(missing_ok=True)
    copy.layers_path.mkdir(exist_ok=True)
    _take(run.layers_path / "zarr.json", copy.layers_path / "zarr.json", take)
    depths = [*run.stored_depths(), *([] if run.complete else [len(run.records)])]
    folders = {copy.layer_path(depth): run.layer_path(depth) for depth in depths}
    for folder in copy.layers_path.iterdir():
        if folder.is_dir() and folder not in folders:
            shutil.rmtree(folder)  # the run has deleted this layer since it was taken
    for folder, source in folders.items():
        say(f"layer {source.name}")
        folder.mkdir(exist_ok=True)
        names = part_names(source)
        for name in part_names(folder) - names:
            (folder / name).unlink()
        for name in sorted(names | {"zarr.json"}):
            _take(source / name, folder / name, take)


def _take(file: Path, to: Path, take: Callable[[Path, Path], None]) -> None:
    """Take a file, unless it is gone, is not a regular file, or has been taken before."""
    with suppress(FileNotFoundError):
        if not file.is_file():
            return
        about = file.stat()
        if to.exists():
            before = to.stat()
            if (before.st_size, before.st_mtime_ns) == (about.st_size, about.st_mtime_ns):
                return
            to.unlink()
        take(file, to)
