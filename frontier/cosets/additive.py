"""Single positions, with additive pattern databases.

The tiles are split into groups (`frontier.cosets.groups`). The distance of a position in a group is
the least number of moves of the group's tiles in any sequence of moves that brings these tiles and
the blank home. No move is of two groups, so the sum over the groups is a lower bound (R. E. Korf
and A. Felner, Disjoint Pattern Database Heuristics, Artificial Intelligence 134, 2002), and it is 0
in the goal alone. Each move changes the distance of one group alone, by one at most. Mirror images
of a position (`frontier.cosets.symmetry`) are as far as it is, so the greatest of their sums is a
lower bound too. Another one is the order of all tiles (`frontier.cosets.inversions`).

Two searches take turns, each time with four times the nodes: one iteration of IDA*
(`frontier.cosets.deepening`), which decides whether a position takes at most so many moves, and a
beam search (`frontier.cosets.beam`), which finds solutions of far positions, but proves nothing.
"""

from collections.abc import Sequence

import numpy as np

from frontier.cosets.beam import Beam, beam_for, beam_within
from frontier.cosets.deepening import MET_BITS, Groups, SingleScratch, within
from frontier.cosets.groups import Split, joined, residues
from frontier.cosets.inversions import BoardLines
from frontier.cosets.kernel import MOST_MOVES, UNBOUNDED, no_stop, nothing_met
from frontier.cosets.symmetry import mirrored, symmetries
from frontier.cosets.tables import TableSource, images, moves_on, pattern_graph
from frontier.kernels.distances import WORD_BITS, residue_table
from frontier.puzzles import Puzzle, pattern_puzzle

FIRST_NODES = 20_000
"""The nodes that each of the searches visits at first."""

LONGER = 4
"""Then they visit so many times more."""

MOST_WIDTH = 1 << 20
"""The greatest width of a beam; it takes half a gigabyte of memory. The hardest positions of 2×10
known take a tenth to a half of it."""


class SingleMemory:
    """The memory of one thread.

    path: of IDA*. beam: of a beam search.
    """

    def __init__(self, path: SingleScratch, groups: int):
        self.path, self._groups, self._width = path, groups, 0

    def beam(self, width: int) -> Beam:
        """Return memory for a beam search of at most this width."""
        if self._width < width:
            self._width = 1 << (width - 1).bit_length()
            cells = self.path.board.size
            self._beam = beam_for(cells, self._groups, self._width, self.path.stop)
        return self._beam


