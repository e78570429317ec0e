"""Two layers on disk: parts are given up for those that replace them, and nothing is lost by it."""

import dataclasses
import errno
import os
import shutil

import pytest

from frontier.api import runs as api
from frontier.errors import FULL, CorruptRunError, Stopped
from frontier.layers import loop as driver_module
from frontier.layers import task as task_module
from frontier.layers.events import LayerStarted, TaskFinished
from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from tests.support.commands import invoke
from tests.support.reference_search import bfs_layers
from tests.support.sweeps import swept
from tests.support.tile_runs import (
    as_bits,
    assert_store_the_same,
    config_of,
    counted_tasks,
    done_anew,
    in_memory,
)
from tests.support.tile_runs import run as run_of

DEPTH = 20
"""Of the layer in which runs are stopped."""

COUNTS = [len(layer) for layer in bfs_layers(2, 4)]


def plan_of(path, **search):
    """A plan of 2×4 by several tasks a layer, all of bits."""
    plan = as_bits(api.plan(config_of(path, 2, 4, search=search)), prefix_digits=1, task_nodes=1)
    assert plan.layout.task_count(0) == plan.layout.task_count(1) == 4
    return plan


def stopped_of(path, done=2, plan=None, **search):
    """A run that is stopped in a layer after so many of its tasks: (its plan, its store).

    It is made once, and copied for the tests that follow; not if it has a plan of its own.
    """
    if plan is None:
        plan, made = plan_of(path, **search), path.parent / f"stopped {done} {search}"
        if not made.exists():
            stopped_of(path, done, plan)
            shutil.copytree(plan.config.path, made)
        elif not plan.config.path.exists():
            shutil.copytree(made, plan.config.path)
        return plan, LayerRun.open(plan.config.path)

    def stop(event):
        if isinstance(event, LayerStarted) and (event.depth, 0) == (DEPTH, done):
            raise KeyboardInterrupt
        if isinstance(event, TaskFinished) and (event.depth, event.done) == (DEPTH, done):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_of(plan, listeners=[stop])
    store = LayerRun.open(plan.config.path)
    assert len(store.records) == DEPTH
    return plan, store


def parts_of(store, plan, depth):
    """The tasks whose parts are there, and the bytes of each."""
    files = store.files(depth, plan.layout)
    return {task: files.path(task).stat().st_size for task in files.tasks
            if files.path(task).exists()}  # fmt: skip


@pytest.mark.sweep
def test_no_part_is_there_beside_the_one_that_replaces_it(tmp_path):
    """What the disk holds after each task, to the byte."""
    every = run_of(plan_of(tmp_path / "all", keep="all"))
    plan, looked = plan_of(tmp_path / "run"), []
    sizes = [parts_of(every, plan, depth) for depth in range(len(every.records))]

    def look(event):
        if not isinstance(event, TaskFinished) or event.depth < 3 or event.depth >= len(sizes):
            return
        store = LayerRun.open(plan.config.path)
        before, done = (parts_of(store, plan, depth) for depth in (event.depth - 2, event.depth))
        assert len(done) == event.done
        assert not before.keys() & done.keys()
        assert before.keys() | done.keys() == set(range(event.tasks))
        total = sum(sizes[event.depth - 1].values())
        total += sum(sizes[event.depth][task] for task in done)
        total += sum(sizes[event.depth - 2][task] for task in before)
        assert sum(file.stat().st_size for file in store.path.rglob("c.*")) == total
        assert store.missing() == []
        looked.append(total)

    done = run_of(plan, listeners=[look])
    assert [record.states for record in done.records] == COUNTS
    assert len(looked) == 4 * (len(sizes) - 3)
    three = [sum(sum(sizes[d].values()) for d in range(t - 2, t + 1)) for t in range(2, len(sizes))]
    assert max(looked) < 0.8 * max(three)


@pytest.mark.sweep
@swept("search", [{"spare": 2}, {"keep": "all"}], few=1)
def test_layers_that_are_to_be_kept_are_not_given_up(tmp_path, search):
    plan, store = stopped_of(tmp_path, **search)
    stored = store.stored_depths()
    assert stored == list(range(DEPTH - 4 if "spare" in search else 0, DEPTH))
    for depth in stored[1:]:
        assert parts_of(store, plan, depth).keys() == set(range(4))
    assert len(parts_of(store, plan, DEPTH)) == 2
    assert verify(store).faults == []
    assert verify(store).depth_being_replaced is None
    done = run_of(plan)
    assert [record.states for record in done.records] == COUNTS


