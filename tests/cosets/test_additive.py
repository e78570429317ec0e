"""Additive databases and the search of single positions, against the distances of all positions."""

import random
from functools import cache

import numpy as np
import pytest
from cosets.reading import as_homes, made, tiles_of
from cosets.twin import Board, board_of, pattern_of
from hypothesis import given
from hypothesis import strategies as st
from sweeps import swept

from frontier.cosets import additive
from frontier.cosets.additive import Additive, settle, split, way_for, within
from frontier.cosets.kernel import nothing_met
from frontier.puzzles import tile_puzzle

CASES = [
    ((2, 3), (0, 0), (2, 3)),
    ((2, 3), (0, 1), (1, 1, 1, 1, 1)),
    ((2, 3), (1, 2), (5,)),
    ((3, 2), (1, 1), (3, 2)),
    ((3, 2), (0, 0), (4, 1)),
    ((2, 4), (0, 0), (4, 3)),
    ((2, 4), (0, 1), (1, 6)),
    ((2, 4), (1, 2), (7,)),
    ((4, 2), (2, 1), (2, 3, 2)),
    ((4, 2), (0, 0), (1,) * 7),
    ((3, 3), (0, 0), (4, 4)),
    ((3, 3), (1, 1), (1, 3, 4)),
    ((3, 3), (0, 1), (8,)),
]
each_case = swept(("shape", "blank", "sizes"), CASES, few=[*CASES[:4], CASES[5], CASES[8]])


@cache
def additive_of(shape, blank, sizes):
    return Additive(tile_puzzle(*shape, blank=blank), sizes, 2, made)


@cache
def boards_of(shape, blank):
    return sorted(board_of(*shape, blank).distances)


def made_for(shape, blank, sizes):
    """(board of the twin, its tables, memory of one thread)"""
    board = board_of(*shape, blank)
    tables = additive_of(shape, blank, sizes)
    way = way_for(shape[0] * shape[1], len(sizes), tables.moves.target.shape[1])
    return board, tables, way


def groups_of(board, sizes):
    """The tiles of each group: those of the goal in reading order, cut."""
    tiles = [board.goal[cell] for cell in board.reading if board.goal[cell]]
    return [[tiles.pop(0) for _ in range(size)] for size in sizes]


def some_boards(board, rng, most):
    """Boards that can be reached, the goal and the farthest among them."""
    order = sorted(board.distances, key=lambda b: (board.distances[b], b))
    if len(order) <= most:
        return order
    return [*order[:20], *order[-20:], *rng.sample(order, most - 40)]


def rows_of(board, boards):
    return np.array([as_homes(board, tiles) for tiles in boards])


# --- the databases


@each_case
def test_groups_are_cut_in_the_order_of_their_homes(shape, blank, sizes):
    board = board_of(*shape, blank)
    groups = [set(pattern.model.labelled) for pattern in split(tiles_of(board), sizes)]
    assert groups == [set(group) for group in groups_of(board, sizes)]


@each_case
def test_distances_in_groups(shape, blank, sizes):
    """Whole by walking home, and modulo 4 as they are kept."""
    board, made_tables, _ = made_for(shape, blank, sizes)
    tables, groups = made_tables.tables, groups_of(board, sizes)
    distances = [board.moves_of(group) for group in groups]
    boards = some_boards(board, random.Random(1), 1500)
    vertices, numbers = made_tables.states(rows_of(board, boards))
    sums = []
    for tiles, vertex, number in zip(boards, vertices, numbers, strict=True):
        expected = [
            distance[pattern_of(tiles, group)]
            for distance, group in zip(distances, groups, strict=True)
        ]
        for g, far in enumerate(expected):
            region = tables.region[vertex[g]]
            assert additive._distance(g, region, number[g], tables) == far
            assert additive._residue(region, number[g], tables) == far % 4
        sums.append(sum(expected))
        assert sums[-1] <= board.distances[tiles]
        assert (sums[-1] == 0) == (tiles == board.goal)
    assert max(sums) > 5


@each_case
def test_moves_lead_to_the_states_of_the_boards_that_they_make(shape, blank, sizes):
    board, made_tables, _ = made_for(shape, blank, sizes)
    tables, moves = made_tables.tables, made_tables.moves
    for tiles in some_boards(board, random.Random(2), 150):
        vertices, numbers = (s[0] for s in made_tables.states(rows_of(board, [tiles])))
        near = {board.reading.index(there.index(0)): there for there in board.near(tiles)}
        at = board.reading.index(tiles.index(0))
        states = zip(*made_tables.states(rows_of(board, near.values())), strict=True)
        after = dict(zip(near, states, strict=True))
        for k, target in enumerate(moves.target[at].tolist()):
            for g in range(len(sizes)):
                entry = int(tables.move[vertices[g], k])
                assert (entry >= 0) == (target >= 0)
                if entry >= 0:
                    there, number = (state[g] for state in after[target])
                    assert entry >> additive.VOLTAGE_BITS == there
                    image = tables.image[entry & additive.VOLTAGES, numbers[g]]
                    assert image == number


