"""The pattern databases of a user, which are made once and kept in the user's cache directory.

A database depends only on the board, on the homes of its tiles and on the cells that the blank
reaches from its home, so puzzles with different goals share it. Its file has a record with its
checksum (`frontier.storage.tables`); a file that does not match is made again.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from frontier.errors import CorruptRunError
from frontier.puzzles import GridPuzzle
from frontier.solving.additive import Database, seen_as
from frontier.solving.groups import compact_groups, runs_of_tiles
from frontier.solving.lines import Lines
from frontier.solving.positions import Additive, Databases
from frontier.storage.base import Storage
from frontier.storage.places import storage_at
from frontier.storage.tables import TableFiles

VERSION = "pattern databases 1"
"""The identifier of the files. It changes with the meaning of their bits."""

Tell = Callable[[str, int, float], None]
"""Called with the name of a database that is being made, its bytes, and the share that is done."""


def cache_folder() -> Path:
    """Return the directory of the databases: `FRONTIER_DATABASES` if the environment names one,
    otherwise one in the user's cache directory."""
    if named := os.environ.get("FRONTIER_DATABASES"):
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "frontier" / "databases"


def different(puzzle: GridPuzzle, sizes: Sequence[int]) -> list[Database]:
    """Return the databases of compact groups of these sizes; groups may share one."""
    blank = puzzle.blank_cell
    seen = [seen_as(puzzle.grid, group, blank)[0] for group in compact_groups(puzzle, sizes)]
    return list(dict.fromkeys(seen))


class DatabaseFiles:
    """The databases at a place; threads: how many make them. tell: see `Tell`."""

    def __init__(self, threads: int, tell: Tell, storage: Storage | None = None):
        self.storage = storage or storage_at(cache_folder())
        self._files = TableFiles(self.storage, VERSION)
        self._threads, self._tell = threads, tell

    def databases(self, puzzle: GridPuzzle, sizes: Sequence[int]) -> Databases:
        """Return the databases of a puzzle, for groups of these sizes."""
        if puzzle.metric == "multi":
            return Lines(puzzle, sizes, self._threads, self._lines_source(puzzle, sizes))
        groups = compact_groups(puzzle, sizes)
        return Additive(puzzle, groups, self._load, self._vertices)

    def kept(self, puzzle: GridPuzzle, sizes: Sequence[int]) -> bool:
        """Return whether all databases for groups of these sizes are kept."""
        if puzzle.metric == "multi":
            return self._exists(_name_of_lines(puzzle, sizes))
        return all(self._exists(_name(of)) for of in different(puzzle, sizes))

    def _load(self, databases: Sequence[Database]) -> tuple[np.ndarray, list[int]]:
        def make(database: Database) -> np.ndarray:
            table = np.zeros(database.words, dtype=np.uint64)
            database.fill(table, self._threads, lambda share: self._tell(name, table.nbytes, share))
            database.forget()
            return table

        parts = []
        for database in databases:
            name = _name(database)
            parts.append(self._kept(name, partial(make, database)))
        words = [part.size for part in parts]
        return parts[0] if len(parts) == 1 else np.concatenate(parts), words

    def _vertices(self, database: Database) -> np.ndarray:
        grid = database.grid
        name = f"{grid.rows}x{grid.columns}-vertices-of-{len(database.homes)}"
        return self._kept(name, lambda: database.vertices)

    def _lines_source(self, puzzle: GridPuzzle, sizes: Sequence[int]):
        name = _name_of_lines(puzzle, sizes)

        def give(_: str, make: Callable[[], np.ndarray]) -> np.ndarray:
            def made() -> np.ndarray:
                self._tell(name, 0, 0.0)
                return make()

            return self._kept(name, made)

        return give

    def _kept(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Return a table that is kept, or make and keep it."""
        if self._exists(name):
            with suppress(CorruptRunError, OSError):
                return self._files.read(name, shared=True)
        table = make()
        with suppress(OSError):  # without room or permission the table serves this process only
            self.storage.make_folder()
            self._files.write(name, table)
            return self._files.read(name, shared=True)
        return table

    def _exists(self, name: str) -> bool:
        with suppress(OSError):
            return self._files.exists(name)
        return False


def _name(database: Database) -> str:
    grid, homes = database.grid, "-".join(map(str, database.homes))
    return f"{grid.rows}x{grid.columns}-tiles-{homes}-blank-{database.blank}"


def _name_of_lines(puzzle: GridPuzzle, sizes: Sequence[int]) -> str:
    grid = puzzle.grid
    blank = puzzle.blank_cell
    groups = "-and-".join("-".join(map(str, g)) for g in runs_of_tiles(puzzle, sizes))
    return f"{grid.rows}x{grid.columns}-lines-{groups}-blank-{blank}"
