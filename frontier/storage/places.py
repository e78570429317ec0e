"""The storage that a path or a URL names."""

import os
import re
from pathlib import Path

from frontier.errors import InputError
from frontier.storage.base import Storage
from frontier.storage.local import LocalStorage

SCHEMES = ("s3", "gs", "az")
"""A URL of a place in an object store begins with one of these and ``://``."""

URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/@]+)/(.+)")
BEGINS = re.compile(rf"({'|'.join(SCHEMES)}):|[^/]*://")
"""A text that begins like this is meant as a URL. A URL that contains a user name or password is
refused."""

Place = str | Path | Storage
"""A place: a path, in which ~ stands for the home directory, a URL, or the storage itself."""


def storage_at(place: Place) -> Storage:
    """Return the storage of a place; raises InputError for a blank text, and for a URL that names
    no place."""
    if isinstance(place, Storage):
        return place
    if not (text := os.fspath(place)).strip():
        raise InputError(f"{text!r} names no place: expected a path or a URL")
    if BEGINS.match(text):
        from frontier.storage.bucket import BucketStorage  # imports asyncio

        return BucketStorage.parse(text)
    return LocalStorage(Path(os.path.expanduser(text)))  # `Path.expanduser` rejects unknown users
