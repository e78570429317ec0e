"""Runs of puzzles whose states a tower numbers: in memory, by tasks, resumed, verified, mended."""

import dataclasses

import numpy as np
import pytest

from frontier.answers.distances import Distances
from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.kernels.engines import lists_of
from frontier.layers.repair import plan_repair
from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from frontier.solving.oracle import Oracle
from frontier.space.layout import Layout
from frontier.space.tower_space import TowerSpace
from tests.support.many_tasks import cut_finely
from tests.support.sweeps import swept
from tests.support.tile_runs import assert_store_the_same, counted_tasks, done_anew

RINGS = {  # two rings of eight that cross in opposite places
    "left": "(1 2 3 4 5 6 7 8)",
    "right": "(1 9 10 11 5 12 13 14)",
}
RINGS_SIZES = [
    1, 4, 12, 36, 106, 312, 916, 2634, 7277, 18260, 40668, 73348, 92005, 64142, 20123, 2528, 172,
    16,
]  # fmt: skip
THREE = {"a": {"moves": "(1 2 3 4 5)", "turns": [1, 0, 0, 0, 0, 0]}, "b": "(5 6)(1 2)"}


def config_of(tmp_path, generators=RINGS, search=None, kind="serial", **puzzle):
    return Config(
        name="test",
        puzzle={"kind": "permutations", "generators": generators, "closed": True, **puzzle},
        search={"in_memory": False, **(search or {})},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": kind, "workers": 2},
    )


def turned(tmp_path, search=None):
    """A puzzle of turned pieces, of which some are alike, and some turned as they like."""
    goal = ["a", "a", "b+?", "c", "d", "b+?"]
    return config_of(tmp_path, THREE, search, orientations=3, goal=goal)


def as_parts(plan, task_nodes=1):
    """The plan with no layer thin, and parts of so many rows."""
    assert isinstance(plan.space, TowerSpace)
    layout = Layout(plan.space, 0, task_nodes)
    return dataclasses.replace(plan, list_states=0, layout=layout)


def sizes_of(run):
    return [record.states for record in run.records]


def test_a_tower_has_no_prefix_digits(tmp_path):
    """They would divide rows, and parts of rows cannot be read."""
    space = api.plan(config_of(tmp_path)).space
    whole = Layout(space, 0, max(space.nodes))
    with pytest.raises(InputError, match="prefix_digits = 1"):
        Layout(space, 1, max(space.nodes))
    with pytest.raises(InputError, match="cannot be cut"):
        Layout.from_settings(space, {**whole.settings, "prefix_digits": 1})


def test_the_campaigns_search_towers_by_tasks(tmp_path):
    with cut_finely():
        run = api.run(api.plan(config_of(tmp_path))).store
    assert sizes_of(run) == RINGS_SIZES
    assert {record.form for record in run.records[1:]} == {"bits"}
    assert all(record.parts > 1 for record in run.records[1:])


FORMS = {
    "lists": lambda plan: plan,
    "memory": lambda plan: dataclasses.replace(as_parts(plan), threads=2),
    "parts": as_parts,
    "one part": lambda plan: as_parts(plan, plan.space.nodes[0]),
    "lists, parts": lambda plan: dataclasses.replace(as_parts(plan), list_states=3000),
    "lists, memory": lambda plan: dataclasses.replace(as_parts(plan), list_states=3000, threads=1),
}


@swept("form", FORMS, few=["lists, parts"])
def test_a_run_in_every_form(tmp_path, form):
    plan = FORMS[form](api.plan(config_of(tmp_path)))
    run = api.run(plan, until=9).store
    assert sizes_of(run) == RINGS_SIZES[:10]
    run = api.run(plan).store
    assert run.complete
    assert sizes_of(run) == RINGS_SIZES
    assert verify(run, 200).faults == []


@swept("form", ["lists, parts", "memory", "parts"], few=1)
def test_all_forms_keep_the_same_layers(tmp_path, form):
    keep = {"keep": "all"}
    plain = FORMS["lists"](api.plan(turned(tmp_path / "plain", keep)))
    other = FORMS[form](api.plan(turned(tmp_path / "other", keep)))
    one, two = api.run(plain).store, api.run(other).store
    assert sizes_of(one) == sizes_of(two)
    assert verify(two, 10).faults == []
    space = plain.space
    expected = list(lists_of(space).layers(plain.puzzle.model.origins()))
    for depth, numbers in enumerate(expected):
        found = [run.open_layer(depth, plan.layout).numbers()
                 for run, plan in ((one, plain), (two, other))]  # fmt: skip
        assert (found[0] == numbers).all()
        assert (found[1] == numbers).all()


