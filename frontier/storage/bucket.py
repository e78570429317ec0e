"""Files in an object store, such as Amazon S3: names in a bucket, without folders.

A store must be able to read a range, write a complete object, delete it, list names, and replace an
object if it is still the one that was read (`frontier.storage.requests`). It cannot rename or lock.
An object appears complete or not at all, an interrupted upload leaves no object, and nothing has to
be forced to a disk.
"""

import asyncio
import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any

from frontier.errors import InputError
from frontier.storage.base import MOST_BYTES, Replaced, Storage, Writer
from frontier.storage.places import SCHEMES, URL
from frontier.storage.requests import T, ask_store, bucket_of, library, masked, patience_for

if TYPE_CHECKING:
    from obstore.store import ObjectStore

GAP_BYTES = 64 << 10
"""Ranges that are at most this far apart are read in one request."""

CHUNK_BYTES, CHUNKS = 8 << 20, 4
"""Large objects are read and sent in chunks: the bytes of a chunk, and how many chunks are in
transit at a time."""

TRANSFER_BYTES = CHUNK_BYTES * (CHUNKS + 1)
"""The most bytes of memory for data in transit from or to one object."""

Version = dict[str, str]
"""The ETag of an object, and its version in stores that number versions."""


def _version(about: Any) -> Version:
    return {name: about[name] for name in ("e_tag", "version") if about[name] is not None}


class BucketStorage(Storage):
    """The objects of a bucket whose names begin with a prefix and a slash.

    bucket: the URL of the bucket.
    """

    transfer_bytes = TRANSFER_BYTES

    def __init__(self, bucket: str, prefix: str):
        self.bucket, self.prefix = bucket, prefix
        self.path = f"{bucket}/{prefix}"

    @classmethod
    def parse(cls, url: str) -> "BucketStorage":
        """Return the place that a URL names; raises InputError if it names no place."""
        match = URL.fullmatch(url)
        parts = match[3].strip("/").split("/") if match else []
        if not match or any(part in ("", ".", "..") for part in parts):
            raise InputError(
                f"{masked(url)!r} is not a place in an object store: expected one of "
                f"{', '.join(f'{scheme}://BUCKET/NAME' for scheme in SCHEMES)}, such as "
                "s3://my-bucket/runs/2x8"
            )
        return cls(f"{match[1]}://{match[2]}", "/".join(parts))

    @property
    def parent(self) -> "BucketStorage":
        return BucketStorage(self.bucket, self.prefix.rpartition("/")[0])

    def below(self, name: str) -> "BucketStorage":
        return BucketStorage(self.bucket, self._key(name))

    def place(self, name: str = "") -> str:
        return f"{self.bucket}/{self._key(name)}"

    def _key(self, name: str) -> str:
        """Return the name of a file in the bucket."""
        return "/".join(filter(None, (self.prefix, name)))

    @property
    def store(self) -> "ObjectStore":
        """The bucket, as Zarr and obstore know it."""
        return bucket_of(self.bucket, patience_for(self.bucket))

    def _ask(
        self, name: str, request: Callable[["ObjectStore"], T], conditional: bool = False
    ) -> T:
        """Return the bucket's answer to a request about a file; see `ask_store`."""
        store = self.store
        return ask_store(self.bucket, self.place(name), lambda: request(store), conditional)

    # Names and versions.

    def _head(self, name: str) -> dict[str, Any]:
        return dict(self._ask(name, lambda store: store.head(self._key(name))))

    def version(self, name: str) -> Version | None:
        try:
            return _version(self._head(name))
        except FileNotFoundError:
            return None

    def is_folder(self, name: str = "") -> bool:
        return next(self._below(name), None) is not None

    def names(self, folder: str = "") -> set[str]:
        key = self._key(folder)
        listing = self._ask(
            folder, lambda store: store.list_with_delimiter(f"{key}/" if key else "")
        )
        files = {file["path"] for file in listing["objects"]} - {key}  # without the folder's marker
        names = (name.rstrip("/") for name in (*listing["common_prefixes"], *files))
        return {name.rpartition("/")[2] for name in names}

    def _below(self, folder: str) -> Iterator[dict[str, Any]]:
        key = self._key(folder)
        listing = self.store.list(f"{key}/", chunk_size=1000)
        while some := self._ask(folder, lambda _: next(listing, None)):
            yield from (dict(about) for about in some if about["path"] != key)

    def files(self, folder: str = "") -> Iterator[tuple[str, int]]:
        begin = len(self.prefix) + 1 if self.prefix else 0
        for about in self._below(folder):
            yield about["path"][begin:], about["size"]

    def modified(self, name: str) -> float:
        return self._head(name)["last_modified"].timestamp()

    # Reading.

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        def get(store: "ObjectStore") -> bytes:
            result = store.get(self._key(name))
            if result.meta["size"] > most:
                raise ValueError(f"it has more than {most:,} bytes")
            return result.bytes().to_bytes()

        return self._ask(name, get)

    def read_tail(self, name: str, size: int) -> tuple[bytes, int]:
        def get(store: "ObjectStore") -> tuple[bytes, int]:
            result = store.get(self._key(name), options={"range": {"suffix": size}})
            return result.bytes().to_bytes(), result.meta["size"]

        try:
            return self._ask(name, get)
        except FileNotFoundError:
            raise
        except OSError:  # Azure reads no range from the end; an empty object has no ranges
            total = self._head(name)["size"]
            data = bytearray(min(size, total))
            self.read_ranges(name, [total - len(data)], [memoryview(data)])
            return bytes(data), total

    def read_ranges(self, name: str, begin: Sequence[int], views: Sequence[memoryview]) -> None:
        chunks, key = in_chunks(begin, views), self._key(name)

        async def get(store: "ObjectStore") -> None:
            at_once = asyncio.Semaphore(CHUNKS)

            async def read(chunk: Chunk) -> None:
                first, end = chunk[0][0], chunk[-1][0] + len(chunk[-1][1])
                async with at_once:
                    content = await store.get_range_async(key, start=first, end=end)
                    data = memoryview(content)
                    if len(data) != end - first:
                        message = "the store sent fewer bytes than requested"
                        raise OSError(errno.EIO, message, self.place(name))
                    for at, view in chunk:
                        view[:] = data[at - first :][: len(view)]

            await asyncio.gather(*map(read, chunks))

        if chunks:  # no pool of threads: at its end, a process waits for a pool's requests
            self._ask(name, lambda store: asyncio.run(get(store)))

    # Writing.

    def write(self, name: str, content: bytes, durable: bool = False) -> None:
        self._ask(name, lambda store: store.put(self._key(name), content))

    def replace(self, name: str, content: bytes, was: object, durable: bool = False) -> Version:
        mode: Any = "create" if was is None else was
        key = self._key(name)

        def get(store: "ObjectStore") -> tuple[bytes, Version]:
            result = store.get(key)
            return result.bytes().to_bytes(), _version(result.meta)

        def put(store: "ObjectStore") -> Version:
            return _version(store.put(key, content, mode=mode))

        try:
            return self._ask(name, put, conditional=True)
        except (Replaced, FileNotFoundError):
            with suppress(FileNotFoundError):
                content_now, version = self._ask(name, get)
                if content_now == content:
                    return version  # this request wrote the object, but the answer was lost
            raise Replaced(self.place(name)) from None

    def append(self, name: str, content: bytes) -> None:
        before = b""
        with suppress(FileNotFoundError, ValueError):
            before = self.read(name)
        self.write(name, before + content)

    def new_file(self, name: str) -> "ObjectWriter":
        return ObjectWriter(self, name)

    def delete(self, *names: str) -> None:
        if names:  # in as few requests as possible
            keys = list(map(self._key, names))
            with suppress(FileNotFoundError):
                self._ask(names[0], lambda store: store.delete(keys))

    # Free space and Zarr.

    def free(self) -> float:
        return inf

    def zarr(self, name: str) -> Any:
        from zarr.storage import ObjectStore, StorePath

        return StorePath(ObjectStore(self.store, read_only=True), self._key(name))


