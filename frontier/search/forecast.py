"""What a run will take, by arithmetic alone: the loop of the driver, gone through without layers.

Given are the plan, the sizes of the layers (`shape`), what a task moves (`traffic`) and how fast
a machine is (`Rates`, measured by `calibrate`). Every layer is taken to have all of its chunks,
filled evenly, and tasks to take equally long.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, prod

import numpy as np

from frontier.search.driver import LIST_SECONDS, MEMORY_SECONDS
from frontier.search.executors import TASKS_UNDER_WAY
from frontier.search.plan import Plan
from frontier.search.shape import Shape
from frontier.search.traffic import Traffic
from frontier.space.layout import WORD_BYTES
from frontier.store.parts import footer_bytes


@dataclass(frozen=True)
class Codec:
    """A codec on layers of bits: for increasing densities (ones a bit) the stored bytes of a raw
    byte; a and b where it takes a + b * stored seconds to encode and to decode a raw byte."""

    density: list[float]
    stored: list[float]
    encode: list[float]
    decode: list[float]

    def share(self, density: float) -> float:
        """Stored bytes of a raw byte."""
        return float(np.interp(density, self.density, self.stored))

    def seconds(self, line: list[float], density: float) -> float:
        """Of a raw byte; line: `encode` or `decode`."""
        return max(0.0, line[0] + line[1] * self.share(density))


@dataclass(frozen=True)
class Disk:
    """Of one worker, while all are at it: seconds of opening a file, bytes read and written a
    second. durable: read where files do not stay in the page cache, written where they are forced
    to the disk."""

    call: float
    read: float
    write: float
    durable_read: float
    durable_write: float


NO_DISK = Disk(0.0, *[inf] * 4)
"""Where time does not matter."""


@dataclass(frozen=True)
class Rates:
    """How fast a worker is.

    Seconds: of the kernel for a `word` of a bitmap, of a state of a list (`listed`), of the
    scheduler's processor for a `task`, of the driver for a `layer`, of the `start` of the command.
    list_bytes: stored, of a state of a list.
    """

    word: float
    listed: float
    list_bytes: float
    codec: Codec
    disk: Disk
    task: float
    layer: float
    start: float


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
        return self.start + sum(step.seconds for step in self.steps)

    def seconds_of(self, form: str) -> float:
        """Of the steps of one form."""
        return sum(step.seconds for step in self.steps if step.form == form)

    @property
    def read(self) -> float:
        return sum(step.read for step in self.steps)

    @property
    def written(self) -> float:
        return sum(step.written for step in self.steps)

    @property
    def disk(self) -> float:
        return max((step.disk for step in self.steps), default=0)


def forecast(
    plan: Plan,
    shape: Shape,
    traffic: list[Traffic],
    rates: Rates,
    workers: int,
    cache: float,
    depth: int = 0,
    disk_rate: float | None = None,
) -> Forecast:
    """The forecast of a run whose layers up to `depth` are there.

    traffic: of each class. workers: that work at once. cache: bytes that the system can keep in
    its page cache. disk_rate: bytes a second that all workers together can move, None for as
    many as each can.
    """
    made = _Forecaster(plan, shape, traffic, rates, workers, True, disk_rate)
    steps = list(made.steps(depth))
    cached = max((step.disk for step in steps), default=0) <= cache
    if not cached:
        made.cached = False
        steps = list(made.steps(depth))
    return Forecast(steps, rates.start, cached)


def disk_of(plan: Plan, shape: Shape, codec: Codec) -> float:
    """Bytes on the disk at the peak of a whole run, which do not depend on how fast it is."""
    rates = Rates(
        word=0, listed=0, list_bytes=WORD_BYTES, codec=codec, disk=NO_DISK, task=0, layer=0,
        start=0,
    )  # fmt: skip
    traffic = [Traffic(0, 0, 0, 0)] * plan.space.classes
    made = _Forecaster(plan, shape, traffic, rates, 1, True, None)
    return max((step.disk for step in made.steps(0)), default=0)


def stored_bytes(plan: Plan, rates: Rates, depth: int, states: int) -> float:
    """Bytes of a layer of bits on disk."""
    layout, parts = plan.layout, plan.layout.task_count(plan.space.class_of(depth))
    share = rates.codec.share(density(plan, depth, states))
    return parts * (layout.part_bytes * share + footer_bytes(prod(layout.grid)))


def density(plan: Plan, depth: int, states: int) -> float:
    """Ones a bit of a layer's parts."""
    words = (
        plan.layout.task_count(plan.space.class_of(depth)) * plan.layout.part_bytes // WORD_BYTES
    )
    return states / (words * plan.space.code.bits)