def test_answers_and_exports(tmp_path):
    run = api.run(FORMS["lists, parts"](api.plan(turned(tmp_path, {"keep": "all"})))).store
    oracle, distances, puzzle = Oracle(run), Distances.of_run(run), run.puzzle
    assert np.count_nonzero(distances.values < np.iinfo(distances.values.dtype).max) == run.states
    for depth in (0, 3, len(run.records) - 1):
        space = puzzle.model.space
        numbers = Oracle(run)._reader.layer(depth).numbers()[:5]
        boards = puzzle.model.boards_of(*space.states_of(0, numbers))
        assert (oracle.distance(boards) == depth).all()
        row, column = np.divmod(numbers.astype(np.int64), space.code.half)
        assert (distances.values[row, column] == depth).all()
        for board in map(tuple, boards.tolist()):
            solution = oracle.solve(board)
            assert len(solution.boards) == depth + 1
            assert oracle.count(board) >= 1
            assert puzzle.parse(puzzle.line(board)) == board


@pytest.mark.sweep
def test_finished_tasks_are_used_again(tmp_path, monkeypatch):
    plan = as_parts(api.plan(config_of(tmp_path, search={"spare": 1})))
    run = api.run(plan, until=8).store
    calls = counted_tasks(monkeypatch)
    run.files(9, plan.layout).begin()
    for number in range(3):
        done_anew(run, False, 9, number)
    assert sizes_of(api.run(plan).store) == RINGS_SIZES
    assert [calls.count((9, number)) for number in range(14)] == [1] * 14


@pytest.mark.sweep
def test_tasks_write_the_same_bytes_again(tmp_path):
    stores = [
        api.run(as_parts(api.plan(config_of(tmp_path / name))), until=9).store for name in "ab"
    ]
    assert_store_the_same(*stores)


@pytest.mark.sweep
def test_workers_make_the_same_layers(tmp_path):
    plan = as_parts(api.plan(config_of(tmp_path, kind="local")))
    assert sizes_of(api.run(plan).store) == RINGS_SIZES


def test_a_damaged_part_is_found_and_mended(tmp_path):
    config = config_of(tmp_path, search={"keep": "all"})
    run = api.run(as_parts(api.plan(config)), until=12).store
    layer = run.open_layer(9, as_parts(api.plan(config)).layout)
    path = layer.files.path(3)
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(bytes(data))
    found = verify(run)
    assert [fault.depth for fault in found.faults] == [9]
    run = LayerRun.open(run.storage)
    plan_repair(run, found).take(run)
    assert sizes_of(api.run(as_parts(api.plan(config))).store) == RINGS_SIZES


def test_numbers_chosen_otherwise_are_refused(tmp_path):
    plan = api.plan(config_of(tmp_path))
    settings = plan.layout.settings
    assert Layout.from_settings(plan.space, settings) == plan.layout
    with pytest.raises(InputError, match="cannot be cut by layout"):
        Layout.from_settings(plan.space, {**settings, "numbering": 1})


def test_moves_without_inverses(tmp_path):
    """Layers know all that was seen, so all are kept, and a resumed run reads them."""
    generators = {"left": "(1 2 3 4 5 6)", "swap": "(1 2)"}
    config = config_of(tmp_path, generators, {"in_memory": True}, closed=False)
    plan = api.plan(config)
    assert plan.in_memory
    for depth in (3, 9):
        api.run(api.plan(config), until=depth)
    run = api.run(plan).store
    assert run.states == 720
    assert run.stored_depths() == list(range(len(run.records)))
    assert verify(run, 300).faults == []
    seen, layers = {(1, 2, 3, 4, 5, 6)}, [[(1, 2, 3, 4, 5, 6)]]
    while layers[-1]:
        after = {move(board) for board in layers[-1] for move in (
            lambda b: (b[5], *b[:5]), lambda b: (b[1], b[0], *b[2:]))}  # fmt: skip
        layers.append(sorted(after - seen))
        seen |= after
    assert sizes_of(run) == [len(layer) for layer in layers[:-1]]