def test_what_is_given_up_is_no_damage(tmp_path):
    plan, store = stopped_of(tmp_path)
    assert parts_of(store, plan, DEPTH - 2).keys() ^ parts_of(store, plan, DEPTH).keys() == set(
        range(4)
    )
    found = verify(store, deep=100)
    assert (found.faults, found.depth_being_replaced) == ([], DEPTH - 2)
    assert store.missing() == []
    done = run_of(plan)
    assert [record.states for record in done.records] == COUNTS


@swept("done", range(1, 4), few=1)
def test_a_part_that_is_lost_of_a_layer_that_is_being_given_up(tmp_path, done):
    """One that nothing has replaced yet is missed at once."""
    plan, store = stopped_of(tmp_path, done)
    left = parts_of(store, plan, DEPTH - 2)
    assert len(left) == 4 - done
    store.files(DEPTH - 2, plan.layout).path(min(left)).unlink()
    with pytest.raises(CorruptRunError, match=f"00{DEPTH - 2} lacks 1 of 4 parts"):
        run_of(plan)
    assert not verify(store).sound(DEPTH - 2)


# --- tasks that are done again


def asked(store, number, gives_up=True, depth=DEPTH):
    return done_anew(store, gives_up, depth, number)


def one_done(store, plan, depth=DEPTH):
    return min(parts_of(store, plan, depth))


def test_a_task_that_is_done_twice_finds_its_part(tmp_path, monkeypatch):
    plan, store = stopped_of(tmp_path)
    calls = counted_tasks(monkeypatch)
    task = one_done(store, plan)
    file = store.files(DEPTH, plan.layout).path(task)
    before, about = file.read_bytes(), file.stat()
    for gives_up in (True, False):
        result = asked(store, task, gives_up)
        assert result.record == store.files(DEPTH, plan.layout).part(task).record
        assert (file.read_bytes(), file.stat().st_ino) == (before, about.st_ino)
    assert calls == []


@swept("gives_up", [False, True], few=[True])
def test_a_task_whose_driver_never_heard_of_it_gives_up_what_is_left(tmp_path, gives_up):
    """It was killed between its part and the deletion of the one that this replaces."""
    plan, store = stopped_of(tmp_path)
    task = one_done(store, plan, DEPTH - 2)
    asked(store, task, gives_up=False)
    assert task in parts_of(store, plan, DEPTH - 2)
    assert task in parts_of(store, plan, DEPTH)
    asked(store, task, gives_up)
    assert (task in parts_of(store, plan, DEPTH - 2)) != gives_up
    done = run_of(plan)
    assert [record.states for record in done.records] == COUNTS


def test_a_task_that_is_done_anew_writes_the_same_bytes(tmp_path, monkeypatch):
    plan, store = stopped_of(tmp_path, keep="all")
    calls = counted_tasks(monkeypatch)
    file = store.files(DEPTH, plan.layout).path(task := one_done(store, plan))
    before = file.read_bytes()
    file.unlink()
    asked(store, task)
    assert file.read_bytes() == before
    assert calls == [(DEPTH, task)]


def turned(file):
    """Flip a bit of the slabs, if there are any, else of the record."""
    data = bytearray(file.read_bytes())
    data[0] ^= 4
    file.write_bytes(data)


DAMAGES = {
    "turned": turned,
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "empty": lambda file: file.write_bytes(b""),
    "other": lambda file: file.write_bytes(file.with_name("c.0.0.0").read_bytes()[:-1]),
}


@pytest.mark.sweep
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_computed_again_from_what_is_there(tmp_path, monkeypatch, damage):
    plan, store = stopped_of(tmp_path, done=3, keep="all")
    task = one_done(store, plan)
    file = store.files(DEPTH, plan.layout).path(task)
    before = file.read_bytes()
    DAMAGES[damage](file)
    assert [fault.task for fault in verify(store).faults] == [task]
    calls = counted_tasks(monkeypatch)
    done = run_of(plan)
    assert file.read_bytes() == before
    assert (DEPTH, task) in calls
    assert len([depth for depth, _ in calls if depth == DEPTH]) == 2
    calm = run_of(plan_of(tmp_path / "calm", keep="all"))
    assert_store_the_same(done, calm)


