"""The whole search on bitmaps in memory: the kernels alone, nothing else in the way.

This is what the rest of the project is measured against, and the simplest way to see how the
parts of this package go together. Two bitmaps are held: the current layer, and the one
before it, which the next layer is written over.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from frontier.space.bits import expand
from frontier.space.graph import Space
from frontier.space.layout import Layout, Task
from frontier.space.program import Swaps, program_of, swaps_of


def layer_sizes(
    space: Space, origins: list[tuple[int, int]], layout: Layout, threads: int = 1
) -> Iterator[int]:
    """Number of states of each layer from depth 0 on.

    origins: (class, state number) of the states at depth 0; on a bipartite lift all of class 0.
    All tables and bitmaps are made before the first layer is handed out.
    """
    swaps = swaps_of(layout)
    tasks = [
        [_MemoryTask(layout, layout.task(c, i)) for i in range(layout.task_count(c))]
        for c in range(space.classes)
    ]
    layers = [_Bitmaps(layout, c % space.classes) for c in range(2)]
    for _, number in origins:
        layers[0].add(*divmod(number, space.code.half))
    states, depth = len(set(origins)), 0
    with ThreadPoolExecutor(threads) as pool:
        while states:
            yield states
            depth += 1
            current, target = layers[(depth - 1) % 2], layers[depth % 2]
            work = [
                pool.submit(task.run, current, target, swaps)
                for task in tasks[depth % space.classes]
            ]
            states = sum(future.result() for future in work)


class _Bitmaps:
    """A layer of one class, [prefix][node][word of the strip], so that chunks are contiguous.

    live: bool, [prefix][node][row of the strip], whether the row has a bit.
    """

    def __init__(self, layout: Layout, klass: int):
        self._layout = layout
        nodes, prefixes, strip = layout.shape(klass)
        self.words = np.full((prefixes, nodes, strip), 0, dtype=np.uint64)
        self.live = np.zeros((prefixes, nodes, layout.rows), dtype=bool)

    def add(self, node: int, index: int) -> None:
        """Set the bit of a state."""
        word, bit = divmod(index, self._layout.space.code.bits)
        prefix, word = divmod(word, self._layout.strip_words)
        self.words[prefix, node, word] |= np.uint64(1 << bit)
        self.live[prefix, node, word // self._layout.row_words] = True


class _MemoryTask:
    """One task with its tables, on layers that are wholly in memory."""

    def __init__(self, layout: Layout, task: Task):
        self._layout, self._task = layout, task
        self._program = program = program_of(layout, task)
        before = layout.space.nodes[(task.klass - 1) % layout.space.classes]
        strips = program.slots * before + program.sources[:, None]
        self._base = np.where(program.needed, strips * layout.strip_words, -1)

    def run(self, current: _Bitmaps, target: _Bitmaps, swaps: Swaps) -> int:
        """Expand the current layer into the task's chunks; returns how many states they hold."""
        task, total, first = self._task, 0, 0
        for block in range(task.first_block, task.last_block):
            nodes = self._layout.block(task.klass, block)
            chunk = slice(nodes.start, nodes.stop)
            for prefix in range(task.first_prefix, task.last_prefix):
                counts = expand(
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
                total += int(counts.sum())
            first += len(nodes)
        return total
