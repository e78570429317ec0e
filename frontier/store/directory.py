"""The files that a run writes at its place. Nothing else there is ever touched."""

import re
import uuid
from contextlib import suppress

from frontier.errors import CorruptRunError, InputError, unwritable
from frontier.storage.base import Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place
from frontier.storage.sealed import read_json, read_sealed, write_sealed
from frontier.store.identity import FORMAT
from frontier.store.ledger import read_ledger

FOR_PEOPLE = {"environment.json", "events.jsonl", "status.html", "summary.json"}
"""Small files that the search does not need; one of them grows in place."""

RUN, LEDGER = "run.json", "ledger.json"
"""The file that identifies the run, and the one that lists the committed layers."""

COPIES = {RUN: "run.copy.json", LEDGER: "ledger.copy.json"}
"""The names of their copies. A copy is written after its original, so that of the ledger may be one
commit behind; `mend` and `verify` read it."""

OWN_NAMES = {RUN, LEDGER, *COPIES.values(), "layers", "lock"} | FOR_PEOPLE
"""All names that a run directory can hold."""

LAYERS = "layers"
LAYER_NAME = re.compile(r"\d{4,}")
IDENTIFIER = re.compile(r"[0-9a-f]{32}")
PART_NAME = re.compile(r"c(\.\d+){1,3}")
"""Names of the folder of all layers, of the folders of layers, of the folders of runs above these,
and of parts."""

ASIDE = ".aside"
"""The ending of the name of a file that was moved aside. It is not the run's, so nothing deletes
it."""


def make_directory(storage: Storage) -> None:
    """Make an empty run directory, if there is no run yet.

    Raises InputError if it cannot be made, or if other files are in it; StorageError if it cannot
    be written; CorruptRunError if it holds the layers of a run that has lost its ``run.json``.
    """
    if storage.exists(RUN):
        return
    try:
        storage.make_folder()
        names = storage.names()
    except OSError as error:
        raise unwritable(
            f"store.path = {storage}: the run directory cannot be made there "
            f"({error.strerror}); choose another with --set store.path=…",
            error,
        ) from None
    refuse_others(names, storage)
    for ledger in (LEDGER, COPIES[LEDGER]):
        if ledger in names and read_sealed(storage, ledger)["layers"]:
            raise CorruptRunError(
                f"{storage} holds layers, but its run.json is missing; put it back, or move the "
                "directory away to start anew"
            )


def refuse_others(names: set[str], place: Place) -> None:
    """Raise InputError if a run directory holds a name that no run writes."""
    if foreign := sorted(name for name in names - OWN_NAMES if not MARKED.fullmatch(name)):
        raise InputError(
            f"store.path = {place}: the directory also holds {', '.join(foreign[:3])}"
            f"{', …' if len(foreign) > 3 else ''}; choose one of its own with "
            "--set store.path=…"
        )


def mend(storage: Storage) -> list[str]:
    """Restore run.json, the ledger or a copy of them from its counterpart where it is damaged. If a
    directory or pipe is in the place of such a file, it is moved aside.

    Returns a sentence for each action. Raises CorruptRunError if both are damaged.
    """
    actions, run = [], None
    for name, copy in COPIES.items():
        begun = run is None or layer_names(storage, f"{LAYERS}/{run}")
        if not begun and not any(map(storage.exists, (name, copy))):
            continue  # it was killed as it began
        whole, damages = [], {}
        for file in (name, copy):
            try:
                value = read_sealed(storage, file)
                if run is not None:
                    read_ledger(storage, file, run)
                whole.append(value)
            except CorruptRunError as damage:
                damages[file] = damage
        if not whole:
            raise CorruptRunError(
                f"{storage} cannot be repaired: {', and '.join(map(str, damages.values()))}. Put "
                "back one of them, or move the directory away and start anew"
            )
        for file in damages:
            if storage.is_odd(file):
                storage.move_aside(file, aside := aside_of(file))
                actions.append(moved(storage, file, aside))
            write_sealed(storage, file, whole[0], durable=True)
            actions.append(f"{storage.place(file)}: written anew from the other copy")
        if name == RUN and whole[0].get("format") == FORMAT:
            run = whole[0].get("identifier")  # a ledger of another format cannot be checked
    return actions


