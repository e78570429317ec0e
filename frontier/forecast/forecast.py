"""What a run will take, by arithmetic alone: the loop of the driver, gone through without layers.

Given are the plan, the sizes of the layers, what a task reads and how fast a machine is. Every
layer is taken to have all of its slabs, filled evenly, and tasks to take equally long.

The processor time of a task is that of making its words and of handing over the bytes that it reads
and writes. Meanwhile the worker's other task waits for the disk, so the greater of both counts.
Where layers fit in the page cache, only writes that are forced wait for the disk. Left out are rows
and slabs without a state, the disk's rate over hours, storing layers that are in memory, other work
on the machine, commits and failures.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from frontier.forecast.rates import Rates
from frontier.forecast.traffic import Traffic
from frontier.search.driver import LIST_SECONDS, MEMORY_SECONDS
from frontier.search.executors import TASKS_UNDER_WAY
from frontier.search.plan import Plan
from frontier.space.layout import WORD_BYTES
from frontier.store.parts import footer_bytes

PATIENCE = {"lists": LIST_SECONDS, "memory": MEMORY_SECONDS, "tasks": 0.0}
"""Seconds after which what was done in a form is committed."""


@dataclass(frozen=True)
class Step:
    """Layers first … last, committed together. form: "lists", "memory" or "tasks".

    read, written: stored bytes. disk: bytes of all layers there at once, at most.
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
    """steps: in their order. start: seconds of start-up. cached: whether the page cache was taken
    to hold what the disk does."""

    steps: list[Step]
    start: float
    cached: bool

    @property
    def seconds(self) -> float:
        return self.start + self.total("seconds")

    @property
    def disk(self) -> float:
        return max((step.disk for step in self.steps), default=0)

    def total(self, what: str, *forms: str) -> float:
        """Of all steps, or those of some forms: "seconds", "read" or "written"."""
        return sum(getattr(step, what) for step in self.steps if not forms or step.form in forms)


def forecast(
    plan: Plan,
    sizes: list[int],
    traffic: list[Traffic],
    rates: Rates,
    workers: int,
    cache: float,
    depth: int = 0,
    disk_rate: float | None = None,
) -> Forecast:
    """The forecast of a run whose layers up to `depth` are there.

    sizes: states of each layer. traffic: of each class. workers: that work at once. cache: bytes
    that the system can keep in its page cache. disk_rate: bytes a second that all workers together
    can move, None for as many as each can.
    """
    for cached in (True, False):
        model = _Model(plan, sizes, traffic, rates, workers, cached, disk_rate)
        made = Forecast(list(model.steps(depth)), rates.start, cached)
        if made.disk <= cache:
            break
    return made


def disk_of(plan: Plan, sizes: list[int], rates: Rates) -> float:
    """Bytes on the disk at the peak of a whole run, which do not depend on how fast it is."""
    traffic = [Traffic(0, 0, 0)] * plan.space.classes
    return forecast(plan, sizes, traffic, rates, 1, 0).disk


@dataclass(frozen=True)
class _Model:
    plan: Plan
    sizes: list[int]
    traffic: list[Traffic]
    rates: Rates
    workers: int
    cached: bool
    disk_rate: float | None

    def steps(self, depth: int) -> Iterator[Step]:
        """What the driver does after `depth`, and what it keeps on the disk meanwhile."""
        search, last = self.plan.config.search, len(self.sizes) - 1
        last = last if search.until is None else min(search.until, last)
        keep_all, most = self.plan.kept is None, self.plan.kept or 0
        there = range(0 if keep_all else max(0, depth + 1 - most), depth + 1)
        held = [self._stored(d, self._thin(d)) for d in there]
        while depth < last:
            form, end, seconds = self._form(depth), depth, self.rates.layer
            began = seconds
            while end < last and seconds - began <= PATIENCE[form]:
                if end > depth and (form == "tasks" or self._form(end) != form):
                    break
                end += 1
                seconds += self._seconds(end, form)
            kept = range(depth + 1 if keep_all else max(depth + 1, end - 1), end + 1)
            new = [self._stored(d, form == "lists") for d in kept]
            disk = sum(held) + sum(new)
            if form == "tasks" and self.plan.gives_up and not self._thin(depth - 1):
                # Parts of the layer before the current one are given up, one by one.
                under_way = min(1.0, TASKS_UNDER_WAY * self.workers / self._tasks(end))
                disk = held[-1] + max(held[-2], sum(new)) + under_way * sum(new)
            read = self._read(end) if form == "tasks" else 0.0
            yield Step(depth + 1, end, form, seconds, read, sum(new), disk)
            held = held + new if keep_all else (held + new)[-most:]
            depth = end

    def _thin(self, depth: int) -> bool:
        return depth < 0 or self.sizes[depth] <= self.plan.list_states

    def _form(self, depth: int) -> str:
        """How the layer after `depth` is made."""
        return self.plan.form(*self.sizes[max(0, depth - 1) : depth + 1])

    def _seconds(self, depth: int, form: str) -> float:
        """Of making a layer."""
        rates, tasks, part = self.rates, self._tasks(depth), self.plan.layout.part_bytes
        if form == "lists":
            return self.sizes[depth] * rates.listed
        if form == "memory":
            words = self.plan.layout.layer_bytes(self._class(depth)) / WORD_BYTES
            return words * rates.kernel / self.plan.threads
        read, written = self._read(depth), self._stored(depth)
        work = part / WORD_BYTES * rates.task_at(self._density(depth - 1))
        work += self.traffic[self._class(depth)].files * rates.file
        work += (read * rates.read_work + written * rates.write_work) / tasks
        forced = not self.cached or self.plan.config.store.fsync == "layer"
        waiting = ((not self.cached) * read * rates.read + forced * written * rates.write) / tasks
        seconds = ceil(tasks / self.workers) * max(work, waiting)
        moving = (read + written) / self.disk_rate if self.disk_rate else 0.0
        return max(seconds, tasks * rates.scheduler, moving)

    def _class(self, depth: int) -> int:
        return self.plan.space.class_of(depth)

    def _tasks(self, depth: int) -> int:
        return self.plan.layout.task_count(self._class(depth))

    def _density(self, depth: int) -> float:
        """Ones a bit of a layer's parts."""
        words = self._tasks(depth) * self.plan.layout.part_bytes // WORD_BYTES
        return self.sizes[depth] / (words * self.plan.space.code.bits)

    def _stored(self, depth: int, listed: bool = False) -> float:
        """Bytes of a layer on disk."""
        if listed:
            return self.sizes[depth] * self.rates.list_bytes
        layout = self.plan.layout
        part = layout.part_bytes * self.rates.stored_at(self._density(depth))
        return self._tasks(depth) * (part + footer_bytes(prod(layout.grid)))

    def _read(self, depth: int) -> float:
        """Stored bytes that the tasks of a layer read."""
        before = self._stored(depth - 2) if depth >= 2 else 0.0
        return self.traffic[self._class(depth)].current * self._stored(depth - 1) + before
