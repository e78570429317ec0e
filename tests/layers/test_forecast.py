"""What is foretold of a run is what the run then does."""

import dataclasses
import json
import tracemalloc
from functools import cache
from itertools import accumulate
from math import prod
from pathlib import Path

import numpy as np
import pytest

from frontier.api import runs as api
from frontier.codec.codecs import SlabCodec, encoded_bytes
from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.config.loading import Config
from frontier.kernels.key_lists import PROCESS_BYTES
from frontier.kernels.shift_parts import ShiftTables
from frontier.kernels.shift_search import memory_layout
from frontier.layers import files, stored
from frontier.layers import loop as driver
from frontier.layers.estimate import WIDER, Sizes, estimate_sizes
from frontier.layers.files import LIST_SLAB
from frontier.layers.forecast import START_SECONDS, Forecast
from frontier.layers.loop import Driver
from frontier.layers.parts import footer_bytes
from frontier.layers.rates import Rates, sample_slabs, trial_of, try_codec, try_machine
from frontier.layers.run import LayerRun
from frontier.puzzles import puzzle_of, tile_puzzle
from frontier.space import layout as layout_module
from tests.support.sweeps import swept

RATES = Rates(density=[0.0], stored=[1.0], kernel=5e-9, codec=3e-8, listed=1e-7)


def plan_of(tmp_path, rows, columns, layout=None, codec="raw", **search):
    """A plan by tasks; with `layout`, of bitmaps alone."""
    config = Config(
        name="test",
        puzzle={"kind": "tiles", "rows": rows, "columns": columns},
        search={"in_memory": False, **search},
        store={"path": str(tmp_path / "run"), "codec": codec},
        cluster={"kind": "serial"},
    )
    plan = api.plan(config)
    if layout is None:
        return plan
    cut = dataclasses.replace(plan.layout, **layout)
    return dataclasses.replace(plan, list_states=0, layout=cut)


@cache
def sizes_of(rows, columns):
    return tuple(trial_of(tile_puzzle(rows, columns)).sizes)


def forecast_of(plan, sizes, workers=1, rates=RATES, depth=0):
    return Forecast(plan, Sizes(list(sizes), len(sizes)), rates, workers, depth)


@swept(("rows", "columns", "depth"), [(2, 3, 21), (3, 3, 31), (2, 5, 55)], few=1)
def test_a_trial_of_a_small_space_finds_all_layers(rows, columns, depth):
    trial = trial_of(tile_puzzle(rows, columns))
    assert len(trial.sizes) == depth + 1
    assert sum(trial.sizes) == tile_puzzle(rows, columns).states


def test_a_trial_ends_when_it_has_found_enough():
    trial = trial_of(tile_puzzle(2, 5), 1000)
    assert tuple(trial.sizes) == sizes_of(2, 5)[: len(trial.sizes)]
    assert sum(trial.sizes[:-1]) <= 1000 < sum(trial.sizes)


@pytest.mark.parametrize("share", [0, 1e-4, 0.01, 0.3, 0.7, 0.99, 1])
@swept("board", [(2, 5), (3, 3)], few=1)
def test_estimated_layers_follow_the_known_ones_and_add_up(board, share):
    sizes = sizes_of(*board)
    known = [
        size
        for size, total in zip(sizes, accumulate(sizes), strict=True)
        if total <= share * sum(sizes)
    ]
    known = known or list(sizes[:1])
    estimated = estimate_sizes(known, sum(sizes))
    assert estimated.states[: len(known)] == known
    assert (estimated.known, sum(estimated.states)) == (len(known), sum(sizes))
    assert min(estimated.states) > 0
    assert estimated.complete == (share == 1)


@swept("board", [(2, 5), (3, 3)], few=1)
def test_the_peak_is_foretold_from_the_first_thousand_states(board):
    sizes = sizes_of(*board)
    estimated = estimate_sizes(trial_of(tile_puzzle(*board), 1000).sizes, sum(sizes))
    assert max(sizes) / 1.5 < max(estimated.states) < max(sizes) * 1.5
    assert abs(np.argmax(estimated.states) - np.argmax(sizes)) < 0.15 * len(sizes)


