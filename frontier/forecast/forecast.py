"""What a run will take, by arithmetic alone: the loop of the driver, gone through without layers.

Every layer is taken to have all of its slabs, filled evenly, and tasks to take equally long. The
processor time of a task is that of making its words and of handing over the bytes that it reads and
writes. Meanwhile the worker's other task waits for the disk, so the greater of both counts. Where
layers fit in the page cache, only writes that are forced wait for the disk. Left out are rows and
slabs without a state, the disk's rate over hours, storing layers that are in memory, other work on
the machine, commits and failures.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import NamedTuple

from frontier.clusters.executors import TASKS_UNDER_WAY
from frontier.forecast.locality import Locality
from frontier.forecast.rates import Rates
from frontier.search.driver import LIST_SECONDS, MEMORY_SECONDS
from frontier.search.plan import Plan
from frontier.space.layout import WORD_BYTES
from frontier.store.parts import footer_bytes

COMMIT_SECONDS = {"lists": LIST_SECONDS, "memory": MEMORY_SECONDS, "tasks": 0.0}
"""Layers made in a form are committed after so many seconds."""


class Step(NamedTuple):
    """Layers `first` to `last`, which are committed together. form: "lists", "memory" or "tasks".

    read, written: stored bytes. disk: the most bytes that all layers on the disk have meanwhile.
    """

    first: int
    last: int
    form: str
    seconds: float
    read: float
    written: float
    disk: float


@dataclass(frozen=True)
class Forecast:
    """What a run takes whose layers up to `depth` are there.

    sizes: the states of each layer. localities: of the tasks of each class. workers: how many work
    at once. cached: whether the page cache holds what the disk does. disk_rate: the bytes a second
    that all workers together can move, None for as many as each can.
    """

    plan: Plan
    sizes: list[int]
    localities: list[Locality]
    rates: Rates
    workers: int
    depth: int
    disk_rate: float | None
    cached: bool

    @property
    def seconds(self) -> float:
        return self.rates.start + self.total("seconds")

    @property
    def disk(self) -> float:
        """The bytes on the disk at its peak."""
        return max((step.disk for step in self.steps), default=0)

    def total(self, what: str, *forms: str) -> float:
        """The sum of "seconds", "read" or "written" over all steps, or over those of some forms."""
        return sum(getattr(step, what) for step in self.steps if not forms or step.form in forms)

    @cached_property
    def steps(self) -> list[Step]:
        """What the driver does after `depth`, in order."""
        return list(self._steps())

    def _steps(self) -> Iterator[Step]:
        search, depth, last = self.plan.config.search, self.depth, len(self.sizes) - 1
        last = last if search.until is None else min(search.until, last)
        keep_all, most = self.plan.kept is None, self.plan.kept or 0
        there = range(0 if keep_all else max(0, depth + 1 - most), depth + 1)
        held = [self._stored(d, self._is_thin(d)) for d in there]
        while depth < last:
            form, end, seconds = self._form(depth), depth, self.rates.layer
            began = seconds
            while end < last and seconds - began <= COMMIT_SECONDS[form]:
                if end > depth and (form == "tasks" or self._form(end) != form):
                    break
                end += 1
                seconds += self._seconds(end, form)
            kept = range(depth + 1 if keep_all else max(depth + 1, end - 1), end + 1)
            new = [self._stored(d, form == "lists") for d in kept]
            disk = sum(held) + sum(new)
            if form == "tasks" and self.plan.gives_up and not self._is_thin(depth - 1):
                # Parts of the layer before the current one are given up, one by one.
                under_way = min(1.0, TASKS_UNDER_WAY * self.workers / self._tasks(end))
                disk = held[-1] + max(held[-2], sum(new)) + under_way * sum(new)
            read = self._read(end) if form == "tasks" else 0.0
            yield Step(depth + 1, end, form, seconds, read, sum(new), disk)
            held = held + new if keep_all else (held + new)[-most:]
            depth = end

    def _is_thin(self, depth: int) -> bool:
        return depth < 0 or self.sizes[depth] <= self.plan.list_states

    def _form(self, depth: int) -> str:
        """The form in which the layer after `depth` is made."""
        return self.plan.form(*self.sizes[max(0, depth - 1) : depth + 1])

    def _seconds(self, depth: int, form: str) -> float:
        """The seconds that making a layer takes."""
        rates, tasks, part = self.rates, self._tasks(depth), self.plan.layout.part_bytes
        klass = self.plan.space.class_of(depth)
        if form == "lists":
            return self.sizes[depth] * rates.listed
        if form == "memory":
            words = self.plan.layout.layer_bytes(klass) / WORD_BYTES
            return words * rates.kernel / self.plan.threads
        read, written = self._read(depth), self._stored(depth)
        work = part / WORD_BYTES * rates.task_at(self._density(depth - 1))
        work += self.localities[klass].files * rates.file
        work += (read * rates.read_work + written * rates.write_work) / tasks
        forced = not self.cached or self.plan.config.store.fsync == "layer"
        waiting = ((not self.cached) * read * rates.read + forced * written * rates.write) / tasks
        seconds = ceil(tasks / self.workers) * max(work, waiting)
        moving = (read + written) / self.disk_rate if self.disk_rate else 0.0
        return max(seconds, tasks * rates.scheduler, moving)

    def _tasks(self, depth: int) -> int:
        return self.plan.layout.task_count(self.plan.space.class_of(depth))

    def _density(self, depth: int) -> float:
        """The ones a bit of a layer's parts."""
        words = self._tasks(depth) * self.plan.layout.part_bytes // WORD_BYTES
        return self.sizes[depth] / (words * self.plan.space.code.bits)

    def _stored(self, depth: int, as_list: bool = False) -> float:
        """The bytes of a layer on the disk."""
        if as_list:
            return self.sizes[depth] * self.rates.list_bytes
        layout = self.plan.layout
        part = layout.part_bytes * self.rates.stored_at(self._density(depth))
        return self._tasks(depth) * (part + footer_bytes(prod(layout.grid)))

    def _read(self, depth: int) -> float:
        """The stored bytes that the tasks of a layer read."""
        before = self._stored(depth - 2) if depth >= 2 else 0.0
        current = self.localities[self.plan.space.class_of(depth)].current
        return current * self._stored(depth - 1) + before


def forecast(
    plan: Plan,
    sizes: list[int],
    localities: list[Locality],
    rates: Rates,
    workers: int,
    cache: float,
    depth: int = 0,
    disk_rate: float | None = None,
) -> Forecast:
    """The forecast of a run; cache: the bytes that the system can keep in its page cache."""
    made = Forecast(plan, sizes, localities, rates, workers, depth, disk_rate, cached=True)
    if made.disk <= cache:
        return made
    return Forecast(plan, sizes, localities, rates, workers, depth, disk_rate, cached=False)


def disk_of(plan: Plan, sizes: list[int], rates: Rates) -> float:
    """The bytes on the disk at the peak of a whole run, which do not depend on how fast it is."""
    localities = [Locality(0, 0, 0)] * plan.space.classes
    return forecast(plan, sizes, localities, rates, 1, 0).disk
