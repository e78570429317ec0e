"""The whole search, on every kind of layer, against layers found with a dictionary."""

import dataclasses
import shutil
import time
from contextlib import contextmanager
from functools import cache
from itertools import product
from math import prod

import pytest

from frontier.api import runs as api
from frontier.errors import Stopped
from frontier.layers import loop as driver_module
from frontier.layers.events import LayerFinished, LayerMade
from frontier.layers.search import LayerSearch
from frontier.layers.task import Workspace
from frontier.runs.events import Finished, Started, Starting
from tests.support.reference_search import bfs_layers
from tests.support.sweeps import swept
from tests.support.tile_runs import (
    FORMS,
    KNOWN,
    as_bits,
    config_of,
    done_anew,
    in_memory,
    layers_of,
    run,
)


def test_one_clock(tmp_path, monkeypatch):
    """The times of layers and of the end are since the start, that of the workers included."""
    starting = LayerSearch.executor

    @contextmanager
    def slowly(*arguments):
        began = time.perf_counter()
        time.sleep(0.3)
        with starting(*arguments) as executor:
            taken.append(time.perf_counter() - began)
            yield executor

    monkeypatch.setattr(LayerSearch, "executor", slowly)
    events, taken = [], []
    run(api.plan(config_of(tmp_path, 2, 3)), listeners=[events.append])
    times = [e.elapsed for e in events if isinstance(e, LayerFinished | Finished)]
    assert times == sorted(times)
    assert times[0] >= taken[0]


@pytest.mark.parametrize("form", ["list", "bits"])
def test_a_layer_is_told_when_it_is_made(tmp_path, monkeypatch, form):
    """Before the next one is made, with which it is committed."""
    for seconds in ("LIST_SECONDS", "MEMORY_SECONDS"):  # no layer is stored before the last one
        monkeypatch.setattr(driver_module, seconds, 3600)
    made, plan = [], api.plan(config_of(tmp_path, 2, 4))
    plan = in_memory(plan) if form == "bits" else plan

    def listen(event):
        if isinstance(event, LayerMade):
            made.append(event)
            if event.depth == 20:
                raise Stopped("as the call goes on")

    with pytest.raises(Stopped, match="as the call goes on"):
        run(plan, listeners=[listen])
    assert [event.depth for event in made] == list(range(1, 21))
    assert all(event.layer.form == form and not event.layer.stored for event in made)
    events = []
    done = run(plan, listeners=[events.append])  # what was not stored is made again
    of_made = [event for event in events if isinstance(event, LayerMade)]
    assert [event.layer.tally for event in of_made] == [layer.tally for layer in done.records[1:]]
    assert [event.layer.tally for event in made] == [layer.tally for layer in done.records[1:21]]
    times = [event.elapsed for event in of_made]
    assert times == sorted(set(times))


def test_layers_made_by_tasks_are_committed_when_they_are_told(tmp_path):
    events = []
    run(as_bits(api.plan(config_of(tmp_path, 2, 4))), listeners=[events.append])
    assert not any(isinstance(event, LayerMade) for event in events)


def flat(board):
    return tuple(tile for row in board for tile in row)


def in_order(rows, columns, blank):
    """The board whose tiles are in order around its blank: flat, and row by row."""
    tiles = list(range(1, rows * columns))
    tiles.insert(blank, 0)
    return tuple(tiles), [tiles[i : i + columns] for i in range(0, len(tiles), columns)]


def small_boards():
    """(form, rows, columns)"""
    boards = [(m, n) for m in range(1, 7) for n in range(1, 7) if m * n <= 6] + [(2, 4)]
    return [(form, *board) for board in boards for form in FORMS] + [("bits", 4, 2)]


@swept(
    ("form", "rows", "columns"),
    small_boards(),
    few=[("list", 2, 2), ("bits", 2, 2), ("memory", 2, 2)],
)
def test_layers_equal_a_dictionary_search(tmp_path, rows, columns, form):
    """Every position of every layer, from every blank position, of 2×4 from one."""
    for blank in range(rows * columns) if rows * columns <= 6 else [5]:
        goal, board = in_order(rows, columns, blank)
        where = tmp_path / str(blank)
        plan = api.plan(config_of(where, rows, columns, search={"keep": "all"}, goal=board))
        done = run(FORMS[form](plan))
        assert done.complete
        expected = layers_of(rows, columns, goal)
        assert [record.states for record in done.records] == [len(layer) for layer in expected]
        work, puzzle = Workspace(done), plan.puzzle
        for depth, layer in enumerate(expected):
            side = work.space.side_of(depth)
            found = {
                puzzle.model.board(work.space.state(side, number))
                for number in work.layer(depth).numbers()
            }
            assert found == set(layer)


