"""Solving single positions from Python."""

from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frontier.api.boards import Solved, board_of, board_or_start, boards_of
from frontier.api.runs import Run
from frontier.config.loading import Config
from frontier.layers.run import puzzle_and_run
from frontier.solving.methods import DATABASE_BYTES, solved, solver_for, tile_solver
from frontier.storage.places import Place
from frontier.values import bytes_of, check_whole


def solve(
    what: Config | Run | Place,
    board: ArrayLike | str | Mapping[str, Any] | None = None,
    *,
    method: str | None = None,
    most_nodes: int | None = None,
) -> Solved:
    """Return a shortest solution of a board. For many boards `Run.solve` or `solver` is faster.

    Parameters
    ----------
    what
        A config, a run, or the path of a config or of a run directory.
    board
        A board in any form that `Run.board` takes; by default the config's start.
    method
        "layers" looks up a run that kept its layers, "databases" uses IDA* with pattern databases,
        "search" searches all states in memory, and "ida" uses IDA* with the moves of single pieces;
        by default the first possible method.
    most_nodes
        The number of nodes after which IDA* stops.

    Returns
    -------
    Solved
        The boards and moves of the solution.

    Raises
    ------
    InputError
        If the goal cannot be reached, or if the method cannot be used.
    Unsolved
        If IDA* has stopped without a shortest solution.
    """
    config, store = puzzle_and_run(what.path if isinstance(what, Run) else what)
    puzzle = config.make_puzzle()
    start = board_or_start(puzzle, board)
    solver = solver_for(config, store, method, most_nodes=most_nodes)
    try:
        solution, _ = solver.solve(start)
    finally:
        solver.close()
    return Solved(solution.boards, solution.moves, puzzle, solver.method)


def solver(what: Config | Place, *, memory: str | int = DATABASE_BYTES) -> "PositionSolver":
    """Return a solver of positions of a tile puzzle, with pattern databases.

    The databases are made when they are needed, and kept in the user's cache directory.

    Parameters
    ----------
    what
        A config, or the path of a config.
    memory
        The memory for databases, in bytes or as text such as "16GB". More memory allows larger
        databases, with which hard positions take fewer nodes.

    Returns
    -------
    PositionSolver
        The solver. It holds its databases until it is closed, best by ``with``.

    Raises
    ------
    InputError
        If the puzzle is no tile puzzle with one goal, or if no database fits in the memory.
    """
    config, _ = puzzle_and_run(what)
    return PositionSolver(config, bytes_of("memory", memory))


class PositionSolver:
    """Solves positions of one tile puzzle; made by `frontier.solver`.

    Threads may share a solver: it answers one call after the other, each with all cores.

    Attributes
    ----------
    puzzle
        The puzzle.
    """

    def __init__(self, config: Config, room: int):
        self.puzzle, self._lock = config.make_puzzle(), Lock()
        self._solver = tile_solver(self.puzzle, room, lambda name, bytes, share: None)

    def __enter__(self) -> "PositionSolver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory of the databases. A closed solver cannot be used."""
        with self._lock:
            self._solver.close()

    def solve(
        self, board: ArrayLike | str | Mapping[str, Any], *, most_nodes: int | None = None
    ) -> Solved:
        """Return a shortest solution of a board, which `most_nodes` may end. The arguments, the
        result and the errors are those of `frontier.solve`; the message of `Unsolved` says what has
        been proved."""
        if most_nodes is not None:
            check_whole("most_nodes", most_nodes, 1)
        codes = board_of(self.puzzle, board)
        with self._lock:
            solution, _ = solved(self._solver, codes, most_nodes, lambda progress: None)
        return Solved(solution.boards, solution.moves, self.puzzle, "databases")

    def distance(
        self, board: ArrayLike | str | Mapping[str, Any], *, most_nodes: int | None = None
    ) -> int:
        """Return the number of moves of a shortest solution; for parameters and errors see
        `solve`."""
        return self.solve(board, most_nodes=most_nodes).distance

    def bound(self, boards: ArrayLike | str | Mapping[str, Any]) -> NDArray[np.int64]:
        """Return lower bounds on the distances of boards, from the largest databases.

        Parameters
        ----------
        boards
            One board, or several: a list of boards, or int[N, cells].

        Returns
        -------
        int64[N]
            The bounds, of shape () for one board. A bound never exceeds the distance, and is 0 only
            at the goal. Boards from which the goal cannot be reached have a bound without meaning.
        """
        codes, one = boards_of(self.puzzle, boards)
        self.puzzle.model.states_of(codes)  # raises InputError if one is not a board of the puzzle
        with self._lock:
            self._solver.load_all()
            bounds = self._solver.bound(codes)
        return bounds[0] if one else bounds
