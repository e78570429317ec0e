"""The databases of lines, and the bound of single positions, against searches by dictionary."""

import random
from functools import cache

import numpy as np
from cosets.reading import made, rows_of, some_boards, tiles_of
from cosets.twin import board_of, pattern_of
from sweeps import swept

from frontier.cosets import lines
from frontier.cosets.kernel import VOLTAGE_BITS, VOLTAGES
from frontier.cosets.lines import Lines

CASES = [
    ((2, 3), (0, 0), (3, 2)),
    ((2, 3), (0, 1), (1, 1, 1, 1, 1)),
    ((2, 3), (1, 2), (5,)),
    ((3, 2), (1, 1), (3, 3)),
    ((3, 2), (2, 0), (4, 1)),
    ((2, 4), (0, 1), (3, 3, 3)),
    ((2, 4), (1, 2), (4, 4)),
    ((4, 2), (2, 1), (2, 3, 2)),
    ((2, 4), (0, 0), (7,)),
    ((3, 3), (1, 1), (4, 4)),
    ((3, 3), (0, 2), (5, 5)),
]
each_case = swept(("shape", "blank", "sizes"), CASES, few=[*CASES[:4], CASES[5], CASES[7]])

KINDS = (True, False)
"""Whether a line is one of those along which the board is read."""


@cache
def lines_of(shape, blank, sizes):
    return Lines(tiles_of(board_of(*shape, blank, "multi")), sizes, 2, made)


def made_for(shape, blank, sizes):
    """(board of the twin, its tables, the tiles of each group)"""
    board, table = board_of(*shape, blank, "multi"), lines_of(shape, blank, sizes)
    return board, table, [model.labelled for model in table._split.models]


@each_case
def test_distances_and_the_bound(shape, blank, sizes):
    """Distances whole, by walking home, and modulo 4, as they are kept. No bound is above the
    distance of the position; that of one group with all tiles is the distance."""
    board, table, groups = made_for(shape, blank, sizes)
    tables = table.tables
    known = [[board.lines_from(tiles, kind) for tiles in groups] for kind in KINDS]
    boards = some_boards(board, random.Random(1), 20160 if len(board.goal) < 9 else 1000)
    close = 0
    for tiles, *state in zip(boards, *table.states(rows_of(board, boards)), strict=True):
        bounds = []
        for kind, end in np.ndindex(2, 2):
            far = []
            for g, group in enumerate(groups):
                line = board.line_of(pattern_of(tiles, group), KINDS[kind])
                vertex, number = (part[kind, g] for part in state)
                far.append(known[end][g][line])
                assert lines._distance(end, vertex, number, tables) == far[-1]
                assert lines._residue(end, vertex, number, tables) == far[-1] % 4
                assert (far[-1] + kind + end) % 2 == 0
            bounds.append(max(far) + 1)
        if tiles != board.goal:
            assert min(bounds) <= board.distances[tiles]
            assert len(sizes) > 1 or min(bounds) == board.distances[tiles]
            close += min(bounds) > board.distances[tiles] * 2 // 3
    assert close > len(boards) // 10 or max(sizes) == 1


@each_case
def test_moves_lead_to_the_lines_of_the_boards_that_they_make(shape, blank, sizes):
    board, table, groups = made_for(shape, blank, sizes)
    side = min(shape)
    for tiles in some_boards(board, random.Random(2), 100):
        (vertices,), (numbers,) = table.states(rows_of(board, [tiles]))
        for kind in range(2):
            line = board.line_of(tiles, KINDS[kind])
            at = {board.reading.index(there.index(0)): there for there in line}
            assert len(at) == table.tables.sizes[kind]
            for cell, there in at.items():
                (after,), (images,) = table.states(rows_of(board, [there]))
                k = cell // side if kind else cell % side
                for g in range(len(groups)):
                    entry = int(table.tables.move[vertices[kind, g], k])
                    assert entry >> VOLTAGE_BITS == after[1 - kind, g]
                    image = table.tables.image[entry & VOLTAGES, numbers[kind, g]]
                    assert image == images[1 - kind, g]
            assert (table.tables.move[vertices[kind], len(at) :] == -1).all()


@each_case
def test_positions_of_one_line_have_one_state(shape, blank, sizes):
    board, table, _ = made_for(shape, blank, sizes)
    for tiles in some_boards(board, random.Random(3), 60):
        for kind in range(2):
            line = list(board.line_of(tiles, KINDS[kind]))
            vertices, numbers = table.states(rows_of(board, line))
            states = np.hstack([vertices[:, kind], numbers[:, kind]])
            assert len(np.unique(states, axis=0)) == 1