class Additive:
    """The tables of all groups of a puzzle whose moves slide one tile.

    tables: as the kernels read them. moves: those of the blank. home: its cell in the goal, in
    reading order.
    """

    def __init__(
        self, puzzle: Puzzle, sizes: Sequence[int], threads: int, table_source: TableSource
    ):
        grid, self._line = puzzle.grid, puzzle.grid.line_length
        self.moves = moves_on(grid.rows, grid.columns, "step")
        self._split = split = Split(puzzle, sizes, "labelled")
        self.home, self._symmetries = split.home, symmetries(puzzle)
        shapes = [
            (2 * model.graph.vertices, code.words)
            for model, code in zip(split.models, split.codes, strict=True)
        ]

        def fill(g: int, table: np.ndarray) -> None:
            model = split.models[g]
            residue_table(model.space, model.origins(), threads, table)

        (residue, starts), parts = residues(shapes, table_source, fill), []
        for model, code, first in zip(split.models, split.codes, starts, strict=False):
            steps = pattern_puzzle(grid.rows, grid.columns, labels=model.labelled)
            graph, move = pattern_graph(steps, self.moves)
            row = first + np.arange(model.graph.vertices) * 2 * code.words
            odd = np.zeros(model.graph.vertices, dtype=np.int64)
            odd[model.space.vertex[1]] = 1
            parts.append((move, row * WORD_BITS, odd, images(graph, code)))
        self.tables = self._joined(residue, parts)

    def _joined(self, residue: np.ndarray, parts: Sequence[tuple]) -> Groups:
        """Return the tables of the groups, whose vertices and voltages are numbered one after the
        other.

        parts: for each group its moves, rows, oddness and images.
        """
        models = self._split.models
        moves, rows, odd, pictures = zip(*parts, strict=True)
        move, image, self._first, voltages = joined(moves, pictures)
        arcs = [model.graph.arcs for model in models]
        regions = np.cumsum([0, *(model.graph.vertices for model in models)])
        ends = np.cumsum([0, *(graph_arcs.target.size for graph_arcs in arcs)])
        start = [graph_arcs.start[:-1] + end for graph_arcs, end in zip(arcs, ends, strict=False)]
        to = [graph_arcs.target + region for graph_arcs, region in zip(arcs, regions, strict=False)]
        voltage = [
            graph_arcs.voltage + first for graph_arcs, first in zip(arcs, voltages, strict=False)
        ]
        region = [m.base.region + first for m, first in zip(models, regions, strict=False)]
        group = np.full(len(self.moves.target), -1, dtype=np.int64)
        for g, members in enumerate(self._split.members):
            group[members] = g
        home = [m.origins()[0][0] + first for m, first in zip(models, regions, strict=False)]
        symmetry = np.array([np.arange(group.size), *self._symmetries])
        target = self.moves.target
        slot = np.zeros((len(symmetry), *target.shape), dtype=np.int64)
        for cells, slots_of_image in zip(symmetry, slot, strict=True):
            for cell, k in np.argwhere(target >= 0):
                slots_of_image[cell, k] = np.flatnonzero(
                    target[cells[cell]] == cells[target[cell, k]]
                )[0]
        return Groups(
            residue, np.concatenate(odd), np.concatenate(rows), np.concatenate(region), move, image,
            tuple(range(len(symmetry))), group[symmetry], slot, np.array(home),
            np.concatenate([*start, ends[-1:]]), np.concatenate(to), np.concatenate(voltage),
            BoardLines(self._line, len(target) // self._line, self.home),
        )  # fmt: skip

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices and numbers of boards in all groups: int64[N, G] each.

        boards: int8[N, cells], the home of the tile in each cell, in reading order, or `BLANK`.
        """
        vertices, numbers = self._split.states(boards)
        return vertices + self._first[:-1], numbers

    def images(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices and numbers of boards and of their mirror images: int64[N, S, G]
        each."""
        sides = [boards, *(mirrored(boards, cells) for cells in self._symmetries)]
        vertices, numbers = zip(*map(self.states, sides), strict=True)
        return np.stack(vertices, axis=1), np.stack(numbers, axis=1)

    def memory(self, stop: np.ndarray | None = None) -> SingleMemory:
        """Return memory for one thread. stop: see `Scratch`."""
        (cells, moves), groups = self.moves.target.shape, len(self._split.models)
        depths = MOST_MOVES + 2
        words = np.random.default_rng(2).integers(1 << 63, size=(cells, cells), dtype=np.uint64)
        sides = 1 + len(self._symmetries)
        vertex, number, distance = np.zeros((3, depths, sides, groups), dtype=np.int64)
        bounds, after = (
            np.zeros((depths, sides), np.int64),
            np.zeros((depths, moves, sides), np.int64),
        )
        blank, slot = np.zeros((2, depths), dtype=np.int64)
        slots, sums = np.zeros((2, depths), dtype=np.uint64)
        path = SingleScratch(
            words, nothing_met(MET_BITS), np.zeros(1, np.int64),
            np.zeros(cells, np.int64), vertex, number, distance, bounds,
            np.zeros((depths, 2), np.int64), blank, slots, after,
            np.zeros((depths, moves, 2), np.int64), np.zeros((depths, moves), np.int64), slot, sums,
            no_stop() if stop is None else stop,
        )  # fmt: skip
        return SingleMemory(path, groups)

    def needs_more(
        self, board: np.ndarray, limit: int, memory: SingleMemory, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        """Return whether a position needs more than `limit` moves (None if searches of `most` nodes
        do not decide it, or were stopped), and the nodes visited.

        board: int8[cells], as for `states`.
        """
        (vertices,), (numbers,) = self.images(board[None])
        enough, visited = min(FIRST_NODES, most), 0
        while not memory.path.stop[0]:
            within_limit, nodes = within(
                board, vertices, numbers, limit, enough, self.moves, self.tables, memory.path
            )
            visited += nodes
            if within_limit or nodes < enough:
                return not within_limit, visited
            found, nodes = self._beam(board, vertices[0], numbers[0], limit, enough, memory)
            visited += nodes
            if found:
                return False, visited
            if enough == most:
                break
            enough = min(LONGER * enough, most)
        return None, visited

    def _beam(self, board, vertices, numbers, limit: int, most: int, memory: SingleMemory):
        width = min(MOST_WIDTH, max(1, most // max(1, limit)))
        return beam_within(
            board, vertices, numbers, limit, width, self.moves, self.tables,
            memory.path.words, memory.beam(width),
        )  # fmt: skip

    def solution(self, board: np.ndarray, limit: int, memory: SingleMemory) -> np.ndarray | None:
        """Return the cells that the blank comes to, one after the other, in a solution of at most
        `limit` moves; None if no solution is that short, or if the search was stopped."""
        (vertices,), (numbers,) = self.images(board[None])
        path = memory.path
        within_limit, _ = within(
            board, vertices, numbers, limit, UNBOUNDED, self.moves, self.tables, path
        )
        return path.blank[1 : path.slot[-1] + 1] if within_limit else None
