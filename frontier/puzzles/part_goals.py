"""Goals that are parts of boards."""

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.pieces import OPEN, Board, Pieces

MOST_ORIGINS = 1_000_000

MOST_PARTS = 4 * MOST_ORIGINS
"""The most ways to lay some of the pieces, from which those that leave room for the others are
chosen."""


def boards_agreeing(pieces: Pieces, goal: Board, text: str) -> np.ndarray:
    """Return all boards, int[N, cells], that agree with a goal.

    text: the written goal. Raises InputError if there are no such boards, or too many.
    """
    in_order = np.array(goal)[pieces.reading]
    is_open = in_order == OPEN
    boards = np.where(is_open, 0, in_order).astype(np.int16)[None]
    for sort in sorted(pieces.sorts, key=lambda sort: -sort.footprint.size):
        covers = [list(cells) for cells in sort.footprint.placements if is_open[list(cells)].all()]
        last = np.full(len(boards), -1)
        for code in set(sort.codes).difference(goal):
            fits = np.array([(boards[:, cells] == 0).all(axis=1) for cells in covers], dtype=bool)
            fits = fits.reshape(len(covers), len(boards))
            if not sort.distinct:  # of like pieces, each lies after the one before
                fits &= last < np.arange(len(covers))[:, None]
            if np.count_nonzero(fits) > MOST_PARTS:
                raise _too_many(f"more than {MOST_PARTS:,} ways to lay some of the pieces", text)
            last, parent = np.nonzero(fits)
            boards = boards[parent]
            covered = np.array(covers, dtype=np.int64).reshape(-1, sort.footprint.size)[last]
            np.put_along_axis(boards, covered, code, axis=1)
    if not len(boards):
        raise InputError(f"no board agrees with the goal {text}")
    if len(boards) > MOST_ORIGINS:
        raise _too_many(f"{len(boards):,} boards", text)
    return np.take(boards, np.argsort(pieces.reading), axis=1)


def _too_many(what: str, text: str) -> InputError:
    return InputError(
        f"{what} agree with the goal {text}: at most {MOST_ORIGINS:,} positions can be at depth "
        "0; specify more cells of the goal"
    )
