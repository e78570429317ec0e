"""Additive pattern databases: the tables, and the distances of a position in its groups.

The tiles are split into groups. The distance of a position in a group is the least number of moves
of the group's tiles in any sequence of moves that brings these tiles home and the blank to a cell
that is free to reach from its home. No move affects the tiles of two groups, so the sum over the
groups is a lower bound (R. E. Korf and A. Felner, Disjoint Pattern Database Heuristics, Artificial
Intelligence 134, 2002). A move changes the distance of only one group, by exactly one.

**A state of a group** is the set of cells of its tiles, as a mask and as a rank

    rank = sum of C(cell, i) over its cells, the i-th smallest counted from i = 1,

and the order of its tiles, as the number of a bit (`frontier.kernels.distances.bit_numbers`). A
move of a tile changes both by what a small table says: the change depends on the tile's cell, its
direction, how many tiles of the group have smaller cells, and which of the cells that it jumps in
reading order hold tiles of the group. A move of any other tile changes neither. The rank and the
blank's cell give the vertex of the state (`frontier.puzzles.pattern_graph`), and vertex and order
its bit: whether the distance is 2 or 3 modulo 4. Whether it is odd follows from its parity before
the move.

**Views.** A mirror image of a position (`frontier.solving.symmetry`) has the same distance, so its
sum is another lower bound. The tiles that fall on a group in an image, and the cells as the group
sees them, are a view. If a reflection or rotation of the board takes one group to another, together
with the cells that the blank reaches from its home, both share one table, and their views differ.
"""

from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from frontier.jit import kernel
from frontier.kernels.distances import WORD_BITS, residue_layers
from frontier.puzzles import GridPuzzle, PatternPuzzle, pattern_puzzle
from frontier.puzzles.grid import Grid
from frontier.solving.blank_moves import images, moves_on
from frontier.solving.inversions import BoardLines
from frontier.solving.paths import VOLTAGE_BITS, board_words
from frontier.solving.symmetry import board_symmetries, symmetries
from frontier.space.graph import Space
from frontier.space.lehmer import LehmerCode

AdditiveTables = namedtuple(
    "AdditiveTables",
    "residue table cell turn group sides first stride vertex vertex_start image image_start shift "
    "radices bits planes home side edges moves lines words",
)
"""The tables of T databases and of S images with G groups each, V = S * G views, for the kernels.

residue: uint64, the bits of all databases. table: int64[V], the database of each view. cell:
int64[V, cells], each cell of the board as the database sees it. turn: int64[V, cells, K], the cell
of the tile that moves if the blank makes its k-th move from a cell, times 4, plus the tile's
direction, both as the database sees them; -1 for no move. group: int64[S, cells], the view of the
tile with each home in each image, -1 for the blank. sides: the numbers of the images, a tuple,
because kernels are compiled for its length. first, stride: int64[T], the number of the first bit of
a database, and the bits of a vertex. vertex: uint32, the vertex of each rank and cell of the blank;
those of a database begin at vertex_start[t]. image: unsigned, the order after each of the voltages,
for each order; image_start: int64[T]. shift: int64[T, cells, 4, members, sets between], the change
of the rank, times 2**VOLTAGE_BITS, plus the voltage. radices: int64[T, digits], bits, planes:
int64[T], of the Lehmer code (`frontier.space.lehmer`): 1 in place of the digits that it lacks.
home: int64[T], the mask of the group's homes. side: the cells of a line. edges: uint64[2], the
masks of the first and of the last cell of each line. moves: `frontier.solving.blank_moves.Moves`.
lines: `frontier.solving.inversions.BoardLines`. words: `frontier.solving.paths.board_words`.
"""


