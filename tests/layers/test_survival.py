"""What a run survives: deletions, half-done repairs, signals that come twice, full disks."""

import dataclasses
import json
import os
import time
from pathlib import Path

import pytest

from frontier.api import runs as api
from frontier.errors import CorruptRunError, InputError
from frontier.layers import by_tasks
from frontier.layers.progress import LayerProgress
from frontier.layers.repair import LayerRepair
from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from frontier.runs.log import read_last_start
from frontier.storage.lock import RunLock, held_since, is_held
from frontier.storage.places import storage_at
from tests.support.commands import invoke
from tests.support.run_files import COPIES, read_sealed, write_sealed
from tests.support.stopped_runs import WAYS, config_of, copy_of_half_done, way_of
from tests.support.sweeps import swept


def test_a_deleted_run_json_is_named(tmp_path):
    path = copy_of_half_done(tmp_path / "run").path
    (path / "run.json").unlink()
    for command in ("status", "verify", "farthest"):
        assert f"{path / 'run.json'} is missing" in invoke(command, path, code=4).stderr
    assert "rewritten" in invoke("repair", path).stdout
    invoke("verify", path)


def test_what_is_left_of_run_json_and_ledger_is_not_begun_anew(tmp_path):
    run = copy_of_half_done(tmp_path / "run")
    for name in ("run.json", "ledger.json"):
        (run.path / name).unlink()
    with pytest.raises(
        CorruptRunError, match=r"holds run\.copy\.json and ledger\.copy\.json of a run whose"
    ):
        api.run(api.plan(config_of(run.path), fresh=True))
    invoke("repair", run.path)
    assert len(LayerRun.open(run.path).records) == 21


def test_a_run_with_nothing_to_go_on_from_needs_no_repair(tmp_path):
    """One that is complete and has kept its last layer only, and one that has not yet begun."""
    plan = api.plan(config_of(tmp_path / "complete"))
    done = api.run(dataclasses.replace(plan, list_states=0)).store
    assert done.stored_depths() == [len(done.records) - 1]
    begun = LayerRun.create(tmp_path / "begun", plan.identity)
    for run in (done, begun):
        assert "nothing to repair" in invoke("repair", run.path).stdout
        (run.layer_path(0).parent / "zarr.json").unlink()
        assert "zarr.json rewritten" in invoke("repair", run.path).stdout
        invoke("verify", run.path)


STARTED = {
    "time": 1.0, "event": "Started", "kind": "layers", "name": "x", "title": "x", "path": "x",
    "depth": -1, "states": 9, "workers": 1, "resumed": False,
}  # fmt: skip
STOPPED = {"time": 2.0, "event": "Stopped", "reason": "why", "elapsed": 1.0}
MADE = {
    "time": 1.5, "event": "LayerMade", "depth": 21, "states": 5, "form": "list", "seconds": 0.1,
    "elapsed": 0.1,
}  # fmt: skip
ODD_EVENTS = [
    *({"time": odd} for odd in ("x", None, -1.0, float("nan"), float("inf"), 1e300, [])),
    {"event": "Unknown"}, {"event": []}, {"elapsed": "x"}, {"elapsed": float("nan")},
    {"elapsed": 1e300}, {"reason": []}, {"depth": None}, {"depth": "deep"},
]  # fmt: skip


@swept("odd", ODD_EVENTS, ids=repr, few=ODD_EVENTS[::4])
def test_a_log_with_values_that_no_event_has_is_read_without_them(tmp_path, odd):
    path = copy_of_half_done(tmp_path / "run").path
    lines = [{**of, **odd} for of in (STARTED, MADE, STOPPED) if of.keys() >= odd.keys()]
    (path / "events.jsonl").write_text("\n".join(map(json.dumps, [STARTED, *lines, 7, None])))
    last = read_last_start(storage_at(path))
    assert (last.start[0], last.end) == (1.0, None)
    progress = LayerProgress("x", last.start[1])
    for when, name, values in last.work:
        progress.repeat(name, values, when)
    assert not progress.layers
    with RunLock(path / "lock"):
        for since in (odd.get("time", "x"), 1e300):
            (path / "lock").write_text(json.dumps({"host": [], "process": {}, "since": since}))
            assert held_since(path / "lock") is None
            assert "under way" in invoke("status", path).stdout
    assert "stopped" in invoke("status", path).stdout


