"""Files of a run in an object store, such as Amazon S3: names in a bucket, without folders.

An `ObjectPath` names one object, or all those whose names begin with its own and a slash. It has
those methods of a `pathlib.Path` that a run needs, so who reads or writes a run need not know where
it is. What it asks of a store is little, as stores promise little: read a range, write a whole
object, delete it, list names, and replace an object if it is still the one that was read.

There is no renaming and no locking. An object is there whole or not at all, an upload that is
interrupted leaves none, and nothing has to be forced to a disk. Requests that fail are tried again
by the library below (obstore), so the same one may be carried out twice; each one here can be.

Who may use a bucket, and where it is, that library finds out as its documentation says: from
variables such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL, or from the machine that it runs on.
"""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from frontier.errors import InputError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = ("s3", "gs", "az")
"""A place in an object store begins with one of these and ``://``."""

URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/@]+)/(.+)")
BEGINS = re.compile(rf"({'|'.join(SCHEMES)}):|[^/]*://")
"""What begins so is meant to be a URL. One with a name and a password in it is refused."""

RETRIES = 30
"""A request that fails is made again so many times, within three minutes."""

GAP_BYTES = 64 << 10
"""Ranges that are closer together are read in one request."""

UPLOAD_BYTES, UPLOADS = 8 << 20, 4
"""A large object is sent in pieces of so many bytes, so many of them at a time."""


class Replaced(Exception):
    """A file is no longer the one that was read."""


def library() -> ModuleType:
    """obstore; InputError if it is not installed."""
    try:
        import obstore
        import obstore.store
    except ImportError:
        raise InputError(
            "the library for object stores is not installed: pip install 'frontier[cloud]'"
        ) from None
    return obstore


