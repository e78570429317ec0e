"""Restoring the two files that a run needs, ``run.json`` and the ledger, from their copies."""

from frontier.errors import CorruptRunError
from frontier.runs.directory import COPIES, LEDGER, RUN, aside_of, moved
from frontier.runs.identity import read_identity
from frontier.runs.kinds import class_of
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage


def mend(storage: Storage) -> list[str]:
    """Restore run.json, the ledger, or a copy of either from its counterpart if it is damaged. Move
    aside a directory or pipe that has the name of such a file.

    Returns a sentence for each action. Raises CorruptRunError if both are damaged.
    """
    identity, actions = _mend(storage, RUN, lambda file: read_identity(storage, file))
    run: StoredRun = class_of(identity["kind"])(storage, identity)
    files = LEDGER, COPIES[LEDGER]
    if not run.fresh or any(map(storage.exists, files)):
        actions += _mend(storage, LEDGER, run.check_ledger)[1]
    return actions


def _mend(storage: Storage, name: str, read) -> tuple[dict, list[str]]:
    """Restore a file or its copy.

    read: returns the content of the file or its copy, or raises CorruptRunError. Returns the
    content, and a sentence for each action.
    """
    contents, whole, damages = [], [], {}
    for file in (name, COPIES[name]):
        try:
            contents.append(read(file))
            whole.append(storage.read(file))
        except CorruptRunError as damage:
            damages[file] = damage
    if not whole:
        raise CorruptRunError(
            f"{storage} cannot be repaired: {', and '.join(map(str, damages.values()))}. Restore "
            "one of them, or move the directory away and start over"
        )
    actions = []
    for file in damages:
        if storage.is_odd(file):
            storage.move_aside(file, aside := aside_of(file))
            actions.append(moved(storage, file, aside))
        storage.write(file, whole[0], durable=True)
        actions.append(f"{storage.place(file)}: rewritten from the other copy")
    return contents[0], actions
