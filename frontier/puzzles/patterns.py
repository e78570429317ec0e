"""Patterns: the tile puzzle with most of its tiles alike, whose distances bound the puzzle's.

Some tiles are labelled, all others count as the same. The distances of all such positions are
a *pattern database*: no solution of the tile puzzle is shorter than that of its pattern (J. C.
Culberson and J. Schaeffer, Pattern Databases, Computational Intelligence 14, 1998). With the k
right-most columns of the 2 x n puzzle labelled, the greatest distance bounds the moves that bring
those columns home, and so the diameter from above.

Metrics: ``step``, every move counts; ``labelled``, only moves of labelled tiles count, so that
the distances of disjoint sets of tiles may be added (R. E. Korf and A. Felner, Disjoint Pattern
Database Heuristics, Artificial Intelligence 134, 2002). A position is then the labelled tiles and
the region that the blank reaches without moving one.

On a board with at least two rows and columns, but for 2 x 2, all positions can be reached if two
tiles or more are alike, else half of them, as in the tile puzzle (W. W. Johnson and W. E. Story,
1879): exchanging two like tiles changes the parity.
"""

from collections.abc import Sequence
from functools import cached_property
from math import comb, perm

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.grid import LIKE, Grid
from frontier.puzzles.pattern_graph import VERTEX_BYTES, PatternGraph, pattern_graph
from frontier.puzzles.picture import Picture
from frontier.puzzles.puzzle import Board, Puzzle
from frontier.space.graph import BaseGraph
from frontier.space.group import Reach

MOST_VERTICES = 40_000_000
MOST_CELLS = 1000
MOST_LABELS = 24
"""A sequence of more has too many orders for 64 bits in any case."""

METRICS = ("step", "labelled")


