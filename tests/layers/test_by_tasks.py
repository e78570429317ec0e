"""A layer made by tasks: the disk that it needs, and how it ends where it is stopped."""

import pytest

from frontier.api import runs as api
from frontier.errors import CorruptRunError, Stopped
from frontier.executors.executor import Executor
from frontier.layers.run import LayerRun
from frontier.layers.search import LayerSearch
from frontier.storage.local import LocalStorage
from tests.support.tile_runs import as_bits, config_of


class Cancelling(Executor):
    """Notes whether it was closed while calls were left."""

    workers = 4

    def __init__(self):
        self.cancelled = False

    def run(self, calls, stop):
        for call in calls:
            try:
                yield call.function(*call.arguments)
            except GeneratorExit:
                self.cancelled = True
                raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def plan_of(tmp_path):
    return as_bits(api.plan(config_of(tmp_path, 2, 4)), task_nodes=1)


def test_tasks_under_way_are_cancelled_though_somebody_keeps_the_error(tmp_path, monkeypatch):
    """A notebook keeps an error with all that it has passed through, and the user's cluster is left
    open: its tasks would go on filling the disk."""
    executor, free = Cancelling(), iter([10**12] * 2)
    monkeypatch.setattr(LayerSearch, "executor", lambda *_: executor)
    monkeypatch.setattr(LocalStorage, "free", lambda storage: next(free, 0))
    with pytest.raises(Stopped, match="only 0 B is free") as kept:
        api.run(plan_of(tmp_path))
    assert kept.tb
    assert executor.cancelled


@pytest.mark.sweep
def test_a_whole_layer_is_committed_though_the_disk_is_full_by_then(tmp_path, monkeypatch):
    plan = plan_of(tmp_path)

    def free(storage):
        run = LayerRun.open(storage)
        whole = plan.layout.task_count(plan.space.side_of(len(run.records)))
        return 0 if len(run.part_names(len(run.records))) == whole else 10**12

    monkeypatch.setattr(LocalStorage, "free", free)
    assert sum(api.run(plan).counts) == plan.puzzle.states


@pytest.mark.sweep
@pytest.mark.parametrize("codec", ["bitmap", "zstd:1", "raw"])
@pytest.mark.parametrize("back", [0, 1])
def test_a_damaged_slab_stops_the_run_whatever_its_codec(tmp_path, codec, back):
    """Of the current layer, or of the one before it."""
    config = config_of(tmp_path, 2, 4)
    store = config.store.model_copy(update={"codec": codec})
    plan = as_bits(api.plan(config.model_copy(update={"store": store})), task_nodes=1)
    run = api.run(plan, until=20)
    name = LayerRun.open(run.path).files(20 - back, plan.layout).path(0)
    data = bytearray(name.read_bytes())
    data[3] ^= 1
    name.write_bytes(data)
    with pytest.raises(CorruptRunError, match=r"slab .* is damaged: its bytes do not match"):
        api.run(plan)
