"""Copies of runs that are stopped: whole, compared, from and to every kind of place."""

import dataclasses
import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from frontier import api
from frontier.errors import FULL, CorruptRunError, InputError
from frontier.runs import backup as backup_module
from frontier.runs.backup import back_up
from frontier.runs.layer_run import LayerRun
from frontier.search.verify import verify
from frontier.storage.local import LocalStorage
from frontier.storage.lock import RunLock
from frontier.storage.places import storage_at
from tests.search.test_two_layers import COUNTS, DEPTH, stopped_of
from tests.support.commands import invoke
from tests.support.run_files import file_of
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS
from tests.support.tile_runs import config_of
from tests.support.tile_runs import run as run_of


def goes_on(plan, place):
    """The run at a place, gone on with to its end."""
    store = plan.config.store.model_copy(update={"path": str(place)})
    config = plan.config.model_copy(update={"store": store})
    return run_of(dataclasses.replace(api.plan(config), list_states=0))


def contents(place):
    """The files of a run but for its lock."""
    place = storage_at(place)
    return {name: place.read(name) for name, _ in place.files() if name != "lock"}


@swept("done", [0, 2], few=[2])
@swept(("one", "other"), [("local", "bucket"), ("local", "local"), ("bucket", "bucket")], few=1)
def test_there_and_back(tmp_path, memory_bucket, one, other, done):
    plan, store = stopped_of(tmp_path, done)
    places = {"local": storage_at(tmp_path), "bucket": memory_bucket}
    first, second = places[one].below("first"), places[other].below("second")
    for source, target in ((store.storage, first), (first, second), (second, tmp_path / "back")):
        made = back_up(source, target := storage_at(target))
        assert contents(target) == contents(store.path)
        assert (made.files, made.left_out) == (len(contents(store.path)), [])
        assert made.bytes == sum(map(len, contents(store.path).values()))
        assert verify(LayerRun.open(target)).faults == []
    for place in (second, tmp_path / "back"):
        assert [record.states for record in goes_on(plan, place).records] == COUNTS
    assert len(LayerRun.open(store.path).records) == DEPTH


@swept("first", ["run", "backup"], few=1)
def test_neither_run_changes_the_files_of_the_other(tmp_path, first):
    plan, store = stopped_of(tmp_path)
    invoke("backup", store.path, tmp_path / "backup")
    second = "backup" if first == "run" else "run"
    before = contents(tmp_path / second)
    done = goes_on(plan, tmp_path / first)
    assert [record.states for record in done.records] == COUNTS
    assert contents(tmp_path / second) == before
    api.delete_run(tmp_path / first)
    assert contents(tmp_path / second) == before


# --- what is refused, and what is left


def test_a_run_that_is_being_written(tmp_path):
    _, store = stopped_of(tmp_path)
    with RunLock(store.path / "lock"):
        said = invoke("backup", store.path, tmp_path / "backup", code=2).output
        assert "is being written by process" in said
        assert "stop that run first" in " ".join(said.split())
    assert not LayerRun.exists(tmp_path / "backup")
    invoke("backup", store.path, tmp_path / "backup")


@pytest.mark.sweep
@pytest.mark.parametrize("change", ["commits", "deletes"])
def test_a_run_that_goes_on_where_there_are_no_locks(tmp_path, memory_bucket, monkeypatch, change):
    """It is noticed, and the target is no run."""
    plan, store = stopped_of(tmp_path)
    source = memory_bucket.below("run")
    back_up(store.storage, source)

    def goes_on_meanwhile(name):
        if name.startswith("layers/") and not again:
            again.append(name)
            goes_on(plan, source) if change == "commits" else api.delete_run(str(source))

    again = []
    with pytest.raises(InputError, match="changed while it was being copied; stop that run first"):
        back_up(source, storage_at(tmp_path / "copy"), say=goes_on_meanwhile)
    assert not LayerRun.exists(tmp_path / "copy")
    if change == "commits":
        back_up(source, storage_at(tmp_path / "copy"))
        assert verify(LayerRun.open(tmp_path / "copy")).faults == []


