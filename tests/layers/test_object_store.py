"""Runs in an object store: right, resumable, never harmed by another process."""

import dataclasses
import json
import sys
import time
from itertools import product

import numpy as np
import pytest
import zarr

from frontier.api import runs as api
from frontier.codec import zarr_codec  # noqa: F401  (Zarr finds the codec of bitmaps)
from frontier.errors import CorruptRunError, Gone
from frontier.layers.events import LayerFinished, LayerStarted
from frontier.layers.run import LayerRun
from frontier.layers.task import Workspace, expand_task
from frontier.layers.verify import verify
from frontier.storage.places import storage_at
from frontier.storage.requests import bucket_of
from tests.support.bucket_runs import CONFIGS, FORMS, assert_same, plan_of
from tests.support.commands import invoke
from tests.support.run_files import copied
from tests.support.sweeps import swept


def stop_and_go_on(bucket, tmp_path, form, **search):
    for until in (3, 11, 12, None):
        run = api.run(plan_of(bucket, form, **search), until).store
        assert not verify(run, deep=20).faults
    assert_same(run, api.run(plan_of(tmp_path / "run", form, **search)).store)
    assert bucket.names() == {
        "run.json", "run.copy.json", "ledger.json", "ledger.copy.json", "layers",
        "events.jsonl", "summary.json", "environment.json", "status.html",
    }  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_is_stopped_and_goes_on(bucket, tmp_path, form):
    stop_and_go_on(bucket, tmp_path, form)


@pytest.mark.sweep
def test_a_stopped_run_with_spare_layers_goes_on(s3_bucket, tmp_path):
    stop_and_go_on(s3_bucket, tmp_path, "tasks", spare=2)


@pytest.mark.sweep
def test_a_stopped_run_that_keeps_all_layers_goes_on(memory_bucket, tmp_path):
    stop_and_go_on(memory_bucket, tmp_path, "memory", keep="all")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("form", "kind"), list(product(["lists", "tasks"], [LayerStarted, LayerFinished]))
)
def test_of_two_drivers_one_goes_on(bucket, monkeypatch, form, kind):
    """The other one ends with an error when it commits, and has harmed nothing."""
    monkeypatch.setattr("frontier.layers.loop.LIST_SECONDS", 0)
    other = []

    def goes_on(event):
        """Another driver does the rest before this one begins with the next layer."""
        if isinstance(event, kind) and event.depth >= 1 and not other:
            other.append(api.run(plan_of(bucket, form)).store)

    with pytest.raises(Gone):
        api.run(plan_of(bucket, form), listeners=[goes_on])
    run = LayerRun.open(bucket)
    assert run.complete
    assert run.records == other[0].records
    assert not verify(run, deep=20).faults


@swept(
    ("form", "moment", "ahead"),
    [
        ("lists", "sweep", 1),
        ("lists", "drop_list", 0),
        ("lists", "drop_list", 3),
        ("tasks", "drop_list", 1),
        ("tasks", "sweep", 0),
        ("tasks", "sweep", 3),
    ],
    few=[("tasks", "sweep", 3)],
)
def test_a_driver_that_was_overtaken_deletes_nothing(bucket, monkeypatch, form, moment, ahead):
    """Another one goes on while it has read the ledger and not yet written to it."""
    monkeypatch.setattr("frontier.layers.loop.LIST_SECONDS", 0)
    api.run(plan_of(bucket, form), 9)
    original, depth = getattr(LayerRun, moment), 9 + ahead

    def overtaken(run, *arguments):
        monkeypatch.setattr(LayerRun, moment, original)
        api.run(plan_of(bucket, form), depth)
        original(run, *arguments)

    monkeypatch.setattr(LayerRun, moment, overtaken)
    if ahead:
        with pytest.raises(Gone):
            api.run(plan_of(bucket, form))
    else:
        api.run(plan_of(bucket, form), depth)
    run = LayerRun.open(bucket)
    assert len(run.records) == depth + 1
    assert not verify(run, deep=20).faults
    assert api.run(plan_of(bucket, form)).store.complete


def test_a_ledger_is_never_taken_for_an_earlier_one(bucket):
    """Though it says the same, as after a repair, or in another run that has not begun."""
    run = api.run(plan_of(bucket, "lists", keep="all"), 10).store
    late = LayerRun.open(bucket)
    run.roll_back(8, run.stored_depths()[:9])
    run.roll_back(8, run.stored_depths())
    again = api.run(plan_of(bucket, "lists", keep="all"), 10).store
    assert [r.chain for r in again.records] == [r.chain for r in late.records]
    with pytest.raises(Gone):
        late.commit([], complete=True)
    assert not LayerRun.open(bucket).complete


