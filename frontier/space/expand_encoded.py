"""The layer step of a task on slabs in stored form: one kernel from stored bytes to stored bytes.

The kernel goes through the batches of a task. For each it checks and decodes the slabs of the
current layer that the batch needs into the arena, where some already are. Then it makes the slabs
of the batch one after the other, row by row: it decodes a row of the layer before the current one,
expands the current layer into it, and encodes what remains. So a row stays in the processor's first
caches meanwhile, a row without a bit costs a look at a mask, and the interpreter is not needed
before the room for encoded slabs is full.
"""

from typing import NamedTuple

import numpy as np

from frontier.space.bits import SPARE_ROWS, expand_row
from frontier.space.crc32c import crc32c
from frontier.space.instructions import bytes_at
from frontier.space.jit import kernel
from frontier.space.program import Program, Reads, Swaps
from frontier.space.zerobytes import CHECKSUM_BYTES
from frontier.space.zerobytes_kernels import (
    decode_masks,
    decode_words,
    encode_masks,
    encode_words,
    has_ones,
    masks_for,
)

WRONG_CHECKSUM, NO_BITMAP = 1, 2
"""What may be wrong with a slab in stored form."""


class Arena(NamedTuple):
    """The slabs of the current layer that are decoded, each in a *frame*. E slabs are read in all.

    words: flat uint64, the frames. live: bool[frames, rows of a slab], whether each row has a bit.
    base: int64[sources, slots of the program], the word where a source's part of the slab of that
        slot begins; -1 if the slab holds no state. Valid for the batch under way.
    holds: int64[frames], the slab in each frame, as an entry of `Reads`; -1 if there is none.
    frame_of: int64[E], the frame of each slab, -1 if it is in none.
    needed_next: int64[frames], the next batch that needs the slab of the frame.
    """

    words: np.ndarray
    live: np.ndarray
    base: np.ndarray
    holds: np.ndarray
    frame_of: np.ndarray
    needed_next: np.ndarray


class BatchTable(NamedTuple):
    """The batches of a task. cuts: the slabs of a strip. batches: int64[batches, 4], as
    `Layout.batches` generates them. slab_nodes, slab_words: as in `Layout`."""

    cuts: int
    batches: np.ndarray
    slab_nodes: int
    slab_words: int


@kernel
def assign_frames(batch, current, arena, reads, new):
    """Assign frames to the slabs that a batch needs; batches come in their order.

    The slab that is replaced is the one that is needed again last, as it is known what all batches
    need: no other choice would decode fewer (L. A. Belady, A study of replacement algorithms for a
    virtual-storage computer, IBM Systems Journal 5, 1966).

    current: int64[E] twice, where each slab begins and ends; equal if it holds no state. new:
    int64, gets the slabs that were in no frame. Returns their number.
    """
    a, r, (begin, end) = Arena(*arena), Reads(*reads), current
    needed = range(r.batch_start[batch], r.batch_start[batch + 1])
    for i in needed:
        if a.frame_of[r.entry[i]] >= 0:
            a.needed_next[a.frame_of[r.entry[i]]] = batch
    count = 0
    for i in needed:
        entry = r.entry[i]
        if begin[entry] < end[entry] and a.frame_of[entry] < 0:
            frame = np.argmax(a.needed_next)
            if a.holds[frame] >= 0:
                a.frame_of[a.holds[frame]] = -1
            a.frame_of[entry], a.holds[frame], a.needed_next[frame] = frame, entry, batch
            new[count] = entry
            count += 1
    for i in needed:
        if a.frame_of[r.entry[i]] >= 0:
            a.needed_next[a.frame_of[r.entry[i]]] = r.next_batch[i]
    return count


@kernel
def _unseal(begin, end, words, masks):
    """Check the slab in stored form at an address, and decode its masks. words: those of a slab.
    Returns (0, or what is wrong with it; its data)."""
    size = end - begin
    data = bytes_at(begin, size + CHECKSUM_BYTES)
    checksum = np.uint64(0)
    for k in range(CHECKSUM_BYTES):
        checksum |= np.uint64(data[size + k]) << np.uint64(8 * k)
    if crc32c(data, 0, size) != checksum:
        return WRONG_CHECKSUM, data
    data = data[:size]
    wrong = 0 if decode_masks(data, words, masks) else NO_BITMAP
    return wrong, data


@kernel
def _seal(size, room):
    """Put the checksum of an encoded slab behind it."""
    checksum = crc32c(room, 0, size)
    for k in range(CHECKSUM_BYTES):
        room[size + k] = np.uint8((checksum >> np.uint64(8 * k)) & np.uint64(255))


