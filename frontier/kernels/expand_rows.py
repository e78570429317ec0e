"""The expansion of bitmaps: the kernel in which a run spends its time.

For each row of a target strip:

    next = OR over arcs of voltage(cur)  AND NOT prev   (AND NOT cur where a layer may
                                                          neighbour itself)

This is frontier search (R. E. Korf, W. Zhang, I. Thayer and H. Hohwald, JACM 52, 2005): in an
undirected graph the neighbours of layer t lie in layers t-1, t and t+1, so no other layer is read.
The row is gathered in a buffer that stays in the first two levels of cache and is written once. A
row whose sources have no bit set costs one table look-up.
"""

from typing import NamedTuple

import numpy as np

from frontier.jit import kernel
from frontier.space.program import (
    FIRST_PLACE,
    FIRST_SWAP,
    KIND,
    LAST_SWAP,
    NEXT_RADIX,
    ODD,
    POSITION,
    RADIX,
    ROW,
    SLOT,
    STRETCH_COUNT,
    STRETCH_WORDS,
    SWAP_WORDS,
    TABLE_BEGIN,
    TABLE_END,
    WORD,
    Program,
    Swaps,
)
from frontier.space.swaps import (
    FIELDS,
    GATHER,
    STRETCHES,
    SWAP_43,
    SWAP_54,
    clear,
    or_copy,
    or_fields,
    or_gather,
    or_stretches,
    or_swap_43,
    or_swap_54,
    or_turn,
)
from frontier.space.words import count_bits

SPARE_ROWS = 5
"""The number of rows that a thread holds while it expands, besides its input and output."""


class Target(NamedTuple):
    """Some rows of the next layer.

    words: uint64[N, words of a row]. At first, a row holds the row of the layer before if `live` is
        set; afterwards it holds the row of the next layer. It does not change if neither layer has
        a state there.
    live: bool[N]. Afterwards: whether the row holds a state.
    first, rows: row i is row (first + i) % rows of node (first + i) // rows.
    first_node: the number of node 0 in the task. first_row: the number of its row 0, counted
        through all of the task's prefixes.
    counts: int64, one entry for each node of the task; the states found there are added.
    """

    words: np.ndarray
    live: np.ndarray
    first: int
    rows: int
    first_node: int
    first_row: int
    counts: np.ndarray


class Sources(NamedTuple):
    """The slabs of the current layer that a task needs.

    words: flat uint64. live: bool, whether each row has a bit set. base: int64[stacks, slots], the
    row where the slab of each stack of source nodes and each slot begins, -1 if that slab is empty.
    cut_rows: rows of a slab of one node.
    """

    words: np.ndarray
    live: np.ndarray
    base: np.ndarray
    cut_rows: int


@kernel
def live_rows(words, row_words, live, slabs):
    """For some slabs s of the flat array, set live[s, r] to whether row r has any bit set."""
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
def or_swap(target, source, i, odd, swap_tables):
    """Or the image of the source row under the swap of positions i and i+1 into the target.

    odd: the sign of the row's sequences plus the digits that number the row, modulo 2. swap_tables:
    `Swaps`, as a tuple.
    """
    positions, table, parities = swap_tables
    kind = positions[i, KIND]
    if kind == STRETCHES:
        radix, next_radix, words = (
            positions[i, RADIX],
            positions[i, NEXT_RADIX],
            positions[i, SWAP_WORDS],
        )
        or_stretches(target, source, radix, next_radix, words)
    elif kind == GATHER:
        or_gather(target, source, table, positions[i, TABLE_BEGIN], positions[i, TABLE_END])
    elif kind == FIELDS:
        or_fields(target, source)
    elif kind == SWAP_54:
        or_swap_54(target, source)
    elif kind == SWAP_43:
        or_swap_43(target, source)
    else:
        or_turn(target, source, parities, odd)


@kernel
def or_swaps(target, source, some, odd, spares, program, swap_tables):
    """Or the image of the source row under some swaps of a `Program` into the target.

    some: (first, last), for the swaps numbered first .. last-1. odd: as for `or_swap`, without the
    swaps of the voltage that come after these. spares: two rows that are overwritten; the source
    may be the second. program, swap_tables: a `Program` and `Swaps`, as tuples.
    """
    first, last = some
    if first == last:
        or_copy(target, source)
        return
    swaps, (spare, second_spare) = Program(*program).swaps, spares
    for k in range(first, last - 1):
        clear(spare)
        or_swap(spare, source, swaps[k, POSITION], odd ^ swaps[k, ODD], swap_tables)
        source, spare, second_spare = spare, second_spare, spare
    k = last - 1
    or_swap(target, source, swaps[k, POSITION], odd ^ swaps[k, ODD], swap_tables)


