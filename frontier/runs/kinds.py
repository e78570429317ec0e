"""The two kinds of runs: which kind is at a place, and how to open the run.

A run by layers is a `LayerRun`, a run by cosets a `CosetRun`. Each has the format that
`frontier.runs.identity` checks.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from frontier.errors import CorruptRunError
from frontier.runs.copies import COPIES, LEDGER, RUN, restore
from frontier.runs.identity import BY_COSETS, BY_LAYERS, COMMANDS, read_identity
from frontier.runs.layer_run import LayerRun
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import read_json

if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun


def kind_at(place: Place) -> str | None:
    """Return the kind of the run at a place, or None if there is no run.

    If its ``run.json`` is damaged, a folder of tables shows that it is a run by cosets.
    """
    storage = storage_at(place)
    if not storage.exists(RUN):
        return None
    with suppress(CorruptRunError):
        identity = read_json(storage, RUN)
        if isinstance(identity, dict) and identity.get("kind") in COMMANDS:
            return identity["kind"]
    return BY_COSETS if storage.is_folder("tables") else BY_LAYERS


if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun


def class_of(kind: str | None) -> "type[LayerRun] | type[CosetRun]":
    """Return the class of runs of a kind, as ``run.json`` names it."""
    if kind != BY_COSETS:
        return LayerRun
    from frontier.runs.coset_run import CosetRun  # imports all that this kind of run needs

    return CosetRun


def mend(storage: Storage) -> list[str]:
    """Restore run.json, the ledger, or a copy of either from its counterpart if it is damaged.

    Returns a sentence for each action. Raises CorruptRunError if both are damaged.
    """
    actions = restore(storage, RUN, lambda file: read_identity(storage, file))
    identity = read_identity(storage)
    run = class_of(identity["kind"])(storage, identity)
    if not run.fresh or any(map(storage.exists, (LEDGER, COPIES[LEDGER]))):
        actions += restore(storage, LEDGER, run.check)
    return actions


def open_run(place: Place) -> "LayerRun | CosetRun":
    """Open the run of either kind at a place; raises the errors of `StoredRun.open`."""
    return class_of(kind_at(place)).open(place)
