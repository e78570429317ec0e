"""Runs whose directory is moved or deleted while they go on."""

import shutil

import pytest

from frontier.api import runs as api
from frontier.errors import Gone
from frontier.layers.events import LayerFinished, LayerStarted
from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from frontier.runs.events import Finished, Stopped
from tests.support.commands import invoke
from tests.support.stopped_runs import SETTINGS, WAYS, way_of
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

SMALL = {"columns": 3}


LOSSES = {
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "deleted": shutil.rmtree,
    "taken": lambda path: (
        path.rename(path.with_name("elsewhere")),
        path.with_name("other").rename(path),
    ),
}


MOMENTS = {LayerFinished: 10, LayerStarted: 11, Finished: 21}
"""Events, with their depths, at which a directory goes."""


@swept("at", MOMENTS, few=1)
@swept("how", LOSSES, few=list(LOSSES)[:1])
@swept("way", WAYS, few=["tasks"])
def test_a_run_whose_directory_goes(tmp_path, monkeypatch, way, how, at):
    """It says so, and writes to nothing that has taken its place."""
    monkeypatch.setattr("frontier.layers.loop.LIST_SECONDS", 0)
    monkeypatch.setattr("frontier.layers.loop.MEMORY_SECONDS", 0)
    monkeypatch.setattr("frontier.layers.loop.TIMES_STORING", 0)
    path, ends = tmp_path / "run", []
    api.run(way_of(tmp_path / "other", "lists", puzzle=SMALL), until=2)

    def lose(event):
        if isinstance(event, Stopped):
            ends.append(event.reason)
        elif isinstance(event, at) and getattr(event, "depth", 21) == MOMENTS[at]:
            LOSSES[how](path)

    with pytest.raises(Gone) as error:
        api.run(way_of(path, way, puzzle=SMALL), listeners=[lose])
    assert str(error.value).startswith(f"{path} no longer holds this run")
    assert ends == ([] if at is Finished else [str(error.value)])
    if how == "taken":
        assert verify(LayerRun.open(path)).faults == []
        assert sum(api.run(way_of(path, "lists", puzzle=SMALL)).counts) == 360
    else:
        assert not path.exists()
    if how != "deleted":
        assert sum(api.run(way_of(tmp_path / "elsewhere", way, puzzle=SMALL)).counts) == 360


def test_the_command_says_that_a_directory_is_gone(tmp_path, monkeypatch):
    path, commit = tmp_path / "run", LayerRun.commit

    def loses(run, *arguments):
        shutil.rmtree(path)
        commit(run, *arguments)

    monkeypatch.setattr(LayerRun, "commit", loses)
    words = "run", CONFIGS / "2x3.toml", "--set", f"store.path={path}", *SETTINGS
    said = invoke(*words, code=3).stderr
    assert f"{path} no longer holds this run" in said
    assert "Nothing is lost" not in said
