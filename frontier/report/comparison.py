"""Several runs side by side, and whether they agree."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

from frontier.report.statistics import LayerStatistics, RunStatistics
from frontier.report.summary import Family, family_of, run_value
from frontier.text import counted

LOOKS = {"start", "symbols", "picture"}
"""These keys of [puzzle] change no number of states."""

FEW = 6
"""The number of runs that a title lists, at most."""


@dataclass(frozen=True)
class Comparison:
    """Runs to compare.

    paths: of their directories, as they were named. name: of them together, by default their
    labels, if they are few.
    """

    runs: tuple[RunStatistics, ...]
    paths: tuple[str, ...]
    name: str = ""

    @cached_property
    def labels(self) -> list[str]:
        """The name of each run, and where several have one name, what makes them differ."""
        names = [run.name for run in self.runs]
        labels = list(names)
        for name in {name for name in names if names.count(name) > 1}:
            members = [number for number, other in enumerate(names) if other == name]
            marks = _differing([self.paths[number] for number in members])
            for number, mark in zip(members, marks, strict=True):
                labels[number] = f"{name} {mark}"
        return labels

    @property
    def title(self) -> str:
        if self.name:
            return self.name
        if len(self.runs) > FEW:
            return counted(len(self.runs), "run")
        return " and ".join(self.labels) if len(self.runs) < 3 else ", ".join(self.labels)

    @property
    def depths(self) -> range:
        """All depths that are known of any run."""
        return range(max((len(run.layers) for run in self.runs), default=0))

    def layers_at(self, depth: int) -> list[LayerStatistics | None]:
        """The layer of each run at a depth, None where a run has not come so far."""
        return [run.layers[depth] if depth < len(run.layers) else None for run in self.runs]

    @cached_property
    def family(self) -> Family | None:
        """The family of the runs, if they are of one tile puzzle from several blank cells."""
        return family_of([run_value(run.run) for run in self.runs])

    @cached_property
    def differences(self) -> list[str]:
        """Where runs of the same puzzle contradict each other, one sentence for each pair."""
        pairs = combinations(zip(self.labels, self.runs, strict=True), 2)
        found = [_difference(*one, *other) for one, other in pairs]
        return [sentence for sentence in found if sentence]

    @property
    def findings(self) -> list[str]:
        """What a report begins with: contradictions, and the diameter of a family."""
        return [*self.differences, *([self.family.finding] if self.family else [])]


def _differing(paths: list[str]) -> list[str]:
    """Marks by which paths differ: the last folder in which they all do, or numbers."""
    for folders in zip(*(reversed(Path(path).parts) for path in paths), strict=False):
        if len(set(folders)) == len(folders):
            return [f"in {folder}" for folder in folders]
    return [f"({number})" for number in range(1, len(paths) + 1)]


def _difference(
    label: str, run: RunStatistics, other_label: str, other: RunStatistics
) -> str | None:
    if _puzzle(run) != _puzzle(other):
        return None
    for depth in range(max(len(run.layers), len(other.layers))):
        here, there = _states(run, depth), _states(other, depth)
        if None not in (here, there) and here != there:
            return (
                f"{label} and {other_label} are runs of the same puzzle, but at depth {depth} "
                f"{label} has {counted(here, 'state')} and {other_label} {there:,}: "
                "at least one of them is wrong"
            )
    return None


def _puzzle(run: RunStatistics) -> dict:
    return {key: value for key, value in run.settings.items() if key not in LOOKS}


def _states(run: RunStatistics, depth: int) -> int | None:
    """The states at a depth; None if the run has not come so far."""
    if depth < len(run.layers):
        return run.layers[depth].states
    return 0 if run.complete else None