@pytest.mark.parametrize(
    ("known", "states"),
    [
        ([1], 2),
        ([1, 1, 1, 1], 10**7),
        ([5, 4, 3, 2], 20),
        ([10**6, 10], 10**6 + 11),
        ([1, 9], 10**15),
    ],
)
def test_odd_beginnings_still_add_up(known, states):
    estimated = estimate_sizes(known, states)
    assert sum(estimated.states) == states
    assert min(estimated.states) > 0


LAYOUTS = [  # spare layers, prefix digits, nodes of a task, bytes of a slab
    *((spare, *layout) for layout in (
        (0, 5, 4000), (0, 2, 4000), (1, 5, 4000), (1, 5, layout_module.SLAB_BYTES)
    ) for spare in (0, 2)),
    (0, 2, 3, 4000),  # many tasks
]  # fmt: skip


@swept(("spare", "digits", "nodes", "slab_bytes"), LAYOUTS, few=1)
def test_the_disk_holds_what_is_foretold_and_no_more(
    tmp_path, monkeypatch, spare, digits, nodes, slab_bytes
):
    """It is looked at after each task and before each part is deleted."""
    monkeypatch.setattr(layout_module, "ROW_WORDS", 42)
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    layout = {"prefix_digits": digits, "task_nodes": nodes}
    plan = plan_of(tmp_path, 2, 5, layout, spare=spare)
    most, delete = 0, LayerRun.delete_replaced_part

    def look(event=None):
        nonlocal most
        parts = (tmp_path / "run").rglob("c.*")
        most = max(most, sum(path.stat().st_size for path in parts))

    def looking(self, *arguments):
        look()
        delete(self, *arguments)

    monkeypatch.setattr(LayerRun, "delete_replaced_part", looking)
    api.run(plan, listeners=[look])
    foretold = forecast_of(plan, sizes_of(2, 5)).disk
    # Each slab has a checksum. Two tasks of a worker may be under way; here one is.
    assert most < foretold * (1 + CHECKSUM_BYTES / plan.layout.slab_bytes)
    assert most > 0.7 * foretold


def test_the_larger_one_of_the_layers_before_and_after_counts(tmp_path):
    plan, sizes = plan_of(tmp_path, 2, 5, {"prefix_digits": 0, "task_nodes": 5}), sizes_of(2, 5)
    rates = dataclasses.replace(RATES, density=[0, 1], stored=[0, 1])
    after_the_peak = forecast_of(plan, sizes, rates=rates, depth=45).disk
    assert sizes[44] > sizes[46]
    held = sum(sizes[44:47]) * 8 / plan.space.code.bits + 3 * footer_bytes(prod(plan.layout.grid))
    assert after_the_peak == pytest.approx(held, rel=0.01)


@swept("keep", ["frontier", "all"], few=["all"])
def test_forms_of_layers_and_what_is_kept(tmp_path, keep):
    plan = dataclasses.replace(plan_of(tmp_path, 2, 5, keep=keep), list_states=20_000)
    made = forecast_of(plan, sizes_of(2, 5))
    records = api.run(plan).store.records
    assert list(made.depths) == list(range(1, 56))
    for record in records[1:]:
        assert made.mode(record.depth) == ("lists" if record.form == "list" else "tasks")
    if keep == "all":
        # `raw` stores the last slab of a list whole
        lists = [record.states for record in records if record.form == "list"]
        filling = sum(8 * (-states % LIST_SLAB) for states in lists)
        stored = sum(record.bytes for record in records if record.stored)
        assert made.disk == pytest.approx(stored - filling, rel=0.05)
    else:
        assert made.disk < 4 * plan.layout.layer_bytes(0)


