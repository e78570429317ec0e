"""What a report is of: one run, or several side by side; and whether they agree."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, zip_longest
from math import inf
from pathlib import Path

from frontier.report.statistics import LayerStatistics, RunStatistics
from frontier.report.summary import Family, family_of
from frontier.text import counted

LOOKS = {"start", "symbols", "picture"}
"""These keys of [puzzle] change no number of states."""

FEW = 6
"""The number of runs that a title lists, at most."""


@dataclass(frozen=True)
class Report:
    """The runs of a report.

    paths: of their directories, as they were named. name: of several runs together, by default
    their labels, if they are few. several: whether more were asked for, if but one has begun.
    """

    runs: tuple[RunStatistics, ...]
    paths: tuple[str, ...] = ()
    name: str = ""
    several: bool = False

    @property
    def one(self) -> RunStatistics | None:
        """The run of a report of one."""
        return self.runs[0] if len(self.runs) == 1 and not self.several else None

    @cached_property
    def labels(self) -> list[str]:
        """The name of each run, and where several have one name, what makes them differ."""
        named = list(zip_longest((run.name for run in self.runs), self.paths))
        labels = []
        for name, path in named:
            alike = [other for of, other in named if of == name]
            labels.append(f"{name} {_mark(path, alike)}" if len(alike) > 1 else name)
        return labels

    @property
    def title(self) -> str:
        if self.name or self.one:
            return self.name or self.one.title
        if len(self.runs) > FEW:
            return counted(len(self.runs), "run")
        return (", " if len(self.runs) > 2 else " and ").join(self.labels)

    @property
    def layers(self) -> list[tuple[LayerStatistics | None, ...]]:
        """The layer of each run, by depth; None where a run has not come so far."""
        return list(zip_longest(*(run.layers for run in self.runs)))

    @cached_property
    def family(self) -> Family | None:
        """The family of several runs, if they are of one tile puzzle from several blank cells."""
        puzzles = [run.run.identity["puzzle"] for run in self.runs]
        return None if self.one else family_of(puzzles, [run.greatest for run in self.runs])

    @cached_property
    def differences(self) -> list[str]:
        """Where runs of the same puzzle contradict each other, one sentence for each pair."""
        pairs = combinations(zip(self.labels, self.runs, strict=True), 2)
        found = [_difference(*one, *other) for one, other in pairs]
        return [sentence for sentence in found if sentence]


def _mark(path: str, paths: list[str]) -> str:
    """What tells a path from others: the last folder in which they all differ, or its number."""
    for folders in zip(*(reversed(Path(of).parts) for of in paths), strict=False):
        if len(set(folders)) == len(folders):
            return f"in {folders[paths.index(path)]}"
    return f"({paths.index(path) + 1})"


def _difference(label: str, run: RunStatistics, other: str, there: RunStatistics) -> str | None:
    puzzles = [
        {key: value for key, value in of.run.identity["puzzle"].items() if key not in LOOKS}
        for of in (run, there)
    ]
    if puzzles[0] != puzzles[1]:
        return None
    # Beyond its last layer a complete run has no states; of another run they are not known.
    known = min(inf if of.complete else len(of.counts) for of in (run, there))
    pairs = enumerate(zip_longest(run.counts, there.counts, fillvalue=0))
    for depth, (ours, theirs) in pairs:
        if depth < known and ours != theirs:
            return (
                f"{label} and {other} are runs of the same puzzle, but at depth {depth} "
                f"{label} has {counted(ours, 'state')} and {other} {theirs:,}: "
                "at least one of them is wrong"
            )
    return None
