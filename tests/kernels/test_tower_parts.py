"""What a part of a tower's layer is made from, against all neighbours of its rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.config.loading import load_config
from frontier.kernels.tower_parts import TowerTables
from frontier.kernels.tower_search import TowerLists
from frontier.puzzles import graph_puzzle
from frontier.space.layout import Layout
from frontier.space.tower import Tower
from frontier.space.tower_space import TowerSpace
from tests.support.random_towers import made
from tests.support.temporary_runs import CONFIGS

MOST_STATES, MOST_PARTS = 5_000, 60


def part_sizes(space):
    """Numbers of rows that a part may have: equal shares, and what a search in memory has cut."""
    rows, count = space.nodes[0], 1
    for radix in space.outer_radices:
        for share in range(1, radix + 1):
            if radix % share == 0 and count * share <= MOST_PARTS:
                yield rows // (count * share)
        count *= radix
    for parts in range(2, min(rows, 33)):
        yield Layout.with_tasks(space, 0, parts).task_nodes


def assert_sources(space):
    numbers = np.arange(space.states, dtype=np.uint64)
    near, source = TowerLists(space).neighbours(0, numbers)
    rows_near, rows = (of // space.code.half for of in (near.astype(np.int64), source))
    for size in dict.fromkeys(part_sizes(space)):
        layout = Layout(space, 0, size)
        for number in range(layout.task_count(0)):
            wanted = {number, *(rows[rows_near // size == number] // size).tolist()}
            assert TowerTables(layout, layout.task(0, number)).parts.tolist() == sorted(wanted)


@given(seed=st.integers(0, 10**9))
def test_a_part_is_made_from_the_parts_of_its_neighbours(seed):
    space = TowerSpace(Tower(made(seed).points), row_cost=1e-3)
    if space.states <= MOST_STATES:
        assert_sources(space)


@pytest.mark.sweep
def test_a_part_of_the_cross_of_a_cube():
    """Whose digits have so many values that few shares are equal."""
    config = load_config(CONFIGS / "xcross.toml", 'puzzle.goal="1 2 3 4' + " ?" * 16 + '"')
    assert_sources(config.make_puzzle().model.space)


@pytest.mark.parametrize("labels", ["aaabbb.", "aabbcc.", "aaabbc."])
def test_a_part_of_a_tower_over_a_graph(labels, monkeypatch):
    monkeypatch.setattr("frontier.puzzles.alike.MOST_EXPLICIT", 0)
    ring = [[1, 5], [0, 2], [1, 3, 6], [2, 4], [3, 5], [4, 0, 6], [2, 5]]
    space = graph_puzzle(ring, labels).model.space
    assert isinstance(space, TowerSpace)
    assert_sources(space)
