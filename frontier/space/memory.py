"""The whole search on bitmaps in memory: the kernels alone, nothing else in the way.

This is what the rest of the project is measured against, and the simplest way to see how the
parts of this package go together. Two bitmaps are held: the current layer, and the one
before it, which the next layer is written over.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from frontier.space.bits import expand, live_rows
from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.program import program_of, swaps_of


def layer_sizes(
    space: Space, origins: list[tuple[int, int]], layout: Layout, threads: int = 1
) -> Iterator[int]:
    """Number of states of each layer from depth 0 on.

    origins: (class, state number) of the states at depth 0; on a bipartite lift all of class 0.
    """
    strip, row_words, code = layout.strip_words, layout.row_words, space.code
    swaps = swaps_of(layout)
    classes = range(space.classes)
    tasks = [[layout.task(c, i) for i in range(layout.task_count(c))] for c in classes]
    programs = [[(task, program_of(layout, task)) for task in mine] for mine in tasks]
    # [prefix][node][word of the strip], so that every chunk is contiguous
    layers = [
        np.zeros((layout.prefixes, space.nodes[c % space.classes], strip), dtype=np.uint64)
        for c in range(2)
    ]
    for _, number in origins:
        node, index = divmod(number, code.half)
        word, bit = divmod(index, code.bits)
        layers[0][word // strip, node, word % strip] |= np.uint64(1 << bit)
    states, depth = len(set(origins)), 0
    with ThreadPoolExecutor(threads) as pool:
        while states:
            yield states
            depth += 1
            current, target = layers[(depth - 1) % 2], layers[depth % 2]
            arena = current.reshape(-1)
            live = np.empty(arena.size // row_words, dtype=bool)
            cuts = [live.size * i // threads for i in range(threads + 1)]
            list(
                pool.map(
                    lambda i, j, a=arena, lv=live: live_rows(
                        a[i * row_words : j * row_words], row_words, lv[i:j]
                    ),
                    cuts[:-1],
                    cuts[1:],
                )
            )

            def run(item, current=current, target=target, arena=arena, live=live):
                task, program = item
                base = program.slots * current.shape[1] + program.sources[:, None]
                base = np.where(program.needed, base * strip, -1)
                total = 0
                for prefix in range(task.first_prefix, task.last_prefix):
                    first = 0
                    for block in range(task.first_block, task.last_block):
                        nodes = layout.block(task.klass, block)
                        total += expand(
                            target[prefix, nodes.start : nodes.stop],
                            first, prefix - task.first_prefix,
                            arena, live, base, program, swaps,
                        ).sum()  # fmt: skip
                        first += len(nodes)
                return int(total)

            states = sum(pool.map(run, programs[depth % space.classes]))
