"""The forecast of a plan as this machine makes it, and warnings of what will not go well."""

import os
import shutil
from dataclasses import dataclass, replace

import psutil

from frontier import machine
from frontier.config import Config, default_memory
from frontier.forecast.forecast import Forecast, parts_read
from frontier.forecast.rates import calibrate, stored_shares
from frontier.forecast.sizes import Sizes, estimate_sizes, trial_of
from frontier.search.plan import Plan
from frontier.store.files import disk_bytes, existing
from frontier.store.ledger import LayerRecord
from frontier.store.objects import ObjectPath, Place
from frontier.store.run import RunStore
from frontier.text import counted, size

MANY_LAYERS = 200
"""The number of layers that a run which keeps them all is taken to have, where a bound on its bytes
is enough."""

HERE = ("local", "serial")
"""The workers of these clusters are those that are measured."""

LAYERS_AT_ONCE = 3
"""The number of layers on the disk while the newest of them is made, at most."""


@dataclass(frozen=True)
class PlanForecast:
    """The forecast of a plan's run, and the room that there is for it.

    records: of the layers that are committed already. free: the bytes that the run may take.
    free_files: the number of files, None where the file system sets no limit.
    """

    forecast: Forecast
    sizes: Sizes
    records: list[LayerRecord]
    free: int | None
    free_files: int | None

    @property
    def plan(self) -> Plan:
        return self.forecast.plan

    @property
    def described(self) -> bool:
        """Whether the workers are those of a cluster, of which nothing was measured."""
        return self.plan.config.cluster.kind not in HERE

    @property
    def warnings(self) -> list[str]:
        """What will not go well, with numbers and a remedy."""
        plan, layout, workers = self.plan, self.plan.layout, self.forecast.workers
        found = [remark] if (remark := plan.puzzle.remark) else []
        if self.free is not None and self.forecast.disk > self.free:
            found.append(_too_small(plan, self.forecast.disk, self.free))
        if plan.in_memory:
            return found
        layers = LAYERS_AT_ONCE + plan.config.search.spare
        files = layers * max(map(layout.task_count, range(plan.space.sides)))
        if self.free_files is not None and files > self.free_files:
            found.append(
                f"the layers make {counted(files, 'file')}, but the file system of "
                f"{plan.config.path} has room for {self.free_files:,}: give workers more memory "
                "(cluster.memory), so that parts are larger, or choose another file system"
            )
        tasks = layout.task_count(0)
        if tasks < workers and layout.prefix_digits:
            found.append(
                f"a layer has {counted(tasks, 'task')} for {counted(workers, 'worker')}: the "
                "others are idle; set cluster.workers to fewer"
            )
        return found


def described_cluster(config: Config, workers: int) -> Config:
    """The config for a cluster of `workers` workers that is not there to be looked at."""
    update = {"kind": "address", "address": "described", "workers": workers}
    if "memory" not in config.cluster.model_fields_set:
        update["memory"] = default_memory("address", workers)
    cluster = config.cluster.model_copy(update=update)
    return config.model_copy(update={"cluster": cluster})


def disk_warning(plan: Plan) -> str | None:
    """What to say before a run that may fill its disk; it costs no time if that cannot be."""
    search, path = plan.config.search, plan.config.path
    layers = MANY_LAYERS if search.keep == "all" else LAYERS_AT_ONCE + search.spare
    most = layers * max(map(plan.layout.layer_bytes, range(plan.space.sides)))
    if plan.in_memory or isinstance(path, ObjectPath):
        return None
    free = shutil.disk_usage(existing(path)).free
    if most <= free:
        return None
    records, there = _layers_there(plan)
    known = [record.states for record in records]
    free += there
    if sum(known) == plan.puzzle.states or most <= free:
        return None
    trial = trial_of(plan.puzzle)
    sizes = estimate_sizes(max(known, trial.sizes, key=len), plan.puzzle.states)
    nothing, shares = [0.0] * plan.space.sides, stored_shares(plan.config.store.codec)
    disk = Forecast(plan, sizes.states, nothing, shares).disk
    return _too_small(plan, disk, free) if disk > free else None


def _too_small(plan: Plan, disk: float, free: int) -> str:
    return (
        f"the disk at its peak takes {size(disk)}, but {plan.config.path} has room for "
        f"{size(free)}: choose another place with --set store.path=…, or compress more, "
        '--set store.codec="zstd:1"'
    )


def _layers_there(plan: Plan) -> tuple[list[LayerRecord], int]:
    """The layers that the run has committed, and the bytes of its directory."""
    path = plan.config.path
    if not RunStore.exists(path):
        return [], 0
    return RunStore.open(path).records, disk_bytes(path)


def forecast_of(plan: Plan, disk_rate: float | None = None) -> PlanForecast:
    """Try the search, the machine and the disk for some seconds, and work out the rest.

    For a run that is complete this is what such a run takes from its beginning.
    """
    records, there = _layers_there(plan)
    known = [record.states for record in records]
    trial = trial_of(plan.puzzle)
    sizes = estimate_sizes(max(known, trial.sizes, key=len), plan.puzzle.states)
    reads = [parts_read(plan.layout, side) for side in range(plan.space.sides)]
    rates, cluster = calibrate(plan, trial.state_seconds), plan.config.cluster
    workers, cache = cluster.workers, 0.0
    if cluster.kind in HERE:
        workers = 1 if cluster.kind == "serial" else min(workers, machine.cores())
        cache = psutil.virtual_memory().available - workers * plan.task_bytes
    done = 0 if sizes.complete and len(known) == sizes.known else max(0, len(known) - 1)
    made = Forecast(plan, sizes.states, reads, rates, workers, done, disk_rate)
    made = replace(made, cached=made.disk <= cache)
    return PlanForecast(made, sizes, records, *_room(plan.config.path, there))


def _room(path: Place, there: int) -> tuple[int | None, int | None]:
    """The bytes and the files that a run may have, `there` of which it has; None where the system
    does not say, as in an object store."""
    if isinstance(path, ObjectPath):
        return None, None
    place = existing(path)
    files = os.statvfs(place)
    return shutil.disk_usage(place).free + there, files.f_favail if files.f_files else None
