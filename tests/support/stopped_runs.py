"""Runs of 2×4 with layers as they are, in every way to search, and some that have stopped."""

import dataclasses
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.layers.run import LayerRun


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


@cache
def _folder():
    return TemporaryDirectory()


def copy_of_half_done(path, **search):
    """A copy of such a run, which is made once: all copies have the same identifier."""
    made = Path(_folder().name) / str(search)
    if not made.exists():
        half_done(made, **search)
    shutil.copytree(made, path)
    return LayerRun.open(path)


WAYS = {
    "lists": {"list_states": 10**9},
    "tasks": {"list_states": 0},
    "memory": {"list_states": 0, "threads": 2},
}


def way_of(path, way, puzzle=None, **search):
    return dataclasses.replace(api.plan(config_of(path, puzzle, **search)), **WAYS[way])


SETTINGS = [
    "--set", "search.in_memory=false", "--set", "cluster.kind=serial", "--set", "store.codec=raw",
]  # fmt: skip


SEARCH = {"frontier": {}, "spare": {"spare": 2}, "all": {"keep": "all"}}


def finished(path, name):
    return api.run(api.plan(config_of(path, **SEARCH[name]))).counts