def test_a_place_that_is_taken(tmp_path):
    _, store = stopped_of(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes").write_text("mine")
    before = contents(tmp_path)
    for name in ("file", "folder", "run"):
        said = invoke("backup", store.path, tmp_path / name, code=2).output
        assert "already exists; name another place" in said
    said = invoke("backup", store.path, store.path / "layers" / "x", code=2).output
    assert "is in the run directory" in said
    assert "cannot be made" in invoke("backup", store.path, tmp_path / "file" / "x", code=2).output
    assert contents(tmp_path) == before


def test_a_run_whose_files_are_missing(tmp_path):
    _, store = stopped_of(tmp_path)
    part = next(store.layer_path(DEPTH - 1).glob("c.*"))
    part.unlink()
    said = invoke("backup", store.path, tmp_path / "backup", code=4).stderr
    assert "lacks 1 of 4 parts" in " ".join(said.split())
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("made", [Path.mkdir, os.mkfifo], ids=["directory", "pipe"])
def test_what_is_no_file_is_left_out_if_it_is_for_people(tmp_path, made):
    plan, store = stopped_of(tmp_path)
    (store.path / "events.jsonl").unlink()
    made(store.path / "events.jsonl")
    said = invoke("backup", store.path, tmp_path / "backup").stdout
    assert ("without events.jsonl" in said) == (made is os.mkfifo)
    assert not (tmp_path / "backup" / "events.jsonl").exists()
    assert [r.states for r in goes_on(plan, tmp_path / "backup").records] == COUNTS


def test_one_that_was_interrupted_is_no_run_and_is_written_over(tmp_path, monkeypatch):
    """Wherever it was; what it left of another run does not stay."""
    plan, store = stopped_of(tmp_path)
    target, copy = storage_at(tmp_path / "backup"), backup_module._copy
    for last in (0, 3, len(contents(store.path)) - 2):
        left = iter(range(last + 1))

        def interrupted(*names, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return copy(*names)

        with monkeypatch.context() as patch:
            patch.setattr(backup_module, "_copy", interrupted)
            with pytest.raises(KeyboardInterrupt):
                back_up(store.storage, target)
        assert not LayerRun.exists(target)
    target.make_folder("layers/other")
    target.write("layers/other/c.0", b"of another run")
    back_up(store.storage, target)
    assert contents(target) == contents(store.path)
    assert [r.states for r in goes_on(plan, target).records] == COUNTS


class Killed(BaseException):
    pass


@pytest.mark.parametrize("kind", ["local", "bucket"])
@pytest.mark.parametrize("name", ["layers", "ledger.json", "run.json", None])
def test_one_that_was_killed_is_written_over(tmp_path, memory_bucket, monkeypatch, name, kind):
    """name: the file before which it was; None: after the last one."""
    _, store = stopped_of(tmp_path)
    place = memory_bucket if kind == "bucket" else storage_at(tmp_path)
    target, copy, delete = place.below("backup"), backup_module._copy, type(place).delete
    dead = []

    def killed(source, to, file):
        if name and file.startswith(name):
            dead.append(file)
            raise Killed
        return copy(source, to, file)

    def deletes(storage, *names):
        if dead or (name is None and storage.exists("run.json")):
            raise Killed  # what comes after a kill is not done
        return delete(storage, *names)

    with monkeypatch.context() as patch:
        patch.setattr(backup_module, "_copy", killed)
        patch.setattr(type(place), "delete", deletes)
        with pytest.raises(Killed):
            back_up(store.storage, target)
    if name is None:  # it is whole, and a run
        with pytest.raises(InputError, match="already exists; name another place"):
            back_up(store.storage, target)
        assert verify(LayerRun.open(target)).faults == []
        return
    assert target.exists("ledger.json") == (name == "run.json")
    back_up(store.storage, target)
    assert contents(target) == contents(store.path)


def test_a_run_that_has_lost_its_run_json_is_not_written_over(tmp_path):
    _, store = stopped_of(tmp_path)
    shutil.copytree(store.path, tmp_path / "lost")
    for name in ("run.json", "run.copy.json", "ledger.json"):
        (tmp_path / "lost" / name).unlink()
        before = contents(tmp_path / "lost")
        said = invoke("backup", store.path, tmp_path / "lost", code=2).output
        assert "already exists; name another place" in said
        assert contents(tmp_path / "lost") == before


NO_FILES = {
    "directory": Path.mkdir,
    "pipe": os.mkfifo,
    "device": lambda place: place.symlink_to("/dev/null"),
    "link to itself": lambda place: place.symlink_to(place.name),
}


@swept("kind", NO_FILES, few=["directory", "pipe"])
@pytest.mark.parametrize("search", [False, True])
def test_what_is_no_file_and_is_needed_is_named(tmp_path, search, kind):
    if search:
        words = "--set", f"store.path={tmp_path / 'run'}", "--set", "cluster.kind=serial"
        invoke("gods-number", CONFIGS / "2x3.toml", *words)
        path = tmp_path / "run-gods-number"
        place = next((path / "tables").glob("*.npy"))
    else:
        _, store = stopped_of(tmp_path)
        path, place = store.path, next(store.layer_path(DEPTH - 1).glob("c.*"))
    place.unlink()
    NO_FILES[kind](place)
    said = invoke("backup", path, tmp_path / "backup", code=4).stderr
    assert str(place) in said
    assert "nothing was backed up" in " ".join(said.split())
    assert not (tmp_path / "backup").exists()


@swept("number", [errno.EIO, errno.ENOSPC, errno.ETIMEDOUT], few=1)
@pytest.mark.parametrize("what", ["write", "fsync"])
def test_a_disk_that_fails(tmp_path, monkeypatch, number, what):
    _, store = stopped_of(tmp_path)

    def fails(*arguments):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        if what == "fsync":
            patch.setattr(os, "fsync", fails)
        else:
            patch.setattr(LocalStorage, "new_file", fails)
        said = invoke("backup", store.path, tmp_path / "backup", code=3).stderr
    assert FULL.get(number, os.strerror(number)) in said
    assert not LayerRun.exists(tmp_path / "backup")
    invoke("backup", store.path, tmp_path / "backup")
    assert verify(LayerRun.open(tmp_path / "backup")).faults == []


def test_a_target_that_keeps_something_else(tmp_path, monkeypatch):
    """Each file is read again and compared."""
    _, store = stopped_of(tmp_path)
    pieces = backup_module._chunks

    def turned(storage, name):
        for piece in pieces(storage, name):
            if storage.path == tmp_path / "backup" and name.startswith("layers/"):
                piece[0] ^= 1
            yield piece

    monkeypatch.setattr(backup_module, "_chunks", turned)
    with pytest.raises(CorruptRunError, match="is corrupt; try again"):
        back_up(store.storage, storage_at(tmp_path / "backup"))
    assert not LayerRun.exists(tmp_path / "backup")


def test_files_larger_than_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(backup_module, "CHUNK_BYTES", 7)
    _, store = stopped_of(tmp_path)
    back_up(store.storage, storage_at(tmp_path / "backup"))
    assert contents(tmp_path / "backup") == contents(store.path)


def test_damage_is_copied_as_it_is(tmp_path):
    """`verify` finds it in both."""
    _, store = stopped_of(tmp_path)
    file = file_of(store.path, f"layers/{DEPTH - 1:04d}/c.0.0.0")
    file.write_bytes(file.read_bytes()[:-1] + b"\0")
    invoke("backup", store.path, tmp_path / "backup")
    assert contents(tmp_path / "backup") == contents(store.path)
    invoke("verify", tmp_path / "backup", code=4)


def test_what_the_command_says(tmp_path):
    run_of(api.plan(config_of(tmp_path, 2, 3)))
    said = invoke("backup", tmp_path / "run", tmp_path / "a" / "backup").stdout
    assert said.startswith(f"{tmp_path}/a/backup: ")
    assert said.endswith("kB, copied and compared\n")
    value = json.loads(invoke("backup", tmp_path / "run", tmp_path / "b", "--json").stdout)
    assert value["path"] == str(tmp_path / "b")
    assert value["files"] == len(contents(tmp_path / "run"))
    assert "no faults" in invoke("verify", tmp_path / "b").output
    shutil.rmtree(tmp_path / "run")
    assert "no faults" in invoke("verify", tmp_path / "b").output
