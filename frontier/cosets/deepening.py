"""Single positions, with one iteration of IDA*, additive pattern databases and inversions.

`within` decides whether a position needs at most `limit` moves (R. E. Korf, Depth-First
Iterative-Deepening, Artificial Intelligence 27, 1985). It tries the more promising moves first, and
skips a board that it has already met at the same or a smaller depth (see `frontier.cosets.kernel`).
"""

from collections import namedtuple

import numpy as np

from frontier.cosets.groups import distance_of, residue_of
from frontier.cosets.inversions import inversions_of, jumped, moved_away, order_bound
from frontier.cosets.kernel import (
    BLANK,
    FIRST_MIX,
    MOST_MOVES,
    is_new,
    nothing_met,
    state_after,
    take_best,
)
from frontier.cosets.single import MET_BITS
from frontier.jit import kernel
from frontier.kernels.distances import distance_change
from frontier.space.words import lowest_bit

AdditiveTables = namedtuple(
    "AdditiveTables",
    "residue first odd region move image arcs sides group image_move moves lines words",
)
"""The tables of G groups, and of S images of a board, as the kernels read them.

The first image is the board itself; the others are its mirror images.

residue: uint64, the residues of all groups (see `residue_table`). first: int64[1, regions], the
number of the first bit in `residue` of each region of all groups (see
`frontier.puzzles.pattern_graph`). odd: int64[1, regions], whether the distances of a region are
odd. region: int64, the region of each vertex of all groups. move: int64, as in `PatternTable`.
image: unsigned[voltages, numbers]. arcs: int64[regions, ..], the moves of tiles of the group
between regions, in the form of `move`. sides: the numbers of the images, a tuple, because kernels
are compiled for its length; on boards with one image a node then takes 160 ns, and with an array
270 ns. group: int64[S, cells], the group in each image of the tile with each home, -1 for the
blank. image_move: int64[S, cells, K], the number of each move of the board in each image. moves:
the moves of the blank. lines: the lines of the board, see `frontier.cosets.inversions`. words: see
`frontier.cosets.kernel.Scratch`.
"""

Path = namedtuple(
    "Path",
    "met salt board vertex number distance rest order blank untried after order_after least taken "
    "sum stop",
)
"""The memory of one thread: the path from the start, by depth.

salt: int64[1], how often the memory was used. board: int8[cells], the home of the tile in each
cell, `BLANK` for the blank. vertex, number, distance: int64[depths, S, G], the state and its
distance modulo 4. rest: int64[depths, S], the sum of the distances. order: int64[depths, 2], the
inversions, and how far tiles are from their places in a line (`frontier.cosets.inversions`). after,
order_after: int64[depths, K, S] and [depths, K, 2], rest and order after each move. least:
int64[depths, K], the greatest bound after each move.
"""


def path_for(tables: AdditiveTables, stop: np.ndarray) -> Path:
    """Return memory for one thread."""
    (sides, cells, moves), groups, depths = (
        tables.image_move.shape,
        tables.group.max() + 1,
        MOST_MOVES + 2,
    )
    vertex, number, distance = np.zeros((3, depths, sides, groups), dtype=np.int64)
    blank, taken = np.zeros((2, depths), dtype=np.int64)
    untried, sums = np.zeros((2, depths), dtype=np.uint64)
    after, order_after = (
        np.zeros((depths, moves, values), dtype=np.int64) for values in (sides, 2)
    )
    return Path(
        nothing_met(MET_BITS), np.zeros(1, np.int64), np.zeros(cells, np.int8), vertex, number,
        distance, np.zeros((depths, sides), np.int64), np.zeros((depths, 2), np.int64), blank,
        untried, after, order_after, np.zeros((depths, moves), np.int64), taken, sums, stop,
    )  # fmt: skip


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
            g = tables.group[side, tile]
            vertex, number = path.vertex[depth, side, g], path.number[depth, side, g]
            to, image = state_after(vertex, number, tables.image_move[side, blank, k], tables)
            residue = residue_of(0, tables.region[to], image, tables)
            before = path.distance[depth, side, g]
            bound = path.rest[depth, side] + distance_change(before, residue)
            path.after[depth, k, side] = bound
            least = max(least, bound)
            if bound > room:
                break
        if least <= room:
            path.least[depth, k] = least
            kept |= np.uint64(1) << np.uint64(k)
    path.untried[depth] = kept


@kernel
def _move_on(depth, k, tile, tables, path):
    """Update the states of the groups of all images, and in each image the distance of the moved
    tile's group."""
    blank = path.blank[depth]
    for side in range(len(tables.sides)):
        move, moved = tables.image_move[side, blank, k], tables.group[side, tile]
        for g in range(path.vertex.shape[2]):
            path.vertex[depth + 1, side, g], path.number[depth + 1, side, g] = state_after(
                path.vertex[depth, side, g], path.number[depth, side, g], move, tables
            )
            path.distance[depth + 1, side, g] = path.distance[depth, side, g]
        bound = path.after[depth, k, side]
        path.distance[depth + 1, side, moved] += bound - path.rest[depth, side]
        path.distance[depth + 1, side, moved] &= 3
        path.rest[depth + 1, side] = bound
    for n in range(2):
        path.order[depth + 1, n] = path.order_after[depth, k, n]


@kernel
def within(board, vertices, numbers, limit, most, tables, path):
    """Return whether a position needs at most `limit` moves, and the nodes visited, as
    `frontier.cosets.single.Solver` describes."""
    path.salt[0] += 1
    seed, nodes, least = np.uint64(path.salt[0]) * FIRST_MIX, 0, 0
    for cell in range(board.size):
        path.board[cell] = board[cell]
        if board[cell] == BLANK:
            path.blank[0] = cell
    path.order[0, 0], path.order[0, 1] = inversions_of(board, tables.lines.side)
    for side in range(vertices.shape[0]):
        path.rest[0, side] = 0
        for g in range(vertices.shape[1]):
            vertex, number = vertices[side, g], numbers[side, g]
            distance = distance_of(0, tables.region[vertex], number, tables.arcs, tables)
            path.vertex[0, side, g], path.number[0, side, g] = vertex, number
            path.distance[0, side, g] = distance & 3
            path.rest[0, side] += distance
        least = max(least, path.rest[0, side])
    path.taken[-1] = 0
    if least == 0 or least > limit:
        return least == 0, nodes
    depth = 0
    path.untried[0] = tables.moves.all[path.blank[0]]
    _look_ahead(0, limit - 1, tables, path)
    while depth >= 0:
        blank = path.blank[depth]
        if path.untried[depth] == 0:
            if depth:
                before = path.blank[depth - 1]
                path.board[blank], path.board[before] = path.board[before], BLANK
            depth -= 1
            continue
        k = take_best(depth, path)
        target = tables.moves.target[blank, k]
        if path.least[depth, k] == 0:
            path.taken[-1], path.blank[depth + 1] = depth + 1, target
            return True, nodes
        if nodes >= most or path.stop[0]:
            return False, max(nodes, most)
        nodes += 1
        tile = path.board[target]
        total = path.sum[depth] ^ tables.words[tile, blank] ^ tables.words[tile, target]
        if not is_new(total ^ seed, depth + 1, path.met):
            continue
        path.board[blank], path.board[target] = tile, BLANK
        _move_on(depth, k, tile, tables, path)
        depth += 1
        path.blank[depth], path.sum[depth] = target, total
        path.untried[depth] = tables.moves.then[blank, k]
        _look_ahead(depth, limit - depth - 1, tables, path)
    return False, nodes
