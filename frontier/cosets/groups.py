"""The tiles of a puzzle in groups, each with a pattern database for bounds on their moves.

A group is a run of tiles in the order of their homes; together the groups hold all tiles. If the
bound is the sum of the distances in the groups (`frontier.cosets.additive`), no tile is in two
groups. If it is the greatest distance (`frontier.cosets.lines`), all groups have the same size and
may overlap.
"""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, comb, prod

import numpy as np

from frontier.cosets.blank_moves import check_voltages
from frontier.cosets.kernel import BLANK, VOLTAGE_BITS, VOLTAGES
from frontier.cosets.regions import MOST_LABELLED
from frontier.cosets.sources import TableSource
from frontier.errors import InputError
from frontier.jit import kernel
from frontier.kernels.distances import WORD_BITS, bit_at, bit_numbers
from frontier.puzzles import GridPuzzle, pattern_puzzle
from frontier.puzzles.pattern_graph import set_ranks
from frontier.space.lehmer import LehmerCode
from frontier.space.words import WORD_BYTES

MOST_OF_LINES = 8
"""The most tiles of a group if a move slides several tiles: on a board of 16 cells a database of
nine tiles takes more than 2 GB for each of the two lines of the goal."""

SAMPLE = 1000
"""The size of an additive database is estimated from this many random sets of cells."""

BASE_BYTES = 400
"""The approximate bytes of the base graph of a group for each set of cells and cell of the
blank."""


def group_sizes(puzzle: GridPuzzle, room: int) -> tuple[int, ...]:
    """Return the number of tiles of each group, for the fewest groups of almost equal sizes whose
    databases fit in memory.

    room: the bytes of memory. Raises InputError if no databases fit.
    """
    tiles, adds = puzzle.cells - 1, puzzle.metric == "step"
    for count in range(1, tiles + 1):
        small, larger = divmod(tiles, count)
        sizes = (small + 1,) * larger + (small,) * (count - larger)
        if not adds:
            sizes = sizes[:1] * count
        most = MOST_LABELLED if adds else MOST_OF_LINES
        if sizes[0] <= most and group_bytes(puzzle, sizes) <= room:
            return sizes
    raise InputError(
        f"{puzzle.title}: no database of a group of tiles fits in {room:,} bytes of memory"
    )


def group_bytes(puzzle: GridPuzzle, sizes: tuple[int, ...]) -> int:
    """Return the bytes of memory needed to make the databases of groups of these sizes."""
    adds = puzzle.metric == "step"
    vertices = _regions if adds else _lines
    tables = {
        size: vertices(puzzle, size) * 2 * LehmerCode(size).words * WORD_BYTES
        for size in set(sizes)
    }
    return (
        sum(tables[size] for size in sizes) * (1 if adds else 2)
        + max(tables.values())
        + sum(BASE_BYTES * puzzle.cells * comb(puzzle.cells - 1, size) for size in sizes)
    )


def _lines(puzzle: GridPuzzle, size: int) -> int:
    """Return the number of lines of patterns of `size` tiles: see `frontier.cosets.lines`."""
    return comb(puzzle.cells - 1, size) * (puzzle.grid.rows + puzzle.grid.columns)


def _regions(puzzle: GridPuzzle, size: int) -> int:
    """Estimate from a sample how many placements `size` tiles and the blank have. Moves of the
    blank among the other tiles do not change a placement."""
    random = np.random.default_rng(size)
    shape = puzzle.grid.rows, puzzle.grid.columns
    places = np.stack([random.permutation(puzzle.cells) for _ in range(SAMPLE)])
    free, number = np.ones((SAMPLE, *shape), dtype=bool), np.arange(puzzle.cells).reshape(shape)
    np.put_along_axis(free.reshape(SAMPLE, -1), places[:, :size], False, axis=1)
    # Each free cell takes the least number of itself and the free cells beside it until no number
    # changes.
    # Then exactly one cell in each region still has its own number. Loading the kernel that finds
    # the regions of a whole graph (`frontier.puzzles.pattern_graph`) would take longer.
    before, least = np.empty(0), np.where(free, number, puzzle.cells)
    while not np.array_equal(before, least):
        before = least
        near = np.pad(least, ((0, 0), (1, 1), (1, 1)), constant_values=puzzle.cells)
        rows = np.minimum(near[:, :-2, 1:-1], near[:, 2:, 1:-1])
        columns = np.minimum(near[:, 1:-1, :-2], near[:, 1:-1, 2:])
        least = np.where(free, np.minimum(least, np.minimum(rows, columns)), puzzle.cells)
    regions = int((least == number).sum())
    return ceil(comb(puzzle.cells, size) * regions / SAMPLE)


