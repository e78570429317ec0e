"""What a worker does: compute one part of the next layer.

A task reads slabs and writes one file, the same bytes however often it is done, and returns a few
numbers. Nothing travels but through the store. The file is there under its name when the task is
done: who does it again finds it, and checks it instead.
"""

from dataclasses import dataclass, field

import numpy as np

from frontier.errors import CorruptRunError
from frontier.search.workspace import Workspace, workspace
from frontier.space.bits import expand, live_rows
from frontier.space.layout import Task
from frontier.space.program import Program, Reads
from frontier.store.parts import Record


@dataclass
class TaskResult:
    """What a task found, and where the time of its worker went, in seconds by kind."""

    record: Record
    seconds: dict[str, float] = field(default_factory=dict)


def expand_task(
    path: str, identifier: str, durable: bool, gives_up: bool, depth: int, number: int
) -> TaskResult:
    """Compute a part of the layer at `depth` from the two committed layers before it.

    gives_up: delete the part of the layer at depth - 2 that this one replaces.
    """
    work = workspace(path, identifier, durable)
    result = _done(work, depth, number) or _expand(work, depth, number)
    if gives_up and depth >= 2 and not work.layer(depth - 2).is_list:
        work.run.give_up(depth - 2, number, work.layout)
    return result


def _done(work: Workspace, depth: int, number: int) -> TaskResult | None:
    """The result of a task that has been done before, whose part is whole.

    CorruptRunError if it is not, and what it was made from has been given up.
    """
    files = work.files(depth)
    if not files.path(number).exists():
        return None
    try:
        part = files.part(number)
        part.check()
    except CorruptRunError as error:
        if depth >= 2 and not work.layer(depth - 2).is_list:
            try:
                work.files(depth - 2).part(number)
            except CorruptRunError:
                raise error from None
        return None
    return TaskResult(part.record)


class _Slabs:
    """The slabs of a part in the order in which they are computed, a batch of them at a time.

    A batch is what some nodes have under one prefix: one slab, or all those of one node's strip.
    """

    def __init__(self, work: Workspace, task: Task):
        self.work, self.task, self.layout = work, task, work.layout
        stacks, prefixes, self.cuts = work.layout.grid
        self._batches = [(stack, prefix) for prefix in range(prefixes) for stack in range(stacks)]
        self.numbers = [
            (stack * prefixes + prefix) * self.cuts + cut
            for stack, prefix in self._batches
            for cut in range(self.cuts)
        ]

    def batches(self):
        """(first node of the task, nodes, prefix of the task, numbers of the slabs) of each."""
        size, many = self.layout.slab_nodes, len(self.task.nodes)
        for i, (stack, prefix) in enumerate(self._batches):
            first = stack * size
            nodes = min(size, many - first)
            if nodes > 0:
                yield first, nodes, prefix, i * self.cuts


def _expand(work: Workspace, depth: int, number: int) -> TaskResult:
    task, layout, files = work.task(depth, number), work.layout, work.files(depth)
    program, reads = work.program(task)
    slabs = _Slabs(work, task)
    current = work.layer(depth - 1).read(pairs(reads))
    before = work.layer(depth - 2).read([(number, slab) for slab in slabs.numbers])
    states, start = 0, False
    home = None if work.home is None else 0
    with files.write_part(number, work.writer, work.run.durable, work.clock) as writer:
        with work.computing:
            clock = work.clock
            clock.reset()
            arena, live, base = _gather(work, program, reads, current)
            out = np.zeros((layout.slab_nodes, layout.strip_words), dtype=np.uint64)
            flat = out.reshape(slabs.cuts, -1)
            wanted = _start_in(work, task)
            pending = next(before, None)
            for first, nodes, prefix, at in slabs.batches():
                rows = np.zeros((layout.slab_nodes, layout.rows), dtype=bool)
                by_slab = rows.reshape(slabs.cuts, -1)
                for cut in range(slabs.cuts):
                    if pending is not None and pending[0] == at + cut:
                        pending[1](flat[cut])
                        by_slab[cut] = True
                        pending = next(before, None)
                    else:
                        flat[cut] = 0
                rows[nodes:] = False
                clock.lap("rest")
                counts = expand(
                    out[:nodes], rows[:nodes].reshape(-1), first, prefix,
                    arena, live, base, program, work.swaps,
                )  # fmt: skip
                clock.lap("kernel")
                if not (found := int(counts.sum())):
                    continue
                states += found
                if home is not None:
                    mine = slice(task.first_node + first, task.first_node + first + nodes)
                    home += int(counts[work.home[task.klass][mine]].sum())
                for cut in np.flatnonzero(by_slab.any(axis=1)).tolist():
                    slab = slabs.numbers[at + cut]
                    writer.write(slab, flat[cut])
                    if wanted is not None and wanted[0] == slab:
                        start = bool(int(flat[cut, wanted[1]]) >> wanted[2] & 1)
            if pending is not None:
                raise CorruptRunError(
                    f"layer {depth - 2}: the slabs of part {number} are not in their order"
                )
            clock.lap("rest")
            seconds = dict(clock.seconds)
        work.run.check_still_there()
        record = writer.finish(files.run, depth, number, states, start, home)
    return TaskResult(record, seconds)


def _gather(work: Workspace, program: Program, reads: Reads, current):
    """Read the slabs that the task needs: (arena, live rows, offsets) as `expand` wants."""
    layout, words = work.layout, work.layout.slab_words
    row_words, size = layout.row_words, layout.slab_nodes
    base = np.full(program.needed.shape, -1, dtype=np.int64)
    arena = work.arena(arena_words(layout, reads))
    live = np.zeros(arena.size // row_words, dtype=bool)
    whole = np.empty((size, words), dtype=np.uint64)
    at = 0
    for i, fill in current:
        slot, nodes = reads.slot[i], int(reads.nodes[i])
        place = arena[at : at + nodes * words].reshape(nodes, words)
        members = slice(reads.first[i], reads.last[i])
        if nodes == size:
            fill(place)
            base[members, slot] = at + program.sources[members] % size * words
        else:
            fill(whole)
            members = np.flatnonzero(program.needed[members, slot]) + reads.first[i]
            place[:] = whole[program.sources[members] % size]
            base[members, slot] = at + np.arange(nodes) * words
        work.clock.lap("rest")
        rows = live[at // row_words : (at + nodes * words) // row_words]
        live_rows(place.reshape(-1), row_words, rows)
        work.clock.lap("kernel")
        at += nodes * words
    return arena, live, base


def pairs(reads: Reads) -> list[tuple[int, int]]:
    """(task, slab) of each read."""
    return list(zip(reads.task.tolist(), reads.slab.tolist(), strict=True))


def arena_words(layout, reads: Reads) -> int:
    """Words that the slabs of a task's reads take at most."""
    return int(reads.nodes.sum()) * layout.slab_words


def _start_in(work: Workspace, task: Task) -> tuple[int, int, int] | None:
    """(slab, word, bit) of the position whose distance is asked for, if the task computes it."""
    number = work.start_in(task.klass)
    if number is None:
        return None
    place = work.layout.place(task.klass, np.array([number], dtype=np.uint64))
    where, slab, word, bit = (int(of[0]) for of in place)
    return (slab, word, bit) if where == task.number else None