def misplaced(storage: Storage, layers: str) -> list[str]:
    """Return the names at which the search or Zarr expects a file or folder, and which are
    something else: a directory, a pipe, or a link that leads nowhere. layers: the folder of the
    layers."""
    folders = [f"{layers}/{name}" for name in sorted(layer_names(storage, layers))]
    own = [f for f in folders if not (storage.is_odd(f, folder=True) or storage.is_link(f))]
    wrong = [folder for folder in folders if folder not in own]
    wrong += [f for f in (LAYERS, layers) if storage.is_odd(f, folder=True)]
    files = [RUN, LEDGER, *COPIES.values(), "summary.json", f"{layers}/zarr.json"]
    files += [f"{f}/{name}" for f in own for name in sorted(part_names(storage, f))]
    files += [f"{folder}/zarr.json" for folder in own]
    return wrong + [file for file in files if storage.is_odd(file)]


def misplaced_of_search(storage: Storage) -> list[str]:
    """Return the names at which a search of God's number expects a file or folder, and which are
    something else."""
    tables = [name for name in storage.names("tables") if name.endswith((".npy", ".json"))]
    files = [RUN, LEDGER, "summary.json", *(f"tables/{name}" for name in sorted(tables))]
    wrong = ["tables"] if storage.is_odd("tables", folder=True) else []
    return wrong + [file for file in files if storage.is_odd(file)]


def aside_of(name: str) -> str:
    """Return a name beside another one, to which what is in the way can be moved."""
    return f"{name}.{uuid.uuid4().hex}{ASIDE}"


def moved(storage: Storage, name: str, aside: str) -> str:
    """Return a sentence about what was moved aside."""
    to = aside.rpartition("/")[2]
    return f"{storage.place(name)} is not what a run makes there: moved to {to}"


def delete_files(storage: Storage) -> None:
    """Delete what a run has written at its place, even if it is damaged; nothing else.

    Raises InputError if run.json is that of another program.
    """
    with suppress(CorruptRunError):  # a damaged one is deleted like a whole one
        value = read_json(storage, RUN)
        if not (isinstance(value, dict) and {"format", "puzzle"} <= value.keys()):
            raise InputError(f"{storage.place(RUN)} is not that of a run; nothing is deleted")
    storage.sweep()
    # The files that list the layers go first; the lock, which keeps other writers out, goes last.
    for name in (LEDGER, RUN):
        for file in (COPIES[name], name):
            storage.delete(file)
            storage.force("")  # a power failure must not bring back one without the other
    remove_runs(storage)
    storage.sweep(LAYERS)
    storage.remove_folder(LAYERS)
    storage.delete(*sorted(FOR_PEOPLE))
    storage.delete("lock")


def remove_runs(storage: Storage, but: str = "") -> None:
    """Delete the layers of all runs in a storage, except those of the run `but`."""
    for name in filter(IDENTIFIER.fullmatch, storage.names(LAYERS) - {but}):
        group = f"{LAYERS}/{name}"
        for layer in layer_names(storage, group):
            remove_layer(storage, f"{group}/{layer}")
        if not storage.is_link(group):
            storage.sweep(group)
            storage.delete(f"{group}/zarr.json")
            storage.remove_folder(group)


def layer_names(storage: Storage, group: str) -> set[str]:
    """Return the names of the layers in the folder of all layers."""
    return set(filter(LAYER_NAME.fullmatch, storage.names(group)))


def part_names(storage: Storage, folder: str) -> set[str]:
    """Return the names of the parts in the folder of a layer."""
    return set(filter(PART_NAME.fullmatch, storage.names(folder)))


def remove_layer(storage: Storage, folder: str) -> None:
    """Delete what a run has written in the folder of a layer, and the folder if it is empty then.

    A link is not the run's: neither it nor what it leads to is deleted.
    """
    if storage.is_link(folder):
        return
    storage.sweep(folder)
    own = [n for n in storage.names(folder) if n == "zarr.json" or PART_NAME.fullmatch(n)]
    files = [f"{folder}/{name}" for name in own]
    odd = [file for file in files if storage.is_odd(file) and not storage.is_link(file)]
    storage.delete(*(file for file in files if file not in odd))
    for inner in odd:
        storage.remove_folder(inner)
    storage.remove_folder(folder)
