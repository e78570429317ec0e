"""The files that a run writes at its place. A run never touches anything else there."""

import re
from contextlib import suppress

from frontier.errors import CorruptRunError, InputError, path_error
from frontier.layers.files import PART_NAME
from frontier.runs.copies import COPIES, LEDGER, OWN_FILES, RUN
from frontier.storage.base import Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place
from frontier.storage.sealed import read_json, read_sealed

SUMMARY = "summary.json"

FOR_PEOPLE = {"environment.json", "events.jsonl", "status.html", SUMMARY}
"""Small files that the search does not need; the run appends to one of them."""

LAYERS, TABLES = "layers", "tables"
"""The folders of a search: layers, or tables of a run by cosets."""

OWN_NAMES = {*OWN_FILES, LAYERS, TABLES, "lock"} | FOR_PEOPLE
"""All names that a run directory can hold."""

LAYER_NAME = re.compile(r"\d{4,}")
IDENTIFIER = re.compile(r"[0-9a-f]{32}")
"""The names of the folders of layers, and of the folders of runs above them."""


def make_directory(storage: Storage) -> None:
    """Make an empty run directory, if there is no run yet.

    Raises InputError if the directory cannot be made or has other files; StorageError if it cannot
    be written to; CorruptRunError if it holds the results of a run that has lost its ``run.json``.
    """
    if storage.exists(RUN):
        return
    refuse_inside_run(storage)
    try:
        storage.make_folder()
        names = storage.names()
    except OSError as error:
        raise path_error(
            f"store.path = {storage}: the run directory cannot be made there "
            f"({error.strerror}); choose another with --out DIRECTORY",
            error,
        ) from None
    refuse_others(names, storage)
    found = [TABLES] if TABLES in names else []
    for file in (LEDGER, COPIES[LEDGER]):
        if file in names and _says_something(read_sealed(storage, file)):
            found.append(file)
    if found:
        raise CorruptRunError(
            f"{storage} holds {' and '.join(found)} of a run whose {RUN} is missing: restore it, "
            "or move the directory away to start over"
        )


def _says_something(content: dict) -> bool:
    """Return whether a ledger lists a layer or an answer."""
    return bool(content.get("layers") or content.get("answers"))


def refuse_inside_run(target: Storage) -> None:
    """Raise InputError if a place lies inside a run."""
    inside, above = target.resolved(), target.resolved().parent
    while above != inside:
        if above.exists(RUN):
            raise InputError(
                f"{target} is in the run directory {above}, which may hold only its run; name "
                "another place"
            )
        inside, above = above, above.parent


def refuse_others(names: set[str], place: Place) -> None:
    """Raise InputError if a run directory contains a name that no run writes."""
    if foreign := sorted(name for name in names - OWN_NAMES if not MARKED.fullmatch(name)):
        raise InputError(
            f"{place} holds other files ({', '.join(foreign[:3])}"
            f"{', …' if len(foreign) > 3 else ''}); choose another directory with --out DIRECTORY"
        )


def delete_files(storage: Storage) -> None:
    """Delete the files that a run has written at its place, even if they are damaged; nothing else.

    Raises InputError if another program wrote run.json.
    """
    with suppress(CorruptRunError):  # a damaged run may also be deleted
        value = read_json(storage, RUN)
        if not (isinstance(value, dict) and {"format", "puzzle"} <= value.keys()):
            raise InputError(f"{storage.place(RUN)} does not describe a run; nothing was deleted")
    storage.sweep()
    # First delete the files that list the layers, and last the lock, which keeps other writers out.
    for name in (LEDGER, RUN):
        for file in (COPIES[name], name):
            storage.delete(file)
            storage.force("")  # after a power failure, neither may come back without the other
    remove_runs(storage)
    for folder in (LAYERS, TABLES):
        storage.sweep(folder)
    storage.delete(*(f"{TABLES}/{name}" for name in table_files(storage)))
    for folder in (LAYERS, TABLES):
        storage.remove_folder(folder)
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


def remove_layer(storage: Storage, folder: str) -> None:
    """Delete the files that a run has written in a layer's folder, and then the folder if it is
    empty.

    A link does not belong to the run: neither it nor its target is deleted.
    """
    if storage.is_link(folder):
        return
    storage.sweep(folder)
    storage.delete(*layer_files(storage, folder))
    storage.remove_folder(folder)


def layer_files(storage: Storage, folder: str) -> list[str]:
    """Return the files that a run has written in a layer's folder."""
    own = [n for n in storage.names(folder) if n == "zarr.json" or PART_NAME.fullmatch(n)]
    return [f"{folder}/{name}" for name in sorted(own)]


def table_files(storage: Storage) -> list[str]:
    """Return the names of the files of tables."""
    names = storage.names(TABLES)
    return sorted(name for name in names if name.endswith((".npy", ".json")))
