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
def _prepare(batch, current, arena, reads, sources, table, new):
    """Bring what a batch needs into the arena. Returns (what is wrong with a slab, the slab), or
    (0, 0)."""
    a, r, cut, (begin, end) = Arena(*arena), Reads(*reads), BatchTable(*table), current
    slab_size = cut.slab_nodes * cut.slab_words
    count = assign_frames(batch, current, arena, reads, new)
    frames = np.empty(count, dtype=np.int64)
    for i in range(count):
        entry = new[i]
        frames[i] = a.frame_of[entry]
        at = frames[i] * slab_size
        wrong = _decode_sealed(begin[entry], end[entry], a.words[at : at + slab_size])
        if wrong:
            return wrong, entry
        for source in range(r.first[entry], r.last[entry]):
            inside = sources[source] % cut.slab_nodes * cut.slab_words
            a.base[source, r.slot[entry]] = at + inside
    live_rows(a.words, slab_size // a.live.shape[1], a.live, frames)
    return 0, 0


@kernel
def expand_encoded(
    step, current, before, arena, reads, table, slab, start, room, most, numbers, sizes, counts,
    program, swap_tables,
):  # fmt: skip
    """Expand the current layer into the slabs of a task, as many as have room.

    step: the number of slabs that were made before, in the order of the batches.
    current: int64[E] twice, the addresses where the slabs that are read begin and end in stored
        form; equal if they hold no state. before: the same of all slabs of the task's part of the
        layer before the current one.
    arena, reads, table, program, swap_tables: an `Arena`, `Reads`, `BatchTable`, `Program` and
        `Swaps`, as tuples.
    slab: uint64[nodes of a slab, its words of one node], scratch.
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
    words, row_words = slab.reshape(-1), Swaps(*swap_tables).parities.size
    rows = slab.shape[1] // row_words
    live, filled = a.live.reshape(-1), np.empty(slab.shape[0] * rows, dtype=np.bool_)
    new = np.empty(a.holds.size, dtype=np.int64)
    stored, at, started = 0, 0, 0
    while step < cut.batches.shape[0] * cut.cuts and room.size - at >= most:
        batch, own_cut = step // cut.cuts, step % cut.cuts
        of = cut.batches[batch]
        first, nodes, prefix, number = of[0], of[1], of[2], of[3] + own_cut
        if own_cut == 0:
            wrong, entry = _prepare(batch, current, arena, reads, p.sources, table, new)
            if wrong:
                return step, stored, started, wrong, False, entry
        holds = before_begin[number] < before_end[number]
        filled[:] = holds
        if holds:
            wrong = _decode_sealed(before_begin[number], before_end[number], words)
            if wrong:
                return step, stored, started, wrong, True, number
        else:
            words[:] = 0
        own = prefix * cut.cuts + own_cut
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
    return step, stored, started, 0, False, 0