@dataclass(frozen=True)
class Database:
    """The database of a group of tiles.

    grid: the board. homes: the homes of the tiles, ascending, in reading order. blank: the home of
    the blank.
    """

    grid: Grid
    homes: tuple[int, ...]
    blank: int

    @cached_property
    def pattern(self) -> PatternPuzzle:
        grid = self.grid
        square = int(grid.reading[self.blank])
        blank = divmod(square, grid.columns)
        goal = np.array(grid.in_order(blank))[grid.reading]
        labels = goal[list(self.homes)].tolist()
        return pattern_puzzle(
            grid.rows, grid.columns, labels=labels, blank=blank, metric="labelled"
        )

    @cached_property
    def code(self) -> LehmerCode:
        return LehmerCode(len(self.homes))

    @property
    def stride(self) -> int:
        """The bits of a vertex."""
        return 2 * self.code.words * WORD_BITS

    @cached_property
    def words(self) -> int:
        """The words of the table."""
        return self.pattern.model.graph.vertices * 2 * self.code.words

    def fill(
        self, table: np.ndarray, threads: int, tell: Callable[[float], None] = lambda share: None
    ) -> None:
        """Write the bits of all states to uint64[words] of zeros. tell: called after each layer
        with the share of the states that have been visited."""
        model, visited = self.pattern.model, 0
        assert isinstance(model.space, Space)  # labelled tiles differ
        plane = table.reshape(1, -1, self.code.words)
        for layer in residue_layers(model.space, model.origins(), threads, plane):
            visited += layer.states
            tell(visited / model.states)

    def forget(self) -> None:
        """Free the base graph, which may take more memory than the table."""
        self.__dict__.pop("pattern", None)

    @cached_property
    def vertices(self) -> np.ndarray:
        """The vertex of each set of cells and cell of the blank, uint32[sets * cells]."""
        base, size = self.pattern.model.base, len(self.homes)
        binomial = np.array(
            [[comb(cell, i) for cell in range(base.cells + 1)] for i in range(size + 1)], np.int64
        )
        vertices = np.zeros(comb(base.cells, size) * base.cells, dtype=np.uint32)
        _write_vertices(np.arange(size), binomial, base.region, base.cells, vertices)
        return vertices


def seen_as(grid: Grid, homes: np.ndarray, blank: int) -> tuple[Database, np.ndarray]:
    """Return the database of a group, which groups in equal places of the board share, and the
    cells of the board as the database sees them, int64[cells]."""
    side, region, grown = grid.line_length, {blank}, {blank}
    while grown:
        beside = {
            cell + step
            for cell in grown
            for step, inside in (
                (1, cell % side < side - 1), (-1, cell % side > 0), (side, True), (-side, True),
            )
            if inside and 0 <= cell + step < grid.cells
        }  # fmt: skip
        grown = beside - region - set(homes.tolist())
        region |= grown
    views = []
    for image in board_symmetries(grid):
        homes_seen = tuple(sorted(image[homes].tolist()))
        views.append((homes_seen, int(image[list(region)].min()), tuple(image.tolist())))
    homes_seen, blank_seen, cells = min(views)
    return Database(grid, homes_seen, blank_seen), np.array(cells)


Load = Callable[[Sequence[Database]], tuple[np.ndarray, list[int]]]
"""Returns the bits of databases, one after the other, uint64, and the words of each."""


