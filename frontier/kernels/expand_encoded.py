"""A task's expansion of slabs in stored form: one kernel from stored bytes to stored bytes.

The kernel goes through the bands of a task. For each band, it takes the slabs of the current layer
that the band needs and, unless they are already in the arena, checks them and decodes them there.
Then it makes the slabs of the band one after the other, one *unit* of rows at a time: it decodes
that unit of the layer before the current one, expands the current layer into it, and encodes the
result. A unit has one row, or as many short rows as fit in two levels of cache. The kernel does
not decode a unit that is empty in the layer before, and does not encode a unit that receives
no state. The interpreter is not needed until the room for encoded slabs is full.
"""

from typing import NamedTuple

import numpy as np

from frontier.codec.crc32c import crc32c
from frontier.codec.instructions import bytes_at
from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.codec.zerobytes_kernels import (
    decode_masks,
    decode_words,
    encode_masks,
    encode_words,
    has_ones,
    masks_for,
)
from frontier.jit import kernel
from frontier.kernels.expand_rows import SPARE_ROWS, expand_rows
from frontier.space.program import Reads
from frontier.space.swaps import clear
from frontier.space.words import ROW_WORDS

WRONG_CHECKSUM, NO_BITMAP = 1, 2
"""The possible faults of a slab in stored form."""


class Arena(NamedTuple):
    """The decoded slabs of the current layer, each in a *frame*. E slabs are read in all.

    words: flat uint64, the frames. data: their bytes. live: bool[frames, rows of a slab], whether
        each row has a bit set.
    base: int64[stacks, slots of the program], the row where the slab of a stack and a slot begins,
        -1 if the slab holds no state. Valid for the current band.
    holds: int64[frames], the slab in each frame, as an entry of `Reads`; -1 if the frame is empty.
    frame_of: int64[E], the frame of each slab, -1 if it is in no frame.
    needed_next: int64[frames], the next band that needs the slab of the frame.
    """

    words: np.ndarray
    data: np.ndarray
    live: np.ndarray
    base: np.ndarray
    holds: np.ndarray
    frame_of: np.ndarray
    needed_next: np.ndarray


class Buffers(NamedTuple):
    """Memory that the kernel overwrites.

    rows: uint64[rows of a unit, words of a row], the current unit. data: its bytes. live: bool, one
        entry for each row. scratch: uint64[SPARE_ROWS, words of a row].
    new: int64[frames], the slabs that the current band brings into frames. masks, masks_before: the
        masks of the current slab, and of the same slab in the layer before the current one.
    """

    rows: np.ndarray
    data: np.ndarray
    live: np.ndarray
    scratch: np.ndarray
    new: np.ndarray
    masks: tuple[np.ndarray, np.ndarray, np.ndarray]
    masks_before: tuple[np.ndarray, np.ndarray, np.ndarray]


