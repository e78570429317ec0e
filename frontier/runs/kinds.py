"""The kinds of runs. A kind is a package with a subclass of `StoredRun`, and a line here."""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from frontier.runs.stored_run import StoredRun


class Kind(NamedTuple):
    """A kind of run.

    command: the command that starts and resumes such a run. folder: the folder of its results in
    the run directory. home: the module and the class of its runs.
    """

    command: str
    folder: str
    home: str


BY_LAYERS, BY_COSETS = "layers", "cosets"

KINDS = {
    BY_LAYERS: Kind("run", "layers", "frontier.layers.run:LayerRun"),
    BY_COSETS: Kind("gods-number", "tables", "frontier.cosets.run:CosetRun"),
}
"""The kinds by the names that ``run.json`` gives them."""


def class_of(kind: str) -> "type[StoredRun]":
    """Return the class of runs of a kind. Its module imports all that such a run needs."""
    module, _, name = KINDS[kind].home.partition(":")
    return getattr(import_module(module), name)
