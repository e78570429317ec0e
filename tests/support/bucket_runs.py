"""Runs of 2×4 whose directory is in an object store, or beside it."""

import dataclasses
from pathlib import Path

import numpy as np

from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.layers.run import LayerRun
from frontier.layers.task import Workspace
from frontier.space.layout import Layout

CONFIGS = Path(__file__).parents[2] / "configs"
FORMS = {
    "lists": {"list_states": 10**9},
    "tasks": {"list_states": 0},
    "memory": {"list_states": 0, "threads": 2},
}


def plan_of(path, form, **search):
    """A plan of 2×4, whose bitmaps have several parts."""
    config = Config(
        name="test",
        puzzle={"kind": "tiles", "rows": 2, "columns": 4},
        search={"in_memory": False, **search},
        store={"path": str(path)},
        cluster={"kind": "serial"},
    )
    plan = api.plan(config)
    if not LayerRun.exists(plan.config.path):
        plan = dataclasses.replace(plan, layout=Layout(plan.space, 1, 2))
    return dataclasses.replace(plan, **FORMS[form])


def assert_same(run, other):
    """Two runs have the same layers, those that both have kept state by state."""
    assert (run.complete, other.complete) == (True, True)
    assert [r.states for r in run.records] == [r.states for r in other.records]
    both = set(run.stored_depths()) & set(other.stored_depths())
    assert len(run.records) - 1 in both
    for depth in both:
        ours, theirs = (Workspace(each).layer(depth).numbers() for each in (run, other))
        assert np.array_equal(ours, theirs)
