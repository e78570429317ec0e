"""The files that a run writes at its place. A run never touches anything else there."""

from collections.abc import Callable
from contextlib import suppress

from frontier.errors import CorruptRunError, InputError, path_error
from frontier.runs.copies import COPIES, LEDGER, OWN_FILES, RUN
from frontier.runs.kinds import KINDS
from frontier.storage.base import Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place
from frontier.storage.sealed import read_json

SUMMARY = "summary.json"

FOR_PEOPLE = {"environment.json", "events.jsonl", "status.html", SUMMARY}
"""Small files that the search does not need; the run appends to one of them."""

OWN_NAMES = {*OWN_FILES, *(kind.folder for kind in KINDS.values()), "lock"} | FOR_PEOPLE
"""All names that a run directory can hold."""


def make_directory(storage: Storage) -> None:
    """Make an empty run directory, if there is no run yet.

    Raises InputError if the directory cannot be made or has other files; StorageError if it cannot
    be written to; CorruptRunError if it holds the ledger, or a copy, of a run that has lost its
    ``run.json``. Results that no ledger lists belong to no run.
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
            f"({error.strerror}); choose another path",
            error,
        ) from None
    refuse_others(names, storage)
    if found := [file for file in OWN_FILES if file in names]:
        raise CorruptRunError(
            f"{storage} holds {' and '.join(found)} of a run whose {RUN} is missing: restore it, "
            "or move the directory away to start over"
        )


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
            f"{', …' if len(foreign) > 3 else ''}); choose another store.path"
        )


def delete_files(storage: Storage, delete_results: Callable[[Storage], None]) -> None:
    """Delete the files that a run has written at its place, even if they are damaged; nothing else.

    delete_results: deletes the results; see `Kind.delete`. Raises InputError if another program
    wrote run.json.
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
    delete_results(storage)
    storage.delete(*sorted(FOR_PEOPLE))
    storage.delete("lock")
