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
from frontier.puzzles.boards import Board
from frontier.puzzles.moves import Moves
from frontier.puzzles.pattern_graph import VERTEX_BYTES, PatternGraph, pattern_graph
from frontier.puzzles.tiles import LIKE, NumberedTiles
from frontier.space.graph import BaseGraph

MOST_VERTICES = 40_000_000
MOST_CELLS = 1000
MOST_LABELS = 24
"""A sequence of more has too many orders for 64 bits in any case."""


class Pattern(NumberedTiles):
    """A pattern of the rows x columns tile puzzle.

    k: the tiles of the k right-most columns of the goal are labelled; or labels: their numbers.
    labelled: these tiles, ascending; `members` has them as the goal shows them.
    """

    kind = "pattern"
    most_cells = MOST_CELLS

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
        self._set_size(rows, columns)
        if self.cells == 1:
            raise InputError(
                "puzzle.rows x puzzle.columns = 1 x 1: the one cell is the blank's, so no tile can "
                "be labelled; a pattern needs at least 2 cells"
            )
        if goal is not None and blank is not None:
            raise InputError("puzzle.goal and puzzle.blank exclude each other")
        self._check_choice(k, labels)
        home = self._home(blank) if goal is None else self._numbers(goal, "puzzle.goal")
        if labels is None:
            labels = {n for i, n in enumerate(home) if i % columns >= columns - k} - {0}
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
        others = tuple(n for n in range(1, self.cells) if n not in self.labelled)
        boards = [("puzzle.goal", home)]
        if start is not None:
            boards.append(("puzzle.start", self._marks(start, "puzzle.start")))
        shown = [LIKE if n in others else n for n in range(self.cells)]
        self._symbols = {LIKE: ""}
        self._set_pieces([(self.labelled, True), (others, False)], shown, metric, boards)

    def _check_choice(self, k: int | None, labels: Sequence[int] | None) -> None:
        """InputError unless either k or labels name tiles of the board."""
        if (k is None) == (labels is None):
            given = "neither is" if k is None else "both are"
            raise InputError(f"a pattern needs either puzzle.k or puzzle.labels; {given} given")
        if k is not None and not 1 <= k <= self.columns:
            raise InputError(
                f"puzzle.k = {k}: of a board of {self.columns} columns, 1..{self.columns} can be "
                "labelled"
            )
        if wrong := [n for n in labels or () if not 1 <= n < self.cells]:
            raise InputError(
                f"puzzle.labels: {wrong[0]} is no tile of a board of {self.cells} cells; they are "
                f"1..{self.cells - 1}"
            )
        if labels and len(set(labels)) < len(labels):
            raise InputError(f"puzzle.labels = {list(labels)} names a tile twice")

    @property
    def title(self) -> str:
        count = len(self.labelled)
        moves = ", only their moves counted" if self.metric == "labelled" else ""
        return f"{self.rows}×{self.columns} tiles, {count} of them labelled{moves}"

    @cached_property
    def base(self) -> PatternGraph:
        """The base graph, and what its vertices and arcs are."""
        labels = len(self.labelled)
        return pattern_graph(self.cells, self.line_length, labels, free=self.metric == "labelled")

    @property
    def shapes(self) -> PatternGraph:
        return self.base

    @property
    def graph(self) -> BaseGraph:
        return self.base.graph

    @cached_property
    def moves(self) -> Moves:
        """The arcs, and which labelled tiles they displace."""
        moved = self.base.place >= 0
        source, target = (position[moved] for position in self.base.positions)
        place = self.base.place[moved]
        start = np.concatenate([[0], np.cumsum(moved)])
        return Moves(self.graph, (0,), (), start, np.zeros_like(place), place, source, target)

    @property
    def _ranked(self) -> Sequence[int]:
        return range(len(self.sorts))  # what `moves` would say, which takes memory

    @property
    def _mixes(self) -> bool:
        """Whether all positions of the right parity can be reached."""
        return self.line_length > 1 and self.cells > 4

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

    def _marks(self, notation, name: str) -> tuple:
        return self._parsed(notation, name, (LIKE, LIKE.upper()))

    def _codes(self, marks: Sequence, name: str, part: bool) -> Board:
        numbers = {n for n in marks if type(n) is int}
        likes = len([n for n in marks if type(n) is not int])
        if (
            len(numbers) + likes < len(marks)
            or not numbers >= {0, *self.labelled}
            or max(numbers) >= self.cells
        ):
            raise InputError(self._why_not(marks, name))
        rest = iter(sorted(set(range(self.cells)) - numbers))
        return tuple(n if n in numbers else next(rest) for n in marks)

    def _why_not(self, board: Sequence, name: str) -> str:
        said = self._text([LIKE if n in (-1, LIKE.upper()) else n for n in board])
        return (
            f"{name} = {said}: 0 (the blank) and the labelled tiles "
            f"{', '.join(map(str, self.labelled))} must stand in it once, and of the other tiles "
            f"of 1..{self.cells - 1} none twice ({LIKE} is any of them)"
        )

    def steps(self, before: Board, after: Board) -> list[Board]:
        # Of "labelled", nothing says which like tiles moved between.
        return super().steps(before, after) if self.metric == "step" else [after]

    def name_move(self, before: Board, after: Board) -> str:
        if self.metric == "step":
            return super().name_move(before, after)
        tile = next(n for n in self.labelled if before.index(n) != after.index(n))
        return str(tile) + self._arrow(before.index(tile), after.index(tile))
