"""A run by cosets: what is known about God's number of a puzzle, and the tables of the search.

Its ledger has the questions and, for each question, the portions of cosets that were searched, with
their results. The tables may be deleted, because the search makes them again.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, StrictInt, TypeAdapter

from frontier.config.loading import Config
from frontier.cosets.proof import Answer, Proof
from frontier.cosets.questions import PORTIONS, Portion, Witness
from frontier.cosets.regions import Region, check_puzzle, region_named
from frontier.errors import CorruptRunError, InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.runs.identity import Identity
from frontier.runs.kinds import BY_COSETS
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage
from frontier.storage.places import Place
from frontier.storage.sealed import Count, Seconds
from frontier.storage.tables import TABLES, TableFiles, TableSource, delete_tables


@dataclass
class StoredAnswer:
    """An answer as the ledger stores it; see `frontier.cosets.proof.Answer`."""

    portions: Annotated[int, Field(strict=True, ge=0, le=PORTIONS)]
    cosets: Count
    done: list[Portion]


ANSWERS, WITNESSES = TypeAdapter(dict[int, StoredAnswer]), TypeAdapter(list[Witness])
COUNTS, REQUEST = TypeAdapter(tuple[Count, Count]), TypeAdapter(tuple[Count | None, Count])
GUESSED = TypeAdapter(Seconds)
"""The types of values in a ledger."""


class CosetIdentity(Identity):
    """The content of ``run.json`` of a run by cosets."""

    region: str
    groups: list[StrictInt]


class CosetRun(StoredRun):
    """A run by cosets at its place.

    proof: the results so far; None before the tables are made. request: the bound to decide, and
    how many of the last layers are wanted; see `frontier.cosets.proof.Proof.next_question`.
    """

    kind, schema = BY_COSETS, CosetIdentity

    def __init__(self, storage: Storage, identity: dict):
        super().__init__(storage, identity)
        self.durable = True
        self.tables = TableFiles(storage, identity["identifier"])
        self.request: tuple[int | None, int] = (None, 1)
        self.proof: Proof | None = None

    @property
    def begun(self) -> bool:
        return self.proof is not None

    def options(self) -> dict[str, Any]:
        at_most, layers = self.request
        return {"at-most": at_most, "layers": None if layers == 1 else layers}

    @classmethod
    def of_config(
        cls, place: Place, config: Config, region: Region, groups: tuple[int, ...]
    ) -> Self:
        """Begin a run; raises the errors of `create`."""
        identity: dict[str, Any] = {"name": config.name, "puzzle": config.puzzle_settings}
        identity |= {"region": region.name, "groups": list(groups)}
        return cls.create(place, identity, durable=True)

    def _begin(self) -> None:
        delete_tables(self.storage)  # those of a run that is no longer here

    @property
    def fresh(self) -> bool:
        return self.proof is None and not self.tables.names

    def check_region(self, region: str | None) -> None:
        """Raise InputError if `region` names a region other than the run's."""
        if region not in (None, self.region.name):
            raise InputError(
                f"{self.path} was made with region {self.region.name}, not {region}: omit "
                "the region, or choose another store.path"
            )

    @property
    def puzzle(self) -> Puzzle:
        return self.region.puzzle

    @property
    def begun_proof(self) -> Proof:
        """The results so far of a run whose tables have been made."""
        assert self.proof is not None
        return self.proof

    @property
    def next_question(self) -> tuple[int, bool] | None:
        """The next question, as `Proof` gives it; None if the request is answered."""
        return self.begun_proof.next_question(*self.request)

    @property
    def complete(self) -> bool:
        """True if the request is answered."""
        return self.proof is not None and self.next_question is None

    def note_request(self, at_most: int | None, layers: int) -> None:
        """Record the request of a start."""
        if self.request != (at_most, layers):
            self.request = at_most, layers
            self.commit()

    @cached_property
    def region(self) -> Region:
        puzzle = check_puzzle(puzzle_of(self.identity["puzzle"]))
        return region_named(puzzle, self.identity["region"])

    @property
    def groups(self) -> tuple[int, ...]:
        return tuple(self.identity["groups"])

    def _content(self) -> dict:
        content: dict = {"asked": list(self.request)}
        if self.proof is None:
            return content
        answers = {
            str(limit): {
                "portions": answer.portions,
                "cosets": answer.cosets,
                "done": list(map(asdict, answer.done.values())),
            }
            for limit, answer in self.proof.answers.items()
        }
        return content | {
            "deepest": list(self.proof.deepest),
            "witnesses": list(map(asdict, self.proof.witnesses)),
            "guessed": self.proof.guessed,
            "answers": answers,
        }

    def _take(self, content: dict) -> None:
        request, proof = REQUEST.validate_python(content["asked"]), None
        if "deepest" in content:
            proof = Proof(COUNTS.validate_python(content["deepest"]), self.region.period)
            for limit, stored in ANSWERS.validate_python(content["answers"]).items():
                portions, read = stored.portions, stored.done
                done = {of.number: of for of in read if 0 <= of.number < portions}
                if len(done) < len(read):
                    raise ValueError(
                        f"the question of {limit} moves has a portion that does not exist"
                    )
                proof.answers[limit] = Answer(portions, stored.cosets, done)
            proof.witnesses += WITNESSES.validate_python(content["witnesses"])
            proof.guessed = GUESSED.validate_python(content["guessed"])
            proof.check_values(self.region.puzzle)
            proof.check()
        self.request, self.proof = request, proof

    def commit(self) -> None:
        """Write the ledger, and return once it is on the disk.

        Raises CorruptRunError if the results contradict each other, and the errors of `check_mine`;
        then nothing is written.
        """
        try:
            if self.proof is not None:
                self.proof.check()
        except ValueError as error:
            message = f"{self.path}: {error}; a deep check finds the wrong result"
            raise CorruptRunError(message) from None
        self.write_ledger()

    def sweep(self) -> None:
        super().sweep()
        self.storage.sweep(TABLES)

    def table_source(self, shared: bool) -> TableSource:
        """Return a function that reads a stored table, or makes and stores it.

        shared: map tables, so that the processes of a host share one copy; otherwise read them, for
        faster look-ups. The function raises CorruptRunError if a table is damaged, and Gone if the
        run is no longer at its place.
        """

        def give(name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
            if not self.tables.exists(name):
                table = make()
                self.check_here()  # making the table may have taken minutes
                self.tables.write(name, table)
                if not shared:
                    return table
            return self.tables.read(name, shared)

        return give
