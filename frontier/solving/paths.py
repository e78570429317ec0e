"""What the depth-first searches of this package share: moves to try, and tables of boards met.

Different paths often lead to the same board. A small table of the boards met stores the least depth
of each in one search, and the search turns back if it meets a board again at the same or a greater
depth. Boards are distinguished by 64-bit sums of random words (A. L. Zobrist, A New Hashing Method
with Application for Game Playing, 1970).
"""

import numpy as np

from frontier.jit import kernel
from frontier.space.words import lowest_bit

MOST_MOVES = 508
"""The most moves of a solution of a position. No question asks about more, because the sum of two
distances in tables, one of a pattern and one of a board of the region, bounds the distance of
each position."""

DEPTH_BITS = 9
"""The bits of the depth at which a board was met; the depth is at most `MOST_MOVES`."""

UNBOUNDED = 1 << 62
"""More nodes than any search visits."""

VOLTAGE_BITS = 10
VOLTAGES = (1 << VOLTAGE_BITS) - 1
"""The bits of an entry of `move` (`frontier.cosets.blank_moves.pattern_graph`) that hold the number
of a voltage."""

FIRST_MIX, SECOND_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
"""Odd numbers that spread keys over the tables."""

BLANK = -2
"""The value that replaces the home of the blank."""


def board_words(cells: int) -> np.ndarray:
    """Return the words for the sums of boards; see `Scratch.words`."""
    return np.random.default_rng(1).integers(1 << 63, size=(cells, cells), dtype=np.uint64)


def no_stop() -> np.ndarray:
    """Return a flag for `Scratch.stop`, not set."""
    return np.zeros(1, dtype=np.uint8)


def nothing_met(bits: int) -> np.ndarray:
    """Return a table of 2**bits entries in which no board has been met: the depth of each entry is
    greater than any real depth. bits: at least `DEPTH_BITS`."""
    return np.full(1 << bits, (1 << DEPTH_BITS) - 1, dtype=np.uint64)


@kernel
def state_after(vertex, number, k, tables):
    """Return the vertex and the number of a state after a move. k: the number of the move."""
    entry = tables.move[vertex, k]
    return entry >> VOLTAGE_BITS, np.int64(tables.image[entry & VOLTAGES, number])


@kernel
def take_best(depth, scratch):
    """Return the first move with the least bound at a depth, and remove it from the moves to try.
    At least one must be left."""
    untried, least = scratch.untried[depth], scratch.least[depth]
    k, others = lowest_bit(untried), untried & (untried - np.uint64(1))
    while others:
        other = lowest_bit(others)
        others &= others - np.uint64(1)
        if least[other] < least[k]:
            k = other
    scratch.untried[depth], scratch.taken[depth] = untried ^ (np.uint64(1) << np.uint64(k)), k
    return k


@kernel
def is_new(total, depth, table):
    """Return False if the table shows that the board was met at this depth or a smaller one;
    otherwise enter the board and return True."""
    key, bits = total * SECOND_MIX, np.uint64(lowest_bit(np.uint64(table.size)))
    # The place of the entry gives the first bits of the key, at least as many as a depth has; the
    # entry holds the other bits.
    at = np.int64(key >> np.uint64(64) - bits)
    entry, before = key << np.uint64(DEPTH_BITS) | np.uint64(depth), table[at]
    if (before ^ entry) < np.uint64(1 << DEPTH_BITS) and before <= entry:
        return False
    table[at] = entry
    return True
