"""Single positions by one iteration of IDA*, with additive pattern databases and inversions.

`within` decides whether a position takes at most so many moves (R. E. Korf, Depth-First
Iterative-Deepening, Artificial Intelligence 27, 1985). The more promising move is tried first, and
boards met before, as late or later, are left out (see `frontier.cosets.kernel`).
"""

from collections import namedtuple

import numpy as np

from frontier.cosets.inversions import inversions_of, jumped, moved_away, order_bound
from frontier.cosets.kernel import (
    BLANK,
    FIRST_MIX,
    VOLTAGE_BITS,
    VOLTAGES,
    is_new,
    most_promising,
    slide,
)
from frontier.jit import kernel
from frontier.kernels.distances import bit_at
from frontier.space.words import lowest_bit

Groups = namedtuple(
    "Groups", "residue odd row region move image sides group slot home start target voltage lines"
)
"""The tables of G groups, and of S images of a board, as the kernels read them.

The first image is the board itself, the others are its mirror images.

residue: uint64, for all groups what `residue_table` tells. odd: int64, for each region of all
groups (see `frontier.puzzles.pattern_graph`) whether its distances are odd; row: int64, the number
of its first bit in `residue`. region: int64, that of each vertex of all groups. move: int64, as in
`PatternTable`. image: unsigned[voltages, numbers]. sides: the numbers of the images, a tuple, as
kernels are compiled for its length: on boards of one image a node takes 160 ns, where it takes 270
ns if the length is that of an array. group: int64[S, cells], the group that the tile whose home is
each cell has in each image, -1 for the blank. slot: int64[S, cells, K], the number of each move of
the board in each image. home: int64[G], the regions of the goal. start, target, voltage: the moves
of tiles of the group between regions, by the region that they leave. lines: those of the board, see
`frontier.cosets.inversions`."""

SingleScratch = namedtuple(
    "SingleScratch",
    "words met salt board vertex number distance rest order blank slots after order_after least "
    "slot sum stop",
)
"""The memory of one thread: the path from the start, by depth, as in `Scratch`.

salt: int64[1], how often it was used. vertex, number, distance: int64[depths, S, G], the distance
modulo 4. rest: int64[depths, S], the sum of the distances. order: int64[depths, 2], the inversions,
and how far tiles are away from their places in a line (`frontier.cosets.inversions`). after,
order_after: int64[depths, K, S] and [depths, K, 2], both after each of the moves; least:
int64[depths, K], the greatest of the bounds then. board: int64[cells], the
home of the tile in each cell, -1 for the blank.
"""

MET_BITS = 18
"""The table of boards met has 2**18 entries."""


@kernel
def residue_of(region, number, tables):
    """Return the distance modulo 4 of a sequence at a region."""
    return 2 * bit_at(tables.residue, tables.row[region] + number) + tables.odd[region]


@kernel
def distance_of(group, region, number, tables):
    """Return the distance in a group, by walking to the goal."""
    moves, goal = 0, tables.home[group]
    residue = residue_of(region, number, tables)
    while region != goal or number:
        for arc in range(tables.start[region], tables.start[region + 1]):
            image = np.int64(tables.image[tables.voltage[arc], number])
            if residue_of(tables.target[arc], image, tables) == (residue - 1) & 3:
                region, number = tables.target[arc], image
                break
        residue = (residue - 1) & 3
        moves += 1
    return moves


@kernel
def _look_ahead(depth, room, moves, tables, scratch):
    """Find which moves leave a bound of at most `room`, and the bounds after each."""
    blank, slots, kept_slots = scratch.blank[depth], scratch.slots[depth], np.uint64(0)
    while slots:
        k = lowest_bit(slots)
        slots &= slots - np.uint64(1)
        target, least = moves.target[blank, k], 0
        tile = scratch.board[target]
        if tables.lines.side == 2:  # on wider boards it is less than the sums
            order = scratch.order_after[depth, k]
            order[0] = scratch.order[depth, 0] + jumped(scratch.board, blank, target)
            order[1] = scratch.order[depth, 1] + moved_away(tile, blank, target, 2)
            least = order_bound(order[0], order[1], target, tables.lines)
            if least > room:
                continue
        for side in range(len(tables.sides)):
            g = tables.group[side, tile]
            entry = tables.move[scratch.vertex[depth, side, g], tables.slot[side, blank, k]]
            image = np.int64(tables.image[entry & VOLTAGES, scratch.number[depth, side, g]])
            after = residue_of(tables.region[entry >> VOLTAGE_BITS], image, tables)
            bound = (
                scratch.rest[depth, side] + ((after - scratch.distance[depth, side, g] + 1) & 3) - 1
            )
            scratch.after[depth, k, side] = bound
            least = max(least, bound)
            if bound > room:
                break
        if least <= room:
            scratch.least[depth, k] = least
            kept_slots |= np.uint64(1) << np.uint64(k)
    scratch.slots[depth] = kept_slots


