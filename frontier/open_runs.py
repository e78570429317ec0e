"""What a run directory holds, opened: a run by layers, or a search of cosets."""

from typing import TYPE_CHECKING

from frontier.storage.places import Place
from frontier.store.identity import GODS_NUMBER, kind_at
from frontier.store.run import RunStore

if TYPE_CHECKING:
    from frontier.cosets.store import CosetRun


def open_any(path: Place) -> "RunStore | CosetRun":
    """Open the content of a run directory."""
    if kind_at(path) != GODS_NUMBER:
        return RunStore.open(path)
    from frontier.cosets.store import CosetRun  # with all that such a search is made of

    return CosetRun(path)
