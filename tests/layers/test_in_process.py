"""Which layers the driver's process makes, and what it holds of them meanwhile."""

import dataclasses
import gc
import signal
import weakref
from contextlib import contextmanager

import pytest

from frontier.api import runs as api
from frontier.errors import Stopped
from frontier.executors.executor import Serial
from frontier.layers import loop as driver
from frontier.layers.events import LayerMade, LayerStarted
from frontier.layers.in_process import AsBitmaps, AsLists, Held
from frontier.layers.search import LayerSearch
from frontier.layers.task import expand_task
from tests.support.sweeps import swept
from tests.support.tile_runs import as_bits, config_of, in_memory, run


@pytest.fixture
def held(monkeypatch):
    """Returns the kinds of all that is held in this process."""
    there, begin = weakref.WeakSet(), Held.__init__

    def noted(self, *arguments):
        there.add(self)
        begin(self, *arguments)

    monkeypatch.setattr(Held, "__init__", noted)

    def kinds():
        gc.collect()
        return {type(layers) for layers in there}

    gc.collect()
    gc.freeze()  # what was there before need not be gone through after each layer
    yield kinds
    gc.unfreeze()


@pytest.fixture
def functions(monkeypatch):
    """What the executor of a run is asked to call."""
    called = set()

    class Noting(Serial):
        def run(self, calls, stop):
            return super().run(map(self.note, calls), stop)

        def note(self, call):
            called.add(call.function)
            return call

    @contextmanager
    def executor_of(*_):
        yield Noting()

    monkeypatch.setattr(LayerSearch, "executor", executor_of)
    return called


def mixed(plan, most=500):
    """Lists at both ends, and bitmaps between them."""
    return dataclasses.replace(plan, list_states=most)


def test_workers_do_nothing_but_tasks(tmp_path, functions):
    plan = api.plan(config_of(tmp_path, 2, 4))
    assert run(in_memory(plan)).complete
    assert functions == set()
    by_tasks = as_bits(api.plan(config_of(tmp_path / "by tasks", 2, 4)))
    assert {record.form for record in run(mixed(by_tasks)).records} == {"list", "bits"}
    assert functions == {expand_task}


def test_lists_are_freed_before_tasks_begin_and_bitmaps_before_lists(tmp_path, held):
    seen = []

    def listen(event):
        if isinstance(event, LayerStarted) and event.tasks:
            seen.append(("tasks", held()))
        elif isinstance(event, LayerMade):
            seen.append((event.layer.form, held()))

    run(mixed(as_bits(api.plan(config_of(tmp_path, 2, 4)))), listeners=[listen])
    run(mixed(in_memory(api.plan(config_of(tmp_path / "in memory", 2, 4)))), listeners=[listen])
    ways = {"list": {AsLists}, "tasks": set(), "bits": {AsBitmaps}}
    assert {way for way, _ in seen} == ways.keys()
    assert all(kinds == ways[way] for way, kinds in seen)
    assert held() == set()


@swept("form", [in_memory, lambda plan: plan], few=1)
def test_nothing_is_held_after_a_run_that_was_stopped(tmp_path, held, form):
    """Even while somebody keeps the error, as a notebook does."""

    def listen(event):
        if isinstance(event, LayerMade) and event.depth == 10:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Stopped) as error:
        run(form(api.plan(config_of(tmp_path, 2, 4))), listeners=[listen])
    assert held() == set()
    assert error.tb


def test_layers_are_read_once(tmp_path, monkeypatch):
    """Layers that were committed are made from again."""
    monkeypatch.setattr(driver, "MEMORY_SECONDS", 0)
    monkeypatch.setattr(driver, "TIMES_STORING", 0)
    loads, load = [], AsBitmaps._load
    monkeypatch.setattr(
        AsBitmaps, "_load", lambda self, *of: loads.append(of[0]) or load(self, *of)
    )
    started = []
    plan = in_memory(api.plan(config_of(tmp_path, 2, 4)))
    events = [lambda event: isinstance(event, LayerStarted) and started.append(event.depth)]
    assert run(plan, listeners=events).complete
    assert len(started) > 20
    assert loads == [-1, 0]
