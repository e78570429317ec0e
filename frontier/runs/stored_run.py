"""A run in its directory: the common part of all kinds of runs, and the references by which the
workers of a run open it.

**The ledger** is the one file that says what has been done:

    run        the identifier of its run
    settings   the settings of the last start, with which the run is resumed
    number     a random number, so that no two ledgers are alike
    ...        the committed layers, or the answers to questions about cosets

**One writer.** A commit replaces the whole ledger, but only if it is still the one that this
process last read or wrote. So if two processes resume one run, one commits; the other ends with an
error and changes nothing. The files that a run makes bear its identifier, so another run begun at
the same place is never taken for it. The copy of the ledger (`frontier.runs.copies`) may be one
commit behind.
"""

import socket
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from frontier.errors import CorruptRunError, FrontierError, Gone, InputError
from frontier.puzzles import Puzzle
from frontier.runs.copies import COPIES, LEDGER, RUN, replace_both
from frontier.runs.directory import SUMMARY, make_directory
from frontier.runs.identity import FORMAT, Identity, check_identity, read_identity
from frontier.runs.kinds import KINDS
from frontier.storage.base import Replaced, Storage
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import first_wrong, read_json, read_sealed, sealed, write_sealed
from frontier.text import program

Opened = TypeVar("Opened")
RunT = TypeVar("RunT", bound="StoredRun")

SETTINGS = TypeAdapter(dict[str, dict])
"""The tables of a config."""


