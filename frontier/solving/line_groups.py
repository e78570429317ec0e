"""Groups of tiles if a move slides several tiles: their patterns, tables and distances.

Vertices and voltages are numbered through all groups, so that kernels read one table.
"""

from collections.abc import Callable, Iterable, Sequence
from math import prod

import numpy as np

from frontier.jit import kernel
from frontier.kernels.distances import WORD_BITS, bit_at, bit_numbers
from frontier.puzzles import GridPuzzle, pattern_puzzle
from frontier.puzzles.pattern_graph import set_ranks
from frontier.solving.blank_moves import check_voltages
from frontier.solving.groups import runs_of_tiles
from frontier.solving.paths import BLANK, VOLTAGE_BITS, VOLTAGES
from frontier.space.lehmer import LehmerCode
from frontier.storage.tables import TableSource


class Split:
    """The tiles of a puzzle in groups.

    sizes: the number of tiles of each group. patterns, models: the pattern of each group and its
    model. codes: the Lehmer codes of their sequences. members: int64[size] for each group, the
    homes of its tiles in reading order. home: the home of the blank.
    """

    def __init__(self, puzzle: GridPuzzle, sizes: Sequence[int]):
        grid = puzzle.grid
        blank = puzzle.blank_square
        goal = np.array(grid.in_order(blank))[grid.reading]
        self.sizes, self.home = tuple(sizes), puzzle.blank_cell
        self.members = runs_of_tiles(puzzle, sizes)
        self.patterns = [
            pattern_puzzle(grid.rows, grid.columns, labels=goal[members].tolist(), blank=blank)
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
