"""The slabs of the current layer that a task is looking at, decoded.

A task holds all that it reads as it is stored, and decodes what a batch of its rows needs when it
comes to the batch: an arena of some megabytes stays in the processor's caches, where that is
several times as fast as in memory. The slab that no batch has needed for longest makes place for
another one. A slab that is needed again later is decoded again: with 2 x 7 tiles every twelfth one,
with 3 x 5 tiles every third one or, on the other side, each one.
"""

import numpy as np

from frontier.space.bits import live_rows
from frontier.space.layout import Layout
from frontier.space.program import Program, Reads
from frontier.stopwatch import Stopwatch
from frontier.store.reader import Allocate, EncodedSlabs, ListedSlabs

ARENA_BYTES = 8_000_000
"""Bytes of an arena, if that is enough for a batch."""


class Places:
    """Which slabs of a task's `Reads` are in which places of its arena."""

    def __init__(self, layout: Layout, reads: Reads):
        most = max((entries.size for entries in reads.batches), default=0)
        self.count = max(1, most, min(reads.slab.size, ARENA_BYTES // layout.slab_bytes))
        self._holds = np.full(self.count, -1)
        self._last = np.full(self.count, -1)
        self._place = np.full(reads.slab.size, -1)
        self._batch = 0

    def take(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make place for what the next batch needs: the entries that were not there, and where
        they go."""
        self._batch += 1
        place = self._place[wanted]
        self._last[place[place >= 0]] = self._batch
        new = wanted[place < 0]
        taken = np.argsort(self._last, kind="stable")[: new.size]
        gone = self._holds[taken]
        self._place[gone[gone >= 0]] = -1
        self._place[new], self._holds[taken], self._last[taken] = taken, new, self._batch
        return new, taken


class Arena:
    """What `expand` reads: `words`, `live` and `base`, right for one batch at a time."""

    def __init__(
        self,
        layout: Layout,
        program: Program,
        reads: Reads,
        slabs: EncodedSlabs | ListedSlabs,
        allocate: Allocate,
        clock: Stopwatch,
    ):
        """slabs: those of `reads`."""
        self._layout, self._program, self._reads = layout, program, reads
        self._slabs, self._clock = slabs, clock
        self._places = Places(layout, reads)
        self.words = allocate(self._places.count * layout.slab_bytes).view(np.uint64)
        self.live = np.zeros(self.words.size // layout.row_words, dtype=bool)
        self.base = np.full(program.needed.shape, -1, dtype=np.int64)

    def prepare(self, batch: int) -> None:
        """Decode what a batch needs and is not there."""
        wanted = self._reads.batches[batch]
        new, taken = self._places.take(wanted[self._slabs.there[wanted]])
        self._point_to(new, taken)
        self._clock.lap("rest")
        self._slabs.decode(new, self.words.reshape(self._places.count, -1), taken)
        self._clock.lap("codec")
        live = self.live.reshape(self._places.count, -1)
        live_rows(self.words, self._layout.row_words, live, taken)
        self._clock.lap("kernel")

    def _point_to(self, entries: np.ndarray, places: np.ndarray) -> None:
        """Enter where the nodes of slabs lie."""
        layout, reads, sources = self._layout, self._reads, self._program.sources
        begin = places * (layout.slab_nodes * layout.slab_words)
        if layout.slab_nodes == 1:
            self.base[reads.first[entries], reads.slot[entries]] = begin
            return
        for i, at in zip(entries.tolist(), begin.tolist(), strict=True):
            nodes = slice(reads.first[i], reads.last[i])
            inside = sources[nodes] % layout.slab_nodes * layout.slab_words
            self.base[nodes, reads.slot[i]] = at + inside
