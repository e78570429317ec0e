"""The ledger of a run: the one file that says what has been done.

    run        the identifier of its run
    settings   the settings of the last start, with which the run is resumed
    number     a random number, so that no two ledgers are alike
    ...        the committed layers, or the answers to questions about cosets

A commit replaces the whole file, but only if it is still the one that this process last read or
wrote. The copy (`frontier.runs.copies`) may be one commit behind.
"""

import uuid

from frontier.errors import CorruptRunError
from frontier.runs.copies import LEDGER, replace_both
from frontier.storage.base import Storage
from frontier.storage.sealed import read_sealed


class Ledger:
    """The ledger of the run with a given identifier.

    durable: True if a commit is on the disk before it returns.
    """

    def __init__(self, storage: Storage, run: str):
        self._storage, self._run, self.durable = storage, run, False
        self._version: object = None

    @property
    def begun(self) -> bool:
        """True if this process has read or written a ledger."""
        return self._version is not None

    @property
    def unchanged(self) -> bool:
        """True if no other process has replaced or deleted the ledger."""
        return self._storage.version(LEDGER) == self._version

    def see(self) -> None:
        """Make the present file the one that the next commit replaces."""
        self._version = self._storage.version(LEDGER)

    def read(self, name: str = LEDGER) -> dict:
        """Return the content of a file of the ledger. name: the ledger or its copy.

        Raises CorruptRunError if it is missing or damaged, or belongs to another run.
        """
        content = read_sealed(self._storage, name)
        if content.get("run") != self._run:
            raise CorruptRunError(f"{self._storage.place(name)} is the ledger of another run")
        return content

    def write(self, content: dict) -> None:
        """Replace the ledger, and then its copy; raises Replaced if another process has replaced
        it."""
        whole = {"run": self._run, "number": uuid.uuid4().hex, **content}
        self._version = replace_both(self._storage, LEDGER, whole, self._version, self.durable)
