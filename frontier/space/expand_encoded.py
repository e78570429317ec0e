"""One layer step on slabs in stored form, for the codec `bitmap`.

Slab after slab, the layer before the current one is decoded, the current layer is expanded into it,
and what remains is encoded. So a slab can stay in the processor's second-level cache, and one call
does all slabs of a strip.
"""

import numpy as np

from frontier.space.bits import expand_rows
from frontier.space.jit import kernel
from frontier.space.program import Swaps
from frontier.space.zerobytes_kernels import decode, encode

NOT_DECODED = -1
"""The size that stands for a slab whose bytes before are no bitmap."""


@kernel
def expand_encoded(
    stored, begin, end, first_slab, first_node, counts, arena, live, base, own_slots, slab, room,
    most, gap, sizes, program, swap_tables,
):  # fmt: skip
    """Expand the current layer into some slabs of a strip, one after the other, as many as have
    room; returns their number.

    stored[begin[i] : end[i]]: uint8, slab i of the layer before the current one; empty if it has no
        state.
    first_slab, first_node: the first of the slabs and their first node, counted from the task's.
    counts: int64[nodes of the slabs], to which the states found at each node are added.
    arena, live, base, program, swap_tables: as `frontier.space.bits.expand` takes them. own_slots:
        `Program.own_slots` of the task's slabs.
    slab: uint64[nodes of a slab, words], scratch that holds the last slab afterwards.
    room: uint8, gets the slabs that hold a state, with `gap` bytes behind each. most: the bytes
        that must be free before a slab is begun.
    sizes: int64, gets the bytes of each slab, 0 for one without a state; and `NOT_DECODED` for the
        last, if its bytes before are no bitmap.
    """
    words, row_words = slab.reshape(-1), Swaps(*swap_tables).parities.size
    rows = slab.shape[1] // row_words
    filled = np.empty(counts.size * rows, dtype=np.bool_)
    found = np.empty_like(counts)
    at = 0
    for i in range(begin.size):
        if room.size - at < most:
            return i
        filled[:] = begin[i] < end[i]
        if begin[i] == end[i]:
            words[:] = 0
        elif not decode(stored[begin[i] : end[i]], words.view(np.uint8)):
            sizes[i] = NOT_DECODED
            return i + 1
        number = first_slab + i
        expand_rows(
            words, filled, number * rows, rows, first_node, found, arena, live, base,
            own_slots[number : number + 1], rows, program, swap_tables,
        )  # fmt: skip
        counts += found
        sizes[i] = 0
        if filled.any():
            sizes[i] = encode(words.view(np.uint8), room[at:])
            at += sizes[i] + gap
    return begin.size
