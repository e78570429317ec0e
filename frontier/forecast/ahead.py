"""All that can be said of a run before it is started: a forecast, and what will not go well."""

import os
import shutil
from dataclasses import dataclass

import psutil

from frontier import machine
from frontier.config import Config, default_memory
from frontier.forecast.forecast import Forecast, disk_of, forecast
from frontier.forecast.rates import Rates, calibrate, stored_shares
from frontier.forecast.sizes import Sizes, Trial, estimate_sizes, trial_of
from frontier.forecast.traffic import Traffic, traffic_of
from frontier.search.plan import Plan
from frontier.store.files import disk_bytes, existing
from frontier.store.run import RunStore
from frontier.text import counted, size

MANY_LAYERS = 200

HERE = ("local", "serial")
"""Clusters whose workers are those that are measured."""

LAYERS_AT_ONCE = 3
"""Layers on the disk while one is made, that one included."""


@dataclass(frozen=True)
class Outlook:
    """What a plan's run will take, and what that rests on.

    committed: layers that are there already. workers: that work at once. disk_rate: bytes a second
    of a cluster's file system, if said. free: bytes that the run may take. files: most files at
    once; free_files: None where the file system sets no limit.
    """

    plan: Plan
    sizes: Sizes
    traffic: list[Traffic]
    rates: Rates
    forecast: Forecast
    committed: int
    workers: int
    disk_rate: float | None
    free: int
    free_files: int | None

    @property
    def described(self) -> bool:
        """Whether the workers are those of a cluster, of which nothing was measured."""
        return self.plan.config.cluster.kind not in HERE

    @property
    def files(self) -> int:
        layout, classes = self.plan.layout, range(self.plan.space.classes)
        layers = LAYERS_AT_ONCE + self.plan.config.search.spare
        return layers * max(map(layout.task_count, classes))

    @property
    def warnings(self) -> list[str]:
        """What will not go well, with numbers and a remedy."""
        plan, layout, said = self.plan, self.plan.layout, []
        if remark := plan.puzzle.remark:
            said.append(remark)
        if self.forecast.disk > self.free:
            said.append(_too_small(plan, self.forecast.disk, self.free))
        if plan.alone:
            return said
        if self.free_files is not None and self.files > self.free_files:
            said.append(
                f"the layers make {counted(self.files, 'file')}, but the file system of "
                f"{plan.config.path} has room for {self.free_files:,}: give workers more memory "
                "(cluster.memory), so that chunks are larger, or choose another file system"
            )
        tasks = layout.task_count(0)
        if tasks < self.workers and layout.prefix_digits:
            said.append(
                f"a layer has {counted(tasks, 'task')} for {counted(self.workers, 'worker')}: the "
                "others are idle; set cluster.workers to fewer"
            )
        return said


def described_cluster(config: Config, workers: int) -> Config:
    """The config for a cluster of so many workers that is not there to be looked at."""
    update = {"kind": "address", "address": "described", "workers": workers}
    if "memory" not in config.cluster.model_fields_set:
        update["memory"] = default_memory("address", workers)
    cluster = config.cluster.model_copy(update=update)
    return config.model_copy(update={"cluster": cluster})


def disk_warning(plan: Plan) -> str | None:
    """What to say before a run that may fill its disk; it costs no time if that cannot be."""
    search, path = plan.config.search, plan.config.path
    layers = MANY_LAYERS if search.keep == "all" else LAYERS_AT_ONCE + search.spare
    most = layers * max(map(plan.layout.layer_bytes, range(plan.space.classes)))
    free = shutil.disk_usage(existing(path)).free
    if plan.alone or most <= free:
        return None
    known, there = _layers_there(plan)
    free += there
    if sum(known) == plan.puzzle.states or most <= free:
        return None
    sizes, _ = _sizes_of(plan, known)
    disk = disk_of(plan, sizes.states, stored_shares(plan.config.store.codec))
    return _too_small(plan, disk, free) if disk > free else None


def _too_small(plan: Plan, disk: float, free: int) -> str:
    return (
        f"the disk at its peak takes {size(disk)}, but {plan.config.path} has room for "
        f"{size(free)}: choose another place with --set store.path=…, or compress more, "
        '--set store.codec="zstd:1"'
    )


def _layers_there(plan: Plan) -> tuple[list[int], int]:
    """The sizes of the layers that the run has committed, and the bytes of its directory."""
    path = plan.config.path
    if not RunStore.exists(path):
        return [], 0
    return [record.states for record in RunStore.open(path).records], disk_bytes(path)


def _sizes_of(plan: Plan, known: list[int]) -> tuple[Sizes, Trial]:
    """The sizes of the layers, those of the run where it knows more than a trial."""
    trial = trial_of(plan.puzzle)
    return estimate_sizes(max(known, trial.sizes, key=len), plan.puzzle.states), trial


def look_ahead(plan: Plan, disk_rate: float | None = None) -> Outlook:
    """Try the search, the machine and the disk for some seconds, and work out the rest.

    Of a run that is complete: what such a run takes.
    """
    known, there = _layers_there(plan)
    sizes, trial = _sizes_of(plan, known)
    traffic = [traffic_of(plan.layout, klass) for klass in range(plan.space.classes)]
    rates = calibrate(plan, trial)
    cluster = plan.config.cluster
    workers, cache = cluster.workers, 0.0
    if cluster.kind in HERE:
        workers = 1 if cluster.kind == "serial" else min(workers, machine.cores())
        cache = psutil.virtual_memory().available - workers * plan.task_bytes
    done = 0 if sizes.complete and len(known) == sizes.known else max(0, len(known) - 1)
    place = existing(plan.config.path)
    files = os.statvfs(place)
    return Outlook(
        plan=plan,
        sizes=sizes,
        traffic=traffic,
        rates=rates,
        forecast=forecast(plan, sizes.states, traffic, rates, workers, cache, done, disk_rate),
        committed=len(known),
        workers=workers,
        disk_rate=disk_rate,
        free=shutil.disk_usage(place).free + there,
        free_files=files.f_favail if files.f_files else None,
    )
