"""What is part of the time of a layer: loading layers is, loading and compiling kernels is not."""

import dataclasses
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from frontier import stopwatch
from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.errors import Stopped
from frontier.jit.notices import compiling_told_to, tell_compiling
from frontier.layers import by_tasks, in_process, task
from frontier.layers import loop as driver
from frontier.layers.task import Workspace
from frontier.runs.events import Compiling
from tests.support.tile_runs import as_bits, config_of


def config_in(folder):
    return Config(
        name="test", puzzle={"kind": "tiles", "rows": 2, "columns": 3},
        store={"path": str(folder / "run")}, cluster={"kind": "serial"},
    )  # fmt: skip


class PreparingAllTheTime:
    """All seconds of a clock are spent on making kernels ready."""

    def __init__(self, clock):
        self._clock = clock

    @property
    def seconds(self):
        return self._clock[0]


def test_preparing_kernels_is_no_part_of_a_layer_s_time(monkeypatch, tmp_path):
    """A process loads its kernels, and the first one on a machine compiles them."""
    clock, expand = [0.0], in_process.AsLists.expand

    def slowly(lists):
        clock[0] += 1000
        return expand(lists)

    monkeypatch.setattr(in_process.AsLists, "expand", slowly)
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(stopwatch, "preparing", PreparingAllTheTime(clock))
    records = api.run(api.plan(config_in(tmp_path))).store.records
    assert clock[0] >= 1000 * (len(records) - 1)
    assert all(record.seconds == 0 for record in records)


@pytest.mark.parametrize("mode", driver.HELD)
def test_reading_layers_is_part_of_the_time_of_the_first_one(monkeypatch, tmp_path, mode):
    clock, held = [0.0], driver.HELD[mode]
    begin = held.__init__

    def slowly(self, *arguments):
        clock[0] += 1
        begin(self, *arguments)

    for module in (driver, in_process):
        monkeypatch.setattr(module, "working_time", lambda: clock[0])
    monkeypatch.setattr(held, "__init__", slowly)
    plan = api.plan(config_in(tmp_path))
    plan = dataclasses.replace(plan, list_states=plan.list_states if mode == "lists" else 0)
    first, *others = [record.seconds for record in api.run(plan).store.records[1:]]
    assert first == 1
    assert set(others) == {0}