@swept("damage", DAMAGES, few=1)
def test_a_damaged_part_whose_predecessor_is_gone_is_an_error(tmp_path, damage):
    """And nothing is committed or changed."""
    plan, store = stopped_of(tmp_path, done=3)
    task = one_done(store, plan)
    file = store.files(DEPTH, plan.layout).path(task)
    DAMAGES[damage](file)
    parts = {path: path.read_bytes() for path in store.path.rglob("c.*")}
    with pytest.raises(CorruptRunError, match=f"layer {DEPTH}: {file}"):
        run_of(plan)
    after = LayerRun.open(store.path)
    assert len(after.records) == DEPTH
    for path in parts.keys() & set(store.path.rglob("c.*")):
        assert path.read_bytes() == parts[path]
    assert [fault.task for fault in verify(after).faults] == [task]


@pytest.mark.sweep
@swept("damaged", [DEPTH - 2, DEPTH - 1, DEPTH], few=1)
def test_spare_layers_help_where_lost_parts_seem_to_be_given_up(tmp_path, monkeypatch, damaged):
    """Of the layer before the last a part is lost that the layer under way would have replaced. A
    repair that the system stops can be repeated."""
    plan, store = stopped_of(tmp_path, done=3, spare=2)
    task, *others = parts_of(store, plan, DEPTH)
    store.files(DEPTH - 2, plan.layout).path(task).unlink()
    assert verify(store).depth_being_replaced == DEPTH - 2
    turned(store.files(damaged, plan.layout).path(task if damaged == DEPTH else others[0]))
    rename = os.replace

    def refused(path, to):
        if to == str(store.path / "ledger.json"):
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return rename(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refused)
        assert FULL[errno.EDQUOT] in invoke("repair", store.path, "--yes", code=3).stderr
    assert f"back to depth {DEPTH - 3};" in invoke("repair", store.path, "--yes").output
    assert verify(LayerRun.open(store.path)).faults == []
    assert [record.states for record in run_of(plan).records] == COUNTS


def test_a_task_that_cannot_be_done_any_more_says_so(tmp_path):
    """A task is computed from the part before the last layer; and that is gone."""
    plan, store = stopped_of(tmp_path)
    task = one_done(store, plan)
    store.files(DEPTH, plan.layout).path(task).unlink()
    with pytest.raises(CorruptRunError, match=rf"layer {DEPTH - 2}: .* is missing"):
        asked(store, task)


@pytest.mark.sweep
def test_a_task_that_another_worker_does_meanwhile(tmp_path, monkeypatch):
    """The other one, which had been given up for lost, has given up what this one reads."""
    plan, store = stopped_of(tmp_path)
    task, expand = one_done(store, plan, DEPTH - 2), task_module._expand

    def overtaken(work, depth, number):
        monkeypatch.undo()
        asked(store, number)
        return expand(work, depth, number)

    monkeypatch.setattr(task_module, "_expand", overtaken)
    result = asked(store, task)
    assert result.record == store.files(DEPTH, plan.layout).part(task).record
    assert [record.states for record in run_of(plan).records] == COUNTS


def test_a_part_that_is_found_is_forced_before_another_is_given_up_for_it(tmp_path, monkeypatch):
    """Whoever wrote it may have died between its name and the disk."""
    plan, store = stopped_of(tmp_path)
    task, forced = one_done(store, plan, DEPTH - 2), []
    asked(store, task, gives_up=False)
    before, after = (store.files(d, plan.layout).path(task) for d in (DEPTH - 2, DEPTH))

    def noted(number):
        forced.append((os.readlink(f"/proc/self/fd/{number}"), before.exists()))

    monkeypatch.setattr(os, "fsync", noted)
    asked(store, task)
    assert forced[:2] == [(str(after), True), (str(after.parent), True)]
    # The last if others are written over its file, for which it must have lost its name.
    assert forced[2:] in ([], [(str(before.parent), False)])
    assert not before.exists()


# --- workers that outlive their driver