def middling_boards():
    """(form, rows, columns)"""
    boards = [(1, 7), (7, 1), (1, 9), (9, 1)]
    return [(form, *board) for board in boards for form in FORMS] + [("bits", 3, 3)]


@pytest.mark.sweep
@swept(
    ("form", "rows", "columns"),
    middling_boards(),
    few=[("bits", 7, 1)],
)
def test_layer_counts_from_every_blank_position(tmp_path, rows, columns, form):
    """The dictionary search is done once for positions that mirror or turn into each other."""
    for blank in range(rows * columns):
        _, board = in_order(rows, columns, blank)
        plan = api.plan(config_of(tmp_path / str(blank), rows, columns, goal=board))
        done = run(FORMS[form](plan))
        assert [record.states for record in done.records] == counts_of(rows, columns, blank)


def counts_of(rows, columns, blank):
    row, column = divmod(blank, columns)
    places = [(r, c) for r in (row, rows - 1 - row) for c in (column, columns - 1 - column)]
    if rows >= columns:
        places = (
            [(c, r) for r, c in places] if rows > columns else places + [(c, r) for r, c in places]
        )
    return counts_from(min(rows, columns), max(rows, columns), *min(places))


@cache
def counts_from(rows, columns, row, column):
    """Sizes of the layers around the board in order with its blank there, by dictionary."""
    goal, _ = in_order(rows, columns, row * columns + column)
    return [len(layer) for layer in bfs_layers(rows, columns, goal)]


@swept("seconds", [0, 60, 0.02], few=1)
@swept("keep", ["frontier", "all"], few=1)
def test_layers_in_memory_are_committed_now_and_then(tmp_path, monkeypatch, keep, seconds):
    """A run in memory is stopped after each call, and goes on from what is stored."""
    monkeypatch.setattr(driver_module, "MEMORY_SECONDS", seconds)
    config = config_of(tmp_path, 2, 4, search={"keep": keep})
    expected = [len(layer) for layer in layers_of(2, 4, tuple(range(8)))]
    for until in (0, 1, 7, 8, 20, 36):
        done = run(in_memory(api.plan(config)), until)
        assert [record.states for record in done.records] == expected[: until + 1]
        stored = range(until + 1) if keep == "all" else range(max(0, until - 1), until + 1)
        assert done.stored_depths() == list(stored)
    done = run(in_memory(api.plan(config)))
    assert done.complete
    assert [record.states for record in done.records] == expected


@pytest.mark.sweep
@pytest.mark.parametrize(("first", "then"), list(product(FORMS, FORMS)))
def test_a_run_may_go_on_in_another_form(tmp_path, first, then):
    config = config_of(tmp_path, 2, 4)
    expected = [len(layer) for layer in layers_of(2, 4, tuple(range(8)))]
    finely = as_bits(api.plan(config))
    done = run(dataclasses.replace(FORMS[first](finely), list_states=_most(first)), 15)
    assert not done.complete
    again = dataclasses.replace(FORMS[then](finely), list_states=_most(then))
    assert [record.states for record in run(again).records] == expected


def _most(form):
    return 10**9 if form == "list" else 0


@swept(("kind", "size"), [*(("serial", size) for size in KNOWN), ("local", (2, 5))], few=1)
def test_known_depths_with_several_tasks(tmp_path, size, kind):
    plan = as_bits(api.plan(config_of(tmp_path, *size, kind=kind)), prefix_digits=1)
    events = []
    done = run(plan, listeners=[events.append])
    assert (done.records[-1].depth, done.states) == KNOWN[size]
    assert [type(event) for event in events[:2]] == [Starting, Started]
    assert isinstance(events[-1], Finished)
    finished = [event for event in events if isinstance(event, LayerFinished)]
    assert [event.layer.states for event in finished] == [record.states for record in done.records]
    # the layer before the last was given up for the empty one after it
    assert done.stored_depths() == [KNOWN[size][0]]
    bits = [record for record in done.records if record.form == "bits"]
    assert all(r.parts == plan.layout.task_count(plan.space.side_of(r.depth)) for r in bits)
    assert sum(record.tally.at_goal for record in done.records) == done.states // prod(size)


