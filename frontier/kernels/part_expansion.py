"""The computing of a part: the layer step of a task, without files.

The slabs that a task reads are held in stored form, and kernels decode them into an arena when they
are needed. The slabs of the next layer are made one after the other in stored form, and handed to
their writer.
"""

from collections.abc import Callable

import numpy as np

from frontier.codec.slabs import MISMATCH, NO_SLAB, Slabs, most_stored_bytes
from frontier.space.layout import Layout, Task
from frontier.space.program import Program, Reads, Swaps

ARENA_BYTES = 8_000_000
"""The bytes of an arena, unless a band needs more."""


def arena_frames(layout: Layout, reads: Reads) -> int:
    """Return the number of slabs for which an arena has room: 1.5 times as many as the largest band
    needs, or more if they are small."""
    most = int(np.diff(reads.band_start).max(initial=0))
    room = max(most + most // 2, ARENA_BYTES // layout.slab_bytes)
    return max(1, min(reads.slab.size, room))


class Expansion:
    """Makes the slabs of a task's part, some at a time.

    An arena of a few megabytes, which holds what a few bands of rows need, stays in the
    processor's caches, where decoding is several times as fast as in memory. A slab that was
    replaced and is needed again is decoded again. With 2 x 7 and with 3 x 5 tiles that amounts to
    nothing; if the slab that no band has needed for longest were replaced, and the arena held no
    more than the largest band needs, each slab of one side of 3 x 5 would be decoded twice.

    made: the number of slabs made by now, empty or not. counts: int64[nodes of the
    task], the states found at each by now. started: how often the state at `start` was found.
    """

    def __init__(
        self,
        layout: Layout,
        task: Task,
        swaps: Swaps,
        program: Program,
        reads: Reads,
        current: Slabs,
        before: Slabs,
        allocate: Callable[[int], np.ndarray],
        start: tuple[int, int, int] | None = None,
    ):
        """current: the slabs of `reads`. before: all slabs of the same part of the layer before the
        current one. allocate: returns an uninitialised uint8 array of a size. start: (slab, word,
        bit) of a state, None if it is not of this task."""
        # This loads Numba, which a search without large layers does not need.
        from frontier.kernels.expand_encoded import Arena, BandTable, buffers_for

        self._current, self._before, self._start = current, before, start or (-1, 0, 0)
        frames = arena_frames(layout, reads)
        data = allocate(frames * layout.slab_bytes)
        slab_words = layout.slab_nodes * layout.slab_words
        bands = np.array(list(layout.bands(task)), dtype=np.int64).reshape(-1, 4)
        self._arena = Arena(
            words=data.view(np.uint64),
            data=data,
            live=np.zeros((frames, slab_words // layout.row_words), dtype=bool),
            base=np.full(program.needed.shape, -1, dtype=np.int64),
            holds=np.full(frames, -1),
            frame_of=np.full(reads.slab.size, -1),
            needed_next=np.full(frames, len(bands)),
        )
        self._table = BandTable(layout.cuts, bands, layout.slab_nodes, layout.slab_words)
        self._reads, self._tables = tuple(reads), (tuple(program), tuple(swaps))
        self._buffers = tuple(buffers_for(layout.row_words, slab_words, frames))
        self._most = most_stored_bytes(slab_words)
        self.made, self._slabs = 0, len(bands) * layout.cuts
        self._numbers, self._sizes = np.empty((2, self._slabs), dtype=np.int64)
        self.counts, self.started = np.zeros(len(task.nodes), dtype=np.int64), 0

    @property
    def done(self) -> bool:
        return self.made == self._slabs

    def make(self, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make as many of the next slabs as fit, at least one.

        room: uint8, gets those that hold a state in stored form, each with its checksum behind it.
        Returns their numbers in the part, and their bytes without the checksums, int64[N] each,
        valid until the next call. Raises ValueError if the room is less than `most_stored_bytes` of
        a slab, and the error of `Slabs.damaged` if a slab that is read is wrong.
        """
        from frontier.kernels.expand_encoded import WRONG_CHECKSUM, expand_encoded

        if room.size < self._most:
            raise ValueError(f"{room.size:,} bytes are no room for a slab: {self._most:,} needed")
        current, before = self._current, self._before
        self.made, stored, started, wrong, of_before, number = expand_encoded(
            self.made, (current.begin, current.end), (before.begin, before.end),
            tuple(self._arena), self._reads, tuple(self._table), self._start, room, self._most,
            self._numbers, self._sizes, self.counts, self._buffers, *self._tables,
        )  # fmt: skip
        if wrong:
            why = MISMATCH if wrong == WRONG_CHECKSUM else NO_SLAB
            raise (before if of_before else current).damaged(number, why)
        self.started += started
        return self._numbers[:stored], self._sizes[:stored]
