"""The steps of a run as functions; the command line and ``import frontier`` stand on these."""

from collections.abc import Sequence
from functools import cached_property
from numbers import Integral
from pathlib import Path

import numpy as np
import zarr

from frontier.answers.distances import export
from frontier.answers.farthest import farthest
from frontier.answers.oracle import Oracle
from frontier.answers.solution import Solution
from frontier.config import Config
from frontier.errors import InputError
from frontier.puzzles import Board, Puzzle, puzzle_of
from frontier.report.log import EventLog
from frontier.report.status_page import StatusPage
from frontier.search.driver import run_plan
from frontier.search.events import Listener
from frontier.search.plan import Plan, config_identity, make_plan
from frontier.store.identity import check_identity
from frontier.store.lock import RunLock
from frontier.store.run import RunStore
from frontier.text import counted


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

    @property
    def depth(self) -> int:
        """The last depth known; God's number of the goal, if the run is complete."""
        return len(self.store.records) - 1

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

    def distance(self, boards) -> np.ndarray:
        """Distances of boards, int[N, cells] or in rows, int[N, rows, columns]: int32[N].

        Boards hold the codes of `Puzzle.parse`, for tiles their numbers. -1 where the goal cannot
        be reached, or is farther than the run has come. Needs `search.keep = "all"`.
        """
        return self.oracle.distance(boards)

    def export(self, target: str | Path) -> zarr.Array:
        """Write all distances as a Zarr array; see `frontier.answers.distances`."""
        return export(self.store, Path(target))

    def solve(self, board) -> Solution:
        """A shortest solution of a board, as text or as codes. Needs `search.keep = "all"`."""
        return self.oracle.solve(self._board(board))

    def count_solutions(self, board) -> int:
        """The exact number of shortest solutions. Needs `search.keep = "all"`."""
        return self.oracle.count(self._board(board))

    def _board(self, board) -> Board:
        """Arrays, and flat lists and tuples of whole numbers, are codes; all else is a notation."""
        if isinstance(board, np.ndarray):
            return tuple(board.ravel().tolist())
        if isinstance(board, list | tuple) and all(isinstance(code, Integral) for code in board):
            return tuple(map(int, board))
        return self.puzzle.parse(board)


def plan(config: Config, fresh: bool = False) -> Plan:
    """What a run will do; InputError if it cannot be done. Makes nothing.

    fresh: as if the run directory were empty; else an existing run keeps its layout, and is
    refused if another config made it.
    """
    if fresh or not RunStore.exists(config.path):
        return make_plan(config)
    existing = RunStore.open(config.path)
    check_identity(existing, config_identity(config))
    return make_plan(config, existing.identity["layout"])


def run(
    plan: Plan,
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
    files = EventLog(path / "events.jsonl"), StatusPage(path)
    return Run(run_plan(plan, until, [*listeners, *files], take_over))


def open_run(path: str | Path) -> Run:
    """An existing run."""
    return Run(RunStore.open(Path(path)))


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
    path.rmdir()
