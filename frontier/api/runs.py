"""Runs and their results as Python values, the basis of ``import frontier``."""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frontier.answers.distances import Distances, complete, export
from frontier.answers.layers import Layers
from frontier.answers.lookup import Heuristic
from frontier.api.boards import Drawings, Solved, board_of, board_or_start, boards_of
from frontier.api.start import Plan, delete_run, plan, start
from frontier.config.loading import Config
from frontier.layers.farthest import farthest, farthest_among
from frontier.layers.progress import LayerTotals
from frontier.layers.run import LayerRun, layers_of
from frontier.layers.summary import summary
from frontier.puzzles import Board, Puzzle
from frontier.puzzles.program_file import digest_of, trust
from frontier.report.html import run_html
from frontier.runs.events import Listener
from frontier.runs.progress import progress_of
from frontier.runs.resolve import resolve
from frontier.solving.oracle import Oracle
from frontier.storage.places import Place
from frontier.text import counted, named

if TYPE_CHECKING:
    import pandas
    import zarr
    from distributed import Client

__all__ = [
    "Drawings", "Plan", "Run", "Solved", "delete_run", "open_run", "plan", "run",
]  # fmt: skip


TABLE = [
    ("depth", np.int64), ("states", np.int64), ("states_so_far", np.int64),
    ("seconds", np.float64), ("bytes_written", np.int64),
]  # fmt: skip
"""The columns of `Run.table`."""


