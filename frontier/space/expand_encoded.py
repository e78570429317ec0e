"""The layer step of a task on slabs in stored form: one kernel from stored bytes to stored bytes.

The kernel goes through the batches of a task. For each it checks and decodes the slabs of the
current layer that the batch needs into the arena, where some already are. Then it makes the slabs
of the batch one after the other: it decodes that of the layer before the current one, expands the
current layer into it, and encodes what remains. So a slab stays in the second-level cache
meanwhile, and the interpreter is not needed before the room for encoded slabs is full.
"""

from typing import NamedTuple

import numpy as np

from frontier.space.bits import expand_rows, live_rows
from frontier.space.crc32c import crc32c
from frontier.space.instructions import bytes_at
from frontier.space.jit import kernel
from frontier.space.program import Program, Reads, Swaps
from frontier.space.zerobytes import CHECKSUM_BYTES
from frontier.space.zerobytes_kernels import decode, encode

WRONG_CHECKSUM, NO_BITMAP = 1, 2
"""What may be wrong with a slab in stored form."""


class Arena(NamedTuple):
    """The slabs of the current layer that are decoded, in some slots. E slabs are read in all.

    words: flat uint64, as `frontier.space.bits.expand` takes them, as are `live`, here bool[slots,
        rows of a slab], and `base`, which is valid for the batch under way.
    holds: int64[slots], the slab in each slot, as an entry of `Reads`; -1 if there is none.
    slot_of: int64[E], the slot of each slab, -1 if it is in none.
    needed_next: int64[slots], the next batch that needs the slab of the slot.
    """

    words: np.ndarray
    live: np.ndarray
    base: np.ndarray
    holds: np.ndarray
    slot_of: np.ndarray
    needed_next: np.ndarray


class Batches(NamedTuple):
    """The batches of a task. cuts: the slabs of a strip. table: int64[batches, 4], as
    `Layout.batches` generates them. slab_nodes, slab_words: as in `Layout`."""

    cuts: int
    table: np.ndarray
    slab_nodes: int
    slab_words: int


@kernel
def assign_slots(batch, begin, end, arena, reads, new):
    """Assign slots to the slabs that a batch needs; batches come in their order.

    The slab that is replaced is the one that is needed again last, as it is known what all batches
    need: no other choice would decode fewer (L. A. Belady, A study of replacement algorithms for a
    virtual-storage computer, IBM Systems Journal 5, 1966).

    begin, end: int64[E], equal where a slab holds no state. new: int64, gets the slabs that were in
    no slot. Returns their number.
    """
    a, r = Arena(*arena), Reads(*reads)
    needed = range(r.batch_start[batch], r.batch_start[batch + 1])
    for i in needed:
        if a.slot_of[r.entry[i]] >= 0:
            a.needed_next[a.slot_of[r.entry[i]]] = batch
    count = 0
    for i in needed:
        entry = r.entry[i]
        if begin[entry] < end[entry] and a.slot_of[entry] < 0:
            slot = np.argmax(a.needed_next)
            if a.holds[slot] >= 0:
                a.slot_of[a.holds[slot]] = -1
            a.slot_of[entry], a.holds[slot], a.needed_next[slot] = slot, entry, batch
            new[count] = entry
            count += 1
    for i in needed:
        if a.slot_of[r.entry[i]] >= 0:
            a.needed_next[a.slot_of[r.entry[i]]] = r.next_batch[i]
    return count


@kernel
def _decode_sealed(begin, end, words):
    """Decode the slab in stored form at an address, after its checksum is compared. Returns 0, or
    what is wrong with it."""
    size = end - begin
    data = bytes_at(begin, size + CHECKSUM_BYTES)
    checksum = np.uint64(0)
    for k in range(CHECKSUM_BYTES):
        checksum |= np.uint64(data[size + k]) << np.uint64(8 * k)
    if crc32c(data, 0, size) != checksum:
        return WRONG_CHECKSUM
    return 0 if decode(data[:size], words.view(np.uint8)) else NO_BITMAP


@kernel
def _encode_sealed(words, room):
    """Encode a slab, put its checksum behind it, and return its bytes without these."""
    size = encode(words.view(np.uint8), room)
    checksum = crc32c(room, 0, size)
    for k in range(CHECKSUM_BYTES):
        room[size + k] = np.uint8((checksum >> np.uint64(8 * k)) & np.uint64(255))
    return size


