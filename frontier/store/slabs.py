"""Some slabs of a layer, read at once and decoded one by one as they are wanted.

They stay as they are stored until then: a third of the memory, and what is decoded is used while it
is still in the processor's caches.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from frontier.space.layout import Layout
from frontier.space.lists import set_bits
from frontier.store.codecs import SlabCodec
from frontier.store.parts import Part

NO_SLAB = "its bytes are no slab of this codec"

Allocate = Callable[[int], np.ndarray]
"""Gives memory: from a number of bytes, an uninitialised array of as many uint8."""


def new_memory(size: int) -> np.ndarray:
    """Memory that was not used before."""
    return np.empty(size, dtype=np.uint8)


class EncodedSlabs:
    """Some slabs of a layer of bits, in memory as they are stored.

    there: bool[N], which of them hold a state.
    """

    def __init__(
        self,
        part_of: Callable[[int], Part],
        codec: SlabCodec,
        task: np.ndarray,
        slab: np.ndarray,
        allocate: Allocate,
    ):
        """part_of: the part of a task. task, slab: int64[N]. allocate: memory for what is read."""
        self._part_of, self._codec, self._task, self._slab = part_of, codec, task, slab
        self.there = np.zeros(slab.size, dtype=bool)
        self._begin, self._end = np.zeros((2, slab.size), dtype=np.int64)
        parts = []
        for number in np.unique(task).tolist():
            part, here = part_of(number), np.flatnonzero(task == number)
            here = here[part.has(slab[here])]
            parts.append((part, here, part.stored_bytes(slab[here])))
            self.there[here] = True
        self._data, at = allocate(sum(size for _, _, size in parts)), 0
        for part, here, size in parts:
            begin, end = part.read(slab[here], self._data[at : at + size])
            self._begin[here], self._end[here] = begin + at, end + at
            at += size

    def decode(self, some: np.ndarray, out: np.ndarray, rows: np.ndarray) -> None:
        """Write the words of some slabs that are there to rows of a contiguous uint64[M, words].

        some, rows: int64[K], places among the slabs and in `out`. CorruptRunError if one is
        damaged.
        """
        begin, end = self._begin[some], self._end[some]
        good = self._codec.decode_slabs(self._data, begin, end, out, rows)
        if good < some.size:
            wrong = int(some[good])
            part = self._part_of(int(self._task[wrong]))
            raise part.damaged(int(self._slab[wrong]), NO_SLAB)


class ListedSlabs:
    """Some slabs of a layer that is a list, with the same methods."""

    def __init__(
        self,
        layout: Layout,
        side: int,
        numbers: np.ndarray,
        keys: np.ndarray,
        task: np.ndarray,
        slab: np.ndarray,
    ):
        """numbers: uint64, all states of the layer, slab by slab. keys: int64, the slab of each,
        counted through all parts.
        """
        self._layout, self._side, self._numbers = layout, side, numbers
        self._task, self._slab = task, slab
        key = task * prod(layout.grid) + slab
        self._first, self._end = (np.searchsorted(keys, key + more) for more in (0, 1))
        self.there = self._end > self._first

    def decode(self, some: np.ndarray, out: np.ndarray, rows: np.ndarray) -> None:
        layout = self._layout
        for i, row in zip(some.tolist(), rows.tolist(), strict=True):
            task = layout.task(self._side, int(self._task[i]))
            node, prefix, word = layout.slab_of(task, int(self._slab[i]))
            out[row] = 0
            set_bits(
                out[row].reshape(layout.slab_nodes, layout.slab_words),
                self._numbers[self._first[i] : self._end[i]],
                node,
                prefix * layout.strip_words + word,
                layout.space.code.half,
                layout.space.code.bits,
            )
