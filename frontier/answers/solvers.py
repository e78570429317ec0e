"""Solvers of single positions, and the choice of one for a puzzle.

* layers: look up distances in a run that kept all its layers;
* search: if two layers fit in memory, search all positions of the puzzle in a temporary run;
* ida: solve each position separately by IDA*.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple
from weakref import finalize

from frontier.answers.ida import IdaSolver
from frontier.answers.oracle import Oracle
from frontier.answers.solution import Solution
from frontier.config.loading import Config
from frontier.config.schema import ClusterTable
from frontier.errors import InputError
from frontier.layers.plan import Plan, make_plan
from frontier.layers.run import LayerRun
from frontier.layers.search import LayerSearch
from frontier.puzzles import Board, Puzzle
from frontier.runs.drive import drive
from frontier.storage.local import remove_tree
from frontier.storage.places import Place
from frontier.text import counted, near
from frontier.values import check_whole

METHODS = ("layers", "search", "ida")

MOST_SEARCHED = 1_000_000_000
"""The most states of a puzzle for the method `search`; 100 million take a few seconds."""

Solve = Callable[[Board], tuple[Solution, dict]]
"""Returns the solution of a board, and a dict with its {"count": …} or {"nodes": …}."""


class Solver(NamedTuple):
    """A way to solve positions. method: one of `METHODS`. description: the method in a few
    words."""

    method: str
    description: str
    solve: Solve


def solver_for(
    config: Config,
    store: LayerRun | None,
    method: str | None = None,
    count: bool = False,
    tell_apart: bool | None = None,
    heuristics: Sequence[Place] = (),
    most_nodes: int | None = None,
    watch: Callable[[], Callable[[int, int], None]] = lambda: lambda bound, nodes: None,
) -> Solver:
    """Return the solver of the given method, by default of the first possible one.

    store: the run of the config, if there is one. method: one of `METHODS`, or None for the first
    possible one. count: True to count all shortest solutions. tell_apart, heuristics, most_nodes:
    for IDA*, see `IdaSolver` and its `solve`; None or empty for the defaults. watch: called for
    each position; returns a function that IDA* calls with its bound and the nodes so far. Raises
    InputError if the method cannot solve positions of the config.
    """
    if method not in (None, *METHODS):
        raise InputError(f"method = {method!r}: expected one of {', '.join(METHODS)}")
    if most_nodes is not None:
        check_whole("most_nodes", most_nodes, 1)
    of_ida = bool(heuristics) or (tell_apart, most_nodes) != (None, None)
    if of_ida and method in ("layers", "search"):
        raise InputError(
            "pattern databases, a limit of nodes and a choice about like pieces are only for "
            "the method ida"
        )
    if count and (of_ida or method == "ida"):
        raise InputError("counting all solutions needs layers (the method layers or search)")
    puzzle, plan = config.make_puzzle(), None
    all_layers_kept = store is not None and store.complete and store.identity["keep"] == "all"
    if method is None and not of_ida:
        if all_layers_kept:
            method = "layers"
        elif (plan := _search_plan(config, puzzle)) is not None:
            method = "search"
        elif count:
            raise InputError(_too_large(puzzle) + ", so solutions cannot be counted")
    if method == "layers":
        if store is None:
            raise InputError(
                f"{config.name} has not started: there is no run at {config.path}; choose "
                "another method"
            )
        return Solver(
            "layers",
            f"Looking up in the layers of {near(str(store.path))}",
            _by_layers(store, count),
        )
    if method == "search":
        plan = plan or _search_plan(config, puzzle)
        if plan is None:
            raise InputError(_too_large(puzzle) + " (the method search)")
        description = f"Searching all {counted(puzzle.states, 'state')} in memory"
        return Solver("search", description, _SearchInMemory(plan, count))
    guided = f" with {counted(len(heuristics), 'pattern database')}" if heuristics else ""
    solver = IdaSolver(puzzle, tell_apart is not False, heuristics)

    def solve(board: Board) -> tuple[Solution, dict]:
        searched = solver.solve(board, most_nodes, watch())
        return searched.solution, {"nodes": searched.nodes}

    return Solver("ida", f"Searching by IDA*{guided}", solve)


def _search_plan(config: Config, puzzle: Puzzle) -> Plan | None:
    """Return the plan of a search in memory; None if it does not fit, or if some moves have no
    inverse."""
    if puzzle.states > MOST_SEARCHED or not puzzle.model.undone:
        return None
    search = {"keep": "all", "until": None, "in_memory": True}
    tables = {
        "search": config.search.model_copy(update=search),
        "store": config.store.model_copy(update={"fsync": "never"}),
        "cluster": config.cluster if config.cluster.kind == "local" else ClusterTable(),
    }
    try:
        plan = make_plan(config.model_copy(update=tables))
    except InputError:  # it needs more memory than is available
        return None
    return plan if plan.in_memory else None


def _too_large(puzzle: Puzzle) -> str:
    return (
        f"{puzzle.title}: its {counted(puzzle.states, 'state')} cannot all be searched: they are "
        f"more than {MOST_SEARCHED:,}, do not fit in memory, or some moves have no inverse"
    )


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
