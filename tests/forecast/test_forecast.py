"""What is foretold of a run is what the run then does."""

import dataclasses
import json
import tracemalloc
from collections import Counter
from functools import cache, partial
from itertools import accumulate
from math import prod
from pathlib import Path

import numpy as np
import pytest
from engine import memory_at
from sweeps import swept

from frontier import api
from frontier.codec import zerobytes
from frontier.codec.codecs import SlabCodec
from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.config import Config
from frontier.forecast import forecast
from frontier.forecast.forecast import Forecast, parts_read
from frontier.forecast.rates import Rates, SampleSlabs, stored_shares
from frontier.layers.files import LIST_SLAB
from frontier.layers.parts import footer_bytes
from frontier.puzzles import puzzle_of, tile_puzzle
from frontier.runs.events import LayerFinished, TaskFinished
from frontier.runs.layer_run import LayerRun
from frontier.runs.sizes import Sizes, estimate_sizes, trial_of
from frontier.search.layouts import PROCESS_BYTES
from frontier.space import layout as layout_module
from frontier.space.program import program_of, reads_of
from frontier.storage.local import LocalStorage

RATES = Rates(
    density=[0.0], stored=[1.0], task=[3e-8], kernel=5e-9, read=1e-6, write=1e-6,
    read_work=1e-9, write_work=1e-9,
)  # fmt: skip


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


def forecast_of(plan, sizes, workers=1, **more):
    reads = [parts_read(plan.layout, side, 10**6) for side in range(plan.space.sides)]
    return Forecast(plan, Sizes(list(sizes), len(sizes)), reads, RATES, workers, **more)


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


LAYOUTS = [  # prefix digits, nodes of a task, bytes of a slab
    (0, 5, 4000), (0, 2, 4000), (1, 5, 4000), (2, 3, 4000), (1, 5, layout_module.SLAB_BYTES),
]  # fmt: skip


