"""What a run survives: deletions, half-done repairs, signals that come twice, full disks."""

import dataclasses
import errno
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from making import CONFIGS, invoke
from sweeps import swept

from frontier import api
from frontier.cli import main
from frontier.config import Config
from frontier.errors import CorruptRunError, Gone, InputError, Stopped
from frontier.search import driver as driver_module
from frontier.search.events import LayerFinished, LayerStarted, RunFinished, RunStopped
from frontier.search.repair import Repair, repair
from frontier.search.verify import verify
from frontier.signals import handling
from frontier.store.files import read_sealed, write_sealed
from frontier.store.lock import RunLock, is_held
from frontier.store.run import RunStore


def config_of(path, puzzle=None, **search):
    return Config(
        name="test",
        puzzle={"kind": "tiles", "rows": 2, "columns": 4, **(puzzle or {})},
        search={"in_memory": False, **search},
        store={"path": str(path), "codec": "raw"},
        cluster={"kind": "serial"},
    )


def half_done(path, **search):
    """A run of 2×4 that stopped at depth 20."""
    for depth in (16, 20):
        run = api.run(api.plan(config_of(path, **search)), until=depth)
    return run.store


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


def test_a_run_with_nothing_to_go_on_from_needs_no_repair(tmp_path):
    """One that is complete and has kept its last layer only, and one that has not yet begun."""
    plan = api.plan(config_of(tmp_path / "complete"))
    done = api.run(dataclasses.replace(plan, list_states=0)).store
    assert done.stored_depths() == [len(done.records) - 1]
    begun = RunStore.create(tmp_path / "begun", plan.identity)
    for run in (done, begun):
        assert "nothing to repair" in invoke("repair", run.path).stdout
        (run.path / "layers" / "zarr.json").unlink()
        assert "described anew" in invoke("repair", run.path).stdout
        invoke("verify", run.path)


def test_a_repair_that_was_killed_between_ledger_and_copy(tmp_path):
    run = half_done(tmp_path / "run", keep="all")
    ledger = read_sealed(run.path / "ledger.json")
    write_sealed(run.path / "copies" / "ledger.json", {**ledger, "layers": ledger["layers"][:10]})
    assert verify(RunStore.open(run.path)).faults == []
    api.run(api.plan(config_of(run.path, keep="all")), until=21)


# --- a ledger that is behind its copy

WAYS = {
    "lists": {"list_states": 10**9},
    "tasks": {"list_states": 0},
    "memory": {"list_states": 0, "threads": 2},
}


def way_of(path, way, **search):
    return dataclasses.replace(api.plan(config_of(path, **search)), **WAYS[way])


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_to_be_repaired_of_a_complete_run(tmp_path, way):
    """By tasks it has its last layer alone, and no other is needed."""
    done = api.run(way_of(tmp_path / "run", way)).store
    assert done.complete
    assert invoke("repair", done.path).output.endswith("nothing to repair\n")
    assert len(RunStore.open(done.path).records) == 37


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


@swept("moment", ["start", "layers"], few=1)
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


# --- a terminal that is closed


@pytest.mark.parametrize("ignored", [False, True], ids=["terminal", "nohup"])
def test_a_hangup_stops_a_run_unless_it_is_ignored(tmp_path, monkeypatch, ignored):
    monkeypatch.setattr("frontier.search.plan.THIN_STATES", 0)
    monkeypatch.setattr("frontier.search.plan.THIN_WORDS", 10**9)
    commit, where = RunStore.commit, ["--set", f"store.path={tmp_path / 'run'}"]

    def hangs_up(run, records, complete, forget=()):
        commit(run, records, complete, forget)
        if len(run.records) in (5, 6):  # the system's, and that of the shell
            signal.raise_signal(signal.SIGHUP)

    monkeypatch.setattr(RunStore, "commit", hangs_up)
    with handling({signal.SIGHUP: signal.SIG_IGN if ignored else signal.SIG_DFL}):
        words = "run", CONFIGS / "2x3.toml", *where, *SETTINGS
        said = invoke(*words, code=0 if ignored else 3).output
    assert ignored or "resume with: python -m frontier run" in said
    logged = (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    last = json.loads(logged[-1])
    assert last["event"] == ("RunFinished" if ignored else "RunStopped")
    assert last["depth"] == (21 if ignored else 4)
    monkeypatch.setattr(RunStore, "commit", commit)
    invoke(*words)


@swept("kind", ["serial", "local"], few=1)
def test_a_terminal_that_goes_away(tmp_path, kind):
    """Nothing can be said any more, workers are reached by the signal too; the run stops as by
    Ctrl-C."""
    path = tmp_path / "run"
    settings = "search.in_memory=false", f"cluster.kind={kind}", f"store.path={path}"
    words = ["run", str(CONFIGS / "2x6.toml"), *(w for s in settings for w in ("--set", s))]
    driver, terminal = pty.fork()
    if not driver:
        os.execv(sys.executable, [sys.executable, "-m", "frontier", *words])
    while not list(path.glob("layers/00[4-7]?")):
        if select.select([terminal], [], [], 0.01)[0]:
            os.read(terminal, 100_000)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(driver, 0)[1]) == 3
    assert (path / "lock").read_text() == ""
    last = json.loads((path / "events.jsonl").read_text().splitlines()[-1])
    assert (last["event"], last["depth"] < 80) == ("RunStopped", True)
    assert verify(RunStore.open(path)).faults == []


# --- a directory that is gone


