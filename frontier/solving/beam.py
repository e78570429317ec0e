"""Beam search for a solution of one position: breadth first, with few positions at each depth.

At each depth it keeps the `width` positions that seem nearest to the goal. So the search is fast,
but may miss all solutions (B. T. Lowerre, The Harpy Speech Recognition System, 1976). It can show
that a number of moves suffices for a position, but never that it does not.

Two numbers estimate how near a position is: the sum of its distances in the groups of tiles
(`frontier.solving.additive`), which is a lower bound, and the number of inversions
(`frontier.solving.inversions`). The bound shows how tiles of one group are in each other's way;
inversions show the same for tiles of different groups. A move across lines of s cells changes the
inversions by at most s - 1. The score of a position is (s - 1) * bound + `INVERSION_WEIGHT` *
inversions; the search keeps the positions with the least scores.

A measurement on 2×10, whose hardest positions take more than 210 moves, used 20 positions that
3·10⁶ look-ups in their coset did not settle for 219 moves. A beam of 300 settles 14 of them in
0.03 s each, and a beam of 3,000 settles all. Without inversions a beam of 30,000 settles one of
eight positions, and without the bound a beam of 100,000 settles two of eight.
"""

from collections import namedtuple

import numpy as np

from frontier.jit import kernel
from frontier.solving.additive import AdditiveTables
from frontier.solving.group_states import distance_after, distance_of, moved, state_of
from frontier.solving.inversions import inversions_of, jumped, moved_away, order_bound
from frontier.solving.paths import BLANK, FIRST_MIX, MOST_MOVES, is_new, nothing_met
from frontier.space.words import lowest_bit

INVERSION_WEIGHT = 3
"""The weight of an inversion; the bound has the weight s - 1. Of the weights 1, 2, 3 and 5, this is
the best on 2×10."""

SCORES = 1 << 12
"""The number of different scores; a greater score counts as the greatest of them."""

MOST_MOVES_ON = 3
"""The most moves from a position, not counting the move back."""

Beam = namedtuple(
    "Beam",
    "board state rest inversions away blank untried sum parent taken bound turned aside total "
    "score counts trace blanks met salt stop",
)
"""The memory of one thread for beams up to a greatest width.

For the current layer and the next, [2, width]. board: int8[.., cells], the home of the tile in each
cell, `BLANK` for the blank. state: int64[.., G, 4], as in `frontier.solving.deepening.Path`. rest:
int64, the sum of the distances. inversions, away: int64, see `frontier.solving.inversions`. blank:
int64, the cell of the blank. untried: uint64, the moves that may follow. sum: uint64, the sum of
the board (`frontier.solving.paths`).

For the moves from the current layer, [width * moves]. parent: int64, the position before the move.
taken: int64, the number of the move. bound, turned, aside, total, score: rest, inversions, away,
sum and score after it.
counts: int64[SCORES], the number of moves with each score. trace: int64[depths, width], the
position before each position, times the number of cells, plus the blank's cell there; without rows
if no solution is wanted. blanks: int64[depths], the cells that the blank visits in the solution.
"""


def beam_for(tables: AdditiveTables, width: int, stop: np.ndarray, trace: bool = False) -> Beam:
    """Return memory for one thread and for beams of at most `width` positions. stop: see
    `frontier.solving.deepening.Path`. trace: True if solutions are wanted."""
    views, cells, _ = tables.turn.shape
    groups = views // len(tables.sides)
    rest, inversions, away, blank = np.zeros((4, 2, width), dtype=np.int64)
    untried, sums = np.zeros((2, 2, width), dtype=np.uint64)
    moves = MOST_MOVES_ON * width + 1
    parent, taken, bound, turned, aside, score = np.zeros((6, moves), dtype=np.int64)
    bits, depths = max(12, (8 * width).bit_length()), MOST_MOVES + 2
    return Beam(
        np.zeros((2, width, cells), dtype=np.int8), np.zeros((2, width, groups, 4), np.int64),
        rest, inversions, away, blank, untried, sums, parent, taken, bound, turned, aside,
        np.zeros(moves, dtype=np.uint64), score, np.zeros(SCORES, dtype=np.int64),
        np.zeros((depths if trace else 0, width), dtype=np.int64), np.zeros(depths, np.int64),
        nothing_met(bits), np.zeros(1, dtype=np.int64), stop,
    )  # fmt: skip


