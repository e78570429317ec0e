"""The state of a group of tiles as kernels see it, and its distance; see
`frontier.solving.additive`."""

import numpy as np

from frontier.jit import kernel
from frontier.kernels.distances import bit_at, distance_change
from frontier.solving.paths import VOLTAGE_BITS, VOLTAGES
from frontier.space.words import count_bits, lowest_bit


@kernel
def state_of(view, board, blank, tables):
    """Return the mask, the rank and the order of a group's tiles.

    board: int8[cells], the home of the tile in each cell, `BLANK` for the blank.
    """
    t, cells = tables.table[view], board.size
    side, mask = view // (tables.cell.shape[0] // len(tables.sides)), np.uint64(0)
    for cell in range(cells):
        if cell != blank and tables.group[side, board[cell]] == view:
            mask |= np.uint64(1) << np.uint64(tables.cell[view, cell])
    rank, index, sign, n = 0, 0, 0, 0
    for cell in range(cells):
        a = tables.cell[view, cell]
        if not mask >> np.uint64(a) & np.uint64(1):
            continue
        below = mask & ((np.uint64(1) << np.uint64(a)) - np.uint64(1))
        rank += _choose(a, np.int64(count_bits(below)) + 1)
    for a in range(cells):  # in the order of the cells as the database sees them
        if not mask >> np.uint64(a) & np.uint64(1):
            continue
        digit, home = 0, _home_at(view, a, board, tables)
        for later in range(a + 1, cells):
            if mask >> np.uint64(later) & np.uint64(1):
                digit += _home_at(view, later, board, tables) < home
        if n < tables.radices.shape[1] and tables.radices[t, n] > 1:
            index = index * tables.radices[t, n] + digit
        sign ^= digit & 1
        n += 1
    word, bit = index // tables.bits[t], index % tables.bits[t]
    return mask, rank, (sign * tables.planes[t] + word) * 64 + bit


@kernel
def _home_at(view, seen, board, tables):
    """Return the home, as the database sees it, of the tile in a cell that it sees as `seen`."""
    for cell in range(board.size):
        if tables.cell[view, cell] == seen:
            return tables.cell[view, board[cell]]
    return -1


@kernel
def _choose(n, k):
    """Return the binomial coefficient C(n, k)."""
    value = 1
    for i in range(k):
        value = value * (n - i) // (i + 1)
    return value


@kernel
def moved(t, turn, mask, rank, order, tables):
    """Return the mask, the rank and the order of a group's tiles after one of them has moved into
    the blank's cell, and the number of the bit of the new state.

    t: the database. turn: an entry of `AdditiveTables.turn`.
    """
    a, direction = turn >> 2, turn & 3
    one, cell = np.uint64(1), np.uint64(a)
    i = count_bits(mask & ((one << cell) - one))
    between = np.uint64(0)
    b, side = cell, np.uint64(tables.side)
    if direction < 2:
        b = cell + one if direction == 0 else cell - one
    else:
        b = cell + side if direction == 2 else cell - side
        between = mask >> (min(cell, b) + one) & ((one << (side - one)) - one)
    entry = tables.shift[t, a, direction, i, between]
    voltage = entry & VOLTAGES
    rank += entry >> VOLTAGE_BITS
    if voltage:
        order = np.int64(tables.image[tables.image_start[t] + voltage * tables.stride[t] + order])
    vertex = tables.vertex[tables.vertex_start[t] + rank * tables.moves.target.shape[0] + a]
    number = tables.first[t] + np.int64(vertex) * tables.stride[t] + order
    return mask ^ one << cell ^ one << b, rank, order, number


@kernel
def distance_after(distance, number, tables):
    """Return the distance of a group after a move of one of its tiles, given the distance before
    and the number of the new state's bit. Only its residue modulo 4 has to be right."""
    residue = 2 * bit_at(tables.residue, number) + (distance & 1 ^ 1)
    return distance + distance_change(distance, residue)


@kernel
def distance_of(view, mask, rank, order, blank, tables):
    """Return the distance of a state of a group, found by walking to nearer neighbours until no
    neighbour is nearer. blank: the cell of the blank, as the database sees it."""
    t, one, side = tables.table[view], np.uint64(1), np.uint64(tables.side)
    cells = tables.moves.target.shape[0]
    all_cells, homes = (one << np.uint64(cells)) - one, tables.home[t]
    if cells == 64:
        all_cells = ~np.uint64(0)
    vertex = np.int64(tables.vertex[tables.vertex_start[t] + rank * cells + blank])
    number = tables.first[t] + vertex * tables.stride[t] + order
    odd = 0  # the tiles of the group on the cells of one colour, in both places
    for c in range(cells):
        if (c // tables.side + c % tables.side) & 1:
            odd ^= np.int64((mask ^ homes) >> np.uint64(c) & one)
    walked, residue, nearer = 0, 2 * bit_at(tables.residue, number) + odd, True
    while nearer:
        nearer = False
        region, grown = one << np.uint64(blank), np.uint64(0)
        while region != grown:  # the cells that the blank reaches
            grown = region
            region |= region << side | region >> side
            region |= (grown & ~tables.edges[1]) << one | (grown & ~tables.edges[0]) >> one
            region &= all_cells & ~mask
        while region and not nearer:
            b = lowest_bit(region)
            region &= region - one
            for direction in range(4):
                a = b + (-1 if direction == 0 else 1 if direction == 1 else 0)
                a += -tables.side if direction == 2 else tables.side if direction == 3 else 0
                if direction < 2 and (a < 0 or a // tables.side != b // tables.side):
                    continue
                if a < 0 or a >= cells or not mask >> np.uint64(a) & one:
                    continue
                after = moved(t, 4 * a + direction, mask, rank, order, tables)
                near = 2 * bit_at(tables.residue, after[3]) + (residue & 1 ^ 1)
                if near == (residue - 1) & 3:
                    mask, rank, order, number = after
                    blank, residue, nearer = a, near, True
                    walked += 1
                    break
    return walked