class Run(LayerTotals):
    """An existing run and its results."""

    def __init__(self, store: LayerRun):
        self.store = store

    def __reduce__(self) -> tuple[Any, ...]:
        return Run, (self.store,)  # without the oracle, whose layers are open

    @property
    def path(self) -> Path | str:
        """The run directory, or the URL of a run in a bucket."""
        return self.store.path

    def trust(self) -> None:
        """Allow this process to run the moves of a puzzle of the kind `program`, whose text the run
        has stored. It is code: trust its author."""
        trust(digest_of(self.store.identity["puzzle"].get("text", "")))

    @property
    def complete(self) -> bool:
        """True if all layers are known."""
        return self.store.complete

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The results of the run, as ``summary.json`` holds them."""
        return summary(self.store)

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        sizes = f"{counted(len(self.counts), 'layer')}, {counted(self.states, 'state')}"
        return f"<Run {self.store.path}: {state}, {sizes}>"

    def _repr_html_(self) -> str:
        facts = progress_of(self.store).figures(time.time())
        facts |= {"layers": repr(self.layers).strip("<>"), "directory": str(self.path)}
        if self.puzzle.start is not None:
            distance = self.start_distance
            facts["distance of the start"] = (
                "not reached yet" if distance is None else str(distance)
            )
        name = named(self.store.identity["name"], self.puzzle.title)
        return run_html(name, facts, self.counts)

    @cached_property
    def layers(self) -> Layers:  # type: ignore[override]  # made on first use
        """The known layers by depth: the size of each, and the positions of each layer kept."""
        return Layers(self.store)

    @property
    def start_distance(self) -> int | None:
        """The distance of the config's `puzzle.start`; None if the config has no start, or if the
        run has not reached it yet."""
        return self.store.start_depth

    @property
    def puzzle(self) -> Puzzle:
        return self.store.puzzle

    @cached_property
    def oracle(self) -> Oracle:
        """Distances and solutions; raises InputError if the run did not keep its layers."""
        return Oracle(self.store)

    def table(self) -> "pandas.DataFrame | np.ndarray":
        """Return the layers as a table: a DataFrame if pandas is installed, otherwise an array of
        records. Its columns are depth, states, states_so_far, seconds and bytes_written."""
        so_far = accumulate(self.counts)
        rows = [
            (of.depth, of.states, total, of.seconds, of.bytes)
            for of, total in zip(self.store.records, so_far, strict=True)
        ]
        table = np.array(rows, dtype=TABLE)
        try:
            from pandas import DataFrame
        except ImportError:
            return table
        return DataFrame(table)

    def heuristic(self) -> Heuristic:
        """Return a compiled function that looks up the distance of a board in microseconds: a
        heuristic for your own search.

        It holds the distances of all positions in memory. Raises InputError if they do not fit, if
        the run is not complete or did not keep its layers (`search.keep = "all"`), or if its puzzle
        is neither a tile puzzle nor a pattern of one.
        """
        return Heuristic(Distances.of_run(complete(self.store)))

    def farthest(self, limit: int = 100, among: Sequence[Any] = ()) -> list[Board]:
        """Return positions of the last layer.

        Parameters
        ----------
        limit
            The most positions to return.
        among
            Parts of boards, with ? for cells that do not matter. The result is then the farthest of
            the positions that agree with one of them.

        Returns
        -------
        list of Board
            The codes of the positions, in the order of their state numbers.

        Raises
        ------
        InputError
            If the run is not complete; with `among`, if it did not keep its layers (`search.keep =
            "all"`), or if no position agrees.
        """
        if among:
            return farthest_among(self.store, among, limit).boards
        return farthest(self.store, limit).boards

    @overload
    def distance(self, boards: str | Mapping[str, Any] | tuple[int, ...] | list[int]) -> int: ...

    @overload
    def distance(self, boards: list[str] | Sequence[Sequence[int]]) -> NDArray[np.int32]: ...

    @overload
    def distance(self, boards: ArrayLike | Sequence[Any]) -> Any: ...  # depends on the shape

    def distance(
        self, boards: str | Mapping[str, Any] | ArrayLike | Sequence[Any]
    ) -> int | NDArray[np.int32]:
        """Return the distance of one board or of several boards from the goal.

        Parameters
        ----------
        boards
            One board, as `solve` takes it, or several: a list of such boards, int[N, cells], or
            int[N, rows, columns].

        Returns
        -------
        int or int32[N]
            The number of moves; -1 if the goal cannot be reached, or if the distance is greater
            than the depth of the last known layer.

        Raises
        ------
        InputError
            If the run did not keep its layers (`search.keep = "all"`), or if a value is not a
            board.
        """
        array, single = boards_of(self.puzzle, boards)
        distances = self.oracle.distance(array)
        return int(distances[0]) if single else distances

    def export(self, target: Place) -> "zarr.Array[Any] | np.ndarray | Path":
        """Write the distances of all positions.

        Parameters
        ----------
        target
            A new place. If its name ends in ".csv" or ".parquet", the result is a table with a row
            for each position: state number, distance, position. If it ends in ".npy", the result is
            a NumPy file, otherwise a Zarr array.

        Returns
        -------
        zarr.Array, numpy.ndarray or Path
            The array written, whose indices `frontier.answers.distances` explains; or the path of
            the table.

        Raises
        ------
        InputError
            If the run is not complete or did not keep its layers, if the place exists, or if a
            ".parquet" file is to be written and pyarrow is not installed.
        """
        return export(self.store, target)

    def solve(self, board: ArrayLike | str | Mapping[str, Any] | None = None) -> "Solved":
        """Return a shortest solution of a board.

        Parameters
        ----------
        board
            A board in any form that `Run.board` takes; by default the config's start.

        Returns
        -------
        Solved
            The boards and moves of the solution.

        Raises
        ------
        InputError
            If the run did not keep its layers (`search.keep = "all"`), if the goal cannot be
            reached, or if there is neither a board nor a start.
        """
        solution = self.oracle.solve(board_or_start(self.puzzle, board))
        return Solved(solution.boards, solution.moves, self.puzzle, "layers")

    def count_solutions(self, board: ArrayLike | str | Mapping[str, Any] | None = None) -> int:
        """Return the exact number of shortest solutions of a board. The argument and the errors are
        those of `solve`."""
        return self.oracle.count(board_or_start(self.puzzle, board))

    def show(self, *boards: ArrayLike | str | Mapping[str, Any]) -> "Drawings":
        """Return drawings of boards in any form that `Run.board` takes. `print` shows them as text;
        a notebook shows them in colour."""
        return Drawings(self.puzzle, [self.board(board) for board in boards])

    def board(self, board: ArrayLike | str | Mapping[str, Any]) -> Board:
        """Return the codes of a board of the run's puzzle. The codes of tiles are their numbers.

        Parameters
        ----------
        board
            Its codes, as an array of numbers or a flat list or tuple of whole numbers; or its
            notation, as in a config; or, if moves have names, a sequence of moves from the goal.

        Raises
        ------
        InputError
            If it is not a board of this puzzle.
        """
        return board_of(self.puzzle, board)


def run(
    what: Plan | Config | Place,
    until: int | None = None,
    listeners: Sequence[Listener] = (),
    take_over: bool = False,
    *,
    fresh: bool = False,
    progress: bool | None = None,
    client: "Client | None" = None,
) -> Run:
    """Start or resume a run and return it when it is done.

    Parameters
    ----------
    what
        A plan; or a config, or the path of a config or of a run directory, which `run` plans first.
    until
        The last depth to compute, by default `search.until` of the config.
    listeners
        Functions to call with each event.
    take_over
        True if a process on another host that was writing the run is known to be gone.
    fresh
        True to delete an existing run first.
    progress
        True to show the progress, False not to; by default terminals and notebooks show it.
    client
        A `distributed.Client` whose workers do the tasks; by default, if the config names no kind
        of cluster, Dask's current client.

    Returns
    -------
    Run
        The run, up to the requested depth.

    Raises
    ------
    InputError
        If the run cannot be done, or if the directory holds a run of another config.
    Stopped
        If the user or a system error stopped the run, which can be resumed.
    CorruptRunError
        If the files of the run are damaged.
    """
    store, _ = start(
        what, until, listeners, take_over, fresh=fresh, progress=progress, client=client
    )
    return Run(store)


def open_run(path: Place) -> Run:
    """Open an existing run.

    Parameters
    ----------
    path
        The directory of the run, or its config.

    Raises
    ------
    InputError
        If there is no run, or if a config names several runs.
    CorruptRunError
        If the files of the run are damaged.
    """
    return Run(layers_of(resolve(path).open_one()))
