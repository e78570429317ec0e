"""Additive databases, against searches by dictionary."""

import random
from functools import cache

from frontier.puzzles import tile_puzzle
from frontier.solve.additive import Additive
from frontier.solve.line_groups import distance_of, residue_of
from frontier.solve.paths import VOLTAGE_BITS, VOLTAGES
from tests.support.coset_boards import made, rows_of, some_boards
from tests.support.reference_cosets import board_of, pattern_of
from tests.support.sweeps import swept

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
each_case = swept(("shape", "blank", "sizes"), CASES, few=[*CASES[:2], CASES[3], CASES[8]])


@cache
def additive_of(shape, blank, sizes):
    return Additive(tile_puzzle(*shape, blank=blank), sizes, 2, made)


def made_for(shape, blank, sizes):
    """(board of the twin, its tables)"""
    return board_of(*shape, blank), additive_of(shape, blank, sizes)


def groups_of(board, sizes):
    """The tiles of each group: those of the goal in reading order, cut."""
    tiles = [board.goal[cell] for cell in board.reading if board.goal[cell]]
    return [[tiles.pop(0) for _ in range(size)] for size in sizes]


@each_case
def test_distances_in_groups(shape, blank, sizes):
    """Whole by walking home, and modulo 4 as they are kept."""
    board, made_tables = made_for(shape, blank, sizes)
    tables, groups = made_tables.tables, groups_of(board, sizes)
    distances = [board.moves_of(group) for group in groups]
    boards = some_boards(board, random.Random(1), 1500)
    vertices, numbers = (states[:, 0] for states in made_tables.states(rows_of(board, boards)))
    sums = []
    for tiles, vertex, number in zip(boards, vertices, numbers, strict=True):
        expected = [
            distance[pattern_of(tiles, group)]
            for distance, group in zip(distances, groups, strict=True)
        ]
        for g, far in enumerate(expected):
            region = tables.region[vertex[g]]
            assert distance_of(0, region, number[g], tables.arcs, tables) == far
            assert residue_of(0, region, number[g], tables) == far % 4
        sums.append(sum(expected))
        assert sums[-1] <= board.distances[tiles]
        assert (sums[-1] == 0) == (tiles == board.goal)
    assert max(sums) > 5


@each_case
def test_moves_lead_to_the_states_of_the_boards_that_they_make(shape, blank, sizes):
    board, made_tables = made_for(shape, blank, sizes)
    tables, moves = made_tables.tables, made_tables.tables.moves
    for tiles in some_boards(board, random.Random(2), 150):
        vertices, numbers = (s[0, 0] for s in made_tables.states(rows_of(board, [tiles])))
        near = {board.reading.index(there.index(0)): there for there in board.near(tiles)}
        at = board.reading.index(tiles.index(0))
        states = zip(*made_tables.states(rows_of(board, near.values())), strict=True)
        after = dict(zip(near, states, strict=True))
        for k, target in enumerate(moves.target[at].tolist()):
            for g in range(len(sizes)):
                entry = int(tables.move[vertices[g], k])
                assert (entry >= 0) == (target >= 0)
                if entry >= 0:
                    there, number = (state[0, g] for state in after[target])
                    assert entry >> VOLTAGE_BITS == there
                    image = tables.image[entry & VOLTAGES, numbers[g]]
                    assert image == number
