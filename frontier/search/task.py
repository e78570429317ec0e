"""What a worker does: compute one part of the next layer.

A task reads slabs and writes one file, the same bytes however often it is done, and returns a few
numbers. Nothing travels but through the store. The file is there under its name when the task is
done: who does it again finds it, and checks it instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np

from frontier.errors import CorruptRunError
from frontier.search.arena import Arena
from frontier.search.workspace import RunName, Workspace, workspace_of
from frontier.space.bits import expand
from frontier.space.layout import Task
from frontier.space.program import Program
from frontier.stopwatch import Stopwatch
from frontier.store.files import force
from frontier.store.parts import PartRecord
from frontier.store.slabs import EncodedSlabs, ListedSlabs


@dataclass
class TaskResult:
    """What a task found, where the time of its worker went, in seconds by kind, and which parts of
    the layer before it reads; None where it had no need to find out."""

    record: PartRecord
    seconds: dict[str, float] = field(default_factory=dict)
    reads: tuple[int, ...] | None = None


def expand_task(where: RunName | Workspace, gives_up: bool, depth: int, number: int) -> TaskResult:
    """Compute a part of the layer at `depth` from the two layers before it.

    Of that at depth - 1 only the parts that are read need be there.

    where: as of `workspace_of`. gives_up: delete the part of the layer at depth - 2 that this one
    replaces.
    """
    work = workspace_of(where)
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

    CorruptRunError if its part is damaged and that of depth - 2 has been given up, so that it
    cannot be.
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
    if work.run.durable:  # whoever wrote it may have died before it was
        force(part.path)
        force(part.path.parent)
    return TaskResult(part.record)


def _replaces(work: Workspace, depth: int) -> bool:
    """Whether a part takes the place of one of depth - 2, which may have been given up."""
    return depth >= 2 and not work.layer(depth - 2).is_list


def _expand(work: Workspace, depth: int, number: int) -> TaskResult:
    task, layout, files = work.task(depth, number), work.layout, work.files(depth)
    clock = Stopwatch()
    program, reads = work.program(task)
    own = np.arange(prod(layout.grid))
    states, edges, start, asked = 0, 0, False, work.start_at(task)
    home = None if work.home is None else 0
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
            for nodes, counts, more, slabs in _batches(work, task, program, arena, before, clock):
                states += int(counts.sum())
                edges += more
                if home is not None:
                    home += int(counts[work.home[task.side][nodes]].sum())
                for slab, words in slabs:
                    writer.write(slab, words)
                    if asked is not None and asked[0] == slab:
                        start = bool(int(words[asked[1]]) >> asked[2] & 1)
            clock.lap("rest")
        work.run.check_still_there()
        record = writer.finish(files.run, depth, number, states, start, home, work.edges(edges))
        clock.lap("disk")
    return TaskResult(record, clock.seconds, tuple(np.unique(reads.task).tolist()))


def _batches(
    work: Workspace,
    task: Task,
    program: Program,
    arena: Arena,
    before: EncodedSlabs | ListedSlabs,
    clock: Stopwatch,
) -> Iterator[tuple[slice, np.ndarray, int, list[tuple[int, np.ndarray]]]]:
    """The new states, batch by batch: (the nodes, int64[nodes] the states at each, the edges to
    them, slabs).

    slabs: those that hold a state, as (number, words), which are good until the next batch.
    """
    layout, cuts = work.layout, work.layout.cuts
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
            first, prefix, arena.words, arena.live, arena.base, program, work.swaps,
        )  # fmt: skip
        clock.lap("kernel")
        if counts.any() or edges:
            found = np.flatnonzero(live[:nodes].reshape(cuts, -1).any(axis=1)).tolist()
            begin = task.first_node + first
            slabs = [(slab + cut, out[cut]) for cut in found]
            yield slice(begin, begin + nodes), counts, edges, slabs
