"""Files of a run in an object store, such as Amazon S3: names in a bucket, without folders.

An `ObjectPath` names one object, or all those whose names begin with its own and a slash. It has
those methods of a `pathlib.Path` that a run needs, so the code that reads or writes a run need not
know where it is. It asks little of a store (`frontier.store.buckets`), as stores promise little:
read a range, write a whole object, delete it, list names, and replace an object if it is still the
one that was read.

There is no renaming and no locking. An object is there whole or not at all, an upload that is
interrupted leaves none, and nothing has to be forced to a disk.
"""

import asyncio
import errno
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from frontier.errors import InputError
from frontier.store.buckets import Replaced, T, asked, bucket_of, library, masked, patience_for

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = ("s3", "gs", "az")
"""A place in an object store begins with one of these and ``://``."""

URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/@]+)/(.+)")
BEGINS = re.compile(rf"({'|'.join(SCHEMES)}):|[^/]*://")
"""A text that begins so is meant as a URL. One with a user name or password in it is refused."""

GAP_BYTES = 64 << 10
"""Ranges that are at most this far apart are read in one request."""

PIECE_BYTES, PIECES = 8 << 20, 4
"""Large objects are read and sent in pieces: the bytes of one, and how many are on their way."""

TRANSFER_BYTES = PIECE_BYTES * (PIECES + 1)
"""The most bytes of memory for what is on its way from or to one object."""

Version = dict[str, str]
"""The ETag of an object, and its version in stores that number them."""


def _version(about: dict[str, Any]) -> Version:
    return {name: about[name] for name in ("e_tag", "version") if about[name] is not None}