@kernel
def _move_on(depth, k, tile, tables, scratch):
    """Move the groups of all images, and their distances with the one of the tile that is moved."""
    blank = scratch.blank[depth]
    for side in range(len(tables.sides)):
        slot, moved = tables.slot[side, blank, k], tables.group[side, tile]
        for g in range(scratch.vertex.shape[2]):
            entry = tables.move[scratch.vertex[depth, side, g], slot]
            scratch.vertex[depth + 1, side, g] = entry >> VOLTAGE_BITS
            scratch.number[depth + 1, side, g] = tables.image[
                entry & VOLTAGES, scratch.number[depth, side, g]
            ]
            scratch.distance[depth + 1, side, g] = scratch.distance[depth, side, g]
        bound = scratch.after[depth, k, side]
        scratch.distance[depth + 1, side, moved] += bound - scratch.rest[depth, side]
        scratch.distance[depth + 1, side, moved] &= 3
        scratch.rest[depth + 1, side] = bound
    scratch.order[depth + 1, 0] = scratch.order_after[depth, k, 0]
    scratch.order[depth + 1, 1] = scratch.order_after[depth, k, 1]


@kernel
def within(board, vertices, numbers, limit, most, moves, tables, scratch):
    """Return whether a position takes at most `limit` moves, as far as at most `most` nodes decide
    it, and the nodes visited.

    board: int8[cells], the home of each tile, `BLANK` for the blank. vertices, numbers: int64[S,
    G], of its images in each group. If it does, the blank comes to the cells scratch.blank[1], ...,
    scratch.blank[scratch.slot[-1]], one after the other.
    """
    scratch.salt[0] += 1
    seed, nodes, least = np.uint64(scratch.salt[0]) * FIRST_MIX, 0, 0
    scratch.sum[0] = 0
    for cell in range(board.size):
        scratch.board[cell] = board[cell]
        if board[cell] == BLANK:
            scratch.board[cell], scratch.blank[0] = -1, cell
    inversions, away = inversions_of(scratch.board, tables.lines.side)
    scratch.order[0, 0], scratch.order[0, 1] = inversions, away
    for side in range(vertices.shape[0]):
        scratch.rest[0, side] = 0
        for g in range(vertices.shape[1]):
            vertex, number = vertices[side, g], numbers[side, g]
            distance = distance_of(g, tables.region[vertex], number, tables)
            scratch.vertex[0, side, g], scratch.number[0, side, g] = vertex, number
            scratch.distance[0, side, g] = distance & 3
            scratch.rest[0, side] += distance
        least = max(least, scratch.rest[0, side])
    scratch.slot[-1] = 0
    if least == 0 or least > limit:
        return least == 0, nodes
    depth = 0
    scratch.slots[0] = moves.all[scratch.blank[0]]
    _look_ahead(0, limit - 1, moves, tables, scratch)
    while depth >= 0:
        blank, slots = scratch.blank[depth], scratch.slots[depth]
        if slots == 0:
            if depth:
                back = scratch.blank[depth - 1]
                stride = -moves.stride[back, scratch.slot[depth - 1]]
                slide(scratch.board, blank, back, stride, np.uint64(0), scratch.words)
            depth -= 1
            continue
        k = most_promising(slots, scratch.least[depth])
        scratch.slots[depth] = slots ^ (np.uint64(1) << np.uint64(k))
        scratch.slot[depth] = k
        if scratch.least[depth, k] == 0:
            scratch.slot[-1] = depth + 1
            scratch.blank[depth + 1] = moves.target[blank, k]
            return True, nodes
        if nodes >= most or scratch.stop[0]:
            return False, max(nodes, most)
        nodes += 1
        target, stride = moves.target[blank, k], moves.stride[blank, k]
        tile = scratch.board[target]
        total = slide(scratch.board, blank, target, stride, scratch.sum[depth], scratch.words)
        if not is_new(total ^ seed, depth + 1, scratch.met):
            slide(scratch.board, target, blank, -stride, total, scratch.words)
            continue
        _move_on(depth, k, tile, tables, scratch)
        depth += 1
        scratch.blank[depth], scratch.sum[depth] = target, total
        scratch.slots[depth] = moves.then[blank, k]
        _look_ahead(depth, limit - depth - 1, moves, tables, scratch)
    return False, nodes