SMALL = {"columns": 3}
LOSSES = {
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "deleted": shutil.rmtree,
    "taken": lambda path: (
        path.rename(path.with_name("elsewhere")),
        path.with_name("other").rename(path),
    ),
}


MOMENTS = {LayerFinished: 10, LayerStarted: 11, RunFinished: 21}
"""Events, with their depths, at which a directory goes."""


@swept("at", MOMENTS, few=1)
@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize("way", WAYS)
def test_a_run_whose_directory_goes(tmp_path, monkeypatch, way, how, at):
    """It says so, and writes to nothing that has taken its place."""
    monkeypatch.setattr("frontier.search.driver.LIST_SECONDS", 0)
    advance = driver_module.advance_bits

    def one_layer(call):
        return advance(dataclasses.replace(call, seconds=0))

    monkeypatch.setattr(driver_module, "advance_bits", one_layer)
    path, ends = tmp_path / "run", []
    api.run(way_of(tmp_path / "other", "lists", puzzle=SMALL), until=2)

    def lose(event):
        if isinstance(event, RunStopped):
            ends.append(event.reason)
        elif isinstance(event, at) and event.depth == MOMENTS[at]:
            LOSSES[how](path)

    with pytest.raises(Gone) as error:
        api.run(way_of(path, way, puzzle=SMALL), listeners=[lose])
    assert str(error.value).startswith(f"{path} no longer holds the run that goes on there")
    assert ends == ([] if at is RunFinished else [str(error.value)])
    if how == "taken":
        assert verify(RunStore.open(path)).faults == []
        assert sum(api.run(way_of(path, "lists", puzzle=SMALL)).counts) == 360
    else:
        assert not path.exists()
    if how != "deleted":
        assert sum(api.run(way_of(tmp_path / "elsewhere", way, puzzle=SMALL)).counts) == 360


def test_the_command_says_that_a_directory_is_gone(tmp_path, monkeypatch):
    path, commit = tmp_path / "run", RunStore.commit

    def loses(run, *arguments):
        shutil.rmtree(path)
        commit(run, *arguments)

    monkeypatch.setattr(RunStore, "commit", loses)
    words = "run", CONFIGS / "2x3.toml", "--set", f"store.path={path}", *SETTINGS
    said = invoke(*words, code=3).stderr
    assert f"{path} no longer holds the run" in said
    assert "Nothing is lost" not in said


# --- errors of the system


READS = [
    *(("open", name) for name in ("layers/0020", "layers/0019", "ledger.json", "run.json")),
    *((call, name) for call in ("pread", "preadv") for name in ("layers/0020", "layers/0019")),
]
"""Calls by which files are read, and the files that are read by them."""


@swept("number", [errno.EIO, errno.EACCES, errno.ESTALE, errno.EMFILE], few=1)
@swept(("call", "name"), READS, few=[READS[0], READS[3], READS[-1]])
def test_an_error_of_the_system_is_no_damage(tmp_path, monkeypatch, number, name, call):
    """It stops what is asked for, with a sentence, and nothing is mended because of it."""
    run = half_done(tmp_path / "run", spare=2)
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    failed = failing(monkeypatch, call, name, number)
    config = ["--set", f"store.path={run.path}", "--set", "search.spare=2", *SETTINGS]
    for words in (
        ("verify", run.path),
        ("repair", run.path, "--yes"),
        ("run", CONFIGS / "2x4.toml", *config),
    ):
        failed.clear()
        result = CliRunner().invoke(main, list(map(str, words)))
        assert failed, words
        assert isinstance(result.exception, SystemExit), words
        assert result.exit_code == 3, result.output
        assert os.strerror(number) in result.output
    monkeypatch.undo()
    after = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    for path in before:
        assert "layers" not in path.parts or after[path] == before[path]
    assert len(RunStore.open(run.path).records) == 21
    assert sum(api.run(api.plan(config_of(run.path, spare=2))).counts) == 20160


SETTINGS = ["--set", "search.in_memory=false", "--set", "cluster.kind=serial"]
SETTINGS += ["--set", "store.codec=raw"]


def failing(monkeypatch, call, name, number):
    """Let a system call fail for files whose path has a name in it: the list of those it did."""
    real, failed = getattr(os, call), []

    def fails(what, *arguments, **more):
        path = str(what) if call == "open" else os.readlink(f"/proc/self/fd/{what}")
        reads = call != "open" or not (arguments and arguments[0] & (os.O_WRONLY | os.O_RDWR))
        if f"run/{name}" in path and reads and not path.endswith(".json/"):
            failed.append(path)
            raise OSError(number, os.strerror(number), path)
        return real(what, *arguments, **more)

    monkeypatch.setattr(os, call, fails)
    return failed


def test_memory_that_the_system_refuses_stops_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr("frontier.search.plan.THIN_STATES", 0)
    monkeypatch.setattr("frontier.search.plan.THIN_WORDS", 10**9)
    words = "run", CONFIGS / "2x3.toml", "--set", f"store.path={tmp_path / 'run'}", *SETTINGS

    def refused(work, depth, number):
        raise MemoryError("Unable to allocate 3.00 GiB")

    with monkeypatch.context() as patch:
        patch.setattr("frontier.search.task._expand", refused)
        said = invoke(*words, code=3).stderr
    assert "no more memory (Unable to allocate 3.00 GiB)" in said
    assert "resume with: python -m frontier run" in said
    assert "states: 360" in invoke(*words).stdout
