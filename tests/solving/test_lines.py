"""The databases of lines, and the bound of single positions, against searches by dictionary."""

import random

import numpy as np
import pytest

from frontier.solving.line_groups import distance_of, residue_of
from frontier.solving.lines import Lines
from frontier.solving.paths import VOLTAGE_BITS, VOLTAGES
from tests.support.coset_boards import made, rows_of, some_boards, tiles_of
from tests.support.reference_cosets import board_of, pattern_of
from tests.support.sweeps import cases

CASES = [
    ((2, 3), (0, 0), (3, 3)),
    ((2, 3), (0, 1), (1, 1, 1, 1, 1)),
    ((2, 3), (1, 2), (5,)),
    ((3, 2), (1, 1), (3, 3)),
    ((3, 2), (2, 0), (4, 4)),
    ((2, 4), (0, 1), (3, 3, 3)),
    ((2, 4), (1, 2), (4, 4)),
    ((4, 2), (2, 1), (2, 2, 2, 2)),
    ((2, 4), (0, 0), (7,)),
    ((3, 3), (1, 1), (4, 4)),
    ((3, 3), (0, 2), (3, 3, 3)),
]
FEW = [CASES[1], CASES[3]]

KINDS = (True, False)
"""Whether a line is one of those along which the board is read."""


@pytest.fixture(scope="module", params=cases(CASES, few=FEW))
def made_for(request):
    """(board of the twin, its tables, the tiles of each group)"""
    shape, blank, sizes = request.param
    board = board_of(*shape, blank, "multi")
    table = Lines(tiles_of(board), sizes, 2, made)
    return board, table, [model.labelled for model in table._split.models]


def test_distances_and_the_bound(made_for):
    """Distances whole, by walking home, and modulo 4, as they are kept. No bound is above the
    distance of the position; that of one group with all tiles is the distance. Of all boards of
    six cells, of some larger ones."""
    board, table, groups = made_for
    tables = table.tables
    known = [[board.lines_from(tiles, kind) for tiles in groups] for kind in KINDS]
    boards = some_boards(board, random.Random(1), 1000)
    close = 0
    for tiles, *state in zip(boards, *table.states(rows_of(board, boards)), strict=True):
        bounds = []
        for kind, end in np.ndindex(2, 2):
            far = []
            for g, group in enumerate(groups):
                line = board.line_of(pattern_of(tiles, group), KINDS[kind])
                vertex, number = (part[kind, g] for part in state)
                far.append(known[end][g][line])
                assert distance_of(end, vertex, number, tables.move, tables) == far[-1]
                assert residue_of(end, vertex, number, tables) == far[-1] % 4
                assert (far[-1] + kind + end) % 2 == 0
            bounds.append(max(far) + 1)
        if tiles != board.goal:
            assert min(bounds) <= board.distances[tiles]
            assert len(groups) > 1 or min(bounds) == board.distances[tiles]
            close += min(bounds) > board.distances[tiles] * 2 // 3
    assert close > len(boards) // 10 or max(map(len, groups)) == 1


def test_moves_lead_to_the_lines_of_the_boards_that_they_make(made_for):
    board, table, groups = made_for
    side = min(board.rows, board.columns)
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


def test_positions_of_one_line_have_one_state(made_for):
    board, table, _ = made_for
    for tiles in some_boards(board, random.Random(3), 60):
        for kind in range(2):
            line = list(board.line_of(tiles, KINDS[kind]))
            vertices, numbers = table.states(rows_of(board, line))
            states = np.hstack([vertices[:, kind], numbers[:, kind]])
            assert len(np.unique(states, axis=0)) == 1
