"""Copies of a run that goes on meanwhile: whole, of one moment, and apart from the run."""

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from making import invoke
from search.runs import assert_store_the_same, config_of, in_memory
from search.runs import run as run_of
from search.test_two_layers import COUNTS, DEPTH, plan_of, stopped_of
from sweeps import swept

from frontier import api
from frontier.cli import main
from frontier.errors import CorruptRunError, InputError
from frontier.search.events import LayerFinished, TaskFinished
from frontier.search.verify import verify
from frontier.store import backup as backup_module
from frontier.store.backup import back_up
from frontier.store.lock import RunLock
from frontier.store.run import RunStore

ROOT = Path(__file__).parents[2]


def goes_on(plan, path):
    """The run at a path, gone on with to its end."""
    store = plan.config.store.model_copy(update={"path": str(path)})
    config = plan.config.model_copy(update={"store": store})
    return run_of(dataclasses.replace(api.plan(config), list_states=0))


def contents(path):
    """The files of a run that another one could change."""
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


# --- while the run goes on


@swept(
    ("form", "search"),
    [("memory", {}), ("tasks", {}), ("tasks", {"spare": 2}), ("memory", {"keep": "all"})],
    few=1,
)
def test_at_many_moments_of_a_run(tmp_path, monkeypatch, form, search):
    monkeypatch.setattr("frontier.search.driver.MEMORY_SECONDS", 0)
    plan, made = plan_of(tmp_path, **search), []
    plan = in_memory(plan) if form == "memory" else plan
    events = []

    def listen(event):
        if isinstance(event, TaskFinished | LayerFinished):
            events.append(event)
            if len(events) % 7 == 0:
                made.append(back_up(plan.config.path, tmp_path / f"backup-{len(made)}"))

    whole = run_of(plan, listeners=[listen])
    assert [record.states for record in whole.records] == COUNTS
    assert len(made) > 4
    for each in made:
        store = RunStore.open(Path(each.path))
        assert each.linked
        assert store.identity == whole.identity
        assert verify(store).faults == []
        assert store.missing() == []
        assert [r.chain for r in store.records] == [
            r.chain for r in whole.records[: len(store.records)]
        ]
    for each in made[:: len(made) // 3]:
        done = goes_on(plan, each.path)
        assert [record.states for record in done.records] == COUNTS
        assert verify(done).faults == []
        if form != "memory":  # how many layers a call in memory goes on for depends on the clock
            assert_store_the_same(done, whole)


class Steps:
    """A run in a thread of its own, which goes from one step to the next when it is asked to."""

    def __init__(self, plan, monkeypatch):
        self.ended, self._plan, self._stopping = False, plan, False
        self._go, self._here = threading.Semaphore(0), threading.Semaphore(0)
        for name in ("give_up", "_write_ledger"):
            original = getattr(RunStore, name)
            monkeypatch.setattr(RunStore, name, self._paused(original))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._here.acquire()

    def _paused(self, original):
        def paused(*arguments):
            self._pause()
            original(*arguments)
            self._pause()

        return paused

    def _pause(self, *_):
        if threading.current_thread() is self._thread and not self._stopping:
            self._here.release()
            self._go.acquire()

    def _run(self):
        try:
            run_of(self._plan, listeners=[self._pause])
        finally:
            self.ended = True
            self._here.release()

    def step(self):
        if not self.ended:
            self._go.release()
            self._here.acquire()

    def finish(self):
        self._stopping = True
        self._go.release()
        self._thread.join()


SCHEDULES = {
    **{f"1 before link {i}": {i: 1} for i in range(0, 13, 6)},
    **{f"9 before link {i}": {i: 9} for i in range(1, 13, 6)},
    **{f"40 before link {i}": {i: 40} for i in range(2, 13, 6)},
    "1 before every link": dict.fromkeys(range(10_000), 1),
    "5 before every link": dict.fromkeys(range(10_000), 5),
}
"""How many steps the run makes before which links; a layer by tasks has some twenty."""


@swept("schedule", SCHEDULES, few=["5 before every link"])
def test_steps_of_the_run_between_the_links(tmp_path, monkeypatch, schedule):
    plan, store = stopped_of(tmp_path)
    steps, links, link = Steps(plan, monkeypatch), [], os.link

    def steps_and_links(*arguments):
        for _ in range(SCHEDULES[schedule].get(len(links), 0)):
            steps.step()
        links.append(arguments)
        link(*arguments)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(backup_module.os, "link", steps_and_links)
            made = back_up(store.path, tmp_path / "backup")
    finally:
        steps.finish()
    copy, whole = RunStore.open(tmp_path / "backup"), RunStore.open(store.path)
    assert made.linked
    assert verify(copy).faults == []
    assert whole.complete
    assert len(copy.records) >= DEPTH
    done = goes_on(plan, copy.path)
    assert [record.states for record in done.records] == COUNTS
    assert_store_the_same(done, whole)


@pytest.mark.sweep
def test_a_run_in_another_process(tmp_path):
    """Of many tasks a layer; as often as can be."""
    path = tmp_path / "run"
    words = "--set", "search.in_memory=false", "--set", "cluster.kind=serial"
    command = [sys.executable, "tests/campaigns/finely.py", "run", "configs/2x5.toml", *words]
    command += ["--set", f"store.path={path}"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    made = []
    while process.poll() is None:
        if RunStore.exists(path):
            made.append(back_up(path, tmp_path / f"backup-{len(made)}"))
    assert process.returncode == 0
    assert len({each.depth for each in made}) > 5
    assert any(each.under_way for each in made)
    counts = [record.states for record in RunStore.open(path).records]
    for each in made[:: len(made) // 10 + 1]:
        assert verify(RunStore.open(Path(each.path))).faults == []
    for each in made[:: len(made) // 2 + 1]:
        invoke("run", each.path, "--set", "cluster.kind=serial")
        assert [record.states for record in RunStore.open(Path(each.path)).records] == counts


# --- apart from the run


@swept("first", ["run", "backup"], few=1)
def test_neither_run_changes_the_files_of_the_other(tmp_path, first):
    plan, store = stopped_of(tmp_path)
    back_up(store.path, tmp_path / "backup")
    second = "backup" if first == "run" else "run"
    before = contents(tmp_path / second)
    done = goes_on(plan, tmp_path / first)
    assert [record.states for record in done.records] == COUNTS
    assert contents(tmp_path / second) == before
    api.delete_run(tmp_path / first)
    assert contents(tmp_path / second) == before
    assert [r.states for r in goes_on(plan, tmp_path / second).records] == COUNTS


def test_links_take_no_room(tmp_path):
    _, store = stopped_of(tmp_path)
    back_up(store.path, tmp_path / "backup")
    parts = list((tmp_path / "backup").glob("layers/*/c.*"))
    assert parts
    assert all(part.stat().st_nlink == 2 for part in parts)
    for name in ("events.jsonl", "lock", "run.json", "ledger.json"):
        assert (tmp_path / "backup" / name).stat().st_nlink == 1


REFUSED = {
    "another file system": lambda run, to: errno.EXDEV if run not in Path(to).parents else None,
    "no links at all": lambda run, to: errno.EPERM,
    "a disk without room for names": lambda run, to: errno.ENOSPC,
}


@swept("why", REFUSED, few=1)
def test_where_links_are_refused_files_are_copied(tmp_path, monkeypatch, why):
    plan, store = stopped_of(tmp_path)
    link = os.link

    def refuses(source, to):
        if number := REFUSED[why](store.path, to):
            raise OSError(number, os.strerror(number))
        link(source, to)

    monkeypatch.setattr(backup_module.os, "link", refuses)
    made = back_up(store.path, tmp_path / "backup")
    assert not made.linked
    assert {path.name for path in tmp_path.iterdir()} == {"run", "backup"}
    assert not list(store.path.glob("backup*"))
    assert all(file.stat().st_nlink == 1 for file in contents(tmp_path / "backup"))
    assert verify(RunStore.open(tmp_path / "backup")).faults == []
    assert [r.states for r in goes_on(plan, tmp_path / "backup").records] == COUNTS


def test_a_run_that_starts_meanwhile_leaves_the_links_alone(tmp_path, monkeypatch):
    """They are copied to another file system, which takes a while."""
    plan, store = stopped_of(tmp_path)
    link, copy = os.link, shutil.copy2
    started = []

    def refuses(source, to):
        if store.path not in Path(to).parents:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        link(source, to)

    def starts(source, to):
        if "layers" in Path(source).parts and not started:
            started.append(run_of(plan))
        copy(source, to)

    monkeypatch.setattr(backup_module.os, "link", refuses)
    monkeypatch.setattr(backup_module.shutil, "copy2", starts)
    back_up(store.path, tmp_path / "backup")
    assert started[0].complete
    kept = RunStore.open(tmp_path / "backup")
    assert len(kept.records) == DEPTH
    assert verify(kept).faults == []
    assert not list(store.path.glob("backup*"))


# --- what is refused, and what is left


def test_a_place_that_is_taken(tmp_path):
    _, store = stopped_of(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    before = contents(tmp_path)
    for name in ("file", "folder", "link"):
        assert (
            "nothing is overwritten" in invoke("backup", store.path, tmp_path / name, code=2).output
        )
    assert (
        "lies in the run directory"
        in invoke("backup", store.path, store.path / "layers" / "x", code=2).output
    )
    assert "cannot be made" in invoke("backup", store.path, tmp_path / "file" / "x", code=2).output
    assert contents(tmp_path) == before
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_run_whose_files_are_missing(tmp_path):
    plan, store = stopped_of(tmp_path)
    part = next(store.layer_path(DEPTH - 1).glob("c.*"))
    part.unlink()
    with pytest.raises(CorruptRunError, match=f"layers/00{DEPTH - 1} lacks 1 of its 4 parts"):
        back_up(store.path, tmp_path / "backup")
    part.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CorruptRunError, match=f"00{DEPTH - 1} lacks 1 of its 4 parts"):
        back_up(store.path, tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert plan.config.path == store.path


@pytest.mark.parametrize("made", [Path.mkdir, os.mkfifo], ids=["directory", "pipe"])
def test_what_is_no_file_is_left_out(tmp_path, made):
    """What only Zarr or people read is not missed; a part is."""
    plan, store = stopped_of(tmp_path)
    layer = store.layer_path(DEPTH - 1)
    part, others = next(layer.glob("c.*")), (layer / "zarr.json", store.path / "events.jsonl")
    for file in others:
        file.unlink(missing_ok=True)
        made(file)
    back_up(store.path, tmp_path / "backup")
    for file in others:
        assert not (tmp_path / "backup" / file.relative_to(store.path)).exists()
    assert [r.states for r in goes_on(plan, tmp_path / "backup").records] == COUNTS
    part.unlink()
    made(part)
    said = invoke("backup", store.path, tmp_path / "another", code=4).output
    assert f"{layer} lacks 1 of its 4 parts, though its layer is stored" in " ".join(said.split())


def test_a_run_that_is_begun_anew_meanwhile(tmp_path, monkeypatch):
    plan, store = stopped_of(tmp_path)
    link, calls = os.link, []

    def begun_anew(source, to):
        calls.append(source)
        if len(calls) == 3:
            api.delete_run(store.path)
            stopped_of(tmp_path, plan=plan)
        link(source, to)

    monkeypatch.setattr(backup_module.os, "link", begun_anew)
    with pytest.raises(InputError, match="begun anew"):
        back_up(store.path, tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_nothing_is_left_of_one_that_is_interrupted(tmp_path, monkeypatch):
    _, store = stopped_of(tmp_path)

    def interrupted(source, to):
        raise KeyboardInterrupt

    monkeypatch.setattr(backup_module.os, "link", interrupted)
    with pytest.raises(KeyboardInterrupt):
        back_up(store.path, tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_one_that_was_killed_has_left_is_swept(tmp_path):
    """By the next one, and by a run; but not while somebody is at work there."""
    plan, store = stopped_of(tmp_path)
    mark = f".{'0' * 32}.partial"
    left = [tmp_path / f"backup{mark}", store.path / f"backup{mark}"]
    others = [tmp_path / f"other{mark}", tmp_path / "backup.partial"]
    for folder in left + others:
        folder.mkdir()
        (folder / "lock").touch()
    with RunLock(left[0] / "lock"), RunLock(left[1] / "lock"):
        back_up(store.path, tmp_path / "backup")
        run_of(plan, until=DEPTH)
        assert all(folder.exists() for folder in left)
    shutil.rmtree(tmp_path / "backup")
    back_up(store.path, tmp_path / "backup")
    assert not any(folder.exists() for folder in left)
    left[1].mkdir()
    run_of(plan, until=DEPTH)
    assert not left[1].exists()
    assert all(folder.exists() for folder in others)


LATE = [errno.EIO, errno.EROFS, errno.ESTALE, errno.ETIMEDOUT]


@swept("number", LATE, few=1)
@pytest.mark.parametrize("harmed", ["renaming", "forcing a file", "forcing the name", "its files"])
def test_a_backup_that_fails_late(tmp_path, monkeypatch, number, harmed):
    """There is no target that a second try refuses, unless the first one has said so."""
    _, store = stopped_of(tmp_path)
    target, failed = tmp_path / "to" / "backup", []
    harm = {
        "renaming": (Path, "rename", lambda path, to: to == target),
        "forcing a file": (backup_module, "force_all", lambda path: True),
        "forcing the name": (backup_module, "force", lambda path: path == target.parent),
        "its files": (os, "open", lambda path, *_: str(path).startswith(f"{target}/")),
    }

    def fails(*arguments):
        if wrong(*arguments):
            failed.append(arguments)
            raise OSError(number, os.strerror(number))
        return real(*arguments)

    with monkeypatch.context() as patch:
        place, name, wrong = harm[harmed]
        real = getattr(place, name)
        patch.setattr(place, name, fails)
        result = CliRunner().invoke(main, ["backup", str(store.path), str(target)])
    if harmed == "its files":  # which have been looked at before they got the name
        assert (result.exit_code, failed) == (0, [])
    else:
        assert (result.exit_code, len(failed)) == (3, 1)
        assert os.strerror(number) in result.stderr
    if harmed in ("renaming", "forcing a file"):
        assert list(target.parent.iterdir()) == []
        invoke("backup", store.path, target)
    elif harmed == "forcing the name":
        assert f"{target} is there and whole" in result.stderr
        assert "delete it and try again" in result.stderr
    assert verify(RunStore.open(target)).faults == []


def test_what_the_command_says(tmp_path):
    config = config_of(tmp_path, 2, 3)
    run_of(api.plan(config))
    said = invoke("backup", tmp_path / "run", tmp_path / "a" / "backup").stdout
    assert said.startswith(f"{tmp_path}/a/backup: depth 21; ")
    assert said.endswith(": linked, so it takes no room of its own\n")
    value = json.loads(invoke("backup", tmp_path / "run", tmp_path / "b", "--json").stdout)
    assert value["path"] == str(tmp_path / "b")
    assert (value["depth"], value["linked"], value["under_way"]) == (21, True, 0)
    assert "all sound" in invoke("verify", tmp_path / "b").output
