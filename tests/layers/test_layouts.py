"""The layouts that plans choose for the shipped configs have rows as long as rows can be."""

import pytest

from frontier.config.loading import load_config
from frontier.kernels.shift_search import memory_layout
from frontier.layers.plan import make_plan
from frontier.space.layout import Layout
from frontier.space.program import program_of
from tests.support.sweeps import cases
from tests.support.temporary_runs import CONFIGS

OTHERS = ["15-puzzle", "24-puzzle", "3x3-diameter", "cube-2x2x2", "hexagram", "xcross"]
"""4×4 turned round, what has no plan of its own, as it has several goals, and what is not searched
by shifts."""
PROGRAMS = {path.stem for path in CONFIGS.glob("*.py")}
LONG = ["4x5", "pattern-2x8-k5", "pattern-2x10-k4", "pattern-2x100-k1"]
"""Whose plans take half a minute."""
NAMES = sorted({path.stem for path in CONFIGS.glob("*.toml")}.difference(OTHERS, PROGRAMS, LONG))
FEW = ["2x6", "goat", "pattern-2x7-k2"]
MEMORIES = ["1.5GB", "4GB"]
MOST_LOOK_UPS = 1_000_000
"""Work is counted arc by arc in layouts with no more look-ups."""


def plan_by_tasks(name, memory):
    settings = "search.in_memory=false", f"cluster.memory={memory}", "cluster.oversubscribe=true"
    return make_plan(load_config(CONFIGS / f"{name}.toml", settings))


@pytest.fixture(scope="module", params=cases(NAMES, few=FEW))
def layouts(request):
    """The layouts of a config, in memory and by tasks. To choose them takes seconds."""
    plans = [plan_by_tasks(request.param, memory) for memory in MEMORIES]
    space = plans[0].space
    by_tasks = {tuple(plan.layout.settings.items()): plan.layout for plan in plans}
    return [*(memory_layout(space, threads) for threads in (1, 2)), *by_tasks.values()]


def counted(layout, side):
    """The words and the look-ups of a layer, counted over its tasks and their programs."""
    words = look_ups = 0
    for number in range(layout.task_count(side)):
        task = layout.task(side, number)
        words += len(task.nodes) * layout.task_prefixes * layout.strip_words
        look_ups += program_of(layout, task).look_ups
    return words, look_ups


def test_no_row_is_shorter_than_it_need_be(layouts):
    """Without a prefix, a row is as long as the caches and the voltages allow."""
    for layout in layouts:
        assert layout.row_words == Layout(layout.space, 0, 1).row_words


def test_the_work_of_a_layout_is_what_its_tasks_do(layouts):
    for layout in layouts:
        for side in range(layout.space.sides):
            work = layout.work(side)
            arcs = int(layout.space.arc_counts[side].sum())
            assert work.look_ups >= arcs * layout.prefixes * layout.rows
            if work.look_ups <= MOST_LOOK_UPS:
                assert work == counted(layout, side)


@pytest.mark.parametrize("name", ["pattern-2x5-k3", "2x4"])
def test_short_rows_cost_more_look_ups(name):
    space = load_config(CONFIGS / f"{name}.toml").make_puzzle().model.space
    long, short = Layout(space, 0, 1).work(0), Layout(space, 1, 1).work(0)
    assert short.words == long.words
    assert short.look_ups >= space.code.leading[0] * long.look_ups
