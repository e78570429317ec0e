"""The region of a coset search: a rectangle of the board that holds the blank's home. Its boards:
their distances through moves inside it, and lists of the farthest.

The tiles whose homes lie outside are *labelled*. A larger region has fewer patterns and more
boards; the tables of both must fit in memory.
"""

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial, perm

import numpy as np

from frontier.errors import InputError
from frontier.kernels.distances import distance_table
from frontier.puzzles import GridPuzzle, PatternPuzzle, Puzzle, pattern_puzzle, tile_puzzle
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.model import ShapeEncoding
from frontier.solving.groups import MOST_LABELLED
from frontier.space.graph import Space
from frontier.space.lehmer import LehmerCode
from frontier.storage.tables import TableSource

LEAST_SIDE = 2
"""The least side of a region: in a single line, tiles never change their order."""

MOST_TILES = 15
"""The most tiles of a region: a 64-bit word holds four bits for each tile."""

BALANCE = 1 / 4
"""The default region has at least this many patterns for each of its boards."""

LEAST_LISTED, MOST_LISTED = 1 << 16, 1 << 24
"""The limits of the number of patterns in the first list."""

VERTEX_BYTES, LISTED_BYTES = 500, 16
"""The approximate bytes of memory for each vertex of the base graph of the patterns, and for each
listed pattern."""


