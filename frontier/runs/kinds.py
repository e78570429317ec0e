"""The kinds of runs. A kind is a package with a `frontier.runs.kind.Kind`, and a line here."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A kind of run.

    command: the command that starts and resumes such a run. folder: the folder of its results in
    the run directory. module: the module with its `Kind`, as KIND.
    """

    command: str
    folder: str
    module: str


BY_LAYERS, BY_COSETS = "layers", "cosets"

KINDS = {
    BY_LAYERS: Entry("run", "layers", "frontier.layers.kind"),
    BY_COSETS: Entry("gods-number", "tables", "frontier.cosets.kind"),
}
"""The kinds by the names that ``run.json`` gives them."""
