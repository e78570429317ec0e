"""One iteration of IDA* with additive pattern databases and inversions.

`within` decides whether a position needs at most `limit` moves (R. E. Korf, Depth-First
Iterative-Deepening, Artificial Intelligence 27, 1985). It tries the more promising moves first, and
skips a board that it has already met at the same or a smaller depth (see `frontier.solving.paths`).
"""

from collections import namedtuple

import numpy as np

from frontier.jit import kernel
from frontier.solving.additive import AdditiveTables
from frontier.solving.group_states import distance_after, distance_of, moved, state_of
from frontier.solving.inversions import inversions_of, jumped, moved_away, order_bound
from frontier.solving.paths import BLANK, FIRST_MIX, MOST_MOVES, is_new, nothing_met, take_best
from frontier.space.words import lowest_bit

MET_BITS = 18
"""The table of boards met has 2**18 entries."""

Path = namedtuple(
    "Path",
    "met salt board state saved after rest rest_after order order_after blank untried least taken "
    "sum nodes stop",
)
"""The memory of one thread: the present position, and the path from the start, by depth.

salt: int64[1], how often the memory was used. board: int8[cells], the home of the tile in each
cell, `BLANK` for the blank. state: int64[V, 4], the mask, the rank and the order of each view, and
its distance. saved: int64[depths, S, 4], the state of the moved view of each image before the move.
after: int64[depths, K, S, 4], the state after each move. rest, rest_after: int64[depths, S] and
[depths, K, S], the sum of the distances in each image, also after each move. order, order_after:
int64[depths, 2] and [depths, K, 2], the inversions, and how far tiles are from their places in a
line (`frontier.solving.inversions`). least: int64[depths, K], the greatest bound after each move.
nodes: int64[1], the nodes that the present call has visited, for other threads to read.
"""


def path_for(tables: AdditiveTables, stop: np.ndarray, bits: int = MET_BITS) -> Path:
    """Return memory for one thread. stop: see `Path`."""
    sides, (views, cells, moves) = len(tables.sides), tables.turn.shape
    depths = MOST_MOVES + 2
    blank, taken = np.zeros((2, depths), dtype=np.int64)
    untried, sums = np.zeros((2, depths), dtype=np.uint64)
    return Path(
        nothing_met(bits), np.zeros(1, np.int64), np.zeros(cells, np.int8),
        np.zeros((views, 4), np.int64), np.zeros((depths, sides, 4), np.int64),
        np.zeros((depths, moves, sides, 4), np.int64), np.zeros((depths, sides), np.int64),
        np.zeros((depths, moves, sides), np.int64), np.zeros((depths, 2), np.int64),
        np.zeros((depths, moves, 2), np.int64), blank, untried,
        np.zeros((depths, moves), np.int64), taken, sums, np.zeros(1, np.int64), stop,
    )  # fmt: skip


@kernel
def set_out(board, tables, path):
    """Put a position at the start of the path, and return a lower bound on its distance."""
    for cell in range(board.size):
        path.board[cell] = board[cell]
        if board[cell] == BLANK:
            path.blank[0] = cell
    path.order[0, 0], path.order[0, 1] = inversions_of(board, tables.lines.side)
    least = 0
    views = path.state.shape[0] // len(tables.sides)
    for side in range(len(tables.sides)):
        path.rest[0, side] = 0
        for view in range(side * views, side * views + views):
            blank = path.blank[0]
            mask, rank, order = state_of(view, board, blank, tables)
            seen = tables.cell[view, blank]
            distance = distance_of(view, mask, rank, order, seen, tables)
            state = path.state[view]
            state[0], state[1], state[2], state[3] = np.int64(mask), rank, order, distance
            path.rest[0, side] += distance
        least = max(least, path.rest[0, side])
    if tables.lines.side == 2:
        least = max(
            least, order_bound(path.order[0, 0], path.order[0, 1], path.blank[0], tables.lines)
        )
    return least


