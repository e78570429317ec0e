"""The tables of a coset search: every entry against searches by dictionary."""

import random
from itertools import pairwise, permutations

import numpy as np
import pytest
from cosets.reading import HALF, as_homes, half_of_regions, made, region_of, regions
from cosets.twin import Board, board_of
from sweeps import swept
from twins import sign

from frontier.cosets.kernel import BLANK, VOLTAGE_BITS, VOLTAGES
from frontier.cosets.tables import far_boards, moves_on, pattern_table, region_table
from frontier.space.memory import UNREACHED

METRICS = ("step", "multi")
SMALL = regions([(2, 3), (3, 2)], METRICS)
MORE = half_of_regions([(2, 4), (4, 2)])
LARGE = [
    ((3, 3), (0, 0), (0, 0, 2, 3), "step"),
    ((3, 3), (1, 1), (0, 0, 3, 2), "step"),
    ((3, 3), (2, 1), (1, 1, 2, 2), "multi"),
    ((2, 5), (0, 0), (0, 0, 2, 3), "step"),
    ((2, 5), (1, 2), (0, 1, 2, 3), "multi"),
    ((5, 2), (2, 1), (1, 0, 4, 2), "step"),
]
FEW = [*SMALL[:1], *SMALL[-1:], *MORE[4:25:10]]
each_region = swept(
    ("shape", "blank", "rectangle", "metric"),
    [*SMALL, *MORE, *LARGE],
    few=[*FEW, LARGE[0]],
)


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


# --- patterns


def pattern_number(board, region, pattern):
    """The number of a pattern of the twin, from its definition."""
    homes = as_homes(board, pattern).tolist()
    places = [n for n, home in enumerate(homes) if home >= 0]
    blank = homes.index(BLANK)
    order = {home: i for i, home in enumerate(region.outside.tolist())}
    sequence = tuple(order[homes[n]] for n in places)
    vertex = region.pattern.model.base.vertices_of(
        np.array([[n - (n > blank) for n in places]]), np.array([blank])
    )
    same = [s for s in permutations(range(len(sequence))) if sign(s) == sign(sequence)]
    return (2 * int(vertex[0]) + sign(sequence)) * HALF[len(sequence)] + same.index(sequence)


@each_region
def test_patterns(shape, blank, rectangle, metric):
    """All distances, and where each move leads."""
    board = board_of(*shape, blank, metric)
    region, moves = region_of(board, rectangle), moves_on(*shape, metric)
    table = pattern_table(region, moves, 2, made)
    expected, rng = board.patterns(rectangle), random.Random(1)
    assert table.size == 2 * HALF[region.labelled]
    assert (table.distance != UNREACHED).sum() == len(expected)
    known = np.bincount(table.distance, minlength=256)[:255]
    assert known.tolist() == np.bincount(list(expected.values()), minlength=255).tolist()
    some = sorted(expected)
    for pattern in some if len(some) < 1000 else rng.sample(some, 400):
        p = pattern_number(board, region, pattern)
        assert table.distance[p] == expected[pattern]
        at = board.reading.index(pattern.index(0))
        near = {there.index(0): there for there in board.near(pattern)}
        vertex, number = divmod(p, table.size)
        for k, entry in enumerate(table.move[vertex].tolist()):
            assert (entry >= 0) == (moves.target[at, k] >= 0)
            if entry >= 0:
                image = int(table.image[entry & VOLTAGES, number])
                there = near.pop(board.reading[moves.target[at, k]])
                there = pattern_number(board, region, there)
                assert (entry >> VOLTAGE_BITS) * table.size + image == there
        assert near == {}


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


@pytest.mark.parametrize("metric", METRICS)
def test_tables_are_kept_by_their_names(metric):
    """What is kept is read, and nothing else is made."""
    region, kept = region_of(board_of(2, 4, (0, 1), metric), (0, 0, 2, 3)), {}
    moves = moves_on(2, 4, metric)

    def keep(name, make):
        kept[name] = make()
        return kept[name]

    patterns, boards = pattern_table(region, moves, 1, keep), region_table(region, 1, keep)
    assert sorted(kept) == ["boards", "patterns"]
    again = pattern_table(region, moves, 1, lambda name, make: kept[name])
    assert (again.distance == patterns.distance).all()
    again = region_table(region, 1, lambda name, make: kept[name])
    assert (again.distance == boards.distance).all()
    assert (again.sign == boards.sign).all()


def test_more_voltages_than_an_entry_has_room_for_are_refused(monkeypatch):
    monkeypatch.setattr("frontier.cosets.tables.VOLTAGE_BITS", 1)
    region = region_of(board_of(2, 4, (0, 0)), (0, 0, 2, 2))
    with pytest.raises(OverflowError, match="voltages; 1 bits"):
        pattern_table(region, moves_on(2, 4, "multi"), 1, made)