@lru_cache
def bucket_of(url: str) -> "ObjectStore":
    """The bucket at a URL, as the environment of this process says who may use it."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        if not re.match("https?://", endpoint := os.environ.get(name, "http://")):
            raise InputError(f"{name} = {endpoint}: expected a URL that begins with https://")
    return library().store.from_url(url, retry_config={"max_retries": RETRIES})


@contextmanager
def _errors(path: "ObjectPath") -> Iterator[None]:
    """What a store refuses, as the OSError of a file that does the same."""
    from obstore import exceptions

    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such object", str(path)) from None
    except (exceptions.PreconditionError, exceptions.AlreadyExistsError):
        raise Replaced(str(path)) from None
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise PermissionError(errno.EACCES, _first_line(error), str(path)) from None
    except exceptions.BaseError as error:
        raise OSError(errno.EIO, _first_line(error), str(path)) from None


def _first_line(error: Exception) -> str:
    """What went wrong, with what the store says of it in its XML."""
    text = str(error).strip()
    said = re.findall("<(?:Code|Message)>([^<]*)<", text)
    return ": ".join([text.partition("\n")[0].partition("<?xml")[0].strip(" :"), *said])


Version = tuple[str | None, str | None]
"""The ETag of an object, and its version in stores that number them."""


def _version(about: dict[str, Any]) -> Version:
    return about["e_tag"], about["version"]


class ObjectPath:
    """A name in a bucket: of an object, or of all that is below it."""

    def __init__(self, bucket: str, parts: Sequence[str], about: dict[str, Any] | None = None):
        """bucket: its URL. about: what a listing said of the object."""
        self.bucket, self.parts, self._about = bucket, tuple(parts), about

    @classmethod
    def parse(cls, url: str) -> "ObjectPath":
        """InputError if it is no URL of a place in a bucket."""
        found = URL.fullmatch(url)
        parts = found[3].strip("/").split("/") if found else []
        if not parts or any(part in ("", ".", "..") for part in parts):
            raise InputError(
                f"{url!r} names no place in an object store: expected one of "
                f"{', '.join(f'{scheme}://BUCKET/NAME' for scheme in SCHEMES)}, such as "
                "s3://my-bucket/runs/2x8"
            )
        return cls(f"{found[1]}://{found[2]}", parts)

    def __str__(self) -> str:
        return "/".join((self.bucket, *self.parts))

    def __repr__(self) -> str:
        return f"ObjectPath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __lt__(self, other: "ObjectPath") -> bool:
        return str(self) < str(other)

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

    @property
    def parents(self) -> list["ObjectPath"]:
        return [ObjectPath(self.bucket, self.parts[:i]) for i in range(len(self.parts))][::-1]

    def absolute(self) -> "ObjectPath":
        return self

    def resolve(self) -> "ObjectPath":
        return self

    @property
    def store(self) -> "ObjectStore":
        """The bucket, as Zarr and obstore know it."""
        return bucket_of(self.bucket)

    @property
    def key(self) -> str:
        """The name in the bucket."""
        return "/".join(self.parts)

    # What is there.

    def _head(self) -> dict[str, Any]:
        obstore = library()
        if self._about is None:
            with _errors(self):
                return dict(obstore.head(self.store, self.key))
        return self._about

    def is_file(self) -> bool:
        try:
            return bool(self._head())
        except FileNotFoundError:
            return False

    def is_dir(self) -> bool:
        """Whether there are objects below."""
        return self._about is None and next(self._below(), None) is not None

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def is_symlink(self) -> bool:
        return False

    def stat(self) -> SimpleNamespace:
        about = self._head()
        return SimpleNamespace(st_size=about["size"], st_mtime=about["last_modified"].timestamp())

    def version(self) -> "Version | None":
        """What tells the object from those that replace it; None if there is none."""
        try:
            return _version(self._head())
        except FileNotFoundError:
            return None

    def iterdir(self) -> Iterator["ObjectPath"]:
        """What is directly below; FileNotFoundError if there is nothing."""
        obstore = library()
        with _errors(self):
            found = obstore.list_with_delimiter(self.store, f"{self.key}/" if self.parts else "")
        folders = found["common_prefixes"]
        files = [file for file in found["objects"] if file["path"] != self.key]  # no marker of it
        if not (folders or files):
            raise FileNotFoundError(errno.ENOENT, "there are no such objects", str(self))
        for folder in folders:
            yield self / folder.rstrip("/").rpartition("/")[2]
        for file in files:
            yield ObjectPath(self.bucket, file["path"].split("/"), dict(file))

    def _below(self) -> Iterator[dict[str, Any]]:
        obstore = library()
        with _errors(self):
            for some in obstore.list(self.store, f"{self.key}/", chunk_size=1000):
                yield from (dict(about) for about in some if about["path"] != self.key)

    def bytes_below(self) -> int:
        """Bytes of all objects below."""
        return sum(about["size"] for about in self._below())

    # Reading.

    def read_bytes(self, most: int | None = None) -> bytes:
        """All bytes; ValueError if there are more than `most`, of which none is read then."""
        obstore = library()
        with _errors(self):
            found = obstore.get(self.store, self.key)
            if most is not None and found.meta["size"] > most:
                raise ValueError(f"it has more than {most:,} bytes")
            return found.bytes().to_bytes()

    def read_tail(self, size: int) -> tuple[bytes, int]:
        """The last bytes of the object, so many if it has them, and how many it has."""
        obstore = library()
        if self.bucket.startswith("az:"):  # which reads no range from the end
            total = self.stat().st_size
            data = bytearray(min(size, total))
            if data:
                self.read_ranges([total - len(data)], [memoryview(data)])
            return bytes(data), total
        try:
            with _errors(self):
                found = obstore.get(self.store, self.key, options={"range": {"suffix": size}})
                return found.bytes().to_bytes(), found.meta["size"]
        except FileNotFoundError:
            raise
        except OSError:
            if self.stat().st_size:
                raise
            return b"", 0  # of nothing there is no range

    def read_ranges(self, begin: Sequence[int], views: Sequence[memoryview]) -> None:
        """Read some ranges, each to memory of its size."""
        obstore = library()
        ends = [first + len(view) for first, view in zip(begin, views, strict=True)]
        with _errors(self):
            found = obstore.get_ranges(
                self.store, self.key, starts=list(begin), ends=ends, coalesce=GAP_BYTES
            )
        for some, view in zip(found, views, strict=True):
            if len(some) != len(view):
                raise OSError(errno.EIO, "fewer bytes came than were asked for", str(self))
            view[:] = memoryview(some)

    # Writing.

    def write_bytes(self, content: bytes) -> None:
        obstore = library()
        with _errors(self):
            obstore.put(self.store, self.key, content)

    def replace_bytes(self, content: bytes, was: "Version | None") -> "Version":
        """Write the object, if it still has the version that it had; None: if there is none.

        Returns its version; `Replaced` if it was another.
        """
        obstore = library()
        mode = "create"
        if was is not None:
            known = zip(("e_tag", "version"), was, strict=True)
            mode = {name: value for name, value in known if value is not None}
        try:
            with _errors(self):
                return _version(obstore.put(self.store, self.key, content, mode=mode))
        except (Replaced, FileNotFoundError):
            with suppress(FileNotFoundError), _errors(self):
                found = obstore.get(self.store, self.key)
                if found.bytes().to_bytes() == content:
                    return _version(found.meta)  # by this request, whose answer was lost
            raise Replaced(str(self)) from None

    def unlink(self, missing_ok: bool = False) -> None:
        if not missing_ok and not self.is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such object", str(self))
        self.unlink_all([self])

    @staticmethod
    def unlink_all(paths: Sequence["ObjectPath"]) -> None:
        """Delete objects of one bucket, in as few requests as it takes."""
        obstore = library()
        if paths:
            with suppress(FileNotFoundError), _errors(paths[0]):
                obstore.delete(paths[0].store, [path.key for path in paths])

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a folder is there as soon as an object is in it."""

    def rmdir(self) -> None:
        """Do nothing: a folder is gone with the last object in it."""


class ObjectWriter:
    """An object that is written piece by piece, and is there from `finish` on."""

    def __init__(self, path: ObjectPath):
        obstore = library()
        self._path, self._size = path, 0
        self._file = obstore.open_writer(
            path.store, path.key, buffer_size=UPLOAD_BYTES, max_concurrency=UPLOADS
        )

    def write(self, data: memoryview) -> None:
        with _errors(self._path):
            # It is sent later, when the memory may be used again.
            self._size += self._file.write(bytes(data))

    def finish(self, durable: bool) -> None:
        try:
            with _errors(self._path):
                self._file.close()
        except FileNotFoundError:  # the upload is over: its answer was lost, or it is gone
            if self._path.version() is None or self._path.stat().st_size != self._size:
                raise

    def abandon(self) -> None:
        """Leave no object. Pieces of a large one stay in the store until its own rules delete
        them; nobody sees them."""


Place = Path | ObjectPath
"""Where a file of a run is."""


def place_of(path: str | Path | ObjectPath) -> Place:
    """The place that a text names: in an object store, or in a file system."""
    if isinstance(path, str) and BEGINS.match(path):
        return ObjectPath.parse(path)
    return path if isinstance(path, ObjectPath) else Path(path)
