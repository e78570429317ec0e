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
from frontier.cosets.tables import Kept
from frontier.errors import CorruptRunError, CorruptSearchError, FormatError, InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.storage.base import Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import first_wrong, read_sealed, write_sealed
from frontier.store.directory import FOR_PEOPLE
from frontier.store.identity import GODS_NUMBER, kind_at, same_puzzle
from frontier.store.run import RunStore
from frontier.store.run_ref import RunRef

FORMAT = 1

OWN_NAMES = {"run.json", "ledger.json", "tables", "lock"} | FOR_PEOPLE

CHUNK = 1 << 26
"""The bytes whose checksum is computed at a time."""

OLDER_NAMES = {"look_ups": "nodes", "nodes": "steps"}
"""What the ledger calls fields of `Block`, which had these names when its format was made."""

BLOCKS, WITNESSES = TypeAdapter(list[Block]), TypeAdapter(list[Witness])


def path_of(config: Config) -> Storage:
    """Where the search of a config is: beside its run, with "-gods-number" behind its name; or in
    the directory of the config itself, if that holds a search."""
    path = config.storage
    return path if kind_at(path) == GODS_NUMBER else _beside(path)


def begun_at(path: Storage) -> Storage:
    """Return `path`, where a run is; where the search beside it is if only this has begun."""
    return path if RunStore.exists(path) else search_beside(path) or path


def search_beside(path: Storage) -> Storage | None:
    """Return where the search beside a run is; None if it has not begun."""
    beside = _beside(path)
    return beside if CosetRun.exists(beside) else None


def _beside(path: Storage) -> Storage:
    return path.parent.below(f"{path.name}-{GODS_NUMBER}")


def open_any(path: Place) -> "RunStore | CosetRun":
    """Open what a run directory holds: a run by layers, or a search of cosets."""
    return CosetRun(path) if kind_at(path) == GODS_NUMBER else RunStore.open(path)


