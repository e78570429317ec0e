"""Searches of tile puzzles: their plans in every form, and what two runs have in common."""

import dataclasses
import json
from functools import cache

from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.layers import task as task_module
from frontier.layers.parts import RECORD_BYTES
from frontier.layers.task import close_workspace
from tests.support.reference_search import bfs_layers

KNOWN = {  # depth, states: thesis tables 1.1 and (mn)!/2
    (2, 4): (36, 20_160),
    (2, 5): (55, 1_814_400),
    (3, 3): (31, 181_440),
}


def config_of(tmp_path, rows, columns, kind="serial", search=None, **puzzle):
    return Config(
        name="test",
        puzzle={"kind": "tiles", "rows": rows, "columns": columns, **puzzle},
        search={"in_memory": False, **(search or {})},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": kind, "workers": 2},
    )


def as_bits(plan, **layout):
    """The plan with no layer thin enough for a list, cut finely."""
    settings = {"prefix_digits": 0, "task_nodes": 2, **layout}
    return dataclasses.replace(
        plan, list_states=0, layout=dataclasses.replace(plan.layout, **settings)
    )


def in_memory(plan):
    """The plan with all layers as bitmaps in memory, finely cut, for two threads."""
    return dataclasses.replace(as_bits(plan), threads=2)


FORMS = {"list": lambda plan: plan, "bits": as_bits, "memory": in_memory}


def run(plan, until=None, listeners=()):
    return api.run(plan, until, listeners).store


@cache
def layers_of(rows, columns, goal):
    return bfs_layers(rows, columns, goal)


def done_anew(store, gives_up, depth, number):
    """Do a task as a worker does that has just come."""
    run_ref = dataclasses.replace(store.ref, durable=True)
    close_workspace(run_ref)
    return task_module.expand_task(run_ref, gives_up, depth, number)


def counted_tasks(monkeypatch):
    """The tasks that are computed from now on, (depth, number) each."""
    calls, compute = [], task_module._expand

    def counted(work, depth, number):
        calls.append((depth, number))
        return compute(work, depth, number)

    monkeypatch.setattr(task_module, "_expand", counted)
    return calls


def assert_store_the_same(one, other):
    """Two runs of one plan have the same bytes on disk, but for what says whose they are."""
    assert one.stored_depths() == other.stored_depths()
    forms = [(a.form == b.form) for a, b in zip(one.records, other.records, strict=True)]
    assert sum(forms) > 0.7 * len(forms)  # a layer that was begun by tasks is ended by tasks
    for depth in filter(forms.__getitem__, one.stored_depths()):
        parts, others = (
            {file.name: file for file in store.layer_path(depth).iterdir()}
            for store in (one, other)
        )
        assert parts.keys() == others.keys()
        assert parts["zarr.json"].read_bytes() == others["zarr.json"].read_bytes()
        for name in parts.keys() - {"zarr.json"}:
            assert without_record(parts[name]) == without_record(others[name]), (depth, name)


def without_record(part):
    """A part: its record without what names the run, and its other bytes."""
    data = part.read_bytes()
    begin = data.rindex(b'{"run": ')
    record = json.loads(data[begin : begin + RECORD_BYTES])
    del record["run"], record["digest"]
    return record, data[:begin], data[begin + RECORD_BYTES :]
