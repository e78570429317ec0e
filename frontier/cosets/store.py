"""A search of cosets on disk.

    run.json      what is searched: format, identifier, puzzle, region, groups
    ledger.json   the blocks that were searched, question by question, and what was found
    tables/       the tables, NAME.npy, and the checksum of each, NAME.json
    summary.json  what was found, for people
    lock

These .json files have a digest each, and every file is put in place whole, so a search that is
killed goes on from the blocks that the ledger lists. The tables may be deleted: they are made anew.
"""

import uuid
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import google_crc32c
import numpy as np
from pydantic import TypeAdapter, ValidationError

from frontier.config import Config
from frontier.cosets.proof import Answer, Proof
from frontier.cosets.questions import Block
from frontier.cosets.regions import Region, check_puzzle, region_named
from frontier.cosets.tables import Kept
from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.puzzles import puzzle_of
from frontier.storage.base import Storage
from frontier.storage.local import MARKED
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import first_wrong, read_sealed, write_sealed
from frontier.store.identity import same_puzzle
from frontier.store.run_ref import RunRef

FORMAT = 1

KIND = "gods-number"
"""What run.json calls such a search."""

OWN_NAMES = {"run.json", "ledger.json", "tables", "lock", "summary.json"}

CHUNK = 1 << 26
"""The bytes whose checksum is computed at a time."""

BLOCKS = TypeAdapter(list[Block])


def path_of(config: Config) -> Storage:
    """Where the search of a config is: beside its run, with "-gods-number" behind its name."""
    return config.storage.parent.below(f"{config.storage.name}-{KIND}")


class CosetRun:
    """A search of cosets in its directory.

    identity: what ``run.json`` says. proof: what was found so far; None before the tables are made.
    """

    def __init__(self, place: Place):
        """Open a search that exists; CorruptRunError if its files are not what was written."""
        self.storage = storage_at(place)
        self.identity, path = read_sealed(self.storage, "run.json"), self.storage
        if self.identity.get("kind") != KIND or self.identity.get("format") != FORMAT:
            raise FormatError(
                f"{path.place('run.json')} is of kind {self.identity.get('kind')!r} and format "
                f"{self.identity.get('format')!r}; this program reads {KIND!r} of format {FORMAT}"
            )
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
            "kind": KIND,
            "format": FORMAT,
            "identifier": uuid.uuid4().hex,
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
        ledger = read_sealed(self.storage, "ledger.json")
        if ledger.get("run") != self.identity["identifier"]:
            raise CorruptRunError(f"{file} is the ledger of another search")
        proof = Proof(tuple(ledger["deepest"]))
        try:
            for limit, answer in ledger["answers"].items():
                blocks = BLOCKS.validate_python(answer["done"])
                done = {block.number: block for block in blocks}
                proof.answers[int(limit)] = Answer(answer["blocks"], answer["cosets"], done)
        except (KeyError, ValidationError) as error:
            why = first_wrong(error) if isinstance(error, ValidationError) else error
            raise CorruptRunError(f"{file} is no ledger of this search: {why}") from None
        return proof

    def commit(self) -> None:
        """Write the ledger, so that it is on the disk when this returns."""
        answers = {
            str(limit): {
                "blocks": answer.blocks,
                "cosets": answer.cosets,
                "done": [asdict(block) for block in answer.done.values()],
            }
            for limit, answer in self.proof.answers.items()
        }
        ledger = {"run": self.identity["identifier"], "deepest": list(self.proof.deepest)}
        write_sealed(self.storage, "ledger.json", {**ledger, "answers": answers}, durable=True)

    def kept(self, shared: bool) -> Kept:
        """Gives tables as they were kept, or makes and keeps them.

        shared: whether they are mapped, so that the processes of a host have them once; else they
        are read, which makes look-ups faster. CorruptRunError if a table is damaged.
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
            try:
                table = storage.load(file, shared)
                whole = _checksum(table) == read_sealed(storage, sums)["crc32c"]
            except (ValueError, EOFError, FileNotFoundError):
                whole = False
            if not whole:
                raise CorruptRunError(
                    f"{storage.place(file)} is not what was written there: delete "
                    f"{storage.place('tables')}, and it is made anew"
                )
            return table

        return give


def _checksum(table: np.ndarray) -> int:
    value, flat = 0, table.reshape(-1).view(np.uint8)
    for first in range(0, flat.size, CHUNK):
        value = google_crc32c.extend(value, flat[first : first + CHUNK])
    return value