def test_a_commit_that_was_killed_between_ledger_and_copy(tmp_path):
    run = copy_of_half_done(tmp_path / "run", keep="all")
    ledger = read_sealed(run.path / "ledger.json")
    write_sealed(run.path / COPIES["ledger.json"], {**ledger, "layers": ledger["layers"][:10]})
    assert verify(LayerRun.open(run.path)).faults == []
    api.run(api.plan(config_of(run.path, keep="all")), until=21)


@swept("way", WAYS, few=["tasks", "memory"])
def test_nothing_is_to_be_repaired_of_a_complete_run(tmp_path, way):
    """By tasks it has its last layer alone, and no other is needed."""
    done = api.run(way_of(tmp_path / "run", way)).store
    assert done.complete
    assert invoke("repair", done.path).output.endswith("nothing to repair\n")
    assert len(LayerRun.open(done.path).records) == 37


@pytest.mark.parametrize("complete", [False, True])
def test_giving_up_a_spare_layer_loses_nothing_else(tmp_path, complete):
    run = copy_of_half_done(tmp_path / "run", spare=2)
    if complete:
        run = api.run(api.plan(config_of(run.path, spare=2))).store
    last = len(run.records) - 1
    part = run.layer_path(last + 1) / "c.0.0.0"
    if not complete:
        part.parent.mkdir()
        part.write_bytes(b"kept")
    stored = run.stored_depths()
    LayerRepair(last, stored[1:], lost=stored[:1]).take(run)
    after = LayerRun.open(run.path)
    assert after.stored_depths() == stored[1:]
    assert after.complete == complete
    assert part.exists() != complete


def test_an_interrupted_deletion_is_recognised(tmp_path, monkeypatch):
    run = copy_of_half_done(tmp_path / "run")
    real, left = os.unlink, iter(range(100))

    def dying(path, **more):
        if Path(path).name == "events.jsonl":
            raise KeyboardInterrupt(next(left))
        real(path, **more)

    monkeypatch.setattr(os, "unlink", dying)
    with pytest.raises(KeyboardInterrupt):
        api.delete_run(run.path)
    monkeypatch.undo()
    assert (run.path / "lock").exists()
    assert not LayerRun.exists(run.path)
    assert sum(api.run(api.plan(config_of(run.path))).counts) == 20160


def test_take_over_of_a_run_that_is_started_anew(tmp_path):
    path = copy_of_half_done(tmp_path / "run").path
    config = tmp_path / "config.toml"
    config.write_text('name = "t"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 2\n')
    (path / "lock").write_text(json.dumps({"host": "elsewhere", "process": 7, "since": 0}))
    words = "run", config, "--set", f"store.path={path}", "--set", "cluster.kind=serial", "--fresh"
    invoke(*words, "--yes", code=2)
    invoke(*words, "--yes", "--take-over")
    assert LayerRun.open(path).states == 12


def test_a_lock_whose_file_is_gone_keeps_nobody_out(tmp_path):
    path = tmp_path / "lock"
    with RunLock(path):
        path.unlink()
        with RunLock(path):  # as a run that begins where one was deleted
            assert is_held(path)
            with pytest.raises(InputError, match="is being written"), RunLock(path):
                pass


def test_who_asks_for_a_moment_whether_it_is_held_refuses_nobody(tmp_path, monkeypatch):
    import fcntl

    path = tmp_path / "lock"
    with path.open("a+") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        monkeypatch.setattr(time, "sleep", lambda _: fcntl.flock(asking, fcntl.LOCK_UN))
        with RunLock(path):
            assert is_held(path)


def test_a_killed_worker_s_partial_part_is_not_left_in_a_layer(tmp_path, monkeypatch):
    """The layer is committed by a driver that lives on, and nothing sweeps it."""
    plan = api.plan(config_of(tmp_path / "run", keep="all"))
    plan = dataclasses.replace(plan, list_states=0, threads=0)
    real, died = by_tasks.expand_task, []

    def dying(*call):
        if len(died) == 5:
            died.append(call)
            folder = LayerRun.open(tmp_path / "run").layer_path(call[2])
            (folder / f"c.0.0.0.{0:032x}.partial").write_bytes(b"half")
        elif len(died) < 5:
            died.append(call)
        return real(*call)

    monkeypatch.setattr(by_tasks, "expand_task", dying)
    run = api.run(plan)
    assert len(died) == 6
    assert verify(run.store).faults == []
    assert not list(run.path.rglob("*.partial"))