# --- single positions


def check_within(board, tables, way, tiles, limit):
    """Assert that the search says whether a board takes so few moves, and how."""
    row = rows_of(board, [tiles])
    (vertices,), (numbers,) = tables.states(row)
    found, nodes = within(row[0], vertices, numbers, limit, tables.moves, tables.tables, way)
    distance = board.distances[tiles]
    assert found == (distance <= limit)
    assert nodes >= 0
    if found:
        cells = way.blank[1 : way.slot[-1] + 1].tolist()
        assert distance <= len(cells) <= limit
        assert board.leads_home(tiles, [board.reading[cell] for cell in cells])


@each_case
def test_within(shape, blank, sizes):
    """Just enough moves, one or two too few, and other numbers of them."""
    board, tables, way = made_for(shape, blank, sizes)
    rng = random.Random(3)
    for tiles in some_boards(board, rng, 400):
        distance = board.distances[tiles]
        for limit in {distance - 2, distance - 1, distance, distance + 1, rng.randrange(40)}:
            if limit >= 0:
                check_within(board, tables, way, tiles, limit)


@each_case
def test_settle_finds_all_positions_that_take_more(shape, blank, sizes):
    """Of a whole board, for some limits of both parities."""
    board, tables, way = made_for(shape, blank, sizes)
    boards = some_boards(board, random.Random(4), 20160)
    rows = rows_of(board, boards)
    vertices, numbers = tables.states(rows)
    most = max(board.distances.values())
    for limit in {0, 1, most // 2, most - 3, most - 2, most - 1, most, most + 10}:
        needs_more = np.ones(len(boards), dtype=np.bool_)
        settle(rows, vertices, numbers, limit, tables.moves, tables.tables, way, needs_more)
        assert needs_more.tolist() == [board.distances[tiles] > limit for tiles in boards]


@swept("bits", [8, 11], few=[8])
@swept(("shape", "blank", "sizes"), CASES, few=CASES[5:6])
def test_small_tables_of_boards_met(shape, blank, sizes, bits):
    """Most boards are forgotten, and nothing is missed."""
    board, tables, way = made_for(shape, blank, sizes)
    way = way._replace(met=nothing_met(bits))
    for tiles in some_boards(board, random.Random(5), 60):
        for limit in (board.distances[tiles] - 2, board.distances[tiles]):
            if limit >= 0:
                check_within(board, tables, way, tiles, limit)


@given(st.lists(st.integers(0, 20159), min_size=1, max_size=30), st.integers(0, 40))
def test_positions_are_settled_one_like_another(picks, limit):
    """In any order, each as by itself."""
    board, tables, way = made_for((2, 4), (0, 0), (4, 3))
    boards = [boards_of((2, 4), (0, 0))[pick] for pick in picks]
    rows = rows_of(board, boards)
    vertices, numbers = tables.states(rows)
    needs_more = np.zeros(len(boards), dtype=np.bool_)
    settle(rows, vertices, numbers, limit, tables.moves, tables.tables, way, needs_more)
    assert needs_more.tolist() == [board.distances[tiles] > limit for tiles in boards]


@pytest.mark.parametrize("sizes", [(3, 2), (1,) * 5, (5,)])
def test_tables_are_kept_by_their_name(sizes):
    kept = {}

    def keep(name, make):
        kept[name] = make()
        return kept[name]

    first = Additive(tile_puzzle(2, 3), sizes, 1, keep)
    assert list(kept) == ["groups"]
    again = Additive(tile_puzzle(2, 3), sizes, 1, lambda name, make: kept[name])
    for one, other in zip(first.tables, again.tables, strict=True):
        assert (one == other).all()


@given(st.data())
def test_states_tell_boards_apart(data):
    """Two boards that differ are not of the same states in all groups."""
    shape = data.draw(st.sampled_from([(2, 3), (3, 2), (2, 4), (3, 3)]))
    tiles = shape[0] * shape[1] - 1
    cuts = sorted(data.draw(st.sets(st.integers(1, tiles - 1), max_size=3)))
    sizes = tuple(b - a for a, b in zip([0, *cuts], [*cuts, tiles], strict=True))
    board = Board(*shape, (0, 0))
    boards = list(data.draw(st.sets(st.permutations(range(tiles + 1)).map(tuple), max_size=20)))
    if boards:
        vertices, numbers = additive_of(shape, (0, 0), sizes).states(rows_of(board, boards))
        states = np.hstack([vertices, numbers])
        assert len(np.unique(states, axis=0)) == len(boards)
