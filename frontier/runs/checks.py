"""What a check of a run finds, and what a repair does, for any kind of run."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from frontier.errors import CorruptRunError
from frontier.runs.copies import COPIES
from frontier.runs.directory import SUMMARY as SUMMARY_FILE
from frontier.runs.stored_run import StoredRun
from frontier.storage.sealed import read_sealed

Say = Callable[[str], None]
"""Called with each step in words."""

COPY, SUMS, SUMMARY = -1, -2, -3
"""Numbers used in place of a depth for faults outside the layers: in the copies, in the sums over
the ledger's layers, and in the summary."""


@dataclass(frozen=True)
class Fault:
    """Something that is wrong or not as it was written.

    depth: the depth of the layer, or COPY, SUMS or SUMMARY. message: names the file and
    what is wrong with it. task: a task of the layer under way or of the next one. described: True
    if the search does not need the file.
    """

    depth: int
    message: str
    task: int | None = None
    described: bool = False


@dataclass
class Checks(ABC):
    """What was checked, and the faults. Each kind of run adds how much it has checked.

    notes: what is wrong with files that the search does not read.
    """

    faults: list[Fault] = field(default_factory=list, kw_only=True)
    notes: list[str] = field(default_factory=list, kw_only=True)

    @property
    @abstractmethod
    def in_words(self) -> str:
        """What was checked."""


def faults_of_copies_and_summary(run: StoredRun) -> Iterator[Fault]:
    """Generate the faults of the copies that a run keeps, and of its summary."""
    try:
        if run.storage.exists(SUMMARY_FILE):
            read_sealed(run.storage, SUMMARY_FILE)
    except CorruptRunError as error:
        yield Fault(SUMMARY, str(error), described=True)
    for name in COPIES.values():
        if run.fresh and not run.storage.exists(name):
            continue  # it was not yet written
        try:
            run.check(name)
        except CorruptRunError as error:
            yield Fault(COPY, str(error), described=True)


class Repair(ABC):
    """The steps of a repair.

    summary: True if ``summary.json`` is damaged; the caller must write it again. lost: the results
    that the repair drops.
    """

    summary: bool
    lost: Sequence[int] = ()

    @property
    @abstractmethod
    def needed(self) -> bool: ...

    @abstractmethod
    def take(self, run: Any) -> None:
        """Take the steps; the caller holds the lock."""

    @abstractmethod
    def in_words(self, run: Any) -> str:
        """Return what the repair does."""
