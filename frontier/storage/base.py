"""What a run needs of the place where its files are kept, whichever kind of place that is.

A `Storage` is a place. Its files have names such as ``layers/0012/c.0``; the name "" stands for the
place itself. A file is put in place whole or not at all. Little is asked for: read a range, write a
file whole, delete it, list names, and replace a file if it is still the one that was read. Whatever
one kind of place does not know, such as folders, locks or a power failure, it does nothing about.
"""

# ruff: noqa: B027  (what a place does nothing about is done by methods that do nothing)

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

MOST_BYTES = 1 << 28
"""The greatest size in bytes of a file that is read as a whole."""


class Replaced(Exception):
    """A file is no longer the one that was read."""


class Writer(ABC):
    """A file that is written piece by piece, and is in place from `finish` on; as context manager
    it leaves nothing behind if that does not come."""

    @abstractmethod
    def write(self, data: memoryview) -> None: ...

    @abstractmethod
    def finish(self, durable: bool) -> None:
        """Put the file in place, whole. durable: whether it is on the disk when this returns."""

    @abstractmethod
    def abandon(self) -> None:
        """Leave nothing behind, also if it is finished."""

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_) -> None:
        self.abandon()


class Storage(ABC):
    """A place with files.

    path: how Python names the place: a Path of a directory, or the URL of a place in a bucket.
    lock_file: the file that who writes a run locks; None where there are no locks.
    transfer_bytes: the most bytes of memory for what is on its way from or to one file.
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
        """The last part of its path."""
        return str(self).rpartition("/")[2]

    @property
    @abstractmethod
    def parent(self) -> "Storage":
        """The place in which this one is."""

    def absolute(self) -> "Storage":
        """Return the same place, whatever directory the process may change to."""
        return self

    def resolved(self) -> "Storage":
        """Return the same place with all links in its path followed."""
        return self

    @abstractmethod
    def below(self, name: str) -> "Storage":
        """A place inside this one."""

    @abstractmethod
    def place(self, name: str = "") -> Path | str:
        """Where a file or folder is, as Python and people name it."""

    # What is there.

    @abstractmethod
    def version(self, name: str) -> object:
        """Return what distinguishes a file from those that replace it; None if there is none."""

    def exists(self, name: str) -> bool:
        """Return whether there is something of this name."""
        return self.version(name) is not None

    @abstractmethod
    def is_folder(self, name: str = "") -> bool:
        """Return whether there is a folder of this name."""

    @abstractmethod
    def names(self, folder: str = "") -> set[str]:
        """Return the names directly in a folder; none if it is not there, or is a link inside this
        place, which nothing here follows."""

    @abstractmethod
    def files(self, folder: str = "") -> Iterator[tuple[str, int]]:
        """Give the names of all files below a folder, and the bytes of each."""

    def size(self, folder: str = "") -> int:
        """Return the bytes of all files below a folder."""
        return sum(size for _, size in self.files(folder))

    @abstractmethod
    def modified(self, name: str) -> float:
        """Return when a file was written, in seconds of the epoch. Raises FileNotFoundError."""

    # Reading. FileNotFoundError is raised if there is no such file, ValueError if it is none.

    @abstractmethod
    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """Return all bytes of a file. Raises ValueError if it has more than `most`."""

    @abstractmethod
    def read_tail(self, name: str, size: int) -> tuple[bytes, int]:
        """Return the last `size` bytes of a file, or all if it has fewer, and how many it has."""

    @abstractmethod
    def read_ranges(self, name: str, begin: Sequence[int], views: Sequence[memoryview]) -> None:
        """Read ascending ranges of a file. begin: where each begins. views: memory of the size of
        each. Raises EOFError or OSError if the file ends within a range."""

    # Writing.

    @abstractmethod
    def write(self, name: str, content: bytes, durable: bool = False) -> None:
        """Write a file so that a reader sees either its old content or the new one.

        That holds however the process dies. durable: whether it is on the disk when this returns;
        else a power failure may lose what was written in the last seconds.
        """

    @abstractmethod
    def replace(self, name: str, content: bytes, was: object, durable: bool = False) -> object:
        """Write a file as `write` does, if its version still is `was`; with None, if there is none.

        Returns the new version. Raises Replaced if it was another. Where there are locks, the
        caller must hold that of the run; elsewhere, of two that replace a file at once, one
        succeeds.
        """

    @abstractmethod
    def append(self, name: str, content: bytes) -> None:
        """Add to the end of a file, which is made if there is none."""

    @abstractmethod
    def new_file(self, name: str) -> Writer:
        """Return a file to be written piece by piece, whose folder is there."""

    @abstractmethod
    def delete(self, *names: str) -> None:
        """Delete those of some files that are there."""

    # What only a file system has.

    def make_folder(self, name: str = "") -> None:
        """Make a folder if it is not there; that of the place itself with those above it."""

    def remove_folder(self, name: str = "") -> None:
        """Delete a folder if nothing is in it."""

    def force(self, *names: str) -> None:
        """Return when the contents of files, or the names in folders, are on the disk."""

    def force_above(self) -> None:
        """Return when the name of the place is on the disk, and those above that may be new."""

    def sweep(self, folder: str = "", name: str | None = None) -> None:
        """Delete what interrupted writes left directly in a folder. name: if given, only what would
        have got that name."""

    def is_link(self, name: str) -> bool:
        """Return whether a name is a link to something else."""
        return False

    def is_odd(self, name: str, folder: bool = False) -> bool:
        """Return whether something has this name that is no file, or no folder if `folder`."""
        return False

    def move_aside(self, name: str, to: str) -> None:
        """Give something that is in the way another name."""

    @abstractmethod
    def free(self) -> float:
        """Return the bytes that are free, infinite where nobody says how much room there is."""

    def free_files(self) -> int | None:
        """Return how many more files there may be; None if there is no limit."""
        return None

    @abstractmethod
    def scratch(self) -> AbstractContextManager["Storage"]:
        """Return a place for a while, in the same file system or bucket, that is empty at its end.

        The place itself need not be there yet."""

    def forget_cached(self, name: str) -> None:
        """Let the next reading of a file come from the disk, where the system allows that."""

    def load(self, name: str, shared: bool) -> np.ndarray:
        """Return the array that NumPy has saved in a file. shared: whether the processes of a host
        are to have it in memory once, where that can be."""
        return np.load(BytesIO(self.read(name, most=1 << 62)))

    @abstractmethod
    def zarr(self, name: str) -> Any:
        """Return a folder as Zarr opens it."""
