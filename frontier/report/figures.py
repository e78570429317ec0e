"""The numbers of a report: what the files of a run say, and what follows from it."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from frontier.answers.farthest import farthest
from frontier.puzzles import Board, Puzzle, puzzle_of
from frontier.report.family import family_of
from frontier.report.view import COMPLETE, state_of
from frontier.search.environment import read_legs
from frontier.store.run import LayerRecord, RunStore
from frontier.text import counted, percent

DRAWN = 8
"""How many of the farthest positions a report draws."""

SPENDING = {
    "kernel": "kernels",
    "codec": "codec",
    "disk": "disk",
    "rest": "rest of the tasks",
    "others": "scheduling and waiting",
    "memory": "layers in memory",
    "lists": "layers as lists",
}
"""What the time of a run goes to, and how that is said. The first five are of layers by tasks."""


@dataclass(frozen=True)
class LayerFigures:
    """A layer and what is said of it.

    states, so_far: at this depth; up to it. share, share_so_far: the same as parts of all states
    of the puzzle, 0 to 1. growth: times the states of the layer before; None at depth 0. form:
    "bits" or "list". seconds: from the layer before to this one. bytes: written to disk, 0 if the
    layer was never stored. spent: where these seconds went, by the keys of `SPENDING`; they add up
    to `seconds`.
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


@dataclass(frozen=True)
class Figures:
    """What a report says of one run.

    state: one of those of `frontier.report.view`. total: states of the puzzle. farthest, boards:
    how many positions the last layer has, and up to `DRAWN` of them; None and none if the run is
    not complete. kept: the keys `keep` and `codec` of the config. legs: see
    `frontier.search.environment`; none if that is lost.
    """

    name: str
    puzzle: Puzzle
    settings: dict
    kept: dict[str, str]
    created: float
    state: str
    total: int
    layers: tuple[LayerFigures, ...]
    start_depth: int | None
    farthest: int | None
    boards: tuple[Board, ...]
    legs: tuple[dict, ...]

    @property
    def complete(self) -> bool:
        return self.state == COMPLETE

    @property
    def counts(self) -> list[int]:
        return [layer.states for layer in self.layers]

    @property
    def states(self) -> int:
        """States of all layers known."""
        return sum(self.counts)

    @property
    def depth(self) -> int | None:
        """The last depth known."""
        return self.layers[-1].depth if self.layers else None

    @property
    def seconds(self) -> float:
        """Of all layers."""
        return sum(layer.seconds for layer in self.layers)

    @property
    def bytes(self) -> int:
        """Written for all layers."""
        return sum(layer.bytes for layer in self.layers)

    @property
    def mean(self) -> float | None:
        """The mean depth of the states known."""
        moves = sum(layer.depth * layer.states for layer in self.layers)
        return moves / self.states if self.layers else None

    @property
    def median(self) -> float | None:
        """The median depth of the states known; between two depths if it lies there."""
        if not self.layers:
            return None
        low, high = self._depth_of((self.states - 1) // 2), self._depth_of(self.states // 2)
        return (low + high) / 2

    def _depth_of(self, number: int) -> int:
        """The depth of a state, numbered from 0 in the order of their depths."""
        return next(layer.depth for layer in self.layers if layer.so_far > number)

    @property
    def fullest(self) -> LayerFigures | None:
        """The layer with the most states."""
        return max(self.layers, key=lambda layer: layer.states, default=None)

    @cached_property
    def spent(self) -> dict[str, float]:
        """Seconds by what they went to, those that took any, in the order of `SPENDING`."""
        total = Counter()
        for layer in self.layers:
            total.update(layer.spent)
        return {kind: total[kind] for kind in SPENDING if total[kind] > 0}

    @property
    def diameter(self) -> int | None:
        """Of the state graph, where one blank cell stands for all and this run is from that."""
        family = family_of([(self.settings, self.depth if self.complete else None)])
        return family and family.diameter

    @property
    def standing(self) -> str:
        """In a few words, how much is known."""
        if self.complete:
            return "complete"
        known = f"{percent(self.states / self.total)} of {counted(self.total, 'state')}"
        if self.depth is None:
            return f"not complete ({self.state}): no layer is known yet"
        return f"not complete ({self.state}): known to depth {self.depth}, {known}"


def figures_of(run: RunStore) -> Figures:
    """The figures of a run, from its files alone.

    CorruptRunError if the run is complete and its last layer, which holds the farthest positions,
    is damaged.
    """
    run, state = state_of(run)
    puzzle, total = puzzle_of(run.identity["puzzle"]), run.identity["states"]
    legs = tuple(read_legs(run.environment_path))
    layers, so_far = [], 0
    for record in run.records:
        so_far += record.states
        before = layers[-1].states if layers else None
        layers.append(
            LayerFigures(
                record.depth, record.states, so_far, record.states / total, so_far / total,
                record.states / before if before else None, record.form, record.seconds,
                record.bytes, _spent(record, _workers(record.depth, legs)),
            )
        )  # fmt: skip
    count, boards = farthest(run, DRAWN) if run.complete else (None, [])
    return Figures(
        run.identity["name"], puzzle, run.identity["puzzle"],
        {key: run.identity[key] for key in ("keep", "codec")}, run.identity["created"],
        state, total,
        tuple(layers), run.start_depth, count, tuple(boards), legs,
    )  # fmt: skip


def _workers(depth: int, legs: tuple[dict, ...]) -> int:
    """How many workers there were when the leg that made a layer began; 0 if not known."""
    return next((s["workers"] for s in reversed(legs) if s["layers"] <= depth), 0)


def _spent(record: LayerRecord, workers: int) -> dict[str, float]:
    """Where the time of a layer went.

    A layer by tasks: each kind of work took its sum over the workers, divided by their number, of
    the time that passed; what is left is scheduling and waiting. Where their number is not known,
    or tasks of an earlier leg were used, so that more was done than there was time for, the
    time is divided in proportion.
    """
    done = sum(record.work.values())
    if not done or not record.seconds:
        return {"memory" if record.form == "bits" else "lists": record.seconds}
    a_second = max(done / record.seconds, workers) if workers else done / record.seconds
    spent = {kind: seconds / a_second for kind, seconds in record.work.items()}
    if workers:
        spent["others"] = max(0.0, record.seconds - sum(spent.values()))
    return spent


def report_value(figures: Figures) -> dict:
    """A report of one run as JSON."""
    puzzle, fullest = figures.puzzle, figures.fullest
    value = {
        "name": figures.name,
        "puzzle": {"title": puzzle.title, **figures.settings},
        "state": figures.state,
        "complete": figures.complete,
        "depth": figures.depth,
        "diameter": figures.diameter,
        "states": figures.states,
        "states_of_the_puzzle": figures.total,
        "mean_depth": figures.mean,
        "median_depth": figures.median,
        "fullest_layer": fullest.depth if fullest else None,
        "seconds": figures.seconds,
        "bytes_written": figures.bytes,
        "seconds_spent": figures.spent,
        "layers": [vars(layer) for layer in figures.layers],
        "farthest": None,
        "legs": list(figures.legs),
    }
    if puzzle.start is not None:
        value["start"] = {"board": puzzle.write(puzzle.start), "depth": figures.start_depth}
    if figures.complete:
        positions = [puzzle.write(board) for board in figures.boards]
        value["farthest"] = {"count": figures.farthest, "positions": positions}
    return value
