"""What a run writes in its directory. Nothing else there is ever touched."""

import re
from contextlib import suppress
from pathlib import Path

from frontier.errors import CorruptRunError, InputError, unwritable
from frontier.store.files import MARKED, force, read_json, read_sealed, sweep

OWN_NAMES = {
    "run.json", "ledger.json", "copies", "layers",
    "events.jsonl", "summary.json", "environment.json", "status.html", "lock",
}  # fmt: skip
"""Everything that a run directory holds."""

LAYER_NAME = re.compile(r"\d{4,}")
PART_NAME = re.compile(r"c(\.\d+){1,3}")
"""Names in the folder of the layers, and of parts in that of a layer."""


def make_directory(path: Path) -> None:
    """Make an empty run directory, if there is no run yet.

    InputError if there cannot be one at the path, or there is something else; StorageError if
    it cannot be written; CorruptRunError if it holds the layers of a run that has lost its
    ``run.json``.
    """
    if (path / "run.json").exists():
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        names = {entry.name for entry in path.iterdir()}
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


def refuse_others(names: set[str], path: Path) -> None:
    """InputError if one of the names in a run directory is not a run's."""
    if foreign := sorted(name for name in names - OWN_NAMES if not MARKED.fullmatch(name)):
        raise InputError(
            f"store.path = {path}: the directory also holds {', '.join(foreign[:3])}"
            f"{', …' if len(foreign) > 3 else ''}; choose one of its own with "
            "--set store.path=…"
        )


def delete_files(path: Path) -> None:
    """Delete what a run has written to its directory, even if it is damaged; nothing else.

    InputError if run.json is that of another program.
    """
    with suppress(CorruptRunError):  # a damaged one is deleted like a whole one
        value = read_json(path / "run.json")
        if not (isinstance(value, dict) and {"format", "puzzle"} <= value.keys()):
            raise InputError(f"{path / 'run.json'} is not that of a run; nothing is deleted")
    sweep(path)
    # What says that there are layers goes first, what keeps other writers out last.
    for name in ("ledger.json", "run.json"):
        for folder in (path / "copies", path):
            (folder / name).unlink(missing_ok=True)
            if folder.is_dir():
                force(folder)  # a power failure must not bring back the one without the other
    if (path / "layers").is_dir():
        for folder in (path / "layers").iterdir():
            if LAYER_NAME.fullmatch(folder.name):
                remove_layer(folder)
        (path / "layers" / "zarr.json").unlink(missing_ok=True)
    for name in ("copies", "layers"):
        if (path / name).is_dir():
            sweep(path / name)
            _remove_folder(path / name)
    for name in sorted(OWN_NAMES - {"copies", "layers", "lock"}):
        (path / name).unlink(missing_ok=True)
    (path / "lock").unlink(missing_ok=True)


def part_names(folder: Path) -> set[str]:
    """Names of the parts in the folder of a layer."""
    try:
        return {entry.name for entry in folder.iterdir() if PART_NAME.fullmatch(entry.name)}
    except (FileNotFoundError, NotADirectoryError):
        return set()


def remove_layer(folder: Path) -> None:
    """Delete what a run has written in the folder of a layer; the folder, if nothing else is there.

    A link is none of the run's, and what it leads to even less.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    sweep(folder)
    for file in folder.iterdir():
        if file.name == "zarr.json" or PART_NAME.fullmatch(file.name):
            if file.is_dir() and not file.is_symlink():
                _remove_folder(file)
            else:
                file.unlink(missing_ok=True)
    _remove_folder(folder)


def _remove_folder(folder: Path) -> None:
    """Delete a folder, unless something of somebody else's is left in it."""
    with suppress(OSError):
        folder.rmdir()
