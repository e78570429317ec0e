"""The computing of a part: the layer step, batch by batch, without files.

The slabs of the current layer that a task reads are held in stored form, and those that a batch of
its rows needs are decoded into its arena. The slabs of the next layer are made one after the other,
and handed in stored form to whoever writes them.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from frontier.space.bits import expand, live_rows
from frontier.space.layout import Layout, Task
from frontier.space.program import Program, Reads, Swaps
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import CHECKSUM_BYTES, SlabCodec, encoded_bytes

ARENA_BYTES = 8_000_000
"""The bytes of an arena, unless a batch needs more."""


class Slabs(Protocol):
    """Slabs that hold a state or not (`filled`), and are decoded when they are needed: those of
    `frontier.store.reader`."""

    filled: np.ndarray

    def decode(self, some: np.ndarray, out: np.ndarray, rows: np.ndarray) -> None: ...

    def encoded(
        self, first: int, last: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None: ...

    def damaged(self, entry: int) -> Exception: ...


class Sink(Protocol):
    """Takes slabs in stored form, as `frontier.store.parts.PartWriter` does."""

    def room(self, slab_bytes: int) -> np.ndarray: ...

    def add(self, numbers: np.ndarray, sizes: np.ndarray) -> None: ...


class Expansion:
    """Makes the slabs of a part."""

    def __init__(
        self,
        layout: Layout,
        swaps: Swaps,
        program: Program,
        arena: "Arena",
        before: Slabs,
        codec: SlabCodec,
        clock: Stopwatch,
    ):
        """before: all slabs of the same part of the layer before the current one. codec: that of
        both layers."""
        self._layout, self._swaps, self._program, self._arena = layout, swaps, program, arena
        self._before, self._codec, self._clock = before, codec, clock
        self._most = encoded_bytes(layout.slab_bytes)
        self._slab = np.empty((layout.slab_nodes, layout.slab_words), dtype=np.uint64)

    def run(
        self, task: Task, sink: Sink, start: tuple[int, int, int] | None = None
    ) -> Iterator[tuple[slice, np.ndarray, int]]:
        """Make all slabs of a task, and add those that hold a state to a sink.

        Generates some consecutive slabs at a time, those of a strip if the sink has room: (their
        nodes, int64[nodes] the states found at each, 1 if the state at `start` is one of them, else
        0). start: (slab, word, bit).
        """
        cuts, watched = self._layout.cuts, start[0] if start else -1
        for batch, (first, nodes, prefix, slab) in enumerate(self._layout.batches(task)):
            self._arena.prepare(batch)
            end, stored = slab + cuts, None
            if self._codec.by_kernels:
                stored = self._before.encoded(slab, end)
                self._clock.lap("codec")
            at = slab
            while at < end:
                # The slab of the start is made last, so that its words are there afterwards.
                until = watched + 1 if at <= watched < end else end
                counts, room = np.zeros(nodes, dtype=np.int64), sink.room(self._layout.slab_bytes)
                step = range(at, until), prefix * cuts + at - slab, first, counts, room
                if stored is None:
                    sizes = self._make_each(*step)
                else:
                    data, *spans = stored
                    spans = (of[at - slab : until - slab] for of in spans)
                    sizes = self._make_encoded((data, *spans), *step)
                filled = np.flatnonzero(sizes)
                sink.add(at + filled, sizes[filled])
                at += sizes.size
                found = 0
                if at == watched + 1:
                    _, word, bit = start
                    found = int(self._slab.reshape(-1)[word]) >> bit & 1
                begin = task.first_node + first
                yield slice(begin, begin + nodes), counts, found

    def _make_encoded(self, stored, slabs, first_slab, first_node, counts, room) -> np.ndarray:
        """Do what `_make_each` does in one call. stored: the result of `encoded` of the slabs."""
        # Numba is loaded with it, which a search without large layers does without.
        from frontier.space.expand_encoded import NOT_DECODED, expand_encoded

        arena, program, sizes = self._arena, self._program, np.empty(len(slabs), dtype=np.int64)
        made = expand_encoded(
            *stored, first_slab, first_node, counts, arena.words, arena.live, arena.base,
            program.own_slots, self._slab, room, self._most, CHECKSUM_BYTES, sizes,
            tuple(program), tuple(self._swaps),
        )  # fmt: skip
        if sizes[made - 1] == NOT_DECODED:
            raise self._before.damaged(slabs[made - 1])
        self._clock.lap("kernel")
        return sizes[:made]

    def _make_each(self, slabs, first_slab, first_node, counts, room) -> np.ndarray:
        """Make some slabs one by one, as many as have room: those of these numbers in the part, of
        which the first is `first_slab` among those of one node.

        Adds the states found to `counts`. Returns int64, the bytes of each slab in `room`.
        """
        words, arena, sizes, at = self._slab.reshape(1, -1), self._arena, [], 0
        target = self._slab[: counts.size]
        for own, number in enumerate(slabs, start=first_slab):
            if room.size - at < self._most:
                break
            live = np.full(target.size // self._layout.row_words, self._before.filled[number])
            if self._before.filled[number]:
                self._before.decode(np.array([number]), words, np.zeros(1, dtype=np.int64))
            else:
                words[:] = 0
            self._clock.lap("codec")
            counts += expand(
                target, live, first_node, range(own, own + 1), arena.words, arena.live, arena.base,
                self._program, self._swaps,
            )  # fmt: skip
            self._clock.lap("kernel")
            sizes.append(self._codec.encode(words, room[at:]) if live.any() else 0)
            at += sizes[-1] + CHECKSUM_BYTES * (sizes[-1] > 0)
            self._clock.lap("codec")
        return np.array(sizes, dtype=np.int64)


def arena_slots(layout: Layout, reads: Reads) -> int:
    """Return the number of slabs for which an arena has room: half as many again as the largest
    batch needs, or more if they are small."""
    most = max((entries.size for entries in reads.batches), default=0)
    room = max(most + most // 2, ARENA_BYTES // layout.slab_bytes)
    return max(1, min(reads.slab.size, room))


class ArenaSlots:
    """Tracks which slabs of a task's `Reads` are in which slots of its arena.

    The slab that is replaced is the one that is needed again last, as it is known what all batches
    need: no other choice would decode fewer (L. A. Belady, A study of replacement algorithms for a
    virtual-storage computer, IBM Systems Journal 5, 1966).
    """

    def __init__(self, reads: Reads, count: int):
        """count: the number of slots, at least as many as any batch needs."""
        self._holds, self._slot_of = np.full(count, -1), np.full(reads.slab.size, -1)
        self._needed_next = np.full(count, len(reads.batches))
        self._reads = reads

    def take(self, batch: int, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Assign slots to the slabs that a batch needs; batches come in their order.

        needed: int64[N], those entries of the batch that hold a state. Returns the slabs that were
        not in the arena, as entries of `Reads`, and the slots that they get.
        """
        slot = self._slot_of[needed]
        self._needed_next[slot[slot >= 0]] = batch
        new = needed[slot < 0]
        slots = np.argsort(-self._needed_next, kind="stable")[: new.size]
        evicted = self._holds[slots]
        self._slot_of[evicted[evicted >= 0]] = -1
        self._slot_of[new], self._holds[slots] = slots, new
        places = np.searchsorted(self._reads.batches[batch], needed)
        self._needed_next[self._slot_of[needed]] = self._reads.needed_next[batch][places]
        return new, slots


