"""The search of cosets: solutions of a pattern, shortest first, until they settle its positions.

For one length after another, a depth-first search goes through the solutions of one pattern. It
turns back if the moves made plus the pattern's distance exceed the length. The distance is exact,
so every move of the search leads to a solution. The table holds distances modulo 4. The search
knows the distance of the first pattern, and derives each further distance from the previous one.

A move changes D by at most one. So if the last move of a solution, or its last two moves, are
inside the region, it settles no more than the solution without them. The search skips it if the
shorter solution ends where solutions may end.

Different paths often lead to the same board. A small table of the boards met stores the least depth
of each in the search for the current length, and the search turns back if it meets a board again at
the same or a greater depth. Boards are distinguished by 64-bit sums of random words (A. L. Zobrist,
A New Hashing Method with Application for Game Playing, 1970). If two boards have the same sum, the
search may miss a solution. Then a position that could have been settled may stay open, but no
position is settled wrongly. The search cannot miss the first solution of a coset, because it
reaches that solution without turning back.

The search identifies a position of the coset by the board y of the region to which the first
solution takes it. Positions with |s| + D(y) <= T are settled; a list holds the rest. A further
solution takes each y to another board, with a permutation that is the same for all positions.
"""

from collections import namedtuple

import numpy as np

from frontier.jit import kernel
from frontier.kernels.distances import bit_at, distance_change
from frontier.solving.paths import (
    BLANK,
    FIRST_MIX,
    MOST_MOVES,
    board_words,
    is_new,
    nothing_met,
    state_after,
)
from frontier.space.words import count_bits, lowest_bit

MOST_LENGTH = MOST_MOVES // 2
"""The most moves of a solution of a pattern. A position that only a longer solution would settle
stays open and is searched singly."""

UNLABELLED = -1
"""The value that replaces the home of an unlabelled tile."""

MET_BITS = 15
"""The table of boards met has 2**15 entries, which fit in the caches of a core."""

Tables = namedtuple("Tables", "moves patterns boards")
"""The tables that the search of a coset reads: `frontier.solving.blank_moves.Moves`,
`frontier.cosets.patterns.PatternTable` and `frontier.cosets.regions.RegionTable`."""

Scratch = namedtuple(
    "Scratch",
    "words salt met ends vertex number blank homeward untried taken sum board origin origins "
    "digits open stop",
)
"""The memory of one thread.

words: uint64[cells, cells], a random word for each tile in each cell. salt: int64[1], how often the
memory was used. met, ends: uint64, tables of the boards met and of the boards at which solutions
ended. vertex, number, blank, homeward, untried, taken, sum: the path from the start, by depth;
homeward: the distance of the pattern. board: int64[cells], the number of the cell from which the
tile in each cell came, `BLANK` for the blank. origin, origins, digits: int64[cells], overwritten.
open: uint64, the positions left open in the coset. stop: uint8[1], a flag that another thread sets
to end a search at once; the result of the search is then meaningless.
"""


def scratch_for(cells: int, most_open: int, stop: np.ndarray) -> Scratch:
    """Return memory for one thread. most_open: the most positions that a coset leaves open. stop:
    see `Scratch`."""
    met, ends = nothing_met(MET_BITS), nothing_met(MET_BITS)
    vertex, number, blank, taken, homeward = np.zeros((5, MOST_LENGTH + 1), dtype=np.int64)
    untried, sums = np.zeros((2, MOST_LENGTH + 1), dtype=np.uint64)
    board, origin, origins, digits = np.zeros((4, cells), dtype=np.int64)
    positions = np.empty(max(1, most_open), dtype=np.uint64)
    return Scratch(
        board_words(cells), np.zeros(1, np.int64), met, ends, vertex, number, blank, homeward,
        untried, taken, sums, board, origin, origins, digits, positions, stop,
    )  # fmt: skip


@kernel
def slide(board, blank, target, stride, total, words):
    """Slide the tiles between the blank's cell and `target`, and the tile in `target`, towards the
    blank.

    Returns the sum of the board afterwards. total: the sum before.
    """
    while blank != target:
        tile = board[blank + stride]
        total ^= words[tile, blank] ^ words[tile, blank + stride]
        board[blank] = tile
        blank += stride
    board[target] = BLANK
    return total


