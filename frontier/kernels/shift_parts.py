"""The parts of a space of shifts: their expansion, and the layouts of tasks."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import ceil, prod

import numpy as np

from frontier.codec.slabs import MISMATCH, NO_SLAB
from frontier.kernels.expand_rows import expand
from frontier.kernels.part_expansion import LARGE_TASK, SMALL_LAYER, Expansion, PartTables
from frontier.kernels.shift_search import LOOK_UP_SECONDS
from frontier.space.graph import Space
from frontier.space.layout import Layout, Task
from frontier.space.program import Reads, Swaps, program_of, reads_of, swaps_of
from frontier.space.words import WORD_BYTES

ARENA_BYTES = 8_000_000
"""The most bytes of an arena, unless a band needs more."""

SAMPLE_SECONDS = 0.2
"""The seconds for which the kernel is timed."""

PART_WORD_SECONDS, FILE_SECONDS = 2e-9, 0.5e-3
"""The seconds that a worker needs to read a word (a word that it makes counts as two), and to open
or make a file."""

TASK_SECONDS = 1e-3
"""The seconds that a scheduler on its own processor needs for a task."""

SMALL_TASK = 8_000_000
"""A layer with fewer bytes is one task."""

MANY_TASKS = 50_000
"""Tasks are larger than `LARGE_TASK` if a layer would otherwise have more tasks than this, because
the scheduler hands tasks out one by one."""

FINE_TASK = 30_000_000
"""Tasks with fewer bytes than this are not divided further."""


def arena_frames(layout: Layout, reads: Reads) -> int:
    """Return how many slabs fit in an arena: 1.5 times as many as the largest band needs, or more
    if they are small."""
    most = int(np.diff(reads.band_start).max(initial=0))
    room = max(most + most // 2, ARENA_BYTES // layout.slab_bytes)
    return max(1, min(reads.slab.size, room))


class ShiftTables(PartTables):
    """The program of a task, and the slabs that it reads."""

    def __init__(self, layout: Layout[Space], task: Task):
        super().__init__(layout, task)
        self.program = program_of(layout, task)
        self.reads = reads_of(layout, task, self.program)
        self.read_parts, self.read_slabs = self.reads.task, self.reads.slab
        self.nbytes = self.program.nbytes + self.reads.nbytes
        self.frames = arena_frames(layout, self.reads)
        self.arena_bytes = self.frames * layout.slab_bytes

    @cached_property
    def swaps(self) -> Swaps:
        return swaps_of(self.layout)

    @property
    def cost(self) -> tuple[float, float]:
        """The approximate seconds that the task takes, and the number of words that it makes."""
        slab_words = self.layout.slab_bytes / WORD_BYTES
        files, made = np.unique(self.read_parts).size + 2, self.layout.slabs_made(self.task)
        seconds = files * FILE_SECONDS
        seconds += (self.read_slabs.size + 2 * made) * slab_words * PART_WORD_SECONDS
        return seconds + self.program.look_ups * LOOK_UP_SECONDS, made * slab_words

    def word_seconds(self, slabs: np.ndarray) -> float:
        layout, reads, words, seconds = self.layout, self.reads, 0, 0.0
        base = np.full(self.program.needed.shape, -1, dtype=np.int64)
        counts = np.zeros(len(self.task.nodes), dtype=np.int64)
        rows = layout.rows // layout.cuts
        read = np.arange(reads.slab.size) % len(slabs)
        base[reads.stack, reads.slot] = read * layout.slab_nodes * rows
        arena = slabs.reshape(-1)
        live = np.any(arena.reshape(-1, layout.row_words), axis=1)
        for first, nodes, prefix, _ in layout.bands(self.task):
            target = np.resize(arena, (nodes, layout.slab_words))
            target_live = np.ones(nodes * rows, dtype=bool)
            own = range(prefix * layout.cuts, prefix * layout.cuts + 1)
            began = time.thread_time()
            expand(
                target, target_live, first, own, counts, arena, live, base, self.program, self.swaps
            )
            seconds, words = seconds + time.thread_time() - began, words + target.size
            if seconds > SAMPLE_SECONDS:
                break
        return seconds / words


class ShiftExpansion(Expansion):
    """Makes slabs with one kernel.

    An arena of a few megabytes holds the slabs that a few bands of rows need. It stays in the
    processor's caches, where decoding is several times as fast as in memory. A slab that was
    replaced and is needed again is decoded again. On the 2 x 7 and 3 x 5 boards such slabs take no
    measurable time. If the least recently used slab were replaced, and the arena held no more
    than the largest band needs, each slab of one side of 3 x 5 would be decoded twice.
    """

    def _begin(self, tables: ShiftTables, arena: np.ndarray) -> None:
        # This import loads Numba, which a search without large layers does not need.
        from frontier.kernels.expand_encoded import Arena, BandTable, buffers_for

        layout, frames, reads = tables.layout, tables.frames, tables.reads
        slab_words = layout.slab_nodes * layout.slab_words
        self._arena = Arena(
            words=arena.view(np.uint64),
            data=arena,
            live=np.zeros((frames, slab_words // layout.row_words), dtype=bool),
            base=np.full(tables.program.needed.shape, -1, dtype=np.int64),
            holds=np.full(frames, -1),
            frame_of=np.full(reads.slab.size, -1),
            needed_next=np.full(frames, len(self._bands)),
        )
        self._table = BandTable(layout.cuts, self._bands, layout.slab_nodes, layout.slab_words)
        self._reads, self._tables = tuple(reads), (tuple(tables.program), tuple(tables.swaps))
        self._buffers = tuple(buffers_for(layout.row_words, slab_words, frames))
        self._numbers, self._sizes = np.empty((2, self._slabs), dtype=np.int64)

    def _make(self, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from frontier.kernels.expand_encoded import WRONG_CHECKSUM, expand_encoded

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


def task_layouts(space: Space, memory: int, workers: int) -> list[Layout[Space]]:
    """Return the layouts to choose from, the cheapest first.

    The cost of a layout is estimated from the tables of a few of its tasks: the files and slabs
    that they read, the words that they make and the stretches that they look up.
    """

    def word_seconds(layout: Layout[Space]) -> float:
        seconds = 0.0
        for side in range(space.sides):
            if costs := [tables.cost for tables in ShiftTables.samples(layout, side)]:
                spent, made = map(sum, zip(*costs, strict=True))
                seconds = max(seconds, spent / made)
        tasks, words = layout.task_count(0), layout.layer_bytes(0) // WORD_BYTES
        if words * WORD_BYTES >= SMALL_LAYER:
            # At the end of a layer, workers are idle for about the time of one task; tasks are
            # handed out one by one.
            seconds += workers * (seconds / tasks + TASK_SECONDS * tasks / words)
        return seconds

    candidates = dict.fromkeys(_candidates(space, memory))  # some occur more than once
    return sorted(candidates, key=word_seconds) or [_finest(space)]


def _finest(space: Space) -> Layout:
    """Return the layout with the smallest tasks that the voltages allow. A layout without a prefix
    is always allowed."""
    layouts = (Layout(space, digits, 1) for digits in reversed(range(len(space.code.leading) + 1)))
    return next(layout for layout in layouts if layout.fits_voltages)


def _candidates(space: Space, memory: int) -> Iterator[Layout]:
    """Generate the layouts to choose from: prefixes of every length, and enough tasks that each one
    fits. The tasks share either the nodes or the siblings."""
    nodes, leading = max(space.nodes), space.code.leading
    layer = nodes * space.code.words * WORD_BYTES
    most = max(1, min(memory, max(LARGE_TASK, layer // MANY_TASKS)))
    if nodes * space.code.words * WORD_BYTES < SMALL_TASK:
        yield Layout(space, 0, nodes)
        return
    for digits in range(len(leading) + 1):
        siblings = leading[digits - 1] if digits else 1
        node_bytes = siblings * prod(leading[digits:]) * WORD_BYTES
        if node_bytes > most and digits < len(leading):
            continue
        fewest = max(1, ceil(nodes * node_bytes / most))
        for tasks in {1, *(fewest * 2**k for k in range(8))}:
            if (
                fewest <= tasks <= nodes
                and (layout := Layout.with_tasks(space, digits, tasks)).fits_voltages
            ):
                yield layout
        whole = Layout.with_tasks(space, digits, 1)
        for tasks in range(max(2, fewest), siblings if whole.fits_voltages else 0):
            if siblings % tasks == 0:  # a task for each sibling is the layout of one more digit
                yield replace(whole, shares=tasks)
        if nodes * node_bytes < FINE_TASK and digits:
            break
