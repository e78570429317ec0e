"""The expansion of rows: states seen for the first time, from those of the layer before.

Bitmaps have a bit for each state, row by row, and each row begins a new word. For each row of the
next layer and each move, there is one row of the current layer that the move comes from, and one
permutation. So threads or tasks make rows independently of one another, each row in the cheaper of
two directions (S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search,
2012):

* top down, from each state of the source rows to its image;
* bottom up, from each state of the target row that has not been seen yet to its neighbours, until
  one of them is in the current layer.

The expansion of a list goes from state to state.
"""

import numpy as np

from frontier.jit import kernel
from frontier.space.words import count_bits, lowest_bit

ONE = np.uint64(1)
PROBES_TO_FIND = 3
"""The probes of the current layer that an unseen state takes, times the density of that layer. The
product would be one if states were independent of one another, but states of later layers take a
probe for each move."""


@kernel
def walked(radix, first, to, then, digits, section):
    """Return the image (row, section) of the row with these digits under a section at the first
    digit."""
    row = 0
    for j in range(radix.size):
        entry = first[j] + section * radix[j] + digits[j]
        row = row * radix[j] + to[entry]
        section = np.int64(then[entry])
    return row, section


@kernel
def read_digits(radix, row, digits):
    """Write the outer digits of a row, which is counted from the first row of its vertex."""
    for j in range(radix.size - 1, -1, -1):
        digits[j] = row % radix[j]
        row //= radix[j]


@kernel
def expand_rows(
    first_row, width, walk, inverse, row_to, part_rows, place, current, counts, target,
    target_counts, seen, seen_counts, scratch,
):  # fmt: skip
    """Make some rows of the next layer, from `first_row` on.

    width: the states of a row. walk: a `Walk`, as a tuple. inverse, row_to: `inverse` and `to`
    of the space.
    current: uint64[rows, words], rows of the current layer. counts: int32, the number of states in
        each.
    part_rows, place: row n of the layer is row place[n // part_rows] + n % part_rows of `current`.
        place: int64, -1 for missing parts.
    target, seen: uint64[rows, words], the rows of the next layer and of all states seen. The target
        is overwritten, and new states are added to `seen`. target_counts, seen_counts: int32, the
        number of states in each row of these.
    scratch: int64[5, arcs of a vertex, or digits], overwritten.
    Returns how many of the needed rows lie in missing parts.
    """
    start, end, arc_section, rows_each, radix, first, to, then = walk
    digits, source, section_of, source_counts = scratch[0], scratch[1], scratch[2], scratch[3]
    words, missing = target.shape[1], 0
    last_mask = ~np.uint64(0) >> np.uint64(words * 64 - width)
    for n in range(target.shape[0]):
        row, live, states = first_row + n, 0, 0
        unseen = width - seen_counts[n]
        if unseen:
            vertex = row // rows_each
            read_digits(radix, row % rows_each, digits)
            for arc in range(start[vertex], start[vertex + 1]):
                at, section = walked(radix, first, to, then, digits, np.int64(arc_section[arc]))
                at += end[arc] * rows_each
                part = place[at // part_rows]
                if part < 0:
                    missing += 1
                    continue
                at = part + at % part_rows
                count = counts[at]
                if count:
                    source[live], section_of[live], source_counts[live] = at, section, count
                    states += count
                    live += 1
        if not live:
            if target_counts[n]:
                target[n] = 0
                target_counts[n] = 0
            continue
        density = states / (live * width)
        new = 0
        if unseen * min(np.float64(live), PROBES_TO_FIND / density) < states:
            for w in range(words):
                open_bits = ~seen[n, w]
                if w == words - 1:
                    open_bits &= last_mask
                found = np.uint64(0)
                while open_bits:
                    bit = lowest_bit(open_bits)
                    open_bits &= open_bits - ONE
                    for i in range(live):
                        y = np.int64(row_to[section_of[i], w * 64 + bit])
                        if current[source[i], y >> 6] >> np.uint64(y & 63) & ONE:
                            found |= ONE << np.uint64(bit)
                            break
                target[n, w] = found
                seen[n, w] |= found
                new += np.int64(count_bits(found))
        else:
            target[n] = 0
            for i in range(live):
                section, at = inverse[section_of[i]], source[i]
                for w in range(words):
                    bits = current[at, w]
                    while bits:
                        x = np.int64(row_to[section, w * 64 + lowest_bit(bits)])
                        bits &= bits - ONE
                        target[n, x >> 6] |= ONE << np.uint64(x & 63)
            for w in range(words):
                found = target[n, w] & ~seen[n, w]
                target[n, w] = found
                seen[n, w] |= found
                new += np.int64(count_bits(found))
        target_counts[n] = new
        seen_counts[n] += new
    return missing


@kernel
def find_sources(first_row, last_row, step, walk, part_rows, needed, digits):
    """Set needed[p] for each part p that some rows of the next layer are made from.

    step: only every step-th row is examined. digits: int64, room for the outer digits.
    """
    start, end, arc_section, rows_each, radix, first, to, then = walk
    for row in range(first_row, last_row, step):
        vertex = row // rows_each
        read_digits(radix, row % rows_each, digits)
        for arc in range(start[vertex], start[vertex + 1]):
            at, _ = walked(radix, first, to, then, digits, np.int64(arc_section[arc]))
            needed[(at + end[arc] * rows_each) // part_rows] = True


@kernel
def list_neighbours(numbers, width, walk, row_to, new, scratch):
    """Write the states that moves reach from the states of a list, and return their number.

    numbers, new: uint64. walk: a `Walk`, as a tuple. row_to: `to` of the space. scratch: as for
    `expand_rows`.
    """
    start, end, arc_section, rows_each, radix, first, to, then = walk
    digits, size, row_before = scratch[0], 0, -1
    for number in numbers:
        row, x = divmod(np.int64(number), width)
        vertex = row // rows_each
        if row != row_before:
            read_digits(radix, row % rows_each, digits)
            row_before = row
        for arc in range(start[vertex], start[vertex + 1]):
            at, last = walked(radix, first, to, then, digits, np.int64(arc_section[arc]))
            new[size] = (at + end[arc] * rows_each) * width + np.int64(row_to[last, x])
            size += 1
    return size


@kernel
def add_bits(numbers, width, words, counts):
    """Set the bits of some states in uint64[rows, words], and count the bits that were not set."""
    for number in numbers:
        row, x = divmod(np.int64(number), width)
        bit = ONE << np.uint64(x & 63)
        if not words[row, x >> 6] & bit:
            words[row, x >> 6] |= bit
            counts[row] += 1