@kernel
def region_index(origins, position, radices):
    """Return the Lehmer index of a position on the region, whose place i holds the tile that came
    from cell number origins[i]."""
    index, used = np.int64(0), np.uint64(0)
    for i in range(radices.size):
        tile = (position >> np.uint64(4 * origins[i])) & np.uint64(15)
        bit = np.uint64(1) << tile
        index = index * radices[i] + np.int64(tile - count_bits(used & (bit - np.uint64(1))))
        used |= bit
    return index


@kernel
def region_position(index, sign, origins, radices, digits):
    """Return the position that has the given `region_index` and sign of its tiles.

    digits: int64[tiles], overwritten.
    """
    tiles, total = digits.size, sign
    for i in range(radices.size - 1, -1, -1):
        digits[i] = index % radices[i]
        index //= radices[i]
        total += digits[i]
    digits[tiles - 2], digits[tiles - 1] = total & 1, 0
    position, free = np.uint64(0), (np.uint64(1) << np.uint64(tiles)) - np.uint64(1)
    for i in range(tiles):
        candidates = free
        for _ in range(digits[i]):
            candidates &= candidates - np.uint64(1)
        tile = lowest_bit(candidates)
        free ^= np.uint64(1) << np.uint64(tile)
        position |= np.uint64(tile) << np.uint64(4 * origins[i])
    return position


@kernel
def _list_open(place, allowed, table, origins, digits, positions):
    """List the positions that the first solution leaves open, and return their number."""
    if allowed + 1 >= table.count.shape[1]:
        return 0
    count, start = table.count[place, max(0, allowed + 1)], table.start[place]
    for n in range(count):
        index = np.int64(table.boards[start + n])
        positions[n] = region_position(
            index, table.sign[place], origins, table.radices, digits[: origins.size]
        )
    return count


@kernel
def _keep_open(place, allowed, table, origins, positions, count):
    """Keep the positions that a further solution leaves open, and return their number."""
    count_kept, distance = 0, table.distance[place]
    for n in range(count):
        position = positions[n]
        if np.int64(distance[region_index(origins, position, table.radices)]) > allowed:
            positions[count_kept] = position
            count_kept += 1
    return count_kept


@kernel
def _land(blank, allowed, origin, origins, table, scratch, solutions, opened):
    """Let a solution settle positions, and return how many stay open.

    allowed: the most moves left for the region after the solution. solutions, opened: the number of
    solutions before it, and of the positions that they left open.
    """
    i = 0
    for cell in table.cells:
        if cell != blank:
            origins[i] = origin[scratch.board[cell]]
            i += 1
    if solutions:
        return _keep_open(table.place[blank], allowed, table, origins, scratch.open, opened)
    return _list_open(table.place[blank], allowed, table, origins, scratch.digits, scratch.open)


