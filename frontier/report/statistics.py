"""The numbers of a report: statistics of runs, from their files alone, and whether runs agree."""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, zip_longest
from math import inf
from pathlib import Path

from frontier.layers.farthest import farthest
from frontier.layers.progress import LayerTotals
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.summary import Family, family_of
from frontier.puzzles import Board, Puzzle
from frontier.puzzles.pieces import OPEN
from frontier.report.origin import Origin, starts_of
from frontier.runs.identity import SEEN_ALONE
from frontier.runs.progress import COMPLETE, progress_of
from frontier.text import counted, named, percent

DRAWN = 8
"""The greatest number of farthest positions that a report draws."""

FEW = 6
"""The most runs that a title lists."""

SPENDING = {
    "kernel": "kernels",
    "codec": "codec",
    "disk": "disk",
    "rest": "rest of the tasks",
    "others": "scheduling and waiting",
    "memory": "layers in memory",
    "lists": "layers as lists",
}
"""The kinds of work that take the time of a run, in words. The first five are the work of layers by
tasks."""


@dataclass(frozen=True)
class LayerStatistics:
    """The statistics of a layer.

    states, so_far: the states of this layer, and of all layers up to it. share, share_so_far: the
    same as fractions of all states of the puzzle, 0 to 1. growth: the states of this layer divided
    by those of the previous layer; None at depth 0. form: "bits", "list" or "keys". seconds: the
    time from the previous layer to this one. bytes: the bytes written to disk, 0 if the layer was
    never stored. spent: the parts of `seconds` by the keys of `SPENDING`. members: how many states
    the classes of the layer have together, if a state stands for a class; otherwise 0.
    """

    depth: int
    states: int
    so_far: int
    share: float
    share_so_far: float
    growth: float | None
    form: str
    seconds: float
    bytes: int
    spent: dict[str, float]
    members: int


