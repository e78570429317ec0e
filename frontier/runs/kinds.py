"""The two kinds of runs, opened by what their files say."""

from frontier.runs.identity import BY_COSETS, kind_at
from frontier.runs.layer_run import LayerRun
from frontier.runs.stored_run import StoredRun
from frontier.storage.places import Place


def class_of(kind: str | None) -> type[StoredRun]:
    """Return the class of runs of a kind, as ``run.json`` names it."""
    if kind != BY_COSETS:
        return LayerRun
    from frontier.runs.coset_run import CosetRun  # with all that such a run is made of

    return CosetRun


def open_run(place: Place) -> StoredRun:
    """Open the run at a place, of either kind; raises errors as `StoredRun.open` does."""
    return class_of(kind_at(place)).open(place)
