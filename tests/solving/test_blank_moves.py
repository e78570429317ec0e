"""The moves of the blank, against those of boards."""

from itertools import pairwise

import numpy as np
import pytest

from frontier.solving.blank_moves import moves_on
from tests.support.reference_cosets import Board
from tests.support.sweeps import swept

METRICS = ("step", "multi")


@pytest.mark.parametrize("metric", METRICS)
@swept(
    ("rows", "columns"),
    [(r, c) for r in range(2, 6) for c in range(2, 13) if r * c <= 25],
    few=[(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (5, 3), (2, 8)],
)
def test_moves(rows, columns, metric):
    """On a board with a thing of its own in every cell."""
    board, moves = Board(rows, columns, (0, 0), metric), moves_on(rows, columns, metric)
    number = {cell: n for n, cell in enumerate(board.reading)}
    for cell, n in number.items():
        things = [*range(1, cell + 1), 0, *range(cell + 1, rows * columns)]
        near = [there.index(0) for there in board.near(tuple(things))]
        kept = moves.target[n] >= 0
        assert sorted(moves.target[n][kept].tolist()) == sorted(number[to] for to in near)
        assert moves.all[n] == sum(1 << int(k) for k in np.flatnonzero(kept))
        for k in np.flatnonzero(kept):
            to, stride = int(moves.target[n, k]), int(moves.stride[n, k])
            line = list(range(n, to + stride, stride))  # the cells on the way, in reading order
            squares = [divmod(board.reading[at], columns) for at in line]
            steps = {(q[0] - p[0], q[1] - p[1]) for p, q in pairwise(squares)}
            assert len(steps) == 1  # along one line
            assert sum(map(abs, steps.pop())) == 1
            assert metric == "multi" or len(line) == 2
            may_follow = {
                int(moves.target[to, j])
                for j in range(moves.target.shape[1])
                if int(moves.then[n, k]) >> j & 1
            }
            expected = set(moves.target[to][moves.target[to] >= 0].tolist()) - {n}
            if metric == "multi":  # along the other line
                same = {divmod(board.reading[at], columns)[0] for at in (n, to)}
                axis = 0 if len(same) == 1 else 1
                at = divmod(board.reading[to], columns)[axis]
                expected = {t for t in expected if divmod(board.reading[t], columns)[axis] != at}
            assert may_follow == expected
