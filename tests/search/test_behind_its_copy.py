"""A ledger that is behind its copy, as after a kill between the two: nothing is lost."""

import shutil

import pytest
from making import invoke
from search.stopped import WAYS, config_of, way_of
from sweeps import swept

from frontier import api
from frontier.search.events import LayerStarted
from frontier.search.verify import verify
from frontier.store import run as run_module
from frontier.store.files import read_sealed
from frontier.store.run import RunStore


def killed_between(plan, monkeypatch, commit):
    """A run that is killed when it has written the copy of its n-th ledger, but not the ledger."""
    replace, written = run_module.replace_bytes, []

    def dies(path, content, was, durable=False):
        if path.name == "ledger.json":
            written.append(path)
            if len(written) == commit + 1:  # the first one is empty
                raise KeyboardInterrupt
        return replace(path, content, was, durable)

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "replace_bytes", dies)
        try:
            api.run(plan)
        except KeyboardInterrupt:
            return True
    return False


COMMITS = [(way, n, {}) for way in ("lists", "tasks") for n in (1, 2, 20, "last layer", "end")]

COMMITS += [("memory", n, {}) for n in (1, 2, 3)]

COMMITS += [(way, 3, search) for way in WAYS for search in ({"spare": 2}, {"keep": "all"})]
"""A run in memory has a few, more of them on a fast machine."""


@swept(("way", "commit", "search"), COMMITS, few=[(way, 2, {}) for way in WAYS])
def test_a_commit_that_was_killed_between_copy_and_ledger(
    tmp_path, monkeypatch, way, search, commit
):
    """Nothing of it is lost, nothing is reported as damage, and nothing is done again."""
    monkeypatch.setattr("frontier.search.driver.LIST_SECONDS", 0)
    monkeypatch.setattr("frontier.search.driver.MEMORY_SECONDS", 0)
    calm = api.run(way_of(tmp_path.parent / f"calm {way} {search}", way, **search)).store  # once
    layers, path = len(calm.records), tmp_path / "run"
    number = {"last layer": layers, "end": layers + 1}.get(commit, commit)
    killed = killed_between(way_of(path, way, **search), monkeypatch, number)
    if not killed:  # there is no such commit: of lists, the last layers and the end are one
        assert (way, commit) in [("lists", "end"), ("memory", 3)]
        assert RunStore.open(path).complete
        return
    store = RunStore.open(path)
    copied = len(read_sealed(path / "copies" / "ledger.json")["layers"])
    assert len(store.records) < copied or commit == "end"
    assert store.missing() == []
    assert verify(store).faults == []
    assert "all sound" in invoke("verify", path).output
    shutil.copytree(path, tmp_path / "repaired")
    said = invoke("repair", tmp_path / "repaired").output
    assert "ledger.json: brought up to its copy" in said
    assert said.endswith("nothing else to repair\n")
    for folder in path, tmp_path / "repaired":
        started = []
        done = api.run(way_of(folder, way, **search), listeners=[started.append]).store
        depths = [e.depth for e in started if isinstance(e, LayerStarted)]
        assert min(depths, default=copied) == copied
        assert [r.states for r in done.records] == [r.states for r in calm.records]
        stored = done.stored_depths()
        assert stored == calm.stored_depths() or way == "memory"
        names = {f"{depth:04d}" for depth in stored} | {"zarr.json"}
        assert {entry.name for entry in (folder / "layers").iterdir()} == names


@swept("search", [{}, {"spare": 2}, {"keep": "all"}], few=1)
@pytest.mark.parametrize("end", [20, None])
@pytest.mark.parametrize("mended", [False, True])
def test_a_ledger_that_a_power_failure_has_lost(tmp_path, search, end, mended):
    """As with fsync = "never": the copy is the newer one, and what it lists is there."""
    config = config_of(tmp_path / "run", **search)
    run = api.run(api.plan(config), until=16)
    old = (run.path / "ledger.json").read_bytes()
    new = api.run(api.plan(config), until=end)
    (run.path / "ledger.json").write_bytes(old)
    parts = {path: path.stat().st_ino for path in run.path.glob("layers/*/c.*")}
    if mended:
        assert "brought up to its copy" in invoke("repair", run.path).output
        invoke("verify", run.path)
        assert len(RunStore.open(run.path).records) == len(new.counts)
    started = []
    again = api.run(api.plan(config), until=end, listeners=[started.append])
    assert not [event for event in started if isinstance(event, LayerStarted)]
    assert again.counts == new.counts
    assert {path: path.stat().st_ino for path in run.path.glob("layers/*/c.*")} == parts
    assert sum(api.run(api.plan(config)).counts) == 20160


@swept("damage", ["gone", "turned"], few=1)
@pytest.mark.parametrize("way", WAYS)
def test_a_newer_copy_whose_layers_are_damaged(tmp_path, monkeypatch, way, damage):
    """The run goes on from its ledger, whose layers are there."""
    monkeypatch.setattr("frontier.search.driver.LIST_SECONDS", 0)
    monkeypatch.setattr("frontier.search.driver.MEMORY_SECONDS", 0)
    plan = way_of(tmp_path / "run", way, spare=2)
    assert killed_between(plan, monkeypatch, 2)
    store = RunStore.open(plan.config.path)
    newest = read_sealed(store.path / "copies" / "ledger.json")["layers"][-1]["depth"]
    part = next(store.layer_path(newest).glob("c.*"))
    data = bytearray(part.read_bytes())
    data[0] ^= 1
    part.unlink() if damage == "gone" else part.write_bytes(bytes(data))
    depths = []
    done = api.run(plan, listeners=[lambda e: depths.append(getattr(e, "depth", None))])
    assert sum(done.counts) == 20160
    assert depths[0] == len(store.records) - 1  # of RunStarted
    assert verify(done.store).faults == []
