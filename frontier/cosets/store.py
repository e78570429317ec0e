"""A search of cosets on disk.

    run.json      what is searched: format, identifier, puzzle, region, groups
    ledger.json   the blocks that were searched, question by question, what was found and asked
    tables/       the tables (`frontier.cosets.table_files`)
    lock

and for people summary.json, environment.json, events.jsonl and status.html, as in the directory of
a run by layers.

The .json files have a digest each, and every file is put in place whole, so a search that is
killed goes on from the blocks that the ledger lists. All of them name the search that they belong
to. The tables may be deleted: they are made anew.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property

import numpy as np
from pydantic import TypeAdapter, ValidationError

from frontier.config import Config
from frontier.cosets.proof import Answer, Proof
from frontier.cosets.questions import Block, Witness
from frontier.cosets.regions import Region, check_puzzle, region_named
from frontier.cosets.table_files import TABLES, TableFiles
from frontier.cosets.tables import TableSource
from frontier.errors import CorruptRunError, CorruptSearchError, FormatError, InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.storage.base import Replaced, Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import Count, first_wrong, read_sealed, sealed
from frontier.store.beside import place_beside
from frontier.store.directory import FOR_PEOPLE, LEDGER, RUN
from frontier.store.identity import GODS_NUMBER, kind_at, same_puzzle
from frontier.store.owned import Owned, begun_meanwhile
from frontier.store.run_ref import RunRef

FORMAT = 1

FOUND = {LEDGER, TABLES}
"""The names of what a search has found and made; nothing begins where these are."""

OWN_NAMES = {RUN, "lock"} | FOUND | FOR_PEOPLE

OLDER_NAMES = {"look_ups": "nodes", "nodes": "steps"}
"""The names in the ledger of fields of `Block`, which had these names when its format was made."""

BLOCKS, WITNESSES = TypeAdapter(list[Block]), TypeAdapter(list[Witness])
COUNTS, REQUEST = TypeAdapter(tuple[Count, Count]), TypeAdapter(tuple[Count | None, Count])
"""Values of a ledger."""


def path_of(config: Config) -> Storage:
    """Return the place of the search of a config: beside its run, with "-gods-number" behind its
    name; or the directory of the config itself, if that holds a search."""
    path = config.storage
    return path if kind_at(path) == GODS_NUMBER else place_beside(path)


class CosetRun(Owned):
    """A search of cosets in its directory.

    identity: the content of ``run.json``. proof: the results so far; None before the tables are
    made. request: the bound in question, and how many of the last layers are wanted; see
    `frontier.cosets.proof.Proof.next_question`.
    """

    command, durable = GODS_NUMBER, True

    def __init__(self, place: Place):
        """Open an existing search; raises CorruptSearchError if its files are not what was
        written."""
        path = storage_at(place)
        super().__init__(path, _read(path, RUN, f"delete {path}, and it is searched anew"))
        if self.identity.get("kind") != GODS_NUMBER or self.identity.get("format") != FORMAT:
            raise FormatError(
                f"{path.place(RUN)} is of kind {self.identity.get('kind')!r} and format "
                f"{self.identity.get('format')!r}; this program reads {GODS_NUMBER!r} of format "
                f"{FORMAT}"
            )
        self.tables = TableFiles(path, self.identity["identifier"])
        self.request: tuple[int | None, int] = (None, 1)
        self.proof: Proof | None = None
        self._version = path.version(LEDGER)
        if self._version is not None:
            self.proof, self.request = self._read_ledger()

    @staticmethod
    def exists(place: Place) -> bool:
        return storage_at(place).exists(RUN)

    @classmethod
    def create(cls, place: Place, config: Config, region: Region, groups: tuple[int, ...]):
        """Begin a search in a directory that is empty or does not exist.

        Raises InputError if other files are in it; CorruptSearchError if it holds what a search has
        found that has lost its ``run.json``; Gone if another process begins one there.
        """
        path = storage_at(place)
        path.make_folder()
        names = {name for name in path.names() if not MARKED.fullmatch(name)}
        if foreign := sorted(names - OWN_NAMES):
            raise InputError(
                f"{path}: the directory also holds {', '.join(foreign[:3])}; choose another with "
                "--set store.path=…"
            )
        if left := sorted(names & FOUND):
            raise CorruptSearchError(
                f"{path} holds {' and '.join(left)} of a search whose {RUN} is missing: put that "
                "back, or move the directory away to start anew"
            )
        identity = {
            "kind": GODS_NUMBER,
            "format": FORMAT,
            "identifier": uuid.uuid4().hex,
            "created": time.time(),
            "name": config.name,
            "puzzle": config.puzzle_settings,
            "region": region.name,
            "groups": list(groups),
        }
        try:
            path.replace(RUN, sealed(identity), None, durable=True)
        except Replaced:
            raise begun_meanwhile(path) from None
        path.force_above()
        return cls(path)

    def check_is_of(self, config: Config, region: str | None) -> None:
        """Raise InputError unless the search is of a config, and of a region if one is named."""
        settings = config.puzzle_settings
        for name, stored, named, same in (
            (
                "puzzle",
                self.identity["puzzle"],
                settings,
                same_puzzle(self.identity["puzzle"], settings),
            ),
            ("region", self.region.name, region, region in (None, self.region.name)),
        ):
            if not same:
                raise InputError(
                    f"{self.path} was made with {name} {stored}, and now {name} is {named}: choose "
                    "another directory (store.path), or delete that one"
                )

    @property
    def ref(self) -> RunRef:
        """A reference to the search, by which any process opens it."""
        return RunRef(str(self.path), self.identity["identifier"])

    @property
    def puzzle(self) -> Puzzle:
        return self.region.puzzle

    @property
    def next_question(self) -> tuple[int, bool] | None:
        """The next question, as `Proof` has it; None if the request is answered."""
        return self.proof.next_question(*self.request)

    @property
    def complete(self) -> bool:
        """True if the request is answered."""
        return self.proof is not None and self.next_question is None

    def note_request(self, at_most: int | None, layers: int) -> None:
        """Note the request of a start."""
        if self.request != (at_most, layers):
            self.request = at_most, layers
            if self.proof is not None:
                self.commit()

    @cached_property
    def region(self) -> Region:
        puzzle = check_puzzle(puzzle_of(self.identity["puzzle"]))
        return region_named(puzzle, self.identity["region"])

    @property
    def groups(self) -> tuple[int, ...]:
        return tuple(self.identity["groups"])

    def _read_ledger(self) -> tuple[Proof, tuple[int | None, int]]:
        """Return the results so far and the request, as the ledger has them."""
        file = self.storage.place(LEDGER)
        remedy = f"delete {file}, and its questions are asked anew, with the tables that are there"
        period = self.region.period
        ledger = _read(self.storage, LEDGER, remedy)
        if ledger.get("run") != self.identity["identifier"]:
            raise CorruptSearchError(f"{file} is the ledger of another search: {remedy}")
        try:
            proof = Proof(COUNTS.validate_python(ledger["deepest"]), period)
            for limit, answer in ledger["answers"].items():
                blocks, cosets = COUNTS.validate_python((answer["blocks"], answer["cosets"]))
                read = BLOCKS.validate_python(list(map(_as_read, answer["done"])))
                done = {block.number: block for block in read if 0 <= block.number < blocks}
                if len(done) < len(read):
                    raise ValueError(f"the question of {limit} has a block too many")
                proof.answers[int(limit)] = Answer(blocks, cosets, done)
            proof.witnesses += WITNESSES.validate_python(ledger["witnesses"])
            proof.guessed = float(ledger["guessed"])
            proof.check()
            request = REQUEST.validate_python(ledger["asked"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = first_wrong(error) if isinstance(error, ValidationError) else error
            message = f"{file} is no ledger of this search ({reason}): {remedy}"
            raise CorruptSearchError(message) from None
        return proof, request

    def _check_ledger(self) -> None:
        self._read_ledger()

    def commit(self) -> None:
        """Write the ledger, so that it is on the disk when this returns.

        Raises CorruptSearchError if the results contradict each other, and errors as `check_mine`
        does; then nothing is written.
        """
        try:
            self.proof.check()
        except ValueError as error:
            raise CorruptSearchError(
                f"{self.path}: {error}; verify --deep says which is wrong"
            ) from None
        answers = {
            str(limit): {
                "blocks": answer.blocks,
                "cosets": answer.cosets,
                "done": list(map(_as_stored, answer.done.values())),
            }
            for limit, answer in self.proof.answers.items()
        }
        ledger = {"run": self.identity["identifier"], "deepest": list(self.proof.deepest)}
        ledger["asked"] = list(self.request)
        ledger["witnesses"] = list(map(asdict, self.proof.witnesses))
        ledger["guessed"] = self.proof.guessed
        ledger["number"] = uuid.uuid4().hex  # no two are the same, as those of runs by layers
        self.check_here()  # there may be no ledger, and another search
        content = sealed({**ledger, "answers": answers})
        self._version = self._replace(LEDGER, content, self._version)

    def sweep(self) -> None:
        """Delete what a killed search has left half written; the caller holds the lock."""
        self.storage.sweep()
        self.storage.sweep(TABLES)

    def table_source(self, shared: bool) -> TableSource:
        """Return a function that returns stored tables, or makes and stores them.

        shared: map them, so that the processes of a host have them once; otherwise they are read,
        which makes look-ups faster. The function raises CorruptSearchError if a table is damaged,
        Gone if the search is no longer at its place.
        """

        def give(name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
            if not self.tables.exists(name):
                table = make()
                self.check_here()  # making it may have taken minutes
                self.tables.write(name, table)
                if not shared:
                    return table
            return self.tables.read(name, shared)

        return give


def _as_stored(block: Block) -> dict:
    """Return a block as the ledger has it; `_as_read` has the fields of `Block` again."""
    return {OLDER_NAMES.get(name, name): value for name, value in asdict(block).items()}


def _as_read(stored: dict) -> dict:
    names = {older: name for name, older in OLDER_NAMES.items()}
    return {names.get(older, older): value for older, value in stored.items()}


def _read(storage: Storage, name: str, remedy: str) -> dict:
    """Return the content of a sealed file; raises CorruptSearchError, with a remedy, if it is
    damaged."""
    try:
        return read_sealed(storage, name)
    except CorruptRunError as error:
        raise CorruptSearchError(f"{error}: {remedy}") from None
