"""A lower bound of God's number of the 2×n puzzle, from its left and its right half.

Read the goal column by column, each from the top, the blank in its first cell. The first n tiles
are the left half, the other n - 1 the right one. The *moves of a half* are those of its tiles; let
a position's distance in a half be the least number of them in a sequence of moves that brings all
tiles of the half and the blank home, wherever the other tiles come. It is that of the pattern of
these tiles in the metric ``labelled`` (`frontier.puzzles.patterns`), and depends on the cells of
the tiles and of the blank alone.

**Theorem.** A position at distance a in the left half and b in the right one needs at least a + b
moves, and one more if a + b does not have the parity of the steps from the blank to its home.

Proof. A solution brings both halves and the blank home, so at least a of its moves are of the left
half and at least b of the right one, and no move is of both (R. E. Korf and A. Felner, Disjoint
Pattern Database Heuristics, Artificial Intelligence 134, 2002). Each move changes the parity of the
steps from the blank to its home, which are none in the goal.  ∎

**The greatest such sum** over all positions is found without looking at each of them. Fix the cells
of the left half's tiles and the blank's cell; the right half's tiles are in the other cells. How
the tiles of each half are arranged in their cells is independent of the other half, but for the
parity: a position can be reached if and only if the sign of its sequence, read as the goal is, has
the parity of the blank's column (W. W. Johnson and W. E. Story, 1879; a move within a row exchanges
two neighbours of the sequence, one within a column none). The sign of the sequence is the product
of those of both halves and of the way in which they are interleaved. So for each half it is enough
to know, for each shape (cells of the tiles, region of the blank) and sign, the greatest distance of
its positions. One search of its pattern tells these.

The bound is near God's number, where that is known: 6, 21, 34, 54, 77, 105, 136 for n = 2 ... 8,
where God's number is 6, 21, 36, 55, 80, 108, 140.
"""

from itertools import combinations

import numpy as np

from frontier import machine
from frontier.puzzles import Puzzle, pattern_puzzle
from frontier.space.memory import MemorySearch, memory_bytes, memory_layout


def halves_bound(columns: int) -> int | None:
    """The greatest lower bound of the theorem, n ≥ 2; None if there is too little memory for it."""
    in_order = [row * columns + column for column in range(columns) for row in (0, 1)][1:]
    halves = [
        pattern_puzzle(2, columns, labels=labels, metric="labelled")
        for labels in (in_order[:columns], in_order[columns:])
    ]
    greatest = []
    for half in halves:  # the larger one first: nothing is searched if that does not fit
        if (found := greatest_distances(half)) is None:
            return None
        greatest.append(found)
    return _greatest_sum(halves, greatest)


def greatest_distances(pattern: Puzzle) -> np.ndarray | None:
    """The greatest distance of the positions of each shape and sign, int16[vertices, 2], -1 where
    there is none; None if the search does not fit in memory."""
    space, threads = pattern.model.space, machine.cores()
    layout = memory_layout(space, threads)
    if memory_bytes(layout) > machine.memory():
        return None
    greatest = np.full((space.graph.vertices, 2), -1, dtype=np.int16)
    for depth, states in enumerate(MemorySearch(layout, threads).layers(pattern.model.origins())):
        side, nodes = space.side_of(depth), np.flatnonzero(states)
        greatest[space.vertex[side][nodes], space.sign[side][nodes]] = depth
    return greatest


def _greatest_sum(halves: list[Puzzle], greatest: list[np.ndarray]) -> int:
    """The bound, from the greatest distances of both halves; see the module's text."""
    cells = halves[0].cells
    left, right = (len(half.model.labelled) for half in halves)
    # Each row of `others` has the places that the same row of `places` leaves.
    places = np.array(list(combinations(range(cells - 1), left)))
    others = np.array(list(combinations(range(cells - 1), right)))[::-1]
    # The pairs of a tile of the right half and one of the left that stands behind it.
    interleaved = (places - np.arange(left)).sum(axis=1)
    bound = 0
    for blank in range(cells):
        column, row = divmod(blank, 2)
        of_left, of_right = (
            distances[half.model.base.vertices_of(at, np.full(len(at), blank))].astype(np.int64)
            for half, distances, at in zip(halves, greatest, (places, others), strict=True)
        )
        for sign in (0, 1):
            # The signs of both halves and of the way they are interleaved make the column's parity.
            other = (sign + interleaved + column) % 2
            a, b = of_left[:, sign], np.take_along_axis(of_right, other[:, None], axis=1)[:, 0]
            if not (there := (a >= 0) & (b >= 0)).any():
                continue
            moves = int((a + b)[there].max())
            bound = max(bound, moves + (moves + column + row) % 2)
    return bound