@kernel
def _prepare(batch, current, arena, reads, sources, table, new, masks):
    """Bring what a batch needs into the arena. Returns (what is wrong with a slab, the slab), or
    (0, 0)."""
    a, r, cut, (begin, end) = Arena(*arena), Reads(*reads), BatchTable(*table), current
    slab_size, rows = cut.slab_nodes * cut.slab_words, a.live.shape[1]
    row_words = slab_size // rows
    count = assign_frames(batch, current, arena, reads, new)
    for entry in new[:count]:
        frame = a.frame_of[entry]
        first = frame * slab_size
        wrong, data = _unseal(begin[entry], end[entry], slab_size, masks)
        if wrong:
            return wrong, entry
        at = 0
        for row in range(rows):  # one without a bit is not read, so not written
            word = row * row_words
            a.live[frame, row] = has_ones(masks, word, row_words)
            if a.live[frame, row]:
                words = a.words[first + word : first + word + row_words]
                at = decode_words(data, at, masks, word, words)
        for source in range(r.first[entry], r.last[entry]):
            inside = sources[source] % cut.slab_nodes * cut.slab_words
            a.base[source, r.slot[entry]] = first + inside
    return 0, 0


@kernel
def expand_encoded(
    step, current, before, arena, reads, table, start, room, most, numbers, sizes, counts, program,
    swap_tables,
):  # fmt: skip
    """Expand the current layer into the slabs of a task, as many as have room.

    step: the number of slabs that were made before, in the order of the batches.
    current: int64[E] twice, the addresses where the slabs that are read begin and end in stored
        form; equal if they hold no state. before: the same of all slabs of the task's part of the
        layer before the current one.
    arena, reads, table, program, swap_tables: an `Arena`, `Reads`, `BatchTable`, `Program` and
        `Swaps`, as tuples.
    start: (slab, word, bit) of a state that is looked for; -1 as the slab if none is.
    room: uint8, gets the slabs that hold a state, each with its checksum behind it. most: the bytes
        that must be free before a slab is begun.
    numbers, sizes: int64, get the numbers of these slabs, and their bytes without the checksum.
    counts: int64[nodes of the task], to which the states found at each are added.
    Returns (the slabs made by now, how many lie in the room, how often the state that is looked for
        was found, 0 or what is wrong with a slab, whether that is one of the layer before, which it
        is).
    """
    a, cut, p = Arena(*arena), BatchTable(*table), Program(*program)
    before_begin, before_end = before
    row_words, slab_size = Swaps(*swap_tables).parities.size, cut.slab_nodes * cut.slab_words
    rows, live = cut.slab_words // row_words, a.live.reshape(-1)
    row, scratch = np.empty(row_words, np.uint64), np.empty((SPARE_ROWS, row_words), np.uint64)
    masks, masks_before = masks_for(slab_size), masks_for(slab_size)
    new = np.empty(a.holds.size, dtype=np.int64)
    stored, filled, started = 0, 0, 0
    while step < cut.batches.shape[0] * cut.cuts and room.size - filled >= most:
        batch, own_cut = step // cut.cuts, step % cut.cuts
        of = cut.batches[batch]
        first, nodes, prefix, number = of[0], of[1], of[2], of[3] + own_cut
        if own_cut == 0:
            wrong, entry = _prepare(batch, current, arena, reads, p.sources, table, new, masks)
            if wrong:
                return step, stored, started, wrong, False, entry
        holds, at, data = before_begin[number] < before_end[number], 0, room
        if holds:
            wrong, data = _unseal(before_begin[number], before_end[number], slab_size, masks_before)
            if wrong:
                return step, stored, started, wrong, True, number
        masks[0][:] = 0
        first_row, to = (prefix * cut.cuts + own_cut) * rows, filled
        for n in range(nodes):
            for r in range(rows):
                word = (n * rows + r) * row_words
                was_live = holds and has_ones(masks_before, word, row_words)
                if was_live:
                    at = decode_words(data, at, masks_before, word, row)
                states = expand_row(
                    row, was_live, first + n, first_row + r, rows, scratch, a.words, live, a.base,
                    program, swap_tables,
                )  # fmt: skip
                if states:
                    counts[first + n] += states
                    to = encode_words(row, word, masks, room, to)
                    if number == start[0] and 0 <= start[1] - word < row_words:
                        bits = row[start[1] - word] >> np.uint64(start[2])
                        started += np.int64(bits & np.uint64(1))
        if to > filled:
            numbers[stored] = number
            sizes[stored] = encode_masks(slab_size, masks, room, to) - filled
            _seal(sizes[stored], room[filled:])
            filled += sizes[stored] + CHECKSUM_BYTES
            stored += 1
        step += 1
    return step, stored, started, 0, False, 0
