"""What another run has written, and what is somebody else's, in a run directory."""

import dataclasses
import shutil

import pytest

from frontier.api import runs as api
from frontier.errors import CorruptRunError, FrontierError
from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from tests.support.commands import invoke
from tests.support.run_files import COPIES
from tests.support.stopped_runs import SETTINGS, config_of, copy_of_half_done, half_done
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

# --- what another run has written


def of_another_blank(path, **search):
    """A run of 2×4 whose layers have as many states, in parts of as many bytes, but others."""
    config = config_of(path, {"goal": [[1, 2, 3, 0], [4, 5, 6, 7]]}, **search)
    return api.run(api.plan(config), until=20).store


@swept("depths", [(19,), (20,), (19, 20)], few=1)
@pytest.mark.parametrize("form", ["lists", "bits"])
def test_layers_of_another_run_are_refused(tmp_path, depths, form, monkeypatch):
    if form == "bits":
        monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    mine = api.run(api.plan(config_of(tmp_path / "mine")), until=20).store
    other = of_another_blank(tmp_path / "other")
    assert [r.states for r in mine.records] == [r.states for r in other.records]
    for depth in depths:
        shutil.rmtree(mine.layer_path(depth))
        shutil.copytree(other.layer_path(depth), mine.layer_path(depth))
    found = verify(LayerRun.open(mine.path)).faults
    assert {fault.depth for fault in found} == set(depths)
    who = other.identity["identifier"]
    assert all(f"of run {who}" in fault.message for fault in found)
    with pytest.raises(CorruptRunError, match="is the wrong part"):
        api.run(api.plan(config_of(mine.path)))
    assert len(LayerRun.open(mine.path).records) == 21
    assert "of run" in invoke("verify", mine.path, "--deep", code=4).output


def test_the_whole_of_another_run_s_layers_and_ledger_is_refused(tmp_path):
    mine = copy_of_half_done(tmp_path / "mine")
    other = of_another_blank(tmp_path / "other")
    shutil.rmtree(mine.layer_path(0).parent)
    shutil.copytree(other.layer_path(0).parent, mine.layer_path(0).parent)
    for name in ("ledger.json", COPIES["ledger.json"]):
        shutil.copy(other.path / name, mine.path / name)
    invoke("verify", mine.path, code=4)
    with pytest.raises(CorruptRunError):
        api.run(api.plan(config_of(mine.path)))


def test_layers_of_an_earlier_run_in_the_same_place_are_refused(tmp_path):
    """As a worker that outlives its run may write them into that of run --fresh."""
    before = half_done(tmp_path / "run")
    shutil.copytree(before.layer_path(20), tmp_path / "kept")
    api.delete_run(before.path)
    after = half_done(tmp_path / "run")
    shutil.rmtree(after.layer_path(20))
    shutil.copytree(tmp_path / "kept", after.layer_path(20))
    with pytest.raises(CorruptRunError, match="is the wrong part"):
        api.run(api.plan(config_of(after.path)))
    assert not verify(after).sound(20)


def test_parts_of_a_layer_that_change_places_are_refused(tmp_path, monkeypatch):
    """Each is whole, and of this run."""
    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    plan = api.plan(config_of(tmp_path / "run", spare=2))
    plan = dataclasses.replace(plan, layout=dataclasses.replace(plan.layout, task_nodes=1))
    run = api.run(plan, until=20).store
    for one, other in (
        (run.layer_path(20) / "c.0.0.0", run.layer_path(20) / "c.1.0.0"),
        (run.layer_path(20) / "c.0.0.0", run.layer_path(18) / "c.0.0.0"),
    ):
        contents = one.read_bytes(), other.read_bytes()
        one.write_bytes(contents[1])
        other.write_bytes(contents[0])
        assert len(verify(run).faults) == 2
        one.write_bytes(contents[0])
        other.write_bytes(contents[1])
    assert verify(run).faults == []


# --- what is somebody else's


def test_run_fresh_leaves_what_is_not_the_run_s(tmp_path):
    """Files in its layers, and a layer that is a link."""
    run = copy_of_half_done(tmp_path / "run")
    shutil.copytree(run.layer_path(20), tmp_path / "elsewhere")
    linked = {path: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()}
    run.layer_path(40).symlink_to(tmp_path / "elsewhere")
    others = [run.layer_path(20) / "notes", run.layer_path(0).parent / "c.0.bak"]
    for path in others:
        path.write_text("mine")
    words = "--set", f"store.path={run.path}", *SETTINGS, "--fresh", "--yes"
    invoke("run", CONFIGS / "2x4.toml", *words)
    assert LayerRun.open(run.path).complete
    assert all(path.read_text() == "mine" for path in others)
    assert run.layer_path(40).is_symlink()
    assert {path: path.read_bytes() for path in linked} == linked


def test_forgetting_leaves_what_is_not_the_run_s(tmp_path):
    run = copy_of_half_done(tmp_path / "run")
    others = [run.layer_path(depth) / "notes" for depth in (19, 20)]
    for path in others:
        path.write_text("mine")
    done = api.run(api.plan(config_of(run.path)))
    assert sum(done.counts) == 20160
    assert all(path.read_text() == "mine" for path in others)
    assert [path.name for path in run.layer_path(19).iterdir()] == ["notes"]


def test_a_layer_that_has_become_a_link_is_not_written_to(tmp_path):
    run = copy_of_half_done(tmp_path / "run")
    run.layer_path(20).rename(tmp_path / "elsewhere")
    run.layer_path(20).symlink_to(tmp_path / "elsewhere")
    before = {path: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()}
    assert "is a link" in invoke("verify", run.path, code=4).output
    with pytest.raises(CorruptRunError, match="is a link"):
        api.run(api.plan(config_of(run.path)))
    assert {path: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()} == before


@pytest.mark.parametrize("form", ["lists", "bits"])
def test_a_link_in_the_place_of_the_next_layer(tmp_path, form, monkeypatch):
    """Nothing is written to where it leads."""
    if form == "bits":
        monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    run = api.run(api.plan(config_of(tmp_path / "run")), until=20).store
    (tmp_path / "elsewhere").mkdir()
    run.layer_path(21).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FrontierError, match="0021"):
        api.run(api.plan(config_of(run.path)), until=21)
    assert list((tmp_path / "elsewhere").iterdir()) == []
