"""Single positions, with additive pattern databases.

The tiles are split into groups (`frontier.cosets.groups`). The distance of a position in a group is
the least number of moves of the group's tiles in any sequence of moves that brings these tiles and
the blank home. No move affects the tiles of two groups, so the sum over the groups is a lower bound
(R. E. Korf and A. Felner, Disjoint Pattern Database Heuristics, Artificial Intelligence 134, 2002),
and it is 0 only at the goal. Each move changes the distance of only one group, by at most one.
Mirror images of a position (`frontier.cosets.symmetry`) have the same distance, so the greatest of
their sums is a lower bound too. The order of all tiles gives a third bound
(`frontier.cosets.inversions`).

Two searches alternate, each time with four times the nodes: one iteration of IDA*
(`frontier.cosets.deepening`), which decides whether a position needs at most a given number of
moves, and a beam search (`frontier.cosets.beam`), which finds solutions of distant positions but
cannot show that there are none.
"""

from collections.abc import Sequence

import numpy as np

from frontier.cosets.beam import Beam, beam_for, beam_within
from frontier.cosets.blank_moves import Moves, images, moves_on, pattern_graph
from frontier.cosets.deepening import AdditiveTables, path_for, within
from frontier.cosets.groups import Split, first_numbers, joined_images, renumbered, residues
from frontier.cosets.inversions import BoardLines
from frontier.cosets.kernel import UNBOUNDED, VOLTAGE_BITS, board_words
from frontier.cosets.single import Databases, Solver
from frontier.cosets.sources import TableSource
from frontier.cosets.symmetry import mirrored, symmetries
from frontier.kernels.distances import residue_table
from frontier.puzzles import GridPuzzle, pattern_puzzle
from frontier.space.graph import BaseGraph, Space

FIRST_NODES = 20_000
"""The nodes that the first search of each kind visits."""

LONGER = 4
"""The factor by which the nodes grow each time."""

MOST_WIDTH = 1 << 20
"""The greatest width of a beam; it takes 0.5 GB of memory. The hardest known positions of 2×10 need
a tenth to a half of this width."""


class Additive(Databases):
    """The databases of a puzzle whose moves slide one tile. The sides of a position are the board
    and its mirror images."""

    def __init__(
        self, puzzle: GridPuzzle, sizes: Sequence[int], threads: int, table_source: TableSource
    ):
        grid = puzzle.grid
        moves = moves_on(grid.rows, grid.columns, "step")
        self._split = split = Split(puzzle, sizes, "labelled")
        self._symmetries = np.array([np.arange(puzzle.cells), *symmetries(puzzle)])
        models, codes = split.models, split.codes

        def fill(g: int, end: int, table: np.ndarray) -> None:
            space = models[g].space
            assert isinstance(space, Space)  # labelled tiles differ
            residue_table(space, models[g].origins(), threads, table)

        regions = [model.graph.vertices for model in models]
        residue, first = residues(1, regions, codes, table_source, fill)
        odd = np.zeros(first.shape, dtype=np.int64)
        of_steps, pictures = [], []
        region_numbers = first_numbers(regions)
        for model, code, number in zip(models, codes, region_numbers, strict=True):
            odd[0, number + model.space.vertex[1]] = 1
            steps = pattern_puzzle(grid.rows, grid.columns, labels=model.labelled)
            graph, move = pattern_graph(steps, moves)
            of_steps.append(move)
            pictures.append(images(graph, code))
        image, voltages = joined_images(pictures)
        self._first = first_numbers(map(len, of_steps))
        region = [m.base.region + number for m, number in zip(models, region_numbers, strict=True)]
        most = max(np.diff(model.graph.arcs.start).max() for model in models)
        arcs = [_arcs_of(model.graph, most) for model in models]
        group = np.full(puzzle.cells, -1, dtype=np.int64)
        for g, members in enumerate(split.members):
            group[members] = g
        self.tables = AdditiveTables(
            residue, first, odd, np.concatenate(region),
            np.concatenate(renumbered(of_steps, self._first, voltages)), image,
            np.concatenate(renumbered(arcs, region_numbers, voltages)),
            tuple(range(len(self._symmetries))), group[self._symmetries],
            _moves_of_images(self._symmetries, moves), moves,
            BoardLines(grid.line_length, puzzle.cells // grid.line_length, split.home),
            board_words(puzzle.cells),
        )  # fmt: skip

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sides = [self._split.states(mirrored(boards, cells)) for cells in self._symmetries]
        vertices, numbers = zip(*sides, strict=True)
        return np.stack(vertices, axis=1) + self._first, np.stack(numbers, axis=1)

    def solver(self, stop: np.ndarray) -> "AdditiveSolver":
        return AdditiveSolver(self, stop)


def _arcs_of(graph: BaseGraph, most: int) -> np.ndarray:
    """Return the arcs of a graph in the form of a `PatternTable`'s moves. most: the most arcs at a
    vertex."""
    start, target, voltage = graph.arcs
    count = np.diff(start)
    arcs = np.full((graph.vertices, most), -1, dtype=np.int64)
    arcs[np.arange(most) < count[:, None]] = target.astype(np.int64) << VOLTAGE_BITS | voltage
    return arcs


def _moves_of_images(symmetries: np.ndarray, moves: Moves) -> np.ndarray:
    """Return the number of each move under each symmetry: int64[S, cells, K]."""
    image = symmetries[:, moves.target]
    return (moves.target[symmetries][:, :, None] == image[..., None]).argmax(axis=-1)


class AdditiveSolver(Solver):
    """Alternates IDA* and beam searches."""

    def __init__(self, databases: Additive, stop: np.ndarray):
        super().__init__(databases, within, path_for(databases.tables, stop))
        self._beam: Beam | None = None

    def needs_more(
        self, board: np.ndarray, limit: int, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        enough, visited = min(FIRST_NODES, most), 0
        while not self.scratch.stop[0]:
            needs_more, nodes = super().needs_more(board, limit, enough)
            visited += nodes
            if needs_more is not None:
                return needs_more, visited
            found, nodes = self._search_beam(board, limit, enough)
            visited += nodes
            if found:
                return False, visited
            if enough == most:
                break
            enough = min(LONGER * enough, most)
        return None, visited

    def _search_beam(self, board: np.ndarray, limit: int, nodes: int) -> tuple[bool, int]:
        tables, (vertices, numbers) = self.databases.tables, self.databases.states(board[None])
        width = min(MOST_WIDTH, max(1, nodes // max(1, limit)))
        if self._beam is None or self._beam.blank.shape[1] < width:
            groups, room = vertices.shape[-1], 1 << (width - 1).bit_length()
            self._beam = beam_for(board.size, groups, room, self.scratch.stop)
        return beam_within(board, vertices[0, 0], numbers[0, 0], limit, width, tables, self._beam)
