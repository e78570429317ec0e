"""Several layers in one call: as lists while they are thin, in memory where they fit.

Such a call stores the last two layers and tells the driver what it found on the way; a stop or a
crash costs what was done since the call before.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from frontier.search.task import MOST_NODES_COUNTED, ONE_TASK
from frontier.search.workspace import Workspace, workspace
from frontier.space.jit import compile_seconds
from frontier.space.memory import Bitmaps, MemorySearch, count_all
from frontier.store.layers import ChunkWriter, Manifest, bits_key, create_bits, write_list
from frontier.store.run import LayerRecord


@dataclass(frozen=True)
class Advance:
    """What a call is to do.

    depth: the last committed layer. until: the last depth to compute, None for all. seconds:
    how long to go on. keep_all: whether each layer is stored. most: a list is left when it has
    more states; bitmaps are, when two layers have not. threads: of bitmaps.
    """

    path: str
    identifier: str
    durable: bool
    depth: int
    until: int | None
    seconds: float
    keep_all: bool
    most: int
    threads: int


@dataclass
class Advanced:
    """What a call did: committed next by the driver, in one go. storing: seconds of storing at
    the end."""

    records: list[LayerRecord] = field(default_factory=list)
    manifests: list[Manifest] = field(default_factory=list)
    complete: bool = False
    storing: float = 0.0


class _Advancing:
    """The layers of one call, in whatever form they are."""

    def __init__(self, call: Advance, form: str):
        self.call, self.done, self._form = call, Advanced(), form
        self._started = self._before = time.perf_counter()
        self._compiled = compile_seconds()

    def add(
        self, depth: int, states: int, nodes: list[int] | None, start: bool, home: int | None
    ) -> bool:
        """Note a layer; returns whether that was the last one that this call may do."""
        now, compiled = time.perf_counter(), compile_seconds()
        # The first run on a machine compiles the kernels; that is no part of any search.
        seconds = max(0.0, now - self._before - (compiled - self._compiled))
        self.done.records.append(
            LayerRecord(
                depth, states, self._form, False, seconds, nodes=nodes, start=start, home=home
            )
        )
        self._before, self._compiled = now, compiled
        return depth == self.call.until or now - self._started > self.call.seconds

    def stored(self, manifest: Manifest) -> None:
        """Note that a layer is stored."""
        self.done.manifests.append(manifest)
        for record in self.done.records:
            if record.depth == manifest.depth:
                record.stored, record.bytes = True, manifest.bytes


def advance_lists(call: Advance) -> Advanced:
    """Advance on sorted lists of state numbers, until a layer is empty or has too many states."""
    with ONE_TASK:
        return _advance_lists(workspace(call.path, call.identifier, call.durable), call)


def _advance_lists(work: Workspace, call: Advance) -> Advanced:
    depth, advancing = call.depth, _Advancing(call, "list")
    previous, current = work.layer(depth - 1).numbers(), work.layer(depth).numbers()
    layers: list[tuple[int, np.ndarray]] = []
    over = False
    while not over:
        found = work.lists.expand(work.space.class_of(depth), current, previous)
        if not found.size:
            advancing.done.complete = True
            break
        depth += 1
        previous, current = current, found
        layers = [*layers[-1:], (depth, found)]
        nodes, start = _count_nodes(work, depth, found), _lists_start(work, depth, found)
        home = _lists_home(work, depth, found)
        over = advancing.add(depth, int(found.size), nodes, start, home) or found.size > call.most
        if call.keep_all:
            advancing.stored(_store_list(work, depth, found))
    if not call.keep_all:
        for depth, numbers in layers:
            advancing.stored(_store_list(work, depth, numbers))
    return advancing.done


def advance_bits(call: Advance) -> Advanced:
    """Advance on bitmaps in memory, until a layer is empty or two are thin enough for lists."""
    with ONE_TASK:
        return _advance_bits(workspace(call.path, call.identifier, call.durable), call)


def _advance_bits(work: Workspace, call: Advance) -> Advanced:
    depth, advancing = call.depth, _Advancing(call, "bits")
    search = _memory(work, call)
    sizes = [call.most + 1] * 2
    over = False
    while not over and max(sizes) > call.most:
        depth += 1
        counts = search.expand(depth)
        states = int(counts.sum())
        if not states:
            advancing.done.complete = True
            depth -= 1
            break
        sizes = [sizes[-1], states]
        nodes = counts.tolist() if counts.size <= MOST_NODES_COUNTED else None
        number, home = work.start_in(work.space.class_of(depth)), None
        start = number is not None and search.layer(depth).holds(number)
        if work.home is not None:
            home = int(counts[work.home[work.space.class_of(depth)]].sum())
        over = advancing.add(depth, states, nodes, start, home)
        if call.keep_all:
            advancing.stored(_store_bits(work, depth, search))
    before = time.perf_counter()
    if not call.keep_all:
        for last in range(max(call.depth + 1, depth - 1), depth + 1):
            # the layer before an empty one has been written over
            if not (advancing.done.complete and last < depth):
                advancing.stored(_store_bits(work, last, search))
    advancing.done.storing = time.perf_counter() - before
    if advancing.done.complete or depth == call.until:
        work.memory = None  # its gigabytes are not needed for answers
    return advancing.done


def _memory(work: Workspace, call: Advance) -> MemorySearch:
    """The bitmaps with the last committed layer and the one before it."""
    if work.memory is None:
        work.memory = MemorySearch(work.layout, call.threads)
    elif work.memory.depth == call.depth:
        return work.memory
    work.memory.depth = None
    for depth in (call.depth - 1, call.depth):
        bitmaps = work.memory.layer(depth)
        bitmaps.clear()
        _load(work, depth, bitmaps)
    work.memory.depth = call.depth
    return work.memory


def _load(work: Workspace, depth: int, bitmaps: Bitmaps) -> None:
    layer, layout = work.layer(depth), work.layout
    if layer.is_list:
        bitmaps.add(layer.numbers())
        return
    klass = work.space.class_of(depth)
    buffer = np.empty((layout.block_nodes, layout.strip_words), dtype=np.uint64)
    for block in range(layout.blocks(klass)):
        for prefix in range(layout.prefixes):
            if layer.has_chunk(block, prefix):
                layer.read_chunk(block, prefix, buffer)
                chunk = bitmaps.chunk(block, prefix)
                chunk[:] = buffer[: len(chunk)]
    bitmaps.find_live()


def _store_bits(work: Workspace, depth: int, search: MemorySearch) -> Manifest:
    """Store a layer under a name of this call's own; the driver puts it in place."""
    path, layout = work.run.scratch_path(depth), work.layout
    create_bits(path, layout, work.space.class_of(depth), work.codec)
    bitmaps = search.layer(depth)

    writer = ChunkWriter(path, work.codec, durable=work.run.durable)

    def store(place: tuple[int, int]) -> tuple[str, list]:
        key, chunk = bits_key(*place), bitmaps.chunk(*place)
        states = int(count_all(chunk))
        if len(chunk) < layout.block_nodes:
            chunk = np.pad(chunk, ((0, layout.block_nodes - len(chunk)), (0, 0)))
        return key, writer.write(key, chunk, states)

    chunks = dict(search.share(store, bitmaps.chunks()))
    writer.finish()
    states = sum(line[0] for line in chunks.values())
    return Manifest(depth, "bits", states, chunks, scratch=path.name)


