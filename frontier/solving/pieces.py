"""Shortest solutions of single positions, by iterative deepening, without a run."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from frontier.errors import InputError, Unsolved
from frontier.puzzles import Board, Puzzle
from frontier.solving.piece_bound import bound_of, distinguished, distinguished_board
from frontier.solving.pieces_kernel import MOST_DEPTH, Search, search_tables
from frontier.solving.solution import Solution, solution_along
from frontier.text import counted

SLICE = 5_000_000
"""The approximate number of nodes between two calls of the caller's `watch`, which may stop the
search."""

MOST_NODES = 2**62


@dataclass(frozen=True)
class IdaResult:
    """A shortest solution, and the nodes visited in each iteration of the search, not counting the
    start."""

    solution: Solution
    nodes: list[int]


class IdaSolver:
    """Solves positions of one puzzle.

    distinguish: True to distinguish like pieces that cannot change places, which raises the bound.
    """

    def __init__(self, puzzle: Puzzle, distinguish: bool = True):
        model = puzzle.model.from_anywhere()
        self.puzzle = puzzle = replace(puzzle, model=model)
        explicit = model.explicit
        self._searched = distinguished(explicit) if distinguish else explicit
        self.distinguishes = self._searched is not explicit
        self._bound = bound = bound_of(self._searched)
        goals = np.column_stack(self._searched.origins())
        self._tables = search_tables(
            self._searched.graph, bound.displacements, bound.tables, bound.most_steps, goals
        )

    def bound(self, board: Board) -> int:
        """Return the lower bound on the moves from a board to the goal."""
        return self._search(board).bound

    def _search(self, board: Board) -> Search:
        """Return a search that begins at a board."""
        if self.distinguishes:
            board = distinguished_board(self.puzzle.model, self._searched, board)
        total = int(self._bound.sums(np.array([board]))[0])
        return Search(self._tables, *self._searched.state(board), total)

    def solve(
        self,
        board: Board,
        most_nodes: int | None = None,
        watch: Callable[[int, int], None] = lambda bound, nodes: None,
    ) -> IdaResult:
        """Return a shortest solution. After every slice, the search calls `watch` with the bound
        and the number of nodes so far.

        Raises InputError if the goal cannot be reached, and Unsolved after `most_nodes` nodes.
        """
        self.puzzle.check_reached(board)
        search = self._search(board)
        nodes_left = most_nodes or MOST_NODES
        while not search.advance(min(SLICE, nodes_left)):
            watch(search.bound, sum(search.nodes))
            nodes_left = (most_nodes or MOST_NODES) - sum(search.nodes)
            if nodes_left <= 0:
                raise Unsolved(
                    f"no solution of {self.puzzle.line(board)} within "
                    f"{counted(sum(search.nodes), 'node')}; it needs at least "
                    f"{counted(search.bound, 'move')}"
                )
        if not search.found:
            raise InputError(
                f"board {self.puzzle.line(board)} needs {MOST_DEPTH} moves or more, too many for "
                "this search"
            )
        boards = self._searched.boards_of(*search.path).tolist()
        return IdaResult(
            solution_along(self.puzzle, [board, *map(tuple, boards[1:])]), search.nodes
        )