@pytest.fixture
def run_by_tasks(monkeypatch, tmp_path):
    """Makes a run by tasks; as if some of them took a second each, all of it spent by their workers
    on making kernels ready. takes: whether a task does."""
    clock, tables = [0.0], Workspace.tables

    def make(takes):
        def slowly(work, of):
            clock[0] += takes(of)
            return tables(work, of)

        monkeypatch.setattr(Workspace, "tables", slowly)
        monkeypatch.setattr(task, "preparing", PreparingAllTheTime(clock))
        monkeypatch.setattr(by_tasks, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
        return api.run(as_bits(api.plan(config_of(tmp_path, 2, 3)))).store

    return make


def test_the_time_of_a_layer_by_tasks_begins_when_kernels_are_ready(run_by_tasks):
    """What the others wait after the first worker has them is a part of the layer."""
    records = run_by_tasks(lambda of: True).records
    of_tasks = [record for record in records if record.form == "bits"]
    assert max(record.parts for record in of_tasks) > 1
    assert all(record.seconds == record.parts - 1 for record in of_tasks)


def test_a_layer_that_was_begun_waits_for_kernels_too(run_by_tasks, monkeypatch):
    """Parts that were there need none."""
    done = task.done_before

    def parts_are_there(work, depth, number):
        if number == 0 and depth > 2:  # made by an earlier start
            task._expand(work, depth, number)
        return done(work, depth, number)

    monkeypatch.setattr(task, "done_before", parts_are_there)
    records = run_by_tasks(lambda of: of.number > 0).records
    of_tasks = [record for record in records[3:] if record.parts > 1]
    assert of_tasks
    assert all(record.seconds == record.parts - 2 for record in of_tasks)


def test_two_threads_prepare_at_once():
    """The clock runs while either does, and never longer than real time."""
    clock, inside, leave = stopwatch.Preparing(), threading.Event(), threading.Event()

    def prepare():
        with clock:
            inside.set()
            leave.wait()

    other = threading.Thread(target=prepare)
    other.start()
    inside.wait()
    began, before = time.perf_counter(), clock.seconds
    with clock:
        time.sleep(0.001)
    after = clock.seconds
    assert 0.001 <= after - before <= time.perf_counter() - began
    leave.set()
    other.join()
    ended = clock.seconds
    assert after <= ended == clock.seconds


def test_kernels_that_are_compiled_are_timed():
    import numba

    from frontier.jit import kernel, preparing

    kernel(lambda x: x).compiled  # noqa: B018  (the clock is known to Numba from then on)
    before = preparing.seconds
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert preparing.seconds > before


def test_compiling_is_told_before_it_begins():
    import numba

    from frontier.jit import kernel

    kernel(lambda x: x).compiled  # noqa: B018  (as above)
    told, first = [], numba.njit(lambda x: x + 2)
    with compiling_told_to(lambda: told.append(len(first.signatures))):
        assert first(1) == 3
        assert told == [0]
        with compiling_told_to(None):
            assert numba.njit(lambda x: x + 3)(1) == 4
        assert numba.njit(lambda x: x + 4)(1) == 5
    assert numba.njit(lambda x: x + 5)(1) == 6
    assert told == [0, 1]


@pytest.fixture
def compiles(monkeypatch):
    """Lets a run compile kernels as it begins."""
    commit = driver.Driver._commit_origins

    def compile_first(self):
        for _ in range(2):
            tell_compiling()
        commit(self)

    monkeypatch.setattr(driver.Driver, "_commit_origins", compile_first)


def test_a_run_tells_its_listeners_that_kernels_are_compiled(compiles, tmp_path):
    said, kinds = [], []
    with compiling_told_to(lambda: said.append("elsewhere")):
        api.run(api.plan(config_in(tmp_path)), listeners=[lambda event: kinds.append(event)])
        assert [event for event in kinds if isinstance(event, Compiling)] == [Compiling()] * 2
        assert kinds[2] == Compiling()  # behind the events that the run is starting and has begun
        assert said == []
        tell_compiling()
        assert said == ["elsewhere"]


def test_a_run_that_should_stop_compiles_no_more_kernels(monkeypatch, tmp_path):
    """Compiling takes minutes where many processes share a processor."""
    began = []

    def stopped(self):
        self.stopping.set()
        tell_compiling()
        began.append("a kernel")

    with monkeypatch.context() as patch:
        patch.setattr(driver.Driver, "_commit_origins", stopped)
        with pytest.raises(Stopped, match="interrupted"):
            api.run(api.plan(config_in(tmp_path)))
    assert not began
    assert api.run(api.plan(config_in(tmp_path))).complete


@pytest.mark.parametrize("progress", [False, True])
def test_a_display_says_once_that_kernels_are_compiled(compiles, tmp_path, capsys, progress):
    api.run(api.plan(config_in(tmp_path)), progress=progress)
    said = "Compiling kernels (up to half a minute the first time) …"
    assert capsys.readouterr().err.count(said) == progress


def test_kernels_that_are_loaded_are_timed():
    """What the first of two kernels of one function may have to compile, the second one loads."""
    from frontier.codec.zerobytes_kernels import _count
    from frontier.jit import Kernel, preparing

    for _ in range(2):
        before, began, kernel = preparing.seconds, time.perf_counter(), Kernel(_count.function)
        assert kernel(np.array([7], dtype=np.uint8), 8) == 3
        assert 0 < preparing.seconds - before <= time.perf_counter() - began
    assert sum(kernel.compiled.stats.cache_hits.values()) == 1
