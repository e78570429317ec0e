"""The forecast of a run: the peak of its disk use, the space available, and a range for its time.

The forecast uses the estimated sizes of the layers. It assumes that slabs are evenly filled, and
that the disk holds the layers that the driver keeps while it makes the next one. It adds up the
time that one core of this machine needs for each word of the bitmaps and each state of the lists,
and divides the sum by the number of workers. Other work on the machine, the scheduler and a slow
disk are not counted, so the forecast gives a range.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, isinf, prod

from frontier import machine
from frontier.config.loading import Config, known_depth
from frontier.config.schema import HERE, default_memory
from frontier.executors.dask_executor import WINDOW
from frontier.executors.executor import TASKS_UNDER_WAY
from frontier.layers.by_tasks import bytes_wanted
from frontier.layers.estimate import WIDER, Sizes, estimate_sizes, time_left
from frontier.layers.parts import footer_bytes
from frontier.layers.plan import Plan, with_search
from frontier.layers.policy import LEAST_KEPT, Mode
from frontier.layers.rates import Rates, trial_of, try_machine
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.space.words import WORD_BYTES
from frontier.text import counted, size

START_SECONDS = 10.0
"""The most seconds that a command and the workers on this machine take to start and to end."""

MANY_LAYERS = 200
"""The number of layers that a rough bound assumes for a run that keeps them all."""

MOST_TIGHTER = 0.85
"""The approximate ratio of the bytes of `zstd:1` to those of `bitmap` at the peak of a search."""

LAYERS_AT_ONCE = 3
"""The most layers on the disk while tasks make the newest one."""


@dataclass(frozen=True)
class Forecast:
    """The resources that a run takes from layer `depth` to its last layer, and the space available.

    workers: how many work at once. records: the records of the committed layers. free, free_files:
    the bytes and the files that the run may use; None if unknown, as in an object store.
    """

    plan: Plan
    sizes: Sizes
    rates: Rates
    workers: int = 1
    depth: int = 0
    records: Sequence[LayerRecord] = ()
    free: float | None = None
    free_files: int | None = None

    @property
    def depths(self) -> range:
        """The depths of the layers still to compute."""
        until, last = self.plan.config.search.until, self.sizes.depth
        return range(self.depth + 1, 1 + (last if until is None else min(last, until)))

    @cached_property
    def seconds(self) -> tuple[float, float]:
        """The least and the most seconds that the run takes."""
        known, states = self.sizes.states[: self.sizes.known], sum(self.sizes.states)
        until = self.plan.config.search.until
        left = time_left(known, states, self._cost, until, self.depth + 1, WIDER, self.sizes.last)
        assert left  # the rates give the cost of any layer
        return left.least, left.most + START_SECONDS

    def _cost(self, sizes: Sequence[int], depth: int) -> float:
        """Return the likely time to make a layer, in seconds."""
        rates, mode = self.rates, self.plan.policy.mode(*sizes[max(0, depth - 2) : depth])
        if mode == "lists":
            return sizes[depth] * rates.listed
        words = self.plan.layout.layer_bytes(self.plan.space.side_of(depth)) / WORD_BYTES
        if mode == "memory":
            return words * rates.kernel / self.plan.threads
        tasks = self._tasks(depth)
        return words * rates.task * ceil(tasks / self.workers) / tasks

    @cached_property
    def disk(self) -> float:
        """The bytes on the disk at the peak. If layers are made in memory and only some are kept,
        this is an upper bound, because the peak depends on when they are stored."""
        stored = [self._stored(depth) for depth in range(self.depths.stop)]
        kept = self.plan.policy.layers_kept
        if kept is None:
            return sum(stored)

        def held(depth: int) -> float:
            """Return the most bytes of all layers on the disk before this layer is committed."""
            tasks, mode = self._tasks(depth), self.mode(depth)
            replaces = self.plan.policy.deletes_replaced and self.mode(depth - 2) != "lists"
            if mode == "tasks" and replaces:
                # Tasks delete the parts of the layer before the current one, one by one.
                under_way = min(1.0, TASKS_UNDER_WAY * self.workers / tasks) * stored[depth]
                return stored[depth - 1] + max(stored[depth - 2], stored[depth]) + under_way
            # One call stores two layers; the layers already on the disk stay until the commit.
            new = 1 if mode == "tasks" else LEAST_KEPT
            return sum(stored[max(0, depth + 1 - new - kept) : depth + 1])

        return max(map(held, self.depths), default=0)

    def mode(self, depth: int) -> Mode:
        """Return how a layer is made; the first layer is written as a list."""
        if depth < 1:
            return "lists"
        return self.plan.policy.mode(*self.sizes.states[max(0, depth - 2) : depth])

    def _tasks(self, depth: int) -> int:
        return self.plan.layout.task_count(self.plan.space.side_of(depth))

    def _stored(self, depth: int) -> float:
        """Return the bytes of a layer on the disk."""
        layout, states, tasks = self.plan.layout, self.sizes.states[depth], self._tasks(depth)
        if self.mode(depth) == "lists":
            return states * WORD_BYTES
        density = states / (tasks * layout.part_bytes // WORD_BYTES * self.plan.space.code.bits)
        part = layout.part_bytes * self.rates.stored_at(density)
        return tasks * (part + footer_bytes(prod(layout.grid)))

    @property
    def described(self) -> bool:
        """True if the workers are on a cluster, which was not measured."""
        return self.plan.config.cluster.kind not in HERE

    @property
    def too_small(self) -> str | None:
        """A warning if the disk cannot hold the run, otherwise None."""
        wanted, more = 0, ""
        if any(self.mode(depth) == "tasks" for depth in self.depths):
            wanted = _bytes_wanted(self.plan, self.workers)
            more = f", and tasks need another {size(wanted)} free"
        if self.free is None or self.disk + wanted <= self.free:
            return None
        remedy = "choose another store.path"
        if self.disk * MOST_TIGHTER + wanted <= self.free:
            remedy += ', or compress more, several times as slowly: store.codec = "zstd:1"'
        return (
            f"the run takes up to {size(self.disk)} on disk{more}, but {self.plan.config.path} has "
            f"room for {size(self.free)}: {remedy}"
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings about likely trouble, with numbers and a remedy."""
        plan, layout = self.plan, self.plan.layout
        texts = [*plan.puzzle.remarks, self.too_small]
        layers = LAYERS_AT_ONCE + plan.config.search.spare
        files = layers * max(map(layout.task_count, range(plan.space.sides)))
        if not plan.in_memory and self.free_files is not None and files > self.free_files:
            texts.append(
                f"the layers make {counted(files, 'file')}, but the file system of "
                f"{plan.config.path} has room for {self.free_files:,}: raise cluster.memory, so "
                "that parts are larger, or choose another file system"
            )
        tasks = layout.task_count(0)
        if not plan.in_memory and tasks < self.workers and layout.prefix_digits:
            texts.append(
                f"a layer has only {counted(tasks, 'task')} for {counted(self.workers, 'worker')}; "
                "lower cluster.workers"
            )
        return list(filter(None, texts))


