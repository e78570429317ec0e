"""What the engine asks of a puzzle.

A puzzle turns boards, as people write them, into states (base vertex, sequence of the
distinct tiles) and back, and says how the base graph's arcs move them. It knows nothing of
bitmaps, stores or schedulers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from frontier.space.graph import BaseGraph, Space
from frontier.space.lehmer import parity

Board = tuple[tuple[int, ...], ...]
State = tuple[int, tuple[int, ...]]


class Puzzle(ABC):
    """One puzzle with its goal; depth is the least number of moves from the goal."""

    title: str
    goal: Board
    start: Board | None
    """A position whose distance from the goal is asked for, if any."""

    @abstractmethod
    def graph(self) -> BaseGraph:
        """The base graph with voltages."""

    @abstractmethod
    def state(self, board: Board) -> State:
        """(base vertex, sequence) of a board; InputError if it is not one of this puzzle."""

    @abstractmethod
    def board(self, state: State) -> Board:
        """The board of a state, row by row; inverse of `state`."""

    @abstractmethod
    def reaches(self, board: Board) -> bool:
        """Whether the goal can be reached from the board."""

    @property
    @abstractmethod
    def states(self) -> int:
        """Number of positions that can be reached from the goal."""

    @abstractmethod
    def draw(self, board: Board) -> str:
        """The board as lines of text."""

    @abstractmethod
    def parse(self, text: str) -> Board:
        """A board from text; InputError if it is not one of this puzzle."""

    def origins(self) -> Sequence[State]:
        """The states at depth 0."""
        return [self.state(self.goal)]

    def space(self) -> Space:
        """The space of states that the engine searches."""
        return Space(self.graph(), [(v, parity(sequence)) for v, sequence in self.origins()])