@swept("spare", [0, 1], few=[1])
@pytest.mark.parametrize("list_states", [0, 10**9])
def test_the_disk_of_layers_in_memory_is_at_most_what_is_foretold(
    tmp_path, monkeypatch, list_states, spare
):
    """They are stored as often as can be."""
    for module in (files, stored):  # `raw` stores the last slab of a list whole
        monkeypatch.setattr(module, "LIST_SLAB", 64)
    monkeypatch.setattr(driver, "LIST_SECONDS", 0)
    monkeypatch.setattr(driver, "MEMORY_SECONDS", 0)
    plan = plan_of(tmp_path, 2, 4, in_memory=True, spare=spare)
    plan = dataclasses.replace(plan, list_states=list_states)
    most, commit = 0, LayerRun.commit

    def look(self, *arguments):
        nonlocal most
        parts = (tmp_path / "run").rglob("c.*")
        most = max(most, sum(path.stat().st_size for path in parts))
        commit(self, *arguments)

    monkeypatch.setattr(LayerRun, "commit", look)
    never = property(lambda self: 0, lambda self, seconds: None)  # however long storing takes
    monkeypatch.setattr(Driver, "_storing", never, raising=False)
    api.run(plan)
    foretold = forecast_of(plan, sizes_of(2, 4)).disk
    assert 0.6 * foretold < most < 1.1 * foretold  # an index has 16 bytes a slab


def test_until_and_a_run_that_is_under_way(tmp_path):
    sizes = sizes_of(2, 5)
    layout = {"prefix_digits": 0, "task_nodes": 5}
    plan = plan_of(tmp_path, 2, 5, layout, until=30)
    whole, later = forecast_of(plan, sizes), forecast_of(plan, sizes, depth=20)
    assert (whole.depths, later.depths) == (range(1, 31), range(21, 31))
    assert later.seconds < whole.seconds
    assert later.disk == whole.disk  # the fullest of these layers are the last
    beyond = forecast_of(plan, sizes, depth=30)
    assert (beyond.seconds, beyond.disk) == ((0, START_SECONDS), 0)


def test_the_time_is_that_of_words_and_states_shared_by_workers(tmp_path):
    sizes = sizes_of(2, 5)
    plan = plan_of(tmp_path, 2, 5, {"prefix_digits": 2, "task_nodes": 5})
    tasks, words = plan.layout.task_count(0), 55 * plan.layout.layer_bytes(0) // 8

    def likely(plan, workers=1, rates=RATES):
        least, most = forecast_of(plan, sizes, workers, rates).seconds
        assert least * WIDER == pytest.approx((most - START_SECONDS) / WIDER)
        return least * WIDER

    one = likely(plan)
    assert one == pytest.approx(words * RATES.task)
    assert RATES.task > RATES.kernel + RATES.codec
    assert likely(plan, tasks) == likely(plan, 10 * tasks) == pytest.approx(one / tasks)
    assert likely(plan, tasks - 1) == pytest.approx(2 * one / tasks)  # one is left over
    lists = dataclasses.replace(plan, list_states=10**9)
    assert likely(lists) == pytest.approx(sum(sizes[1:]) * RATES.listed)
    threads = dataclasses.replace(plan, threads=3)
    assert likely(threads) == pytest.approx(words * RATES.kernel / 3)


def test_the_range_of_the_time_is_wider_where_sizes_are_estimated(tmp_path):
    plan, sizes = plan_of(tmp_path, 2, 5, {"prefix_digits": 0, "task_nodes": 5}), sizes_of(2, 5)
    known = forecast_of(plan, sizes)
    estimated = Forecast(plan, estimate_sizes(sizes[:15], sum(sizes)), RATES)
    assert estimated.seconds[0] < known.seconds[0] < known.seconds[1] < estimated.seconds[1]


@pytest.mark.sweep
@pytest.mark.parametrize("until", [36, 48])
def test_the_memory_that_is_foretold_holds_a_task(tmp_path, until):
    """At depth 36 layers are bits, that at 48 is nearly the fullest one."""
    plan = plan_of(tmp_path, 2, 6, codec="lz4")
    api.run(plan, until=27)  # thin layers, and all that is made once
    tracemalloc.start()
    try:
        assert api.run(plan, until=until).store.records[-1].form == "bits"
        assert tracemalloc.get_traced_memory()[1] < plan.task_bytes - PROCESS_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.sweep