def test_a_run_that_was_stopped_between_run_json_and_ledger(bucket):
    api.run(plan_of(bucket, "lists"), 0)
    bucket.delete("ledger.json")
    with pytest.raises(CorruptRunError, match=r"ledger\.json is missing"):
        LayerRun.open(bucket)  # layers are there
    bucket.delete(*(name for name, _ in bucket.files("layers")))
    assert "no layer is committed yet" in invoke("status", bucket).stdout
    assert api.run(plan_of(bucket, "lists")).store.complete


def test_two_that_begin_the_same_run(bucket, monkeypatch):
    create = LayerRun.create.__func__

    def after_another(cls, path, identity, durable=False):
        with monkeypatch.context() as patch:
            patch.setattr(LayerRun, "create", classmethod(create))
            api.run(plan_of(bucket, "lists"), 5)
        create(cls, path, identity)

    monkeypatch.setattr(LayerRun, "create", classmethod(after_another))
    with pytest.raises(Gone):
        api.run(plan_of(bucket, "lists"))
    own = {"format", "identifier", "created"}
    told = {key: of for key, of in LayerRun.open(bucket).identity.items() if key not in own}
    with pytest.raises(Gone):
        create(LayerRun, bucket, told)
    monkeypatch.undo()
    run = LayerRun.open(bucket)
    assert len(run.records) == 6
    assert not verify(run).faults


def durable(run):
    return dataclasses.replace(run.ref, durable=True)


@pytest.mark.sweep
def test_a_late_worker_of_a_run_that_was_deleted(bucket):
    """It may go on at any time, and changes nothing of the run that has taken its place."""
    old = api.run(plan_of(bucket, "tasks"), 12).store
    expand_task(durable(old), True, 13, 0)
    new = api.run(plan_of(bucket, "tasks"), 20, fresh=True).store
    assert bucket.names("layers") == {new.identity["identifier"]}
    files = old.files(13, Workspace(new).layout)
    files.begin()
    bucket.write(files.name(0), b"late")
    old.delete_replaced_part(19, 0, Workspace(new).layout)
    assert not verify(LayerRun.open(bucket), deep=20).faults
    assert api.run(plan_of(bucket, "tasks")).store.complete
    api.delete_run(str(bucket))
    assert bucket.names() == set()


@pytest.mark.sweep
def test_commands(bucket, tmp_path):
    words = CONFIGS / "2x3.toml", "--set", f"store.path={bucket}"
    settings = ("--set", "search.in_memory=false", "--set", "cluster.kind=serial")
    keep = ("--set", "search.keep=all")
    invoke("run", *words, *settings, *keep, "--until", "10")
    assert f"in {bucket}" in invoke("status", bucket).stdout
    assert "stopped" in invoke("status", bucket).stdout
    invoke("run", *words, *settings, *keep, "--json")
    status = json.loads(invoke("status", bucket, "--json").stdout)
    assert (status["complete"], status["depth"], status["states"]) == (True, 21, 360)
    assert "no faults" in invoke("verify", bucket, "--deep").stdout
    assert "1 position at depth 21" in invoke("farthest", bucket).stdout
    board = json.loads(invoke("farthest", bucket, "--json").stdout)["positions"]
    assert "21 moves" in invoke("solve", bucket, " ".join(map(str, np.ravel(board)))).stdout
    assert "21 moves" in invoke("report", bucket).stdout
    invoke("export", bucket, tmp_path / "distances.zarr")
    assert zarr.open_array(tmp_path / "distances.zarr", mode="r").attrs["states"] == 360
    run = LayerRun.open(bucket)
    part = f"{run.layer_name(12)}/{min(run.part_names(12))}"
    content = bytearray(bucket.read(part))
    content[0] ^= 1
    bucket.write(part, bytes(content))
    assert bucket.place(part) in invoke("verify", bucket, code=4).output
    assert "layers 12–21 discarded" in invoke("repair", bucket, "--yes").stdout
    invoke("run", *words, *settings, *keep)
    assert "no faults" in invoke("verify", bucket, "--deep").stdout
    invoke("run", *words, *settings, "--fresh", "--yes")
    assert LayerRun.open(bucket).stored_depths() == [20, 21]
    copied(bucket, tmp_path / "copy")
    copied(tmp_path / "copy", f"{bucket}-copy")
    for copy in (tmp_path / "copy", f"{bucket}-copy"):
        assert "no faults" in invoke("verify", copy, "--deep").stdout
    invoke("export", bucket, f"{bucket}.zarr", code=2)
    bucket.delete("run.json")
    assert "is missing, but not its copy" in invoke("status", bucket, code=4).stderr
    assert "run.json: rewritten" in invoke("repair", bucket).stdout
    assert "no faults" in invoke("verify", bucket).stdout