class Arena:
    """The slabs of the current layer that a task reads, decoded: `words`, `live` and `base`, as
    `expand` reads them, valid for one batch at a time.

    A task holds all that it reads in stored form, and decodes what a batch of its rows needs when
    it comes to the batch: an arena of some megabytes stays in the processor's caches, where that is
    several times as fast as in memory. A slab that was replaced and is needed again is decoded
    again. With 2 x 7 and with 3 x 5 tiles that comes to nothing; if the slab that no batch has
    needed for longest were replaced, and the arena held no more than the largest batch needs, each
    slab of one side of 3 x 5 would be decoded twice.
    """

    def __init__(
        self,
        layout: Layout,
        program: Program,
        reads: Reads,
        slabs: Slabs,
        allocate: Callable[[int], np.ndarray],
        clock: Stopwatch,
    ):
        """slabs: those of `reads`. allocate: returns an uninitialised array of so many uint8."""
        self._layout, self._program, self._reads = layout, program, reads
        self._slabs, self._clock = slabs, clock
        self._count = arena_slots(layout, reads)
        self._slots = ArenaSlots(reads, self._count)
        self.words = allocate(self._count * layout.slab_bytes).view(np.uint64)
        self.live = np.zeros(self.words.size // layout.row_words, dtype=bool)
        self.base = np.full(program.needed.shape, -1, dtype=np.int64)

    def prepare(self, batch: int) -> None:
        """Decode the slabs that a batch needs and the arena does not hold."""
        needed = self._reads.batches[batch]
        new, slots = self._slots.take(batch, needed[self._slabs.filled[needed]])
        self._point_to(new, slots)
        self._clock.lap("rest")
        self._slabs.decode(new, self.words.reshape(self._count, -1), slots)
        self._clock.lap("codec")
        live = self.live.reshape(self._count, -1)
        live_rows(self.words, self._layout.row_words, live, slots)
        self._clock.lap("kernel")

    def _point_to(self, entries: np.ndarray, slots: np.ndarray) -> None:
        """Note in `base` where in the arena the nodes of these slabs begin."""
        layout, reads, sources = self._layout, self._reads, self._program.sources
        begin = slots * (layout.slab_nodes * layout.slab_words)
        if layout.slab_nodes == 1:
            self.base[reads.first[entries], reads.slot[entries]] = begin
            return
        for i, at in zip(entries.tolist(), begin.tolist(), strict=True):
            nodes = slice(reads.first[i], reads.last[i])
            inside = sources[nodes] % layout.slab_nodes * layout.slab_words
            self.base[nodes, reads.slot[i]] = at + inside
