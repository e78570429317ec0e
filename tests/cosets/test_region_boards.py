"""The boards of a region: every distance against searches by dictionary."""

import random
from itertools import permutations

import numpy as np

from frontier.cosets.regions import far_boards, region_table
from tests.support.coset_boards import HALF, each_region, made, region_of
from tests.support.reference_cosets import board_of
from tests.support.reference_search import sign


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
