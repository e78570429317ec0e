"""Lines of positions: moves of any number of tiles, with fewer states than there are positions.

Let a move slide any number of tiles of one row or column, so that the blank goes to any other cell
of it. A **line** is a class of positions that moves along one row join, or along one column: all
other tiles keep their cells, those of the row their order. It has one position for each cell of
the row. So each position is in two lines, its row's and its column's, which share no other one, as
the blank is where row and column cross.

**Graph.** Let L be the graph that has a vertex for each line and, for each position, an edge
between its two lines. Two positions are one move apart if and only if their edges share a vertex:
the state graph is the *line graph* of L (H. Whitney, American Journal of Mathematics 54, 1932; a
line is an edge there). Fix a cell in each row and column. A line is its row or column and the
sequence of the tiles when the blank is in that cell. So L is the derived graph of the complete
bipartite graph of the m rows and n columns of the board; the voltage from a row to a column is that
of the blank's way from the cell of the one over the crossing to the cell of the other. It has m + n
vertices where the base graph of the positions has m·n.

**Depths.** The two lines of the goal g are at depth 0. A position p other than g whose lines are at
the depths a and b is at depth 1 + min(a, b). *At most*: take a shortest path in L from a line of g
to the nearer line of p. Its edges, with g before and p behind them, are min(a, b) + 2 edges of
which each shares a vertex with the next, so the same number less one are the moves. *At least*: let
g = e(0), ..., e(k) = p be the positions that the fewest moves pass, and v(i) the line that e(i - 1)
and e(i) share. Then v(i) is not v(i + 1), else e(i - 1) and e(i + 1) were one move apart; so e(i)
joins v(i) to v(i + 1), and v(1), ..., v(k) is a walk of k - 1 edges from a line of g to one of p.

**Counting.** L is bipartite. Let A be the lines across the direction in which the board is read
(`frontier.puzzles.tiles`), of l = max(m, n) positions each, and B those along it. The ends of an
edge differ in depth by one at most. Let A(d) be the lines of A at depth d, and e(d) the number of
edges from A(d - 1) to lines of B at depth d - 1 or d; the kernel counts these as it makes layer d.
The other edges of A(d), l |A(d)| - e(d + 1) of them, lead to lines of B at depth d - 1. A position
is at depth d >= 1 if the lower end of its edge is at d - 1: its end in A is, and that in B is no
lower, which are e(d) positions; or its end in A is at d and that in B at d - 1. Together there are

    l |A(d)| - e(d + 1) + e(d)

positions at depth d, for d = 1 with the goal, which is at depth 0. If D is the greatest depth of a
line, e(D + 1) edges join lines at that depth, and these positions, if any, are at depth D + 1.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.grid import Grid
from frontier.puzzles.model import Model, PositionModel
from frontier.puzzles.pieces import Board
from frontier.puzzles.puzzle import Puzzle
from frontier.puzzles.tiles import tile_puzzle
from frontier.space.graph import BaseGraph
from frontier.space.lists import ListKernel

BY_LINES = ", by lines"
"""What the title adds to the title of the positions."""


class LineModel(Model):
    """The lines of the positions of a tile puzzle in which moves slide any number of tiles.

    At depth 0 are the row and the column of the goal's blank. The vertices are the lines of cells
    along which the board is read, then those across.
    """

    def __init__(self, positions: PositionModel, grid: Grid):
        """positions: the model of the positions, which has one goal."""
        self._positions = positions
        short, cells = grid.line_length, grid.cells
        along = [range(first, first + short) for first in range(0, cells, short)]
        self._across = [range(first, cells, short) for first in range(short)]
        self._lines = along + self._across
        """The places in reading order of the cells of each vertex."""
        self._fixed = [line[0] for line in along] + [line[len(along) // 2] for line in self._across]
        """The fixed place of each: from the middle of a line ways to the others are short."""

    @cached_property
    def graph(self) -> BaseGraph:
        vertices = range(len(self._lines))
        along = np.arange(len(vertices)) < len(vertices) - len(self._across)
        arcs = []
        for source, target in product(vertices, vertices):
            if along[source] != along[target]:
                place = self._crossing(source, target)
                voltage = self._voltages[self._fixed[source], place]
                arcs.append((source, target, voltage + self._voltages[place, self._fixed[target]]))
        different = sorted({voltage for _, _, voltage in arcs})
        table = np.array([(u, v, different.index(voltage)) for u, v, voltage in arcs])
        return BaseGraph(
            len(vertices), self._positions.graph.m, tuple(different), *table.T, edge_targets=along
        )

    def _crossing(self, line: int, other: int) -> int:
        """Return the place in reading order where two lines cross."""
        (place,) = {*self._lines[line]} & {*self._lines[other]}
        return place

    @cached_property
    def _blank_at(self) -> np.ndarray:
        """The place of the blank in reading order, of each shape."""
        return (self._positions.encoding.shapes.rows == EMPTY).argmax(axis=1)

    @cached_property
    def _voltages(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The voltage of the blank's way from a place to another of its row or column."""
        moves, place = self._positions.graph, self._blank_at.tolist()
        ends = zip(moves.source.tolist(), moves.target.tolist(), moves.voltage, strict=True)
        stays = {(at, at): () for at in place}
        return stays | {(place[u], place[v]): moves.voltages[w] for u, v, w in ends}

    def _moved(self, sequence: np.ndarray, source: int, target: int) -> list[int]:
        """Return the sequence after the blank has gone from a place to another of its row or
        column."""
        moved = sequence.tolist()
        for i in self._voltages[source, target]:
            moved[i], moved[i + 1] = moved[i + 1], moved[i]
        return moved

    def origins(self) -> tuple[np.ndarray, np.ndarray]:
        shape, sequence = self._positions.origins()
        place = int(self._blank_at[shape[0]])
        vertices = [v for v in range(len(self._fixed)) if place in self._lines[v]]
        moved = [self._moved(sequence[0], place, self._fixed[vertex]) for vertex in vertices]
        return np.array(vertices), np.array(moved)

    def at_goal_shape(self) -> np.ndarray:
        """Return bool[vertices], the lines across, whose number in each layer is asked for."""
        return ~self.graph.edge_targets

    def position_counts(self, across: Sequence[int], edges: Sequence[int]) -> list[int]:
        """Return the positions at each depth, as far as they are known: |A(d)| = across[d], e(d) =
        edges[d], where e(0) is 0. Of a complete search e(D + 1) is there too."""
        length = len(self._across[0])
        counts = [1] if across else []
        for depth in range(1, min(len(across), len(edges) - 1)):
            counts.append(length * across[depth] - edges[depth + 1] + edges[depth])
        if len(counts) > 1:
            counts[1] -= 1  # the goal
        if len(edges) > len(across) and edges[-1]:
            counts.append(edges[-1])
        return counts

    def farthest(self, last: np.ndarray, limit: int) -> tuple[int, list[Board]]:
        """Return farthest positions by the lines at the greatest depth D, uint64[N] ascending.

        Returns e(D + 1), and up to `limit` boards: of these positions, or if there are none of
        those with one line at that depth.
        """
        others, source = ListKernel(self.space).neighbours(0, last)
        vertex, sequence = self.space.states_of(0, last)
        other, _ = self.space.states_of(0, others)
        both = np.isin(others, last) & ~self.graph.edge_targets[vertex[source]]
        chosen = np.flatnonzero(both if both.any() else np.ones_like(both))[:limit]
        boards = []
        for state, crossed in zip(source[chosen].tolist(), other[chosen].tolist(), strict=True):
            line = int(vertex[state])
            place = self._crossing(line, crossed)
            moved = np.array([self._moved(sequence[state], self._fixed[line], place)])
            board = self._positions.boards_of(np.flatnonzero(self._blank_at == place), moved)
            boards.append(tuple(board[0].tolist()))
        return int(both.sum()), boards


def of_positions(puzzle: Puzzle) -> Puzzle:
    """Return the puzzle whose states are the positions: the same one, unless its states are lines
    of them."""
    if not puzzle.by_lines:
        return puzzle
    title = puzzle.title.removesuffix(BY_LINES)
    return replace(puzzle, kind="tiles", title=title, model=puzzle.positions)


def line_puzzle(rows: int, columns: int, blank: tuple[int, int] | None = None) -> Puzzle:
    """Return the rows x columns tile puzzle in which a move slides any number of tiles, searched by
    lines of positions."""
    tiles = tile_puzzle(rows, columns, metric="multi", blank=blank)
    if min(rows, columns) < 2:
        raise InputError(
            f"puzzle.rows x puzzle.columns = {rows} x {columns}: lines of positions need two "
            'rows and columns at least; puzzle.kind = "tiles" searches any board'
        )
    model = LineModel(tiles.positions, tiles.grid)
    title = tiles.title + BY_LINES
    return Puzzle("lines", title, model, tiles.notation, tiles.positions, tiles.words, tiles.grid)
