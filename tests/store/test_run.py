import json
import os

import numpy as np
import pytest

from frontier.errors import CorruptRunError, InputError
from frontier.store.files import (
    disk_bytes,
    read_json,
    read_sealed,
    remove_tree,
    sweep,
    write_json,
    write_sealed,
)
from frontier.store.layers import write_list
from frontier.store.lock import RunLock, describe_holder, is_held
from frontier.store.run import LayerRecord, RunStore

IDENTITY = {"name": "x", "puzzle": {}, "codec": "lz4", "keep": "frontier", "layout": {}}


def committed(run, depth, forget=()):
    numbers = np.arange(depth + 1, dtype=np.uint64)
    manifest = write_list(run.layer_path(depth), depth, numbers, "lz4")
    record = LayerRecord(depth, depth + 1, "list", True, 0.5, manifest.bytes)
    run.commit([manifest], [record], complete=False, forget=forget)


def test_what_is_committed_is_there_when_opened_again(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    for depth in range(4):
        committed(run, depth, forget=(depth - 2,) if depth >= 2 else ())
    assert [p.name for p in run.recycled_path.glob("c.*")] == ["c.0"]
    run.drop_forgotten()
    assert not run.recycled_path.exists()
    again = RunStore.open(tmp_path / "run")
    assert again.records == run.records
    assert again.stored_depths() == [2, 3]
    assert again.states == 1 + 2 + 3 + 4
    assert again.layer(3).read_list().tolist() == [0, 1, 2, 3]
    assert sorted(path.name for path in (tmp_path / "run" / "layers").glob("0*")) == [
        "0002",
        "0003",
    ]
    assert sorted(path.name for path in (tmp_path / "run" / "manifests").iterdir()) == [
        "0002.json",
        "0003.json",
    ]


def test_sweep_keeps_what_a_resumed_run_uses(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    write_list(run.layer_path(1), 1, np.arange(3, dtype=np.uint64), "lz4")  # under way
    run.wip_path(1).mkdir()
    write_json(run.wip_path(1) / "0.json", {"number": 0})
    (run.layer_path(1) / "c.7.abc.partial").write_bytes(b"torn")
    write_list(run.layer_path(2), 2, np.arange(3, dtype=np.uint64), "lz4")  # never committed
    run.wip_path(0).mkdir()
    write_json(run.wip_path(0) / "0.json", {"number": 0})
    (tmp_path / "run" / "wip" / "0016.0").write_text("not ours")
    (tmp_path / "run" / "layers" / "0009.ff.deleting").mkdir()
    run.sweep()
    assert run.layer(0).read_list().tolist() == [0]
    assert (run.wip_path(1) / "0.json").exists()
    assert (run.layer_path(1) / "c.0").exists()
    for path in (
        run.layer_path(2),
        run.wip_path(0),
        tmp_path / "run" / "layers" / "0009.ff.deleting",
        run.layer_path(1) / "c.7.abc.partial",
    ):
        assert not path.exists()


def test_sweep_drops_a_layer_without_finished_tasks(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    write_list(run.layer_path(1), 1, np.arange(3, dtype=np.uint64), "lz4")
    run.sweep()
    assert not run.layer_path(1).exists()


def test_other_formats_and_no_run(tmp_path):
    with pytest.raises(InputError, match=r"run\.json"):
        RunStore.open(tmp_path)
    run = RunStore.create(tmp_path / "run", IDENTITY)
    identity = read_json(run.path / "run.json")
    write_json(run.path / "run.json", {**identity, "format": 99})
    with pytest.raises(CorruptRunError, match="99"):
        RunStore.open(run.path)


def test_damaged_ledger(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    (run.path / "ledger.json").write_text("[")
    with pytest.raises(CorruptRunError, match="ledger"):
        RunStore.open(run.path)
    (run.path / "ledger.json").unlink()
    with pytest.raises(CorruptRunError, match="missing"):
        RunStore.open(run.path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"store\.path"):
        RunStore.create(tmp_path / "file" / "run", IDENTITY)


def test_files_are_replaced_whole_and_trees_go(tmp_path):
    (tmp_path / "a").mkdir()
    write_json(tmp_path / "a" / "x.json", {"n": 1})
    write_json(tmp_path / "a" / "x.json", {"n": 2})
    assert read_json(tmp_path / "a" / "x.json") == {"n": 2}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x.json"]
    assert disk_bytes(tmp_path) == len('{"n": 2}')
    remove_tree(tmp_path / "a")
    remove_tree(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.partial").write_text("torn")
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_writer(tmp_path):
    lock = tmp_path / "lock"
    assert not is_held(lock)
    with RunLock(lock):
        assert is_held(lock)
        with pytest.raises(InputError, match=rf"process {os.getpid()} on host"), RunLock(lock):
            pass
    assert not is_held(lock)
    with RunLock(lock):
        assert is_held(lock)


@pytest.mark.parametrize("content", ["", "garbage", "null", "{}", "[]", '{"process": 1}'])
def test_a_lock_file_without_a_holder_holds_nobody_back(tmp_path, content):
    lock = tmp_path / "lock"
    lock.write_text(content)
    assert describe_holder(lock) == "another process"
    with RunLock(lock):
        assert str(os.getpid()) in describe_holder(lock)


def test_a_lock_that_cannot_be_made(tmp_path):
    (tmp_path / "lock").mkdir()
    with pytest.raises(InputError, match="cannot be written"), RunLock(tmp_path / "lock"):
        pass


def test_directories_that_hold_something_else_are_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        RunStore.create(tmp_path / "run", IDENTITY)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]


def test_a_run_without_its_identity_is_not_begun_anew(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    (run.path / "run.json").unlink()
    with pytest.raises(CorruptRunError, match=r"run\.json is missing"):
        RunStore.create(tmp_path / "run", IDENTITY)


def test_delete_leaves_what_is_not_its_own(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    (run.path / "notes.txt").write_text("mine")
    (run.path / "ledger.json").write_text("damaged")
    RunStore.delete(run.path)
    assert [path.name for path in run.path.iterdir()] == ["notes.txt"]


def test_digests_do_not_depend_on_how_keys_are_written(tmp_path):
    value = {"nodes": {i: i for i in range(12)}, "text": "×"}
    write_sealed(tmp_path / "x.json", value)
    assert read_sealed(tmp_path / "x.json")["nodes"] == {str(i): i for i in range(12)}


def test_leftovers_of_a_killed_run_are_its_own(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    (run.path / "ledger.json.ab.partial").write_text("torn")
    (run.path / "recycled.ab.deleting").mkdir()
    RunStore.refuse_others({path.name for path in run.path.iterdir()}, run.path)
    RunStore.delete(run.path)
    assert list(run.path.iterdir()) == []


def test_edited_files_are_found(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    committed(run, 1)
    for path in (run.path / "ledger.json", run.path / "run.json", run.manifest_path(1)):
        good = path.read_text()
        value = json.loads(good)
        value["edited"] = True
        path.write_text(json.dumps(value))
        with pytest.raises(CorruptRunError, match=path.name):
            RunStore.open(run.path).layer(1)
        path.write_text(good)
    assert RunStore.open(run.path).layer(1).read_list().tolist() == [0, 1]