@dataclass(frozen=True)
class RunStatistics(LayerTotals, Origin):
    """The statistics of a run.

    state: one of the states of a run in `frontier.runs.progress`. total: the number of positions of
    the puzzle or, if that is not known, of the layers so far. farthest: the number of positions of
    the last layer, None if the run is not complete. boards: up to `DRAWN` positions of the last
    layer. starts: see `Origin`.
    """

    run: LayerRun
    name: str
    state: str
    total: int
    layers: tuple[LayerStatistics, ...]
    farthest: int | None
    boards: tuple[Board, ...]
    starts: tuple[dict, ...]

    @property
    def puzzle(self) -> Puzzle:
        return self.run.puzzle

    @property
    def title(self) -> str:
        return named(self.name, self.puzzle.title)

    @property
    def greatest(self) -> int | None:
        """The depth of the farthest positions, None if the run is not complete."""
        return self.depth if self.complete else None

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def bytes(self) -> int:
        """The bytes written for all layers."""
        return sum(layer.bytes for layer in self.layers)

    @property
    def members(self) -> int:
        """How many states all classes have together, if a state stands for a class; otherwise 0."""
        return sum(layer.members for layer in self.layers)

    @property
    def median(self) -> float | None:
        """The median depth of the known states, which may lie between two depths."""
        ends, middle = [layer.so_far for layer in self.layers], (self.states - 1, self.states)
        return sum(bisect_right(ends, twice // 2) for twice in middle) / 2 if ends else None

    @property
    def fullest(self) -> LayerStatistics | None:
        """The layer with the most states."""
        return max(self.layers, key=lambda layer: layer.states, default=None)

    @cached_property
    def spent(self) -> dict[str, float]:
        """The seconds by kind of work, in the order of `SPENDING`, without zeros."""
        total: Counter[str] = Counter()
        for layer in self.layers:
            total.update(layer.spent)
        return {kind: total[kind] for kind in SPENDING if total[kind] > 0}

    @property
    def diameter(self) -> int | None:
        """The diameter of the state graph, if it follows from this run alone."""
        family = family_of([self.run.identity["puzzle"]], [self.greatest])
        return family.diameter if family else None

    @property
    def standing(self) -> str:
        """The state of knowledge in a few words."""
        if self.complete:
            return "complete"
        if self.depth is None:
            return f"not complete ({self.state}): no layer is known yet"
        known = counted(self.states, "state")
        if (total := self.run.identity["states"]) is not None:
            known = f"{percent(self.states / total)} of {counted(total, 'state')}"
        return f"not complete ({self.state}): known to depth {self.depth}, {known}"


def statistics_of(run: LayerRun) -> RunStatistics:
    """Return the statistics of a run, computed only from its files.

    Raises CorruptRunError if the run is complete and its last layer, which holds the farthest
    positions, is damaged.
    """
    progress = progress_of(run)
    run, state = progress.source, progress.state  # reopened if it has ended meanwhile
    total, starts = run.identity["states"] or run.states, starts_of(run.storage)
    counts = [record.states for record in run.records]
    layers = tuple(
        LayerStatistics(
            record.depth, states, so_far, states / total, so_far / total,
            states / before if before else None, record.form, record.seconds, record.bytes,
            _spent(record, starts), record.tally.members,
        )
        for record, states, so_far, before in zip(
            run.records, counts, accumulate(counts), [None, *counts], strict=False
        )
    )  # fmt: skip
    _, count, boards = farthest(run, DRAWN) if state == COMPLETE else (None, None, [])
    name = run.identity["name"]
    return RunStatistics(run, name, state, total, layers, count, tuple(boards), starts)


def _spent(record: LayerRecord, starts: tuple[dict, ...]) -> dict[str, float]:
    """Return the time of a layer by kind of work.

    In a layer by tasks, the time of a kind of work is the sum of its seconds on all workers,
    divided by the number of workers; the remaining time is scheduling and waiting. If the number of
    workers is unknown, or if tasks finished in an earlier start make the work longer than the time
    of the layer, the time is split in proportion to the work.
    """
    done = sum(record.work.values())
    if not done or not record.seconds:
        return {"memory" if record.form == "bits" else "lists": record.seconds}
    before = [of["workers"] for of in starts if of.get("layers", 0) <= record.depth]
    workers = before[-1] if before else 0  # 0 if unknown
    a_second = max(done / record.seconds, workers)
    spent = {kind: seconds / a_second for kind, seconds in record.work.items()}
    if workers:
        spent["others"] = max(0.0, record.seconds - sum(spent.values()))
    return spent


@dataclass(frozen=True)
class Report:
    """The runs of a report.

    paths: the directories of the runs, as the user named them. name: a title for the report; by
    default it is made from the runs. several: True if the user named several runs, even if only one
    has begun.
    """

    runs: tuple[RunStatistics, ...]
    paths: tuple[str, ...] = ()
    name: str = ""
    several: bool = False

    @property
    def one(self) -> RunStatistics | None:
        """The run, if the report has only one; otherwise None."""
        return self.runs[0] if len(self.runs) == 1 and not self.several else None

    @cached_property
    def labels(self) -> list[str]:
        """The name of each run, with a distinguishing mark if several runs have the same name."""
        named = list(zip_longest((run.name for run in self.runs), self.paths))
        labels = []
        for name, path in named:
            alike = [other_path for other_name, other_path in named if other_name == name]
            labels.append(f"{name} {_mark(path, alike)}" if len(alike) > 1 else name)
        return labels

    @property
    def title(self) -> str:
        if self.name:
            return self.name
        if self.one:
            return self.one.title
        if len(self.runs) > FEW:
            return counted(len(self.runs), "run")
        return (", " if len(self.runs) > 2 else " and ").join(self.labels)

    @property
    def layers(self) -> list[tuple[LayerStatistics | None, ...]]:
        """The layer of each run, by depth; None if a run has not reached the depth."""
        return list(zip_longest(*(run.layers for run in self.runs)))

    @cached_property
    def family(self) -> Family | None:
        """The family of the runs, if they search one tile puzzle from several blank cells."""
        puzzles = [run.run.identity["puzzle"] for run in self.runs]
        return None if self.one else family_of(puzzles, [run.greatest for run in self.runs])

    @cached_property
    def differences(self) -> list[str]:
        """The contradictions between runs of the same puzzle, one sentence for each pair."""
        pairs = combinations(zip(self.labels, self.runs, strict=True), 2)
        sentences = [_difference(*first, *second) for first, second in pairs]
        return [sentence for sentence in sentences if sentence]


def _mark(path: str, paths: list[str]) -> str:
    """Return a mark that distinguishes a path from others: the last folder in which they all
    differ, or a number."""
    for folders in zip(*(reversed(Path(of).parts) for of in paths), strict=False):
        if len(set(folders)) == len(folders):
            return f"in {folders[paths.index(path)]}"
    return f"({paths.index(path) + 1})"


def _searched(run: RunStatistics) -> dict:
    """Return the keys of [puzzle] that decide the sizes of a run's layers.

    `start` is one of them unless there is exactly one goal, a whole board: with other goals,
    `start` decides which positions are at depth 0.
    """
    goals = run.puzzle.goals
    single_whole_goal = len(goals) == 1 and OPEN not in goals[0]
    ignored = {*SEEN_ALONE, *(["start"] if single_whole_goal else [])}
    return {key: of for key, of in run.run.identity["puzzle"].items() if key not in ignored}


def _difference(
    label: str, run: RunStatistics, other_label: str, other_run: RunStatistics
) -> str | None:
    if _searched(run) != _searched(other_run):
        return None
    # Beyond its last layer a complete run has no states; the further layers of other runs are
    # unknown.
    depths_known = min(inf if of.complete else len(of.counts) for of in (run, other_run))
    pairs = enumerate(zip_longest(run.counts, other_run.counts, fillvalue=0))
    for depth, (states, other_states) in pairs:
        if depth < depths_known and states != other_states:
            return (
                f"{label} and {other_label} are runs of the same puzzle, but at depth {depth} "
                f"{label} has {counted(states, 'state')} and {other_label} {other_states:,}: "
                "at least one of them is wrong"
            )
    return None
