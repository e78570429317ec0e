"""Where pieces can lie and step, on boards small enough to see it."""

import pytest

from frontier.puzzles.board_shapes import Footprint, footprint_of, placements_from, steps_from
from frontier.puzzles.grid import ways_on_squares

BOARD = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]
"""Three cells above two, a hole between these."""
UP, DOWN, LEFT, RIGHT = range(4)


def test_ways_between_squares():
    up, down, left, right = ways_on_squares(BOARD)
    assert down == {0: 3, 2: 4}
    assert right == {0: 1, 1: 2}
    assert (up, left) == ({3: 0, 4: 2}, {1: 0, 2: 1})


def test_a_piece_goes_as_a_whole():
    ways = ways_on_squares(BOARD)
    assert list(steps_from(ways, frozenset({0, 1}))) == [(RIGHT, frozenset({1, 2}))]
    assert list(steps_from(ways, frozenset({0}))) == [
        (DOWN, frozenset({3})),
        (RIGHT, frozenset({1})),
    ]


def test_placements_are_what_steps_lead_to():
    ways = ways_on_squares(BOARD)
    assert placements_from(ways, frozenset({3}), 5) == {frozenset({cell}) for cell in range(5)}
    assert placements_from(ways, frozenset({0, 3}), 5) == {frozenset({0, 3})}


def test_a_step_that_two_ways_make_counts_once():
    there = {0: 1, 1: 0}
    assert list(steps_from([there, there], frozenset({0}))) == [(0, frozenset({1}))]
    assert list(steps_from([there], frozenset({0, 1}))) == []  # it turns round where it is


def test_a_footprint_is_numbered_in_reading_order():
    """Read by columns the cells are 0 3, 1, 2 4."""
    ways = ways_on_squares(BOARD)
    footprint = footprint_of(ways, [(1, 2), (0, 1)], [0, 3, 1, 2, 4])
    assert footprint.placements == ((0, 2), (2, 3))
    assert footprint.steps == ((0, 1, RIGHT), (1, 0, LEFT))
    assert footprint.at == {0: 0, 2: 1}
    assert footprint.size == 2
    assert footprint.beyond == [{RIGHT: 1}, {LEFT: 0}]
    assert footprint == footprint_of(ways, [(0, 1), (1, 2)], [0, 3, 1, 2, 4])


def test_placements_that_begin_alike_are_refused():
    with pytest.raises(ValueError, match="begin in one cell"):
        Footprint(((0, 1), (0, 2)), ())
