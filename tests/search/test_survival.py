"""What a run survives: deletions, half-done repairs, signals that come twice, full disks."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from frontier import api
from frontier.cli import main
from frontier.config import Config
from frontier.errors import CorruptRunError, InputError, Stopped
from frontier.search import driver as driver_module
from frontier.search.events import RunStopped
from frontier.search.repair import Repair, repair
from frontier.search.verify import verify
from frontier.store.files import read_sealed, write_sealed
from frontier.store.lock import RunLock, is_held
from frontier.store.run import RunStore

CONFIGS = Path(__file__).parents[2] / "configs"


def config_of(path, **search):
    return Config(
        name="test",
        puzzle={"kind": "tiles", "rows": 2, "columns": 4},
        search={"in_memory": False, **search},
        store={"path": str(path), "codec": "raw"},
        cluster={"kind": "serial"},
    )


def half_done(path, **search):
    """A run of 2×4 that stopped at depth 20."""
    for depth in (16, 20):
        run = api.run(api.plan(config_of(path, **search)), until=depth)
    return run.store


def invoke(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def test_a_deleted_run_json_is_named(tmp_path):
    path = half_done(tmp_path / "run").path
    (path / "run.json").unlink()
    for command in ("status", "verify", "farthest"):
        assert f"{path / 'run.json'} is missing" in invoke(command, path, code=4).stderr
    assert "written anew" in invoke("repair", path).stdout
    invoke("verify", path)


def test_what_is_left_of_run_json_and_ledger_is_not_begun_anew(tmp_path):
    run = half_done(tmp_path / "run")
    for name in ("run.json", "ledger.json"):
        (run.path / name).unlink()
    with pytest.raises(CorruptRunError, match="holds layers"):
        api.run(api.plan(config_of(run.path), fresh=True))
    invoke("repair", run.path)
    assert len(RunStore.open(run.path).records) == 21


def test_a_repair_that_was_killed_between_ledger_and_copy(tmp_path):
    run = half_done(tmp_path / "run", keep="all")
    ledger = read_sealed(run.path / "ledger.json")
    write_sealed(run.path / "copies" / "ledger.json", {**ledger, "layers": ledger["layers"][:10]})
    assert verify(RunStore.open(run.path)).faults == []
    api.run(api.plan(config_of(run.path, keep="all")), until=21)


@pytest.mark.parametrize("complete", [False, True])
def test_giving_up_a_spare_layer_loses_nothing_else(tmp_path, complete):
    run = half_done(tmp_path / "run", spare=2)
    if complete:
        run = api.run(api.plan(config_of(run.path, spare=2))).store
    last = len(run.records) - 1
    part = run.layer_path(last + 1) / "c.0.0.0"
    if not complete:
        part.parent.mkdir()
        part.write_bytes(b"kept")
    stored = run.stored_depths()
    repair(run, Repair(last, stored[1:], lost=stored[:1]))
    after = RunStore.open(run.path)
    assert after.stored_depths() == stored[1:]
    assert after.complete == complete
    assert part.exists() != complete


def test_an_interrupted_deletion_is_recognised(tmp_path, monkeypatch):
    run = half_done(tmp_path / "run")
    real, left = Path.unlink, iter(range(100))

    def dying(path, missing_ok=False):
        if path.name == "events.jsonl":
            raise KeyboardInterrupt(next(left))
        real(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", dying)
    with pytest.raises(KeyboardInterrupt):
        api.delete_run(run.path)
    monkeypatch.undo()
    assert (run.path / "lock").exists()
    assert not RunStore.exists(run.path)
    assert sum(api.run(api.plan(config_of(run.path))).counts) == 20160


def test_take_over_of_a_run_that_is_started_anew(tmp_path):
    path = half_done(tmp_path / "run").path
    config = tmp_path / "config.toml"
    config.write_text('name = "t"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 2\n')
    (path / "lock").write_text(json.dumps({"host": "elsewhere", "process": 7, "since": 0}))
    words = "run", config, "--set", f"store.path={path}", "--set", "cluster.kind=serial", "--fresh"
    invoke(*words, "--yes", code=2)
    invoke(*words, "--yes", "--take-over")
    assert RunStore.open(path).states == 12


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
    plan = driver_module.Plan(plan.config, plan.puzzle, plan.space, plan.layout, 0, 0)
    real, died = driver_module.expand_task, []

    def dying(*call):
        if len(died) == 5:
            died.append(call)
            folder = RunStore.open(tmp_path / "run").layer_path(call[4])
            (folder / f"c.0.0.0.{0:032x}.partial").write_bytes(b"half")
        elif len(died) < 5:
            died.append(call)
        return real(*call)

    monkeypatch.setattr(driver_module, "expand_task", dying)
    run = api.run(plan)
    assert len(died) == 6
    assert verify(run.store).faults == []
    assert not list(run.path.rglob("*.partial"))


def test_a_disk_that_is_full_for_the_log_too(tmp_path):
    def full(event):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(Stopped, match="the disk is full"):
        api.run(api.plan(config_of(tmp_path / "run")), listeners=[full])

    def full_at_the_end(event):
        if isinstance(event, RunStopped) or getattr(event, "depth", 0) == 5:
            full(event)

    with pytest.raises(Stopped, match="the disk is full"):
        api.run(api.plan(config_of(tmp_path / "run")), listeners=[full_at_the_end])


@pytest.mark.parametrize("moment", ["start", "layers"])
def test_two_terms_stop_a_run_as_one_does(tmp_path, moment):
    path = tmp_path / "run"
    words = "--set", "search.in_memory=false", "--set", f"store.path={path}"
    process = subprocess.Popen(
        [sys.executable, "-m", "frontier", "run", str(CONFIGS / "2x6.toml"), *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    awaited = path / ("lock" if moment == "start" else "layers/0042")
    while not awaited.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    if moment == "layers":
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode == 3, said
    assert "Traceback" not in said
    assert (path / "lock").read_text() == ""
    assert os.listdir(path)
