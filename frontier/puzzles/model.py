"""The model of a puzzle: its base graph and its origins, which the engine searches.

A model is the base graph whose lift is searched, with its origins. It knows nothing of text and
pictures, nor of bitmaps, stores or schedulers.

Every board that agrees with a goal is at depth 0. If a start is given, those that it cannot reach
are left out: the search would begin from them too, but no solution of the start ends there.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.encoding import Encoding
from frontier.puzzles.pieces import OPEN, Board
from frontier.space.graph import BaseGraph, Space
from frontier.space.group import Reach
from frontier.space.lehmer import LehmerCode

State = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Model:
    """A base graph and its origins, from which all states are searched.

    encoding: how boards are states. start: a position from which a goal is to be reached, if any.
    """

    encoding: Encoding
    start: Board | None

    @property
    def goals(self) -> tuple[Board, ...]:
        """The positions at depth 0, as boards or parts of boards."""
        return self.encoding.given.goals

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.encoding.metric

    @property
    def graph(self) -> BaseGraph:
        """The base graph with voltages."""
        return self.encoding.graph

    @property
    def shape_bytes(self) -> int:
        """Bytes of the base graph in each process, where these are many and known beforehand."""
        return self.encoding.shape_bytes

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
                f"board {list(board)} cannot be reached: its pieces are in an order, or lie in a "
                "way, to which no moves lead"
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
        """The state whose depth is reported too, if there is one."""
        return None if self.start is None else self.state(self.start)

    @cached_property
    def _goal_states(self) -> np.ndarray:
        """The states of all goals, int64[N, 1 + length], each once."""
        # A board may agree with several goals.
        return np.unique(self.encoding.goal_states(), axis=0)

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
    def included(self) -> np.ndarray:
        """bool[N], the goals at depth 0: of several, those that the start can be reached from."""
        states = self._goal_states
        if self.start is None or len(states) == 1:
            return np.ones(len(states), dtype=bool)
        return self.reach.contains(states[:, 0], states[:, 1:])

    @cached_property
    def space(self) -> Space:
        """The space of states that the engine searches."""
        vertex, sequence = self.origins()
        _, sign = LehmerCode(self.graph.m, self.graph.smaller).ranks(sequence)
        roots = np.divmod(np.unique(2 * vertex + sign), 2)
        return Space(self.graph, np.stack(roots, axis=1))

    @property
    def states(self) -> int:
        """The number of states that can be reached."""
        return self.reach.states

    def reaches(self, board: Board) -> bool:
        """Return whether a goal can be reached from the board."""
        vertex, sequence = self.states_of(np.array([board]))
        return bool(self.reach.contains(vertex, sequence)[0])

    def from_anywhere(self) -> "Model":
        """Return the same model, also for positions that its start does not reach."""
        # Its base graph stays: where all shapes are too many, it has those that the start reaches.
        return self if self.included.all() else replace(self, start=None)

    def at_goal_shape(self) -> np.ndarray | None:
        """Return bool[vertices], True for those whose empty cells are the goal's, which are counted
        apart in each layer; None if there is not one such goal, or the vertex does not determine
        which cells are empty."""
        if len(self.goals) != 1 or OPEN in self.goals[0]:
            return None
        return self.encoding.empty_as_on(self.goals[0])