Chunk = list[tuple[int, memoryview]]
"""Ranges near one another: where each range begins, and the memory for it."""


def in_chunks(begin: Sequence[int], views: Sequence[memoryview]) -> list[Chunk]:
    """Return ascending ranges divided and joined into chunks, each of which is read in one
    request."""
    chunks: list[Chunk] = []
    first = end = -1
    for at, view in zip(begin, views, strict=True):
        for skip in range(0, len(view), CHUNK_BYTES):
            some = view[skip : skip + CHUNK_BYTES]
            start = at + skip
            near = chunks and 0 <= start - end <= GAP_BYTES
            if not near or start + len(some) - first > CHUNK_BYTES:
                chunks.append([])
                first = start
            chunks[-1].append((start, some))
            end = start + len(some)
    return chunks


class ObjectWriter(Writer):
    """An object that is written chunk by chunk."""

    def __init__(self, storage: BucketStorage, name: str):
        self._storage, self._name, self._size = storage, name, 0
        self._file = library().open_writer(
            storage.store, storage._key(name), buffer_size=CHUNK_BYTES, max_concurrency=CHUNKS
        )

    def write(self, data: bytes | memoryview) -> None:
        # Copy the data: they are sent later, when the caller may have reused the memory.
        self._size += self._storage._ask(self._name, lambda _: self._file.write(bytes(data)))

    def finish(self, durable: bool) -> None:
        try:
            self._storage._ask(self._name, lambda _: self._file.close())
        except FileNotFoundError:  # the upload has failed, or has ended and the answer was lost
            try:
                if self._storage._head(self._name)["size"] == self._size:
                    return
            except FileNotFoundError:
                pass
            raise

    def abandon(self) -> None:
        """Leave no object. Parts of a large object are invisible. They stay in the store until a
        rule of the bucket deletes them."""
