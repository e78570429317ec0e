"""Runs that are refused, and results that cannot be right."""

import dataclasses
import re
import shutil

import pytest

from frontier.api import runs as api
from frontier.config.loading import make_config
from frontier.errors import CorruptRunError, InputError, TooLarge
from frontier.layers import layouts as planning
from frontier.layers.run import LayerRun
from frontier.puzzles import puzzle_of
from tests.support.ledgers import add_states
from tests.support.sweeps import swept
from tests.support.temporary_runs import write_ledger
from tests.support.tile_runs import KNOWN, as_bits, config_of, run


def test_a_run_of_another_config_is_refused(tmp_path):
    run(api.plan(config_of(tmp_path, 2, 3)), until=3)
    before = sorted((p, p.read_bytes()) for p in tmp_path.rglob("*") if p.is_file())
    with pytest.raises(InputError, match=r"columns.*3.*columns.*4"):
        api.plan(config_of(tmp_path, 2, 4))
    with pytest.raises(InputError, match=r"frontier.*all"):
        api.plan(config_of(tmp_path, 2, 3, search={"keep": "all"}))
    assert sorted((p, p.read_bytes()) for p in tmp_path.rglob("*") if p.is_file()) == before


def test_a_run_that_keeps_all_names_the_command_that_resumes_it(tmp_path):
    run(api.plan(config_of(tmp_path, 2, 3, search={"keep": "all"})), until=3)
    with pytest.raises(InputError, match=r"keeps all layers.* run .*") as caught:
        api.plan(config_of(tmp_path, 2, 3))
    assert "--fresh" not in str(caught.value)
    with pytest.raises(InputError, match=r"puzzle\.columns"):
        api.plan(config_of(tmp_path, 2, 4))


def test_a_run_keeps_its_layout(tmp_path):
    plan = api.plan(config_of(tmp_path, 2, 4))
    fine = as_bits(plan, prefix_digits=1, task_nodes=1)
    assert (plan.layout.prefix_digits, plan.layout.task_nodes) != (1, 1)
    run(fine, until=20)
    again = api.plan(config_of(tmp_path, 2, 4))
    assert again.layout == dataclasses.replace(fine.layout, space=again.layout.space)
    assert run(again).states == KNOWN[2, 4][1]


def test_a_lost_part_is_an_error(tmp_path):
    plan = as_bits(api.plan(config_of(tmp_path, 2, 4)), prefix_digits=1)
    stopped = run(plan, until=15)
    part = next(stopped.layer_path(15).glob("c.*"))
    kept = part.read_bytes()
    part.unlink()
    with pytest.raises(CorruptRunError, match=r"/0015 lacks 1 of 2 parts"):
        run(plan)
    part.write_bytes(kept)
    assert run(plan).states == KNOWN[2, 4][1]


def test_layers_that_do_not_add_up_are_an_error(tmp_path):
    plan = api.plan(config_of(tmp_path, 2, 3))
    done = run(plan)
    for change, words in ((1, "361"), (-1, "359")):
        add_states(done, 4, change)
        write_ledger(done)
        with pytest.raises(CorruptRunError, match=words):
            run(plan)
        add_states(done, 4, -change)


def test_too_many_states_are_an_error_at_once(tmp_path):
    plan = api.plan(config_of(tmp_path, 2, 4))
    stopped = run(plan, until=5)
    add_states(stopped, 3, 20_000)
    write_ledger(stopped)
    with pytest.raises(CorruptRunError, match="20,160 states"):
        run(plan)
    assert len(LayerRun.open(stopped.path).records) == 6


def test_memory_that_is_too_small_is_refused_with_figures(tmp_path):
    config = config_of(tmp_path, 2, 6)
    small = config.model_copy(
        update={"cluster": config.cluster.model_copy(update={"memory": 200_000_000})}
    )
    with pytest.raises(InputError, match=r"cluster\.memory = 200 MB.*at least \d"):
        api.plan(small)
    assert not config.path.exists()


@pytest.mark.sweep
def test_worker_memory_chooses_the_layout(tmp_path):
    config = config_of(tmp_path, 2, 7)
    needs = []
    for memory in (500_000_000, 1_500_000_000, 8_000_000_000):
        cluster = config.cluster.model_copy(update={"memory": memory})
        plan = api.plan(config.model_copy(update={"cluster": cluster}))
        assert plan.task_bytes <= memory
        needs.append(plan.task_bytes)
    assert needs[0] < needs[1] <= needs[2]


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_rows_of_the_kernel_are_counted(tmp_path, monkeypatch, in_memory):
    config = config_of(tmp_path, 2, 5, search={"in_memory": in_memory})
    before = api.plan(config)
    monkeypatch.setattr(planning, "SPARE_ROWS", planning.SPARE_ROWS + 3)
    rows = 3 * max(1, before.threads)
    assert api.plan(config).task_bytes == before.task_bytes + rows * 8 * before.layout.row_words


def test_boards_too_large_for_state_numbers_are_refused(tmp_path):
    with pytest.raises(InputError, match="63 bits"):
        api.plan(config_of(tmp_path, 5, 5))


def test_puzzles_that_need_more_memory_than_there_is_anywhere_are_out_of_reach():
    """No setting is named as the remedy. Where a large machine would do, this one is named."""
    asked = {}
    for pieces in (16, 20):
        generators = {"turn": [*range(2, pieces + 1), 1], "swap": "(1 2)"}
        puzzle = {"kind": "permutations", "generators": generators, "closed": True}
        with pytest.raises(InputError) as caught:
            api.plan(make_config("large", puzzle, cluster={"memory": "4GB", "workers": 1}))
        asked[pieces] = str(caught.value)
    assert "; this machine has " in asked[16]
    assert "2,432,902,008,176,640,000 states, which are out of reach" in asked[20]
    assert "a worker has at most 25.0 TB; choose a puzzle with fewer pieces" in asked[20]
    assert "cluster.memory" not in asked[20]


TILES = {"kind": "tiles", "rows": 2, "columns": 7}


@pytest.mark.sweep
@swept("memory", [0, 10**6, 3 * 10**6, 4 * 10**8], few=1)
def test_the_least_memory_that_is_named_suffices(memory):
    def planned(memory):
        cluster = {"memory": memory, "workers": 2}
        return api.plan(make_config("2x7", TILES, {"in_memory": False}, cluster=cluster))

    with pytest.raises(TooLarge) as caught:
        planned(memory)
    least = re.search(r"set cluster.memory to at least ([\d.]+[MG]B)", str(caught.value))[1]
    plan = planned(least)
    assert plan.task_bytes <= plan.config.cluster.memory


def test_a_directory_that_vanishes_is_an_input_error(tmp_path):
    plan = api.plan(config_of(tmp_path, 2, 3))
    done = run(plan)
    shutil.rmtree(done.path)
    with pytest.raises(InputError):
        LayerRun.open(done.path)


def test_puzzle_of_identity_is_the_puzzle(tmp_path):
    plan = api.plan(config_of(tmp_path, 2, 3, goal=[[1, 2, 3], [4, 5, 0]]))
    puzzle = puzzle_of(run(plan).identity["puzzle"])
    assert (puzzle.title, puzzle.goals) == ("2×3 tiles", ((1, 2, 3, 4, 5, 0),))
    assert plan.puzzle.goals == puzzle.goals
