"""Single positions: whether a number of moves suffices for a position, and its solution.

A position that the solutions of its pattern leave open is searched singly. The `Databases` for
these searches are made once. Their kind depends on whether a move slides one tile
(`frontier.cosets.additive`) or several (`frontier.cosets.lines`). Each thread has its own `Solver`.

A position is a board, int8[cells]: the home of the tile in each cell, in reading order, or `BLANK`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontier.cosets.kernel import UNBOUNDED
from frontier.cosets.sources import TableSource
from frontier.puzzles import GridPuzzle

MET_BITS = 18
"""The table of boards or lines met has 2**18 entries."""


class Databases(ABC):
    """Lower bounds for positions of a puzzle, from databases of groups of its tiles.

    tables: the tables for the kernels.
    """

    tables: Any

    @abstractmethod
    def __init__(
        self, puzzle: GridPuzzle, sizes: Sequence[int], threads: int, table_source: TableSource
    ): ...

    @abstractmethod
    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices and numbers of positions in all groups, from each of S sides:
        int64[N, S, G] each. boards: int8[N, cells]."""

    @abstractmethod
    def solver(self, stop: np.ndarray) -> "Solver":
        """Return a solver for one thread. stop: see `frontier.cosets.kernel.Scratch`."""


class Solver:
    """A search for solutions of single positions with IDA*, in the memory of one thread.

    databases: the databases, which all threads read. within: the kernel of an iteration,
    within(board, vertices, numbers, limit, most, tables, scratch). It returns whether it found a
    solution of at most `limit` moves, and the number of nodes visited, which is at least `most` if
    the search ended undecided or was stopped. In the solution the blank visits the cells
    scratch.blank[1], ..., scratch.blank[scratch.taken[-1]], in this order. scratch: the memory of
    the kernel.
    """

    def __init__(self, databases: Databases, within: Callable, scratch: Any):
        self.databases, self.scratch = databases, scratch
        self._kernel = within

    def needs_more(
        self, board: np.ndarray, limit: int, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        """Return whether a position needs more than `limit` moves (None if `most` nodes do not
        decide this or the search was stopped), and the nodes visited."""
        within_limit, nodes = self._within(board, limit, most)
        return (False if within_limit else None if nodes >= most else True), nodes

    def solution(self, board: np.ndarray, limit: int) -> np.ndarray | None:
        """Return the cells that the blank visits, in order, in a solution of at most `limit` moves;
        None if no solution is that short, or if the search was stopped."""
        within_limit, _ = self._within(board, limit, UNBOUNDED)
        return self.scratch.blank[1 : self.scratch.taken[-1] + 1].copy() if within_limit else None

    def _within(self, board: np.ndarray, limit: int, most: int) -> tuple[bool, int]:
        (vertices,), (numbers,) = self.databases.states(board[None])
        tables = self.databases.tables
        return self._kernel(board, vertices, numbers, limit, most, tables, self.scratch)
