"""The layers of a space that a tower numbers: from lists, and as bitmaps in memory."""

from functools import partial
from itertools import pairwise
from math import ceil

import numpy as np

from frontier.kernels.bitmap_search import PART_BYTES, BitmapSearch, LayerBitmaps, count_ones
from frontier.kernels.lists import ListKernel
from frontier.kernels.tower_rows import add_bits, expand_rows, list_neighbours
from frontier.space.layout import Layout
from frontier.space.tower_space import TowerSpace

ROW_BYTES = 3 * 4 + 1
"""The bytes of the counts that are kept for each row."""

SHARES_A_THREAD = 16
"""The number of shares of the rows that each thread expands in a layer."""

ROW_WORD_SECONDS = 50e-9
"""The approximate seconds that one core takes for a word of a full layer (measured: 20 to 120
ns)."""


class TowerLists(ListKernel):
    """Expands lists of the states of a space that a tower numbers."""

    space: TowerSpace

    def __init__(self, space: TowerSpace):
        walk = space.walk
        super().__init__(space, [walk.start], walk.rows * space.code.half)

    def _all_neighbours(self, side: int, numbers: np.ndarray) -> np.ndarray:
        space, code = self.space, self.space.code
        new = np.empty(numbers.size * self._degree[0], dtype=np.uint64)
        given = numbers, code.half, tuple(space.walk)
        return new[: list_neighbours(*given, space.to, new, scratch_of(space))]


def scratch_of(space: TowerSpace) -> np.ndarray:
    """Return the scratch array of a kernel, int64[5, N]."""
    return np.zeros((5, max(space.most_arcs, space.walk.radix.size, 1)), dtype=np.int64)


class RowBitmaps(LayerBitmaps):
    """A layer, or all states seen. rows: uint64[rows, words]. counts: int32[rows], the number of
    states in each row."""

    def __init__(self, layout: Layout):
        super().__init__(layout, 0)
        self.rows = self.words[0]
        self.counts = np.zeros(len(self.rows), dtype=np.int32)

    def add(self, numbers: np.ndarray) -> None:
        add_bits(numbers, self._layout.space.code.half, self.rows, self.counts)

    def find_live(self) -> None:
        count_ones(self.rows, self.counts)


class TowerSearch(BitmapSearch[RowBitmaps]):
    """The last two layers as bitmaps, and all states seen.

    The last two layers alone would be enough; older states only spare the search some fruitless
    look-ups.
    """

    def __init__(self, layout: Layout[TowerSpace], threads: int = 1):
        super().__init__(layout, threads, [RowBitmaps(layout) for _ in range(2)])
        self._space = layout.space
        self._seen: RowBitmaps | None = None

    def expand(self, depth: int) -> np.ndarray:
        if self._seen is None:
            self._seen = RowBitmaps(self.layout)
            np.bitwise_or(self._layers[0].words, self._layers[1].words, out=self._seen.words)
            self._seen.find_live()
        current, target = self.layer(depth - 1), self.layer(depth)
        shares = SHARES_A_THREAD * self.threads if self.threads > 1 else 1
        ends = np.linspace(0, self._space.nodes[0], shares + 1).astype(np.int64).tolist()
        self.spread(partial(self._expand, current, target, self._seen), pairwise(ends))
        return target.counts.astype(np.int64)

    def _expand(
        self, current: RowBitmaps, target: RowBitmaps, seen: RowBitmaps, share: tuple[int, int]
    ) -> None:
        space, own = self._space, slice(*share)
        expand_rows(
            share[0], space.code.half, tuple(space.walk), space.inverse, space.to,
            space.nodes[0], np.zeros(1, dtype=np.int64), current.rows, current.counts,
            target.rows[own], target.counts[own], seen.rows[own], seen.counts[own],
            scratch_of(space),
        )  # fmt: skip


def memory_layout(space: TowerSpace, threads: int) -> Layout:
    """Return the layout of bitmaps in memory: a few parts for each thread."""
    layer_bytes = Layout(space, 0, space.nodes[0]).layer_bytes(0)
    tasks = max(2 * threads, ceil(layer_bytes / PART_BYTES))
    return Layout.with_tasks(space, 0, min(tasks, space.nodes[0]))


def memory_bytes(layout: Layout) -> int:
    """Return the bytes that a `TowerSearch` takes."""
    return 3 * layout.layer_bytes(0) + ROW_BYTES * layout.space.nodes[0]
