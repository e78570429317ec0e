"""The kinds of runs. A kind is a package with a `frontier.runs.kind.Kind`, and a line here."""

from typing import NamedTuple

from frontier.storage.tables import TABLES


class Entry(NamedTuple):
    """A kind of run.

    command: the command that starts and resumes such a run. folder: the folder of its results in
    the run directory. module: the module with its `Kind`, as KIND. aim: what it finds, in words, if
    it does not visit all states.
    """

    command: str
    folder: str
    module: str
    aim: str = ""


BY_LAYERS, BY_COSETS = "layers", "cosets"

KINDS = {
    BY_LAYERS: Entry("run", "layers", "frontier.layers.kind"),
    BY_COSETS: Entry("gods-number", TABLES, "frontier.cosets.kind", "God's number"),
}
"""The kinds by the names that ``run.json`` gives them."""