@swept(("columns", "most"), [(4, 500), (5, 20_000)], few=1)
def test_forms_change_within_a_run(tmp_path, columns, most):
    plan = api.plan(config_of(tmp_path, 2, columns))
    mixed = dataclasses.replace(as_bits(plan, prefix_digits=1), list_states=most)
    done = run(mixed)
    assert {record.form for record in done.records} == {"list", "bits"}
    assert [record.form for record in done.records][:: len(done.records) - 1] == ["list", "list"]
    plain = run(api.plan(config_of(tmp_path / "plain", 2, columns)))
    assert [r.states for r in done.records] == [r.states for r in plain.records]


@pytest.mark.sweep
def test_seven_by_two_costs_what_two_by_seven_does(tmp_path):
    one, other = (api.plan(config_of(tmp_path, *size)) for size in ((2, 7), (7, 2)))
    assert one.layout.shape(0) == other.layout.shape(0)
    assert one.task_bytes == other.task_bytes


def test_goal_and_start_of_ones_own(tmp_path):
    goal = [[3, 1, 2], [0, 5, 4]]
    expected = bfs_layers(2, 3, flat(goal))
    start = sorted(expected[13])[0]
    board = [list(start[:3]), list(start[3:])]
    for form in ("list", "bits"):
        plan = api.plan(config_of(tmp_path / form, 2, 3, goal=goal, start=board))
        done = run(FORMS[form](plan))
        assert [r.states for r in done.records] == [len(layer) for layer in expected]
        assert done.start_depth == 13
    plan = api.plan(config_of(tmp_path / "goal", 2, 3, goal=goal, start=goal))
    assert run(plan, until=2).start_depth == 0


def task_by_task(store, depth, numbers, gives_up=False):
    """Do some tasks of the layer under way."""
    for number in numbers:
        done_anew(store, gives_up, depth, number)


def test_parts_of_another_run_are_not_believed(tmp_path):
    """A worker that outlives its run may leave a part in the next one's directory."""
    plan = as_bits(api.plan(config_of(tmp_path, 2, 4)), prefix_digits=1)
    stopped = run(plan, until=9)
    board = in_order(2, 4, 1)[1]
    other = as_bits(api.plan(config_of(tmp_path / "other", 2, 4, goal=board)), prefix_digits=1)
    assert other.layout.task_count(0) == plan.layout.task_count(0)
    shutil.copytree(run(other, until=10).layer_path(10), stopped.layer_path(10))
    assert len(stopped.parts_under_way(plan.layout)) == plan.layout.task_count(0)
    done = run(plan)
    assert [record.states for record in done.records] == counts_of(2, 4, 0)


def test_parts_that_are_gone_are_done_again(tmp_path):
    plan = as_bits(api.plan(config_of(tmp_path, 2, 4)), prefix_digits=1)
    stopped = run(plan, until=14)
    files = stopped.files(15, plan.layout)
    files.begin()
    task_by_task(stopped, 15, files.tasks)
    files.path(1).unlink()
    assert run(plan).states == KNOWN[2, 4][1]


@pytest.mark.sweep
def test_workers_with_several_threads(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=4, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        config = config_of(tmp_path, 2, 5, kind="serial")
        there = config.cluster.model_copy(
            update={"kind": "address", "address": cluster.scheduler_address}
        )
        plan = api.plan(config.model_copy(update={"cluster": there}))
        done = run(as_bits(plan, prefix_digits=1))
        assert (done.records[-1].depth, done.states) == KNOWN[2, 5]


def test_keep_all_keeps_and_frontier_forgets(tmp_path):
    everything = run(api.plan(config_of(tmp_path / "a", 2, 4, search={"keep": "all"})))
    assert everything.stored_depths() == list(range(37))
    last = run(api.plan(config_of(tmp_path / "b", 2, 4)))
    assert last.stored_depths() == [35, 36]
    assert len(list(last.layer_path(0).parent.glob("0*"))) == 2