def buffers_for(row_words: int, slab_words: int, frames: int) -> Buffers:
    """Return the memory for slabs of `slab_words` words, and an arena of `frames` frames."""
    count = min(max(1, ROW_WORDS // row_words), slab_words // row_words)
    count -= count % 8 if count > 8 else 0  # 64 bytes are decoded at a time
    rows = np.empty((count, row_words), dtype=np.uint64)
    return Buffers(
        rows=rows,
        data=rows.reshape(-1).view(np.uint8),
        live=np.empty(count, dtype=bool),
        scratch=np.empty((SPARE_ROWS, row_words), dtype=np.uint64),
        new=np.empty(frames, dtype=np.int64),
        masks=masks_for(slab_words),
        masks_before=masks_for(slab_words),
    )


class BandTable(NamedTuple):
    """The bands of a task. cuts: the number of slabs in a strip. bands: int64[bands, 4], as
    `Layout.bands` generates them. slab_nodes, slab_words: as in `Layout`."""

    cuts: int
    bands: np.ndarray
    slab_nodes: int
    slab_words: int


@kernel
def assign_frames(band, current, arena, reads, new):
    """Assign frames to the slabs that a band needs. Call this function for the bands in their
    order.

    A new slab replaces the slab whose next use is farthest away. All later needs are known, and no
    other choice would decode fewer slabs (L. A. Belady, A study of replacement algorithms for a
    virtual-storage computer, IBM Systems Journal 5, 1966).

    current: two int64[E], where each slab begins and ends; equal if it holds no state. new: int64,
    receives the slabs that were in no frame. Returns their number.
    """
    a, r, (begin, end) = Arena(*arena), Reads(*reads), current
    needed = range(r.band_start[band], r.band_start[band + 1])
    for i in needed:
        if a.frame_of[r.entry[i]] >= 0:
            a.needed_next[a.frame_of[r.entry[i]]] = band
    count = 0
    for i in needed:
        entry = r.entry[i]
        if begin[entry] < end[entry] and a.frame_of[entry] < 0:
            frame = 0
            for other in range(1, a.needed_next.size):
                if a.needed_next[other] > a.needed_next[frame]:
                    frame = other
            if a.holds[frame] >= 0:
                a.frame_of[a.holds[frame]] = -1
            a.frame_of[entry], a.holds[frame], a.needed_next[frame] = frame, entry, band
            new[count] = entry
            count += 1
    for i in needed:
        if a.frame_of[r.entry[i]] >= 0:
            a.needed_next[a.frame_of[r.entry[i]]] = r.next_band[i]
    return count


@kernel
def _unseal(begin, end, words, masks):
    """Check the slab in stored form at an address, and decode its masks. words: the number of words
    of a slab. Returns (0 or the fault; the slab's data)."""
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
    """Write the checksum of an encoded slab after it."""
    checksum = crc32c(room, 0, size)
    for k in range(CHECKSUM_BYTES):
        room[size + k] = np.uint8((checksum >> np.uint64(8 * k)) & np.uint64(255))


@kernel
def _prepare(band, current, arena, reads, buffers):
    """Bring the slabs that a band needs into the arena. Returns (the fault of a slab, the slab), or
    (0, 0)."""
    a, r, own = Arena(*arena), Reads(*reads), Buffers(*buffers)
    (begin, end), masks = current, own.masks
    rows = a.live.shape[1]
    unit_rows, row_words = own.rows.shape
    count = assign_frames(band, current, arena, reads, own.new)
    for entry in own.new[:count]:
        frame = a.frame_of[entry]
        wrong, data = _unseal(begin[entry], end[entry], rows * row_words, masks)
        if wrong:
            return wrong, entry
        at = 0
        for first in range(0, rows, unit_rows):
            last = min(first + unit_rows, rows)
            if has_ones(masks, first * row_words, (last - first) * row_words):
                for row in range(first, last):
                    a.live[frame, row] = has_ones(masks, row * row_words, row_words)
                to = (frame * rows + first) * row_words
                words = (last - first) * row_words
                at = decode_words(
                    data, at, masks, first * row_words, a.data[8 * to : 8 * (to + words)]
                )
            else:  # nothing is written, because no kernel reads a row that is not live
                for row in range(first, last):
                    a.live[frame, row] = False
        a.base[r.stack[entry], r.slot[entry]] = frame * rows
    return 0, 0


@kernel
def expand_encoded(
    step, current, before, arena, reads, table, start, room, most, numbers, sizes, counts, buffers,
    program, swap_tables,
):  # fmt: skip
    """Expand the current layer into the slabs of a task, until the room is full.

    step: the number of slabs made so far, in the order of the bands.
    current: two int64[E], the addresses where the slabs to read begin and end in stored form; equal
        if a slab holds no state. before: the same for all slabs of the task's part in the layer
        before the current one.
    arena, reads, table, buffers, program, swap_tables: an `Arena`, `Reads`, `BandTable`, `Buffers`,
        `Program` and `Swaps`, as tuples.
    start: (slab, word, bit) of a state to look for; the slab is -1 if there is none.
    room: uint8, receives the slabs that hold a state, each followed by its checksum. most: the
        bytes that must be free before a slab is begun.
    numbers, sizes: int64, receive the numbers of these slabs, and their bytes without the
        checksums.
    counts: int64[nodes of the task], to which the states found at each node are added.
    Returns (the number of slabs made so far, the number in the room, how often `start` was found, 0
        or the fault of a slab, whether that slab is in the layer before, its number).
    """
    a, cut, own = Arena(*arena), BandTable(*table), Buffers(*buffers)
    before_begin, before_end = before
    unit_rows, row_words = own.rows.shape
    slab_size, cut_rows = cut.slab_nodes * cut.slab_words, cut.slab_words // row_words
    sources = a.words, a.live.reshape(-1), a.base, cut_rows
    stored, filled, started = 0, 0, 0
    while step < cut.bands.shape[0] * cut.cuts and room.size - filled >= most:
        band, own_cut = step // cut.cuts, step % cut.cuts
        of = cut.bands[band]
        first_node, nodes, prefix, number = of[0], of[1], of[2], of[3] + own_cut
        if own_cut == 0:
            wrong, entry = _prepare(band, current, arena, reads, buffers)
            if wrong:
                return step, stored, started, wrong, False, entry
        holds, at, data = before_begin[number] < before_end[number], 0, room
        if holds:
            wrong, data = _unseal(
                before_begin[number], before_end[number], slab_size, own.masks_before
            )
            if wrong:
                return step, stored, started, wrong, True, number
        for i in range(own.masks[0].size):
            own.masks[0][i] = 0
        first_row, to = (prefix * cut.cuts + own_cut) * cut_rows, filled
        for first in range(0, nodes * cut_rows, unit_rows):
            count = min(unit_rows, nodes * cut_rows - first)
            word, words = first * row_words, count * row_words
            unit = own.data[: 8 * words]
            was_live = holds and has_ones(own.masks_before, word, words)
            if was_live:
                at = decode_words(data, at, own.masks_before, word, unit)
            elif unit_rows > 1:  # a row without new states is encoded with the rest of its unit
                clear(own.rows.reshape(-1))
            for i in range(count):
                own.live[i] = was_live
            rows = own.rows, own.live[:count], first, cut_rows, first_node, first_row, counts
            states = expand_rows(rows, sources, own.scratch, program, swap_tables)
            if states:
                to = encode_words(unit, word, own.masks, room, to)
                if number == start[0] and 0 <= start[1] - word < words:
                    at_start = start[1] - word
                    bits = own.rows[at_start // row_words, at_start % row_words]
                    started += np.int64((bits >> np.uint64(start[2])) & np.uint64(1))
        if to > filled:
            numbers[stored] = number
            sizes[stored] = encode_masks(slab_size, own.masks, room, to) - filled
            _seal(sizes[stored], room[filled:])
            filled += sizes[stored] + CHECKSUM_BYTES
            stored += 1
        step += 1
    return step, stored, started, 0, False, 0