@kernel
def _list_moves(now, count, depth, room, tables, beam):
    """List the moves from the current layer that lead to new boards with a bound of at most `room`;
    return their number and the least bound."""
    listed, least, lines = 0, room + 1, tables.lines
    seed = np.uint64(beam.salt[0]) * FIRST_MIX
    for i in range(count):
        blank, untried = beam.blank[now, i], beam.untried[now, i]
        while untried:
            k = lowest_bit(untried)
            untried &= untried - np.uint64(1)
            target = tables.moves.target[blank, k]
            tile = beam.board[now, i, target]
            view = tables.group[0, tile]
            state = beam.state[now, i, view]
            after = moved(
                tables.table[view], tables.turn[view, blank, k], np.uint64(state[0]), state[1],
                state[2], tables,
            )  # fmt: skip
            bound = beam.rest[now, i] + distance_after(state[3], after[3], tables) - state[3]
            turned = beam.inversions[now, i] + jumped(beam.board[now, i], blank, target)
            aside = beam.away[now, i] + moved_away(tile, blank, target, lines.side)
            if max(bound, order_bound(turned, aside, target, lines)) > room:
                continue
            total = beam.sum[now, i] ^ tables.words[tile, blank] ^ tables.words[tile, target]
            if not is_new(total ^ seed, depth, beam.met):
                continue
            score = (lines.side - 1) * bound + INVERSION_WEIGHT * turned
            score = min(score, beam.counts.size - 1)
            beam.parent[listed], beam.taken[listed] = i, k
            beam.bound[listed], beam.turned[listed], beam.aside[listed] = bound, turned, aside
            beam.total[listed], beam.score[listed] = total, score
            beam.counts[score] += 1
            listed += 1
            least = min(least, bound)
    return listed, least


@kernel
def _make(now, at, listed, depth, tables, beam):
    """Make position `at` of the next layer, at `depth`, with a listed move."""
    i, k, after = beam.parent[listed], beam.taken[listed], 1 - now
    blank = beam.blank[now, i]
    target = tables.moves.target[blank, k]
    for cell in range(beam.board.shape[2]):
        beam.board[after, at, cell] = beam.board[now, i, cell]
    tile = beam.board[now, i, target]
    beam.board[after, at, blank], beam.board[after, at, target] = tile, BLANK
    view = tables.group[0, tile]
    for g in range(beam.state.shape[2]):
        state, kept = beam.state[now, i, g], beam.state[after, at, g]
        for n in range(4):
            kept[n] = state[n]
        if g == view:
            turn = tables.turn[view, blank, k]
            mask, kept[1], kept[2], _ = moved(
                tables.table[view], turn, np.uint64(state[0]), state[1], state[2], tables
            )
            kept[0] = np.int64(mask)
            kept[3] += beam.bound[listed] - beam.rest[now, i]
    beam.rest[after, at] = beam.bound[listed]
    beam.inversions[after, at], beam.away[after, at] = beam.turned[listed], beam.aside[listed]
    beam.blank[after, at], beam.untried[after, at] = target, tables.moves.then[blank, k]
    beam.sum[after, at] = beam.total[listed]
    if beam.trace.shape[0]:
        beam.trace[depth, at] = i * beam.board.shape[2] + blank


@kernel
def _keep_nearest(now, listed, width, depth, tables, beam):
    """Make the next layer with the moves that have the least scores; return their number."""
    kept, most = 0, 0
    while most < beam.counts.size - 1 and kept + beam.counts[most] <= width:
        kept += beam.counts[most]
        most += 1
    of_most, at = width - kept, 0  # the number of moves to keep with the score `most`
    for n in range(listed):
        if beam.score[n] == most:
            of_most -= 1
        if beam.score[n] < most or (beam.score[n] == most and of_most >= 0):
            _make(now, at, n, depth, tables, beam)
            at += 1
    return at


@kernel
def _trace_back(now, count, depth, beam):
    """Write the solution that leads to the goal, which is one of the `count` positions at a
    depth."""
    at = 0
    while beam.rest[now, at] != 0:
        at += 1
    blank = beam.blank[now, at]
    for d in range(depth, 0, -1):
        beam.blanks[d] = blank
        at, blank = divmod(beam.trace[d, at], beam.board.shape[2])


@kernel
def beam_within(board, limit, width, tables, beam):
    """Return the length of a solution of at most `limit` moves, -1 if the search found none, and
    the nodes visited. With a trace, the blank visits the cells `beam.blanks[1:]` in this order.

    board: int8[cells], the home of the tile in each cell, `BLANK` for the blank. width: the width
    of the beam, at most that of the memory.
    """
    beam.salt[0] += 1
    beam.sum[0, 0], beam.rest[0, 0] = 0, 0
    for cell in range(board.size):
        beam.board[0, 0, cell] = board[cell]
        if board[cell] == BLANK:
            beam.blank[0, 0] = cell
    blank = beam.blank[0, 0]
    beam.inversions[0, 0], beam.away[0, 0] = inversions_of(board, tables.lines.side)
    for view in range(beam.state.shape[2]):
        mask, rank, order = state_of(view, board, blank, tables)
        distance = distance_of(view, mask, rank, order, tables.cell[view, blank], tables)
        state = beam.state[0, 0, view]
        state[0], state[1], state[2], state[3] = np.int64(mask), rank, order, distance
        beam.rest[0, 0] += distance
    beam.untried[0, 0] = tables.moves.all[blank]
    now, count, nodes, least, depth = 0, 1, 0, beam.rest[0, 0], 0
    while least > 0 and depth < limit and count and not beam.stop[0]:
        depth += 1
        for score in range(beam.counts.size):
            beam.counts[score] = 0
        listed, least = _list_moves(now, count, depth, limit - depth, tables, beam)
        nodes += count
        count = _keep_nearest(now, listed, width, depth, tables, beam)
        now = 1 - now
    if least > 0 or (depth and count == 0):
        return -1, nodes
    if beam.trace.shape[0]:
        _trace_back(now, count, depth, beam)
    return depth, nodes
