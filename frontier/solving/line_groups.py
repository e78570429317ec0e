"""Groups of tiles if a move slides several tiles: their patterns, tables and distances.

Vertices are numbered through all groups, so that kernels read one table.
"""

from collections.abc import Sequence

import numpy as np

from frontier.jit import kernel
from frontier.kernels.distances import bit_at, bit_numbers
from frontier.puzzles import GridPuzzle, pattern_puzzle
from frontier.puzzles.pattern_graph import set_ranks
from frontier.solving.groups import runs_of_tiles
from frontier.solving.paths import BLANK, VOLTAGE_BITS, VOLTAGES
from frontier.space.lehmer import LehmerCode


class Split:
    """The tiles of a puzzle in groups of equal sizes.

    sizes: the number of tiles of each group. patterns, models: the pattern of each group and its
    model. code: the Lehmer code of their sequences. members: int64[size] for each group, the homes
    of its tiles in reading order. home: the home of the blank.
    """

    def __init__(self, puzzle: GridPuzzle, sizes: Sequence[int]):
        grid = puzzle.grid
        blank = puzzle.blank_square
        goal = np.array(grid.in_order(blank))[grid.reading]
        self.code, self.home = LehmerCode(sizes[0]), puzzle.blank_cell
        self.members = runs_of_tiles(puzzle, sizes)
        self.patterns = [
            pattern_puzzle(grid.rows, grid.columns, labels=goal[members].tolist(), blank=blank)
            for members in self.members
        ]
        self.models = [pattern.model for pattern in self.patterns]

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states of boards in all groups, int64[N, G] each: the number of the set of
        places of the group's tiles times the number of cells, plus the blank's cell; and the number
        of the bit of their sequence (see `bit_numbers`).

        boards: int8[N, cells], the home of the tile in each cell, in reading order, or `BLANK`.
        """
        blank = (boards == BLANK).argmax(axis=1)
        code, vertices, sequences = self.code, [], []
        for members, model in zip(self.members, self.models, strict=True):
            in_group = np.isin(boards, members)
            position = np.nonzero(in_group)[1].reshape(len(boards), code.length)
            tiles = boards[in_group].reshape(len(boards), code.length)
            index, sign = code.ranks(np.argsort(np.argsort(tiles, axis=1), axis=1))
            places = position - (position > blank[:, None])
            base = model.base
            vertices.append(set_ranks(places, base.binomial) * base.cells + blank)
            sequences.append(bit_numbers(code, sign, index))
        return np.stack(vertices, axis=1), np.stack(sequences, axis=1)


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
