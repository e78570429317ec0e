"""Several layers in one call: as lists while they are thin, in memory where they fit.

Such a call stores the last two layers and returns the records of all layers that it has made. A
crash costs what was done since the previous call.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from frontier.kernels.memory import Bitmaps, MemorySearch, count_rows
from frontier.layers.parts import PartRecord
from frontier.layers.record import LayerRecord
from frontier.layers.tally import Tally
from frontier.runs.reference import RunRef
from frontier.search.plan import Mode, Policy
from frontier.search.workspace import Workspace, workspace_of
from frontier.stopwatch import working_time


@dataclass(frozen=True)
class Advance:
    """The arguments of a call.

    mode: "lists" or "memory"; the call ends when the policy names another mode. depth: the last
    committed layer. until: the last depth to compute, None for all. seconds: how long to go on.
    threads: the number of threads that expand bitmaps. stop: returns True if the call is to end
    after the layer under way. made: called with the line of each layer as soon as it is made.
    storing: called with the number of layers before they are stored at the end. These are None if
    the driver is in another process.
    """

    run_ref: RunRef
    mode: Mode
    depth: int
    until: int | None
    seconds: float
    policy: Policy
    threads: int
    stop: Callable[[], bool] | None = None
    made: Callable[[LayerRecord], None] | None = None
    storing: Callable[[int], None] | None = None


@dataclass(frozen=True)
class Advanced:
    """The result of a call, which the driver commits in one go.

    records: those of the layers made, in order. complete: True if the layer after them is empty.
    storing: the seconds spent on storing layers at the end.
    """

    records: list[LayerRecord]
    complete: bool
    storing: float


def advance(call: Advance) -> Advanced:
    """Make layers until one is empty, the time is over, or the policy names another mode."""
    work = workspace_of(call.run_ref)
    with work.computing:
        return _advance(work, call)


def _advance(work: Workspace, call: Advance) -> Advanced:
    over, complete, policy = False, False, call.policy
    started, before = time.perf_counter(), working_time()
    layers = (_Lists if call.mode == "lists" else _InMemory)(work, call)
    timed_tallies: list[tuple[Tally, float]] = []
    stored: dict[int, list[PartRecord]] = {}
    while not over and policy.mode(*layers.sizes) == call.mode:
        tally = layers.expand()
        if not tally.states:
            complete = True
            break
        now = working_time()
        timed_tallies.append((tally, max(0.0, now - before)))
        before, depth = now, call.depth + len(timed_tallies)
        if call.made is not None:
            call.made(LayerRecord.of(depth, layers.form, *timed_tallies[-1]))
        over = depth == call.until or time.perf_counter() - started > call.seconds
        over = over or (call.stop is not None and call.stop())
        if policy.layers_kept is None:
            stored[depth] = layers.store(depth, tally)
    before = time.perf_counter()
    if policy.layers_kept is not None:
        kept = [
            (depth, tally)
            for depth, (tally, _) in enumerate(timed_tallies, call.depth + 1)
            if depth in layers.depths
        ]
        if call.storing is not None and kept:
            call.storing(len(kept))
        for depth, tally in kept:
            stored[depth] = layers.store(depth, tally)
    storing = time.perf_counter() - before
    if complete or (timed_tallies and call.depth + len(timed_tallies) == call.until):
        work.memory = None  # frees what may be gigabytes
    records = [
        LayerRecord.of(depth, layers.form, tally, seconds, stored.get(depth, ()))
        for depth, (tally, seconds) in enumerate(timed_tallies, call.depth + 1)
    ]
    return Advanced(records, complete, storing)


class _Lists:
    """The last two layers as sorted lists of state numbers."""

    form = "list"

    def __init__(self, work: Workspace, call: Advance):
        self._work, self._last = work, call.depth
        self._lists = {d: work.layer(d).numbers() for d in (call.depth - 1, call.depth)}

    @property
    def sizes(self) -> list[int]:
        """The numbers of states in the last two layers."""
        return [numbers.size for numbers in self._lists.values()]

    @property
    def depths(self) -> range:
        return range(self._last - 1, self._last + 1)

    def expand(self) -> Tally:
        """Make the next layer and return its tally; if it is empty, the last two layers stay."""
        work, depth = self._work, self._last + 1
        before, current = self._lists.values()
        numbers = work.lists.expand(work.space.side_of(self._last), current, before)
        if numbers.size:
            self._lists, self._last = {self._last: current, depth: numbers}, depth
        return work.counting.of_list(work.space.side_of(depth), numbers)

    def store(self, depth: int, tally: Tally) -> list[PartRecord]:
        """Store a layer, which the driver commits later."""
        work, numbers = self._work, self._lists[depth]
        return [work.files(depth).write_list(numbers, work.writer, tally, work.run.durable)]


class _InMemory:
    """The last two layers as bitmaps; the workspace keeps them for the next call."""

    form = "bits"

    def __init__(self, work: Workspace, call: Advance):
        self._work = work
        depths = call.depth - 1, call.depth
        self.sizes = [work.layer(depth).states for depth in depths]
        if work.memory is None or work.memory.depth != call.depth:
            work.memory = None  # frees what may be gigabytes before as much is allocated
            work.memory = MemorySearch(work.layout, call.threads)
            for depth in depths:
                self.load(depth, work.memory.layer(depth))
            work.memory.depth = call.depth
        self._search: MemorySearch = work.memory

    @property
    def depths(self) -> range:
        return range(self._search.depth - 1, self._search.depth + 1)

    def load(self, depth: int, bitmaps: Bitmaps) -> None:
        layer, strip = self._work.layer(depth), self._work.layout.strip_words
        if layer.is_list:
            bitmaps.add(layer.numbers())
            return
        for first, word, slab in layer.slabs():
            prefix, begin = divmod(word, strip)
            strips = bitmaps.strips(first, len(slab), prefix)
            strips[:, begin : begin + slab.shape[1]] = slab[: len(strips)]
        bitmaps.find_live()

    def expand(self) -> Tally:
        """Make the next layer in place of the last but one, and return its tally."""
        counting, depth = self._work.counting, self._search.depth + 1
        side = self._work.space.side_of(depth)
        counts = self._search.expand(depth)
        bitmaps, start = self._search.layer(depth), counting.start_in(side)
        tally = counting.of_nodes(side, slice(None), counts)
        if start is not None:
            tally += Tally(start=int(bitmaps.holds(start)))
        self.sizes = [self.sizes[-1], tally.states]
        return tally

    def store(self, depth: int, tally: Tally) -> list[PartRecord]:
        """Store a layer part by part, with all threads; the driver commits it later."""
        work, counting = self._work, self._work.counting
        files, layout, bitmaps = work.files(depth), work.layout, self._search.layer(depth)
        files.begin(work.run.durable)

        def store_part(task: int) -> PartRecord:
            where, part_tally = layout.task(files.side, task), counting.zero
            with files.write_part(task, work.writer, work.run.durable) as writer:
                for slab in range(prod(layout.grid)):
                    first, prefix, word = layout.slab_of(where, slab)
                    strips = bitmaps.strips(first, layout.slab_nodes, prefix)
                    words = np.ascontiguousarray(strips[:, word : word + layout.slab_words])
                    counts = count_rows(words)
                    if not counts.any():
                        continue
                    part_tally += counting.of_nodes(
                        files.side, slice(first, first + len(words)), counts
                    )
                    if len(words) < layout.slab_nodes:
                        words = np.pad(words, ((0, layout.slab_nodes - len(words)), (0, 0)))
                    writer.write(slab, words)
                start = tally.start if counting.start_at(layout, where) else 0
                return writer.finish(part_tally + Tally(start=start))

        return self._search.share(store_part, files.tasks)
