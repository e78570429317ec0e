"""The lower bound from the two halves of the board, against whole searches of small boards."""

from collections import deque

import pytest
from sweeps import swept
from twins import bfs_layers, blank_moves

from frontier import machine
from frontier.puzzles import pattern_puzzle
from frontier.space.memory import memory_bytes
from frontier.thesis import halves
from frontier.thesis.bounds import Bounds
from frontier.thesis.halves import greatest_distances, halves_bound
from frontier.thesis.runs import Runs

KNOWN = [1, 6, 21, 36, 55, 80, 108, 140]
"""God's numbers of 2×n, OEIS A151943."""


def halves_of(columns):
    in_order = [row * columns + column for column in range(columns) for row in (0, 1)][1:]
    return set(in_order[:columns]), set(in_order[columns:])


def seen(board, half):
    """What a position shows of a half: its tiles and the blank."""
    return tuple(tile if tile in half or tile == 0 else -1 for tile in board)


def distances_in(columns, half):
    """The least number of moves of a half's tiles from each position to the goal: a breadth-first
    search in which the moves of the other tiles cost nothing."""
    goal = seen(range(2 * columns), half)
    found, queue = {goal: 0}, deque([goal])
    while queue:
        board = queue.popleft()
        for after in blank_moves(2, columns, board):
            cost = after[board.index(0)] != -1
            if found[board] + cost < found.get(after, len(found) + 10**6):
                found[after] = found[board] + cost
                (queue.append if cost else queue.appendleft)(after)
    return found


@swept("columns", [2, 3, 4], few=2)
def test_no_position_is_nearer_than_the_sum_of_its_halves(columns):
    """And the bound is the greatest of these sums, made even or odd as the distance is."""
    both = halves_of(columns)
    distances = [distances_in(columns, half) for half in both]
    greatest = 0
    for depth, layer in enumerate(bfs_layers(2, columns)):
        for board in layer:
            moves = sum(d[seen(board, h)] for d, h in zip(distances, both, strict=True))
            moves += (moves + depth) % 2
            assert moves <= depth
            greatest = max(greatest, moves)
    assert halves_bound(columns) == greatest


def test_it_never_exceeds_god_s_number():
    bounds = [halves_bound(columns) for columns in range(2, 7)]
    assert bounds == [6, 21, 34, 54, 77]
    assert all(bound <= depth for bound, depth in zip(bounds, KNOWN[1:], strict=False))


@pytest.mark.sweep
def test_larger_boards():
    assert [halves_bound(7), halves_bound(8)] == [105, 136]


def test_the_greatest_distances_of_a_half_are_those_of_all_its_positions():
    half = halves_of(3)[0]
    pattern = pattern_puzzle(2, 3, labels=sorted(half), metric="labelled")
    expected = {}
    for board, moves in distances_in(3, half).items():
        others = iter(sorted(set(range(6)) - half - {0}))
        vertex, sequence = pattern.positions.state([next(others) if t < 0 else t for t in board])
        key = vertex, pattern.model.space.code.rank(sequence)[1]
        expected[key] = max(expected.get(key, 0), moves)
    found = greatest_distances(pattern)
    assert {(v, s): found[v, s] for v, s in zip(*(found >= 0).nonzero(), strict=True)} == expected


def test_no_half_is_searched_in_vain(monkeypatch):
    """Where there is room for the smaller half alone."""
    needed = []
    monkeypatch.setattr(halves, "memory_bytes", lambda layout: needed.append(layout) or 1)
    halves_bound(4)
    left, right = (memory_bytes(layout) for layout in needed)
    assert left > right
    monkeypatch.setattr(halves, "memory_bytes", memory_bytes)
    monkeypatch.setattr(machine, "memory", lambda: right)
    monkeypatch.setattr(halves, "MemorySearch", None)
    assert halves_bound(4) is None


def test_a_board_is_left_out_where_memory_is_short(monkeypatch, tmp_path):
    bounds = Bounds(Runs(tmp_path, 0), most=1, halves=5)
    assert bounds.lower(5).steps == ("two halves",)
    assert bounds.lower(6).value == 66
    monkeypatch.setattr(machine, "memory", lambda: 10**5)
    assert halves_bound(5) is None
    assert bounds.lower(5).value == 45
