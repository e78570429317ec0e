"""What a run writes in its directory. Nothing else there is ever touched."""

import os
import re
import uuid
from contextlib import suppress

from frontier.errors import CorruptRunError, InputError, unwritable
from frontier.store.files import (
    MARKED,
    force,
    force_above,
    read_json,
    read_sealed,
    sweep,
    unlink_all,
)
from frontier.store.objects import ObjectPath, Place

FOR_PEOPLE = {"environment.json", "events.jsonl", "status.html", "summary.json"}
"""Small files that the search does not need; one of them grows in place."""

OWN_NAMES = {"run.json", "ledger.json", "copies", "layers", "lock"} | FOR_PEOPLE
"""Everything that a run directory holds."""

LAYER_NAME = re.compile(r"\d{4,}")
IDENTIFIER = re.compile(r"[0-9a-f]{32}")
PART_NAME = re.compile(r"c(\.\d+){1,3}")
"""Names of the folders of layers, of the folders of runs above these in an object store, and of
parts."""

ASIDE = ".aside"
"""The name of what was moved aside ends so. It is not the run's, so nothing deletes it."""


def make_directory(path: Place) -> None:
    """Make an empty run directory, if there is no run yet.

    InputError if none can be made at the path, or something else is there; StorageError if
    it cannot be written; CorruptRunError if it holds the layers of a run that has lost its
    ``run.json``.
    """
    if (path / "run.json").exists():
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        names = names_in(path)
    except OSError as error:
        raise unwritable(
            f"store.path = {path}: the run directory cannot be made there "
            f"({error.strerror}); choose another with --set store.path=…",
            error,
        ) from None
    refuse_others(names, path)
    for ledger in (path / "ledger.json", path / "copies" / "ledger.json"):
        if ledger.exists() and read_sealed(ledger)["layers"]:
            raise CorruptRunError(
                f"{path} holds layers, but its run.json is missing; put it back, or move the "
                "directory away to start anew"
            )


def refuse_others(names: set[str], path: Place) -> None:
    """InputError if one of the names in a run directory is none that a run writes."""
    if foreign := sorted(name for name in names - OWN_NAMES if not MARKED.fullmatch(name)):
        raise InputError(
            f"store.path = {path}: the directory also holds {', '.join(foreign[:3])}"
            f"{', …' if len(foreign) > 3 else ''}; choose one of its own with "
            "--set store.path=…"
        )


def misplaced(path: Place) -> dict[Place, Place]:
    """What is in the place of a file or folder that the search or Zarr reads and is none: such as a
    directory, a pipe, or a link that leads nowhere. Each has the name beside it that it can be
    moved to. In an object store there is no such thing."""
    if isinstance(path, ObjectPath):
        return {}
    group, copies = path / "layers", path / "copies"
    layers = [group / name for name in sorted(layer_names(group))]
    own = [folder for folder in layers if folder.is_dir() and not folder.is_symlink()]
    wrong = [folder for folder in layers if folder not in own]
    wrong += [f for f in (copies, group) if os.path.lexists(f) and not f.is_dir()]
    files = [folder / name for folder in (path, copies) for name in ("run.json", "ledger.json")]
    files += [path / "summary.json", group / "zarr.json"]
    files += [folder / name for folder in own for name in sorted(part_names(folder))]
    files += [folder / "zarr.json" for folder in own]
    wrong += [file for file in files if os.path.lexists(file) and not file.is_file()]
    return {file: file.with_name(f"{file.name}.{uuid.uuid4().hex}{ASIDE}") for file in wrong}


def delete_files(path: Place) -> None:
    """Delete what a run has written to its directory, even if it is damaged; nothing else.

    InputError if run.json is that of another program.
    """
    with suppress(CorruptRunError):  # a damaged one is deleted like a whole one
        value = read_json(path / "run.json")
        if not (isinstance(value, dict) and {"format", "puzzle"} <= value.keys()):
            raise InputError(f"{path / 'run.json'} is not that of a run; nothing is deleted")
    sweep(path)
    # The files that list the layers go first; the lock, which keeps other writers out, goes last.
    for name in ("ledger.json", "run.json"):
        for folder in (path / "copies", path):
            (folder / name).unlink(missing_ok=True)
            if folder.is_dir():
                force(folder)  # a power failure must not bring back one without the other
    if isinstance(path, ObjectPath):
        delete_other_layers(path)
    _delete_layers(path / "layers")
    for name in ("copies", "layers"):
        if (path / name).is_dir():
            sweep(path / name)
            _remove_folder(path / name)
    for name in sorted(OWN_NAMES - {"copies", "layers", "lock"}):
        (path / name).unlink(missing_ok=True)
    (path / "lock").unlink(missing_ok=True)


def delete_other_layers(path: ObjectPath, identifier: str = "") -> None:
    """Delete the layers of all runs at a place in an object store but the one of `identifier`."""
    for name in filter(IDENTIFIER.fullmatch, names_in(path / "layers")):
        if name != identifier:
            _delete_layers(path / "layers" / name)


def _delete_layers(group: Place) -> None:
    if not group.is_dir():
        return
    for name in layer_names(group):
        remove_layer(group / name)
    (group / "zarr.json").unlink(missing_ok=True)


def force_all(path: Place) -> None:
    """Return when the layers that are there, and the files that list them, are on the disk; those
    for people alone may not be.

    In an object store they always are.
    """
    if isinstance(path, ObjectPath):
        return
    layers = [path / "layers" / name for name in sorted(layer_names(path / "layers"))]
    for folder in (*layers, path / "layers", path / "copies", path):
        for file in folder.iterdir():
            needed = file.suffix == ".json" and file.name not in FOR_PEOPLE
            if file.is_file() and (folder in layers or needed):
                force(file)
        force(folder)
    force_above(path)


def names_in(folder: Place) -> set[str]:
    """The names in a folder; none if it is not there."""
    try:
        return {entry.name for entry in folder.iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return set()


def layer_names(group: Place) -> set[str]:
    """Names of the layers in the folder of all layers."""
    return set(filter(LAYER_NAME.fullmatch, names_in(group)))


def part_names(folder: Place) -> set[str]:
    """Names of the parts in the folder of a layer."""
    return set(filter(PART_NAME.fullmatch, names_in(folder)))


def remove_layer(folder: Place) -> None:
    """Delete what a run has written in the folder of a layer, and the folder if it is empty then.

    A link is not the run's: neither it nor what it leads to is deleted.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    sweep(folder)
    own = [f for f in folder.iterdir() if f.name == "zarr.json" or PART_NAME.fullmatch(f.name)]
    folders = [file for file in own if file.is_dir() and not file.is_symlink()]
    for inner in folders:
        _remove_folder(inner)
    unlink_all([file for file in own if file not in folders])
    _remove_folder(folder)


def _remove_folder(folder: Place) -> None:
    """Delete a folder, unless something is left in it, which is somebody else's."""
    with suppress(OSError):
        folder.rmdir()
