"""One layer step on bitmaps: the kernel in which a run spends its time.

For each row of a target strip:

    next = OR over arcs of voltage(cur)  AND NOT prev   (AND NOT cur where a layer may
                                                          neighbour itself)

This is frontier search (R. E. Korf, W. Zhang, I. Thayer and H. Hohwald, JACM 52, 2005): in an
undirected graph the neighbours of layer t lie in layers t-1, t and t+1, so no other layer is read.
The row is gathered in a buffer that stays in the first caches and is written once. A row without a
bit in any source costs a look at a table.
"""

import numpy as np

from frontier.space.jit import kernel
from frontier.space.program import Program, Swaps
from frontier.space.swaps import (
    BLOCKS,
    FIELDS,
    GATHER,
    SWAP_43,
    SWAP_54,
    or_blocks,
    or_copy,
    or_fields,
    or_gather,
    or_swap_43,
    or_swap_54,
    or_turn,
)

SPARE_ROWS = 4
"""The rows that a thread in `expand` holds besides its input and output."""


@kernel
def count_bits(x):
    """Return the number of ones of a 64-bit word (the compiler turns this into one instruction)."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def lowest_bit(word):
    """Return the number of the lowest bit of a 64-bit word that is not 0."""
    return np.int64(count_bits((word & (~word + np.uint64(1))) - np.uint64(1)))


@kernel
def live_rows(words, row_words, live, slabs):
    """Set live[s, r] to whether row r of slab s of the flat array has any bit, for some slabs."""
    rows = live.shape[1]
    for s in slabs:
        for r in range(rows):
            at, any_bit = (s * rows + r) * row_words, False
            for j in range(at, at + row_words):
                if words[j] != 0:
                    any_bit = True
                    break
            live[s, r] = any_bit


@kernel
def _or_swap(target, source, i, odd, swaps):
    """Or the image of the source row under the swap of positions i and i+1 into the target."""
    kind, table = swaps.kind[i], swaps.table
    if kind == BLOCKS:
        or_blocks(target, source, swaps.radix_a[i], swaps.radix_b[i], swaps.block[i])
    elif kind == GATHER:
        or_gather(target, source, table[swaps.table_start[i] : swaps.table_start[i + 1]])
    elif kind == FIELDS:
        or_fields(target, source)
    elif kind == SWAP_54:
        or_swap_54(target, source)
    elif kind == SWAP_43:
        or_swap_43(target, source)
    else:
        or_turn(target, source, swaps.parities, odd)


@kernel
def _or_swaps(target, source, first, last, odd, spare, second_spare, p, swaps):
    """Or the image of the source row under the swaps first .. last-1 into the target.

    spare, second_spare: scratch rows. The source may be `second_spare`.
    """
    if first == last:
        or_copy(target, source)
        return
    for k in range(first, last - 1):
        spare[:] = 0
        _or_swap(spare, source, p.swap[k], odd ^ p.flips[k], swaps)
        source, spare, second_spare = spare, second_spare, spare
    _or_swap(target, source, p.swap[last - 1], odd ^ p.flips[last - 1], swaps)


@kernel
def _alike_at_end(w, v, p):
    """Return how many swaps inside the row two voltages have in common at their end."""
    k, j = p.swap_start[w + 1], p.swap_start[v + 1]
    most = min(k - p.swap_start[w], j - p.swap_start[v])
    for alike in range(most):
        k, j = k - 1, j - 1
        if p.swap[k] != p.swap[j] or p.flips[k] != p.flips[j]:
            return alike
    return most


@kernel
def expand_row(
    out, was_live, node, row, cut_rows, scratch, arena, live, base, program, swap_tables
):
    """Expand the current layer into a row, and return the number of its states.

    out: the row. It holds that of the layer before if `was_live`, and afterwards that of the next
        layer; if neither has a state there, it is not touched.
    node: counted from the task's. row: counted through all of the task's prefixes.
    cut_rows: rows of a slab of one node.
    scratch: uint64[SPARE_ROWS, words of a row].
    arena, live, base: as for `expand`. program, swap_tables: a `Program` and `Swaps`, as tuples.
    """
    p, swaps = Program(*program), Swaps(*swap_tables)
    row_words = swaps.parities.size
    image, spare, gathered, joint = scratch[0], scratch[1], scratch[2], scratch[3]
    touched = False
    pending = 0  # swaps that are still to be done to `joint`, if it is in use
    for arc in range(p.start[node], p.start[node + 1]):
        u, w = p.source[arc], p.voltage[arc]
        size = row_words // p.blocks[w]
        begin, end = p.swap_start[w], p.swap_start[w + 1]
        has_source = False
        image_source = gathered
        for b in range(p.blocks[w]):
            entry = p.first[w] + row * p.blocks[w] + b
            s = base[u, p.slot[entry]]
            if s < 0:
                continue
            s += p.place[entry]
            if not live[s // row_words]:
                continue
            if not touched:
                image[:] = 0
                touched = True
            if begin == end:
                or_copy(image[b * size : (b + 1) * size], arena[s : s + size])
            elif p.blocks[w] == 1:
                image_source = arena[s : s + row_words]
            else:
                if not has_source:
                    gathered[:] = 0
                or_copy(gathered[b * size : (b + 1) * size], arena[s : s + size])
            has_source = True
        if begin == end or not (has_source or pending):
            continue
        odd, alike = p.row_odd[row] ^ p.sign[node], 0
        if arc + 1 < p.start[node + 1]:
            alike = _alike_at_end(w, p.voltage[arc + 1], p)
        if pending:
            if has_source:
                _or_swaps(joint, image_source, begin, end - pending, odd, spare, gathered, p, swaps)
            image_source, begin, alike = joint, end - pending, min(pending, alike)
        if alike == 0:
            _or_swaps(image, image_source, begin, end, odd, spare, gathered, p, swaps)
        else:
            if pending == 0 and begin == end - alike:
                joint[:] = image_source
            for k in range(begin, end - alike):
                spare[:] = 0
                _or_swap(spare, image_source, p.swap[k], odd ^ p.flips[k], swaps)
                spare, joint = joint, spare
                image_source = joint
        pending = alike
    total = np.uint64(0)
    if not touched:
        if was_live:
            out[:] = 0
        return 0
    own = -1
    if p.own[node] >= 0:
        own = base[p.own[node], p.own_slots[row // cut_rows]]
    if own >= 0:
        own += row % cut_rows * row_words
        if live[own // row_words]:
            image_source = arena[own : own + row_words]
            for j in range(row_words):
                image[j] &= ~image_source[j]
    if was_live:
        for j in range(row_words):
            x = image[j] & ~out[j]
            out[j] = x
            total += count_bits(x)
    else:
        for j in range(row_words):
            x = image[j]
            out[j] = x
            total += count_bits(x)
    return np.int64(total)


@kernel
def _expand_strips(
    target, target_live, first_row, cut_rows, first_node, counts, arena, live, base, program,
    swap_tables,
):  # fmt: skip
    """Do what `expand` does. first_row: counted through all of the task's prefixes. counts:
    int64[nodes], gets what `expand` returns."""
    row_words = Swaps(*swap_tables).parities.size
    scratch = np.empty((SPARE_ROWS, row_words), dtype=np.uint64)
    rows = target.shape[1] // row_words
    for n in range(counts.size):
        counts[n] = 0
        for r in range(rows):
            out = target[n, r * row_words : (r + 1) * row_words]
            states = expand_row(
                out, target_live[n * rows + r], first_node + n, first_row + r, cut_rows, scratch,
                arena, live, base, program, swap_tables,
            )  # fmt: skip
            target_live[n * rows + r] = states > 0
            counts[n] += states


def expand(
    target: np.ndarray,
    target_live: np.ndarray,
    first_node: int,
    slabs: range,
    arena: np.ndarray,
    live: np.ndarray,
    base: np.ndarray,
    program: Program,
    swaps: Swaps,
) -> np.ndarray:
    """Expand the current layer into some consecutive slabs of the strips of some nodes, in place.

    target: uint64[nodes, words], contiguous; holds the layer before the current one, and afterwards
        the next layer.
    target_live: bool[rows of the target], before: false where the row is known to hold no bit
        (all words are then 0); afterwards: whether it holds one.
    first_node: the first node, counted from the task's.
    slabs: the slabs of one node that the target has, counted through all of the task's prefixes.
    arena: flat uint64, the slabs of the current layer that the task needs.
    live: bool, whether each row of the arena has a bit.
    base: int64[sources, slots], word offset in the arena of what each source has in the slab of a
        slot, -1 if that is empty.
    Returns int64[nodes], states of the next layer at each node.
    """
    nodes, words = target.shape
    cut_rows = words // swaps.parities.size // len(slabs)
    counts = np.zeros(nodes, dtype=np.int64)
    _expand_strips(
        target, target_live, slabs.start * cut_rows, cut_rows, first_node, counts, arena, live,
        base, tuple(program), tuple(swaps),  # named ones take Numba longer
    )  # fmt: skip
    return counts