@dataclass
class _Forecaster:
    plan: Plan
    shape: Shape
    traffic: list[Traffic]
    rates: Rates
    workers: int
    cached: bool
    disk_rate: float | None

    def steps(self, depth: int) -> Iterator[Step]:
        """What the driver does after `depth`, and what it keeps on the disk meanwhile."""
        plan, until = self.plan, self.plan.config.search.until
        last = self.shape.depth if until is None else min(until, self.shape.depth)
        keep_all = plan.config.search.keep == "all"
        most = 2 + plan.config.search.spare
        held = [
            self._listed(d) if self.shape.sizes[d] <= plan.list_states else self._stored(d)
            for d in range(0 if keep_all else max(0, depth + 1 - most), depth + 1)
        ]
        storing = 0.0
        while depth < last:
            if max(self.shape.sizes[max(0, depth - 1) : depth + 1]) <= plan.list_states:
                end, seconds = self._advance(depth, last, self._list_seconds, LIST_SECONDS, True)
                form = "lists"
            elif plan.threads:
                patience = max(MEMORY_SECONDS, 10 * storing)
                end, seconds = self._advance(depth, last, self._memory_seconds, patience, False)
                form = "memory"
            else:
                end, seconds, form = depth + 1, self._task_seconds(depth + 1), "tasks"
            kept = range(depth + 1 if keep_all else max(depth + 1, end - 1), end + 1)
            new = [self._listed(d) if form == "lists" else self._stored(d) for d in kept]
            if form == "memory":
                storing = sum(map(self._storing_seconds, kept))
                seconds += storing
            seconds += self.rates.layer
            there = sum(held) + sum(new)
            gives_up = depth > 0 and self._forms(depth - 1) == "bits"
            if form == "tasks" and not keep_all and most == 2 and gives_up:
                # Parts of the layer before the current one are given up, one by one.
                under_way = min(1.0, TASKS_UNDER_WAY * self.workers / self._tasks(end))
                there = held[-1] + max(held[-2], sum(new)) + under_way * sum(new)
            read = self._read(end) if form == "tasks" else 0.0
            yield Step(depth + 1, end, form, seconds, read, sum(new), there)
            held = held + new if keep_all else (held + new)[-most:]
            depth = end

    def _advance(self, depth, last, seconds_of, patience, lists) -> tuple[int, float]:
        """(last layer, seconds) of one call that advances many layers."""
        spent, sizes = 0.0, self.shape.sizes
        while depth < last and spent <= patience:
            depth += 1
            spent += seconds_of(depth)
            thin = sizes[depth] <= self.plan.list_states
            if not thin if lists else thin and sizes[depth - 1] <= self.plan.list_states:
                break
        return depth, spent

    def _list_seconds(self, depth: int) -> float:
        return self.shape.sizes[depth] * self.rates.listed

    def _memory_seconds(self, depth: int) -> float:
        words = self.plan.layout.layer_bytes(self.plan.space.class_of(depth)) / WORD_BYTES
        return words * self.rates.word / self.plan.threads

    def _storing_seconds(self, depth: int) -> float:
        raw = self.plan.layout.layer_bytes(self.plan.space.class_of(depth))
        seconds = raw * self._codec(depth, "encode") + self._stored(depth) / self._rate("write")
        return seconds / self.plan.threads

    def _forms(self, depth: int) -> str:
        """How a layer is stored: "lists" or "bits"."""
        return "lists" if self.shape.sizes[max(0, depth)] <= self.plan.list_states else "bits"

    def _tasks(self, depth: int) -> int:
        return self.plan.layout.task_count(self.plan.space.class_of(depth))

    def _task_seconds(self, depth: int) -> float:
        """A layer by tasks, from its first to its commit."""
        rates, part, tasks = self.rates, self.plan.layout.part_bytes, self._tasks(depth)
        moved = self.traffic[self.plan.space.class_of(depth)]
        seconds = part / WORD_BYTES * rates.word
        seconds += part * self._codec(depth, "encode")
        seconds += moved.decoded * part * self._codec(depth - 1, "decode")
        seconds += part * self._codec(depth - 2, "decode")
        seconds += moved.files * rates.disk.call
        read, written = self._read(depth), self._stored(depth)
        # A worker moves files while it computes; what takes longer counts.
        moving = (read / self._rate("read") + written / self._rate("write")) / tasks
        seconds = max(seconds, moving)
        layer = max(ceil(tasks / self.workers) * seconds, tasks * rates.task)
        if self.disk_rate:
            layer = max(layer, (read + written) / self.disk_rate)
        return layer

    def _read(self, depth: int) -> float:
        """Stored bytes that the tasks of a layer read."""
        moved = self.traffic[self.plan.space.class_of(depth)]
        before = self._stored(depth - 2) if depth >= 2 else 0.0
        return moved.current * self._stored(depth - 1) + before

    def _codec(self, depth: int, what: str) -> float:
        states = self.shape.sizes[depth] if depth >= 0 else 0
        codec = self.rates.codec
        return codec.seconds(getattr(codec, what), density(self.plan, depth, states))

    def _stored(self, depth: int) -> float:
        return stored_bytes(self.plan, self.rates, depth, self.shape.sizes[depth])

    def _listed(self, depth: int) -> float:
        return self.shape.sizes[depth] * self.rates.list_bytes

    def _rate(self, what: str) -> float:
        forced = what == "write" and self.plan.config.store.fsync == "layer"
        durable = forced or not self.cached
        return getattr(self.rates.disk, f"durable_{what}" if durable else what)