@kernel
def _prepare(batch, begin, end, arena, reads, sources, batches, new):
    """Bring what a batch needs into the arena. Returns (what is wrong with a slab, the slab), or
    (0, 0)."""
    a, r, layout = Arena(*arena), Reads(*reads), Batches(*batches)
    slab = layout.slab_nodes * layout.slab_words
    count = assign_slots(batch, begin, end, arena, reads, new)
    slots = np.empty(count, dtype=np.int64)
    for i in range(count):
        entry = new[i]
        slot = a.slot_of[entry]
        slots[i] = slot
        at = slot * slab
        wrong = _decode_sealed(begin[entry], end[entry], a.words[at : at + slab])
        if wrong:
            return wrong, entry
        for source in range(r.first[entry], r.last[entry]):
            inside = sources[source] % layout.slab_nodes * layout.slab_words
            a.base[source, r.slot[entry]] = at + inside
    live_rows(a.words, slab // a.live.shape[1], a.live, slots)
    return 0, 0


@kernel
def expand_encoded(
    step, begin, end, before_begin, before_end, arena, reads, batches, slab, start, room, most,
    numbers, sizes, counts, program, swap_tables,
):  # fmt: skip
    """Expand the current layer into the slabs of a task, as many as have room.

    step: the slabs that were made before, in the order of the batches.
    begin, end: int64[E], the addresses where the slabs that are read begin and end in stored form;
        equal if they hold no state. before_begin, before_end: the same of all slabs of the task's
        part of the layer before the current one.
    arena, reads, batches, program, swap_tables: an `Arena`, `Reads`, `Batches`, `Program` and
        `Swaps`, as tuples.
    slab: uint64[nodes of a slab, its words of one node], scratch.
    start: (slab, word, bit) of a state that is looked for; -1 as the slab if none is.
    room: uint8, gets the slabs that hold a state, each with its checksum behind it. most: the bytes
        that must be free before a slab is begun.
    numbers, sizes: int64, get the numbers of these slabs, and their bytes without the checksum.
    counts: int64[nodes of the task], to which the states found at each are added.
    Returns (the slabs made by now, how many lie in the room, how often the state that is looked for
        was found, 0 or what is wrong with a slab, which slab that is: an entry of `reads`, or one
        before zero, counted downwards from -1, for a slab of the layer before).
    """
    a, layout, p = Arena(*arena), Batches(*batches), Program(*program)
    words, row_words = slab.reshape(-1), Swaps(*swap_tables).parities.size
    rows = slab.shape[1] // row_words
    live, filled = a.live.reshape(-1), np.empty(slab.shape[0] * rows, dtype=np.bool_)
    new = np.empty(a.holds.size, dtype=np.int64)
    stored, at, started = 0, 0, 0
    while step < layout.table.shape[0] * layout.cuts and room.size - at >= most:
        batch, cut = step // layout.cuts, step % layout.cuts
        of = layout.table[batch]
        first, nodes, prefix, number = of[0], of[1], of[2], of[3] + cut
        if cut == 0:
            wrong, entry = _prepare(batch, begin, end, arena, reads, p.sources, batches, new)
            if wrong:
                return step, stored, started, wrong, entry
        holds = before_begin[number] < before_end[number]
        filled[:] = holds
        if holds:
            wrong = _decode_sealed(before_begin[number], before_end[number], words)
            if wrong:
                return step, stored, started, wrong, -1 - number
        else:
            words[:] = 0
        own = prefix * layout.cuts + cut
        found = np.empty(nodes, dtype=np.int64)
        expand_rows(
            words, filled, own * rows, rows, first, found, a.words, live, a.base,
            p.own_slots[own : own + 1], rows, program, swap_tables,
        )  # fmt: skip
        counts[first : first + nodes] += found
        if number == start[0]:
            started += np.int64((words[start[1]] >> np.uint64(start[2])) & np.uint64(1))
        if found.any():
            numbers[stored] = number
            sizes[stored] = _encode_sealed(words, room[at:])
            at += sizes[stored] + CHECKSUM_BYTES
            stored += 1
        step += 1
    return step, stored, started, 0, 0
