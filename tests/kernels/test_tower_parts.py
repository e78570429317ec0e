"""What a part of a tower's layer is made from, against all neighbours of its rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from towers import made

from frontier.kernels.tower_parts import TowerTables
from frontier.kernels.tower_search import TowerLists
from frontier.puzzles import graph_puzzle
from frontier.space.layout import Layout
from frontier.space.tower import Tower
from frontier.space.tower_space import TowerSpace

MOST_STATES, MOST_PARTS = 5_000, 60


def part_sizes(space):
    """All numbers of rows that a part may have."""
    rows, count = space.nodes[0], 1
    for radix in space.outer_radices:
        for share in range(1, radix + 1):
            if radix % share == 0 and count * share <= MOST_PARTS:
                yield rows // (count * share)
        count *= radix


def assert_sources(space):
    numbers = np.arange(space.states, dtype=np.uint64)
    near, source = TowerLists(space).neighbours(0, numbers)
    rows_near, rows = (of // space.code.half for of in (near.astype(np.int64), source))
    for size in part_sizes(space):
        layout = Layout(space, 0, size)
        for number in range(layout.task_count(0)):
            wanted = {number, *(rows[rows_near // size == number] // size).tolist()}
            assert TowerTables(layout, layout.task(0, number)).parts.tolist() == sorted(wanted)


@given(seed=st.integers(0, 10**9))
def test_a_part_is_made_from_the_parts_of_its_neighbours(seed):
    space = TowerSpace(Tower(made(seed).points), row_cost=1e-3)
    if space.states <= MOST_STATES:
        assert_sources(space)


@pytest.mark.parametrize("labels", ["aaabbb.", "aabbcc.", "aaabbc."])
def test_a_part_of_a_tower_over_a_graph(labels, monkeypatch):
    monkeypatch.setattr("frontier.puzzles.alike.MOST_EXPLICIT", 0)
    ring = [[1, 5], [0, 2], [1, 3, 6], [2, 4], [3, 5], [4, 0, 6], [2, 5]]
    space = graph_puzzle(ring, labels).model.space
    assert isinstance(space, TowerSpace)
    assert_sources(space)