class CosetRun:
    """A search of cosets in its directory.

    identity: what ``run.json`` says. proof: what was found so far; None before the tables are made.
    asked: the bound that was asked about last, and how many of the last layers are wanted; see
    `frontier.cosets.proof.Proof.next_question`.
    """

    def __init__(self, place: Place):
        """Open a search that exists; CorruptSearchError if its files are not what was written."""
        self.storage = path = storage_at(place)
        self.identity = _read(path, "run.json", f"delete {path}, and it is searched anew")
        if self.identity.get("kind") != GODS_NUMBER or self.identity.get("format") != FORMAT:
            raise FormatError(
                f"{path.place('run.json')} is of kind {self.identity.get('kind')!r} and format "
                f"{self.identity.get('format')!r}; this program reads {GODS_NUMBER!r} of format "
                f"{FORMAT}"
            )
        self.asked: tuple[int | None, int] = (None, 1)
        self.proof = self._read_ledger()

    @property
    def path(self) -> Path | str:
        """Where it is, as Python and people name it."""
        return self.storage.path

    @staticmethod
    def exists(place: Place) -> bool:
        return storage_at(place).exists("run.json")

    @classmethod
    def create(cls, place: Place, config: Config, region: Region, groups: tuple[int, ...]):
        """Begin a search in a directory that is empty or not there."""
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
        """InputError unless the search is of a config, and of a region if one is named."""
        here = config.puzzle_settings
        for name, there, wanted, same in (
            ("puzzle", self.identity["puzzle"], here, same_puzzle(self.identity["puzzle"], here)),
            ("region", self.region.name, region, region in (None, self.region.name)),
        ):
            if not same:
                raise InputError(
                    f"{self.path} was made with {name} {there}, and now {name} is {wanted}: choose "
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
        """The next question, as `Proof` has it; None if all is known that was asked."""
        return self.proof.next_question(*self.asked)

    @property
    def complete(self) -> bool:
        """Whether all is known that was asked."""
        return self.proof is not None and self.next_question is None

    def ask(self, at_most: int | None, layers: int) -> None:
        """Note what is asked."""
        if self.asked != (at_most, layers):
            self.asked = at_most, layers
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
        self.asked = tuple(ledger.get("asked", self.asked))
        try:
            proof = Proof(tuple(ledger["deepest"]), self.region.period)
            for limit, answer in ledger["answers"].items():
                blocks = BLOCKS.validate_python(list(map(_as_read, answer["done"])))
                done = {block.number: block for block in blocks}
                proof.answers[int(limit)] = Answer(answer["blocks"], answer["cosets"], done)
            proof.witnesses += WITNESSES.validate_python(ledger.get("witnesses", []))
            proof.guessed = float(ledger.get("guessed", 0.0))
        except (KeyError, ValidationError) as error:
            why = first_wrong(error) if isinstance(error, ValidationError) else error
            said = f"{file} is no ledger of this search ({why}): {remedy}"
            raise CorruptSearchError(said) from None
        return proof

    def commit(self) -> None:
        """Write the ledger, so that it is on the disk when this returns. CorruptSearchError if what
        was found contradicts itself."""
        if self.proof.lower > self.proof.upper:
            raise CorruptSearchError(
                f"{self.path}: it has found that all positions take {self.proof.upper} moves or "
                f"fewer, and one that takes {self.proof.lower}; verify --deep says which is wrong"
            )
        answers = {
            str(limit): {
                "blocks": answer.blocks,
                "cosets": answer.cosets,
                "done": list(map(_as_kept, answer.done.values())),
            }
            for limit, answer in self.proof.answers.items()
        }
        ledger = {"run": self.identity["identifier"], "deepest": list(self.proof.deepest)}
        ledger["asked"] = list(self.asked)
        ledger["witnesses"] = list(map(asdict, self.proof.witnesses))
        ledger["guessed"] = self.proof.guessed
        write_sealed(self.storage, "ledger.json", {**ledger, "answers": answers}, durable=True)

    def kept(self, shared: bool) -> Kept:
        """Gives tables as they were kept, or makes and keeps them.

        shared: whether they are mapped, so that the processes of a host have them once; else they
        are read, which makes look-ups faster. CorruptSearchError if a table is damaged.
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
        """A table that is kept; CorruptSearchError if its file is missing or is none."""
        file = f"tables/{name}.npy"
        try:
            return self.storage.load(file, shared)
        except (FileNotFoundError, ValueError, EOFError) as error:
            said = f"{self.storage.place(file)} is not what was written there ({error})"
            raise CorruptSearchError(f"{said}: {self._remedy}") from None

    def _check(self, table: np.ndarray, name: str) -> None:
        """CorruptSearchError if a table is not what was written."""
        sums = _read(self.storage, f"tables/{name}.json", self._remedy)
        if _checksum(table) != sums["crc32c"]:
            said = f"{self.storage.place(f'tables/{name}.npy')} is not what was written there"
            raise CorruptSearchError(f"{said}: {self._remedy}")

    @property
    def tables(self) -> list[str]:
        """The names of the tables that are kept."""
        names = self.storage.names("tables")
        return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))

    def check_tables(self) -> Iterator[str]:
        """What is wrong with the tables that are there, one after the other."""
        for name in self.tables:
            try:
                self._check(self._table(name, shared=True), name)
            except CorruptSearchError as error:
                yield str(error)


def _as_kept(block: Block) -> dict:
    """A block as it stands in the ledger; `_as_read` has the fields of `Block` again."""
    return {OLDER_NAMES.get(name, name): value for name, value in asdict(block).items()}


def _as_read(kept: dict) -> dict:
    names = {older: name for name, older in OLDER_NAMES.items()}
    return {names.get(older, older): value for older, value in kept.items()}


def _read(storage: Storage, name: str, remedy: str) -> dict:
    """What a sealed file says; CorruptSearchError, with a remedy, if it is damaged."""
    try:
        return read_sealed(storage, name)
    except CorruptRunError as error:
        raise CorruptSearchError(f"{error}: {remedy}") from None


def _checksum(table: np.ndarray) -> int:
    value, flat = 0, table.reshape(-1).view(np.uint8)
    for first in range(0, flat.size, CHUNK):
        value = google_crc32c.extend(value, flat[first : first + CHUNK])
    return value
