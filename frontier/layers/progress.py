"""The progress of a run by layers: its layers, the layer under way, and the time left, in numbers
and in words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from math import nan
from typing import Any

from pydantic import validate_call

from frontier.layers.estimate import TimeLeft, recorded_cost, time_left
from frontier.layers.events import (
    LayerFinished,
    LayerMade,
    LayerStarted,
    StoringLayers,
    TaskFinished,
)
from frontier.layers.record import Form, LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.tally import Tally
from frontier.runs import events
from frontier.runs.progress import Progress
from frontier.storage.sealed import Count, Seconds
from frontier.text import counted, moment, percent, rate, rough, rough_range, size, span


class LayerTotals:
    """The totals over `layers`, the known layers in order from depth 0."""

    layers: Sequence

    @property
    def depth(self) -> int | None:
        """The depth of the last layer, None if there is no layer. In a complete run, that depth is
        God's number of the goal."""
        return len(self.layers) - 1 if self.layers else None

    @property
    def counts(self) -> list[int]:
        """The number of states of each layer, from depth 0."""
        return [layer.states for layer in self.layers]

    @property
    def states(self) -> int:
        """The number of states in all layers."""
        return sum(self.counts)

    @property
    def seconds(self) -> float:
        """The seconds that all layers took."""
        return sum(layer.seconds for layer in self.layers)

    @property
    def mean_depth(self) -> float:
        """The mean depth of the known states; NaN if no state is known."""
        moves = sum(depth * states for depth, states in enumerate(self.counts))
        return moves / self.states if self.layers else nan


