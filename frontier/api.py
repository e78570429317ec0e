"""The steps of a run as functions; the command line and ``import frontier`` stand on these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import overload

import numpy as np
import zarr
from numpy.typing import ArrayLike

from frontier.answers.distances import export
from frontier.answers.farthest import farthest
from frontier.answers.layers import Layer, Layers
from frontier.answers.oracle import Oracle
from frontier.answers.solution import Solution
from frontier.config import Config
from frontier.errors import InputError
from frontier.named import open_one
from frontier.puzzles import Board, Puzzle, puzzle_of
from frontier.report import notebook
from frontier.report.boards import draw_boards, film_strip
from frontier.report.log import EventLog
from frontier.report.solution import describe_solution, solution_value
from frontier.report.status_page import StatusPage
from frontier.search import plan as plans
from frontier.search.driver import run_plan
from frontier.search.events import Listener
from frontier.store.identity import check_identity
from frontier.store.lock import RunLock
from frontier.store.run import RunStore
from frontier.text import counted, percent, size, span

__all__ = [
    "Drawings", "Layer", "Layers", "Plan", "Run", "Solved", "delete_run", "open_run", "plan", "run",
]  # fmt: skip


class Plan(plans.Plan):
    """A checked plan of a run, to be looked at."""

    def _repr_html_(self) -> str:
        where = f"in memory, {counted(self.threads, 'thread')}" if self.alone else "by tasks"
        facts = {
            "states": f"{self.puzzle.states:,}",
            "layers": where,
            "memory": f"{size(self.task_bytes)} a process",
            "directory": str(self.config.path),
        }
        return notebook.run_html(f"{self.config.name}: {self.puzzle.title}", facts)


class Run:
    """A run that exists, as something to ask questions of.

    store: its files.
    """

    def __init__(self, store: RunStore):
        self.store = store

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        found = f"{counted(len(self.counts), 'layer')}, {counted(self.states, 'state')}"
        return f"<Run {self.store.path}: {state}, {found}>"

    def _repr_html_(self) -> str:
        share = percent(self.states / self.store.identity["states"])
        depth = "–" if self.depth is None else str(self.depth)
        facts = {
            "states": f"{self.states:,}" + ("" if self.complete else f" so far ({share})"),
            "depth": depth + ("" if self.complete else " so far"),
            "layers": repr(self.layers).strip("<>"),
            "time in layers": span(sum(record.seconds for record in self.store.records)),
            "directory": str(self.path),
        }
        name = f"{self.store.identity['name']}: {self.puzzle.title}"
        return notebook.run_html(name, facts, self.counts)

    @property
    def path(self) -> Path:
        return self.store.path

    @property
    def complete(self) -> bool:
        """Whether all layers are known."""
        return self.store.complete

    @property
    def counts(self) -> list[int]:
        """The states of each layer, from depth 0."""
        return [record.states for record in self.store.records]

    @cached_property
    def layers(self) -> Layers:
        """The layers known, by depth: their sizes, and of those that were kept the positions."""
        return Layers(self.store)

    @property
    def depth(self) -> int | None:
        """The last depth known, None before the first; God's number of the goal, if the run is
        complete."""
        return len(self.store.records) - 1 if self.store.records else None

    @property
    def states(self) -> int:
        """The states of all layers known."""
        return self.store.states

    @cached_property
    def puzzle(self) -> Puzzle:
        return puzzle_of(self.store.identity["puzzle"])

    @cached_property
    def oracle(self) -> Oracle:
        """Distances and solutions; InputError if the run did not keep its layers."""
        return Oracle(self.store)

    def farthest(self, limit: int = 100) -> list[Board]:
        """Up to `limit` positions of the last layer; InputError if the run is not complete."""
        return farthest(self.store, limit)[1]

    @overload
    def distance(self, boards: str | Mapping) -> int: ...

    @overload
    def distance(self, boards: ArrayLike | Sequence) -> np.ndarray: ...

    def distance(self, boards: str | Mapping | ArrayLike | Sequence) -> int | np.ndarray:
        """Distances of boards, int32[N]; of one board as text, a number.

        boards: int[N, cells] or in rows, int[N, rows, columns], of the codes of `Puzzle.parse`,
        for tiles their numbers; or a list of boards as text. -1 where the goal cannot be reached,
        or is farther than the run has come. Needs `search.keep = "all"`.
        """
        if isinstance(boards, str | Mapping):
            return int(self.distance([boards])[0])
        if isinstance(boards, list | tuple) and any(isinstance(b, str | Mapping) for b in boards):
            boards = [self.board(board) for board in boards]
        return self.oracle.distance(boards)

    def export(self, target: str | Path) -> zarr.Array:
        """Write all distances as a Zarr array; see `frontier.answers.distances`."""
        return export(self.store, Path(target))

    def solve(self, board: ArrayLike | str | Mapping) -> "Solved":
        """A shortest solution of a board, as text or as codes. Needs `search.keep = "all"`."""
        solution = self.oracle.solve(self.board(board))
        return Solved(solution.boards, solution.moves, self.puzzle)

    def count_solutions(self, board: ArrayLike | str | Mapping) -> int:
        """The exact number of shortest solutions. Needs `search.keep = "all"`."""
        return self.oracle.count(self.board(board))

    def show(self, *boards: ArrayLike | str | Mapping) -> "Drawings":
        """Boards to look at: drawn as text by `print`, in colours by a notebook."""
        return Drawings(self.puzzle, [self.board(board) for board in boards])

    def board(self, board: ArrayLike | str | Mapping) -> Board:
        """A board by its codes.

        Arrays, and flat lists and tuples of whole numbers, are codes; all else is a notation.
        """
        if isinstance(board, np.ndarray):
            return tuple(board.ravel().tolist())
        if isinstance(board, list | tuple) and all(isinstance(code, Integral) for code in board):
            return tuple(map(int, board))
        return self.puzzle.parse(board)


class Drawings:
    """Boards of a puzzle, to be looked at."""

    def __init__(self, puzzle: Puzzle, boards: Sequence[Board]):
        self.puzzle, self.boards = puzzle, list(boards)

    def __str__(self) -> str:
        return draw_boards(self.puzzle, self.boards)

    def __repr__(self) -> str:
        return f"<{counted(len(self.boards), 'board')} of {self.puzzle.title}>"

    def _repr_html_(self) -> str:
        lines = list(map(self.puzzle.line, self.boards))
        return notebook.boards_html(self.puzzle, self.boards, lines)


@dataclass(frozen=True, repr=False)
class Solved(Solution):
    """A shortest solution of a board, to be looked at."""

    puzzle: Puzzle

    def __str__(self) -> str:
        return describe_solution(self.puzzle, self, solution_value(self.puzzle, self, False))

    def __repr__(self) -> str:
        first = self.puzzle.line(self.boards[0])
        return f"<Solution of {first}: {counted(self.distance, 'move')}>"

    def _repr_html_(self) -> str:
        return film_strip(self.puzzle, self)


def plan(config: Config, fresh: bool = False) -> Plan:
    """What a run will do; InputError if it cannot be done. Makes nothing.

    fresh: as if the run directory were empty; else an existing run keeps its layout, and is
    refused if another config made it.
    """
    if fresh or not RunStore.exists(config.path):
        return Plan(**vars(plans.make_plan(config)))
    existing = RunStore.open(config.path)
    check_identity(existing, plans.config_identity(config))
    return Plan(**vars(plans.make_plan(config, existing.identity["layout"])))


def run(
    plan: plans.Plan,
    until: int | None = None,
    listeners: Sequence[Listener] = (),
    take_over: bool = False,
) -> Run:
    """Start or resume a run and return it when it is done.

    until: last depth to compute, by default `search.until` of the config. take_over: a process on
    another host that was writing the run is gone.
    """
    until = plan.config.search.until if until is None else until
    path = plan.config.path
    with StatusPage(path) as page:
        files = EventLog(path / "events.jsonl"), page
        return Run(run_plan(plan, until, [*listeners, *files], take_over))


def open_run(path: str | Path) -> Run:
    """An existing run, by its directory or by its config.

    InputError if there is none, or if a config names several.
    """
    return Run(open_one(path))


def delete_run(path: Path, take_over: bool = False) -> None:
    """Delete a run and its directory; InputError if it holds no run, or something else too.

    take_over: a process on another host that was writing the run is gone.
    """
    path = path.resolve()
    if not RunStore.exists(path):
        raise InputError(f"{path} holds no run, so nothing is deleted")
    RunStore.refuse_others({entry.name for entry in path.iterdir()}, path)
    with RunLock(path / "lock", take_over):
        RunStore.delete(path)
    if not any(path.iterdir()):  # what others have put into its layers stays
        path.rmdir()