class StoredRun(ABC):
    """A run at its place.

    kind: its name in `KINDS`. schema: what ``run.json`` holds. identity: the content of
    ``run.json``. settings: the settings of the last start, with which the run is resumed, as the
    tables of a config; the next commit stores them. durable: True if what is committed is forced to
    the disk before the files that it replaces are deleted.
    """

    kind: ClassVar[str]
    schema: ClassVar[type[Identity]]

    def __init__(self, storage: Storage, identity: dict):
        self.storage, self.identity = storage, identity
        self.settings: dict[str, dict] = {}
        self.durable = False
        self._version: object = None  # of the ledger, once this process has read or written one

    @staticmethod
    def exists(place: Place) -> bool:
        return storage_at(place).exists(RUN)

    @classmethod
    def create(cls, place: Place, identity: dict, durable: bool = False) -> Self:
        """Begin a run at a place where there is no run.

        identity: the content of ``run.json`` without format, kind, identifier and time. durable:
        force what is committed to the disk. Raises InputError if other files are there, Gone if
        another process begins a run there at the same time.
        """
        storage = storage_at(place)
        make_directory(storage)
        stamp = {"identifier": uuid.uuid4().hex, "created": time.time()}
        run = cls(storage, {"format": FORMAT, "kind": cls.kind, **stamp, **identity})
        run.durable = durable
        try:
            replace_both(storage, RUN, run.identity, None, durable)
        except Replaced:
            message = "is in use: another process has just begun a run there"
            raise Gone(f"{storage} {message}") from None
        run._begin()
        run._version = storage.version(LEDGER)
        run.write_ledger()
        if durable:
            storage.force_above()
        return cls.open(storage)

    @classmethod
    def open(cls, place: Place) -> Self:
        """Open a run.

        Raises InputError if there is no run or a run of another kind; CorruptRunError if its
        files are damaged.
        """
        storage = storage_at(place)
        if not storage.exists(RUN):
            if storage.exists(COPIES[RUN]):
                raise CorruptRunError(f"{storage.place(RUN)} is missing, but not its copy")
            raise InputError(f"{storage} holds no run: it has no run.json")
        if (kind := read_identity(storage)["kind"]) != cls.kind:
            raise InputError(
                f"{storage} holds a run by {kind}: `{KINDS[kind].command}` resumes it, and status, "
                "farthest and verify read it"
            )
        run = cls(storage, read_identity(storage, schema=cls.schema))
        run.read_ledger()
        return run

    @property
    def ref(self) -> "RunRef":
        """A reference to the run, by which any process opens it."""
        return RunRef(str(self.path), self.identity["identifier"], self.durable)

    @property
    def path(self) -> Path | str:
        """The path of the run directory, for Python and for messages."""
        return self.storage.path

    @property
    @abstractmethod
    def puzzle(self) -> Puzzle: ...

    @property
    @abstractmethod
    def begun(self) -> bool:
        """True if something has been committed."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """True if the run has all that its last start was asked for."""

    def write_summary(self, value: dict[str, Any]) -> None:
        """Write ``summary.json``. value: the content, from `Kind.summary`."""
        write_sealed(self.storage, SUMMARY, value)

    def options(self) -> dict[str, Any]:
        """Return the options of the command that resumes the run as it was last started."""
        return {}

    def particulars(self, workers: int = 0) -> dict[str, Any]:
        """Return the values that the events of a start have. workers: how many there are."""
        about = {"kind": self.kind, "name": self.identity["name"], "title": self.puzzle.title}
        return about | {"path": str(self.path), "resumed": self.begun, "workers": workers}

    def check_is_of(self, expected: dict) -> None:
        """Raise InputError unless the identity has the values of `expected`; see
        `check_identity`."""
        check_identity(self.path, self.identity, expected)

    @abstractmethod
    def _begin(self) -> None:
        """Make the files of a new run besides its identity and its ledger."""

    @property
    @abstractmethod
    def fresh(self) -> bool:
        """True if the run was stopped before it did anything. It may then lack its ledger, and
        copies."""

    @abstractmethod
    def _content(self) -> dict:
        """Return the part of the ledger that describes the work done."""

    @abstractmethod
    def _take(self, content: dict) -> None:
        """Take over the content of a ledger. Raises KeyError or ValueError if it does not fit this
        kind of run."""

    def missing(self) -> list[str]:
        """Return a sentence for each item of the run that lacks files; only names are read."""
        return []

    def read_ledger(self) -> None:
        """Read the ledger again; raises CorruptRunError if it is damaged.

        A run that was stopped at its beginning has no ledger yet.
        """
        self._version = self.storage.version(LEDGER)
        try:
            self.take(LEDGER)
        except CorruptRunError:
            if self._version is not None or not self.fresh or not self._holds_this_run():
                raise

    def take(self, name: str) -> None:
        """Take over the content of the ledger or of its copy; raises CorruptRunError if the file is
        missing or damaged, or belongs to another run."""
        content = read_sealed(self.storage, name)
        if content.get("run") != self.identity["identifier"]:
            raise CorruptRunError(f"{self.storage.place(name)} is the ledger of another run")
        try:
            self._take(content)
            self.settings = SETTINGS.validate_python(content["settings"])
        except (KeyError, ValueError) as error:
            reason = first_wrong(error) if isinstance(error, ValidationError) else error
            message = f"{self.storage.place(name)} is not a ledger of this run: {reason}"
            raise CorruptRunError(message) from None

    def check(self, name: str) -> None:
        """Raise CorruptRunError if a file is missing or damaged. name: one of `OWN_FILES`."""
        if name in (RUN, COPIES[RUN]):
            read_identity(self.storage, name)
        else:
            type(self)(self.storage, self.identity).take(name)

    def write_ledger(self) -> None:
        """Commit the work done; raises the errors of `check_mine`, and then writes nothing."""
        mark = {"run": self.identity["identifier"], "number": uuid.uuid4().hex}
        content = {**mark, "settings": self.settings, **self._content()}
        try:
            self._version = replace_both(self.storage, LEDGER, content, self._version, self.durable)
        except Replaced:
            raise self._lost_error() from None

    def sweep(self) -> None:
        """Delete the files that a killed run left and no resumed run can use, and write the files
        that it could not write; the caller holds the lock."""
        self.storage.sweep()
        if self._version is None:
            self.write_ledger()
        if not self.storage.exists(COPIES[RUN]):
            self.storage.write(COPIES[RUN], sealed(self.identity), self.durable)

    def check_mine(self) -> None:
        """Raise Gone if the run is no longer at its place because it was moved, deleted or replaced
        by another run, or if another process has resumed it; CorruptRunError if its ledger was
        deleted or damaged."""
        if not self._holds_this_run() or self.storage.version(LEDGER) != self._version:
            raise self._lost_error()

    def check_here(self) -> None:
        """Raise Gone if the run is no longer at its place; another process may have resumed it."""
        if not self._holds_this_run():
            raise self._lost_error()

    @contextmanager
    def gone_instead(self) -> Iterator[None]:
        """Raise the error of `check_mine` instead of any other error, if the run is no longer as
        this process left it."""
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
            self.check(LEDGER)
        except CorruptRunError as error:
            damage = error
        if not self._holds_this_run():  # read last, because somebody may be deleting all files
            return Gone(
                f"{self.path} no longer holds this run: the directory was moved, deleted, or taken "
                "by another run. Nothing more is written there. If it was moved, resume the run at "
                f"its new place: {program()} {KINDS[self.kind].command} DIRECTORY"
            )
        return damage or Gone(
            f"{self.path} is being written by another process, which has since resumed the run. "
            "This process changed none of its files. Let the other process run, or stop it and "
            "resume the run here"
        )


@dataclass(frozen=True)
class RunRef:
    """A reference to a run, by which any process opens it.

    path: where the run is. identifier: distinguishes the run from an earlier one at its place.
    durable: True if written files are forced to the disk. host: the host of the driver.
    """

    path: str
    identifier: str
    durable: bool = False
    host: str = field(default_factory=socket.gethostname)

    def open(self, kind: type[RunT]) -> RunT:
        """Open the run in a worker; raises InputError if it is not at the path on this host."""
        if kind.exists(self.path):
            run = kind.open(self.path)
            if run.identity["identifier"] == self.identifier:
                run.durable = self.durable
                return run
        raise InputError(
            f"{self.path} does not hold the run of the driver (on host {self.host}) on the host of "
            f"this worker ({socket.gethostname()}): every worker must see the same run directory"
        )


class RunCache(Generic[Opened]):
    """Keeps open the run on which this process works. Only one run is open at a time, because it
    may take gigabytes."""

    def __init__(self, open_run: Callable[[RunRef], Opened]):
        self._open_run = open_run
        self._open: dict[RunRef, Opened] = {}
        self._opening = threading.Lock()

    def of(self, run_ref: RunRef) -> Opened:
        """Return the open form of a run, and open the run if necessary."""
        with self._opening:  # two tasks may arrive at once
            if run_ref not in self._open:
                self._open.clear()  # frees its memory before another run takes it
                self._open[run_ref] = self._open_run(run_ref)
            return self._open[run_ref]

    def close(self, run_ref: RunRef) -> None:
        """Free the memory of an open run."""
        with self._opening:
            self._open.pop(run_ref, None)
