"""A run of either kind in its directory, which other processes may move, delete or go on with.

The ledger is replaced only if it still is the one that this process has read or written, and if the
directory still holds the run that this process has opened.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frontier.errors import CorruptRunError, FrontierError, Gone
from frontier.storage.base import Replaced, Storage
from frontier.storage.sealed import read_json
from frontier.store.directory import LEDGER, RUN
from frontier.text import program


class Owned(ABC):
    """A run of either kind. identity: the content of ``run.json``."""

    command = "run"
    """The command that goes on with it."""

    durable = False
    """True if what is committed is forced to the disk before anything it replaces is deleted."""

    def __init__(self, storage: Storage, identity: dict):
        self.storage, self.identity = storage, identity
        self._version: object = None  # of the ledger

    @property
    def path(self) -> Path | str:
        """The path of the run directory, for Python and for messages."""
        return self.storage.path

    @abstractmethod
    def _check_ledger(self) -> None:
        """Raise CorruptRunError if the ledger is missing or damaged."""

    def check_mine(self) -> None:
        """Raise Gone if the run is no longer at its place because it was moved, deleted or replaced
        by another run, or if another process has gone on with it; CorruptRunError if its ledger was
        deleted or damaged."""
        if not self._holds_this_run() or self.storage.version(LEDGER) != self._version:
            raise self._lost_error()

    def check_here(self) -> None:
        """Raise Gone if the run is no longer at its place; another process may have gone on with
        it."""
        if not self._holds_this_run():
            raise self._lost_error()

    @contextmanager
    def gone_instead(self) -> Iterator[None]:
        """Raise the error of `check_mine` in place of any other one, if the run is no longer as
        this process has left it."""
        try:
            yield
        except Gone:
            raise
        except (OSError, FrontierError):
            self.check_mine()
            raise

    def _holds_this_run(self) -> bool:
        identity = read_json(self.storage, RUN) if self.storage.exists(RUN) else {}
        mine = self.identity["identifier"]
        return isinstance(identity, dict) and identity.get("identifier") == mine

    def _lost_error(self) -> Gone | CorruptRunError:
        damage = None
        try:
            self._check_ledger()
        except CorruptRunError as error:
            damage = error
        if not self._holds_this_run():  # looked at last, as all files may be being deleted
            return Gone(
                f"{self.path} no longer holds the run that goes on there: the directory was moved, "
                "deleted, or taken by another run, and nothing more is written to it. If it was "
                f"moved, go on where it is now: {program()} {self.command} DIRECTORY"
            )
        return damage or Gone(
            f"{self.path} is being written by another process, which has gone on with the run "
            "meanwhile; nothing of what it wrote was changed. Let it go on, or stop it and go "
            "on here"
        )

    def _replace(self, name: str, content: bytes, was: object) -> object:
        """Replace a file if its version is still `was`, and return the new one; raises errors as
        `check_mine` does."""
        try:
            return self.storage.replace(name, content, was, self.durable)
        except Replaced:
            raise self._lost_error() from None


def begun_meanwhile(storage: Storage) -> Gone:
    """Return the error for a place where another process has begun a run meanwhile."""
    message = "is being written by another process, which has begun a run there meanwhile"
    return Gone(f"{storage} {message}")
