"""The folders of layers: one for each layer, below one for each run at a place.

layers/5e…/0066    the run with this identifier, its layer 66
"""

import re

from frontier.layers.files import PART_NAME
from frontier.runs.kinds import BY_LAYERS, KINDS
from frontier.storage.base import Storage

LAYERS = KINDS[BY_LAYERS].folder

LAYER_NAME = re.compile(r"\d{4,}")
IDENTIFIER = re.compile(r"[0-9a-f]{32}")
"""The names of the folders of layers, and of the folders of runs above them."""


def remove_runs(storage: Storage, but: str = "") -> None:
    """Delete the layers of all runs in a storage, except those of the run `but`."""
    for name in filter(IDENTIFIER.fullmatch, storage.names(LAYERS) - {but}):
        group = f"{LAYERS}/{name}"
        for layer in layer_names(storage, group):
            remove_layer(storage, f"{group}/{layer}")
        if not storage.is_link(group):
            storage.sweep(group)
            storage.delete(f"{group}/zarr.json")
            storage.remove_folder(group)


def layer_names(storage: Storage, group: str) -> set[str]:
    """Return the names of the layers in the folder of all layers."""
    return set(filter(LAYER_NAME.fullmatch, storage.names(group)))


def remove_layer(storage: Storage, folder: str) -> None:
    """Delete the files that a run has written in a layer's folder, and then the folder if it is
    empty.

    A link does not belong to the run: neither it nor its target is deleted.
    """
    if storage.is_link(folder):
        return
    storage.sweep(folder)
    storage.delete(*layer_files(storage, folder))
    storage.remove_folder(folder)


def layer_files(storage: Storage, folder: str) -> list[str]:
    """Return the files that a run has written in a layer's folder."""
    own = [n for n in storage.names(folder) if n == "zarr.json" or PART_NAME.fullmatch(n)]
    return [f"{folder}/{name}" for name in sorted(own)]
