"""A task of a space that a tower numbers, and the layout of such tasks.

A part has the rows under one value of some leading digits. What a move does to leading digits
depends on them alone, so the parts of the current layer that a part is made from are known
beforehand (`sources_of`). Where every move can be undone, its states are those that follow them and
lie in neither of the last two layers, as in any task.
"""

from math import ceil, prod

import numpy as np

from frontier.clusters.executor import TASKS_UNDER_WAY
from frontier.kernels.bitmap_search import count_rows
from frontier.kernels.tower_rows import expand_rows, find_sources
from frontier.kernels.tower_search import scratch_of
from frontier.layers.files import most_part_bytes
from frontier.layers.parts import WRITER_BYTES, PartRecord
from frontier.layers.tally import Tally
from frontier.search.workspace import GROWTH_BYTES, Workspace
from frontier.space.layout import Layout, Task
from frontier.space.tower_space import TowerSpace
from frontier.stopwatch import Stopwatch

SAMPLE_TASKS = 4
"""The most tasks that are examined to know what a layout costs."""


def sources_of(layout: Layout, task: Task) -> np.ndarray:
    """Return the parts of the current layer that a task reads, its own among them, int64."""
    space, needed = layout.space, np.zeros(layout.task_count(0), dtype=bool)
    assert isinstance(space, TowerSpace)
    needed[task.number] = True
    walk, scratch = tuple(space.backward), scratch_of(space)
    find_sources(task.first_node, task.last_node, walk, layout.task_nodes, needed, scratch[0])
    return np.flatnonzero(needed)


def expand_part(work: Workspace, depth: int, number: int, clock: Stopwatch) -> PartRecord:
    """Make a part of the layer at `depth` from the two layers before it."""
    task, layout, files = work.task(depth, number), work.layout, work.files(depth)
    space, words, slabs = work.space, work.space.code.words, prod(work.layout.grid)
    assert isinstance(space, TowerSpace)
    own, sources = np.arange(slabs), sources_of(layout, task)
    current = work.layer(depth - 1).load(np.repeat(sources, slabs), np.tile(own, sources.size))
    before = work.layer(depth - 2).load(np.full(slabs, number), own)
    with files.write_part(number, work.writer, work.run.durable, clock) as writer:
        clock.lap("disk")
        with work.computing:
            clock.go_on()
            shape = slabs * layout.slab_nodes, words
            room = (sources.size + 2) * layout.part_bytes
            arena = work.arena(room).view(np.uint64).reshape(sources.size + 2, *shape)
            seen, target = arena[-2:]
            current.decode_all(arena[:-2].reshape(sources.size * slabs, -1))
            before.decode_all(seen.reshape(slabs, -1))
            clock.lap("codec")
            seen |= arena[np.searchsorted(sources, number)]
            target[:] = 0
            place = np.full(layout.task_count(0), -1, dtype=np.int64)
            place[sources] = np.arange(sources.size) * shape[0]
            rows = arena[:-2].reshape(-1, words)
            counts = count_rows(rows).astype(np.int32)
            found, seen_counts = (
                np.zeros(len(task.nodes), np.int32),
                count_rows(seen).astype(np.int32),
            )
            expand_rows(
                task.first_node, space.code.half, tuple(space.backward), space.inverse, space.to,
                layout.task_nodes, place, rows, counts, target[: found.size], found,
                seen[: found.size], seen_counts, scratch_of(space),
            )  # fmt: skip
            clock.lap("kernel")
            for slab, bits in enumerate(target.reshape(slabs, layout.slab_nodes, words)):
                if bits.any():
                    writer.write(slab, bits)
            clock.lap("codec")
            started = 0
            if (start := work.counting.start_at(layout, task)) is not None:
                slab, word, bit = start
                started = int(target.reshape(slabs, -1)[slab, word]) >> bit & 1
        nodes = slice(task.first_node, task.last_node)
        tally = work.counting.of_nodes(0, nodes, found) + Tally(start=started)
        record = writer.finish(tally)
        clock.lap("disk")
    return record


def bytes_of_tasks(layout: Layout) -> int:
    """Return the bytes that a worker needs for its largest task, without its process."""
    count = layout.task_count(0)
    tasks = range(0, count, ceil(count / SAMPLE_TASKS))
    parts = 2 + max(sources_of(layout, layout.task(0, number)).size for number in tasks)
    stored = parts * most_part_bytes(layout) + WRITER_BYTES
    return TASKS_UNDER_WAY * stored + parts * layout.part_bytes + GROWTH_BYTES


def task_layouts(space: TowerSpace, least: int, most_bytes: int) -> list[Layout]:
    """Return the layouts whose parts are equal shares of leading digits, those of few parts first.

    least: the fewest parts, most_bytes: the most bytes of a part; a layout without these limits is
    returned if none has them.
    """
    rows, count, counts = space.nodes[0], 1, [1]
    for radix in space.outer_radices:  # a digit may be divided, too
        counts += [count * share for share in range(2, radix + 1) if radix % share == 0]
        count *= radix
    layouts = [Layout(space, 0, rows // count) for count in counts]
    fit = [one for one in layouts if one.task_count(0) >= least and one.part_bytes <= most_bytes]
    return fit or layouts[-1:]
