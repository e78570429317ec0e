"""The layout that a run by tasks takes: the cheapest one whose tasks fit a worker.

The tables of a few of its tasks tell what a layout costs: the files and the slabs that they read,
the words that they make and the stretches that they look up.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, prod

import numpy as np

from frontier.clusters.executor import TASKS_UNDER_WAY
from frontier.kernels.expand_rows import SPARE_ROWS
from frontier.kernels.memory import LOOK_UP_SECONDS
from frontier.kernels.part_expansion import arena_frames
from frontier.layers.files import most_part_bytes
from frontier.layers.parts import WRITER_BYTES
from frontier.search.tower_tasks import bytes_of_tasks, task_layouts
from frontier.search.workspace import GROWTH_BYTES
from frontier.space.graph import Space
from frontier.space.layout import ROW_WORDS, WORD_BYTES, Layout, Task
from frontier.space.program import program_of, reads_of
from frontier.space.tower_space import AnySpace, TowerSpace
from frontier.text import rounded_up

PROCESS_BYTES = 330_000_000
"""The bytes of a worker with its libraries and kernels before it does anything (measured)."""

PART_WORD_SECONDS, FILE_SECONDS = 2e-9, 0.5e-3
"""The seconds that a worker needs for a word that it reads (a word that it makes counts as two),
and to open or make a file."""

SAMPLE_TASKS = 4
"""The most tasks examined to know what a layout costs. They have the same prefixes, and different
nodes."""

TASK_SECONDS = 1e-3
"""The seconds that a scheduler on its own processor needs for a task."""

SMALL_LAYER = 100_000_000
"""Layers of fewer bytes need not be divided among the workers."""

SMALL_TASK = 8_000_000
"""Layers of fewer bytes are one task."""

LARGE_TASK, MANY_TASKS = 600_000_000, 50_000
"""No part has more bytes than the first number, as tasks of smaller ones read hardly more; unless a
layer would then have more tasks than the second, as the scheduler hands them out one by one."""

FINE_TASK = 30_000_000
"""Tasks of fewer bytes than this are not divided further."""


def row_bytes(layout: Layout) -> int:
    """Return the bytes of the rows that a thread holds while it expands, and of the rows that it
    decodes at a time."""
    return (SPARE_ROWS * layout.row_words + max(layout.row_words, ROW_WORDS)) * WORD_BYTES


def task_bytes(layout: Layout) -> int:
    """Return the bytes that a worker needs for the largest task it may get, its process
    included."""
    if isinstance(layout.space, TowerSpace):
        return process_bytes(layout.space) + bytes_of_tasks(layout)
    return max(_costs(layout, side)[0] for side in range(layout.space.sides))


def process_bytes(space: AnySpace) -> int:
    """Return the bytes of a worker without a task."""
    return PROCESS_BYTES + space.table_bytes


def _costs(layout: Layout, side: int) -> tuple[int, float]:
    """Return (bytes that a worker needs, seconds a word) of typical tasks."""
    if not layout.task_count(side):
        return process_bytes(layout.space), 0.0
    groups = layout.groups(side)
    first = layout.task_count(side) // groups // 2 * groups
    some = range(first, first + groups, ceil(groups / SAMPLE_TASKS))
    costs = [_task_costs(layout, layout.task(side, number)) for number in some]
    needs, seconds, words = zip(*costs, strict=True)
    return max(needs), sum(seconds) / sum(words)


def _task_costs(layout: Layout, task: Task) -> tuple[int, float, float]:
    """Return (bytes that a worker needs, seconds that it takes, words that it makes) of a task."""
    program = program_of(layout, task)
    reads = reads_of(layout, task, program)
    own, read = prod(layout.grid), reads.slab.size
    # The slabs read are in memory in stored form, in the worst case no smaller than decoded.
    held = (
        (own + read) / own * most_part_bytes(layout) + WRITER_BYTES + program.nbytes + reads.nbytes
    )
    # The slabs in the arena, masks, and the new slab twice if its codec has no kernels.
    decoded = arena_frames(layout, reads) + 3
    need = process_bytes(layout.space) + TASKS_UNDER_WAY * ceil(held)
    need += decoded * layout.slab_bytes + GROWTH_BYTES + row_bytes(layout)
    files = np.unique(reads.task).size + 2
    slab_words = layout.slab_bytes / WORD_BYTES
    made = layout.slabs_made(task)
    seconds = files * FILE_SECONDS + (read + 2 * made) * slab_words * PART_WORD_SECONDS
    seconds += program.look_ups * LOOK_UP_SECONDS
    return need, seconds, made * slab_words


def choose_layout(space: AnySpace, memory: int, workers: int) -> Layout:
    """Return the layout whose tasks fit and cost least, or else the one that needs least memory."""
    if isinstance(space, TowerSpace):
        whole = Layout(space, 0, space.nodes[0])
        least = workers if whole.layer_bytes(0) >= SMALL_LAYER else 1
        layouts = task_layouts(space, least, LARGE_TASK)
        return next((one for one in layouts if task_bytes(one) <= memory), layouts[-1])

    def cost(layout: Layout) -> tuple[bool, float]:
        costs = [_costs(layout, side) for side in range(space.sides)]
        need, seconds = map(max, zip(*costs, strict=True))
        tasks, words = layout.task_count(0), layout.layer_bytes(0) // WORD_BYTES
        if words * WORD_BYTES >= SMALL_LAYER:
            # A layer ends with workers idle for about one task; tasks are handed out one by one.
            seconds += workers * (seconds / tasks + TASK_SECONDS * tasks / words)
        return need > memory, need if need > memory else seconds

    candidates = dict.fromkeys(_candidates(space, memory))  # some come more than once
    return min(candidates, key=cost) if candidates else _finest(space)


def enough_memory(space: AnySpace, memory: int, transfers: int, workers: int) -> int:
    """Return a round number of bytes of memory, at least `memory`, that suffices for the layout
    chosen with it: with more memory there are more layouts to choose from. transfers: the bytes on
    their way to and from all tasks."""
    memory = rounded_up(memory)
    while (
        need := task_bytes(choose_layout(space, memory - transfers, workers)) + transfers
    ) > memory:
        memory = rounded_up(need)
    return memory


def _finest(space: Space) -> Layout:
    """Return the layout with the smallest tasks that the voltages allow. They always allow one
    without prefix."""
    layouts = (Layout(space, digits, 1) for digits in reversed(range(len(space.code.leading) + 1)))
    return next(layout for layout in layouts if layout.fits_voltages)


def _candidates(space: Space, memory: int) -> Iterator[Layout]:
    """Generate the layouts to choose from: prefixes of every length, and enough tasks that each
    fits, which share either the nodes or the siblings."""
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
            if siblings % tasks == 0:  # one for each sibling is the layout of one more digit
                yield replace(whole, shares=tasks)
        if nodes * node_bytes < FINE_TASK and digits:
            break
