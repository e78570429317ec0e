"""The two files that a run needs, ``run.json`` and ``ledger.json``, and the copy that each has.

A file is written first and then its copy, so a kill leaves the copy behind. Only `verify` and
`repair` read copies.
"""

from collections.abc import Callable

from frontier.errors import CorruptRunError
from frontier.storage.base import Storage
from frontier.storage.sealed import sealed

RUN, LEDGER = "run.json", "ledger.json"

COPIES = {RUN: "run.copy.json", LEDGER: "ledger.copy.json"}

OWN_FILES = [*COPIES, *COPIES.values()]


def replace_both(
    storage: Storage, name: str, content: dict, was: object, durable: bool = False
) -> object:
    """Write a file with a digest, as `Storage.replace` does, and then its copy. Returns the version
    of the file."""
    data = sealed(content)
    version = storage.replace(name, data, was, durable)
    storage.write(COPIES[name], data, durable)
    return version


def restore(storage: Storage, name: str, read: Callable[[str], object]) -> list[str]:
    """Write a damaged file, or a damaged copy, again from the other one.

    read: raises CorruptRunError if the file or copy of a given name is damaged. Returns a sentence
    for each action. Raises CorruptRunError if both are damaged.
    """
    damages = {}
    for file in (name, COPIES[name]):
        try:
            read(file)
        except CorruptRunError as damage:
            damages[file] = damage
    if len(damages) > 1:
        raise CorruptRunError(
            f"{storage} cannot be repaired: {', and '.join(map(str, damages.values()))}. Restore "
            "one of them, or move the directory away and start over"
        )
    for damaged in damages:
        (whole,) = {name, COPIES[name]} - {damaged}
        storage.write(damaged, storage.read(whole), durable=True)
    return [f"{storage.place(file)}: rewritten from the other copy" for file in damages]
