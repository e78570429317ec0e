"""The work of a task: computing one part of the next layer.

A task reads slabs, writes one file and returns a few numbers; all other data go through the store.
The file has the same bytes however often the task is done, and gets its name when it is whole. A
worker that does the task again finds the file, and checks it instead.
"""

from collections.abc import Callable, Iterator
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
from frontier.store.reader import EncodedSlabs, ListedSlabs
from frontier.store.run_ref import RunRef
from frontier.store.tally import Tally

ARENA_BYTES = 8_000_000
"""The bytes of an arena, unless a batch needs more."""


@dataclass
class TaskResult:
    """The result of a task. seconds: the time that its worker spent, by kind of work."""

    record: PartRecord
    seconds: dict[str, float] = field(default_factory=dict)


def expand_task(run_ref: RunRef, delete_replaced: bool, depth: int, number: int) -> TaskResult:
    """Compute a part of the layer at `depth` from the two layers before it.

    delete_replaced: delete the part of the layer at depth - 2 that this one replaces.
    """
    work = workspace_of(run_ref)
    if (result := _done(work, depth, number)) is None:
        try:
            result = _expand(work, depth, number)
        except (CorruptRunError, FileNotFoundError):
            # Another worker may have done it meanwhile, and deleted what this one was reading; or
            # its layer was committed, and the unfinished file of this one was swept away.
            if (result := _done(work, depth, number)) is None:
                raise
    if delete_replaced and _replaces(work, depth):
        work.run.delete_replaced_part(depth - 2, number, work.layout)
    return result


def _done(work: Workspace, depth: int, number: int) -> TaskResult | None:
    """Return the result of a task whose part is in place and whole; None if it must be computed.

    Raises CorruptRunError if its part is damaged and cannot be computed again, as the part of depth
    - 2 was deleted.
    """
    files = work.files(depth)
    if not files.has_part(number):
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
    """Return whether a part replaces one of depth - 2, which then may have been deleted."""
    return depth >= 2 and not work.layer(depth - 2).is_list


