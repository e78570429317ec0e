"""A search of cosets on disk.

    run.json      what is searched: format, identifier, puzzle, region, groups
    ledger.json   the blocks that were searched, question by question, what was found and asked
    tables/       the tables, NAME.npy, and the checksum of each, NAME.json
    lock

and for people summary.json, environment.json, events.jsonl and status.html, as in the directory of
a run by layers.

The .json files have a digest each, and every file is put in place whole, so a search that is
killed goes on from the blocks that the ledger lists. The tables may be deleted: they are made anew.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

import google_crc32c
import numpy as np
from pydantic import TypeAdapter, ValidationError

from frontier.config import Config
from frontier.cosets.proof import Answer, Proof
from frontier.cosets.questions import Block, Witness
from frontier.cosets.regions import Region, check_puzzle, region_named
from frontier.cosets.tables import TableSource
from frontier.errors import CorruptRunError, CorruptSearchError, FormatError, InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.storage.base import Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import first_wrong, read_sealed, write_sealed
from frontier.store.beside import place_beside
from frontier.store.directory import FOR_PEOPLE
from frontier.store.identity import GODS_NUMBER, kind_at, same_puzzle
from frontier.store.run_ref import RunRef

FORMAT = 1

OWN_NAMES = {"run.json", "ledger.json", "tables", "lock"} | FOR_PEOPLE

CHUNK = 1 << 26
"""The bytes whose checksum is computed at a time."""

OLDER_NAMES = {"look_ups": "nodes", "nodes": "steps"}
"""The names in the ledger of fields of `Block`, which had these names when its format was made."""

BLOCKS, WITNESSES = TypeAdapter(list[Block]), TypeAdapter(list[Witness])


def path_of(config: Config) -> Storage:
    """Return the place of the search of a config: beside its run, with "-gods-number" behind its
    name; or the directory of the config itself, if that holds a search."""
    path = config.storage
    return path if kind_at(path) == GODS_NUMBER else place_beside(path)


class CosetRun:
    """A search of cosets in its directory.

    identity: the content of ``run.json``. proof: the results so far; None before the tables are
    made. request: the bound in question, and how many of the last layers are wanted; see
    `frontier.cosets.proof.Proof.next_question`.
    """

    def __init__(self, place: Place):
        """Open an existing search; raises CorruptSearchError if its files are not what was
        written."""
        self.storage = path = storage_at(place)
        self.identity = _read(path, "run.json", f"delete {path}, and it is searched anew")
        if self.identity.get("kind") != GODS_NUMBER or self.identity.get("format") != FORMAT:
            raise FormatError(
                f"{path.place('run.json')} is of kind {self.identity.get('kind')!r} and format "
                f"{self.identity.get('format')!r}; this program reads {GODS_NUMBER!r} of format "
                f"{FORMAT}"
            )
        self.request: tuple[int | None, int] = (None, 1)
        self.proof = self._read_ledger()

    @property
    def path(self) -> Path | str:
        """The path of the directory, for Python and for messages."""
        return self.storage.path

    @staticmethod
    def exists(place: Place) -> bool:
        return storage_at(place).exists("run.json")

    @classmethod
    def create(cls, place: Place, config: Config, region: Region, groups: tuple[int, ...]):
        """Begin a search in a directory that is empty or does not exist."""
        path = storage_at(place)
        path.make_folder()
        names = {name for name in path.names() if not MARKED.fullmatch(name)}
        if foreign := sorted(names - OWN_NAMES):
            raise InputError(
                f"{path}: the directory also holds {', '.join(foreign[:3])}; choose another with "
                "--set store.path=…"
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
        write_sealed(path, "run.json", identity, durable=True)
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

    def _read_ledger(self) -> Proof | None:
        file = self.storage.place("ledger.json")
        if not self.storage.exists("ledger.json"):
            return None
        remedy = f"delete {file}, and its questions are asked anew, with the tables that are there"
        ledger = _read(self.storage, "ledger.json", remedy)
        if ledger.get("run") != self.identity["identifier"]:
            raise CorruptSearchError(f"{file} is the ledger of another search: {remedy}")
        self.request = tuple(ledger.get("asked", self.request))
        try:
            proof = Proof(tuple(ledger["deepest"]), self.region.period)
            for limit, answer in ledger["answers"].items():
                blocks = BLOCKS.validate_python(list(map(_as_read, answer["done"])))
                done = {block.number: block for block in blocks}
                proof.answers[int(limit)] = Answer(answer["blocks"], answer["cosets"], done)
            proof.witnesses += WITNESSES.validate_python(ledger.get("witnesses", []))
            proof.guessed = float(ledger.get("guessed", 0.0))
        except (KeyError, ValidationError) as error:
            reason = first_wrong(error) if isinstance(error, ValidationError) else error
            message = f"{file} is no ledger of this search ({reason}): {remedy}"
            raise CorruptSearchError(message) from None
        return proof

    def commit(self) -> None:
        """Write the ledger, so that it is on the disk when this returns.

        Raises CorruptSearchError if the results contradict each other.
        """
        if self.proof.lower > self.proof.upper:
            raise CorruptSearchError(
                f"{self.path}: it has found that all positions take {self.proof.upper} moves or "
                f"fewer, and one that takes {self.proof.lower}; verify --deep says which is wrong"
            )
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
        write_sealed(self.storage, "ledger.json", {**ledger, "answers": answers}, durable=True)

    def table_source(self, shared: bool) -> TableSource:
        """Return a function that returns stored tables, or makes and stores them.

        shared: map them, so that the processes of a host have them once; otherwise they are read,
        which makes look-ups faster. The function raises CorruptSearchError if a table is damaged.
        """
        storage = self.storage

        def give(name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
            file, sums = f"tables/{name}.npy", f"tables/{name}.json"
            if not storage.exists(sums):
                table = make()
                storage.make_folder("tables")
                with storage.new_file(file) as out:
                    np.save(out, table)
                    out.finish(durable=True)
                write_sealed(storage, sums, {"crc32c": _checksum(table)}, durable=True)
                if not shared:
                    return table
            table = self._table(name, shared)
            self._check(table, name)
            return table

        return give

    @property
    def _remedy(self) -> str:
        return f"delete {self.storage.place('tables')}, and the tables are made anew"

    def _table(self, name: str, shared: bool) -> np.ndarray:
        """Return a stored table; raises CorruptSearchError if its file is missing or is none."""
        file = f"tables/{name}.npy"
        try:
            return self.storage.load(file, shared)
        except (FileNotFoundError, ValueError, EOFError) as error:
            message = f"{self.storage.place(file)} is not what was written there ({error})"
            raise CorruptSearchError(f"{message}: {self._remedy}") from None

    def _check(self, table: np.ndarray, name: str) -> None:
        """Raise CorruptSearchError if a table is not what was written."""
        sums = _read(self.storage, f"tables/{name}.json", self._remedy)
        if _checksum(table) != sums["crc32c"]:
            message = f"{self.storage.place(f'tables/{name}.npy')} is not what was written there"
            raise CorruptSearchError(f"{message}: {self._remedy}")

    @property
    def tables(self) -> list[str]:
        """The names of the stored tables."""
        names = self.storage.names("tables")
        return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))

    def check_tables(self) -> Iterator[str]:
        """Generate messages about the tables that are damaged."""
        for name in self.tables:
            try:
                self._check(self._table(name, shared=True), name)
            except CorruptSearchError as error:
                yield str(error)


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


def _checksum(table: np.ndarray) -> int:
    value, flat = 0, table.reshape(-1).view(np.uint8)
    for first in range(0, flat.size, CHUNK):
        value = google_crc32c.extend(value, flat[first : first + CHUNK])
    return value
