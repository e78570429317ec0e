"""A puzzle: a model, which the engine searches, and a notation, which people read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from frontier.errors import InputError, TooLarge
from frontier.puzzles.grid import Grid
from frontier.puzzles.model import Model
from frontier.puzzles.notation import Notation, value_written
from frontier.puzzles.pieces import Board


class Words(NamedTuple):
    """Explanations of what is impossible or unusual in a puzzle.

    unreachable: why no goal can be reached from a position. idle: why all positions are at depth 0
    although moves are possible. stuck: the same if no moves are possible. config: what is unusual
    about the config, if anything.
    """

    unreachable: str = "the goal cannot be reached from this position"
    idle: str = "every position that can be reached is at depth 0: the goal excludes nothing"
    stuck: str = (
        "no move is possible from depth 0, so there is nothing to search: no piece is beside an "
        "empty cell that it can enter"
    )
    config: str | None = None


USUAL_WORDS = Words()


@dataclass(frozen=True, eq=False, repr=False)
class Puzzle:
    """One puzzle with its goals; depth is the least number of moves to the nearest goal.

    kind: the name of the kind. title: the title of pages and pictures. model: what is searched.
    notation: how its boards and moves are written. maker: the function and the arguments that make
    it again, if there are any: it is pickled as these, because its tables may take gigabytes.
    """

    kind: str
    title: str
    model: Model
    notation: Notation
    words: Words = USUAL_WORDS
    maker: tuple[Callable[..., Any], tuple[Any, ...]] | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return self.maker or super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"<Puzzle: {self.title}>"

    @property
    def metric(self) -> str:
        return self.model.encoding.metric

    @property
    def cells(self) -> int:
        """The number of cells of a board."""
        return self.notation.pieces.cells

    @property
    def states(self) -> int:
        """The number of states that can be reached from the goals."""
        return self.model.states

    @property
    def goals(self) -> tuple[Board, ...]:
        """The positions at depth 0, as boards or parts of boards."""
        return self.model.goals

    @property
    def start(self) -> Board | None:
        """A position whose distance from the goal is wanted, if any."""
        return self.model.start

    def parse(self, board: Any) -> Board:
        """Return a board from text, from what `write` returns, or from a text of that.

        Raises InputError if it is not a board of this puzzle.
        """
        try:
            return self.notation.parse(board)
        except InputError:
            if (value := value_written(board)) is None:
                raise
        return self.notation.parse(value)

    def position(self, written: Any) -> Board:
        """Return a board as `parse` does, or the board that a sequence of moves reaches from the
        first goal. A text that could be either is read as a board."""
        try:
            return self.parse(written)
        except InputError as error:
            if not isinstance(written, str):
                raise
            try:
                board = self.notation.after_moves(written, self.goals[0])
            except InputError as no_moves:
                raise InputError(f"{error}; {no_moves}") from None
            if board is None:
                raise
            return board

    def write(self, board: Board) -> Any:
        """Return the board in the form of a config or of JSON."""
        return self.notation.write(board)

    def line(self, board: Board) -> str:
        """Return the board as one line of text that `parse` reads."""
        return self.notation.line(board)

    def check_reached(self, board: Board, name: str = "board") -> None:
        """Raise InputError, beginning with `name`, if it is known that no goal can be reached from
        the board."""
        try:
            if self.model.reaches(board):
                return
        except TooLarge:
            return
        goal = ". The goal is {}; puzzle.goal in the config sets another"
        if len(self.goals) > 1:
            goal = ". The first of the goals is {}; puzzle.goals in the config sets others"
        if not self.model.included.all():  # a different start is the remedy
            goal = ""
        shown = goal.format(self.line(self.goals[0]))
        raise InputError(f"{name} {self.line(board)}: {self.why_unreachable}{shown}")

    @property
    def why_unreachable(self) -> str:
        """The reason why no goal can be reached from a position."""
        if not self.model.included.all():
            return (
                "it cannot be reached from puzzle.start, and only positions that can are searched; "
                "to search from this board, set it as puzzle.start"
            )
        return self.words.unreachable

    @property
    def remarks(self) -> list[str]:
        """Sentences about what is unusual in the puzzle: in its config, or why all states are at
        depth 0."""
        remarks = [] if self.words.config is None else [self.words.config]
        vertex, _ = self.model.origins()
        if self.model.counted and self.states == len(vertex):
            moves = np.isin(vertex, self.model.graph.source).any()
            remarks.append(self.words.idle if moves else self.words.stuck)
        if self.start is not None and len(vertex) > 1 and self.model.encoding.all_goals:
            remarks.append(
                f"all {len(vertex):,} goals are at depth 0, because it is not known beforehand "
                "which of them puzzle.start reaches"
            )
        return remarks

    def check(self) -> None:
        """Raise InputError if the start cannot reach a goal."""
        if self.start is not None:
            self.check_reached(self.start, "puzzle.start =")


@dataclass(frozen=True, eq=False, repr=False)
class GridPuzzle(Puzzle):
    """A puzzle of numbered tiles, or a pattern of one, on a board of rows and columns."""

    grid: Grid = field(kw_only=True)

    @property
    def blank_square(self) -> tuple[int, int]:
        """The row and the column of the blank on the first goal."""
        return divmod(self.goals[0].index(0), self.grid.columns)

    @property
    def blank_cell(self) -> int:
        """The cell of the blank on the first goal, numbered in reading order."""
        return int(np.flatnonzero(self.grid.reading == self.goals[0].index(0))[0])
