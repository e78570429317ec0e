"""The tables of a coset search: every entry against searches by dictionary."""

import random
from itertools import pairwise, permutations

import numpy as np
import pytest
from cosets.reading import HALF, each_region, made, region_of
from cosets.twin import Board, board_of
from sweeps import swept
from twins import sign

from frontier.cosets.tables import far_boards, moves_on, region_table

METRICS = ("step", "multi")
# --- the moves of the blank


@pytest.mark.parametrize("metric", METRICS)
@swept(
    ("rows", "columns"),
    [(r, c) for r in range(2, 6) for c in range(2, 13) if r * c <= 25],
    few=[(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (5, 3), (2, 8)],
)
def test_moves(rows, columns, metric):
    """On a board with a thing of its own in every cell."""
    board, moves = Board(rows, columns, (0, 0), metric), moves_on(rows, columns, metric)
    number = {cell: n for n, cell in enumerate(board.reading)}
    for cell, n in number.items():
        things = [*range(1, cell + 1), 0, *range(cell + 1, rows * columns)]
        near = [there.index(0) for there in board.near(tuple(things))]
        kept = moves.target[n] >= 0
        assert sorted(moves.target[n][kept].tolist()) == sorted(number[to] for to in near)
        assert moves.all[n] == sum(1 << int(k) for k in np.flatnonzero(kept))
        for k in np.flatnonzero(kept):
            to, stride = int(moves.target[n, k]), int(moves.stride[n, k])
            line = list(range(n, to + stride, stride))  # the cells on the way, in reading order
            squares = [divmod(board.reading[at], columns) for at in line]
            steps = {(q[0] - p[0], q[1] - p[1]) for p, q in pairwise(squares)}
            assert len(steps) == 1  # along one line
            assert sum(map(abs, steps.pop())) == 1
            assert metric == "multi" or len(line) == 2
            may_follow = {
                int(moves.target[to, j])
                for j in range(moves.target.shape[1])
                if int(moves.then[n, k]) >> j & 1
            }
            expected = set(moves.target[to][moves.target[to] >= 0].tolist()) - {n}
            if metric == "multi":  # along the other line
                same = {divmod(board.reading[at], columns)[0] for at in (n, to)}
                axis = 0 if len(same) == 1 else 1
                at = divmod(board.reading[to], columns)[axis]
                expected = {t for t in expected if divmod(board.reading[t], columns)[axis] != at}
            assert may_follow == expected


# --- boards of the region


@each_region
def test_boards_of_the_region(shape, blank, rectangle, metric):
    board = board_of(*shape, blank, metric)
    region = region_of(board, rectangle)
    table = region_table(region, 2, made)
    own = board_of(*rectangle[2:], (blank[0] - rectangle[0], blank[1] - rectangle[1]), metric)
    assert table.place[region.cells].tolist() == list(range(region.cells.size))
    assert (table.place[region.outside] == -1).all()
    inner = board.cells_of(rectangle)  # of the whole board, by the cell of the region's own
    homes = [board.reading[home] for home in table.homes]
    number = {own.goal[inner.index(home)]: i for i, home in enumerate(homes)}
    assert sorted(number) == list(range(1, region.tiles + 1))
    assert table.distance.shape == (region.cells.size, HALF[region.tiles])
    counts = np.bincount(table.distance.ravel(), minlength=256)
    assert counts.tolist() == np.bincount(list(own.distances.values()), minlength=256).tolist()
    some = sorted(own.distances)
    orders = list(permutations(range(region.tiles)))
    same = {
        odd: {s: i for i, s in enumerate(s for s in orders if sign(s) == odd)} for odd in (0, 1)
    }
    for tiles in some if len(some) < 1000 else random.Random(2).sample(some, 500):
        at = [board.reading[cell] for cell in table.cells]
        at = [inner.index(cell) for cell in at]
        place = at.index(tiles.index(0))
        sequence = tuple(number[tiles[cell]] for cell in at if tiles[cell])
        assert table.sign[place] == sign(sequence)
        assert table.distance[place, same[sign(sequence)][sequence]] == own.distances[tiles]


@each_region
def test_far_boards(shape, blank, rectangle, metric):
    """For every least distance, and one that no board has."""
    table = region_table(region_of(board_of(*shape, blank, metric), rectangle), 1, made)
    most = int(table.distance.max())
    for least in range(most + 2):
        far = far_boards(table, least)
        assert far.boards.size == (table.distance >= least).sum()
        for b, distance in enumerate(table.distance):
            for d in range(least, most + 2):
                first = far.boards[far.start[b] : far.start[b] + far.count[b, d]]
                assert sorted(first.tolist()) == np.flatnonzero(distance >= d).tolist()
