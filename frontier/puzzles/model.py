"""The model of a puzzle: its base graph and its origins, which the engine searches.

A model is the base graph whose lift is searched, the origins, and the encoding of boards as states.
It knows nothing about text, pictures, bitmaps, stores or schedulers.

A state is a pair (vertex, sequence). The vertex represents the shape of a board. The sequence ranks
the pieces of each sort in their order on a reference board, whose own sequence is 0, 1, 2, ...

Every board that agrees with a goal is at depth 0. If a start is given, only the boards that can be
reached from it are origins, because no solution of the start ends at another board. If it is not
known which can be reached, all are.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import FIRST_SORT, Sort
from frontier.puzzles.moves import Moves
from frontier.puzzles.part_goals import boards_agreeing
from frontier.puzzles.pieces import OPEN, Board, GivenBoards, Pieces
from frontier.space.graph import BaseGraph, Space
from frontier.space.group import Reach
from frontier.space.key_moves import KeyMoves
from frontier.space.keys import Everything
from frontier.space.lehmer import LehmerCode
from frontier.space.orbits import Orbits
from frontier.space.tower_space import AnySpace

Reached = Reach | Orbits | Everything
"""Which states can be reached."""


class ShapeTable(Protocol):
    """The numbered shapes of a puzzle."""

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of shapes, int64[N]; -1 for a shape that the table does not have."""
        ...

    def rows_of(self, number: np.ndarray) -> np.ndarray:
        """Return the shapes with these numbers."""
        ...


