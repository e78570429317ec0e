"""Repairing a run by cosets: damaged tables are deleted, and made again when needed."""

from dataclasses import dataclass, field

from frontier.errors import CorruptRunError
from frontier.runs.checks import Repair
from frontier.runs.coset_run import CosetRun
from frontier.runs.directory import aside_of, moved
from frontier.search.coset_checks import TABLE, Checked
from frontier.text import counted


@dataclass
class CosetRepair(Repair):
    """The steps of a repair.

    tables: the names of the damaged tables. summary: True if ``summary.json`` is damaged; the
    caller must write it again. aside: the new name of each file that does not belong to the run and
    is moved aside.
    """

    tables: list[str]
    summary: bool = False
    aside: dict[str, str] = field(default_factory=dict)

    @property
    def needed(self) -> bool:
        return bool(self.tables or self.summary or self.aside)

    def take(self, run: CosetRun) -> None:
        """Take the steps; the caller holds the lock."""
        for name, aside in self.aside.items():
            run.storage.move_aside(name, aside)
        for name in self.tables:
            run.tables.delete(name)
        run.sweep()

    def in_words(self, run: CosetRun) -> str:
        """Return what the repair does."""
        sentences = [moved(run.storage, *names) for names in self.aside.items()]
        if self.tables:
            count = counted(len(self.tables), "table")
            sentences.append(f"{count} deleted, to be made again by `gods-number`")
        if self.summary:
            sentences.append("summary.json rewritten")
        return f"{run.path}: {'; '.join(sentences)}"


def plan_coset_repair(run: CosetRun, checked: Checked) -> CosetRepair:
    """Return the steps of a repair; raises CorruptRunError if a result is wrong."""
    wrong = [of.message for of in checked.faults if not of.described and of.depth != TABLE]
    if wrong:
        raise CorruptRunError(f"{run.path} cannot be repaired: {wrong[0]}")
    aside = {name: aside_of(name) for name in run.misplaced()}
    return CosetRepair(list(checked.damaged_tables), checked.wrong_summary, aside)