def test_large_spaces_are_foretold_without_their_tasks(tmp_path):
    puzzle = puzzle_of({"kind": "tiles", "rows": 2, "columns": 9})
    trial = trial_of(puzzle, 1000)
    estimated = estimate_sizes(trial.sizes, puzzle.states)
    assert sum(estimated.states) == puzzle.states
    config = Config(
        name="test", puzzle={"kind": "tiles", "rows": 2, "columns": 9},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": "local", "workers": 2, "memory": "12GB"},
    )  # fmt: skip
    made = Forecast(api.plan(config), estimated, RATES, 2)
    assert made.disk > 1e14
    assert made.seconds[0] > 1e6
    assert not (tmp_path / "run").exists()


def test_the_disk_of_a_run_by_tasks_from_its_first_layer_on(tmp_path):
    plan = plan_of(tmp_path, 2, 4, {})
    assert forecast_of(plan, sizes_of(2, 4)).disk > 2 * plan.layout.part_bytes


@pytest.mark.sweep
def test_3x5_is_foretold(tmp_path):
    """That run took 23 min 22 s in layers, on two workers, and held 45.4 GB at its peak."""
    sizes = json.loads(Path(__file__).with_name("3x5.json").read_text())
    config = Config(
        name="test", puzzle={"kind": "tiles", "rows": 3, "columns": 5},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": "local", "workers": 2, "memory": "9.5GB", "oversubscribe": True},
    )  # fmt: skip
    plan = api.plan(config)
    measured = try_machine(plan.layout, plan.config.store.codec, 1e-7)
    assert list(measured.density) == sorted(measured.density)
    # The times are those of a machine of that kind.
    rates = dataclasses.replace(measured, kernel=2.7e-9, codec=1.9e-9)
    made = forecast_of(plan, sizes, 2, rates)
    assert made.seconds[0] < 1402 < made.seconds[1]
    assert made.disk == pytest.approx(45.4e9, rel=1 / 10)


@pytest.mark.parametrize(
    ("config", "layout"),
    [
        ({"rows": 2, "columns": 6}, {}),
        ({"rows": 2, "columns": 6}, {"prefix_digits": 2, "task_nodes": 3}),
        ({"kind": "pattern", "rows": 2, "columns": 6, "k": 2, "metric": "step"}, {}),
    ],
)
def test_the_kernel_is_tried_on_any_layout(config, layout):
    space = puzzle_of({"kind": "tiles", **config}).model.space
    cut = dataclasses.replace(memory_layout(space, 2), **layout)
    rng = np.random.default_rng(1)
    slabs = rng.integers(0, 2**60, (4, cut.slab_bytes // 8), dtype=np.uint64)
    before = slabs.copy()
    assert 0 < ShiftTables(cut, cut.task(0, 0)).word_seconds(slabs) < 1e-3
    assert (slabs == before).all()


def test_a_slab_that_is_larger_than_the_sample():
    words = np.arange(1, 7, dtype=np.uint64)
    assert sample_slabs(words, 10).tolist() == [[1, 2, 3, 4, 5, 6, 1, 2, 3, 4]]


@pytest.mark.parametrize("codec", ["raw", "bitmap", "zstd:1"])
def test_samples_are_slabs_of_a_layer(codec):
    words = np.arange(40 * 50, dtype=np.uint64)
    slabs = sample_slabs(words, 50)
    assert {tuple(slab) for slab in slabs.tolist()} <= {
        tuple(slab) for slab in words.reshape(-1, 50).tolist()
    }
    stored, seconds = try_codec(SlabCodec(codec), slabs)
    data = np.empty(encoded_bytes(slabs[0].nbytes), dtype=np.uint8)
    taken = sum(SlabCodec(codec).encode(slab, data) for slab in slabs)
    assert stored == taken / slabs.nbytes
    assert seconds > 0