@kernel
def expand_rows(target, sources, scratch, program, swap_tables):
    """Expand the current layer into some rows, and return the number of their states.

    target, sources, program, swap_tables: a `Target`, `Sources`, `Program` and `Swaps`, as tuples.
    scratch: uint64[SPARE_ROWS, words of a row], overwritten.

    One call expands many rows, because a call costs more than a short row.
    """
    p, t, s = Program(*program), Target(*target), Sources(*sources)
    arena, live, base, target_live, rows = s.words, s.live, s.base, t.live, t.rows
    row_words, states_in_all = scratch.shape[1], 0
    image, spare, gathered, joint, fresh = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4],
    )  # fmt: skip
    # In tasks with one row for each node, each arc into a node comes from one row, whatever its
    # voltage.
    one_row = p.row_odd.size == 1 and p.slots.size == 1
    n, r = t.first // rows, t.first % rows - 1  # of the row before the first
    for i in range(target_live.size):
        r += 1
        if r == rows:
            n, r = n + 1, 0
        node, row, was_live = t.first_node + n, t.first_row + r, target_live[i]
        touched = False
        first_arc = p.start[node]
        if one_row:  # does any source have a state? Unsigned places are not checked for a sign
            at, last = np.uint64(first_arc), np.uint64(p.start[node + 1])
            while at < last:
                source_row = base[p.stack[at], 0]
                if source_row >= 0 and live[np.uint64(source_row + p.row[at])]:
                    break
                at += np.uint64(1)
            first_arc = np.int64(at)
        pending = 0  # the swaps that `joint` still needs, if it is in use
        for arc in range(first_arc, p.start[node + 1]):
            stack, w = p.stack[arc], p.voltage[arc]
            stretches, size = p.voltages[w, STRETCH_COUNT], p.voltages[w, STRETCH_WORDS]
            begin, end = p.voltages[w, FIRST_SWAP], p.voltages[w, LAST_SWAP]
            has_source, source = False, gathered
            entry = p.voltages[w, FIRST_PLACE] + row * stretches
            for b in range(stretches):
                source_row = base[stack, p.places[entry + b, SLOT]]
                if source_row < 0:
                    continue
                source_row += p.row[arc] + p.places[entry + b, ROW]
                if not live[source_row]:
                    continue
                if not touched:
                    clear(image)
                    touched = True
                at = source_row * row_words + p.places[entry + b, WORD]
                if begin == end:
                    or_copy(image[b * size : (b + 1) * size], arena[at : at + size])
                elif stretches == 1:
                    source = arena[at : at + size]
                else:
                    if not has_source:
                        clear(gathered)
                    or_copy(gathered[b * size : (b + 1) * size], arena[at : at + size])
                has_source = True
            if begin == end or not (has_source or pending):
                continue
            odd, alike = p.row_odd[row] ^ p.sign[node], np.int64(p.alike[arc])
            if pending:
                if has_source:
                    some = begin, end - pending
                    or_swaps(joint, source, some, odd, (spare, gathered), program, swap_tables)
                source, begin, alike = joint, end - pending, min(pending, alike)
            if alike == 0:
                some = begin, end
                or_swaps(image, source, some, odd, (spare, gathered), program, swap_tables)
            else:
                clear(fresh)
                some = begin, end - alike
                or_swaps(fresh, source, some, odd, (spare, gathered), program, swap_tables)
                joint, fresh = fresh, joint
            pending = alike
        out = t.words[i]
        if not touched:
            if was_live:
                clear(out)
                target_live[i] = False
            continue
        if p.own[node, 0] >= 0:
            own_row = base[p.own[node, 0], p.own_slots[row // s.cut_rows]]
            at_row = own_row + p.own[node, 1] + row % s.cut_rows
            if own_row >= 0 and live[at_row]:
                for j in range(row_words):
                    image[j] &= ~arena[at_row * row_words + j]
        states = np.uint64(0)
        if was_live:
            for j in range(row_words):
                x = image[j] & ~out[j]
                out[j] = x
                states += count_bits(x)
        else:
            for j in range(row_words):
                x = image[j]
                out[j] = x
                states += count_bits(x)
        target_live[i] = states > 0
        t.counts[node] += np.int64(states)
        states_in_all += np.int64(states)
    return states_in_all


def expand(
    target: np.ndarray,
    target_live: np.ndarray,
    first_node: int,
    slabs: range,
    counts: np.ndarray,
    arena: np.ndarray,
    live: np.ndarray,
    base: np.ndarray,
    program: Program,
    swaps: Swaps,
) -> None:
    """Expand the current layer into some consecutive slabs of the strips of some nodes, in place.

    target: uint64[nodes, words], contiguous; holds the layer before the current one, and afterwards
        the next layer.
    target_live: bool[rows of the target]. Before the call: false where the row is known to hold no
        bit (all its words are then 0). Afterwards: whether the row holds one.
    first_node: the first node, counted from the task's.
    slabs: the slabs of one node in the target, counted through all of the task's prefixes.
    counts: int64[nodes of the task]; the states found at each node are added.
    arena: flat uint64, the slabs of the current layer that the task needs.
    live: bool, whether each row of the arena has a bit set.
    base: as for `Sources`.
    """
    row_words = swaps.parities.size
    rows = target.shape[1] // row_words
    cut_rows = rows // len(slabs)
    scratch = np.empty((SPARE_ROWS, row_words), dtype=np.uint64)
    into = Target(
        target.reshape(-1, row_words), target_live, 0, rows, first_node, slabs.start * cut_rows,
        counts,
    )  # fmt: skip
    sources = Sources(arena, live, base, cut_rows)
    expand_rows(tuple(into), tuple(sources), scratch, tuple(program), tuple(swaps))
