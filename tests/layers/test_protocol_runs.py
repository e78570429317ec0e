"""The protocol by which a run is written, on real files: driver, workers and repair take turns.

`test_protocol.py` goes through all orders of the steps of a model. Here the steps are those of the
program: hypothesis draws when which process goes on, to its next change of a name in the file
system, is killed, or is left over by a driver that was killed and goes on late.
"""

import dataclasses
import shutil
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from frontier.api import runs as api
from frontier.errors import CorruptRunError
from frontier.layers import loop as driver
from frontier.layers import task
from frontier.layers.events import LayerFinished
from frontier.layers.kind import KIND
from frontier.layers.repair import plan_repair
from frontier.layers.run import LayerRun
from frontier.layers.search import LayerSearch
from frontier.layers.task import open_workspace
from frontier.layers.verify import verify
from frontier.runs.directory import delete_files, make_directory
from frontier.runs.drive import drive as drive_run
from frontier.runs.events import Started
from frontier.runs.kind import mend
from frontier.storage.places import storage_at
from tests.layers.actors import Actor, here, stop_before_changes
from tests.support.reference_search import bfs_layers
from tests.support.sweeps import swept
from tests.support.tile_runs import as_bits, config_of

COUNTS = [len(layer) for layer in bfs_layers(2, 3)]
WAYS = {
    "tasks": {},
    "memory": {"threads": 1},
    "lists": {"list_states": 10**9},
}
ALL = 10**9
STEPS = st.sampled_from([1, 1, 1, 2, 3, 5, 8, ALL])
"""Changes of names that a process may do until another one's turn comes."""

PROCESSES = st.integers(0, 1)


class Workers:
    """An executor whose calls are done by actors, whenever these are told to."""

    in_process = False
    workers = at_once = 2
    dashboard = None

    def __init__(self):
        self.waiting: dict[tuple[int, int], tuple] = {}
        self._results = []

    def run(self, calls, stop):
        calls, over = iter(calls), False
        self._results = []
        while self.waiting or self._results or not over:
            for call in calls:
                if call is None:
                    break
                self.waiting[call.arguments[-2:]] = call.arguments
            else:
                over = True
            while self.waiting and not self._results:
                here().wait()
            while self._results:
                yield self._results.pop()

    def hand_in(self, arguments: tuple, result) -> None:
        if self.waiting.get(arguments[-2:]) is arguments:
            del self.waiting[arguments[-2:]]
            self._results.append(result)


