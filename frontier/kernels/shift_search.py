"""Layers as bitmaps in the memory of one process, whose threads expand them.

A search that fits in memory needs no store along the way. It holds two layers as bitmaps, the
current one and the one before it; the next layer overwrites the older one. This is the fastest form
of the search, the benchmark for the rest of the project, and the simplest example of how the parts
of this package work together.
"""

from collections.abc import Iterator
from functools import partial
from math import ceil

import numpy as np

from frontier.jit import kernel
from frontier.kernels.bitmap_search import PART_BYTES, BitmapSearch, LayerBitmaps
from frontier.kernels.expand_rows import expand, live_rows
from frontier.space.graph import Space
from frontier.space.layout import Layout, Task
from frontier.space.program import Program, program_of, swaps_of

NODE_BYTES, ARC_BYTES = 60, 11
"""The bytes that a task's tables take for each node and for each arc of the lift."""

WORD_SECONDS, LOOK_UP_SECONDS, CALL_SECONDS = 1.3e-9, 10e-9, 10e-6
"""The seconds that one core takes for a word, a look-up (see `Work`) and a kernel call. Measured: a
word of 2 x 7 takes 1.3 ns. A node of one short row takes 3 ns for each arc from a row without a
state, and 15 ns for each arc from a row with a state; a look-up counts as 10 ns, between the two.
"""


class ShiftSearch(BitmapSearch["ShiftBitmaps"]):
    """Two layers as bitmaps, and the tables that expand them by shifts."""

    def __init__(self, layout: Layout, threads: int = 1):
        sides = layout.space.sides
        super().__init__(
            layout, threads, [ShiftBitmaps(layout, depth % sides) for depth in range(2)]
        )
        self._swaps = swaps_of(layout)
        self._tasks = [
            [_tables_of(layout, layout.task(side, i)) for i in range(layout.task_count(side))]
            for side in range(sides)
        ]

    def expand(self, depth: int) -> np.ndarray:
        current, target = self.layer(depth - 1), self.layer(depth)
        tasks = self._tasks[self.layout.space.side_of(depth)]
        counts = np.zeros(self.layout.space.nodes[self.layout.space.side_of(depth)], np.int64)
        step = partial(self._expand_task, current, target)
        for first, states in self.spread(step, tasks):
            counts[first : first + states.size] += states
        return counts

    def _expand_task(
        self,
        current: "ShiftBitmaps",
        target: "ShiftBitmaps",
        tables: tuple[Task, Program, np.ndarray],
    ) -> tuple[int, np.ndarray]:
        """Expand the current layer into a task's strips.

        Returns the first node, and the number of states at it and at each following node, int64.
        """
        task, program, base = tables
        nodes = slice(task.first_node, task.last_node)
        counts, cuts = np.zeros(len(task.nodes), dtype=np.int64), self.layout.cuts
        for number, prefix in enumerate(range(task.first_prefix, task.last_prefix)):
            expand(
                target.words[prefix, nodes],
                target.live[prefix, nodes].reshape(-1),
                0,
                range(number * cuts, (number + 1) * cuts),
                counts,
                current.words.reshape(-1),
                current.live.reshape(-1),
                base,
                program,
                self._swaps,
            )
        return task.first_node, counts


class ShiftBitmaps(LayerBitmaps):
    """A layer. live: bool[prefixes, nodes, rows of the strip], True for the rows that have a bit
    set."""

    def __init__(self, layout: Layout, side: int):
        super().__init__(layout, side)
        self.live = np.zeros((*self.words.shape[:2], layout.rows), dtype=bool)

    def add(self, numbers: np.ndarray) -> None:
        code = self._layout.space.code
        _set_bits(self.words, self.live, numbers, code.half, code.bits, self._layout.row_words)

    def find_live(self) -> None:
        live = self.live.reshape(-1, self._layout.rows)
        words, slabs = self.words.reshape(-1), np.arange(live.shape[0])
        live_rows(words, self._layout.row_words, live, slabs)


def _tables_of(layout: Layout, task: Task) -> tuple[Task, Program, np.ndarray]:
    """Return a task, its program, and for each slab that it reads the row where the slab begins in
    the bitmaps of a layer."""
    program = program_of(layout, task)
    before = layout.space.nodes[(task.side - 1) % layout.space.sides]
    prefixes, cuts = np.divmod(program.slots, layout.cuts)
    strips = prefixes * before + program.stacks[:, None] * layout.slab_nodes
    places = strips * layout.rows + cuts * (layout.rows // layout.cuts)
    return task, program, np.where(program.needed, places, -1)


@kernel
def _set_bits(words, live, numbers, half, bits, row_words):
    for number in numbers:
        node, index = divmod(np.int64(number), half)
        word, bit = divmod(index, bits)
        prefix, word = divmod(word, words.shape[2])
        words[prefix, node, word] |= np.uint64(1) << np.uint64(bit)
        live[prefix, node, word // row_words] = True


def layer_seconds(layout: Layout, side: int) -> float:
    """Return the approximate seconds that one core takes for a layer of this side in memory."""
    work = layout.work(side)
    calls = layout.task_prefixes * layout.task_count(side)
    return work.words * WORD_SECONDS + work.look_ups * LOOK_UP_SECONDS + calls * CALL_SECONDS


def memory_layout(space: Space, threads: int) -> Layout:
    """Return the layout of bitmaps in memory: two tasks for each thread, equal shares, long rows,
    few kernel calls.

    Tasks are not large, because tasks may resume the run where memory is too small for bitmaps.
    """

    def cost(layout: Layout) -> tuple[bool, bool, float]:
        tasks = layout.task_count(0)
        uneven = ceil(tasks / threads) * threads / tasks
        idle = threads > 1 and tasks < 2 * threads
        large = layout.part_bytes > PART_BYTES
        return large, idle, layer_seconds(layout, 0) * uneven

    layouts = [
        Layout.with_tasks(space, digits, tasks)
        for digits in range(min(3, len(space.code.leading)) + 1)
        for tasks in _task_counts(space, digits, threads)
    ]
    return min((layout for layout in layouts if layout.fits_voltages), key=cost)


def _task_counts(space: Space, digits: int, threads: int) -> Iterator[int]:
    """Generate the numbers of tasks that may share the nodes under a prefix of `digits` digits."""
    nodes = max(space.nodes)
    few = min(8 * threads, nodes)
    yield from range(1, few + 1)
    fewest = nodes * Layout(space, digits, 1).part_bytes // PART_BYTES + 1
    shared = ceil(fewest / threads) * threads
    if few < shared <= nodes:
        yield shared


def memory_bytes(layout: Layout[Space]) -> int:
    """Return the bytes that a `ShiftSearch` takes."""
    space = layout.space
    arcs = sum(arcs.target.size for arcs in space.arcs)
    bitmaps = 2 * max(layout.layer_bytes(side) for side in range(space.sides))
    return bitmaps + NODE_BYTES * sum(space.nodes) + ARC_BYTES * arcs
