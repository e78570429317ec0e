"""Runs that stop or fail in the middle of a layer, and go on."""

import shutil
import signal

import numpy as np
import pytest

from frontier.api import runs as api
from frontier.errors import Stopped
from frontier.kernels.shift_search import ShiftSearch
from frontier.layers import by_tasks
from frontier.layers import loop as driver_module
from frontier.layers.run import LayerRun
from frontier.runs import events as run_events
from tests.layers.test_driver import counts_of
from tests.support.sweeps import swept
from tests.support.tile_runs import (
    FORMS,
    KNOWN,
    as_bits,
    assert_store_the_same,
    config_of,
    counted_tasks,
    in_memory,
    run,
)


@swept("form", FORMS, few=["list"])
def test_until_and_then_on(tmp_path, form):
    plan = api.plan(config_of(tmp_path, 3, 3))
    plan = as_bits(plan) if form == "bits" else plan
    first = run(plan, until=12)
    assert (len(first.records), first.complete) == (13, False)
    assert len(run(plan, until=5).records) == 13
    done = run(plan)
    assert (done.records[-1].depth, done.states) == KNOWN[3, 3]
    assert [r.states for r in done.records[:13]] == [r.states for r in first.records]


@swept("first", ["run", "copy"], few=["copy"])
def test_a_copy_of_a_stopped_run_resumes(tmp_path, first):
    """Neither run changes the files of the other."""
    run(as_bits(api.plan(config_of(tmp_path, 2, 4))), until=30)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    second = "copy" if first == "run" else "run"
    before = {file: file.read_bytes() for file in (tmp_path / second).rglob("*") if file.is_file()}
    done = api.run(tmp_path / first)
    assert (done.depth, done.states) == KNOWN[2, 4]
    api.delete_run(tmp_path / first)
    after = {file: file.read_bytes() for file in (tmp_path / second).rglob("*") if file.is_file()}
    assert after == before


def test_stop_and_resume_use_the_finished_tasks(tmp_path, monkeypatch):
    """Stop in the middle of a layer; only the tasks that were not finished are done again."""
    plan = as_bits(api.plan(config_of(tmp_path, 2, 5)), prefix_digits=1)
    calls = counted_tasks(monkeypatch)
    events = []
    drivers = []
    original = driver_module.Driver.__init__

    def remember(self, *arguments):
        original(self, *arguments)
        drivers.append(self)

    monkeypatch.setattr(driver_module.Driver, "__init__", remember)

    def stop_soon(event):
        events.append(event)
        if type(event).__name__ == "TaskFinished" and event.depth == 20 and event.done == 2:
            drivers[-1].stopping.set()

    with pytest.raises(Stopped, match="2 of 3 tasks"):
        run(plan, listeners=[stop_soon])
    assert isinstance(events[-1], run_events.Stopped)
    done = run(plan)
    assert (done.records[-1].depth, done.states) == KNOWN[2, 5]
    assert len(calls) == len(set(calls))


def test_a_stop_in_memory_waits_for_one_layer(tmp_path, monkeypatch):
    """Ctrl-C ends the search after the layer under way, which is stored."""
    plan, expand = in_memory(api.plan(config_of(tmp_path, 2, 4))), ShiftSearch.expand

    def interrupted(self, depth):
        if depth == 9:
            signal.raise_signal(signal.SIGINT)
        return expand(self, depth)

    monkeypatch.setattr(ShiftSearch, "expand", interrupted)
    with pytest.raises(Stopped, match="interrupted"):
        run(plan)
    assert len(LayerRun.open(plan.config.path).records) == 10
    assert [record.states for record in run(plan).records] == counts_of(2, 4, 0)


@swept("keep", ["frontier", "all"], few=1)
def test_failures_at_random_moments_change_nothing(tmp_path, monkeypatch, keep):
    """Tasks die before, during and after their work; each run goes on where the last one fell."""
    plan = as_bits(api.plan(config_of(tmp_path, 2, 4, search={"keep": keep})), prefix_digits=1)
    rng = np.random.default_rng(5)
    expand = by_tasks.expand_task

    class Died(Exception):
        pass

    def mortal(*arguments):
        if rng.random() < 0.05:
            raise Died
        result = expand(*arguments)
        if rng.random() < 0.05:
            raise Died
        return result

    monkeypatch.setattr(by_tasks, "expand_task", mortal)
    deaths = 0
    while True:
        try:
            done = run(plan)
            break
        except Died:
            deaths += 1
    assert deaths > 3
    monkeypatch.setattr(by_tasks, "expand_task", expand)
    calm = run(
        as_bits(
            api.plan(config_of(tmp_path / "calm", 2, 4, search={"keep": keep})), prefix_digits=1
        )
    )
    assert [r.states for r in done.records] == [r.states for r in calm.records]
    assert_store_the_same(done, calm)
