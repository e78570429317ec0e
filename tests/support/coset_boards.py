"""Boards of `reference_cosets` as the tables and kernels of cosets write them, and back."""

import numpy as np

from frontier.cosets.kernel import UNLABELLED
from frontier.cosets.regions import Region
from frontier.puzzles import tile_puzzle
from frontier.solving.paths import BLANK
from tests.support.reference_cosets import blank_cells, board_of
from tests.support.sweeps import swept

HALF = {1: 1, 2: 1, 3: 3, 4: 12, 5: 60, 6: 360, 7: 2520, 8: 20160}
"""Half of the orders of so many tiles."""


def made(name, make):
    """Tables are made, not kept."""
    return make()


def tiles_of(board):
    """The puzzle of a board of `reference_cosets`."""
    return tile_puzzle(board.rows, board.columns, blank=board.blank, metric=board.metric)


def region_of(board, rectangle):
    return Region(tiles_of(board), *rectangle)


def regions(shapes, metrics=("step",)):
    """(shape, blank, rectangle, metric) of every region of some boards."""
    return [
        (shape, blank, rectangle, metric)
        for shape in shapes
        for metric in metrics
        for blank in blank_cells(*shape)
        for rectangle in board_of(*shape, blank).rectangles()
    ]


def some_regions(shapes):
    """Every fourth region of some boards in moves of one tile, and others in moves of several."""
    return [*regions(shapes, ["step"])[::4], *regions(shapes, ["multi"])[2::4]]


METRICS = ("step", "multi")
SMALL = regions([(2, 3), (3, 2)], METRICS)
MORE = some_regions([(2, 4), (4, 2)])
LARGE = [
    ((3, 3), (0, 0), (0, 0, 2, 3), "step"),
    ((3, 3), (1, 1), (0, 0, 3, 2), "step"),
    ((3, 3), (2, 1), (1, 1, 2, 2), "multi"),
    ((2, 5), (0, 0), (0, 0, 2, 3), "step"),
    ((2, 5), (1, 2), (0, 1, 2, 3), "multi"),
    ((5, 2), (2, 1), (1, 0, 4, 2), "step"),
]
FEW = [*SMALL[:1], *SMALL[-1:], *MORE[2:8:5]]
each_region = swept(
    ("shape", "blank", "rectangle", "metric"),
    [*SMALL, *MORE, *LARGE],
    few=FEW,
)


def home_cells(board):
    """The number, in reading order, of the home of each tile."""
    return {board.goal[cell]: n for n, cell in enumerate(board.reading)}


def as_homes(board, tiles, like=UNLABELLED):
    """Where the tile in each cell, in reading order, is at home: int8[cells], as kernels take
    them; of tiles that are alike (-1) it is `like`."""
    homes = home_cells(board) | {0: BLANK, -1: like}
    return np.array([homes[tiles[cell]] for cell in board.reading], dtype=np.int8)


def rows_of(board, boards):
    return np.array([as_homes(board, tiles) for tiles in boards])


def some_boards(board, rng, most):
    """Boards that can be reached, the goal and the farthest among them."""
    order = sorted(board.distances, key=lambda b: (board.distances[b], b))
    if len(order) <= most:
        return order
    return [*order[:20], *order[-20:], *rng.sample(order, most - 40)]


def from_homes(board, homes):
    """Inverse of `as_homes`, of whole boards."""
    tiles = {n: tile for tile, n in home_cells(board).items() if tile} | {BLANK: 0}
    there = dict(zip(board.reading, (tiles[int(n)] for n in homes), strict=True))
    return tuple(there[cell] for cell in range(len(there)))


def kept():
    """A source of tables that makes each of them once."""
    tables = {}

    def give(name, make):
        if name not in tables:
            tables[name] = make()
        return tables[name]

    return give
