"""Solvers of single positions, and the choice of one for a puzzle.

* layers: look up distances in a run that kept all its layers;
* databases: for tile puzzles, IDA* with pattern databases (`frontier.solving.search`);
* search: if two layers fit in memory, search all positions of the puzzle in a temporary run;
* ida: IDA* with the moves of single pieces as a lower bound (`frontier.solving.pieces`).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple
from weakref import finalize

import numpy as np

from frontier import machine
from frontier.config.loading import Config
from frontier.config.schema import ClusterTable
from frontier.errors import InputError, Stopped, Unsolved
from frontier.kernels.engines import lists_of
from frontier.layers.plan import Plan, make_plan
from frontier.layers.run import LayerRun
from frontier.layers.search import LayerSearch
from frontier.puzzles import Board, GridPuzzle, Puzzle
from frontier.puzzles.pieces import OPEN
from frontier.runs.drive import drive
from frontier.solving.databases import DatabaseFiles, Tell
from frontier.solving.oracle import Oracle, boards_along, path_to
from frontier.solving.pieces import IdaSolver
from frontier.solving.search import MOST_COUNTED, Search, TileSolver
from frontier.solving.solution import Solution, slid, solution_along
from frontier.storage.local import remove_tree
from frontier.text import counted, near
from frontier.values import check_whole

METHODS = ("layers", "databases", "search", "ida")

MOST_SEARCHED = 1_000_000_000
"""The most states of a puzzle for the method `search`; 100 million take a few seconds."""

DATABASE_BYTES = 1_000_000_000
"""The memory for databases by default: enough for the 15-puzzle, and for groups of six tiles of the
24-puzzle."""

Solve = Callable[[Board], tuple[Solution, dict]]
"""Returns the solution of a board, and a dict with its {"count": …} or {"nodes": …}."""


class Progress(NamedTuple):
    """How far the search of a position is.

    least: the number of moves that is being tried; fewer do not suffice. most: the moves of the
    best solution known. nodes: the nodes so far. left: the nodes of this number of moves that
    remain at the growth so far; None if unknown.
    """

    least: int
    most: int | None
    nodes: int
    left: int | None


Watch = Callable[[Progress], None]
"""Called while a position is searched."""


class Solver(NamedTuple):
    """A way to solve positions. method: one of `METHODS`. description: the method in a few words.
    close: frees memory."""

    method: str
    description: str
    solve: Solve
    close: Callable[[], None] = lambda: None


def solver_for(
    config: Config,
    store: LayerRun | None,
    method: str | None = None,
    count: bool = False,
    tell_apart: bool | None = None,
    most_nodes: int | None = None,
    room: int | None = None,
    watch: Callable[[], Watch] = lambda: lambda progress: None,
    tell: Tell = lambda name, bytes, share: None,
) -> Solver:
    """Return the solver of the given method, by default of the first possible one.

    store: the run of the config, if there is one. method: one of `METHODS`, or None for the first
    possible one. count: True to count all shortest solutions. tell_apart: for the method ida, see
    `IdaSolver`. most_nodes: the nodes after which IDA* stops. room: the bytes of memory for
    databases. watch: called for each position; returns a function that IDA* calls. tell: called
    while databases are made. Raises InputError if the method cannot solve positions of the config.
    """
    if method not in (None, *METHODS):
        raise InputError(f"method = {method!r}: expected one of {', '.join(METHODS)}")
    if most_nodes is not None:
        check_whole("most_nodes", most_nodes, 1)
    if most_nodes is not None and method in ("layers", "search"):
        raise InputError("a limit of nodes is only for the methods databases and ida")
    if tell_apart is not None and method not in (None, "ida"):
        raise InputError("a choice about like pieces is only for the method ida")
    if room is not None and (method not in (None, "databases") or tell_apart is not None):
        raise InputError("memory for databases is only for the method databases")
    if count and (method == "ida" or tell_apart is not None):
        raise InputError("the method ida does not count solutions; choose another one")
    puzzle, plan = config.make_puzzle(), None
    layers_solve = puzzle.model.undone or puzzle.kind == "program"
    layers_solve &= store is not None and store.complete and store.identity["keep"] == "all"
    has_databases = _why_no_databases(puzzle, count) is None
    if method is None:
        if tell_apart is not None:
            method = "ida"
        elif layers_solve and most_nodes is None and room is None:
            method = "layers"
        elif room is not None or (has_databases and not count):
            method = "databases"
    by_keys = puzzle.kind == "program" or (puzzle.model.undone and not puzzle.model.counted)
    if by_keys and method != "layers":
        if method in ("databases", "ida") or most_nodes is not None or count:
            raise InputError(
                f"{puzzle.title}: without a run that keeps all layers, only the method search, "
                "without a count and a limit of nodes, solves positions"
            )
        return Solver("search", "Searching until the position is found", _ByKeys(config, puzzle))
    if method == "search" or (method is None and most_nodes is None):
        try:
            plan, method = _search_plan(config, puzzle), "search"
        except InputError as error:
            if method is None and count and not has_databases:
                raise InputError(f"solutions cannot be counted: {error}") from None
            if method is not None:
                raise
    if method is None and (has_databases or count):
        method = "databases"
    if method == "layers":
        if store is None:
            raise InputError(
                f"{config.name} has not started: there is no run at {config.path}; choose "
                "another method"
            )
        description = f"Looking up in the layers of {near(str(store.path))}"
        return Solver("layers", description, _by_layers(store, count))
    if method == "databases":
        databases = tile_solver(puzzle, DATABASE_BYTES if room is None else room, tell, count)
        return Solver(
            "databases",
            "Searching by IDA* with pattern databases",
            lambda board: solved(databases, board, most_nodes, watch(), count),
            databases.close,
        )
    if plan is not None:
        description = f"Searching all {counted(puzzle.states, 'state')} in memory"
        return Solver("search", description, _SearchInMemory(plan, count))
    solver = IdaSolver(puzzle, tell_apart is not False)

    def solve(board: Board) -> tuple[Solution, dict]:
        tell_progress = watch()
        searched = solver.solve(
            board,
            most_nodes,
            lambda bound, nodes: tell_progress(Progress(bound, None, nodes, None)),
        )
        return searched.solution, {"nodes": searched.nodes}

    return Solver("ida", "Searching by IDA*", solve)


def _why_no_databases(puzzle: Puzzle, count: bool = False) -> str | None:
    """Return why databases cannot solve a puzzle, or count its solutions; None if they can."""
    if not isinstance(puzzle, GridPuzzle) or puzzle.kind != "tiles":
        return "databases are for tile puzzles"
    if len(puzzle.goals) > 1 or OPEN in puzzle.goals[0]:
        return "databases need one goal that shows all tiles"
    if puzzle.metric not in ("step", "multi"):
        return 'databases need metric = "step" or "multi"'
    if puzzle.grid.line_length < 2 or puzzle.cells <= 4:
        return "databases are for boards larger than 2×2"
    if count and puzzle.metric != "step":
        return "databases count solutions only if a move slides one tile"
    return None


def tile_solver(puzzle: Puzzle, room: int, tell: Tell, count: bool = False) -> TileSolver:
    """Return a solver with databases, which the caller closes; raises InputError if databases
    cannot solve the puzzle, or count its solutions."""
    if reason := _why_no_databases(puzzle, count):
        raise InputError(f"{puzzle.title}: {reason}; choose another method")
    assert isinstance(puzzle, GridPuzzle)
    threads = machine.cores()
    return TileSolver(puzzle, DatabaseFiles(threads, tell), room, threads)


def solved(
    solver: TileSolver, board: Board, most_nodes: int | None, watch: Watch, count: bool = False
) -> tuple[Solution, dict]:
    """Return a shortest solution with databases, and its {"nodes": …, "count": …}.

    Raises InputError if the goal cannot be reached, Unsolved after `most_nodes` nodes, and Stopped
    if the user interrupts the search; the messages of these two say what has been proved.
    """
    puzzle = solver.puzzle
    puzzle.check_reached(board)
    search = Search(solver.databases.homes(board))
    try:
        solver.solve(
            search, most_nodes,
            lambda: watch(
                Progress(search.limit, search.length, search.nodes, search.left)
            ),
        )  # fmt: skip
    except KeyboardInterrupt:
        raise Stopped(f"interrupted: {_so_far(puzzle, board, search)}") from None
    if search.best is None or not search.proved:
        raise Unsolved(_so_far(puzzle, board, search))
    solution = solution_along(puzzle, _boards_along(solver, board, search.best))
    # After the last of the iterations only if a beam search found the solution.
    rest = search.nodes - sum(search.iterations)
    counts: dict = {"nodes": [*search.iterations, rest] if rest else list(search.iterations)}
    if count:
        paths = solver.count(search, most_nodes)
        if paths is None:
            raise Unsolved(
                f"{puzzle.line(board)} needs {counted(solution.distance, 'move')}, but its "
                f"solutions cannot be counted within {most_nodes or MOST_COUNTED:,} nodes"
            )
        counts["count"] = paths
    return solution, counts


def _so_far(puzzle: Puzzle, board: Board, search: Search) -> str:
    """Return what is known about a position whose search ended early, in words."""
    known = ""
    if search.best is not None:
        moves = counted(search.best.size, "move")
        known = f"; the best solution known has {moves}, but a shorter one may exist"
    return (
        f"no shortest solution of {puzzle.line(board)} within {counted(search.nodes, 'node')}; it "
        f"needs at least {counted(search.limit, 'move')}{known}"
    )


def _boards_along(solver: TileSolver, board: Board, blanks: np.ndarray) -> list[Board]:
    """Return the boards on which the blank visits cells, which are numbered in reading order."""
    grid, boards = solver.puzzle.grid, [board]
    for target in grid.reading[blanks].tolist():
        boards.append(slid(boards[-1], grid.columns, target))
    return boards


def _search_plan(config: Config, puzzle: Puzzle) -> Plan:
    """Return the plan of a search in memory; raises InputError if there can be none."""
    why = "they do not fit in memory"
    if not puzzle.model.undone:
        why = "some moves cannot be undone"
    elif puzzle.states > MOST_SEARCHED:
        why = f"they are more than {MOST_SEARCHED:,}"
    else:
        search = {"keep": "all", "until": None, "in_memory": True}
        tables = {
            "search": config.search.model_copy(update=search),
            "store": config.store.model_copy(update={"fsync": "never"}),
            "cluster": config.cluster if config.cluster.kind == "local" else ClusterTable(),
        }
        with suppress(InputError):  # it needs more memory than is available
            plan = make_plan(config.model_copy(update=tables))
            if plan.in_memory:
                return plan
    states = counted(puzzle.states, "state")
    raise InputError(f"{puzzle.title}: its {states} cannot all be searched: {why}")


class _ByKeys:
    """Solves positions by keys: makes layers until one has the position, and holds them."""

    def __init__(self, config: Config, puzzle: Puzzle):
        self._puzzle, space = puzzle, puzzle.model.space
        self._lists, self._layers = lists_of(space), list[np.ndarray]()
        room = config.cluster.memory * config.cluster.workers_here
        self._lists.allow(machine.cores(), room)
        self._more = self._lists.layers(puzzle.model.origins(), puzzle.model.revisits)

    def __call__(self, board: Board) -> tuple[Solution, dict]:
        state = self._puzzle.model.space.number(*self._puzzle.model.state(board))
        assert state is not None
        number = state[1]
        for depth, layer in enumerate(chain(self._layers, self._growing())):
            at = np.searchsorted(layer, number)
            if at < layer.size and layer[at] == number:
                path = path_to(self._lists, lambda t: iter([self._layers[t]]), depth, number)
                boards = boards_along(self._puzzle, self._lists, path, board)
                return solution_along(self._puzzle, boards), {}
        raise InputError(f"{self._puzzle.line(board)}: the moves do not lead there from the start")

    def _growing(self) -> Iterator[np.ndarray]:
        """Generate the layers that are not yet held, and hold them."""
        for layer in self._more:
            self._layers.append(layer)
            yield layer


class _SearchInMemory:
    """Solves positions with a run that is made for the first position and deleted at the end."""

    def __init__(self, plan: Plan, count: bool):
        self._plan, self._count = plan, count
        self._answer: Solve | None = None

    def __call__(self, board: Board) -> tuple[Solution, dict]:
        self._plan.puzzle.check_reached(board)  # before a search that may take minutes
        if self._answer is None:
            folder = mkdtemp(prefix="frontier-")
            finalize(self, remove_tree, Path(folder))
            config = self._plan.config
            store = config.store.model_copy(update={"path": f"{folder}/run"})
            plan = replace(self._plan, config=config.model_copy(update={"store": store}))
            self._answer = _by_layers(drive(LayerSearch(plan)), self._count)
        return self._answer(board)


def _by_layers(store: LayerRun, count: bool) -> Solve:
    oracle = Oracle(store)
    return lambda board: (oracle.solve(board), {"count": oracle.count(board)} if count else {})
