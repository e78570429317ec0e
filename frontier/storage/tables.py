"""Tables on disk, each tied to what made it: a run by cosets, or the databases of a user.

    tables/NAME.npy    the table, as NumPy saves it
    tables/NAME.json   its record: its run and name, its shape and type, and
                       the size and checksum of the whole file

A record has a digest, and is written after its table. A table is used only if its record matches
the run and its file matches the record; the record, not the file, says what the bytes mean.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import prod
from typing import ClassVar

import google_crc32c
import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from frontier.errors import CorruptRunError, NotAFile
from frontier.storage.base import Storage
from frontier.storage.sealed import Count, first_wrong, read_sealed, write_sealed

TableSource = Callable[[str, Callable[[], np.ndarray]], np.ndarray]
"""Called with the name of a table and the function that makes it; returns the table, which may have
been made before."""

TABLES = "tables"
"""The folder of tables."""

CHUNK_BYTES = 1 << 26
"""The number of bytes whose checksum is computed at a time."""


@dataclass(frozen=True)
class TableRecord:
    """The description of a table. run: the identifier of what made it, such as a run. dtype: in
    NumPy's notation. bytes, crc32c: size and checksum of the file."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    run: str
    name: str
    shape: tuple[Count, ...]
    dtype: str
    bytes: Count
    crc32c: Count


RECORD = TypeAdapter(TableRecord)


class TableFiles:
    """The tables with a given identifier. It reads and writes no other tables."""

    def __init__(self, storage: Storage, run: str):
        self._storage, self._run = storage, run

    @property
    def names(self) -> list[str]:
        """The names of the tables that have a record."""
        names = self._storage.names(TABLES)
        return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))

    def exists(self, name: str) -> bool:
        return self._storage.exists(_record(name))

    def write(self, name: str, table: np.ndarray) -> None:
        """Write a table, and return once it is on the disk."""
        self._storage.make_folder(TABLES)
        with self._storage.new_file(_file(name)) as out:
            summing = _Summing(out)
            np.save(summing, np.ascontiguousarray(table))
            out.finish(durable=True)
        record = TableRecord(
            self._run, name, table.shape, table.dtype.str, summing.bytes, summing.crc32c
        )
        write_sealed(self._storage, _record(name), asdict(record), durable=True)

    def read(self, name: str, shared: bool) -> np.ndarray:
        """Return a table.

        shared: map its file, if possible, so that the processes of a host share one copy. Raises
        CorruptRunError if the table is not the one that the run wrote.
        """
        file, record = self._storage.place(_file(name)), self._read_record(name)
        try:
            content = self._storage.memory(_file(name), shared)
            if (content.size, _checksum(content)) != (record.bytes, record.crc32c):
                raise ValueError("its checksum does not match")
            dtype = np.dtype(record.dtype)
            size = prod(record.shape) * dtype.itemsize
            return content[content.size - size :].view(dtype).reshape(record.shape)
        except NotAFile:
            raise
        except (FileNotFoundError, ValueError, TypeError, EOFError) as error:
            reason = "it is missing" if isinstance(error, FileNotFoundError) else error
            message = f"{file} is corrupt ({reason})"
            raise CorruptRunError(message) from None

    def _read_record(self, name: str) -> TableRecord:
        file = self._storage.place(_record(name))
        try:
            record = RECORD.validate_python(read_sealed(self._storage, _record(name)))
        except ValidationError as error:
            message = f"{file} is not a record of a table ({first_wrong(error)})"
            raise CorruptRunError(message) from None
        if (record.run, record.name) != (self._run, name):
            whose = "of another search" if record.run != self._run else f"of {record.name!r}"
            raise CorruptRunError(f"{file} is the record of a table {whose}")
        return record

    def damages(self) -> dict[str, str]:
        """Return what is wrong with each damaged table, by name."""
        damages = {}
        for name in self.names:
            try:
                self.read(name, shared=True)
            except CorruptRunError as error:
                damages[name] = str(error)
        return damages

    def delete(self, name: str) -> None:
        """Delete a table. The run makes it again when it is needed."""
        self._storage.delete(_record(name), _file(name))


class _Summing:
    """A file that is being written, with the size and checksum of its bytes so far."""

    def __init__(self, file):
        self._file, self.bytes, self.crc32c = file, 0, 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self.bytes, self.crc32c = self.bytes + len(data), google_crc32c.extend(self.crc32c, data)


def _file(name: str) -> str:
    return f"{TABLES}/{name}.npy"


def _record(name: str) -> str:
    return f"{TABLES}/{name}.json"


def _checksum(content: np.ndarray) -> int:
    value = 0
    for first in range(0, content.size, CHUNK_BYTES):
        value = google_crc32c.extend(value, content[first : first + CHUNK_BYTES])
    return value


def delete_tables(storage: Storage) -> None:
    """Delete the tables of a run at a place, and their folder."""
    storage.sweep(TABLES)
    files = sorted(name for name in storage.names(TABLES) if name.endswith((".npy", ".json")))
    storage.delete(*(f"{TABLES}/{name}" for name in files))
    storage.remove_folder(TABLES)
