"""Runs in memory that are interrupted at any moment, and go on in the same process."""

import dataclasses
import errno
import random
from functools import partial
from itertools import count, cycle
from types import SimpleNamespace

import pytest

from frontier.api import runs as api
from frontier.errors import Stopped, StorageError
from frontier.kernels.shift_search import ShiftSearch
from frontier.layers import loop as driver_module
from frontier.layers.in_process import AsBitmaps
from frontier.layers.parts import PartWriter
from frontier.layers.run import LayerRun
from frontier.layers.task import Workspace
from tests.support.sweeps import swept
from tests.support.tile_runs import assert_store_the_same, config_of, in_memory, layers_of, run

MOMENTS = {
    "step": (ShiftSearch, "expand"),
    "task": (ShiftSearch, "_expand_task"),
    "load": (AsBitmaps, "_load"),
    "layer": (AsBitmaps, "store"),
    "slab": (PartWriter, "write"),
    "part": (PartWriter, "finish"),
    "commit": (LayerRun, "commit"),
    "ledger": (LayerRun, "write_ledger"),
}
"""What is interrupted, before it is done or after that."""


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.sweep), 8])
def layers_a_commit(request, monkeypatch):
    """So many layers are committed together, however long they take; the last ones have some
    left."""
    clock = count()
    timer = SimpleNamespace(perf_counter=lambda: next(clock))  # is asked once for each layer
    monkeypatch.setattr(driver_module, "time", timer)
    monkeypatch.setattr(driver_module, "MEMORY_SECONDS", request.param - 0.5)
    monkeypatch.setattr(driver_module, "TIMES_STORING", 0)
    return request.param


def interrupt(patch, moment, dies, error, after):
    """Let what is done at a moment raise, whenever `dies` says so."""
    owner, name = MOMENTS[moment]
    original = getattr(owner, name)

    def mortal(*arguments, **more):
        if not after and dies():
            raise error
        result = original(*arguments, **more)
        if after and dies():
            raise error
        return result

    patch.setattr(owner, name, mortal)


def plan_of(path, columns, keep, list_states=0):
    plan = in_memory(api.plan(config_of(path, 2, columns, search={"keep": keep})))
    return dataclasses.replace(plan, list_states=list_states)


def assert_is(done, calm, columns):
    """The run has the layers of a dictionary, and stores what an undisturbed one does."""
    expected = layers_of(2, columns, tuple(range(2 * columns)))
    assert done.complete
    assert [record.states for record in done.records] == [len(layer) for layer in expected]
    at_goal = [sum(board[0] == 0 for board in layer) for layer in expected]
    assert [record.tally.at_goal for record in done.records] == at_goal
    work = Workspace(done)
    for depth in done.stored_depths():
        numbers, side = work.layer(depth).numbers(), work.space.side_of(depth)
        boards = {work.puzzle.model.board(work.space.state(side, number)) for number in numbers}
        assert boards == expected[depth]
    if done.stored_depths() == [len(expected) - 1]:
        return  # who goes on gives up the older layer of two, as a late worker may be doing so
    assert_store_the_same(done, calm)


ERRORS = [KeyboardInterrupt(), RuntimeError(), OSError(errno.EIO, "")]
SEEN = [KeyboardInterrupt, RuntimeError, StorageError]
"""What is raised, and what the run says then."""


INTERRUPTED = [
    (layers, moment, *((("frontier", False), ("all", True))[(i + j) % 2]))
    for i, moment in enumerate(MOMENTS)
    for j, layers in enumerate((1, 8))
]
"""Each moment with each number of layers, and with each of what is kept."""


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("layers_a_commit", "moment", "keep", "after"), INTERRUPTED, indirect=["layers_a_commit"]
)
def test_a_run_that_is_interrupted(tmp_path, monkeypatch, layers_a_commit, moment, keep, after):
    """Now and again, each time in another run, most of them after layers that are committed."""
    calm, committed = run(plan_of(tmp_path / "calm", 3, keep)), []
    for number, (error, seen) in zip((1, 4, 8, 17, 30), cycle(zip(ERRORS, SEEN, strict=True))):
        plan, calls = plan_of(tmp_path / str(number), 3, keep), count(1)
        with monkeypatch.context() as patch:
            interrupt(patch, moment, lambda c=calls, n=number: next(c) == n, error, after)
            try:
                run(plan)
            except seen:
                path = plan.config.path  # where a run may not have been made yet
                committed.append(len(LayerRun.open(path).records) if LayerRun.exists(path) else 0)
        assert_is(run(plan), calm, 3)
    assert committed[0] <= 1 + layers_a_commit
    assert max(committed) > 1 or moment in ("load", "clear")


SHARES = {"step": 0.1, "task": 0.01, "layer": 0.1, "slab": 0.003, "part": 0.01}
"""How often what is done for each layer is interrupted, if each is committed alone; else 0.1."""


@swept(("keep", "list_states"), [("frontier", 30), ("all", 0)], few=1)
def test_interruptions_at_random_moments(tmp_path, monkeypatch, layers_a_commit, keep, list_states):
    """Again and again."""
    calm = run(plan_of(tmp_path / "calm", 4, keep, list_states))
    plan = plan_of(tmp_path / "often", 4, keep, list_states)
    rng, deaths, depths = random.Random(0), 0, []
    with monkeypatch.context() as patch:
        for moment in MOMENTS:
            share = SHARES[moment] / layers_a_commit if moment in SHARES else 0.1
            for after in (False, True):
                dies = partial(lambda share: rng.random() < share, share)
                interrupt(patch, moment, dies, rng.choice(ERRORS), after)
        while True:
            try:
                done = run(plan)
                break
            except tuple(SEEN):
                deaths += 1
            if LayerRun.exists(plan.config.path):
                depths.append(len(LayerRun.open(plan.config.path).records))
    assert deaths > 0
    assert depths == sorted(depths)
    assert_is(done, calm, 4)


@swept("keep", ["frontier", "all"], few=1)
def test_a_disk_that_fills_up(tmp_path, monkeypatch, layers_a_commit, keep):
    """The run stops after what is committed, and goes on once there is room."""
    calm, plan = run(plan_of(tmp_path / "calm", 3, keep)), plan_of(tmp_path / "full", 3, keep)
    full = OSError(errno.ENOSPC, "No space left on device")

    def one_is_committed():
        return len(LayerRun.open(plan.config.path).records) > 1

    with monkeypatch.context() as patch:
        interrupt(patch, "layer", one_is_committed, full, False)
        for _ in range(2):
            with pytest.raises(Stopped, match="the disk is full"):
                run(plan)
    stopped = LayerRun.open(plan.config.path)
    assert not stopped.complete
    assert len(stopped.records) == 1 + layers_a_commit
    assert_is(run(plan), calm, 3)
