"""Several layers in one call: as lists while they are thin, in memory where they fit.

Such a call stores the last two layers and tells the driver about all that it has made; a crash
costs what was done since the call before.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from frontier.search.plan import Mode, Policy
from frontier.search.workspace import Workspace, workspace_of
from frontier.space.memory import Bitmaps, MemorySearch, count_all
from frontier.stopwatch import preparing
from frontier.store.ledger import LayerRecord
from frontier.store.parts import PartRecord, digest_of
from frontier.store.run_ref import RunRef


@dataclass(frozen=True)
class Advance:
    """What a call is to do.

    mode: "lists" or "memory"; the call ends where the policy names another one. depth: the last
    committed layer. until: the last depth to compute, None for all. seconds: how long to go on.
    threads: how many expand bitmaps. stop: whether to end after the layer under way; None where the
    driver is in another process.
    """

    run_ref: RunRef
    mode: Mode
    depth: int
    until: int | None
    seconds: float
    policy: Policy
    threads: int
    stop: Callable[[], bool] | None = None


@dataclass
class Advanced:
    """What a call did, which the driver commits in one go.

    records: of the layers made, in order. complete: whether the layer after them is empty. storing:
    the seconds that it took to store layers at the end.
    """

    records: list[LayerRecord] = field(default_factory=list)
    complete: bool = False
    storing: float = 0.0


def advance(call: Advance) -> Advanced:
    """Make layers until one is empty, the time is over or the policy names another mode."""
    work = workspace_of(call.run_ref)
    with work.computing:
        return _advance(work, call)


def _advance(work: Workspace, call: Advance) -> Advanced:
    done, over, policy = Advanced(), False, call.policy
    started = before = time.perf_counter()
    prepared = preparing.seconds
    layers = (_Lists if call.mode == "lists" else _InMemory)(work, call)
    while not over and policy.mode(*layers.sizes) == call.mode:
        record = layers.expand()
        if not record.states:
            done.complete = True
            break
        done.records.append(record)
        now, so_far = time.perf_counter(), preparing.seconds
        # To load kernels, or to compile them on their first use, is no part of a search.
        record.seconds = max(0.0, now - before - (so_far - prepared))
        before, prepared = now, so_far
        over = record.depth == call.until or now - started > call.seconds
        over = over or (call.stop is not None and call.stop())
        if policy.kept is None:
            _store(work, layers, record)
    before = time.perf_counter()
    if policy.kept is not None:
        for record in done.records:
            if record.depth in layers.depths:
                _store(work, layers, record)
    done.storing = time.perf_counter() - before
    if done.complete or (done.records and done.records[-1].depth == call.until):
        work.memory = None  # may be gigabytes, which nobody reads any more
    return done


def _store(work: Workspace, layers: "_Lists | _InMemory", record: LayerRecord) -> None:
    """Store a layer, which the driver commits."""
    parts = layers.store(record)
    record.stored, record.parts, record.digest = True, len(parts), digest_of(parts)
    record.bytes = sum(part.bytes for part in parts)


class _Lists:
    """The last two layers as sorted lists of state numbers."""

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

    def expand(self) -> LayerRecord:
        """Make the next layer; if it is empty, the last two stay."""
        work, depth = self._work, self._last + 1
        before, current = self._lists.values()
        found = work.lists.expand(work.space.side_of(self._last), current, before)
        if found.size:
            self._lists, self._last = {self._last: current, depth: found}, depth
        start, home = work.marks(depth, found)
        return LayerRecord(
            depth, int(found.size), "list", False, 0.0,
            start=start, home=home, edges=work.lists.edges,
        )  # fmt: skip

    def store(self, record: LayerRecord) -> list[PartRecord]:
        files, numbers = self._work.files(record.depth), self._lists[record.depth]
        durable = self._work.run.durable
        return [files.write_list(numbers, self._work.writer, durable, record.start, record.home)]


class _InMemory:
    """The last two layers as bitmaps; the workspace keeps them for the next call."""

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

    def expand(self) -> LayerRecord:
        """Make the next layer, in the place of the one before the last."""
        work, depth, home = self._work, self._search.depth + 1, None
        side = work.space.side_of(depth)
        counts = self._search.expand(depth)
        bitmaps, number, states = self._search.layer(depth), work.start_in(side), int(counts.sum())
        self.sizes = [self.sizes[-1], states]
        if work.at_goal_shape is not None:
            home = int(counts[work.at_goal_shape[side]].sum())
        return LayerRecord(
            depth, states, "bits", False, 0.0, start=number is not None and bitmaps.holds(number),
            home=home, edges=work.edges(sum(bitmaps.edges)),
        )  # fmt: skip

    def store(self, record: LayerRecord) -> list[PartRecord]:
        """Store a layer part by part, by all threads."""
        work, depth = self._work, record.depth
        files, layout, bitmaps = work.files(depth), work.layout, self._search.layer(depth)
        files.begin(work.run.durable)

        def store_part(task: int) -> PartRecord:
            where, states = layout.task(files.side, task), 0
            home = None if work.at_goal_shape is None else 0
            with files.write_part(task, work.writer, work.run.durable) as writer:
                for slab in range(prod(layout.grid)):
                    first, prefix, word = layout.slab_of(where, slab)
                    strips = bitmaps.strips(first, layout.slab_nodes, prefix)
                    words = np.ascontiguousarray(strips[:, word : word + layout.slab_words])
                    if not (found := int(count_all(words))):
                        continue
                    states += found
                    if home is not None:
                        at_home = work.at_goal_shape[files.side][first : first + len(words)]
                        home += int(count_all(np.ascontiguousarray(words[at_home])))
                    if len(words) < layout.slab_nodes:
                        words = np.pad(words, ((0, layout.slab_nodes - len(words)), (0, 0)))
                    writer.write(slab, words)
                start = record.start and work.start_at(where) is not None
                edges = work.edges(bitmaps.edges[task])
                return writer.finish(states, start, home, edges)

        return self._search.share(store_part, files.tasks)