class Encoding(ABC):
    """Boards as states.

    pieces: the pieces. metric: what counts as one move. given: the boards of the puzzle.
    shape_bytes: the bytes of the base graph in each process, if they are known beforehand and too
    many to ignore. undone: True if every move can be undone. counted: True if the number of states
    is known before the search. all_goals: True if goals that a start does not reach are origins
    too.
    """

    shape_bytes, undone, counted, all_goals = 0, True, True, False

    @property
    def revisits(self) -> bool:
        """True if a move may lead to any earlier layer."""
        return not self.undone

    def __init__(self, pieces: Pieces, metric: str, given: GivenBoards):
        self.pieces, self.metric, self.given = pieces, metric, given

    @property
    @abstractmethod
    def graph(self) -> BaseGraph:
        """The base graph with voltages."""

    @property
    def explicit(self) -> "Encoding":
        """The encoding whose base graph alone determines all states, without colours."""
        return self

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states of boards, int[N, cells]: int64[N] vertices and int64[N, length]
        sequences.

        The vertex is -1 if no moves lead to the shape of the board, or to its order of pieces that
        cannot pass each other. Raises InputError, naming the first wrong board, unless all are
        boards of this puzzle.
        """
        boards = self.pieces.as_boards(boards)
        rows = self.pieces.shape_rows(boards)
        if not (whole := rows.all(axis=1)).all():
            wrong = boards[whole.argmin()].tolist()
            raise InputError(f"board {wrong}: {self.pieces.broken_rule(wrong)}")
        return self._states(boards, rows)

    @abstractmethod
    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states of boards that have these shape rows."""

    @abstractmethod
    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Return the boards of states, int64[N, cells]; inverse of `states_of`."""

    @property
    def key_moves(self) -> KeyMoves:
        """States as digits, and the moves between them."""
        return KeyMoves.of(self.graph)

    def reach(self, vertex: np.ndarray, sequence: np.ndarray) -> Reached:
        """Return which states can be reached from the given ones."""
        return Reach(self.graph, vertex, sequence)

    def space(self, reach: Reached, vertex: np.ndarray, sequence: np.ndarray) -> AnySpace:
        """Return the space to search from the given states. reach: what `reach` returns for
        them."""
        return lift(self.graph, vertex, sequence)

    def empty_as_on(self, board: Board) -> np.ndarray | None:
        """Return bool[vertices], True where the empty cells are those of the board; None if the
        vertex does not determine which cells are empty."""
        return None

    def goal_states(self) -> np.ndarray:
        """Return the states, int64[N, 1 + length], of all boards that agree with a goal."""
        boards = [
            boards_agreeing(self.pieces, goal, text) if OPEN in goal else np.array([goal])
            for goal, text in zip(self.given.goals, self.given.goal_texts, strict=True)
        ]
        return np.column_stack(self.states_of(np.concatenate(boards)))


def lift(graph: BaseGraph, vertex: np.ndarray, sequence: np.ndarray) -> Space:
    """Return the part of the lift of a base graph that can be reached from the given states."""
    _, sign = LehmerCode(graph.m, graph.smaller).ranks(sequence)
    roots = np.divmod(np.unique(2 * vertex + sign), 2)
    return Space(graph, np.stack(roots, axis=1))


class ShapeEncoding(Encoding):
    """Boards as states whose vertices are shapes."""

    @property
    @abstractmethod
    def shapes(self) -> ShapeTable:
        """The shapes; their numbers are the vertices."""

    @property
    @abstractmethod
    def moves(self) -> Moves:
        """All moves between shapes: the arcs of the base graph, and which pieces they displace."""

    @property
    @abstractmethod
    def _ranked(self) -> Sequence[int]:
        """The numbers of the sorts in the order of `members`."""

    @cached_property
    def ranks(self) -> dict[int, slice]:
        """The ranks of the pieces of each sort in `members`."""
        sorts, numbers = self.pieces.sorts, self._ranked
        ends = np.cumsum([0, *(len(sorts[number].codes) for number in numbers)]).tolist()
        return dict(zip(numbers, (slice(*ends) for ends in pairwise(ends)), strict=True))

    @cached_property
    def members(self) -> np.ndarray:
        """The codes of all pieces by rank: first the pieces in the sequence, then the pieces of
        sorts whose order never changes, then like pieces."""
        order, sorts = self.pieces.order_on(self.given.reference), self.pieces.sorts
        ranked = [c for number in self.ranks for c in order if c in sorts[number].codes]
        return np.array(ranked, dtype=np.int64)

    @cached_property
    def rank_of(self) -> np.ndarray:
        """The ranks of the pieces by their codes."""
        rank = np.zeros(1 + self.pieces.count, dtype=np.int64)
        rank[self.members] = np.arange(self.members.size)
        return rank

    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        vertex, length = self.shapes.find(rows), self.graph.length
        pieces = np.take(self.pieces.numbers(boards), self.pieces.reading, axis=1)
        order = np.tile(np.arange(self.members.size), (len(boards), 1))
        for number, ranks in self.ranks.items():
            if self.pieces.sorts[number].distinct:
                codes = pieces[rows == FIRST_SORT + number]
                order[:, ranks] = self.rank_of[codes].reshape(order[:, ranks].shape)
        moved = order[:, length:] != np.arange(length, self.members.size)
        vertex[moved.any(axis=1)] = -1
        return vertex, np.ascontiguousarray(order[:, :length])

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        rows = self.shapes.rows_of(vertex)
        fixed_ranks = np.arange(self.graph.length, self.members.size)
        codes = self.members[np.hstack([sequence, np.tile(fixed_ranks, (len(rows), 1))])]
        anchored = np.zeros(rows.shape, dtype=np.int64)
        for number, ranks in self.ranks.items():
            anchored[rows == FIRST_SORT + number] = codes[:, ranks].ravel()
        return self.pieces.laid(rows, anchored)

    def distinguishing(self, sort: Sort) -> "ShapeEncoding | None":
        """Return the encoding of the same goals, without the start, in which the like pieces of a
        sort differ; None if this encoding cannot distinguish like pieces."""
        return None


State = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Model:
    """A base graph and its origins, from which the search begins.

    encoding: how boards become states. start: a position from which to reach a goal, if any.
    """

    encoding: Encoding
    start: Board | None

    @property
    def goals(self) -> tuple[Board, ...]:
        """The positions at depth 0, as boards or parts of boards."""
        return self.encoding.given.goals

    @property
    def graph(self) -> BaseGraph:
        """The base graph with voltages."""
        return self.encoding.graph

    @property
    def undone(self) -> bool:
        """True if every move can be undone."""
        return self.encoding.undone

    @property
    def revisits(self) -> bool:
        """True if a move may lead to any earlier layer."""
        return self.encoding.revisits

    @property
    def counted(self) -> bool:
        """True if the number of states is known before the search."""
        return self.encoding.counted

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states of boards, as `Encoding.states_of` does."""
        return self.encoding.states_of(boards)

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Return the boards of states, int64[N, cells]; inverse of `states_of`."""
        return self.encoding.boards_of(vertex, sequence)

    def state(self, board: Board) -> State:
        """Return (base vertex, sequence) of a board; raises InputError if no moves lead to it."""
        vertex, sequence = self.states_of(np.array([board], dtype=np.int64))
        if vertex[0] < 0:
            raise InputError(
                f"board {list(board)} cannot be reached: no moves lead to this arrangement of its "
                "pieces"
            )
        return int(vertex[0]), tuple(sequence[0].tolist())

    def board(self, state: State) -> Board:
        """Return the board of a state; inverse of `state`."""
        vertex, sequence = state
        boards = self.boards_of(np.array([vertex]), np.array([sequence], dtype=np.int64))
        return tuple(boards[0].tolist())

    def origins(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the states at depth 0: int64[N] vertices and int64[N, length] sequences."""
        states = self._goal_states[self.included]
        return states[:, 0], states[:, 1:]

    @property
    def start_state(self) -> State | None:
        """The state of the start, whose depth is also reported; None without a start."""
        return None if self.start is None else self.state(self.start)

    @cached_property
    def _goal_states(self) -> np.ndarray:
        """The states of all goals, int64[N, 1 + length], each once."""
        # A board may agree with several goals.
        return np.unique(self.encoding.goal_states(), axis=0)

    @cached_property
    def reach(self) -> Reached:
        """Which states can be reached from the start or, if it reaches no goal, from the goals."""
        states = self._goal_states
        if self.start is not None and len(states) > 1:
            vertex, sequence = self.states_of(np.array([self.start]))
            if vertex[0] >= 0:
                reach = self.encoding.reach(vertex, sequence)
                if reach.contains(states[:, 0], states[:, 1:]).any():
                    return reach
        return self.encoding.reach(states[:, 0], states[:, 1:])

    @cached_property
    def included(self) -> np.ndarray:
        """bool[N], True for each goal at depth 0; a start excludes goals that it cannot reach."""
        states = self._goal_states
        if self.start is None or len(states) == 1:
            return np.ones(len(states), dtype=bool)
        return self.reach.contains(states[:, 0], states[:, 1:])

    @cached_property
    def space(self) -> AnySpace:
        """The space of states that the engine searches."""
        return self.encoding.space(self.reach, *self.origins())

    @property
    def states(self) -> int:
        """The number of states that can be reached; at least that number if `counted` is False."""
        return self.reach.states

    def reaches(self, board: Board) -> bool:
        """Return whether a goal can be reached from the board."""
        vertex, sequence = self.states_of(np.array([board]))
        return bool(self.reach.contains(vertex, sequence)[0])

    @property
    def explicit(self) -> "Model":
        """The same model on a base graph that determines all states."""
        encoding = self.encoding.explicit
        return self if encoding is self.encoding else replace(self, encoding=encoding)

    def from_anywhere(self) -> "Model":
        """Return the same model, including positions that its start does not reach."""
        return self if self.included.all() else replace(self, start=None)

    def at_goal_shape(self) -> np.ndarray | None:
        """Return bool[vertices], True where the empty cells are those of the goal. Each layer
        counts the states at these vertices separately. Return None unless the only goal is a whole
        board and the vertex determines which cells are empty."""
        if len(self.goals) != 1 or OPEN in self.goals[0]:
            return None
        return self.encoding.empty_as_on(self.goals[0])