class Split:
    """The tiles of a puzzle in groups.

    sizes: the number of tiles of each group. patterns, models: the pattern of each group and its
    model. codes: the Lehmer codes of their sequences. members: int64[size] for each group, the
    homes of its tiles in reading order. home: the home of the blank.
    """

    def __init__(self, puzzle: GridPuzzle, sizes: Sequence[int], metric: str):
        """metric: the metric of the patterns."""
        grid = puzzle.grid
        goal = np.array(puzzle.goals[0])[grid.reading]
        blank = divmod(puzzle.goals[0].index(0), grid.columns)
        tiles = np.flatnonzero(goal)
        starts = np.cumsum([0, *sizes[:-1]])
        shared = np.linspace(0, sum(sizes) - tiles.size, len(sizes)).astype(np.int64)
        starts = np.maximum(0, starts - shared)
        self.sizes, self.home = tuple(sizes), int(goal.argmin())
        self.members = [
            tiles[start : start + size] for start, size in zip(starts, sizes, strict=True)
        ]
        self.patterns = [
            pattern_puzzle(
                grid.rows, grid.columns, labels=goal[members].tolist(), blank=blank, metric=metric
            )
            for members in self.members
        ]
        self.models = [pattern.model for pattern in self.patterns]
        self.codes = [LehmerCode(size) for size in sizes]

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states of boards in all groups, int64[N, G] each: the number of the set of
        places of the group's tiles times the number of cells, plus the blank's cell; and the number
        of the bit of their sequence (see `bit_numbers`).

        boards: int8[N, cells], the home of the tile in each cell, in reading order, or `BLANK`.
        """
        blank = (boards == BLANK).argmax(axis=1)
        vertices, sequences = [], []
        for members, model, code in zip(self.members, self.models, self.codes, strict=True):
            in_group = np.isin(boards, members)
            position = np.nonzero(in_group)[1].reshape(len(boards), code.length)
            tiles = boards[in_group].reshape(len(boards), code.length)
            index, sign = code.ranks(np.argsort(np.argsort(tiles, axis=1), axis=1))
            places = position - (position > blank[:, None])
            base = model.base
            vertices.append(set_ranks(places, base.binomial) * base.cells + blank)
            sequences.append(bit_numbers(code, sign, index))
        return np.stack(vertices, axis=1), np.stack(sequences, axis=1)


def residues(
    ends: int,
    vertices: Sequence[int],
    codes: Sequence[LehmerCode],
    table_source: TableSource,
    fill: Callable[[int, int, np.ndarray], None],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the databases of all groups as one array, uint64, and the number of the first bit of
    each vertex, int64[ends, vertices]. Vertices are numbered group by group.

    ends: the number of databases of a group. vertices, codes: the number of vertices of each group
    and the code of its sequences. table_source: returns the array if it was made before. Otherwise
    fill(g, end, table) writes a database of group g to its part of the array, uint64[2 * vertices,
    words], which holds zeros.
    """
    shapes = [(ends, 2 * n, code.words) for n, code in zip(vertices, codes, strict=True)]
    starts = first_numbers(map(prod, shapes))

    def make() -> np.ndarray:
        residue = np.zeros(sum(map(prod, shapes)), dtype=np.uint64)
        for g, (start, shape) in enumerate(zip(starts, shapes, strict=True)):
            table = residue[start : start + prod(shape)].reshape(shape)
            for end in range(ends):
                fill(g, end, table[end])
        return residue

    words = [
        start + np.arange(0, prod(shape), 2 * shape[2]).reshape(ends, -1)
        for start, shape in zip(starts, shapes, strict=True)
    ]
    return table_source("groups", make), np.hstack(words) * WORD_BITS


def first_numbers(counts: Iterable[int]) -> np.ndarray:
    """Return the first number of each group if members are numbered group by group."""
    return np.cumsum([0, *counts])[:-1]


def joined_images(pictures: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the images of all groups as one array in the form of a `PatternTable`, and the first
    number of each group's voltages."""
    voltages = first_numbers(map(len, pictures))
    total, bits = sum(map(len, pictures)), max(picture.shape[1] for picture in pictures)
    check_voltages(total)
    image = np.zeros((total, bits), dtype=np.result_type(*pictures))
    for first, picture in zip(voltages, pictures, strict=True):
        image[first : first + len(picture), : picture.shape[1]] = picture
    return image, voltages


def renumbered(
    moves: Sequence[np.ndarray], vertices: np.ndarray, voltages: np.ndarray
) -> list[np.ndarray]:
    """Return the moves of each group, in the form of `PatternTable.move`, with vertices and
    voltages numbered through all groups. vertices, voltages: the first number of each group."""
    return [
        np.where(group_moves < 0, -1, group_moves + (vertex << VOLTAGE_BITS) + voltage)
        for group_moves, vertex, voltage in zip(moves, vertices, voltages, strict=True)
    ]


@kernel
def residue_of(end, vertex, number, tables):
    """Return the distance modulo 4 of a state in its group."""
    return 2 * bit_at(tables.residue, tables.first[end, vertex] + number) + tables.odd[end, vertex]


@kernel
def distance_of(end, vertex, number, arcs, tables):
    """Return the distance of a state in its group, found by walking to nearer neighbours until no
    neighbour is nearer.

    arcs: int64[vertices, K], the arcs of the graph that defines the distance, in the form of
    `PatternTable.move`.
    """
    moves, residue, nearer = 0, residue_of(end, vertex, number, tables), True
    while nearer:
        nearer = False
        for entry in arcs[vertex]:
            if entry < 0:
                break
            to, image = entry >> VOLTAGE_BITS, np.int64(tables.image[entry & VOLTAGES, number])
            if residue_of(end, to, image, tables) == (residue - 1) & 3:
                vertex, number, residue, nearer = to, image, (residue - 1) & 3, True
                moves += 1
                break
    return moves
