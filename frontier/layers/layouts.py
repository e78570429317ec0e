"""The layout of a run by tasks: the cheapest one whose tasks fit in a worker's memory."""

from math import ceil, prod

from frontier.executors.executor import TASKS_UNDER_WAY
from frontier.kernels.engines import engine_of
from frontier.kernels.expand_rows import SPARE_ROWS
from frontier.kernels.key_lists import PROCESS_BYTES
from frontier.kernels.part_expansion import PartTables
from frontier.layers.files import most_part_bytes
from frontier.layers.parts import WRITER_BYTES
from frontier.layers.task import GROWTH_BYTES
from frontier.space.layout import Layout
from frontier.space.tower_space import NumberedSpace
from frontier.space.words import ROW_WORDS, WORD_BYTES
from frontier.text import rounded_up


def row_bytes(layout: Layout) -> int:
    """Return the bytes of the rows that a thread holds while it expands, and of the rows that it
    decodes at a time."""
    return (SPARE_ROWS * layout.row_words + max(layout.row_words, ROW_WORDS)) * WORD_BYTES


def task_bytes(layout: Layout) -> int:
    """Return the bytes that a worker needs for the largest task it may get, including its
    process."""
    own, tables = prod(layout.grid), engine_of(layout.space).tables

    def need(of: PartTables) -> int:
        # The task holds its slabs in stored form, which in the worst case is no smaller than
        # the decoded form.
        stored = (own + of.read_slabs.size) / own * most_part_bytes(layout)
        held = TASKS_UNDER_WAY * ceil(stored + WRITER_BYTES + of.nbytes)
        # Three slabs for the masks, and for two copies of the new slab if its codec has no kernels.
        return held + of.arena_bytes + 3 * layout.slab_bytes

    sides = range(layout.space.sides)
    most = max(need(of) for side in sides for of in tables.samples(layout, side))
    return process_bytes(layout.space) + GROWTH_BYTES + row_bytes(layout) + most


def process_bytes(space: NumberedSpace) -> int:
    """Return the bytes of a worker without a task."""
    return PROCESS_BYTES + space.table_bytes


def choose_layout(space: NumberedSpace, memory: int, workers: int) -> tuple[Layout, int]:
    """Return the cheapest layout whose tasks fit, or else the one that needs the least memory, and
    its `task_bytes`."""
    needs = {}
    for layout in engine_of(space).task_layouts(space, memory, workers):
        needs[layout] = task_bytes(layout)
        if needs[layout] <= memory:
            return layout, needs[layout]
    least = min(needs, key=needs.__getitem__)
    return least, needs[least]


def enough_memory(space: NumberedSpace, memory: int, transfers: int, workers: int) -> int:
    """Return a round number of bytes of memory, at least `memory`, that suffices for the layout
    chosen with it: with more memory there are more layouts to choose from. transfers: the bytes
    in transit to and from the store for all tasks."""
    memory = rounded_up(memory)
    while (need := choose_layout(space, memory - transfers, workers)[1] + transfers) > memory:
        memory = rounded_up(need)
    return memory
