"""Several layers in one call: as lists while they are thin, in memory where they fit.

Such a call stores the last two layers and tells the driver what it found on the way; a stop or a
crash costs what was done since the call before.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from frontier.search.policy import Policy
from frontier.search.workspace import Workspace, workspace_of
from frontier.space.memory import Bitmaps, MemorySearch, count_all
from frontier.stopwatch import preparing
from frontier.store.ledger import LayerRecord
from frontier.store.parts import PartRecord, digest_of


@dataclass(frozen=True)
class Advance:
    """What a call is to do.

    depth: the last committed layer. until: the last depth to compute, None for all. seconds:
    how long to go on. threads: of bitmaps. work, stop: the workspace, and whether to end after the
    layer under way, where the driver is in this process.
    """

    path: str
    identifier: str
    durable: bool
    depth: int
    until: int | None
    seconds: float
    policy: Policy
    threads: int
    work: Workspace | None = None
    stop: Callable[[], bool] | None = None


@dataclass
class Advanced:
    """What a call did: committed next by the driver, in one go. storing: seconds of storing at
    the end."""

    records: list[LayerRecord] = field(default_factory=list)
    complete: bool = False
    storing: float = 0.0


class _Advancing:
    """The layers of one call, in whatever form they are."""

    def __init__(self, call: Advance, form: str):
        self.call, self.done, self._form = call, Advanced(), form
        self._started = self._before = time.perf_counter()
        self._prepared = preparing.seconds

    def add(
        self, depth: int, states: int, start: bool, home: int | None, edges: int | None
    ) -> bool:
        """Note a layer; returns whether that was the last one that this call may do."""
        now, prepared = time.perf_counter(), preparing.seconds
        # Kernels are loaded, or compiled where they never were; that is no part of any search.
        seconds = max(0.0, now - self._before - (prepared - self._prepared))
        self.done.records.append(
            LayerRecord(
                depth, states, self._form, False, seconds, start=start, home=home, edges=edges
            )
        )
        self._before, self._prepared = now, prepared
        over = depth == self.call.until or now - self._started > self.call.seconds
        return over or (self.call.stop is not None and self.call.stop())

    def stored(self, depth: int, parts: list[PartRecord]) -> None:
        """Note that a layer is stored."""
        for record in self.done.records:
            if record.depth == depth:
                record.stored, record.parts, record.digest = True, len(parts), digest_of(parts)
                record.bytes = sum(part.bytes for part in parts)


def advance_lists(call: Advance) -> Advanced:
    """Advance on sorted lists of state numbers, until a layer is empty or too large."""
    work = call.work or workspace_of(call.path, call.identifier, call.durable)
    with work.computing:
        return _advance_lists(work, call)


def _advance_lists(work: Workspace, call: Advance) -> Advanced:
    depth, advancing = call.depth, _Advancing(call, "list")
    previous, current = work.layer(depth - 1).numbers(), work.layer(depth).numbers()
    layers: list[tuple[int, np.ndarray, bool, int | None]] = []
    policy, over = call.policy, False

    def store(depth: int, numbers: np.ndarray, start: bool, home: int | None) -> None:
        files, durable = work.files(depth), work.run.durable
        work.run.check_still_there()
        advancing.stored(depth, [files.write_list(numbers, work.writer, durable, start, home)])

    while not over and policy.mode(previous.size, current.size) == "lists":
        found = work.lists.expand(work.space.side_of(depth), current, previous)
        if not found.size:
            advancing.done.complete = True
            break
        depth += 1
        previous, current = current, found
        start, home = _start_listed(work, depth, found), _home_listed(work, depth, found)
        layers = [*layers[-1:], (depth, found, start, home)]
        over = advancing.add(depth, int(found.size), start, home, work.lists.edges)
        if policy.kept is None:
            store(*layers[-1])
    if policy.kept is not None:
        for layer in layers:
            store(*layer)
    return advancing.done


def advance_bits(call: Advance) -> Advanced:
    """Advance on bitmaps in memory, until a layer is empty or two are thin enough for lists."""
    work = call.work or workspace_of(call.path, call.identifier, call.durable)
    with work.computing:
        return _advance_bits(work, call)


def _advance_bits(work: Workspace, call: Advance) -> Advanced:
    depth, advancing = call.depth, _Advancing(call, "bits")
    search = _memory(work, call)
    sizes = [work.layer(before).states for before in (depth - 1, depth)]
    policy, over = call.policy, False
    while not over and policy.mode(*sizes) == "memory":
        depth += 1
        counts = search.expand(depth)
        states = int(counts.sum())
        if not states:
            advancing.done.complete = True
            depth -= 1
            break
        sizes = [sizes[-1], states]
        number, home = work.start_in(work.space.side_of(depth)), None
        start = number is not None and search.layer(depth).holds(number)
        if work.home is not None:
            home = int(counts[work.home[work.space.side_of(depth)]].sum())
        edges = sum(search.layer(depth).edges)
        over = advancing.add(depth, states, start, home, work.edges(edges))
        if policy.kept is None:
            advancing.stored(depth, _store_bits(work, depth, search))
    before = time.perf_counter()
    if policy.kept is not None:
        for last in range(max(call.depth + 1, depth - 1), depth + 1):
            # The empty layer was made in place of the one before the last.
            if not (advancing.done.complete and last < depth):
                advancing.stored(last, _store_bits(work, last, search))
    advancing.done.storing = time.perf_counter() - before
    if advancing.done.complete or depth == call.until:
        work.memory = None  # may be gigabytes, which nobody reads any more
    return advancing.done


def _memory(work: Workspace, call: Advance) -> MemorySearch:
    """The bitmaps with the last committed layer and the one before it."""
    if work.memory is not None and work.memory.depth == call.depth:
        return work.memory
    work.memory = None  # frees what may be gigabytes before as much is allocated
    work.memory = MemorySearch(work.layout, call.threads)
    for depth in (call.depth - 1, call.depth):
        _load(work, depth, work.memory.layer(depth))
    work.memory.depth = call.depth
    return work.memory


def _load(work: Workspace, depth: int, bitmaps: Bitmaps) -> None:
    layer, strip = work.layer(depth), work.layout.strip_words
    if layer.is_list:
        bitmaps.add(layer.numbers())
        return
    for first, word, slab in layer.slabs():
        prefix, begin = divmod(word, strip)
        strips = bitmaps.strips(first, len(slab), prefix)
        strips[:, begin : begin + slab.shape[1]] = slab[: len(strips)]
    bitmaps.find_live()


def _store_bits(work: Workspace, depth: int, search: MemorySearch) -> list[PartRecord]:
    """Store a layer, part by part; the driver commits it."""
    files, layout, bitmaps = work.files(depth), work.layout, search.layer(depth)
    work.run.check_still_there()
    files.begin(work.run.durable)
    number = work.start_in(files.side)

    def store(task: int) -> PartRecord:
        where, states = layout.task(files.side, task), 0
        home = None if work.home is None else 0
        with files.write_part(task, work.writer, work.run.durable) as writer:
            for slab in range(prod(layout.grid)):
                first, prefix, word = layout.slab_of(where, slab)
                strips = bitmaps.strips(first, layout.slab_nodes, prefix)
                words = np.ascontiguousarray(strips[:, word : word + layout.slab_words])
                if not (found := int(count_all(words))):
                    continue
                states += found
                if home is not None:
                    at_home = work.home[files.side][first : first + len(words)]
                    home += int(count_all(np.ascontiguousarray(words[at_home])))
                if len(words) < layout.slab_nodes:
                    words = np.pad(words, ((0, layout.slab_nodes - len(words)), (0, 0)))
                writer.write(slab, words)
            start = work.start_at(where) is not None and bitmaps.holds(number)
            edges = work.edges(bitmaps.edges[task])
            return writer.finish(states, start, home, edges)

    return search.share(store, files.tasks)


def _start_listed(work: Workspace, depth: int, numbers: np.ndarray) -> bool:
    number = work.start_in(work.space.side_of(depth))
    if number is None:
        return False
    at = int(np.searchsorted(numbers, np.uint64(number)))
    return at < numbers.size and int(numbers[at]) == number


def _home_listed(work: Workspace, depth: int, numbers: np.ndarray) -> int | None:
    if work.home is None:
        return None
    nodes = (numbers // np.uint64(work.space.code.half)).astype(np.int64)
    return int(np.count_nonzero(work.home[work.space.side_of(depth)][nodes]))
