"""The search of God's number beside a run: where it is, and whether it has begun."""

from frontier.storage.base import Storage
from frontier.store.identity import GODS_NUMBER
from frontier.store.run import RunStore


def place_beside(path: Storage) -> Storage:
    """Return the place of the search beside a run: "-gods-number" is behind its name."""
    return path.parent.below(f"{path.name}-{GODS_NUMBER}")


def search_beside(path: Storage) -> Storage | None:
    """Return the place of the search beside a run; None if it has not begun."""
    beside = place_beside(path)
    return beside if beside.exists("run.json") else None


def begun_at(path: Storage) -> Storage:
    """Return `path` if a run is there, or the place of the search beside it if only this has
    begun."""
    return path if RunStore.exists(path) else search_beside(path) or path
