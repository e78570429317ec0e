"""Layers made in the driver's process: as lists while they are thin, as bitmaps where they fit in
memory.

This process then holds the last two layers of a run, makes the next one in place of the older one,
and writes layers to files when the driver tells it to. If the process dies, unwritten layers are
lost.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import ceil, prod
from typing import ClassVar

import numpy as np

from frontier.kernels.bitmap_search import LayerBitmaps, count_ones
from frontier.kernels.engines import engine_of, lists_of
from frontier.kernels.key_lists import KeyLists
from frontier.kernels.lists import united
from frontier.layers.key_files import KeyFiles
from frontier.layers.parts import PartRecord
from frontier.layers.plan import Plan
from frontier.layers.record import Form, LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.stored import StoredLayer, within
from frontier.layers.tally import Counting, Tally
from frontier.stopwatch import working_time


class Held(ABC):
    """The last two layers of a run in the memory of this process, at first the committed ones.

    form: the form in which they are written. depth: the depth of the later one. depths: the depths
    of both.
    """

    form: ClassVar[Form]

    def __init__(self, plan: Plan, run: LayerRun, counting: Counting):
        """Read the last two committed layers; raises CorruptRunError if one is damaged."""
        self._run, self._space, self._layout = run, plan.space, plan.layout
        self._counting = counting
        self.depth = len(run.records) - 1

    @property
    def depths(self) -> range:
        return range(self.depth - 1, self.depth + 1)

    def _stored(self, depth: int) -> StoredLayer:
        return self._run.open_layer(depth, self._layout)

    def layers(self, since: float) -> Iterator[LayerRecord]:
        """Make the next layers up to the last one, and generate their ledger lines, without files.

        since: the `working_time` at which the first of these layers began.
        """
        while (tally := self.expand()).states:
            now = working_time()
            yield LayerRecord.of(self.depth, self.form, tally, max(0.0, now - since))
            since = now

    @abstractmethod
    def expand(self) -> Tally:
        """Make the next layer and return its tally. No layer follows an empty one."""

    def store(self, record: LayerRecord) -> LayerRecord:
        """Write one of the two layers to its files, and return its ledger line with the files."""
        parts = self._write(record.depth, record.tally)
        return LayerRecord.of(record.depth, record.form, record.tally, record.seconds, parts)

    @abstractmethod
    def _write(self, depth: int, tally: Tally) -> list[PartRecord]:
        """Write one of the two layers, and return the records of its files."""


class AsLists(Held):
    """Both layers as sorted lists of state numbers."""

    form = "list"

    def __init__(self, plan: Plan, run: LayerRun, counting: Counting):
        super().__init__(plan, run, counting)
        self._kernel = lists_of(self._space)
        workers = max(1, plan.threads)
        self._kernel.allow(workers, workers * plan.config.cluster.memory)
        self._lists = [self._stored(depth).numbers() for depth in self.depths]
        # The layer before the last, and all earlier ones if a move may lead to any of them.
        self._seen, self._revisits = self._lists[0], plan.puzzle.model.revisits
        for depth in range(self.depth - 1) if self._revisits else ():
            self._seen = united(self._seen, self._stored(depth).numbers())

    def expand(self) -> Tally:
        """Make the next layer and return its tally. If it is empty, keep the last two layers."""
        _, current = self._lists
        numbers = self._kernel.expand(self._space.side_of(self.depth), current, self._seen)
        tally = self._counting.of_list(self._space.side_of(self.depth + 1), numbers)
        if tally.states:
            self._lists, self.depth = [current, numbers], self.depth + 1
            self._seen = united(self._seen, current) if self._revisits else current
        return tally

    def _write(self, depth: int, tally: Tally) -> list[PartRecord]:
        numbers = self._lists[depth - self.depth - 1]
        files = self._run.files(depth, self._layout, listed=numbers.size)
        return [files.write_list(numbers, tally, self._run.durable)]

    def in_parts(self, record: LayerRecord) -> LayerRecord:
        """Write the last layer, of keys, as tasks would, with the neighbours of each part, and
        return its ledger line."""
        _, keys = self._lists
        layout, words_of = self._layout, self._space.words_of
        first = range(0, keys.size, size := ceil(layout.part_keys / layout.space.most))
        files, parts = self._run.files(self.depth, layout, parts=len(first)), []
        assert isinstance(self._kernel, KeyLists)
        assert isinstance(files, KeyFiles)
        files.begin(self._run.durable)
        for part, begin in enumerate(first):
            states, end = keys[begin : begin + size], begin + size
            high = keys[end] if end < keys.size else None
            near = self._kernel.beside(states, within(self._seen, states[0], high))
            words = words_of(states), words_of(near)
            tally = self._counting.of_list(0, states)
            parts.append(files.write_keys(part, *words, tally, self._run.durable))
        return LayerRecord.of(self.depth, "keys", record.tally, record.seconds, parts)


class AsBitmaps(Held):
    """Both layers as bitmaps, on which several threads of this process work."""

    form = "bits"

    def __init__(self, plan: Plan, run: LayerRun, counting: Counting):
        super().__init__(plan, run, counting)
        self._search = search = engine_of(self._space).search(self._layout, plan.threads)
        for depth in self.depths:
            self._load(depth, search.layer(depth))

    def _load(self, depth: int, bitmaps: LayerBitmaps) -> None:
        layer, strip = self._stored(depth), self._layout.strip_words
        if layer.is_list:
            bitmaps.add(layer.numbers())
            return
        for first, word, slab in layer.slabs():
            prefix, begin = divmod(word, strip)
            strips = bitmaps.strips(first, len(slab), prefix)
            strips[:, begin : begin + slab.shape[1]] = slab[: len(strips)]
        bitmaps.find_live()

    def expand(self) -> Tally:
        """Make the next layer in place of the older of the two, and return its tally."""
        self.depth += 1
        side, counts = self._space.side_of(self.depth), self._search.expand(self.depth)
        tally = self._counting.of_nodes(side, slice(None), counts)
        if (start := self._counting.start_in(side)) is not None:
            tally += Tally(start=int(self._search.layer(self.depth).holds(start)))
        return tally

    def _write(self, depth: int, tally: Tally) -> list[PartRecord]:
        """Write a layer part by part, with all threads."""
        layout, counting, durable = self._layout, self._counting, self._run.durable
        files, bitmaps = self._run.files(depth, layout), self._search.layer(depth)
        files.begin(durable)

        def write_part(task: int) -> PartRecord:
            where, part_tally = layout.task(files.side, task), counting.zero
            with files.write_part(task, behind, durable) as writer:
                for slab in range(prod(layout.grid)):
                    first, prefix, word = layout.slab_of(where, slab)
                    strips = bitmaps.strips(first, layout.slab_nodes, prefix)
                    words = np.ascontiguousarray(strips[:, word : word + layout.slab_words])
                    counts = np.empty(len(words), dtype=np.int64)
                    count_ones(words, counts)
                    if not counts.any():
                        continue
                    nodes = slice(first, first + len(words))
                    part_tally += counting.of_nodes(files.side, nodes, counts)
                    if len(words) < layout.slab_nodes:
                        words = np.pad(words, ((0, layout.slab_nodes - len(words)), (0, 0)))
                    writer.write(slab, words)
                start = tally.start if counting.start_at(layout, where) else 0
                return writer.finish(part_tally + Tally(start=start))

        with ThreadPoolExecutor(1) as behind:
            return self._search.spread(write_part, files.tasks)


HELD = {"lists": AsLists, "memory": AsBitmaps}
"""The classes for layers in this process, by the mode that makes them."""
