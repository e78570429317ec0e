"""The positions of a run's last layer."""

from typing import NamedTuple

from frontier.config_values import check_whole
from frontier.errors import InputError
from frontier.puzzles import Board
from frontier.runs.layer_run import LayerRun
from frontier.runs.reader import RunReader


class Farthest(NamedTuple):
    """The greatest depth, the number of positions there, and some of them."""

    depth: int
    count: int
    boards: list[Board]


def farthest(run: LayerRun, limit: int) -> Farthest:
    """Return the positions of a complete run's last layer, up to `limit` of them as boards.

    They come in the order of their state numbers. Raises InputError if the run is not
    complete.
    """
    check_whole("limit", limit, 0)
    depth, puzzle = max(0, len(run.records) - 1), run.puzzle
    if not run.complete:
        raise InputError(
            f"{run.path} is not complete: its layers are known to depth {depth}, and the farthest "
            "positions lie in the last one; run it to the end first"
        )
    numbers = RunReader(run).layer(depth).numbers()
    space = puzzle.model.space
    states = space.states_of(space.side_of(depth), numbers[:limit])
    boards = puzzle.model.boards_of(*states).tolist()
    return Farthest(depth, run.records[-1].states, list(map(tuple, boards)))
