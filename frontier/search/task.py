"""What a worker does: compute one part of the next layer.

A task reads slabs, writes one file and returns a few numbers; all other data go through the store.
The file has the same bytes however often the task is done, and gets its name when it is whole. A
worker that does the task again finds the file, and checks it instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np

from frontier.errors import CorruptRunError
from frontier.search.workspace import Workspace, workspace_of
from frontier.space.bits import expand, live_rows
from frontier.space.layout import Layout, Task
from frontier.space.program import Program, Reads, Swaps
from frontier.stopwatch import Stopwatch
from frontier.store.parts import PartRecord
from frontier.store.reader import Allocate, EncodedSlabs, ListedSlabs
from frontier.store.run_ref import RunRef
from frontier.store.tally import Tally

ARENA_BYTES = 8_000_000
"""Bytes of an arena, if that is enough for a batch."""


@dataclass
class TaskResult:
    """What a task found. seconds: where the time of its worker went, by kind."""

    record: PartRecord
    seconds: dict[str, float] = field(default_factory=dict)


def expand_task(run_ref: RunRef, gives_up: bool, depth: int, number: int) -> TaskResult:
    """Compute a part of the layer at `depth` from the two layers before it.

    gives_up: whether to delete the part of the layer at depth - 2 that this one replaces.
    """
    work = workspace_of(run_ref)
    if (result := _done(work, depth, number)) is None:
        try:
            result = _expand(work, depth, number)
        except (CorruptRunError, FileNotFoundError):
            # Another worker may have done it meanwhile, and given up what this one was reading; or
            # its layer was committed, and the file swept away that this one was writing.
            if (result := _done(work, depth, number)) is None:
                raise
    if gives_up and _replaces(work, depth):
        work.run.give_up(depth - 2, number, work.layout)
    return result


def _done(work: Workspace, depth: int, number: int) -> TaskResult | None:
    """The result of a task whose part is there and whole; None if it must be computed.

    CorruptRunError if its part is damaged and cannot be computed again, as the part of depth - 2
    has been given up.
    """
    files = work.files(depth)
    if not files.there(number):
        return None
    try:
        part = files.part(number)
        part.check()
    except CorruptRunError as error:
        if _replaces(work, depth):
            try:
                work.files(depth - 2).part(number)
            except CorruptRunError:
                raise error from None
        return None
    if work.run.durable:  # its writer may have died before it was on the disk
        part.force()
    return TaskResult(part.record)


def _replaces(work: Workspace, depth: int) -> bool:
    """Whether a part takes the place of one of depth - 2, which may have been given up."""
    return depth >= 2 and not work.layer(depth - 2).is_list


def _expand(work: Workspace, depth: int, number: int) -> TaskResult:
    task, layout, files = work.task(depth, number), work.layout, work.files(depth)
    clock = Stopwatch()
    program, reads = work.program(task)
    own = np.arange(prod(layout.grid))
    tally, start = work.counting.zero, work.counting.start_at(layout, task)
    with (
        work.buffers(2) as (buffer, other),
        files.write_part(number, work.writer, work.run.durable, clock) as writer,
    ):
        current = work.layer(depth - 1).load(reads.task, reads.slab, buffer)
        before = work.layer(depth - 2).load(np.full(own.size, number), own, other)
        clock.lap("disk")
        with work.computing:
            clock.go_on()
            arena = Arena(layout, program, reads, current, work.arena, clock)
            batches = made_batches(layout, work.swaps, task, program, arena, before, clock)
            for nodes, counts, edges, slabs in batches:
                tally += work.counting.of_nodes(task.side, nodes, counts, edges)
                for slab, words in slabs:
                    writer.write(slab, words)
                    if start is not None and start[0] == slab:
                        tally += Tally(start=int(words[start[1]]) >> start[2] & 1)
            clock.lap("rest")
        record = writer.finish(tally)
        clock.lap("disk")
    return TaskResult(record, clock.seconds)


def made_batches(
    layout: Layout,
    swaps: Swaps,
    task: Task,
    program: Program,
    arena: "Arena",
    before: EncodedSlabs | ListedSlabs,
    clock: Stopwatch,
) -> Iterator[tuple[slice, np.ndarray, int, list[tuple[int, np.ndarray]]]]:
    """The new states, batch by batch: (the nodes, int64[nodes] the states at each, the edges to
    them, slabs).

    slabs: those that hold a state, as (number, words), which are valid until the next batch.
    """
    cuts = layout.cuts
    out = np.empty((cuts, layout.slab_nodes * layout.slab_words), dtype=np.uint64)
    for batch, (first, nodes, prefix, slab) in enumerate(layout.batches(task)):
        arena.prepare(batch)
        there = before.there[slab : slab + cuts]
        out[~there] = 0
        live = np.zeros((layout.slab_nodes, layout.rows), dtype=bool)
        live.reshape(cuts, -1)[there] = True
        clock.lap("rest")
        before.decode(slab + np.flatnonzero(there), out, np.flatnonzero(there))
        clock.lap("codec")
        counts, edges = expand(
            out.reshape(layout.slab_nodes, -1)[:nodes], live[:nodes].reshape(-1),
            first, prefix, arena.words, arena.live, arena.base, program, swaps,
        )  # fmt: skip
        clock.lap("kernel")
        found = np.flatnonzero(live[:nodes].reshape(cuts, -1).any(axis=1)).tolist()
        begin = task.first_node + first
        yield slice(begin, begin + nodes), counts, edges, [(slab + cut, out[cut]) for cut in found]


class Places:
    """Which slabs of a task's `Reads` are in which places of its arena."""

    def __init__(self, layout: Layout, reads: Reads):
        most = max((entries.size for entries in reads.batches), default=0)
        self.count = max(1, most, min(reads.slab.size, ARENA_BYTES // layout.slab_bytes))
        self._holds = np.full(self.count, -1)
        self._last = np.full(self.count, -1)
        self._place = np.full(reads.slab.size, -1)
        self._batch = 0

    def take(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make place for the slabs that the next batch needs; returns those that were not there, as
        entries of `Reads`, and the places that they get."""
        self._batch += 1
        place = self._place[wanted]
        self._last[place[place >= 0]] = self._batch
        new = wanted[place < 0]
        taken = np.argsort(self._last, kind="stable")[: new.size]
        gone = self._holds[taken]
        self._place[gone[gone >= 0]] = -1
        self._place[new], self._holds[taken], self._last[taken] = taken, new, self._batch
        return new, taken


class Arena:
    """The slabs of the current layer that a task is looking at, decoded: `words`, `live` and
    `base`, as `expand` reads them, right for one batch at a time.

    A task holds all that it reads as it is stored, and decodes what a batch of its rows needs when
    it comes to the batch: an arena of some megabytes stays in the processor's caches, where that is
    several times as fast as in memory. The slab that no batch has needed for longest makes place
    for another one. A slab that is needed again later is decoded again: with 2 x 7 tiles every
    twelfth one, with 3 x 5 tiles every third one or, on the other side, each one.
    """

    def __init__(
        self,
        layout: Layout,
        program: Program,
        reads: Reads,
        slabs: EncodedSlabs | ListedSlabs,
        allocate: Allocate,
        clock: Stopwatch,
    ):
        """slabs: those of `reads`."""
        self._layout, self._program, self._reads = layout, program, reads
        self._slabs, self._clock = slabs, clock
        self._places = Places(layout, reads)
        self.words = allocate(self._places.count * layout.slab_bytes).view(np.uint64)
        self.live = np.zeros(self.words.size // layout.row_words, dtype=bool)
        self.base = np.full(program.needed.shape, -1, dtype=np.int64)

    def prepare(self, batch: int) -> None:
        """Decode what a batch needs and is not there."""
        wanted = self._reads.batches[batch]
        new, taken = self._places.take(wanted[self._slabs.there[wanted]])
        self._point_to(new, taken)
        self._clock.lap("rest")
        self._slabs.decode(new, self.words.reshape(self._places.count, -1), taken)
        self._clock.lap("codec")
        live = self.live.reshape(self._places.count, -1)
        live_rows(self.words, self._layout.row_words, live, taken)
        self._clock.lap("kernel")

    def _point_to(self, entries: np.ndarray, places: np.ndarray) -> None:
        """Note in `base` where in the arena the nodes of these slabs lie."""
        layout, reads, sources = self._layout, self._reads, self._program.sources
        begin = places * (layout.slab_nodes * layout.slab_words)
        if layout.slab_nodes == 1:
            self.base[reads.first[entries], reads.slot[entries]] = begin
            return
        for i, at in zip(entries.tolist(), begin.tolist(), strict=True):
            nodes = slice(reads.first[i], reads.last[i])
            inside = sources[nodes] % layout.slab_nodes * layout.slab_words
            self.base[nodes, reads.slot[i]] = at + inside