@pytest.mark.sweep
@swept("until", [20, None], few=1)
def test_zarr_opens_the_layers(s3_bucket, until):
    from obstore.store import from_url

    run = api.run(plan_of(s3_bucket, "tasks", keep="all"), until).store
    store = zarr.storage.ObjectStore(
        from_url(str(run.storage.place(run.layers_name))), read_only=True
    )
    group = zarr.open_group(store, mode="r")
    work = Workspace(run)
    assert sorted(group.array_keys()) == [f"{depth:04d}" for depth in run.stored_depths()]
    assert {record.form for record in run.records[::5]} == {"list", "bits"}
    for record in run.records[::5]:
        array = group[f"{record.depth:04d}"]
        numbers = work.layer(record.depth).numbers()
        if record.form == "list":
            assert np.array_equal(array[:], numbers)
        else:
            assert int(np.bitwise_count(array[:]).sum()) == numbers.size == record.states


@pytest.mark.sweep
def test_a_bucket_that_cannot_be_used(s3_bucket, monkeypatch):
    missing = "s3://no-such-bucket/run"
    words = CONFIGS / "2x3.toml", "--set", f"store.path={missing}"
    assert "no-such-bucket" in invoke("run", *words, code=3).stderr
    assert "no such run directory" in invoke("status", f"{s3_bucket}/run", code=2).stderr
    assert "NoSuchBucket" in invoke("run", *words, code=3).stderr
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "127.0.0.1:1")
        bucket_of.cache_clear()
        assert "AWS_ENDPOINT_URL = 127.0.0.1:1: expected" in invoke("run", *words, code=2).stderr
    for name in ("obstore", "obstore.store"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            bucket_of.cache_clear()
            here = CONFIGS / "2x3.toml", "--set", f"store.path={s3_bucket}"
            assert "pip install 'frontier[cloud]'" in invoke("run", *here, code=2).stderr


@swept("form", ["text", "json"], few=1)
def test_a_plan(bucket, form):
    words = "plan", CONFIGS / "2x4.toml", "--set", f"store.path={bucket}"
    if form == "text":
        assert "free: not known" in invoke(*words).stdout
    else:
        assert json.loads(invoke(*words, "--json").stdout)["forecast"]["disk"]["free"] is None
    assert bucket.names() == set()


def test_a_family(bucket):
    words = CONFIGS / "2x3.toml", "--set", "puzzle.blank=all", "--set", f"store.path={bucket}"
    invoke("run", *words)
    assert len(json.loads(invoke("status", bucket, "--json").stdout)["runs"]) == 2
    assert storage_at(str(bucket)).is_folder()


@pytest.mark.sweep
def test_a_run_that_is_read_while_it_goes_on(bucket, monkeypatch):
    """Nobody is kept out, so what is gone is looked at again before it is called damage."""
    api.run(plan_of(bucket, "tasks"), 12)
    original = LayerRun.copied_records

    def after_more(run):
        monkeypatch.setattr(LayerRun, "copied_records", original)
        api.run(plan_of(bucket, "tasks"), 16)
        return original(run)

    monkeypatch.setattr(LayerRun, "copied_records", after_more)
    assert "2 layers on disk" in (said := invoke("verify", bucket, "--deep").stdout)
    assert "no faults" in said
    run = LayerRun.open(bucket)
    assert len(run.records) == 17
    bucket.delete(f"{run.layer_name(16)}/{min(run.part_names(16))}")
    assert "is missing" in invoke("verify", bucket, code=4).output


def test_a_part_that_is_given_up_while_a_run_is_read(bucket):
    run = api.run(plan_of(bucket, "tasks"), 12).store

    def one_is_done(said):
        if said == "layer 11":
            run.files(13, Workspace(run).layout).begin()
            expand_task(durable(run), True, 13, 0)

    found = verify(run, deep=20, say=one_is_done)
    assert (found.faults, found.depth_being_replaced) == ([], 11)


def test_how_far_a_run_is_without_a_lock(bucket, monkeypatch):
    """Its log has no end and its page is fresh, while it is under way."""
    states, now = [], time.time()

    def look(event):
        if isinstance(event, LayerFinished) and event.layer.depth == 5:
            bucket.write("status.html", b"as the thread writes it")
            states.append(json.loads(invoke("status", bucket, "--json").stdout)["state"])
            monkeypatch.setattr("time.time", lambda: now + 100)
            states.append(json.loads(invoke("status", bucket, "--json").stdout)["state"])
            monkeypatch.undo()

    api.run(plan_of(bucket, "tasks"), 9, listeners=[look])
    states.append(json.loads(invoke("status", bucket, "--json").stdout)["state"])
    assert states == ["under way", "stopped", "stopped"]
