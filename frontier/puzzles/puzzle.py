"""What the engine asks of a puzzle.

A puzzle turns boards, as people write them, into states (base vertex, sequence of the distinct
pieces) and back, and says how the base graph's arcs move them. It knows nothing of bitmaps,
stores or schedulers.

A board is a tuple with one code for each cell: 0 for an empty cell, else the number of the piece
that lies there, which in permutation puzzles also says how it is turned. Pieces that count as the
same lie in the order of their codes, so that equal positions are equal boards.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.notation import joined
from frontier.puzzles.picture import Picture
from frontier.space.graph import BaseGraph, Space
from frontier.space.group import Reach
from frontier.space.lehmer import LehmerCode
from frontier.text import counted

Board = tuple[int, ...]
State = tuple[int, tuple[int, ...]]


class Puzzle(ABC):
    """One puzzle with its goals; depth is the least number of moves to the nearest goal.

    The arguments of each kind are the keys of its [puzzle] table, which docs/puzzles.md explains.
    """

    title: str
    cells: int
    goals: tuple[Board, ...]
    """The positions at depth 0, as boards or parts of boards."""

    start: Board | None
    """A position whose distance from the goal is asked for, if any; then the positions of the
    puzzle are those that can be reached from it."""

    place = "cell"
    """What messages call a place of a board."""

    shape_bytes = 0
    """Bytes of its base graph in each process, where these are many and known beforehand."""

    @property
    def subject(self) -> "Puzzle":
        """The puzzle whose positions are counted: another one only where states are none."""
        return self

    @property
    @abstractmethod
    def graph(self) -> BaseGraph:
        """The base graph with voltages."""

    @abstractmethod
    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The states of int[N, cells]: int64[N] vertices and int64[N, length] sequences.

        The vertex is -1 where no moves lead to the way in which the pieces lie, or to the order of
        those that cannot pass each other. InputError, naming the first of them, where a board is
        not one of this puzzle.
        """

    @abstractmethod
    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """The boards of states, int64[N, cells]; inverse of `states_of`."""

    @abstractmethod
    def parse(self, notation) -> Board:
        """A board from text, or from what `write` returns; InputError if it is not one."""

    @abstractmethod
    def labels_on(self, board: Board) -> list:
        """What stands for each cell of a board, or of a goal that is a part of one."""

    def write(self, board: Board):
        """The board as it stands in a config or in JSON."""
        labels = self.labels_on(board)
        return "".join(labels) if all(len(label) == 1 for label in labels) else labels

    def line(self, board: Board) -> str:
        """The board as one line of text that `parse` reads."""
        return self._text(self.labels_on(board))

    def _text(self, labels: Sequence) -> str:
        """Labels, one a cell, as one line of text."""
        return joined(labels)

    @abstractmethod
    def picture(self, board: Board) -> Picture:
        """The board, or a goal that is a part of one, as a picture."""

    @abstractmethod
    def name_move(self, before: Board, after: Board) -> str:
        """What a person calls the move that leads from one board to another."""

    @abstractmethod
    def steps(self, before: Board, after: Board) -> list[Board]:
        """The boards that one move passes, the last included; like pieces carry the codes that they
        had before it."""

    def follow(self, before: Board, after: Board) -> Board:
        """The board after one move, the last of its `steps`."""
        return self.steps(before, after)[-1]

    def blank_home(self) -> np.ndarray | None:
        """bool[vertices], the vertices whose states are counted apart in each layer: those whose
        empty cells are the goal's.

        None where there is not one such goal, or the vertex does not say which cells are empty.
        """
        return None

    @cached_property
    def space(self) -> Space:
        """The space of states that the engine searches."""
        vertex, sequence = self.origins()
        _, sign = LehmerCode(self.graph.m, self.graph.smaller).ranks(sequence)
        roots = np.divmod(np.unique(2 * vertex + sign), 2)
        return Space(self.graph, np.stack(roots, axis=1))

    def origins(self) -> tuple[np.ndarray, np.ndarray]:
        """The states at depth 0: int64[N] vertices and int64[N, length] sequences."""
        states = self._goal_states[self._included]
        return states[:, 0], states[:, 1:]

    @cached_property
    def reach(self) -> Reach:
        """Which states can be reached: from the start if it reaches a goal, else from the goals."""
        states = self._goal_states
        if self.start is not None and len(states) > 1:
            vertex, sequence = self.states_of(np.array([self.start]))
            if vertex[0] >= 0:
                reach = Reach(self.graph, vertex, sequence)
                if reach.contains(states[:, 0], states[:, 1:]).any():
                    return reach
        return Reach(self.graph, states[:, 0], states[:, 1:])

    @cached_property
    def _goal_states(self) -> np.ndarray:
        """The states of all goals, int64[N, 1 + length], each once."""
        return np.unique(self._states_of_goals(), axis=0)  # a board may agree with several goals

    def _states_of_goals(self) -> np.ndarray:
        return np.column_stack(self.states_of(np.array(self.goals)))

    @cached_property
    def _included(self) -> np.ndarray:
        """bool[N], the goals at depth 0: of several, those that the start can be reached from."""
        states = self._goal_states
        if self.start is None or len(states) == 1:
            return np.ones(len(states), dtype=bool)
        return self.reach.contains(states[:, 0], states[:, 1:])

    def as_boards(self, boards) -> np.ndarray:
        """Boards as an array of whole numbers, [N, cells]; InputError if they make none."""
        try:
            boards = np.asarray(boards)
        except ValueError as error:
            raise InputError(f"boards that make no array: {error}") from None
        if not boards.ndim:
            raise InputError(f"boards = {boards.item()!r}: expected an array, int[N, {self.cells}]")
        if not len(boards):
            boards = np.empty((0, self.cells), dtype=np.int64)
        boards = boards.reshape(len(boards), int(np.prod(boards.shape[1:])))
        if boards.shape[1] != self.cells or not np.issubdtype(boards.dtype, np.integer):
            raise InputError(
                f"boards of {counted(boards.shape[1], self.place)} of type {boards.dtype}: those "
                f"of this puzzle have {counted(self.cells, 'whole number')}"
            )
        return boards

    @property
    def states(self) -> int:
        """Number of positions that can be reached from the goals."""
        return self.reach.states

    def state(self, board: Board) -> State:
        """(base vertex, sequence) of a board; InputError if it is not one of this puzzle."""
        vertex, sequence = self.states_of(np.array([board], dtype=np.int64))
        return int(vertex[0]), tuple(sequence[0].tolist())

    def board(self, state: State) -> Board:
        """The board of a state; inverse of `state`."""
        vertex, sequence = state
        boards = self.boards_of(np.array([vertex]), np.array([sequence], dtype=np.int64))
        return tuple(boards[0].tolist())

    def reaches(self, board: Board) -> bool:
        """Whether a goal can be reached from the board."""
        vertex, sequence = self.states_of(np.array([board]))
        return bool(self.reach.contains(vertex, sequence)[0])

    def from_anywhere(self) -> "Puzzle":
        """The same puzzle for positions wherever they are, be they out of the start's reach."""
        if self._included.all():
            return self
        # Its base graph stays: where all shapes are too many, it has those that the start reaches.
        other = copy.copy(self)
        other.start = None
        for computed in ("_included", "reach", "space"):
            vars(other).pop(computed, None)
        return other

    @property
    def remark(self) -> str | None:
        """What to say of a search that ends where it begins; None of any other."""
        vertex, _ = self.origins()
        if self.states > len(vertex):
            return None
        if np.isin(vertex, self.graph.source).any():
            return "every position that can be reached is at depth 0: the goal asks for nothing"
        return (
            "no move is possible from depth 0, so there is nothing to search: no piece lies beside "
            "an empty cell that it could go to"
        )

    def check(self) -> None:
        """InputError if the position whose distance is asked for cannot be reached."""
        if self.start is not None and not self.reaches(self.start):
            raise InputError(f"puzzle.start = {self.line(self.start)}: {self.why_unreachable}")

    why_unreachable = "the goal cannot be reached from this position"
