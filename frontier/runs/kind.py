"""What a kind of run adds to the common part: how its runs are followed, verified, repaired,
summarized and deleted; and the same for a run of any kind."""

from abc import ABC, abstractmethod
from contextlib import suppress
from importlib import import_module
from typing import Any, Generic, TypeVar

from frontier.errors import CorruptRunError, Gone
from frontier.puzzles import Board
from frontier.runs.checks import Checks, Repair, Say
from frontier.runs.copies import COPIES, LEDGER, RUN, restore
from frontier.runs.identity import read_identity
from frontier.runs.kinds import KINDS
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import read_json

RunT = TypeVar("RunT", bound=StoredRun)


class Kind(ABC, Generic[RunT]):
    """A kind of run.

    run: the class of its runs. progress: the class that follows a run; see
    `frontier.runs.progress`.
    """

    run: type[RunT]
    progress: Any

    @abstractmethod
    def verify(self, run: RunT, count: int, seed: int, say: Say) -> Checks:
        """Check all files that the search reads.

        count: how many results of each layer or question to check without the kernels or to search
        again; 0 for none. seed: the seed of their choice. say: called with each step in words.
        """

    @abstractmethod
    def repair(self, run: RunT, say: Say) -> Repair:
        """Return the steps that repair a run; raises CorruptRunError if it cannot be repaired."""

    @abstractmethod
    def results(self, run: RunT) -> dict[str, Any]:
        """Return the results so far, as JSON has them."""

    def summary(self, run: RunT) -> dict[str, Any]:
        """Return the content of ``summary.json``."""
        return self.results(run)

    @abstractmethod
    def farthest(self, run: RunT, limit: int) -> tuple[int, int, list[Board]]:
        """Return the depth of the farthest positions, their number, and up to `limit` of them;
        raises InputError if they are not known."""

    @abstractmethod
    def delete(self, storage: Storage) -> None:
        """Delete the results of the run at a place, even if they are damaged, and nothing else."""


def kind_named(name: str) -> Kind:
    """Return the kind with a name of `KINDS`. Its module imports all that such a run needs."""
    return import_module(KINDS[name].module).KIND


def kind_of(run: StoredRun) -> Kind:
    return kind_named(run.kind)


def kind_at(place: Place) -> str | None:
    """Return the name of the kind of the run at a place, or None if there is no run.

    If its ``run.json`` is damaged, the folder of its results shows the kind.
    """
    storage = storage_at(place)
    if not storage.exists(RUN):
        return None
    with suppress(CorruptRunError):
        identity = read_json(storage, RUN)
        if isinstance(identity, dict) and (kind := str(identity.get("kind"))) in KINDS:
            return kind
    first, *others = KINDS
    return next((kind for kind in others if storage.is_folder(KINDS[kind].folder)), first)


def open_run(place: Place) -> StoredRun:
    """Open the run of any kind at a place; raises the errors of `StoredRun.open`."""
    return kind_named(kind_at(place) or next(iter(KINDS))).run.open(place)


def mend(storage: Storage) -> list[str]:
    """Restore run.json, the ledger, or a copy of either from its counterpart if it is damaged.

    Returns a sentence for each action. Raises CorruptRunError if both are damaged.
    """

    def read(file: str) -> dict[str, Any]:
        schema = kind_named(read_identity(storage, file)["kind"]).run.schema
        return read_identity(storage, file, schema)

    actions = restore(storage, RUN, read)
    identity = read(RUN)
    run = kind_named(identity["kind"]).run(storage, identity)
    if not run.fresh or any(map(storage.exists, (LEDGER, COPIES[LEDGER]))):
        actions += restore(storage, LEDGER, run.check)
    return actions


def verified(run: StoredRun, count: int, seed: int, say: Say) -> tuple[StoredRun, Checks]:
    """Return the run in the state in which it was verified, and the result of `Kind.verify`.

    In an object store no lock keeps writers out, so a run that seems damaged is verified again if
    another process has resumed it meanwhile.
    """
    try:
        result = kind_of(run).verify(run, count, seed, say)
    except CorruptRunError:
        if (reopened := _moved_on(run)) is None:
            raise
        return verified(reopened, count, seed, say)
    if result.faults and (reopened := _moved_on(run)):
        return verified(reopened, count, seed, say)
    return run, result


def _moved_on(run: StoredRun) -> StoredRun | None:
    """Return the run in its present state, if it has continued since it was opened."""
    try:
        run.check_mine()
    except Gone:
        return open_run(run.storage)
    return None