@dataclass(eq=False)
class LayerProgress(LayerTotals, Progress[LayerRun]):
    """The progress of a run by layers at a given moment.

    layers: all layers made, from depth 0. committed: how many of them are committed; a kill loses
    the rest. disk: the bytes of the layers on disk. task: the tasks done of the next layer, which
    began at `since`; None if not known. If only the total number of tasks is
    unknown, the total is given as 0. storing: the number of layers that are being stored.
    """

    layers: list[LayerRecord] = field(default_factory=list)
    committed: int = 0
    disk: int = 0
    task: TaskFinished | None = None
    storing: int = 0

    def _ends_compiling(self, event: events.Event) -> bool:
        return not isinstance(event, LayerStarted | events.Stopping)

    def note(self, event: events.Event, now: float) -> None:
        match event:
            case events.Started(path=path, resumed=True):
                self._read(LayerRun.open(path))
            case LayerStarted(depth, tasks):
                self.task = None if tasks is None else TaskFinished(depth, 0, tasks, 0)
                self.since = now
            case TaskFinished():
                self.task = event
            case LayerMade(layer) if layer.depth == len(self.layers):
                self.layers.append(layer)
                self.since = now
            case StoringLayers(layers):
                self.storing = layers
            case LayerFinished(layer, disk=disk):
                self.layers[layer.depth :] = [layer, *self.layers[layer.depth + 1 :]]
                self.committed = layer.depth + 1
                self.disk, self.task, self.since = disk, None, now
                if self.committed == len(self.layers):
                    self.storing = 0
            case events.Stopped():
                self.storing = 0
                del self.layers[self.committed :]

    def _read(self, run: LayerRun) -> None:
        self.layers, self.committed, self.disk = list(run.records), len(run.records), run.disk

    def read(self) -> None:
        run = self.source
        self._read(run)
        if not run.complete and (done := len(run.part_names(len(run.records)))):
            self.task = TaskFinished(len(self.layers), done, 0, 0)

    def repeat(self, name: str, values: Mapping[str, Any], when: float) -> None:
        if name == LayerMade.__name__:
            with suppress(TypeError, ValueError):  # a damaged line
                self(_layer_made(**values), when)

    @property
    def total(self) -> int | None:
        """The number of states of the whole space; None if it is not known before the end."""
        assert self.started is not None
        return self.started.states

    @property
    def stage(self) -> int | None:
        """The depth of the last layer."""
        return self.depth

    @property
    def within_stage(self) -> bool:
        return self.task is not None and self.task.done > 0

    def lost(self, stage: int) -> bool:
        return self.depth is not None and stage > self.depth

    @property
    def share(self) -> float | None:
        """The share of all states in the layers so far."""
        return self.states / self.total if self.started and self.total else None

    def left(self, now: float) -> TimeLeft | None:
        """Return the time left, less the time that the layer under way has already taken; None if
        it is too early to say. For a stopped run, return the time that it will take once it is
        resumed."""
        layers = list(self.layers)  # a copy, because a display asks from another thread
        if not layers or self.started is None or self.total is None:
            return None
        until = self.started.request.get("until")
        if until is not None and until < len(layers):
            until = None  # once reached, it does not limit the time left
        sizes = [layer.states for layer in layers]
        estimate = time_left(sizes, self.total, recorded_cost(layers), until)
        if estimate is None or self.ended:
            return estimate
        elapsed = min(max(0.0, now - self.since), estimate.first)
        seconds, least, most = (max(0.0, of - elapsed) for of in estimate[:3])
        return estimate._replace(seconds=seconds, least=least, most=most)

    def known_layers(self) -> Sequence[LayerRecord]:
        return self.layers

    def coming(self, now: float) -> Sequence[int]:
        left = None if self.ended else self.left(now)
        return left.sizes if left else ()

    def figures(self, now: float) -> dict[str, str]:
        layers, figures = self.layers, self.resuming()
        if not self.ended and self.total is not None and self.states < self.total:
            left = self.left(now)
            figures["time left"] = time_left_words(left)
            if end := end_of(left, now):
                times = moment(end[1], now), moment(end[2], end[1])
                figures["ends"] = "–".join(dict.fromkeys(times))  # once if both are the same
            if left and left.least_depth < left.most_depth:
                figures["last depth"] = (
                    f"about {left.depth} ({left.least_depth} to {left.most_depth})"
                )
        figures["depth"] = "– (no layer is committed yet)"
        if layers:
            figures["depth"] = f"{self.depth} ({counted(layers[-1].states, 'state')} there)"
        states, seconds = self.states, self.seconds
        figures["states"] = f"{states:,} (all)" if self.complete else so_far(states, self.total)
        if waiting := len(layers) - self.committed:
            depths = f"depth {self.committed}"
            depths = f"from {depths} on" if waiting > 1 else f"at {depths}"
            figures["not stored yet"] = f"{counted(waiting, 'layer')} ({depths})"
        figures["time in layers"] = f"{span(seconds)} ({rate(states, seconds)})"
        if self.storing:
            figures["now"] = f"storing {counted(self.storing, 'layer')}"
        elif words := self.compiling_words(now):
            figures["now"] = words
        elif words := self.next_layer_words(now):
            figures["next layer"] = f"{len(layers)} ({words})"
        figures["layers on disk"] = size(self.disk)
        return figures | self.particulars()

    def next_layer_words(self, now: float) -> str:
        """Return how much of the next layer is done, and how long it has taken so far."""
        task, words = self.task, []
        if task:
            of = f"{task.done:,} of {counted(task.tasks, 'task')}"
            words.append(f"{of if task.tasks else counted(task.done, 'task')} done")
        if self.ended is None:
            words.append(f"under way for {span(max(0.0, now - self.since))}")
        return ", ".join(words)

    def row(self, now: float) -> dict[str, str]:
        depth, states, tasks = self.depth, self.counts[-1], "-"
        task = None if self.complete else self.task  # the last task found no state
        if task and task.done:
            depth, states, tasks = task.depth, task.states, f"{task.done}/{task.tasks or '?'}"
        total = self.states + (task.states if task else 0)
        left = None if self.ended else self.left(now)
        return {
            "depth": str(depth),
            "states": str(states),
            "total": str(total),
            "percent": share_in_percent(total, self.total) if self.total else "-",
            "tasks": tasks,
            "seconds": f"{self.elapsed(now):.1f}",
            "left": "-" if left is None else f"{left.seconds:.0f}",
        }

    def value(self, now: float) -> dict[str, Any]:
        left = self.left(now)
        value: dict[str, Any] = {
            "not_stored": self.counts[self.committed :],
            "tasks_finished_of_the_next_layer": self.task.done if self.task else 0,
        }
        if not self.complete:
            fields = left._asdict().items() if left else ()
            known = {name: of for name, of in fields if name not in ("first", "sizes")}
            value["left"] = known or None
        if not self.ended:
            dates = [datetime.fromtimestamp(end).astimezone() for end in end_of(left, now) or ()]
            ends = [date.isoformat(timespec="seconds") for date in dates]
            times = zip(("likely", "least", "most"), ends, strict=True)
            value["ends"] = dict(times) if ends else None
        return value


@validate_call
def _layer_made(
    depth: Count, states: Count, form: Form, seconds: Seconds, elapsed: Seconds
) -> LayerMade:
    return LayerMade(LayerRecord.of(depth, form, Tally(states), seconds), elapsed)


def so_far(states: int, total: int | None) -> str:
    """Return how many states are known, in words. total: the number of all; None if unknown."""
    return f"{states:,} ({f'{percent(states / total)} of {total:,}' if total else 'so far'})"


def share_in_percent(part: int, whole: int) -> str:
    """Return a share in percent; only the whole is 100.00."""
    hundredths = (10_000 * part + whole // 2) // whole
    return f"{(hundredths if part == whole else min(hundredths, 9_999)) / 100:.2f}"


def time_left_words(left: TimeLeft | None) -> str:
    """Return the remaining time of a run in words."""
    if left is None:
        return "too early to tell"
    if left.most < 2:
        return "a moment"
    between = rough_range(left.least, left.most)
    if left.passed:
        return f"about {rough(left.seconds)} ({between})"
    rising = "the largest layers are still to come"
    return f"{between} ({rising if left.rising else 'among the largest layers so far'})"


def end_of(left: TimeLeft | None, now: float) -> tuple[float, float, float] | None:
    """Return when a run under way ends, in Unix time: the likely, the earliest and the latest
    time.

    Returns None if this is not known, or if the latest time is more than a hundred years away.
    """
    if left is None or left.most > 100 * 365 * 86400:
        return None
    return now + left.seconds, now + left.least, now + left.most
