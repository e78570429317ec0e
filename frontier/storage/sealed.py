"""Values in files as JSON, some of them sealed with a digest."""

import hashlib
import json
from typing import Annotated

from pydantic import Field, ValidationError

from frontier.errors import CorruptRunError, NotAFile
from frontier.storage.base import Storage
from frontier.storage.lock import YEAR_10000

Count = Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
Seconds = Annotated[float, Field(strict=True, ge=0, lt=1 << 63)]
Moment = Annotated[float, Field(strict=True, ge=0, lt=YEAR_10000)]
"""The numbers in the files of a run: counts, seconds, and seconds since the epoch up to the year
9999."""


def write_json(storage: Storage, name: str, value: object, durable: bool = False) -> None:
    """Write a value as JSON, as `Storage.write` does."""
    storage.write(name, json.dumps(value).encode(), durable)


def read_json(storage: Storage, name: str) -> dict:
    """Return the value of a file that `write_json` wrote.

    Raises CorruptRunError if the file is missing or holds no value, and OSError if the system
    cannot read it; that error says nothing about its content.
    """
    try:
        return json.loads(storage.read(name))
    except FileNotFoundError:
        missing = f"{storage.place(name)} is missing"
        raise CorruptRunError(missing) from None
    except NotAFile:
        raise
    except (ValueError, RecursionError):
        message = f"{storage.place(name)} is corrupt: it holds no valid JSON"
        raise CorruptRunError(message) from None


def holds_json(storage: Storage, name: str, value: object) -> bool:
    """Return whether a file exists and holds a value as JSON."""
    try:
        return read_json(storage, name) == value
    except CorruptRunError:
        return False


def sealed(value: dict) -> bytes:
    """Return the content of a file that `write_sealed` writes."""
    return json.dumps({**value, "digest": _digest(value)}).encode()


def write_sealed(storage: Storage, name: str, value: dict, durable: bool = False) -> None:
    """Write a value as `write_json` does, with a digest that `read_sealed` checks."""
    storage.write(name, sealed(value), durable)


def read_sealed(storage: Storage, name: str) -> dict:
    """Return the value of a file that `write_sealed` wrote; raises CorruptRunError if it was edited
    or damaged."""
    value = read_json(storage, name)
    digest = value.pop("digest", None) if isinstance(value, dict) else None
    if digest is None or digest != _digest(value):
        message = f"{storage.place(name)} is corrupt: its digest does not match"
        raise CorruptRunError(message)
    return value


def _digest(value: dict) -> str:
    plain = json.loads(json.dumps(value))  # as it will be read: keys are strings
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def first_wrong(error: ValidationError) -> str:
    """Return the first value that no run writes, and why."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))[:100]!r}: {first['msg'][:200]!r}"