def additive_tables(
    puzzle: GridPuzzle,
    groups: Sequence[np.ndarray],
    load: Load,
    vertices_of: Callable[[Database], np.ndarray],
    share: bool,
) -> AdditiveTables:
    """Return the tables of databases for a tile puzzle whose moves slide one tile.

    groups: the homes of the tiles of each group, in reading order. vertices_of: returns
    `Database.vertices`, which may have been made before. share: True if groups may share a
    database.
    """
    grid, cells, side = puzzle.grid, puzzle.cells, puzzle.grid.line_length
    blank = puzzle.blank_cell
    moves = moves_on(grid.rows, grid.columns, "step")
    pictures = [np.arange(cells), *symmetries(grid, blank)]
    databases: list[Database] = []
    seen, number = [], []
    for homes in groups:
        if share:
            database, view = seen_as(grid, homes, blank)
        else:
            database, view = Database(grid, tuple(homes.tolist()), blank), np.arange(cells)
        if not share or database not in databases:
            databases.append(database)
        number.append(databases.index(database))
        seen.append(view)
    group = np.full((len(pictures), cells), -1, dtype=np.int64)
    of_home = np.full(cells, -1, dtype=np.int64)
    for g, homes in enumerate(groups):
        of_home[homes] = g
    for s, picture in enumerate(pictures):
        placed = of_home[picture] >= 0
        group[s, placed] = of_home[picture][placed] + s * len(groups)
    cell = np.array([view[picture] for picture in pictures for view in seen])
    turn = np.full((len(cell), *moves.target.shape), -1, dtype=np.int64)
    steps = {1: 0, -1: 1, side: 2, -side: 3}
    for v, as_seen in enumerate(cell):
        for p, k in np.argwhere(moves.target >= 0).tolist():
            a, b = as_seen[moves.target[p, k]], as_seen[p]
            turn[v, p, k] = a * 4 + steps[int(b - a)]
    most = max(len(database.homes) for database in databases)
    shift = np.zeros((len(databases), cells, 4, most, 1 << (side - 1)), dtype=np.int64)
    digits = max(len(database.code.radices) for database in databases)
    radices = np.ones((len(databases), digits), dtype=np.int64)
    vertex_start, image_start = np.zeros((2, len(databases)), dtype=np.int64)
    vertices: dict[int, tuple[int, np.ndarray]] = {}
    orders: dict[int, tuple[int, np.ndarray]] = {}
    for t, database in enumerate(databases):
        size, code = len(database.homes), database.code
        shift[t, :, :, :size], permutations = _shifts(cells, side, size)
        radices[t, : len(code.radices)] = code.radices
        if size not in orders:
            start = sum(array.size for _, array in orders.values())
            orders[size] = start, images(permutations, code).ravel()
            start = sum(array.size for _, array in vertices.values())
            vertices[size] = start, vertices_of(database)
        vertex_start[t], image_start[t] = vertices[size][0], orders[size][0]
    residue, words = load(databases)
    line = np.arange(cells) % side
    return AdditiveTables(
        residue, np.tile(number, len(pictures)), cell, turn, group,
        tuple(range(len(pictures))), np.cumsum([0, *words])[:-1] * WORD_BITS,
        np.array([database.stride for database in databases]),
        np.concatenate([array for _, array in vertices.values()]), vertex_start,
        np.concatenate([array for _, array in orders.values()]), image_start,
        shift, radices, np.array([database.code.bits for database in databases]),
        np.array([database.code.words for database in databases]),
        np.array([_mask(database.homes) for database in databases], np.uint64), side,
        np.array([_mask(np.flatnonzero(line == end)) for end in (0, side - 1)], np.uint64),
        moves, BoardLines(side, cells // side, blank), board_words(cells),
    )  # fmt: skip


def _mask(cells) -> int:
    return sum(1 << int(cell) for cell in cells)


def _shifts(cells: int, side: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what a move of a tile changes, int64[cells, 4, size, 2**(side - 1)], as
    `AdditiveTables.shift`; and the permutation of each voltage, int64[voltages, size]: after it,
    place i holds the member that was in place permutation[i]."""
    identity = tuple(range(size))
    voltage = {identity: 0}
    shift = np.zeros((cells, 4, size, 1 << (side - 1)), dtype=np.int64)
    steps = 1, -1, side, -side
    for a, direction, i, between in np.ndindex(*shift.shape):
        b = a + steps[direction]
        jumped = [c for n, c in enumerate(range(min(a, b) + 1, max(a, b))) if between >> n & 1]
        j = i + len(jumped) if b > a else i - len(jumped)
        if not (0 <= b < cells and 0 <= j < size):
            continue
        first = i + 1 if b > a else j  # the place of the first tile that it jumps
        by = -1 if b > a else 1
        change = comb(b, j + 1) - comb(a, i + 1)
        for n, c in enumerate(jumped, start=first + 1):
            change += comb(c, n + by) - comb(c, n)
        order = list(identity)
        order.insert(j, order.pop(i))
        number = voltage.setdefault(tuple(order), len(voltage))
        shift[a, direction, i, between] = (change << VOLTAGE_BITS) + number
    return shift, np.array(list(voltage), dtype=np.int64)


@kernel
def _write_vertices(places, binomial, region, cells, vertices):
    """Write the vertex of each set of cells and cell of the blank. places: int64, the first set of
    cells, overwritten."""
    size, rank = places.size, 0
    while rank * cells < vertices.size:
        i, blank_rank = 0, np.int64(0)
        for blank in range(cells):
            if i < size and places[i] == blank:
                i += 1
                continue
            blank_rank = 0
            for n in range(size):
                blank_rank += binomial[n + 1, places[n] - (places[n] > blank)]
            vertices[rank * cells + blank] = region[blank_rank * cells + blank]
        rank += 1
        i = 0
        while i < size - 1 and places[i] + 1 == places[i + 1]:
            places[i] = i
            i += 1
        places[i] += 1