class Runs(RuleBasedStateMachine):
    """A run of 2×3 tiles, three tasks a layer, and the processes that have to do with it."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.place = Path(tempfile.mkdtemp())
        self.plan = as_bits(api.plan(config_of(self.place, 2, 3)), task_nodes=1)
        self.path = self.plan.config.path
        self.driver: Actor | None = None
        self.boss = Workers()
        self.at_work: list[tuple[Actor, tuple]] = []
        self.left: list[Actor] = []
        self.actors: list[Actor] = []
        self.legs, self.announced, self.hurt = 0, None, False
        self.spaces = {}
        self.patch.setattr(task, "workspace_of", self._workspace)
        self.patch.setattr("frontier.runs.drive.writing", lambda *_: nullcontext())
        self.patch.setattr(LayerSearch, "executor", lambda _: self._executor())
        for seconds in ("LIST_SECONDS", "MEMORY_SECONDS", "TIMES_STORING"):
            self.patch.setattr(driver, seconds, 0)
        stop_before_changes(self.patch)

    def _workspace(self, run_ref):
        """Each process has its own, as long as it lives."""
        key = here().process, run_ref
        if key not in self.spaces:
            self.spaces[key] = open_workspace(run_ref)
        return self.spaces[key]

    def _actor(self, target, process):
        self.actors.append(Actor(target, process))
        return self.actors[-1]

    @contextmanager
    def _executor(self):
        yield self.boss

    # --- what happens

    @precondition(lambda self: not self.driver)
    @rule(way=st.sampled_from(list(WAYS)), spare=st.sampled_from([0, 0, 2]),
          fresh=st.sampled_from([False, False, True]), steps=STEPS)  # fmt: skip
    def start(self, way, spare, fresh, steps):
        """A run is begun or resumed; of another one that was there, nothing is said any more."""
        fresh = fresh or self.hurt
        search = self.plan.config.search.model_copy(update={"spare": spare})
        config = self.plan.config.model_copy(update={"search": search})
        plan = dataclasses.replace(self.plan, config=config, **WAYS[way])
        if fresh:
            self.announced, self.hurt = None, True

        def drive():
            if fresh and LayerRun.exists(self.path):
                delete_files(storage_at(self.path), KIND.delete)
            make_directory(storage_at(self.path))
            drive_run(LayerSearch(plan), [self._hear])

        self._lead(drive, steps)

    def _hear(self, event):
        if isinstance(event, Started):
            self.hurt = False
            assert event.depth + 1 >= (self.announced or 0)
        if isinstance(event, Started | LayerFinished):
            self.announced = event.depth + 1

    def _lead(self, target, steps):
        self.boss, self.legs = Workers(), self.legs + 1
        self.driver = self._actor(target, (self.legs, "driver"))
        self._go_on_leading(steps)

    @precondition(lambda self: self.driver)
    @rule(steps=STEPS)
    def go_on_leading(self, steps):
        self._go_on_leading(steps)

    def _go_on_leading(self, steps):
        self.driver.go_on(steps)
        if self.driver.ended:
            if self.driver.error:
                raise self.driver.error
            assert not self.boss.waiting
            self.driver = None

    @precondition(lambda self: self.boss.waiting)
    @rule(task=st.integers(0, 5), process=PROCESSES, steps=STEPS)
    def work(self, task, process, steps):
        """A task is handed out, maybe one that another worker has already."""
        calls = sorted(self.boss.waiting)
        self._hand_out(calls[task % len(calls)], process, steps)

    def _hand_out(self, call, process, steps):
        arguments = self.boss.waiting[call]
        actor = self._actor(lambda: task.expand_task(*arguments), (self.legs, process))
        self.at_work.append((actor, arguments))
        self._go_on_working(len(self.at_work) - 1, steps)

    @precondition(lambda self: self.at_work)
    @rule(which=st.integers(0, 5), steps=STEPS)
    def go_on_working(self, which, steps):
        self._go_on_working(which % len(self.at_work), steps)

    def _go_on_working(self, which, steps):
        actor, arguments = self.at_work[which]
        actor.go_on(steps)
        if actor.ended:
            del self.at_work[which]
            if actor.error and self.boss.waiting.get(arguments[-2:]) is arguments:
                raise actor.error
            self.boss.hand_in(arguments, actor.result)

    @precondition(lambda self: self.driver)
    @rule(layers=st.integers(1, 6))
    def go_on_undisturbed(self, layers):
        self._go_on_undisturbed(layers)

    def _go_on_undisturbed(self, layers):
        """All who belong to the driver do what is to be done for some layers."""
        leading, until = self.driver, (self.announced or 0) + layers
        while self.driver is leading and (self.announced or 0) < until:
            while self.at_work:
                self._go_on_working(0, ALL)
            for call in sorted(self.boss.waiting):
                self._hand_out(call, 0, ALL)
            self._go_on_leading(ALL)

    @precondition(lambda self: self.driver)
    @rule(outlive=st.booleans())
    def kill(self, outlive):
        """The driver is killed, alone or with its workers."""
        if outlive:
            self.left += [actor for actor, _ in self.at_work]
        self.driver, self.boss, self.at_work = None, Workers(), []

    @precondition(lambda self: self.at_work)
    @rule()
    def kill_worker(self):
        self.at_work.pop(0)

    @precondition(lambda self: self.left)
    @rule(which=st.integers(0, 5), steps=STEPS)
    def go_on_late(self, which, steps):
        """A worker goes on whose driver is gone; it may find that its run is gone too."""
        actor = self.left[which % len(self.left)]
        actor.go_on(steps)
        if actor.ended:
            self.left.remove(actor)

    @precondition(lambda self: not self.driver and self.announced and not self.hurt)
    @rule(part=st.integers(0, 100), at=st.floats(0, 1, exclude_max=True), steps=STEPS)
    def damage_and_repair(self, part, at, steps):
        """A byte is changed of a part that is needed; it is found, and mended where that can be."""
        run = LayerRun.open(self.path)
        layout, under_way = self.plan.layout, len(run.records)
        done = run.parts_under_way(layout)
        # What a part of the layer under way was made from may be given up by who is left over.
        again = [] if self.left else sorted(done)
        parts = [run.files(under_way, layout).path(number) for number in again]
        for depth in run.stored_depths():
            if not done or depth != under_way - 2:
                parts += sorted(run.layer_path(depth).glob("c.*[0-9]"))
        file = parts[part % len(parts)]
        data = bytearray(file.read_bytes())
        data[int(at * len(data))] ^= 1
        file.write_bytes(data)
        self.hurt = True
        assert verify(run).faults

        def repairs():
            mend(storage_at(self.path))
            run = LayerRun.open(self.path)
            try:
                what = plan_repair(run, verify(run))
            except CorruptRunError:
                return
            self.announced = what.depth + 1
            what.take(run)
            self.hurt = False

        self._lead(repairs, steps)

    # --- what must be so

    @precondition(lambda self: not self.hurt and not self.driver and self.announced is not None)
    @rule()
    def look(self):
        assert verify(LayerRun.open(self.path), deep=10).faults == []

    @invariant()
    def announced_layers_are_there(self):
        if self.announced is not None:
            run = LayerRun.open(self.path)
            counts = [record.states for record in run.records]
            assert len(counts) >= self.announced
            assert counts == COUNTS[: len(counts)]
            assert not run.complete or counts == COUNTS

    def teardown(self):
        """Whatever has happened, the run comes out right, and what is left over does no harm."""
        try:
            if self.driver:
                self.kill(True)
            self.start("tasks", 0, self.hurt, ALL)
            if self.driver:
                self._go_on_undisturbed(len(COUNTS))
            if self.driver:
                self._go_on_leading(ALL)
            assert not self.driver
            while self.left:
                self.go_on_late(0, ALL)
            self.announced_layers_are_there()
            run = LayerRun.open(self.path)
            assert run.complete
            faults = verify(run, deep=20).faults
            assert faults == [], faults
        finally:
            for actor in self.actors:
                actor.end()
            for space in self.spaces.values():
                space.writer.shutdown()
            self.patch.undo()
            shutil.rmtree(self.place)


def take_turns(examples: int, steps: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    wanted = settings(
        max_examples=examples, stateful_step_count=steps, suppress_health_check=checks
    )
    run_state_machine_as_test(Runs, settings=wanted)


@pytest.mark.sweep
@pytest.mark.parametrize(("examples", "steps"), [(2, 20), (15, 50)])
def test_driver_workers_and_repair_take_turns(examples, steps):
    """Committed layers stay, and their counts are right."""
    take_turns(examples, steps)


def leave_a_task_to_another_way(way: str) -> None:
    """A driver dies when one task of a layer is done; another way finishes the layer."""
    runs = Runs()
    try:
        runs.start("tasks", 0, False, ALL)
        runs.go_on_undisturbed(3)
        runs.work(0, 0, ALL)
        runs.kill(False)
        runs.start(way, 0, False, ALL)
    finally:
        runs.teardown()


@swept("way", ["memory", "lists"], few=1)
def test_a_mistake_is_noticed(monkeypatch, way):
    """A driver that does not see what tasks have begun goes on from what they have given up."""
    leave_a_task_to_another_way(way)
    monkeypatch.setattr(LayerRun, "parts_under_way", lambda run, layout: set())
    with pytest.raises((AssertionError, CorruptRunError)):
        leave_a_task_to_another_way(way)