@dataclass(frozen=True)
class Region:
    """A rectangle of the board of a tile puzzle whose only goal has the tiles in order.

    puzzle: the tile puzzle. top, left, rows, columns: the rectangle, which holds the blank's home.
    cells: int64, its cells, numbered in the reading order of the whole board and listed in the
    reading order of the region. outside: int64, all other cells, ascending.
    """

    puzzle: GridPuzzle
    top: int
    left: int
    rows: int
    columns: int

    @cached_property
    def cells(self) -> np.ndarray:
        place = np.argsort(self.puzzle.grid.reading)
        grid = place.reshape(self.puzzle.grid.rows, self.puzzle.grid.columns)
        inner = grid[self.top : self.top + self.rows, self.left : self.left + self.columns]
        return inner.ravel()[self.board.grid.reading]

    @cached_property
    def outside(self) -> np.ndarray:
        return np.setdiff1d(np.arange(self.puzzle.cells), self.cells)

    @cached_property
    def board(self) -> GridPuzzle:
        """The tile puzzle of the region alone."""
        row, column = self.puzzle.blank_square
        home = (row - self.top, column - self.left)
        return tile_puzzle(self.rows, self.columns, blank=home, metric=self.puzzle.metric)

    @cached_property
    def pattern(self) -> PatternPuzzle:
        """The pattern of the labelled tiles."""
        goal = np.array(self.puzzle.goals[0])[self.puzzle.grid.reading]
        labels = sorted(goal[self.outside].tolist())
        blank = self.puzzle.blank_square
        return pattern_puzzle(
            self.puzzle.grid.rows,
            self.puzzle.grid.columns,
            labels=labels,
            blank=blank,
        )

    @property
    def period(self) -> int:
        """The number modulo which the distances of all positions of a coset are equal: 2 if a move
        slides one tile, because it changes the colour of the blank's cell on the checkerboard;
        otherwise 1."""
        return 2 if self.puzzle.metric == "step" else 1

    @property
    def tiles(self) -> int:
        return self.rows * self.columns - 1

    @property
    def labelled(self) -> int:
        return self.puzzle.cells - 1 - self.tiles

    @property
    def patterns(self) -> int:
        return perm(self.puzzle.cells, self.labelled + 1)

    @property
    def boards(self) -> int:
        return factorial(self.tiles + 1) // 2

    @cached_property
    def odd(self) -> np.ndarray:
        """bool[cells], in reading order: True if solutions with the blank in the cell have an odd
        number of moves, because its checkerboard colour is not that of the blank's home. All False
        if a move slides several tiles."""
        squares = np.array(self.puzzle.grid.squares)[self.puzzle.grid.reading]
        home = self.puzzle.blank_square
        return (squares + home).sum(axis=1) % self.period == 1

    @property
    def most_listed(self) -> int:
        """The most patterns in the list that is made with their table."""
        return max(LEAST_LISTED, min(MOST_LISTED, self.patterns // 8))

    @property
    def table_bytes(self) -> int:
        """The bytes of the table of patterns, which uses 60 bits of each 64-bit word: one bit per
        pattern if the period is 2, otherwise two."""
        return (3 - self.period) * self.patterns * 8 // 60

    @property
    def bytes(self) -> int:
        """The bytes of both tables."""
        return self.table_bytes + self.boards

    @property
    def memory(self) -> int:
        """The approximate bytes of memory of both tables, with the base graph and the lists."""
        vertices = comb(self.puzzle.cells - 1, self.labelled) * self.puzzle.cells
        return VERTEX_BYTES * vertices + LISTED_BYTES * self.most_listed + self.bytes

    @property
    def memory_while_made(self) -> int:
        """The approximate bytes of memory in use while the tables are made, including two more
        layers of patterns or of boards."""
        return self.memory + max(self.table_bytes, 2 * self.boards)

    @property
    def name(self) -> str:
        """The size, such as "2x6", followed by the corner unless it is the top left one:
        "2x6+0+2"."""
        corner = f"+{self.top}+{self.left}" if self.top or self.left else ""
        return f"{self.rows}x{self.columns}{corner}"


def check_puzzle(puzzle: Puzzle) -> GridPuzzle:
    """Return the puzzle; raises InputError unless the search by cosets supports it."""
    if puzzle.kind != "tiles" or not isinstance(puzzle, GridPuzzle):
        raise InputError(
            f"{puzzle.title}: a search by cosets needs a tile puzzle whose tiles are all different"
        )
    blank = puzzle.blank_square
    in_order = puzzle.goals[0] == puzzle.grid.in_order(blank)
    if len(puzzle.goals) > 1 or not in_order:
        raise InputError(
            f"{puzzle.title}: a search by cosets needs one goal, with its tiles in order: set "
            "puzzle.blank instead of puzzle.goal"
        )
    if puzzle.grid.line_length < LEAST_SIDE or puzzle.cells <= LEAST_SIDE**2:
        raise InputError(
            f"{puzzle.title}: a search by cosets needs at least 2 rows and 2 columns, and a board "
            "larger than 2×2; `run` searches this one at once"
        )
    if next(regions_of(puzzle), None) is None:
        raise InputError(
            f"{puzzle.title}: a search by cosets needs a region of at most {MOST_TILES} tiles with "
            f"at most {MOST_LABELLED} outside it; choose a smaller board"
        )
    return puzzle


def regions_of(puzzle: GridPuzzle) -> Iterator[Region]:
    """Generate all rectangles that can be the region of a puzzle."""
    row, column = puzzle.blank_square
    for rows, top in _spans(row, puzzle.grid.rows):
        for columns, left in _spans(column, puzzle.grid.columns):
            region = Region(puzzle, top, left, rows, columns)
            if region.tiles <= MOST_TILES and 1 <= region.labelled <= MOST_LABELLED:
                yield region


def _spans(home: int, length: int) -> Iterator[tuple[int, int]]:
    """Generate (size, first line) of all runs of lines that hold the line of the blank's home."""
    for size in range(LEAST_SIDE, length + 1):
        for first in range(max(0, home - size + 1), min(home, length - size) + 1):
            yield size, first


def best_region(puzzle: GridPuzzle) -> Region:
    """Return the default region: among the regions with at least `BALANCE` patterns for each board,
    or among all if there are none, the region with the smallest tables.

    On 2×7, questions with three labelled columns (17 million patterns) take two thirds of the time
    that the same questions take with two (240,000 patterns).
    """
    regions = list(regions_of(puzzle))
    balanced = [region for region in regions if region.patterns >= BALANCE * region.boards]
    return min(balanced or regions, key=lambda region: (region.bytes, region.rows + region.columns))


def region_named(puzzle: GridPuzzle, name: str) -> Region:
    """Return the region with a name such as "2x6"; raises InputError if the puzzle has no such
    region."""
    regions = {region.name: region for region in regions_of(puzzle)}
    if name not in regions:
        names = ", ".join(regions)
        raise InputError(f"region {name!r}: {puzzle.title} has the regions {names}")
    return regions[name]


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