def forecast_of(plan: Plan, fresh: bool = False) -> Forecast:
    """Measure the search and the machine for a few seconds, and extrapolate.

    A complete run is forecast from its beginning. fresh: True if an existing run is deleted first.
    """
    storage, cluster, records, bytes_there = plan.config.storage, plan.config.cluster, [], 0
    if LayerRun.exists(storage):
        records = [] if fresh else LayerRun.open(storage).records
        bytes_there = storage.size()
    known_sizes, trial = [record.states for record in records], trial_of(plan.puzzle)
    first_sizes = max(known_sizes, trial.sizes, key=len)
    sizes = estimate_sizes(first_sizes, plan.puzzle.states, last=known_depth(plan.config))
    rates = try_machine(plan.layout, plan.config.store.codec, trial.state_seconds)
    workers = cluster.workers
    if cluster.kind in HERE:
        workers = min(cluster.workers_here, machine.cores())
    done = 0 if sizes.complete and len(known_sizes) == sizes.known else max(0, len(known_sizes) - 1)
    forecast = Forecast(plan, sizes, rates, workers, done, records)
    if isinf(free := storage.free()):
        return forecast
    return replace(forecast, free=free + bytes_there, free_files=storage.free_files())


def _bytes_wanted(plan: Plan, workers: int) -> int:
    """Return the bytes that must be free on the disk while tasks make a layer."""
    at_once = 1 if plan.config.cluster.kind == "serial" else WINDOW * workers
    tasks = max(map(plan.layout.task_count, range(plan.space.sides)))
    return bytes_wanted(plan.layout, min(at_once, tasks))


def disk_warning(plan: Plan, until: int | None = None, fresh: bool = False) -> str | None:
    """Return a warning if a run may fill its disk. The check takes no time if a simple bound is
    enough.

    until: the last depth, instead of the config's. fresh: True if an existing run is deleted first.
    """
    search, storage = plan.config.search, plan.config.storage
    if plan.in_memory or not plan.puzzle.model.counted:
        return None
    layers = MANY_LAYERS if search.keep == "all" else LAYERS_AT_ONCE + search.spare
    most = layers * max(map(plan.layout.layer_bytes, range(plan.space.sides)))
    most += _bytes_wanted(plan, plan.config.cluster.workers)
    if most <= storage.free():
        return None
    if not fresh and LayerRun.exists(storage) and LayerRun.open(storage).complete:
        return None
    if until is not None:
        plan = replace(plan, config=with_search(plan.config, until=until))
    return forecast_of(plan, fresh).too_small


def described_cluster(config: Config, workers: int) -> Config:
    """Return the config with a cluster of `workers` workers, which need not exist."""
    update = {"kind": "address", "address": "described", "workers": workers}
    if "memory" not in config.cluster.model_fields_set:
        update["memory"] = default_memory("address", workers)
    cluster = config.cluster.model_copy(update=update)
    return config.model_copy(update={"cluster": cluster})
