"""Which storage a path or a URL names."""

import os
from pathlib import Path

from frontier.storage.base import Storage
from frontier.storage.bucket import BEGINS, BucketStorage
from frontier.storage.local import LocalStorage

Place = str | Path | Storage
"""What names a place: a path, where ~ is the home directory, a URL, or the place itself."""


def storage_at(place: Place) -> Storage:
    """Return the place that is named. Raises InputError if it is a URL that names none."""
    if isinstance(place, Storage):
        return place
    if BEGINS.match(text := os.fspath(place)):
        return BucketStorage.parse(text)
    return LocalStorage(Path(os.path.expanduser(text)))  # Path's would fail for unknown users