def _lists_start(work: Workspace, depth: int, numbers: np.ndarray) -> bool:
    number = work.start_in(work.space.class_of(depth))
    if number is None:
        return False
    at = int(np.searchsorted(numbers, np.uint64(number)))
    return at < numbers.size and int(numbers[at]) == number


def _lists_home(work: Workspace, depth: int, numbers: np.ndarray) -> int | None:
    if work.home is None:
        return None
    nodes = (numbers // np.uint64(work.code.half)).astype(np.int64)
    return int(np.count_nonzero(work.home[work.space.class_of(depth)][nodes]))


def _store_list(work: Workspace, depth: int, numbers: np.ndarray) -> Manifest:
    """Store a layer under a name of this call's own; the driver puts it in place."""
    path = work.run.scratch_path(depth)
    manifest = write_list(path, depth, numbers, work.codec, work.run.durable)
    manifest.scratch = path.name
    return manifest


def _count_nodes(work: Workspace, depth: int, numbers: np.ndarray) -> list[int] | None:
    """States at each node of the layer's class, where there are few nodes."""
    nodes = work.space.nodes[work.space.class_of(depth)]
    if nodes > MOST_NODES_COUNTED:
        return None
    ends = np.arange(nodes + 1, dtype=np.uint64) * np.uint64(work.code.half)
    return np.diff(np.searchsorted(numbers, ends)).tolist()