@dataclass(frozen=True, order=True)
class ObjectPath:
    """A name in a bucket: of an object, or of all that is below it.

    bucket: its URL. about: what a listing said of the object, if the path comes from one.
    """

    bucket: str
    parts: tuple[str, ...]
    about: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def parse(cls, url: str) -> "ObjectPath":
        """InputError if it is no URL of a place in a bucket."""
        found = URL.fullmatch(url)
        parts = found[3].strip("/").split("/") if found else []
        if not parts or any(part in ("", ".", "..") for part in parts):
            raise InputError(
                f"{masked(url)!r} names no place in an object store: expected one of "
                f"{', '.join(f'{scheme}://BUCKET/NAME' for scheme in SCHEMES)}, such as "
                "s3://my-bucket/runs/2x8"
            )
        return cls(f"{found[1]}://{found[2]}", tuple(parts))

    def __str__(self) -> str:
        return "/".join((self.bucket, *self.parts))

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(self.bucket, (*self.parts, *name.split("/")))

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else ""

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix

    @property
    def parent(self) -> "ObjectPath":
        return ObjectPath(self.bucket, self.parts[:-1])

    def absolute(self) -> "ObjectPath":
        return self

    def resolve(self) -> "ObjectPath":
        return self

    @property
    def store(self) -> "ObjectStore":
        """The bucket, as Zarr and obstore know it."""
        return bucket_of(self.bucket, patience_for(self.bucket))

    @property
    def key(self) -> str:
        """The name in the bucket."""
        return "/".join(self.parts)

    def ask(self, request: Callable[["ObjectStore"], T]) -> T:
        """What the bucket answers to a request about this object."""
        store = self.store
        return asked(self.bucket, str(self), lambda: request(store))

    # What is there.

    def _head(self) -> dict[str, Any]:
        if self.about is None:
            return dict(self.ask(lambda store: store.head(self.key)))
        return self.about

    def is_file(self) -> bool:
        return self.version() is not None

    def is_dir(self) -> bool:
        """Whether there are objects below."""
        return self.about is None and next(self._below(), None) is not None

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def is_symlink(self) -> bool:
        return False

    def stat(self) -> SimpleNamespace:
        about = self._head()
        return SimpleNamespace(st_size=about["size"], st_mtime=about["last_modified"].timestamp())

    def version(self) -> "Version | None":
        """What distinguishes the object from those that replace it; None if there is none."""
        try:
            return _version(self._head())
        except FileNotFoundError:
            return None

    def iterdir(self) -> Iterator["ObjectPath"]:
        """What is directly below; FileNotFoundError if there is nothing."""
        prefix = f"{self.key}/" if self.parts else ""
        found = self.ask(lambda store: store.list_with_delimiter(prefix))
        folders = found["common_prefixes"]
        files = [file for file in found["objects"] if file["path"] != self.key]  # not its marker
        if not (folders or files):
            raise FileNotFoundError(errno.ENOENT, "there are no such objects", str(self))
        for folder in folders:
            yield self / folder.rstrip("/").rpartition("/")[2]
        for file in files:
            yield ObjectPath(self.bucket, tuple(file["path"].split("/")), dict(file))

    def _below(self) -> Iterator[dict[str, Any]]:
        listing = self.store.list(f"{self.key}/", chunk_size=1000)
        while some := self.ask(lambda _: next(listing, None)):
            yield from (dict(about) for about in some if about["path"] != self.key)

    def bytes_below(self) -> int:
        """Bytes of all objects below."""
        return sum(about["size"] for about in self._below())

    # Reading.

    def read_bytes(self, most: int | None = None) -> bytes:
        """All bytes; ValueError if there are more than `most`, of which none is read then."""

        def get(store: "ObjectStore") -> bytes:
            found = store.get(self.key)
            if most is not None and found.meta["size"] > most:
                raise ValueError(f"it has more than {most:,} bytes")
            return found.bytes().to_bytes()

        return self.ask(get)

    def read_tail(self, size: int) -> tuple[bytes, int]:
        """The last `size` bytes of the object, or all if it has fewer, and how many it has."""

        def get(store: "ObjectStore") -> tuple[bytes, int]:
            found = store.get(self.key, options={"range": {"suffix": size}})
            return found.bytes().to_bytes(), found.meta["size"]

        try:
            return self.ask(get)
        except FileNotFoundError:
            raise
        except OSError:  # Azure reads no range from the end; an empty object has no range
            total = self.stat().st_size
            data = bytearray(min(size, total))
            self.read_ranges([total - len(data)], [memoryview(data)])
            return bytes(data), total

    def read_ranges(self, begin: Sequence[int], views: Sequence[memoryview]) -> None:
        """Read some ranges. begin: where each begins. views: memory of the size of each."""
        pieces = in_pieces(begin, views)

        async def get(store: "ObjectStore") -> None:
            at_once = asyncio.Semaphore(PIECES)

            async def read(piece: Piece) -> None:
                first, end = piece[0][0], piece[-1][0] + len(piece[-1][1])
                async with at_once:
                    found = await store.get_range_async(self.key, start=first, end=end)
                    data = memoryview(found)
                    if len(data) != end - first:
                        raise OSError(errno.EIO, "fewer bytes came than were asked for", str(self))
                    for at, view in piece:
                        view[:] = data[at - first :][: len(view)]

            await asyncio.gather(*map(read, pieces))

        if pieces:  # not by a pool of threads, whose requests a process waits for at its end
            self.ask(lambda store: asyncio.run(get(store)))

    # Writing.

    def write_bytes(self, content: bytes) -> None:
        self.ask(lambda store: store.put(self.key, content))

    def replace_bytes(self, content: bytes, was: "Version | None") -> "Version":
        """Write the object, if its version still is `was`; with None, if there is no object.

        Returns the new version; `Replaced` if it was another.
        """
        mode = "create" if was is None else was

        def get(store: "ObjectStore") -> tuple[bytes, Version]:
            found = store.get(self.key)
            return found.bytes().to_bytes(), _version(found.meta)

        try:
            return _version(self.ask(lambda store: store.put(self.key, content, mode=mode)))
        except (Replaced, FileNotFoundError):
            with suppress(FileNotFoundError):
                there, version = self.ask(get)
                if there == content:
                    return version  # this request has put it there, but its answer was lost
            raise Replaced(str(self)) from None

    def unlink(self, missing_ok: bool = False) -> None:
        if not missing_ok and not self.is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such object", str(self))
        self.unlink_all([self])

    @staticmethod
    def unlink_all(paths: Sequence["ObjectPath"]) -> None:
        """Delete objects of one bucket, in as few requests as it takes."""
        if paths:
            names = [path.key for path in paths]
            with suppress(FileNotFoundError):
                paths[0].ask(lambda store: store.delete(names))

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a folder is there as soon as an object is in it."""

    def rmdir(self) -> None:
        """Do nothing: a folder is gone with the last object in it."""


Piece = list[tuple[int, memoryview]]
"""Ranges near one another: where each begins, and the memory for it."""


def in_pieces(begin: Sequence[int], views: Sequence[memoryview]) -> list[Piece]:
    """Ascending ranges, cut and joined to pieces of which each is read in one request."""
    pieces: list[Piece] = []
    first = end = -1
    for at, view in zip(begin, views, strict=True):
        for skip in range(0, len(view), PIECE_BYTES):
            some = view[skip : skip + PIECE_BYTES]
            start = at + skip
            near = pieces and 0 <= start - end <= GAP_BYTES
            if not near or start + len(some) - first > PIECE_BYTES:
                pieces.append([])
                first = start
            pieces[-1].append((start, some))
            end = start + len(some)
    return pieces


class ObjectWriter:
    """An object that is written piece by piece, and is there from `finish` on."""

    def __init__(self, path: ObjectPath):
        self._path, self._size = path, 0
        self._file = library().open_writer(
            path.store, path.key, buffer_size=PIECE_BYTES, max_concurrency=PIECES
        )

    def write(self, data: memoryview) -> None:
        # A copy: it is sent later, when the caller may have used the memory again.
        self._size += self._path.ask(lambda _: self._file.write(bytes(data)))

    def finish(self, durable: bool) -> None:
        try:
            self._path.ask(lambda _: self._file.close())
        except FileNotFoundError:  # the upload has ended, and its answer was lost; or it has failed
            if self._path.version() is None or self._path.stat().st_size != self._size:
                raise

    def abandon(self) -> None:
        """Leave no object. Pieces of a large one, which nobody sees, stay in the store until a rule
        of the bucket deletes them."""


Place = Path | ObjectPath
"""Where a file of a run is."""


def place_of(path: str | Path | ObjectPath) -> Place:
    """The place that a text names: in an object store, or in a file system."""
    if isinstance(path, str) and BEGINS.match(path):
        return ObjectPath.parse(path)
    return path if isinstance(path, ObjectPath) else Path(path)
