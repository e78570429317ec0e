"""Rows and columns of the blank: the moves of any number of tiles, with half as many states.

Let a move slide any number of tiles of a row or column, so that the blank goes anywhere in it. A
**line** is a set of positions that such moves of one row lead to from each other, or of one
column: all tiles but those of that row, say, keep their cells, and those of it their order. Every
position is in two lines, its row's and its column's, and two lines have one position in common
or none. So the state graph of these moves is the *line graph* (H. Whitney, American Journal of
Mathematics 54, 1932) of the graph whose vertices are the lines, with an edge for each position.
That graph is the derived graph of a base graph with m + n vertices, the rows and columns, each
row joined to each column: it has m + n nodes where the positions have m·n, and is searched here.

**Depths.** Let the lines of the goal be at depth 0. A position whose lines are at depths a and b
is at depth 1 + min(a, b), but for the goal: k moves from the goal to it are a path of k + 1 edges
from the goal's to its own in which consecutive edges share a vertex; without shortcuts it is a
path of vertices that begins at a line of the goal, not the goal's edge first, and reaches a line
of the position after k - 1 edges.

**Counting.** Rows and columns alternate along every edge. Call the lines of one of these two kinds
A, each with l positions, and the others B. Let A(d) be the lines of kind A at depth d, and w(d)
the edges from lines of kind A at depth d - 1 to lines of kind B that are not at depth d - 2 (the
*ways* to layer d; the depths of the ends of an edge differ by one at most). A position on a line
of A(d) is at depth d if its other line is at depth d - 1, else at depth d + 1; the latter are
w(d + 1). A position at depth d is at that depth by a line of A(d - 1), w(d) of them; or by one of
B alone, whose line of A is then at depth d: l |A(d)| - w(d + 1) of them. So there are

    l |A(d)| + w(d) - w(d + 1)

positions at depth d >= 1, one of them the goal if d = 1. One deeper than the last lines are the
positions that remain.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.puzzle import Board
from frontier.puzzles.tiles import Tiles
from frontier.space.graph import BaseGraph
from frontier.space.lists import ListKernel


class Lines(Tiles):
    """The rows and columns of the blank of the rows x columns tile puzzle.

    The vertices are the lines of the board along which it is read (`frontier.puzzles.tiles`), then
    those across. A line is shown as one of its positions: the blank is in a cell that says which.
    blank: as in `Tiles`; the goal has the blank there, and at depth 0 are its row and column.
    """

    def __init__(self, rows: int, columns: int, blank: tuple[int, int] | None = None):
        super().__init__(rows, columns, metric="multi", blank=blank)
        if min(rows, columns) < 2:
            raise InputError(
                f"a board of {rows} x {columns} has one line only; lines need 2 rows and columns"
            )

    @property
    def title(self) -> str:
        return f"{self.tiles_title}, by lines"

    @property
    def tiles_title(self) -> str:
        """The title of the puzzle whose positions are counted."""
        return super().title

    @property
    def all_positions(self) -> int:
        """The number of positions in all lines, each of which is in two of them."""
        return self.states * self.cells // len(self._cells)

    @cached_property
    def graph(self) -> BaseGraph:
        vertices = range(len(self._cells))
        counted = np.arange(len(vertices)) < len(vertices) - self._grid.line
        found = []
        for source, target in product(vertices, vertices):
            if counted[source] != counted[target]:
                (place,) = {*self._cells[source]} & {*self._cells[target]}
                ways = (self._shown[source], place), (place, self._shown[target])
                found.append((source, target, self._ways[ways[0]] + self._ways[ways[1]]))
        different = sorted({voltage for _, _, voltage in found})
        table = np.array([(u, v, different.index(voltage)) for u, v, voltage in found])
        return BaseGraph(len(vertices), self.cells - 1, tuple(different), *table.T, counted=counted)

    @cached_property
    def _cells(self) -> list[range]:
        """The places in reading order of the cells of each vertex: lines along it, then across."""
        short = self._grid.line
        along = [range(first, first + short) for first in range(0, self.cells, short)]
        return along + [range(first, self.cells, short) for first in range(short)]

    @cached_property
    def _shown(self) -> list[int]:
        """Where each line is shown to have its blank, a place in reading order; no two alike."""
        short, cells = self._grid.line, self._cells
        first, middle = len(cells) - short, (len(cells) - short) // 2
        # Where a line along is shown makes no difference, and a line across has the shortest ways
        # to all of these from the middle. But a cell shows one line: the first across and the
        # middle one along cross in the middle.
        shown = [line[0] for line in cells[:first]] + [line[middle] for line in cells[first:]]
        shown[middle - 1], shown[first] = cells[middle - 1][1], cells[middle - 1][0]
        return shown

    @cached_property
    def _shape_with(self) -> np.ndarray:
        """The shape whose empty cell is in each place in reading order, int64[cells]."""
        return np.argsort((self.shapes.rows == EMPTY).argmax(axis=1))

    @cached_property
    def _ways(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The voltage of the blank's way from a place in reading order to another of its lines."""
        moves, place = self.moves.graph, (self.shapes.rows == EMPTY).argmax(axis=1).tolist()
        ends = zip(moves.source.tolist(), moves.target.tolist(), moves.voltage, strict=True)
        none = {(at, at): () for at in place}
        return none | {(place[u], place[v]): moves.voltages[w] for u, v, w in ends}

    def _moved(self, sequence: np.ndarray, source: int, target: int) -> list[int]:
        """The sequence after the blank has gone along a line from one place to another."""
        moved = sequence.tolist()
        for i in self._ways[source, target]:
            moved[i], moved[i + 1] = moved[i + 1], moved[i]
        return moved

    def _goal_states(self) -> np.ndarray:
        """The row and the column of the goal's blank."""
        (goal,) = self.goals
        place = self.reading.tolist().index(goal.index(0))
        _, sequence = super().states_of(np.array([goal]))
        return np.array(
            [
                [vertex, *self._moved(sequence[0], place, self._shown[vertex])]
                for vertex, cells in enumerate(self._cells)
                if place in cells
            ]
        )

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise InputError(
            "boards are no states of a puzzle of lines; search the tiles with "
            'puzzle.kind = "tiles" and puzzle.metric = "multi" for what is asked of positions'
        )

    def parse(self, notation) -> Board:
        board = super().parse(notation)
        self.states_of(np.array([board]))
        return board

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        return super().boards_of(self._shape_with[self._shown][vertex], sequence)

    def blank_home(self) -> np.ndarray:
        """The lines across, of which it is said how many there are in each layer."""
        return ~self.graph.counted

    def positions(self, across: Sequence[int], ways: Sequence[int]) -> list[int]:
        """The positions at each depth, as far as they are known.

        across: the lines across at each depth. ways: those to each layer, 0 to that at depth 0, and
        to the one after the last, which is empty, if the search is complete.
        """
        length = max(self.rows, self.columns)
        counts = [length * a + w - more for a, w, more in zip(across, ways, ways[1:], strict=False)]
        counts += filter(None, ways[len(across) :])
        # The formula counts the goal with those at depth 1.
        return [n + (depth == 0) - (depth == 1) for depth, n in enumerate(counts)]

    def farthest(self, last: np.ndarray, limit: int) -> tuple[int, list[Board]]:
        """Farthest positions by the lines at the greatest depth, uint64[N] ascending.

        Returns the number of positions both of whose lines are there, and up to `limit` boards: of
        these, or if there are none of those that have one line there.
        """
        space = self.space
        others, source = ListKernel(space).neighbours(0, last)
        vertex, sequence = space.states_of(0, last)
        other, _ = space.states_of(0, others)
        both = np.isin(others, last) & ~self.graph.counted[vertex[source]]
        chosen = np.flatnonzero(both if both.any() else np.ones_like(both))[:limit]
        boards = []
        for line, crossed in zip(source[chosen].tolist(), other[chosen].tolist(), strict=True):
            boards.append(self._crossing(int(vertex[line]), sequence[line], crossed))
        return int(both.sum()), boards

    def _crossing(self, vertex: int, sequence: np.ndarray, other: int) -> Board:
        """The position of a line in which the blank is in another line of the board."""
        (place,) = {*self._cells[vertex]} & {*self._cells[other]}
        moved = self._moved(sequence, self._shown[vertex], place)
        shape = self._shape_with[[place]]
        return tuple(super().boards_of(shape, np.array([moved]))[0].tolist())
