"""The positions of the last layer: those that need most moves."""

from frontier.config_values import check_whole
from frontier.errors import InputError
from frontier.puzzles import Board
from frontier.search.workspace import Workspace
from frontier.store.run import RunStore


def farthest(run: RunStore, limit: int) -> tuple[int, list[Board]]:
    """(number of positions, up to `limit` of them as boards) of a complete run's last layer.

    They come in the order of their state numbers. InputError if the run is not complete.
    """
    check_whole("limit", limit, 0)
    if not run.complete:
        depth = run.records[-1].depth if run.records else 0
        raise InputError(
            f"{run.path} is not complete: its layers are known to depth {depth}, and the farthest "
            "positions lie in the last one; run it to the end first"
        )
    last = run.records[-1]
    work = Workspace(run)
    klass = work.space.class_of(last.depth)
    numbers = work.layer(last.depth).numbers()
    boards = work.puzzle.boards_of(*work.space.states_of(klass, numbers[:limit]))
    return last.states, list(map(tuple, boards.tolist()))