def _expand(work: Workspace, depth: int, number: int) -> TaskResult:
    task, layout, files = work.task(depth, number), work.layout, work.files(depth)
    clock = Stopwatch()
    program, reads = work.program(task)
    own = np.arange(prod(layout.grid))
    tally, start = work.counting.zero, work.counting.start_at(layout, task)
    with files.write_part(number, work.writer, work.run.durable, clock) as writer:
        current = work.layer(depth - 1).load(reads.task, reads.slab)
        before = work.layer(depth - 2).load(np.full(own.size, number), own)
        clock.lap("disk")
        with work.computing:
            clock.go_on()
            arena = Arena(layout, program, reads, current, work.arena, clock)
            batches = made_batches(layout, work.swaps, task, program, arena, before, clock)
            for nodes, counts, slabs in batches:
                tally += work.counting.of_nodes(task.side, nodes, counts)
                writer.write(*slabs)
                if start is not None and (at := np.flatnonzero(slabs[0] == start[0])).size:
                    words = slabs[1][slabs[2][at[0]]]
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
) -> Iterator[tuple[slice, np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Generate the new states, batch by batch: (the nodes, int64[nodes] the states at each,
    slabs).

    slabs: those that hold a state, as `PartWriter.write` takes them, valid until the next batch.
    """
    cuts = layout.cuts
    out = np.empty((cuts, layout.slab_nodes * layout.slab_words), dtype=np.uint64)
    for batch, (first, nodes, prefix, slab) in enumerate(layout.batches(task)):
        arena.prepare(batch)
        stored = before.filled[slab : slab + cuts]
        out[~stored] = 0
        live = np.zeros((layout.slab_nodes, layout.rows), dtype=bool)
        live.reshape(cuts, -1)[stored] = True
        clock.lap("rest")
        before.decode(slab + np.flatnonzero(stored), out, np.flatnonzero(stored))
        clock.lap("codec")
        counts = expand(
            out.reshape(layout.slab_nodes, -1)[:nodes], live[:nodes].reshape(-1),
            first, prefix, arena.words, arena.live, arena.base, program, swaps,
        )  # fmt: skip
        clock.lap("kernel")
        filled = np.flatnonzero(live[:nodes].reshape(cuts, -1).any(axis=1))
        begin = task.first_node + first
        yield slice(begin, begin + nodes), counts, (slab + filled, out, filled)


class ArenaSlots:
    """Tracks which slabs of a task's `Reads` are in which slots of its arena."""

    def __init__(self, layout: Layout, reads: Reads):
        most = max((entries.size for entries in reads.batches), default=0)
        self.count = max(1, most, min(reads.slab.size, ARENA_BYTES // layout.slab_bytes))
        self._holds = np.full(self.count, -1)
        self._last = np.full(self.count, -1)
        self._slot_of = np.full(reads.slab.size, -1)
        self._batch = 0

    def take(self, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Assign slots to the slabs that the next batch needs.

        Returns the slabs that were not in the arena, as entries of `Reads`, and the slots that they
        get.
        """
        self._batch += 1
        slot = self._slot_of[needed]
        self._last[slot[slot >= 0]] = self._batch
        new = needed[slot < 0]
        slots = np.argsort(self._last, kind="stable")[: new.size]
        evicted = self._holds[slots]
        self._slot_of[evicted[evicted >= 0]] = -1
        self._slot_of[new], self._holds[slots], self._last[slots] = slots, new, self._batch
        return new, slots


class Arena:
    """The slabs of the current layer that a task reads, decoded: `words`, `live` and `base`, as
    `expand` reads them, valid for one batch at a time.

    A task holds all that it reads in stored form, and decodes what a batch of its rows needs when
    it comes to the batch: an arena of some megabytes stays in the processor's caches, where that is
    several times as fast as in memory. The slab that no batch has needed for longest is replaced
    first. A slab that is needed again later is decoded again: with 2 x 7 tiles every twelfth one,
    with 3 x 5 tiles every third one or, on the other side, each one.
    """

    def __init__(
        self,
        layout: Layout,
        program: Program,
        reads: Reads,
        slabs: EncodedSlabs | ListedSlabs,
        allocate: Callable[[int], np.ndarray],
        clock: Stopwatch,
    ):
        """slabs: those of `reads`. allocate: returns an uninitialised array of so many uint8."""
        self._layout, self._program, self._reads = layout, program, reads
        self._slabs, self._clock = slabs, clock
        self._slots = ArenaSlots(layout, reads)
        self.words = allocate(self._slots.count * layout.slab_bytes).view(np.uint64)
        self.live = np.zeros(self.words.size // layout.row_words, dtype=bool)
        self.base = np.full(program.needed.shape, -1, dtype=np.int64)

    def prepare(self, batch: int) -> None:
        """Decode the slabs that a batch needs and the arena does not hold."""
        needed = self._reads.batches[batch]
        new, slots = self._slots.take(needed[self._slabs.filled[needed]])
        self._point_to(new, slots)
        self._clock.lap("rest")
        self._slabs.decode(new, self.words.reshape(self._slots.count, -1), slots)
        self._clock.lap("codec")
        live = self.live.reshape(self._slots.count, -1)
        live_rows(self.words, self._layout.row_words, live, slots)
        self._clock.lap("kernel")

    def _point_to(self, entries: np.ndarray, slots: np.ndarray) -> None:
        """Note in `base` where in the arena the nodes of these slabs begin."""
        layout, reads, sources = self._layout, self._reads, self._program.sources
        begin = slots * (layout.slab_nodes * layout.slab_words)
        if layout.slab_nodes == 1:
            self.base[reads.first[entries], reads.slot[entries]] = begin
            return
        for i, at in zip(entries.tolist(), begin.tolist(), strict=True):
            nodes = slice(reads.first[i], reads.last[i])
            inside = sources[nodes] % layout.slab_nodes * layout.slab_words
            self.base[nodes, reads.slot[i]] = at + inside
