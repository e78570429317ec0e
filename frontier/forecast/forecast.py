"""What a run will take: the loop of the driver, simulated on the estimated sizes of layers.

Every layer is taken to have all of its slabs, filled evenly, and tasks to take equally long. The
processor time of a task is that of making its words and of handing over the bytes that it reads and
writes. Meanwhile the worker's other task waits for the disk, so the greater of both counts. Where
layers fit in the page cache, only writes that are forced wait for the disk. Left out are rows and
slabs without a state, the disk's rate over hours, storing layers that are in memory, other work on
the machine, commits and failures.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, inf, prod
from typing import NamedTuple

import numpy as np

from frontier.clusters.executors import TASKS_UNDER_WAY, calls_together
from frontier.forecast.rates import Rates
from frontier.search.driver import LIST_SECONDS, MEMORY_SECONDS
from frontier.search.plan import Plan
from frontier.search.policy import Mode
from frontier.space.layout import WORD_BYTES, Layout
from frontier.space.program import program_of, reads_of
from frontier.store.parts import footer_bytes

COMMIT_SECONDS = {"lists": LIST_SECONDS, "memory": MEMORY_SECONDS, "tasks": 0.0}
"""The seconds after which layers that are made in a mode are committed."""

SAMPLE = 8
"""The number of tasks whose reads are counted, spread evenly over a side that has more."""


class Locality(NamedTuple):
    """What a task of one side reads of the current layer on average, where all slabs exist.

    near, far: the slabs under the task's own prefixes and those under others, in parts of the size
    that the task writes. It reads one part of the layer before besides. files: how many it opens.
    """

    near: float = 0.0
    far: float = 0.0
    files: float = 0.0

    @property
    def current(self) -> float:
        """The parts of the current layer that a task reads."""
        return self.near + self.far

    @property
    def far_share(self) -> float:
        """The share of what a task reads that tasks with other prefixes have written."""
        return self.far / (1 + self.current)


def locality_of(layout: Layout, side: int, sample: int = SAMPLE) -> Locality:
    """The locality of a side's tasks, of which a sample is looked at."""
    tasks, found = layout.task_count(side), []
    if not tasks:
        return Locality()
    for number in np.unique(np.linspace(0, tasks - 1, min(sample, tasks)).astype(np.int64)):
        task = layout.task(side, int(number))
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        prefix = program.slots[reads.slot] // layout.cuts
        near = ((task.first_prefix <= prefix) & (prefix < task.last_prefix)).sum()
        own = len(task.nodes) / layout.slab_nodes * layout.siblings * layout.cuts
        found.append((near / own, (prefix.size - near) / own, np.unique(reads.task).size + 2))
    return Locality(*np.mean(found, axis=0).tolist())


class Step(NamedTuple):
    """Layers `first` to `last`, which are committed together. mode: how they are made.

    read, written: stored bytes. disk: the most bytes that all layers on the disk have meanwhile.
    """

    first: int
    last: int
    mode: Mode
    seconds: float
    read: float
    written: float
    disk: float


@dataclass(frozen=True)
class Forecast:
    """What a run takes whose layers up to `depth` are there.

    sizes: the states of each layer. localities: of the tasks of each side. workers: how many work
    at once. cached: whether the page cache holds what the disk does. disk_rate: the bytes a second
    that all workers together can move, None for as many as each can.
    """

    plan: Plan
    sizes: list[int]
    localities: list[Locality]
    rates: Rates
    workers: int = 1
    depth: int = 0
    disk_rate: float | None = None
    cached: bool = True

    def with_cache(self, size: float) -> "Forecast":
        """The same where the system keeps `size` bytes in its page cache."""
        return self if self.disk <= size else replace(self, cached=False)

    @property
    def seconds(self) -> float:
        return self.rates.start + self.total("seconds")

    @property
    def disk(self) -> float:
        """The bytes on the disk at its peak."""
        return max((step.disk for step in self.steps), default=0)

    def total(self, what: str, *modes: Mode) -> float:
        """The sum of "seconds", "read" or "written" over all steps, or over those of some modes."""
        return sum(getattr(step, what) for step in self.steps if not modes or step.mode in modes)

    @cached_property
    def steps(self) -> list[Step]:
        """What the driver does after `depth`, in order."""
        until, policy = self.plan.config.search.until, self.plan.policy
        last = min(len(self.sizes) - 1, inf if until is None else until)
        held = [self._stored(d, self._is_list(d)) for d in range(self.depth + 1)]
        depth, steps = self.depth, []
        while depth < last:
            held = policy.left(held)
            mode, end = self._mode(depth), depth + 1
            seconds = self._seconds(end, mode)
            while end < last and mode == self._mode(end) and seconds < COMMIT_SECONDS[mode]:
                end += 1
                seconds += self._seconds(end, mode)
            made = [self._stored(d, mode == "lists") for d in range(depth + 1, end + 1)]
            new = policy.stored(made)
            disk = sum(held) + sum(new)
            if mode == "tasks" and policy.gives_up and not self._is_list(depth - 1):
                # Parts of the layer before the current one are given up, one by one.
                under_way = min(1.0, TASKS_UNDER_WAY * self.workers / self._tasks(end))
                disk = held[-1] + max(held[-2], sum(new)) + under_way * sum(new)
            read = self._read(end) if mode == "tasks" else 0.0
            seconds += self.rates.layer
            steps.append(Step(depth + 1, end, mode, seconds, read, sum(new), disk))
            held, depth = held + new, end
        return steps

    def _is_list(self, depth: int) -> bool:
        return depth < 1 or self._mode(depth - 1) == "lists"

    def _mode(self, depth: int) -> Mode:
        """How the layer after `depth` is made."""
        return self.plan.policy.mode(*self.sizes[max(0, depth - 1) : depth + 1])

    def _seconds(self, depth: int, mode: Mode) -> float:
        """The seconds that making a layer takes."""
        rates, tasks, part = self.rates, self._tasks(depth), self.plan.layout.part_bytes
        side = self.plan.space.side_of(depth)
        if mode == "lists":
            return self.sizes[depth] * rates.listed
        if mode == "memory":
            words = self.plan.layout.layer_bytes(side) / WORD_BYTES
            return words * rates.kernel / self.plan.threads
        read, written = self._read(depth), self._stored(depth)
        work = part / WORD_BYTES * rates.task_at(self._density(depth - 1))
        work += self.localities[side].files * rates.file
        work += (read * rates.read_work + written * rates.write_work) / tasks
        forced = not self.cached or self.plan.config.store.fsync == "layer"
        waiting = ((not self.cached) * read * rates.read + forced * written * rates.write) / tasks
        task = max(work, waiting)
        processes = self.plan.config.cluster.processes
        batches = ceil(tasks / calls_together(tasks, self.workers, task, processes))
        moving = (read + written) / self.disk_rate if self.disk_rate else 0.0
        return max(ceil(tasks / self.workers) * task, batches * rates.scheduler, moving)

    def _tasks(self, depth: int) -> int:
        return self.plan.layout.task_count(self.plan.space.side_of(depth))

    def _density(self, depth: int) -> float:
        """The share of the bits of a layer's parts that are set."""
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
        current = self.localities[self.plan.space.side_of(depth)].current
        return current * self._stored(depth - 1) + before