@kernel
def _look_ahead(depth, room, tables, path):
    """Find the moves after which the bound is at most `room`, and the bounds after each."""
    blank, untried, kept = path.blank[depth], path.untried[depth], np.uint64(0)
    while untried:
        k = lowest_bit(untried)
        untried &= untried - np.uint64(1)
        target, least = tables.moves.target[blank, k], 0
        tile = path.board[target]
        if tables.lines.side == 2:  # on wider boards the sums of distances are greater
            order = path.order_after[depth, k]
            order[0] = path.order[depth, 0] + jumped(path.board, blank, target)
            order[1] = path.order[depth, 1] + moved_away(tile, blank, target, 2)
            least = order_bound(order[0], order[1], target, tables.lines)
            if least > room:
                continue
        for side in range(len(tables.sides)):
            view = tables.group[side, tile]
            state, after = path.state[view], path.after[depth, k, side]
            mask, rank, order_there, number = moved(
                tables.table[view], tables.turn[view, blank, k], np.uint64(state[0]), state[1],
                state[2], tables,
            )  # fmt: skip
            distance = distance_after(state[3], number, tables)
            bound = path.rest[depth, side] + distance - state[3]
            least = max(least, bound)
            if bound > room:
                break
            after[0], after[1], after[2], after[3] = np.int64(mask), rank, order_there, distance
            path.rest_after[depth, k, side] = bound
        if least <= room:
            path.least[depth, k] = least
            kept |= np.uint64(1) << np.uint64(k)
    path.untried[depth] = kept


@kernel
def _move_on(depth, k, tile, tables, path):
    """Update the moved view of each image."""
    for side in range(len(tables.sides)):
        state, saved = path.state[tables.group[side, tile]], path.saved[depth, side]
        after = path.after[depth, k, side]
        for n in range(4):
            saved[n], state[n] = state[n], after[n]
        path.rest[depth + 1, side] = path.rest_after[depth, k, side]
    for n in range(2):
        path.order[depth + 1, n] = path.order_after[depth, k, n]


@kernel
def _move_back(depth, tables, path):
    """Take back the move from `depth` - 1 to `depth`."""
    blank, before = path.blank[depth], path.blank[depth - 1]
    tile = path.board[before]
    path.board[blank], path.board[before] = tile, BLANK
    for side in range(len(tables.sides)):
        state, saved = path.state[tables.group[side, tile]], path.saved[depth - 1, side]
        for n in range(4):
            state[n] = saved[n]


@kernel
def within(board, untried, first, limit, most, every, tables, path):
    """Return how many solutions of at most `limit` moves were found, and the nodes visited, which
    are `most` or more if the search ended undecided or was stopped.

    untried: the bits of the moves that may come first. first: the depth of the position in a search
    of which this is a part, for the table of boards met. The caller changes `path.salt` before a
    new search. every: True
    to count all solutions, with `limit` the distance; otherwise the first one ends the search.
    """
    nodes, found, path.nodes[0] = 0, 0, 0
    seed, least = np.uint64(path.salt[0]) * FIRST_MIX, set_out(board, tables, path)
    path.taken[-1] = 0
    if least == 0 or least > limit:
        return np.int64(least == 0), nodes
    path.sum[0] = np.uint64(0)
    for cell in range(board.size):
        if board[cell] != BLANK:
            path.sum[0] ^= tables.words[board[cell], cell]
    depth = 0
    path.untried[0] = untried
    _look_ahead(0, limit - 1, tables, path)
    while depth >= 0:
        blank = path.blank[depth]
        if path.untried[depth] == 0:
            if depth:
                _move_back(depth, tables, path)
            depth -= 1
            continue
        k = take_best(depth, path)
        target = tables.moves.target[blank, k]
        if path.least[depth, k] == 0:
            path.taken[-1], path.blank[depth + 1] = depth + 1, target
            found += 1
            if every:
                continue
            return found, nodes
        if nodes >= most or path.stop[0]:
            return found, max(nodes, most)
        nodes += 1
        path.nodes[0] = nodes
        tile = path.board[target]
        total = path.sum[depth] ^ tables.words[tile, blank] ^ tables.words[tile, target]
        if not every and not is_new(total ^ seed, first + depth + 1, path.met):
            continue
        path.board[blank], path.board[target] = tile, BLANK
        _move_on(depth, k, tile, tables, path)
        depth += 1
        path.blank[depth], path.sum[depth] = target, total
        path.untried[depth] = tables.moves.then[blank, k]
        _look_ahead(depth, limit - depth - 1, tables, path)
    return found, nodes
