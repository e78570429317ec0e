"""Layers as bitmaps in the memory of one process, expanded by its threads.

What fits in memory needs no store on the way: two bitmaps are held, the current layer and the one
before it, which the next layer is written over. This is the fastest form of the search, what
the rest of the project is measured against, and the simplest way to see how the parts of this
package go together.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import ceil, prod

import numpy as np

from frontier.space.bits import count_bits, expand, live_rows
from frontier.space.graph import Space
from frontier.space.jit import kernel
from frontier.space.layout import WORD_BYTES, Layout, Task
from frontier.space.program import Swaps, program_of, swaps_of

NODE_BYTES, ARC_BYTES = 60, 10
"""What the tables of the tasks take, bitmaps aside."""

CHUNK_BYTES = 16_000_000
"""Chunks are not larger, as they may have to be stored."""

WORD_SECONDS, CALL_SECONDS = 2e-9, 10e-6
"""Of one core for a word; of the interpreter for a chunk."""


class MemorySearch:
    """Two layers as bitmaps, and all that is needed to expand them.

    The layer at a depth is `layer(depth)` until that at depth + 2 is made.
    depth: of the current layer, the other one being that before it; None where the bitmaps are not
    known to be any layers, as after an interrupted step.
    """

    def __init__(self, layout: Layout, threads: int = 1):
        self.layout = layout
        self._threads = threads
        self._swaps = swaps_of(layout)
        classes = layout.space.classes
        self._tasks = [
            [_MemoryTask(layout, layout.task(c, i)) for i in range(layout.task_count(c))]
            for c in range(classes)
        ]
        self._layers = [Bitmaps(layout, c % classes) for c in range(2)]
        self.depth: int | None = None

    def layer(self, depth: int) -> "Bitmaps":
        return self._layers[depth % 2]

    def expand(self, depth: int) -> np.ndarray:
        """Make the layer at `depth` from the two before it: int64, its states at each node."""
        self.depth = None
        current, target = self.layer(depth - 1), self.layer(depth)
        tasks = self._tasks[self.layout.space.class_of(depth)]
        counts = np.zeros(self.layout.space.nodes[self.layout.space.class_of(depth)], np.int64)
        run = partial(_MemoryTask.run, current=current, target=target, swaps=self._swaps)
        for first, found in self.share(run, tasks):
            counts[first : first + found.size] += found
        self.depth = depth
        return counts

    def share(self, function, things) -> list:
        """function(thing) of each thing, on all threads."""
        if self._threads == 1:
            return [function(thing) for thing in things]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(function, things))


class Bitmaps:
    """A layer of one class, [prefix][node][word of the strip], so that chunks are contiguous.

    live: bool, [prefix][node][row of the strip], whether the row has a bit.
    """

    def __init__(self, layout: Layout, klass: int):
        self._layout, self._klass = layout, klass
        nodes, prefixes, strip = layout.shape(klass)
        self.words = np.full((prefixes, nodes, strip), 0, dtype=np.uint64)
        self.live = np.zeros((prefixes, nodes, layout.rows), dtype=bool)

    def clear(self) -> None:
        self.words[:] = 0
        self.live[:] = False

    def add(self, numbers: np.ndarray) -> None:
        """Set the bits of uint64[N] state numbers."""
        code = self._layout.space.code
        _set_bits(self.words, self.live, numbers, code.half, code.bits, self._layout.row_words)

    def holds(self, number: int) -> bool:
        """Whether the bit of a state is set."""
        code = self._layout.space.code
        node, index = divmod(number, code.half)
        word, bit = divmod(index, code.bits)
        prefix, word = divmod(word, self._layout.strip_words)
        return bool(int(self.words[prefix, node, word]) >> bit & 1)

    def chunk(self, block: int, prefix: int) -> np.ndarray:
        """A view of a chunk: uint64[nodes of the block, words of a strip]."""
        nodes = self._layout.block(self._klass, block)
        return self.words[prefix, nodes.start : nodes.stop]

    def chunks(self) -> list[tuple[int, int]]:
        """(block, prefix) of the chunks that hold a state."""
        blocks = range(self._layout.blocks(self._klass))
        nodes = [self._layout.block(self._klass, block) for block in blocks]
        return [
            (block, prefix)
            for block in blocks
            for prefix in range(self._layout.prefixes)
            if self.live[prefix, nodes[block].start : nodes[block].stop].any()
        ]

    def find_live(self) -> None:
        """Look again which rows have a bit, after chunks have been filled."""
        live_rows(self.words.reshape(-1), self._layout.row_words, self.live.reshape(-1))


class _MemoryTask:
    """One task with its tables, on layers that are wholly in memory."""

    def __init__(self, layout: Layout, task: Task):
        self._layout, self._task = layout, task
        self._program = program = program_of(layout, task)
        before = layout.space.nodes[(task.klass - 1) % layout.space.classes]
        strips = program.slots * before + program.sources[:, None]
        self._base = np.where(program.needed, strips * layout.strip_words, -1)

    def run(self, current: Bitmaps, target: Bitmaps, swaps: Swaps) -> tuple[int, np.ndarray]:
        """Expand the current layer into the task's chunks.

        Returns the first node and int64, the states at this and the following ones.
        """
        task, first = self._task, 0
        begin = self._layout.block(task.klass, task.first_block).start
        counts = np.zeros(self._program.own.size, dtype=np.int64)
        for block in range(task.first_block, task.last_block):
            nodes = self._layout.block(task.klass, block)
            chunk = slice(nodes.start, nodes.stop)
            for prefix in range(task.first_prefix, task.last_prefix):
                counts[first : first + len(nodes)] += expand(
                    target.words[prefix, chunk],
                    target.live[prefix, chunk].reshape(-1),
                    first,
                    prefix - task.first_prefix,
                    current.words.reshape(-1),
                    current.live.reshape(-1),
                    self._base,
                    self._program,
                    swaps,
                )
            first += len(nodes)
        return begin, counts


@kernel
def _set_bits(words, live, numbers, half, bits, row_words):
    for number in numbers:
        node, index = divmod(np.int64(number), half)
        word, bit = divmod(index, bits)
        prefix, word = divmod(word, words.shape[2])
        words[prefix, node, word] |= np.uint64(1) << np.uint64(bit)
        live[prefix, node, word // row_words] = True


@kernel
def count_all(words):
    """Number of ones in a contiguous uint64 array of two dimensions."""
    total = np.uint64(0)
    for row in words:
        for word in row:
            total += count_bits(word)
    return total


def memory_layout(space: Space, threads: int) -> Layout:
    """How to cut bitmaps in memory: two tasks a thread, even shares, few calls of the kernel."""

    def cost(layout: Layout) -> tuple[bool, float]:
        tasks, chunks = layout.task_count(0), layout.prefixes * layout.blocks(0)
        share = ceil(tasks / threads) * layout.siblings * layout.chunk_bytes / WORD_BYTES
        idle = threads > 1 and tasks < 2 * threads
        return idle, share * WORD_SECONDS + chunks * CALL_SECONDS

    nodes, leading = max(space.nodes), space.code.leading
    layouts = []
    for digits in range(min(3, len(leading)) + 1):
        strip_bytes = prod(leading[digits:]) * WORD_BYTES
        largest = max(1, CHUNK_BYTES // strip_bytes)
        sizes = {min(largest, ceil(nodes / blocks)) for blocks in range(1, 8 * threads + 1)}
        layouts += [Layout(space, digits, size, 1) for size in sizes]
    return min((layout for layout in layouts if layout.fits_voltages), key=cost)


def memory_bytes(layout: Layout) -> int:
    """What a `MemorySearch` takes."""
    space = layout.space
    arcs = sum(arcs.target.size for arcs in space.arcs)
    bitmaps = 2 * max(layout.layer_bytes(c) for c in range(space.classes))
    return bitmaps + NODE_BYTES * sum(space.nodes) + ARC_BYTES * arcs


def layer_sizes(
    space: Space, origins: list[tuple[int, int]], layout: Layout, threads: int = 1
) -> Iterator[int]:
    """Number of states of each layer from depth 0 on.

    origins: (class, state number) of the states at depth 0; on a bipartite lift all of class 0.
    All tables and bitmaps are made before the first layer is handed out.
    """
    search = MemorySearch(layout, threads)
    search.layer(0).add(np.array([number for _, number in origins], dtype=np.uint64))
    states, depth = len(set(origins)), 0
    while states:
        yield states
        depth += 1
        states = int(search.expand(depth).sum())
