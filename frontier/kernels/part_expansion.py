"""Computing a part: a task's expansion of one layer, without files.

The slabs that a task reads are held in stored form. The task makes the slabs of the next layer one
after the other in stored form, and hands them to their writer.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, Self

import numpy as np

from frontier.codec.slabs import Slabs, most_stored_bytes
from frontier.space.layout import Layout, Task
from frontier.space.words import WORD_BYTES

SAMPLE_TASKS = 4
"""The most tasks of a side that are examined to estimate the cost of a layout. They have the same
prefixes, and different nodes."""

SMALL_LAYER = 100_000_000
"""Layers with fewer bytes need not be divided among the workers."""

LARGE_TASK = 600_000_000
"""Parts need not be larger than this many bytes, because tasks with smaller parts hardly read
more."""


class PartTables(ABC):
    """The data known about a task before it begins.

    read_parts, read_slabs: int64[E], the slabs of the current layer that the task reads if they
    exist: the part of each, and its number there. nbytes: the bytes of the tables. arena_bytes: the
    bytes of the memory into which an expansion decodes slabs.
    """

    read_parts: np.ndarray
    read_slabs: np.ndarray
    nbytes: int
    arena_bytes: int

    def __init__(self, layout: Layout[Any], task: Task):
        self.layout, self.task = layout, task

    @classmethod
    def samples(cls, layout: Layout[Any], side: int) -> Iterator[Self]:
        """Generate the tables of some tasks, which show what a layout costs."""
        if groups := layout.groups(side):
            first = layout.task_count(side) // groups // 2 * groups
            for number in range(first, first + groups, ceil(groups / SAMPLE_TASKS)):
                yield cls(layout, layout.task(side, number))

    @abstractmethod
    def word_seconds(self, slabs: np.ndarray) -> float:
        """Return the processor seconds per word of an expansion that reads these slabs,
        uint64[slabs, words], over and over in place of its own."""


class Expansion(ABC):
    """Makes the slabs of a task's part, some at a time.

    made: how many slabs have been made, empty ones included. counts: int64[nodes of the task], the
    number of states found at each node so far. started: how often the state at `start` was found.
    """

    def __init__(
        self,
        tables: PartTables,
        current: Slabs,
        before: Slabs,
        allocate: Callable[[int], np.ndarray],
        start: tuple[int, int, int] | None = None,
    ):
        """current: the slabs that the tables name. before: all slabs of the same part of the layer
        before the current one. allocate: returns an uninitialised uint8 array of a given size.
        start: (slab, word, bit) of a state, None if the state does not belong to this task."""
        self._layout, self._task = layout, task = tables.layout, tables.task
        self._current, self._before, self._start = current, before, start or (-1, 0, 0)
        self._bands = np.array(list(layout.bands(task)), dtype=np.int64).reshape(-1, 4)
        self._most = most_stored_bytes(layout.slab_bytes // WORD_BYTES)
        self.made, self._slabs = 0, len(self._bands) * layout.cuts
        self.counts, self.started = np.zeros(len(task.nodes), dtype=np.int64), 0
        self._begin(tables, allocate(tables.arena_bytes))

    @property
    def done(self) -> bool:
        return self.made == self._slabs

    def make(self, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make as many of the next slabs as fit, at least one.

        room: uint8, receives, in stored form, the slabs that hold a state, each followed by its
        checksum. Returns their numbers in the part, and their bytes without the checksums, int64[N]
        each, valid until the next call. Raises ValueError if the room is less than
        `most_stored_bytes` of a slab, and the error of `Slabs.damaged` if it reads a damaged slab.
        """
        if room.size < self._most:
            raise ValueError(f"{room.size:,} bytes are no room for a slab: {self._most:,} needed")
        return self._make(room)

    @abstractmethod
    def _begin(self, tables: Any, arena: np.ndarray) -> None:
        """Prepare to make slabs. arena: uninitialised memory, uint8."""

    @abstractmethod
    def _make(self, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Do the work of `make`, with enough room for a slab."""
