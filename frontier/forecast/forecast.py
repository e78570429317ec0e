"""What a run will take: the loop of the driver, simulated on the estimated sizes of layers.

It assumes that every layer has all of its slabs, filled evenly, and that tasks take equally long. A
task takes processor time to make its words and to hand over the bytes that it reads and writes.
Meanwhile the worker's other task waits for the disk, so the greater of the two times counts. If
layers fit in the page cache, only forced writes wait for the disk. The forecast leaves out rows and
slabs without a state, the disk's rate over hours, the start, storing layers that are in memory, the
scheduler, other work on the machine and failures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, isinf, prod
from typing import NamedTuple

import numpy as np
import psutil

from frontier import machine
from frontier.clusters.dask_executor import WINDOW
from frontier.clusters.executor import TASKS_UNDER_WAY
from frontier.config import HERE, Config, default_memory
from frontier.forecast.rates import Rates, calibrate, stored_shares
from frontier.layers.parts import footer_bytes
from frontier.layers.record import LayerRecord
from frontier.runs.layer_run import LayerRun
from frontier.runs.sizes import Sizes, estimate_sizes, trial_of
from frontier.search.by_tasks import bytes_wanted
from frontier.search.driver import LIST_SECONDS, MEMORY_SECONDS
from frontier.search.plan import Mode, RunPlan
from frontier.space.layout import WORD_BYTES, Layout
from frontier.space.program import program_of, reads_of
from frontier.text import counted, size

COMMIT_SECONDS = {"lists": LIST_SECONDS, "memory": MEMORY_SECONDS, "tasks": 0.0}
"""For each mode, the seconds of search after which the last layers are stored."""

LAYER_SECONDS = 0.02
"""The seconds that a layer takes besides its tasks, for its commit and to begin the first task."""

SAMPLE = 8
"""The most tasks of a side whose reads are counted; they are spread evenly."""

MANY_LAYERS = 200
"""If a bound on its bytes is enough, a run that keeps all layers is assumed to have so many."""

MOST_TIGHTER = 0.85
"""About the share of the bytes of `bitmap` that `zstd:1` takes at the peak of a search."""

LAYERS_AT_ONCE = 3
"""The most layers on the disk while the newest of them is made."""


def parts_read(layout: Layout, side: int, sample: int = SAMPLE) -> float:
    """Return what a task of one side reads of the current layer on average, as a multiple of the
    part that it writes, if all slabs exist. It also reads one part of the layer before, not counted
    here."""
    tasks, ratios = layout.task_count(side), []
    for number in np.unique(np.linspace(0, tasks - 1, min(sample, tasks)).astype(np.int64)):
        task = layout.task(side, int(number))
        own = layout.slabs_made(task)
        ratios.append(reads_of(layout, task, program_of(layout, task)).slab.size / own)
    return float(np.mean(ratios)) if ratios else 0.0


class Step(NamedTuple):
    """The cost of making one layer.

    read, written: stored bytes. disk: the most bytes of all layers on the disk meanwhile.
    """

    depth: int
    mode: Mode
    seconds: float
    read: float
    written: float
    disk: float


@dataclass(frozen=True)
class Forecast:
    """What a run takes from `depth` on, where its layers end, and the room that it has.

    reads: the result of `parts_read` for each side. workers: how many work at once. records: those
    of the committed layers. disk_rate: the bytes a second that all workers together can move, None
    if only the rate of each limits them. cached: True if the page cache holds all that is on the
    disk. free, free_files: the bytes and the files that the run may have, None if that is unknown,
    as in an object store.
    """

    plan: RunPlan
    sizes: Sizes
    reads: Sequence[float]
    rates: Rates
    workers: int = 1
    depth: int = 0
    records: Sequence[LayerRecord] = ()
    disk_rate: float | None = None
    cached: bool = True
    free: int | None = None
    free_files: int | None = None

    @property
    def seconds(self) -> float:
        """The seconds that all layers take."""
        return self.total("seconds")

    @property
    def disk(self) -> float:
        """The bytes on the disk at its peak."""
        return max((step.disk for step in self.steps), default=0)

    def total(self, quantity: str, mode: Mode | None = None) -> float:
        """Return the sum of "seconds", "read" or "written" over all steps, or over those of a
        mode."""
        return sum(getattr(step, quantity) for step in self.steps if mode in (None, step.mode))

    @cached_property
    def steps(self) -> list[Step]:
        """The steps that make each layer after `depth`, in order."""
        until, policy = self.plan.config.search.until, self.plan.policy
        end = len(self.sizes.states)
        end = end if until is None else min(end, until + 1)
        held, steps = [self._stored(depth) for depth in range(self.depth + 1)], []
        since = 0.0  # seconds since layers were last stored
        for depth in range(self.depth + 1, end):
            mode, seconds, new = self._mode(depth), self._seconds(depth), []
            since += seconds
            last = depth + 1 == end or mode != self._mode(depth + 1)
            if last or policy.layers_kept is None or since >= COMMIT_SECONDS[mode]:
                held, new, since = policy.depths_to_keep(held), [self._stored(depth)], 0.0
            disk = sum(held) + sum(new)
            if mode == "tasks" and policy.deletes_replaced and self._mode(depth - 2) != "lists":
                # Parts of the layer before the current one are deleted, one by one.
                under_way = min(1.0, TASKS_UNDER_WAY * self.workers / self._tasks(depth))
                disk = held[-1] + max(held[-2], *new) + under_way * sum(new)
            read = self._read(depth) if mode == "tasks" else 0.0
            steps.append(Step(depth, mode, seconds, read, sum(new), disk))
            held += new
        return steps

    def _mode(self, depth: int) -> Mode:
        """Return how a layer is made; the first one is written as a list."""
        if depth < 1:
            return "lists"
        return self.plan.policy.mode(*self.sizes.states[max(0, depth - 2) : depth])

    def _seconds(self, depth: int) -> float:
        """Return the seconds that making a layer takes."""
        rates, layout, mode = self.rates, self.plan.layout, self._mode(depth)
        if mode == "lists":
            return self.sizes.states[depth] * rates.listed
        words = layout.layer_bytes(self.plan.space.side_of(depth)) / WORD_BYTES
        if mode == "memory":
            return words * rates.kernel / self.plan.threads
        read, written, tasks = self._read(depth), self._stored(depth), self._tasks(depth)
        work = layout.part_bytes / WORD_BYTES * rates.task_at(self._density(depth - 1))
        work += (read * rates.read_work + written * rates.write_work) / tasks
        forced = not self.cached or self.plan.config.store.fsync == "layer"
        waiting = ((not self.cached) * read * rates.read + forced * written * rates.write) / tasks
        moving = (read + written) / self.disk_rate if self.disk_rate else 0.0
        return max(ceil(tasks / self.workers) * max(work, waiting), moving) + LAYER_SECONDS

    def _tasks(self, depth: int) -> int:
        return self.plan.layout.task_count(self.plan.space.side_of(depth))

    def _density(self, depth: int) -> float:
        """Return the share of the bits of a layer's parts that are set."""
        words = self._tasks(depth) * self.plan.layout.part_bytes // WORD_BYTES
        return self.sizes.states[depth] / (words * self.plan.space.code.bits)

    def _stored(self, depth: int) -> float:
        """Return the bytes of a layer on the disk."""
        if self._mode(depth) == "lists":
            return self.sizes.states[depth] * WORD_BYTES
        layout = self.plan.layout
        part = layout.part_bytes * self.rates.stored_at(self._density(depth))
        return self._tasks(depth) * (part + footer_bytes(prod(layout.grid)))

    def _read(self, depth: int) -> float:
        """Return the stored bytes that the tasks of a layer read."""
        before = self._stored(depth - 2) if depth >= 2 else 0.0
        return self.reads[self.plan.space.side_of(depth)] * self._stored(depth - 1) + before

    @property
    def described(self) -> bool:
        """True if the workers are on a cluster that was not measured."""
        return self.plan.config.cluster.kind not in HERE

    @property
    def too_small(self) -> str | None:
        """A warning if the disk cannot hold the run, else None."""
        wanted, more = 0, ""
        if self.total("written", "tasks"):
            wanted = _bytes_wanted(self.plan, self.workers)
            more = f", and a task begins only if {size(wanted)} more are free"
        if self.free is None or self.disk + wanted <= self.free:
            return None
        remedy = "choose another place with --set store.path=…"
        if self.disk * MOST_TIGHTER + wanted <= self.free:
            remedy += ", or compress more, which takes several times as long, with "
            remedy += '--set store.codec="zstd:1"'
        return (
            f"the disk at its peak takes {size(self.disk)}{more}, but {self.plan.config.path} has "
            f"room for {size(self.free)}: {remedy}"
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings about what will not go well, with numbers and a remedy."""
        plan, layout = self.plan, self.plan.layout
        texts = [plan.puzzle.remark, self.too_small]
        layers = LAYERS_AT_ONCE + plan.config.search.spare
        files = layers * max(map(layout.task_count, range(plan.space.sides)))
        if not plan.in_memory and self.free_files is not None and files > self.free_files:
            texts.append(
                f"the layers make {counted(files, 'file')}, but the file system of "
                f"{plan.config.path} has room for {self.free_files:,}: give workers more memory "
                "(cluster.memory), so that parts are larger, or choose another file system"
            )
        tasks = layout.task_count(0)
        if not plan.in_memory and tasks < self.workers and layout.prefix_digits:
            texts.append(
                f"a layer has {counted(tasks, 'task')} for {counted(self.workers, 'worker')}: the "
                "others are idle; set cluster.workers to fewer"
            )
        return list(filter(None, texts))


def forecast_of(
    plan: RunPlan,
    disk_rate: float | None = None,
    measured: bool = True,
    say: Callable[[str], None] = lambda text: None,
    fresh: bool = False,
) -> Forecast:
    """Try the search, the machine and the disk for some seconds, and work out the rest.

    The forecast of a complete run is that of the run from its beginning. disk_rate: see `Forecast`.
    measured: measure machine and disk for the time; otherwise no time is forecast. say: called
    with each step in words. fresh: whether a run that is there is deleted first.
    """
    storage, cluster, records, bytes_there = plan.config.storage, plan.config.cluster, [], 0
    if LayerRun.exists(storage):
        records = [] if fresh else LayerRun.open(storage).records
        bytes_there = storage.size()
    say("counting its first layers, in memory")
    known_sizes, trial = [record.states for record in records], trial_of(plan.puzzle)
    sizes = estimate_sizes(max(known_sizes, trial.sizes, key=len), plan.puzzle.states)
    if measured:
        reads = [parts_read(plan.layout, side) for side in range(plan.space.sides)]
        say("trying its tasks and the disk here, with layers of 3×4, for up to half a minute")
        rates = calibrate(plan, trial.state_seconds)
    else:
        reads, rates = [0.0] * plan.space.sides, stored_shares(plan.config.store.codec)
    workers, cache = cluster.workers, 0.0
    if cluster.kind in HERE:
        workers = 1 if cluster.kind == "serial" else min(workers, machine.cores())
        cache = psutil.virtual_memory().available - workers * plan.task_bytes
    done = 0 if sizes.complete and len(known_sizes) == sizes.known else max(0, len(known_sizes) - 1)
    forecast = Forecast(plan, sizes, reads, rates, workers, done, records, disk_rate)
    forecast = replace(forecast, cached=forecast.disk <= cache)
    if isinf(free := storage.free()):
        return forecast
    return replace(forecast, free=free + bytes_there, free_files=storage.free_files())


def _bytes_wanted(plan: RunPlan, workers: int) -> int:
    """Return the bytes of the disk that must be free where a layer is made by tasks."""
    at_once = 1 if plan.config.cluster.kind == "serial" else WINDOW * workers
    tasks = max(map(plan.layout.task_count, range(plan.space.sides)))
    return bytes_wanted(plan.layout, min(at_once, tasks))


def disk_warning(plan: RunPlan, until: int | None = None, fresh: bool = False) -> str | None:
    """Return a warning if a run may fill its disk. It takes no time if a simple bound rules that
    out.

    until: the last depth, in place of the config's. fresh: whether a run that is there is deleted
    first.
    """
    search, storage = plan.config.search, plan.config.storage
    if plan.in_memory:
        return None
    layers = MANY_LAYERS if search.keep == "all" else LAYERS_AT_ONCE + search.spare
    most = layers * max(map(plan.layout.layer_bytes, range(plan.space.sides)))
    most += _bytes_wanted(plan, plan.config.cluster.workers)
    if most <= storage.free():
        return None
    if not fresh and LayerRun.exists(storage) and LayerRun.open(storage).complete:
        return None
    if until is not None:
        search = search.model_copy(update={"until": until})
        plan = replace(plan, config=plan.config.model_copy(update={"search": search}))
    return forecast_of(plan, measured=False, fresh=fresh).too_small


def described_cluster(config: Config, workers: int) -> Config:
    """Return the config with a cluster of `workers` workers, which need not exist."""
    update = {"kind": "address", "address": "described", "workers": workers}
    if "memory" not in config.cluster.model_fields_set:
        update["memory"] = default_memory("address", workers)
    cluster = config.cluster.model_copy(update=update)
    return config.model_copy(update={"cluster": cluster})
