"""Tasks of a layer that are done before the layer before it is committed."""

import dataclasses

import pytest
from search.runs import KNOWN, as_bits, config_of
from sweeps import swept

from frontier import api
from frontier.clusters.executors import Executor
from frontier.errors import Stopped
from frontier.search import by_tasks, driver
from frontier.search.events import LayerFinished, LayerStarted, TaskFinished
from frontier.search.repair import plan_repair, repair
from frontier.search.verify import verify
from frontier.store.directory import names_in
from frontier.store.run import RunStore


class Eager(Executor):
    """Does the calls that there are but for the one that it was given first, as a worker may that
    is slow; so tasks of the next layer can be done early."""

    workers, at_once = 2, 4

    def __init__(self, stop_at: int | None = None):
        self.early, self._stop_at, self.cancelled = [], stop_at, 0

    def run(self, calls, stop):
        calls, waiting, over = iter(calls), [], False
        while waiting or not over:
            for call in calls:
                if call is None:
                    break
                waiting.append(call)
            else:
                over = True
            if not waiting:
                continue
            ranks = [call.rank for call in waiting]
            if max(ranks) > min(ranks):
                self.early.append(max(ranks))
                if len(self.early) == self._stop_at:
                    raise KeyboardInterrupt
            call = waiting.pop(0 if len(waiting) == 1 else -1)
            try:
                yield call.function(*call.arguments)
            except GeneratorExit:
                self.cancelled = len(waiting)
                raise


def eagerly(monkeypatch, **settings) -> Eager:
    executor = Eager(**settings)

    class Entered:
        def __enter__(self):
            return executor

        def __exit__(self, *error):
            pass

    monkeypatch.setattr(driver, "executor_of", lambda *_: Entered())
    return executor


def plan_of(tmp_path, board, **search):
    plan = api.plan(config_of(tmp_path, *board, search=search))
    return as_bits(plan, task_nodes=1)


@swept("search", [{}, {"spare": 1}, {"keep": "all"}], few=1)
@swept("board", [(2, 4), (3, 3), (2, 5)], few=1)
def test_layers_are_right(tmp_path, monkeypatch, board, search):
    executor, events = eagerly(monkeypatch), []
    run = api.run(plan_of(tmp_path, board, **search), listeners=[events.append])
    depth, states = KNOWN[board]
    assert len(executor.early) > depth
    assert (len(run.counts) - 1, sum(run.counts)) == (depth, states)
    assert verify(run.store).faults == []
    # Who listens hears of one layer after the other.
    told = [e.depth for e in events if isinstance(e, LayerStarted | TaskFinished | LayerFinished)]
    assert told == sorted(told)
    by_tasks = [e for e in events if isinstance(e, LayerFinished) and e.layer.parts > 1]
    done = [e for e in events if isinstance(e, TaskFinished) and e.done == e.tasks]
    assert [e.depth for e in by_tasks] == [e.depth for e in done][: len(by_tasks)]


@swept("stop_at", [1, 2, 7, 30], few=1)
def test_what_was_done_early_is_used_by_a_resumed_run(tmp_path, monkeypatch, stop_at):
    eagerly(monkeypatch, stop_at=stop_at + 1)
    plan = plan_of(tmp_path, (2, 4))
    with pytest.raises(KeyboardInterrupt):
        api.run(plan)
    run = RunStore.open(plan.config.path)
    after = run.files(len(run.records) + 1, plan.layout)
    there = [number for number in after.tasks if after.there(number)]
    if stop_at == 1:
        assert there
    run.sweep()
    assert [number for number in after.tasks if after.there(number)] == there
    assert verify(run).faults == []
    for number in there[:1]:
        after.path(number).write_bytes(b"damaged")
        assert [(f.depth, f.task) for f in verify(run).faults] == [(after.depth, number)]
        repair(run, plan_repair(run, verify(run)))
        assert not after.there(number)
    eagerly(monkeypatch)
    assert sum(api.run(plan).counts) == plan.puzzle.states


@pytest.mark.parametrize("form", ["list", "memory"])
@pytest.mark.parametrize("left", ["parts", "folders"])
def test_what_was_done_early_of_layers_that_are_made_otherwise(tmp_path, monkeypatch, form, left):
    """No part of it, and no folder without parts, is left behind."""
    eagerly(monkeypatch, stop_at=2)
    plan = plan_of(tmp_path, (2, 4), **({"keep": "all"} if form == "list" else {}))
    with pytest.raises(KeyboardInterrupt):
        api.run(plan)
    monkeypatch.undo()
    run = RunStore.open(plan.config.path)
    under_way, after = (run.files(len(run.records) + n, plan.layout) for n in (0, 1))
    for files in (under_way, after)[: 1 if left == "parts" else 2]:
        for number in filter(files.there, files.tasks):
            files.path(number).unlink()
    otherwise = {"list_states": 10**6} if form == "list" else {"threads": 2}
    done = api.run(dataclasses.replace(plan, **otherwise))
    assert sum(done.counts) == plan.puzzle.states
    assert verify(done.store).faults == []
    folders = {int(name) for name in names_in(run.layers_path) - {"zarr.json"}}
    assert folders == set(done.store.stored_depths())


def test_none_is_done_early_beyond_the_depth_that_is_asked_for(tmp_path, monkeypatch):
    executor = eagerly(monkeypatch)
    plan = plan_of(tmp_path, (2, 4))
    run = api.run(plan, until=12).store
    assert max(executor.early) == 12
    assert not run.parts_under_way(plan.layout)


def test_none_is_done_early_where_the_disk_lacks_room(tmp_path, monkeypatch):
    """There is room for the parts under way, and not for as many more and more."""
    executor, part = eagerly(monkeypatch), 100_000
    free = by_tasks.SPARE_BYTES + executor.at_once * part
    monkeypatch.setattr(by_tasks, "most_part_bytes", lambda layout: part)
    monkeypatch.setattr(by_tasks, "free_bytes", lambda path: free)
    plan = plan_of(tmp_path, (2, 4))
    assert sum(api.run(plan).counts) == plan.puzzle.states
    assert executor.early == []


def test_tasks_under_way_are_cancelled_though_somebody_keeps_the_error(tmp_path, monkeypatch):
    """A notebook keeps an error with all that it has passed through, and the user's cluster is left
    open: its tasks would go on filling the disk."""
    executor, free = eagerly(monkeypatch), iter([10**12] * 2)
    monkeypatch.setattr(by_tasks, "free_bytes", lambda path: next(free, 0))
    with pytest.raises(Stopped, match="only 0 B are free") as kept:
        api.run(plan_of(tmp_path, (2, 4)))
    assert kept.tb
    assert executor.cancelled


def test_a_whole_layer_is_committed_though_the_disk_is_full_by_then(tmp_path, monkeypatch):
    """Also where tasks of the next layer, which will want room, are under way."""
    executor, plan = eagerly(monkeypatch), plan_of(tmp_path, (2, 4))

    def free(path):
        run = RunStore.open(path)
        whole = plan.layout.task_count(plan.space.side_of(len(run.records)))
        return 0 if run.tasks_done() == whole else 10**12

    monkeypatch.setattr(by_tasks, "free_bytes", free)
    assert sum(api.run(plan).counts) == plan.puzzle.states
    assert executor.early