class Pattern(Puzzle):
    """A pattern of the rows x columns tile puzzle.

    k: the tiles of the k right-most columns of the goal are labelled; or labels: their numbers.
    goal: the board at depth 0, in rows of numbers; by default the blank in the cell `blank` (row,
        column, from 0; the first cell if that is not given), the tiles in order.
    start: a board whose distance from the goal is wanted.
    metric: "step" or "labelled".

    reading: int64[cells], the cells in reading order. members: the labelled tiles by their number
    in the sequence, which is the order in which the goal shows them.
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        k: int | None = None,
        labels: Sequence[int] | None = None,
        goal=None,
        blank: tuple[int, int] | None = None,
        start=None,
        metric: str = "step",
    ):
        self._grid = grid = Grid(rows, columns, MOST_CELLS)
        self.rows, self.columns, self.cells = rows, columns, grid.cells
        if metric not in METRICS:
            raise InputError(f"puzzle.metric = {metric!r}: known are {', '.join(METRICS)}")
        if goal is not None and blank is not None:
            raise InputError("puzzle.goal and puzzle.blank exclude each other")
        _check_choice(grid, k, labels)
        board = grid.home(blank) if goal is None else grid.numbers(goal, "puzzle.goal")
        if labels is None:
            labels = {n for i, n in enumerate(board) if i % columns >= columns - k} - {0}
        if not 0 < len(labels) <= MOST_LABELS:
            raise InputError(
                f"puzzle.k or puzzle.labels name {len(labels)} tiles: "
                f"1..{min(MOST_LABELS, self.cells - 1)} can be labelled"
            )
        self.metric, self.labelled = metric, tuple(sorted(labels))
        vertices = comb(self.cells - 1, len(self.labelled)) * self.cells
        if vertices > MOST_VERTICES:
            raise InputError(
                f"{self.title} has {vertices:,} shapes (the cells of the blank and of the labelled "
                f"tiles): at most {MOST_VERTICES:,} are supported; label fewer tiles"
            )
        self.shape_bytes = vertices * VERTEX_BYTES
        self.reading = np.array(grid.reading)
        in_order = [board[cell] for cell in grid.reading]
        self.members = np.array([n for n in in_order if n in self.labelled], dtype=np.int64)
        self._member = np.full(self.cells, -1)
        self._member[self.members] = np.arange(self.members.size)
        self._others = np.flatnonzero(self._member[1:] < 0) + 1
        self.goals = (self._settled(board),)
        self.start = None if start is None else self._parse(start, "puzzle.start")

    @property
    def title(self) -> str:
        count = len(self.labelled)
        moves = ", only their moves counted" if self.metric == "labelled" else ""
        return f"{self.rows}×{self.columns} tiles, {count} of them labelled{moves}"

    @cached_property
    def base(self) -> PatternGraph:
        """The base graph, and what its vertices and arcs are."""
        grid, labels = self._grid, len(self.labelled)
        return pattern_graph(self.cells, grid.line, labels, free=self.metric == "labelled")

    @property
    def graph(self) -> BaseGraph:
        return self.base.graph

    @property
    def _mixes(self) -> bool:
        """Whether all positions of the right parity can be reached."""
        return self._grid.line > 1 and self.cells > 4

    @property
    def _any_parity(self) -> bool:
        """Whether two tiles are alike, so that exchanging them mends any parity."""
        return len(self.labelled) <= self.cells - 3

    @property
    def states(self) -> int:
        if not self._mixes:
            return super().states
        if self.metric == "labelled":
            return self.space.states
        return perm(self.cells, len(self.labelled) + 1) // (1 if self._any_parity else 2)

    def reaches(self, board: Board) -> bool:
        if not self._mixes:
            return super().reaches(board)
        state = self.state(board)
        return self._any_parity or self.space.number(*state) is not None

    @property
    def why_unreachable(self) -> str:
        why = "too few tiles are alike to mend its parity"
        if not self._mixes:
            why = "on this board the tiles keep their order"
        return f"it cannot be reached from the goal: {why}"

    def blank_home(self) -> np.ndarray | None:
        if self.metric == "labelled":
            return None
        home = self.reading.tolist().index(self.goals[0].index(0))
        return np.arange(self.graph.vertices) % self.cells == home

    def origins(self) -> tuple[np.ndarray, np.ndarray]:
        return self.states_of(np.array(self.goals))

    @cached_property
    def reach(self) -> Reach:
        return Reach(self.graph, *self.origins())

    def from_anywhere(self) -> "Pattern":
        return self  # a start leaves no positions out

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boards = self.as_boards(boards).astype(np.int64)
        in_order = boards[:, self.reading]
        bad = (np.sort(in_order, axis=1) != np.arange(self.cells)).any(axis=1)
        if bad.any():
            raise InputError(self._why_not(boards[bad.argmax()].tolist(), "board"))
        member = self._member[in_order]
        blank = (in_order == 0).argmax(axis=1)
        position = np.nonzero(member >= 0)[1].reshape(len(boards), self.members.size)
        vertex = self.base.vertices_of(position - (position > blank[:, None]), blank)
        return vertex, member[member >= 0].reshape(position.shape)

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        places, blank = self.base.places_of(vertex)
        row = np.arange(len(vertex))
        in_order = np.full((len(vertex), self.cells), -1)
        in_order[row, blank] = 0
        in_order[row[:, None], places + (places >= blank[:, None])] = self.members[sequence]
        in_order[in_order < 0] = np.tile(self._others, len(vertex))
        boards = np.empty_like(in_order)
        boards[:, self.reading] = in_order
        return boards

    def parse(self, notation) -> Board:
        return self._parse(notation, "board")

    def _parse(self, notation, name: str) -> Board:
        board = self._grid.parse(notation, name, (LIKE, LIKE.upper()))
        numbers = {n for n in board if type(n) is int}
        marks = len([n for n in board if type(n) is not int])
        if (
            len(numbers) + marks < len(board)
            or not numbers >= {0, *self.labelled}
            or max(numbers) >= self.cells
        ):
            raise InputError(self._why_not(board, name))
        rest = iter(sorted(set(range(self.cells)) - numbers))
        return self._settled([n if n in numbers else next(rest) for n in board])

    def _settled(self, board: Sequence[int]) -> Board:
        """The board with like tiles in the order of their numbers."""
        others = iter(self._others.tolist())
        settled = list(board)
        for cell in self.reading:
            if settled[cell] and self._member[settled[cell]] < 0:
                settled[cell] = next(others)
        return tuple(settled)

    def _why_not(self, board: Sequence, name: str) -> str:
        said = self._grid.line_of([LIKE if n in (-1, LIKE.upper()) else n for n in board])
        return (
            f"{name} = {said}: 0 (the blank) and the labelled tiles "
            f"{', '.join(map(str, self.labelled))} must stand in it once, and of the other tiles "
            f"of 1..{self.cells - 1} none twice ({LIKE} is any of them)"
        )

    def _marks(self, board: Board) -> list:
        return [n if n == 0 or n in self.labelled else LIKE for n in board]

    def write(self, board: Board) -> list[list]:
        return self._grid.in_rows(self._marks(board))

    def line(self, board: Board) -> str:
        return self._grid.line_of(self._marks(board))

    def picture(self, board: Board) -> Picture:
        return self._grid.picture(board, self.goals[0], self.labelled)

    def name_move(self, before: Board, after: Board) -> str:
        """The tile that slides, and where to."""
        source, target = self._moved(before, after)
        return str(self._marks(before)[source]) + self._grid.arrow(source, target)

    def _moved(self, before: Board, after: Board) -> tuple[int, int]:
        """(cell, cell) from which and to which a move brings a tile."""
        if self.metric == "step":
            return after.index(0), before.index(0)
        moved = (n for n in self.labelled if before.index(n) != after.index(n))
        tile = next(moved)
        return before.index(tile), after.index(tile)

    def follow(self, before: Board, after: Board) -> Board:
        if self.metric == "labelled":  # the blank's way among like tiles is not told
            return after
        source, target = self._moved(before, after)
        board = list(before)
        board[target], board[source] = board[source], 0
        return tuple(board)


def _check_choice(grid: Grid, k: int | None, labels: Sequence[int] | None) -> None:
    """InputError unless either k or labels name tiles of the board."""
    if (k is None) == (labels is None):
        given = "neither is" if k is None else "both are"
        raise InputError(f"a pattern needs either puzzle.k or puzzle.labels; {given} given")
    if k is not None and not 1 <= k <= grid.columns:
        raise InputError(
            f"puzzle.k = {k}: of a board of {grid.columns} columns, 1..{grid.columns} can be "
            "labelled"
        )
    if wrong := [n for n in labels or () if not 1 <= n < grid.cells]:
        raise InputError(
            f"puzzle.labels: {wrong[0]} is no tile of a board of {grid.cells} cells; they are "
            f"1..{grid.cells - 1}"
        )
    if labels and len(set(labels)) < len(labels):
        raise InputError(f"puzzle.labels = {list(labels)} names a tile twice")
