"""The interface of every kind of place where runs keep their files.

A `Storage` is a place. Its files have names such as ``layers/0012/c.0``; the name "" stands for the
place itself. A file appears complete or not at all. A place must be able to read a range, write a
complete file, delete it, list names, and replace a file if it is still the one that was read.
Methods for features that a kind of place lacks, such as folders or locks, do nothing.
"""

# ruff: noqa: B027  (methods for features that a kind of place lacks do nothing)

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

MOST_BYTES = 1 << 28
"""The greatest size in bytes of a file that is read as a whole."""


DELETING, PARTIAL = ".deleting", ".partial"
"""The endings of names of files and folders that are being deleted, and of incomplete ones."""


class Replaced(Exception):
    """A file is no longer the one that was read."""


class Writer(ABC):
    """A file that is written chunk by chunk, and is in place only after `finish`. Used as a context
    manager, it leaves nothing behind if `finish` was not called."""

    @abstractmethod
    def write(self, data: bytes | memoryview) -> None: ...

    @abstractmethod
    def finish(self, durable: bool) -> None:
        """Put the complete file in place. durable: return only once it is on the disk."""

    @abstractmethod
    def abandon(self) -> None:
        """Leave nothing behind. After `finish` this does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.abandon()


class Storage(ABC):
    """A place with files.

    path: the Path of a directory, or the URL of a place in a bucket. lock_file: the file that the
    writer of a run locks; None if there are no locks. transfer_bytes: the most bytes of memory for
    data in transit from or to one file.
    """

    path: Path | str
    lock_file: Path | None = None
    transfer_bytes = 0

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self).rpartition("/")[2]

    @property
    @abstractmethod
    def parent(self) -> "Storage":
        """The place that contains this one."""

    def absolute(self) -> "Storage":
        """Return the same place, independent of later changes of the working directory."""
        return self

    def resolved(self) -> "Storage":
        """Return the same place with all links in its path followed."""
        return self

    @abstractmethod
    def below(self, name: str) -> "Storage":
        """Return a place inside this one."""

    @abstractmethod
    def place(self, name: str = "") -> Path | str:
        """Return the path or URL of a file or folder."""

    # Names and versions.

    @abstractmethod
    def version(self, name: str) -> object:
        """Return a value that distinguishes a file from any file that replaces it; None if there is
        no file."""

    def exists(self, name: str) -> bool:
        """Return whether something has this name."""
        return self.version(name) is not None

    @abstractmethod
    def is_folder(self, name: str = "") -> bool:
        """Return whether there is a folder with this name."""

    @abstractmethod
    def names(self, folder: str = "") -> set[str]:
        """Return the names directly in a folder. The set is empty if the folder does not exist or
        is a link inside this place, because links are never followed."""

    @abstractmethod
    def files(self, folder: str = "") -> Iterator[tuple[str, int]]:
        """Generate the name of each file below a folder, and its size in bytes."""

    def size(self, folder: str = "") -> int:
        """Return the total bytes of all files below a folder."""
        return sum(size for _, size in self.files(folder))

    @abstractmethod
    def modified(self, name: str) -> float:
        """Return when a file was written, in seconds since the epoch; raises FileNotFoundError if
        there is no file."""

    # Reading raises FileNotFoundError if nothing has the name, and ValueError if something other
    # than a file has it.

    @abstractmethod
    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """Return all bytes of a file; raises ValueError if it has more than `most`."""

    @abstractmethod
    def read_tail(self, name: str, size: int) -> tuple[bytes, int]:
        """Return the last `size` bytes of a file, or all of them if it has fewer, and the size of
        the file."""

    @abstractmethod
    def read_ranges(self, name: str, begin: Sequence[int], views: Sequence[memoryview]) -> None:
        """Read ascending ranges of a file.

        begin: where each range begins. views: memory of the size of each range. Raises EOFError or
        OSError if the file ends within a range.
        """

    def map_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> np.ndarray | None:
        """Return a file as uint8 memory, without a copy, once the given ranges have been read.

        ranges: where each begins and ends. Returns None if files of this place cannot be mapped;
        raises EOFError if the file ends within a range. If the disk fails during later reads, the
        process ends without an error message.
        """
        return None

    def memory(self, name: str, shared: bool) -> np.ndarray:
        """Return a file as uint8 memory, once all of it has been read. shared: let the processes of
        a host share the memory, if files of this place can be mapped. Raises EOFError if the file
        becomes shorter."""
        _, size = self.read_tail(name, 1)
        data = self.map_ranges(name, [(0, size)]) if shared and size else None
        if data is None:
            data = np.empty(size, dtype=np.uint8)
            self.read_ranges(name, [0], [data.data])
        return data

    # Writing.

    @abstractmethod
    def write(self, name: str, content: bytes, durable: bool = False) -> None:
        """Write a file so that a reader sees its old or its new content, however the process dies.

        durable: return only once the file is on the disk; otherwise a power failure may lose the
        writes of the last seconds.
        """

    @abstractmethod
    def replace(self, name: str, content: bytes, was: object, durable: bool = False) -> object:
        """Write a file as `write` does, if its version is still `was`; None stands for no file.

        Returns the new version. Raises Replaced if the version has changed. If there are locks, the
        caller must hold the run's lock. Otherwise, if two processes replace a file at the same
        time, only one succeeds.
        """

    @abstractmethod
    def append(self, name: str, content: bytes) -> None:
        """Append to a file; makes the file if it does not exist."""

    @abstractmethod
    def new_file(self, name: str) -> Writer:
        """Return a writer of a file whose folder exists."""

    @abstractmethod
    def delete(self, *names: str) -> None:
        """Delete some files; ignores names without a file."""

    # File systems only.

    def make_folder(self, name: str = "") -> None:
        """Make a folder if it does not exist; for the place itself, also the folders above it."""

    def remove_folder(self, name: str = "") -> None:
        """Delete a folder if it is empty."""

    def force(self, *names: str) -> None:
        """Return once the contents of files, or the names in folders, are on the disk."""

    def force_above(self) -> None:
        """Return once the name of the place, and names above it that may be new, are on the
        disk."""

    def sweep(self, folder: str = "") -> None:
        """Delete the remains of interrupted writes directly in a folder."""

    def is_link(self, name: str) -> bool:
        """Return whether a name is a link to something else."""
        return False

    @abstractmethod
    def free(self) -> float:
        """Return the free bytes; infinity if the place has no known limit."""

    def free_files(self) -> int | None:
        """Return how many more files the place can hold; None if there is no limit."""
        return None

    @abstractmethod
    def zarr(self, name: str) -> Any:
        """Return a value with which Zarr can open a folder."""