@swept("moment", [1, 2], few=1)
@swept("form", ["tasks", "memory", "lists"], few=["tasks"])
def test_an_orphan_does_a_task_while_the_run_goes_on(tmp_path, monkeypatch, form, moment):
    """Just after the driver has seen that there are no parts yet."""
    plan, store = stopped_of(tmp_path, done=0)
    look, looks = LayerRun.parts_under_way, []

    def look_and_be_late(self, layout):
        found = look(self, layout)
        if len(self.records) == DEPTH:
            looks.append(set(found))
            if len(looks) == moment:
                asked(store, 1)
        return found

    monkeypatch.setattr(LayerRun, "parts_under_way", look_and_be_late)
    done = run_of(FORMS[form](plan))
    assert [record.states for record in done.records] == COUNTS
    assert looks[0] == set()
    assert verify(done, deep=100).faults == []


def test_an_orphan_gives_up_a_part_of_a_layer_that_is_spared_by_now(tmp_path):
    """The run that it belongs to kept two layers; the one that went on keeps four."""
    plan, store = stopped_of(tmp_path, done=0)
    asked(store, 1, gives_up=False)
    spared = plan_of(tmp_path, spare=2)
    run_of(spared, until=DEPTH)
    store.delete_replaced_part(DEPTH - 2, 1, plan.layout)
    done = run_of(spared, until=DEPTH + 4)
    assert done.stored_depths() == list(range(DEPTH + 1, DEPTH + 5))
    assert verify(done).faults == []


# --- runs that are stopped in a layer


FORMS = {
    "tasks": lambda plan: plan,
    "memory": lambda plan: dataclasses.replace(plan, threads=2),
    "lists": lambda plan: dataclasses.replace(plan, list_states=10**9),
}


@swept("form", FORMS, few=["memory"])
@swept("search", [{}, {"spare": 2}, {"keep": "all"}], few=1)
def test_a_layer_that_tasks_have_begun_is_ended_by_tasks(tmp_path, monkeypatch, form, search):
    """Whatever the config says by then."""
    plan, _ = stopped_of(tmp_path, done=3, **search)
    calls, started = counted_tasks(monkeypatch), []

    def listen(event):
        if isinstance(event, LayerStarted):
            started.append((event.depth, event.tasks is not None))

    done = run_of(FORMS[form](plan), listeners=[listen])
    assert [record.states for record in done.records] == COUNTS
    assert started[0] == (DEPTH, True)
    assert started[1] == (DEPTH + 1, form == "tasks")
    assert len([depth for depth, _ in calls if depth == DEPTH]) == 1  # three were done
    assert done.records[DEPTH].form == "bits"


def test_a_config_that_says_in_memory_by_now(tmp_path):
    """As the user says it."""
    plan, _ = stopped_of(tmp_path)
    config = plan.config.model_copy(
        update={"search": plan.config.search.model_copy(update={"in_memory": True})}
    )
    again = api.plan(config)
    assert again.in_memory
    assert again.layout.task_nodes == plan.layout.task_nodes
    assert [record.states for record in run_of(again).records] == COUNTS


def test_what_a_run_in_memory_left_half_stored(tmp_path, monkeypatch):
    """Parts of a layer that was never committed are checked and used, or made again."""
    plan, stored = in_memory(plan_of(tmp_path)), []
    finish = driver_module.Driver._commit

    def dies(self, records, complete):
        if len(self.run.records) > 1:
            stored.append(len(records))
            raise KeyboardInterrupt
        finish(self, records, complete)

    with monkeypatch.context() as patch:
        patch.setattr(driver_module.Driver, "_commit", dies)
        patch.setattr(driver_module, "MEMORY_SECONDS", 0)
        with pytest.raises(KeyboardInterrupt):
            run_of(plan)
    assert stored
    assert [record.states for record in run_of(plan).records] == COUNTS


def test_a_stop_that_is_asked_for_says_how_many_are_done(tmp_path, monkeypatch):
    plan, drivers = plan_of(tmp_path), []
    search = driver_module.Driver.search
    monkeypatch.setattr(
        driver_module.Driver,
        "search",
        lambda self, until: drivers.append(self) or search(self, until),
    )

    def stop(event):
        if isinstance(event, TaskFinished) and (event.depth, event.done) == (DEPTH, 3):
            drivers[-1].stopping.set()

    with pytest.raises(Stopped, match=f"layer {DEPTH}, 3 of 4 tasks done"):
        run_of(plan, listeners=[stop])
    assert [record.states for record in run_of(plan).records] == COUNTS
