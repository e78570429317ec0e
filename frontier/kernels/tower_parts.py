"""The parts of a space that a tower numbers: their expansion, and the layouts of tasks.

A part has the rows under one value of some leading digits. A move changes leading digits by a rule
that depends on them alone, so the parts of the current layer from which a part is made are known
beforehand. The part has, as in any task, the states that moves reach from these parts and that lie
in neither of the last two layers.
"""

from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from frontier.codec.slabs import seal
from frontier.codec.zerobytes import encode
from frontier.kernels.bitmap_search import count_ones
from frontier.kernels.part_expansion import LARGE_TASK, SMALL_LAYER, Expansion, PartTables
from frontier.kernels.tower_rows import expand_rows, find_sources
from frontier.kernels.tower_search import ROW_WORD_SECONDS, scratch_of
from frontier.space.layout import Layout, Task
from frontier.space.tower_space import TowerSpace


class TowerTables(PartTables):
    """The parts of the current layer that a task reads, its own among them, int64."""

    def __init__(self, layout: Layout[TowerSpace], task: Task):
        super().__init__(layout, task)
        needed, slabs = np.zeros(layout.task_count(0), dtype=bool), prod(layout.grid)
        needed[task.number] = True
        walk, scratch = tuple(layout.space.walk), scratch_of(layout.space)
        rows, radices = layout.task_nodes, reversed(layout.space.outer_radices)
        # Rows with the same values of the digits that number the parts are made from the same
        # parts.
        step = max([1, *(under for under in accumulate(radices, mul) if rows % under == 0)])
        find_sources(task.first_node, task.last_node, step, walk, rows, needed, scratch[0])
        self.parts = np.flatnonzero(needed)
        self.read_parts = np.repeat(self.parts, slabs)
        self.read_slabs = np.tile(np.arange(slabs), self.parts.size)
        self.nbytes = self.read_parts.nbytes + self.read_slabs.nbytes
        # The rows of these parts, and the number of states in each row, int32.
        self.arena_bytes = self.parts.size * (layout.part_bytes + 4 * layout.task_nodes)

    def word_seconds(self, slabs: np.ndarray) -> float:
        return ROW_WORD_SECONDS


class TowerExpansion(Expansion):
    """Decodes the parts that a task reads, and makes one slab of rows at a time."""

    def _begin(self, tables: TowerTables, arena: np.ndarray) -> None:
        layout, space = self._layout, self._layout.space
        rows, states = np.split(arena, [tables.parts.size * layout.part_bytes])
        self._rows = rows.view(np.uint64).reshape(-1, space.code.words)
        for number, slab in enumerate(self._rows.reshape(tables.read_slabs.size, -1)):
            self._current.decode(number, slab)
        self._states = states.view(np.int32)
        count_ones(self._rows, self._states)
        self._place = np.full(layout.task_count(0), -1, dtype=np.int64)
        self._place[tables.parts] = np.arange(tables.parts.size) * layout.task_nodes
        self._target, self._seen = np.empty((2, layout.slab_nodes, space.code.words), np.uint64)
        self._found, self._seen_states = np.empty((2, layout.slab_nodes), dtype=np.int32)

    def _make(self, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers, sizes, filled = [], [], 0
        while not self.done and room.size - filled >= self._most:
            if self._make_slab():
                numbers.append(self.made)
                sizes.append(encode(self._target, room[filled:]))
                filled += seal(room[filled:], sizes[-1])
            self.made += 1
        return np.array(numbers, dtype=np.int64), np.array(sizes, dtype=np.int64)

    def _make_slab(self) -> bool:
        """Make the next slab, decoded, and return whether it holds a state."""
        space, task, seen, target = self._layout.space, self._task, self._seen, self._target
        first, nodes, _, slab = self._bands[self.made].tolist()
        own = self._place[task.number] + first
        self._before.decode(slab, seen)
        seen |= self._rows[own : own + len(seen)]
        count_ones(seen, self._seen_states)
        target[:], self._found[:] = 0, 0
        missing = expand_rows(
            task.first_node + first, space.code.half, tuple(space.walk), space.inverse,
            space.to, self._layout.task_nodes, self._place, self._rows, self._states,
            target[:nodes], self._found[:nodes], seen[:nodes], self._seen_states[:nodes],
            scratch_of(space),
        )  # fmt: skip
        if missing:
            raise RuntimeError(
                f"part {task.number}: {missing:,} rows are in parts that it did not read"
            )
        self.counts[first : first + nodes] = self._found[:nodes]
        if slab == self._start[0]:
            self.started += int(target.reshape(-1)[self._start[1]]) >> self._start[2] & 1
        return bool(self._found.any())


def task_layouts(space: TowerSpace, memory: int, workers: int) -> list[Layout[TowerSpace]]:
    """Return the layouts to choose from, whose parts are equal shares of leading digits. Layouts
    with few parts come first, because they read the least."""
    rows, count, counts = space.nodes[0], 1, [1]
    for radix in space.outer_radices:  # parts may also divide the values of a digit
        counts += [count * share for share in range(2, radix + 1) if radix % share == 0]
        count *= radix
    layouts = [Layout(space, 0, rows // count) for count in counts]
    least = workers if layouts[0].layer_bytes(0) >= SMALL_LAYER else 1
    fit = [of for of in layouts if of.task_count(0) >= least and of.part_bytes <= LARGE_TASK]
    return fit or layouts[-1:]
