"""The boards of a region: their distances through moves inside it, and lists of the farthest."""

from collections import namedtuple

import numpy as np

from frontier.cosets.regions import Region
from frontier.kernels.distances import distance_table
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.model import ShapeEncoding
from frontier.space.graph import Space
from frontier.space.lehmer import LehmerCode
from frontier.storage.tables import TableSource

RegionTable = namedtuple(
    "RegionTable", "distance sign place cells homes radices start count boards"
)
"""Boards of the region as the kernels read them.

distance: uint8[region cells, half], by the place of the blank in the region and the Lehmer index
of the tiles. sign: int64, the sign of the tiles with the blank at each place. place: int64[cells],
the place of each cell of the board in the region, -1 outside. cells: int64, the cell at each place.
homes: int64, the home cell of each tile. radices: int64, the radices of the kept Lehmer digits.
boards: uint32, the Lehmer indices of the farthest boards for each place of the blank, the farthest
first. start[b]: where the boards with the blank at place b begin. count[b, d]: how many of these
have a distance of d or more."""


def region_table(region: Region, threads: int, table_source: TableSource) -> RegionTable:
    """Return the table of a region without lists of boards; `far_boards` adds the boards that may
    stay open."""
    board, code = region.board, LehmerCode(region.tiles)
    space, encoding = board.model.space, board.model.encoding
    assert isinstance(space, Space)  # all tiles differ
    assert isinstance(encoding, ShapeEncoding)
    table = table_source("boards", lambda: distance_table(space, board.model.origins(), threads))
    # With the blank in a given cell, only one of the two signs of the tiles can be reached.
    sign = np.empty(region.cells.size, dtype=np.int64)
    for side in range(space.sides):
        sign[space.vertex[side]] = space.sign[side]
    shapes = encoding.shapes.rows_of(np.arange(board.model.graph.vertices))
    blank = (shapes == EMPTY).argmax(axis=1)  # by vertex
    distance = np.empty((blank.size, code.half), dtype=np.uint8)
    distance[blank] = table[2 * np.arange(blank.size) + sign]
    place = np.full(region.puzzle.cells, -1, dtype=np.int64)
    place[region.cells] = np.arange(region.cells.size)
    goal = np.array(board.goals[0])[board.grid.reading]
    homes = region.cells[goal > 0]
    empty = np.zeros((region.cells.size, int(distance.max()) + 2), dtype=np.int64)
    return RegionTable(
        distance, sign[blank.argsort()], place, region.cells, homes,
        np.array(code.radices, dtype=np.int64), empty[:, 0], empty, np.empty(0, dtype=np.uint32),
    )  # fmt: skip


def far_boards(table: RegionTable, least: int) -> RegionTable:
    """Return the table with lists of all boards at distance `least` or farther."""
    start, boards = [0], []
    count = np.zeros_like(table.count)
    for b, distance in enumerate(table.distance):
        far = np.flatnonzero(distance >= least)
        far = far[np.argsort(distance[far], kind="stable")[::-1]]
        boards.append(far.astype(np.uint32))
        start.append(start[-1] + far.size)
        sizes = np.bincount(distance[far], minlength=count.shape[1])
        count[b] = sizes[::-1].cumsum()[::-1]
    return table._replace(start=np.array(start), count=count, boards=np.concatenate(boards))
