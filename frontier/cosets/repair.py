"""Repairing a run by cosets: damaged tables are deleted, and made again when needed."""

from dataclasses import dataclass

from frontier.cosets.checks import TABLE, Checked
from frontier.cosets.run import CosetRun
from frontier.errors import CorruptRunError
from frontier.runs.checks import Repair
from frontier.text import counted


@dataclass
class CosetRepair(Repair):
    """The steps of a repair. tables: the names of the damaged tables. summary: see `Repair`."""

    tables: list[str]
    summary: bool = False

    @property
    def needed(self) -> bool:
        return bool(self.tables or self.summary)

    def take(self, run: CosetRun) -> None:
        for name in self.tables:
            run.tables.delete(name)
        run.sweep()

    def in_words(self, run: CosetRun) -> str:
        sentences = []
        if self.tables:
            count = counted(len(self.tables), "table")
            sentences.append(f"{count} deleted; a search that needs it makes it again")
        if self.summary:
            sentences.append("summary.json rewritten")
        return f"{run.path}: {'; '.join(sentences)}"


def plan_coset_repair(run: CosetRun, checked: Checked) -> CosetRepair:
    """Return the steps of a repair; raises CorruptRunError if a result is wrong."""
    wrong = [of.message for of in checked.faults if not of.described and of.depth != TABLE]
    if wrong:
        raise CorruptRunError(f"{run.path} cannot be repaired: {wrong[0]}")
    return CosetRepair(list(checked.damaged_tables), checked.wrong_summary)