@kernel
def search_coset(pattern, distance, homes, limit, worth, most, tables, scratch):
    """Search one coset; return the numbers of positions left open, of look-ups (one for each
    pattern visited, and one for each open position at the end of a solution) and of solutions.

    pattern, distance: the number of the pattern and its distance. homes: int8[cells], the home of
    the labelled tile in each cell, or `UNLABELLED` or `BLANK`. limit: the most moves to settle a
    position; all positions stay open if it is less than `distance`. worth, most: the search ends
    after `worth` look-ups for each open position, or `most` in all. `scratch.open` holds the open
    positions: bits 4n .. 4n + 3 are the number of the tile in the n-th cell without a labelled
    tile; the tiles of the region are numbered by their homes.
    """
    scratch.salt[0] += 1
    salt = scratch.salt[0]
    moves, patterns, table = tables.moves, tables.patterns, tables.boards
    board, words, size = scratch.board, scratch.words, patterns.size
    residue, period, planes = patterns.residue, patterns.period, patterns.residue.shape[0]
    vertex, number, blank = scratch.vertex, scratch.number, scratch.blank
    untried, taken, sums, homeward = scratch.untried, scratch.taken, scratch.sum, scratch.homeward
    origin, origins = scratch.origin, scratch.origins[: table.homes.size]
    n = 0
    for cell in range(board.size):
        board[cell] = cell
        if homes[cell] == UNLABELLED:
            origin[cell] = n
            n += 1
        elif homes[cell] == BLANK:
            board[cell], blank[0] = BLANK, cell
    vertex[0], number[0], sums[0] = pattern // size, pattern % size, 0
    nodes, solutions, opened = 0, 0, 0
    for length in range(distance, max(distance, min(limit, MOST_LENGTH)) + 1, period):
        if length == 0:
            solutions, opened = 1, _land(blank[0], limit, origin, origins, table, scratch, 0, 0)
            nodes += opened
            if opened == 0:
                break
        salts = np.uint64(salt) * FIRST_MIX, np.uint64(salt * MOST_LENGTH + length) * FIRST_MIX
        depth, homeward[0] = 0, distance
        untried[0] = moves.all[blank[0]]
        while depth >= 0:
            if untried[depth] == 0:
                if depth:
                    back = -moves.stride[blank[depth - 1], taken[depth - 1]]
                    slide(board, blank[depth], blank[depth - 1], back, np.uint64(0), words)
                depth -= 1
                continue
            if (solutions and nodes >= min(worth * opened, most)) or scratch.stop[0]:
                return opened, nodes, solutions
            nodes += 1
            blank_cell, k = blank[depth], lowest_bit(untried[depth])
            untried[depth] &= untried[depth] - np.uint64(1)
            to, image = state_after(vertex[depth], number[depth], k, patterns)
            target_cell, stride = moves.target[blank_cell, k], moves.stride[blank_cell, k]
            there = to * size + image
            odd = bit_at(residue[1], there) if planes == 2 else patterns.odd[target_cell]
            modulo = 2 * bit_at(residue[0], there) + odd
            to_go = homeward[depth] + distance_change(homeward[depth], modulo)
            ends, before_end = depth + 1 == length, depth + 1 - period
            if depth + 1 + to_go > length:
                continue
            if ends and before_end >= 0 and homeward[before_end] == 0:
                continue
            total = slide(board, blank_cell, target_cell, stride, sums[depth], words)
            if not ends:
                if is_new(total ^ salts[1], depth + 1, scratch.met) or solutions == 0:
                    taken[depth] = k
                    depth += 1
                    vertex[depth], number[depth], blank[depth] = to, image, target_cell
                    sums[depth], untried[depth], homeward[depth] = (
                        total,
                        moves.then[blank_cell, k],
                        to_go,
                    )
                    continue
            elif is_new(total ^ salts[0], 0, scratch.ends) or solutions == 0:
                before = opened
                opened = _land(
                    target_cell, limit - length, origin, origins, table, scratch, solutions, opened
                )
                nodes += max(before, opened)  # one look-up of the board of each
                solutions += 1
                if opened == 0 or length > limit:
                    return opened, nodes, solutions
            slide(board, target_cell, blank_cell, -stride, total, words)
    return opened, nodes, solutions


@kernel
def search_cosets(patterns, distances, homes, limit, worth, most, enough, tables, scratch, boards):
    """Search cosets one after another until there is no more room for open positions, or until
    `enough` look-ups have been made; return the numbers of cosets searched, of positions left open,
    of look-ups and of solutions.

    patterns, distances, homes: int64[N], uint8[N] and int8[N, cells], the values of each coset for
    `search_coset`. worth, most: as for `search_coset`. boards: int8[M, cells], receives the
    positions left open, as the homes of their tiles and `BLANK`.
    """
    written, nodes, solutions, table = 0, 0, 0, tables.boards
    for n in range(patterns.size):
        opened, nodes_of_coset, solutions_of_coset = search_coset(
            patterns[n], np.int64(distances[n]), homes[n], limit, worth, most, tables, scratch
        )
        if written + opened > boards.shape[0]:
            return n, written, nodes, solutions
        nodes += nodes_of_coset
        solutions += solutions_of_coset
        for i in range(opened):
            position = scratch.open[i]
            for cell in range(homes.shape[1]):
                home = homes[n, cell]
                if home == UNLABELLED:
                    home = table.homes[position & np.uint64(15)]
                    position >>= np.uint64(4)
                boards[written, cell] = home
            written += 1
        if nodes >= enough:
            return n + 1, written, nodes, solutions
    return patterns.size, written, nodes, solutions