@swept(("digits", "nodes", "slab_bytes"), LAYOUTS, few=1)
def test_bytes_and_tasks_are_those_of_the_run(tmp_path, monkeypatch, digits, nodes, slab_bytes):
    """Of layers that have all their slabs, as all are taken to; of others it is no less."""
    monkeypatch.setattr(layout_module, "ROW_WORDS", 42)
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    plan = plan_of(tmp_path, 2, 5, {"prefix_digits": digits, "task_nodes": nodes})
    slab = plan.layout.slab_nodes
    nodes = -(-plan.layout.task_nodes // slab) * slab
    plan = dataclasses.replace(plan, layout=dataclasses.replace(plan.layout, task_nodes=nodes))
    assert plan.layout.slab_nodes == slab
    made = {step.depth: step for step in forecast_of(plan, sizes_of(2, 5)).steps}
    reads, tasks, slabs, disk = Counter(), Counter(), {}, Counter()
    read = LocalStorage.read_ranges

    def counting(storage, name, begin, views):
        reads[counting.depth] += sum(map(len, views))
        return read(storage, name, begin, views)

    counting.depth = 1
    monkeypatch.setattr(LocalStorage, "map_ranges", lambda storage, name, ranges: None)
    monkeypatch.setattr(LocalStorage, "read_ranges", counting)
    original = LayerRun.delete_replaced_part

    def looking(self, depth, *arguments):
        look(depth + 2)
        original(self, depth, *arguments)

    def look(depth):
        there = sum(path.stat().st_size for path in (tmp_path / "run").rglob("c.*"))
        disk[depth] = max(disk[depth], there)

    monkeypatch.setattr(LayerRun, "delete_replaced_part", looking)

    def listen(event):
        if isinstance(event, TaskFinished):
            tasks[event.depth] += 1
            look(event.depth)
        if isinstance(event, LayerFinished):
            counting.depth = event.depth + 1
            files = run_store(tmp_path).files(event.depth, plan.layout)
            if event.layer.form == "bits":
                slabs[event.depth] = sum(len(files.part(task).slabs) for task in files.tasks)

    store = api.run(plan, listeners=[listen]).store
    every = (plan.layout.task(0, number) for number in range(plan.layout.task_count(0)))
    stacks = [-(-len(task.nodes) // slab) for task in every]
    whole = sum(stacks) * plan.layout.task_prefixes * plan.layout.cuts
    full = [depth for depth in slabs if all(slabs.get(depth - i) == whole for i in range(4))]
    assert full
    even = all(nodes % plan.layout.task_nodes == 0 for nodes in plan.space.nodes)
    for depth in range(4, store.records[-1].depth + 1):  # without the list of depth 0
        step, record = made[depth], store.records[depth]
        count = plan.layout.task_count(plan.space.side_of(depth))
        assert step.mode == "tasks"
        assert tasks[depth] == count
        # Each slab has a checksum; records and indexes are written, and not read with the slabs.
        more = 1 + CHECKSUM_BYTES / plan.layout.slab_bytes + 1e-9
        found = record.bytes, reads[depth], disk[depth]
        foretold = tuple(size * more for size in (step.written, step.read, step.disk))
        assert all(a <= b for a, b in zip(found, foretold, strict=True)), (depth, found, foretold)
        if depth in full and even:
            footers = footer_bytes(prod(plan.layout.grid)) * count
            assert found[0] == pytest.approx(foretold[0], rel=0.01)
            assert found[1] == pytest.approx(foretold[1] - 4 * footers, rel=0.05)
            # two tasks of a worker may be under way; here one is
            assert found[2] >= foretold[2] - record.bytes / count - 3 * footers


def run_store(tmp_path):
    return api.open_run(tmp_path / "run").store


@swept("keep", ["frontier", "all"], few=["all"])
def test_forms_of_layers_and_what_is_kept(tmp_path, keep):
    plan = dataclasses.replace(plan_of(tmp_path, 2, 5, keep=keep), list_states=20_000)
    made = forecast_of(plan, sizes_of(2, 5))
    records = api.run(plan).store.records
    modes = {step.depth: step.mode for step in made.steps}
    assert list(modes) == list(range(1, 56))
    for record in records[1:]:
        assert modes[record.depth] == ("lists" if record.form == "list" else "tasks")
    stored = sum(record.bytes for record in records if record.stored)
    if keep == "all":
        # `raw` stores the last slab of a list whole
        lists = [record.states for record in records if record.form == "list"]
        filling = sum(8 * (-states % LIST_SLAB) for states in lists)
        assert made.disk == pytest.approx(stored - filling, rel=0.05)
        assert made.total("written") == pytest.approx(stored - filling, rel=0.05)
    else:
        assert made.disk < 4 * plan.layout.layer_bytes(0)


def test_until_and_a_run_that_is_under_way(tmp_path):
    sizes = sizes_of(2, 5)
    layout = {"prefix_digits": 0, "task_nodes": 5}
    plan = plan_of(tmp_path, 2, 5, layout, until=30)
    steps = forecast_of(plan, sizes).steps
    assert steps[-1].depth == 30
    later = forecast_of(plan, sizes, depth=20).steps
    assert [step.depth for step in later] == list(range(21, 31))
    assert later[1:] == steps[-9:]
    assert forecast_of(plan, sizes, depth=30).steps == []


def test_workers_disk_and_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(forecast, "LAYER_SECONDS", 0)
    layout = {"prefix_digits": 2, "task_nodes": 5}
    plan = plan_of(tmp_path, 2, 5, layout)
    sizes = sizes_of(2, 5)
    one = forecast_of(plan, sizes)
    tasks = plan.layout.task_count(0)
    taken = [forecast_of(plan, sizes, workers=n).seconds for n in (1, 2, tasks, 10 * tasks)]
    assert taken == sorted(taken, reverse=True)
    assert taken[2] == taken[3]  # more workers than tasks are idle
    assert taken[2] == pytest.approx(one.seconds / tasks)
    slow = forecast_of(plan, sizes, cached=False)
    assert slow.seconds > one.seconds
    slower = forecast_of(plan, sizes, disk_rate=1000.0)
    moved = slower.total("read") + slower.total("written")
    assert slower.seconds >= moved / 1000 * (1 - 1e-9)  # a sum of floats is rounded
    assert slower.disk == one.disk
    assert all(slower.total(what) == one.total(what) for what in ("read", "written"))


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


@swept(("digits", "nodes"), [(0, 2), (1, 5), (1, 1), (2, 3), (3, 5)], few=[(0, 2), (2, 3)])
@pytest.mark.parametrize("slab_bytes", [1 << 18, 400])
def test_traffic_is_what_tasks_read(tmp_path, monkeypatch, digits, nodes, slab_bytes):
    """Counted one by one, in slabs."""
    monkeypatch.setattr(layout_module, "ROW_WORDS", 42)
    monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
    layout = plan_of(tmp_path, 2, 5, {"prefix_digits": digits, "task_nodes": nodes}).layout
    if layout.task_nodes % layout.slab_nodes:
        layout = dataclasses.replace(layout, task_nodes=layout.slab_nodes)
    read, own = 0, 0
    for task in map(partial(layout.task, 0), range(layout.task_count(0))):
        own += len(task.nodes) / layout.slab_nodes * layout.task_prefixes * layout.cuts
        reads = reads_of(layout, task, program_of(layout, task))
        read += len(set(zip(reads.task.tolist(), reads.slab.tolist(), strict=True)))
    if layout.space.nodes[0] % layout.task_nodes == 0:  # else the mean is not that of all
        assert parts_read(layout, 0, 10**6) == pytest.approx(read / own)
    whole = dataclasses.replace(layout, prefix_digits=0, task_nodes=5)
    assert parts_read(whole, 0) == 1  # a task of all nodes reads each slab once


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
    made = forecast_of_sample(api.plan(config), estimated)
    assert made.disk > 1e14
    assert made.seconds > 1e6
    assert not (tmp_path / "run").exists()


def forecast_of_sample(plan, sizes):
    reads = [parts_read(plan.layout, side) for side in range(plan.space.sides)]
    return Forecast(plan, sizes, reads, RATES, 2, cached=False)


def test_the_disk_of_a_run_by_tasks_from_its_first_layer_on(tmp_path):
    plan, sizes = plan_of(tmp_path, 2, 4, {}), sizes_of(2, 4)
    nothing = [0.0] * plan.space.sides
    assert (
        Forecast(plan, Sizes(list(sizes), len(sizes)), nothing, RATES).disk
        > 2 * plan.layout.part_bytes
    )


@pytest.mark.sweep
def test_3x5_is_foretold_within_a_third(tmp_path):
    """That run took 39 min 41 s of two workers, wrote 371 GB, and held 46.4 GB at its peak.

    A task took 5, 13 and 27 ns of the processor for a word of layers with so many ones a bit; a
    worker read some 800 MB and wrote some 500 MB a second while both did.
    """
    sizes = json.loads(Path(__file__).with_name("3x5.json").read_text())
    config = Config(
        name="test", puzzle={"kind": "tiles", "rows": 3, "columns": 5},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": "local", "workers": 2, "memory": "9.5GB", "oversubscribe": True},
    )  # fmt: skip
    plan = api.plan(config)
    shares = stored_shares(plan.config.store.codec)
    assert shares.density == sorted(shares.density)
    tasks = np.interp(shares.density, [0, 0.02, 0.12], [5e-9, 13e-9, 27e-9]).tolist()
    rates = dataclasses.replace(
        shares, task=tasks, listed=2e-7, read=1.25e-9, write=2e-9,
        read_work=2.7e-10, write_work=2.7e-10,
    )  # fmt: skip
    reads = [parts_read(plan.layout, side) for side in range(plan.space.sides)]
    made = Forecast(plan, Sizes(sizes, len(sizes)), reads, rates, 2, cached=False)
    assert made.seconds == pytest.approx(2381, rel=1 / 3)
    assert made.total("written") == pytest.approx(371e9, rel=1 / 3)
    assert made.disk == pytest.approx(46.4e9, rel=1 / 3)


def test_a_slab_that_is_larger_than_the_sample():
    words = np.arange(1, 7, dtype=np.uint64)
    sample = SampleSlabs(SlabCodec("raw"), words, 80, 60)
    assert sample.raw.tolist() == [[1, 2, 3, 4, 5, 6, 1, 2, 3, 4]]


@pytest.mark.parametrize("codec", ["raw", "bitmap", "zstd:1"])
def test_sample_slabs_are_read_like_those_of_a_layer(codec):
    words = np.arange(40 * 50, dtype=np.uint64)
    sample = SampleSlabs(SlabCodec(codec), words, 400, 60)
    assert (sample.stored == 1) == (codec == "raw")
    assert np.isin(sample.raw, words).all()
    slabs = sample.stored_slabs()
    assert slabs.begin.size == len(sample.raw)
    for begin, end, raw in zip(slabs.begin, slabs.end, sample.raw, strict=True):
        zerobytes.decode(memory_at(begin, end - begin), decoded := np.empty_like(raw))
        assert (decoded == raw).all()
