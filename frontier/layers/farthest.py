"""The farthest positions of a run, or the farthest positions that agree with a part of a board."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frontier.errors import InputError
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.puzzles import Board
from frontier.values import check_whole


class Farthest(NamedTuple):
    """The greatest depth, the number of positions there, and some of them."""

    depth: int
    count: int  # type: ignore[assignment]  # hides the method of tuples
    boards: list[Board]


def farthest(run: LayerRun, limit: int) -> Farthest:
    """Return the positions of a complete run's last layer, up to `limit` of them as boards.

    The boards are in the order of their state numbers. Raises InputError if the run is not
    complete.
    """
    check_whole("limit", limit, 0)
    depth, puzzle = _last_depth(run), run.puzzle
    numbers = RunReader(run).layer(depth).numbers()
    space = puzzle.model.space
    states = space.states_of(space.side_of(depth), numbers[:limit])
    boards = puzzle.model.boards_of(*states).tolist()
    return Farthest(depth, run.records[-1].states, list(map(tuple, boards)))


def farthest_among(run: LayerRun, parts: Sequence, limit: int) -> Farthest:
    """Return the farthest of the positions that agree with one of some parts of boards.

    If the goal ends a phase of a solving method, and a part begins that phase, the depth is the
    greatest number of moves that the phase can take.

    parts: boards as `Notation.agreeing` reads them. Layers are read from the last one down, until
    one has such a position. Raises InputError if the run is not complete, if it did not keep a
    layer that must be read, or if no position agrees.
    """
    check_whole("limit", limit, 0)
    puzzle, reader = run.puzzle, RunReader(run)
    wanted = [puzzle.notation.agreeing(part) for part in parts]
    space, model = puzzle.model.space, puzzle.model
    for depth in range(_last_depth(run), -1, -1):
        if not run.records[depth].stored:
            raise InputError(
                f"{run.path} did not keep layer {depth}, and no position of a deeper layer agrees; "
                'run its config with search.keep = "all" and another store.path, and '
                "repeat the command for that run"
            )
        count = 0
        found: list[list[int]] = []
        for numbers in reader.layer(depth).numbers_by_slab():
            boards = model.boards_of(*space.states_of(space.side_of(depth), numbers))
            agrees = np.zeros(len(boards), dtype=bool)
            for cells in wanted:
                agrees |= np.logical_and.reduce(
                    [np.isin(boards[:, cell], codes) for cell, codes in cells.items()]
                )
            count += int(np.count_nonzero(agrees))
            found += boards[agrees][: limit - len(found)].tolist()
        if count:
            return Farthest(depth, count, list(map(tuple, found)))
    texts = " or ".join(map(str, parts))
    raise InputError(f"no position of {run.path} agrees with {texts}")


def _last_depth(run: LayerRun) -> int:
    depth = max(0, len(run.records) - 1)
    if not run.complete:
        raise InputError(
            f"{run.path} is not complete: its layers are known to depth {depth}, and the farthest "
            "positions are in the last one; resume it until it is complete"
        )
    return depth
