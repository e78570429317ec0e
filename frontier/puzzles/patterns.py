"""Patterns: tile puzzles in which many tiles are alike. Their distances are lower bounds.

Some tiles are labelled; all others count as the same. The distances of all such positions form a
*pattern database*: no position of the tile puzzle has a shorter solution than its pattern (J. C.
Culberson and J. Schaeffer, Pattern Databases, Computational Intelligence 14, 1998). If the k
right-most columns of the 2 x n puzzle are labelled, the greatest distance is an upper bound on the
moves that bring these columns home, and so helps to bound the diameter from above.

Metrics: with ``step`` every move counts; with ``labelled`` only moves of labelled tiles count, so
the distances of disjoint sets of tiles may be added (R. E. Korf and A. Felner, Disjoint Pattern
Database Heuristics, Artificial Intelligence 134, 2002). With ``labelled`` a position consists of
the cells of the labelled tiles and the region that the blank reaches without moving them.

On a board of at least two rows and two columns, except 2 x 2, all positions can be reached if two
or more tiles are alike, because exchanging two like tiles changes the parity. Otherwise half of
them can be reached, as in the tile puzzle (W. W. Johnson and W. E. Story, 1879).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, perm

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.grid import Grid
from frontier.puzzles.model import Model, ShapeEncoding
from frontier.puzzles.moves import Moves, check_metric
from frontier.puzzles.notation import Drawing, Notation, read_boards
from frontier.puzzles.pattern_graph import VERTEX_BYTES, PatternGraph, pattern_graph
from frontier.puzzles.pieces import Board, GivenBoards, Pieces
from frontier.puzzles.puzzle import GridPuzzle, Words
from frontier.puzzles.tiles import TileNotation
from frontier.space.graph import BaseGraph

MOST_VERTICES = 40_000_000
MOST_CELLS = 1000
MOST_LABELS = 24
"""A longer sequence has too many orders for 64 bits."""

LIKE = "x"
"""The mark of a tile that is like others."""


class PatternEncoding(ShapeEncoding):
    """Boards of a pattern as states.

    labelled: the numbers of the labelled tiles, ascending; `members` has them in their order on the
    goal.
    """

    def __init__(
        self, pieces: Pieces, metric: str, given: GivenBoards, grid: Grid, labelled: tuple[int, ...]
    ):
        super().__init__(pieces, metric, given)
        self._grid, self.labelled = grid, labelled
        self.shape_bytes = _vertices(grid, labelled) * VERTEX_BYTES

    @cached_property
    def shapes(self) -> PatternGraph:
        free, labels = self.metric == "labelled", len(self.labelled)
        return pattern_graph(self._grid.cells, self._grid.line_length, labels, free=free)

    @property
    def graph(self) -> BaseGraph:
        return self.shapes.graph

    @cached_property
    def moves(self) -> Moves:
        """The arcs, and the labelled tiles that they move."""
        moved = self.shapes.place >= 0
        source, target = (position[moved] for position in self.shapes.positions)
        place = self.shapes.place[moved]
        start = np.concatenate([[0], np.cumsum(moved)])
        return Moves(self.graph, (0,), (), start, np.zeros_like(place), place, source, target)

    @property
    def _ranked(self) -> Sequence[int]:
        return range(len(self.pieces.sorts))  # the order of `moves`, without making that table

    def empty_as_on(self, board: Board) -> np.ndarray | None:
        if self.metric == "labelled":
            return None
        blank_place = self._grid.reading.tolist().index(board.index(0))
        return np.arange(self.graph.vertices) % self._grid.cells == blank_place


@dataclass(frozen=True, eq=False)
class PatternModel(Model):
    """The model of a pattern, which counts positions by a formula if one is known.

    mixes: True if all positions of the right parity can be reached. any_parity: True if two tiles
    are alike, and exchanging them changes the parity.
    """

    encoding: PatternEncoding
    mixes: bool
    any_parity: bool

    @property
    def base(self) -> PatternGraph:
        """The base graph, with the meaning of its vertices and arcs."""
        return self.encoding.shapes

    @property
    def labelled(self) -> tuple[int, ...]:
        """The numbers of the labelled tiles, ascending."""
        return self.encoding.labelled

    @property
    def states(self) -> int:
        if not self.mixes:
            return super().states
        if self.encoding.metric == "labelled":
            return self.space.states
        cells, labels = self.encoding.pieces.cells, len(self.labelled)
        return perm(cells, labels + 1) // (1 if self.any_parity else 2)

    def reaches(self, board: Board) -> bool:
        if not self.mixes:
            return super().reaches(board)
        state = self.state(board)
        return self.any_parity or self.space.number(*state) is not None


@dataclass(frozen=True, eq=False, repr=False)
class PatternPuzzle(GridPuzzle):
    """A pattern of a tile puzzle."""

    model: PatternModel


class PatternNotation(TileNotation):
    """Boards of a pattern: x may stand for an unlabelled tile."""

    def __init__(
        self, grid: Grid, labelled: tuple[int, ...], pieces: Pieces, labels: Sequence,
        drawing: Drawing,
    ):  # fmt: skip
        super().__init__(grid, pieces, labels, drawing)
        self._labelled = labelled

    def marks(self, board, name: str) -> tuple:
        return self.grid.parsed(board, name, (LIKE, LIKE.upper()))

    def codes(self, marks: Sequence, name: str, part: bool) -> Board:
        numbers = {n for n in marks if type(n) is int}
        likes = len([n for n in marks if type(n) is not int])
        if (
            len(numbers) + likes < len(marks)
            or not numbers >= {0, *self._labelled}
            or max(numbers) >= self.grid.cells
        ):
            text = self.text([LIKE if n == LIKE.upper() else n for n in marks])
            raise InputError(f"{name} = {text}: {self.pieces.rule}")
        unused = iter(sorted(set(range(self.grid.cells)) - numbers))
        return tuple(n if n in numbers else next(unused) for n in marks)

    def steps(self, before: Board, after: Board) -> list[Board]:
        return Notation.steps(self, before, after)  # like tiles keep their codes


class LabelledNotation(PatternNotation):
    """Boards and moves of a pattern in which only the moves of labelled tiles count."""

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [after]  # which like tiles moved in between is unknown

    def name_move(self, before: Board, after: Board) -> str:
        tile = next(n for n in self._labelled if before.index(n) != after.index(n))
        return str(tile) + self.grid.arrow(before.index(tile), after.index(tile))


def pattern_puzzle(
    rows: int,
    columns: int,
    k: int | None = None,
    labels: Sequence[int] | None = None,
    goal=None,
    blank: tuple[int, int] | None = None,
    start=None,
    metric: str = "step",
) -> PatternPuzzle:
    """Return a pattern of the rows x columns tile puzzle.

    Either k: the tiles of the k right-most columns of the goal are labelled; or labels: the numbers
    of the labelled tiles.
    """
    grid = Grid.checked(rows, columns, MOST_CELLS)
    if grid.cells == 1:
        raise InputError("puzzle.rows x puzzle.columns = 1 x 1: a pattern needs at least 2 cells")
    if goal is not None and blank is not None:
        raise InputError("puzzle.goal and puzzle.blank cannot be used together")
    _check_choice(grid, k, labels)
    goal_board = grid.in_order(blank) if goal is None else grid.numbers(goal, "puzzle.goal")
    if labels is None:
        right = columns - (k or 0)
        labels = [n for i, n in enumerate(goal_board) if i % columns >= right and n]
    if not 0 < len(labels) <= MOST_LABELS:
        raise InputError(
            f"puzzle.k or puzzle.labels name {len(labels)} tiles: "
            f"1..{min(MOST_LABELS, grid.cells - 1)} can be labelled"
        )
    labelled = tuple(sorted(labels))
    title = f"{rows}×{columns} tiles, {len(labelled)} of them labelled"
    title += ", only their moves counted" if metric == "labelled" else ""
    if (vertices := _vertices(grid, labelled)) > MOST_VERTICES:
        raise InputError(
            f"{title} has {vertices:,} shapes (the cells of the blank and of the labelled "
            f"tiles): at most {MOST_VERTICES:,} are supported; label fewer tiles"
        )
    check_metric(metric, "pattern")
    like_tiles = tuple(n for n in range(1, grid.cells) if n not in labelled)
    pieces = Pieces(
        reading=grid.reading,
        sorts=grid.sorts([(labelled, True), (like_tiles, False)]),
        rule=(
            f"0 (the blank) and the labelled tiles {', '.join(map(str, labelled))} must each "
            f"appear once, and no other tile of 1..{grid.cells - 1} twice ({LIKE} means any of "
            "these)"
        ),
    )
    shown = [LIKE if n in like_tiles else n for n in range(grid.cells)]
    colours = grid.lines(goal_board, labelled)
    drawing = Drawing(grid.places, colours, symbols={LIKE: ""}, ordered=True)
    notation_kind = LabelledNotation if metric == "labelled" else PatternNotation
    notation = notation_kind(grid, labelled, pieces, shown, drawing)
    boards = [("puzzle.goal", goal_board)]
    if start is not None:
        boards.append(("puzzle.start", notation.marks(start, "puzzle.start")))
    given = read_boards(notation, boards)
    mixes = grid.line_length > 1 and grid.cells > 4
    any_parity = len(labelled) <= grid.cells - 3
    encoding = PatternEncoding(pieces, metric, given, grid, labelled)
    model = PatternModel(encoding, given.start, mixes, any_parity)
    reason = "its parity differs from the goal's, and too few tiles are alike"
    if not mixes:
        reason = "on this board tiles keep their order"
    words = Words(unreachable=f"it cannot be reached from the goal: {reason}")
    return PatternPuzzle("pattern", title, model, notation, words, grid=grid)


def _vertices(grid: Grid, labelled: Sequence[int]) -> int:
    """Return the number of shapes: choices of cells for the blank and the labelled tiles."""
    return comb(grid.cells - 1, len(labelled)) * grid.cells


def _check_choice(grid: Grid, k: int | None, labels: Sequence[int] | None) -> None:
    """Raise InputError unless exactly one of k and labels is given, and names tiles of the
    board."""
    if (k is None) == (labels is None):
        fault = "neither is" if k is None else "both are"
        raise InputError(f"a pattern needs either puzzle.k or puzzle.labels; {fault} given")
    if k is not None and not 1 <= k <= grid.columns:
        raise InputError(f"puzzle.k = {k}: expected 1..{grid.columns}, the columns of the board")
    if wrong := [n for n in labels or () if not 1 <= n < grid.cells]:
        raise InputError(
            f"puzzle.labels: {wrong[0]} is not a tile of a board of {grid.cells} cells; they are "
            f"1..{grid.cells - 1}"
        )
    if labels and len(set(labels)) < len(labels):
        raise InputError(f"puzzle.labels = {list(labels)} names a tile twice")
