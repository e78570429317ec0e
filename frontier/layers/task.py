"""The work of a task: computing one part of the next layer.

A task reads slabs, writes one file and returns a few numbers; all other data go through the store.
The file has the same bytes however often the task is done, and gets its name when it is complete. A
worker that does the task again finds the file and checks it instead.
"""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from frontier.errors import CorruptRunError
from frontier.kernels.engines import engine_of
from frontier.layers.parts import PartRecord
from frontier.layers.tally import Tally
from frontier.layers.workspace import Workspace, workspace_of
from frontier.runs.stored_run import RunRef
from frontier.space.words import WORD_BYTES
from frontier.stopwatch import Stopwatch, preparing


@dataclass
class TaskResult:
    """The result of a task.

    seconds: the time that its worker spent, by kind of work. prepared: the seconds that the worker
    spent on loading or compiling kernels during the task; None if the part already existed.
    """

    record: PartRecord
    seconds: dict[str, float] = field(default_factory=dict)
    prepared: float | None = None


def expand_task(run_ref: RunRef, delete_replaced: bool, depth: int, number: int) -> TaskResult:
    """Compute a part of the layer at `depth` from the two layers before it.

    delete_replaced: delete the part of the layer at depth - 2 that this one replaces.
    """
    prepared = preparing.seconds
    work = workspace_of(run_ref)
    if (result := _done(work, depth, number)) is None:
        try:
            result = _expand(work, depth, number)
            result.prepared = preparing.seconds - prepared
        except (CorruptRunError, FileNotFoundError):
            # Meanwhile another worker may have done the task and deleted what this one was reading;
            # or the layer was committed, and the unfinished file was swept away.
            if (result := _done(work, depth, number)) is None:
                raise
    if delete_replaced and _replaces(work, depth):
        work.run.delete_replaced_part(depth - 2, number, work.layout)
    return result


def _done(work: Workspace, depth: int, number: int) -> TaskResult | None:
    """Return the result of a task whose part exists and is undamaged; None if it must be computed.

    Raises CorruptRunError if its part is damaged and cannot be computed again because the part of
    depth - 2 was deleted.
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
    if work.run.durable:  # its writer may have died before the part was on the disk
        part.force()
    return TaskResult(part.record)


def _replaces(work: Workspace, depth: int) -> bool:
    """Return whether a part replaces a part of depth - 2, which may already have been deleted."""
    return depth >= 2 and not work.layer(depth - 2).is_list


def _expand(work: Workspace, depth: int, number: int) -> TaskResult:
    task, layout, files = work.task(depth, number), work.layout, work.files(depth)
    clock = Stopwatch()
    tables = work.tables(task)
    own, start = np.arange(prod(layout.grid)), work.counting.start_at(layout, task)
    current = work.layer(depth - 1).load(tables.read_parts, tables.read_slabs)
    layer_before, durable = work.layer(depth - 2), work.run.durable
    before = layer_before.load(np.full(own.size, number), own)
    with files.write_part(number, work.writer, durable, clock) as writer:
        clock.lap("disk")
        with work.computing:
            clock.go_on()
            words = layout.slab_bytes // WORD_BYTES
            slabs = current.stored(words), before.stored(words)
            expansion = engine_of(work.space).expansion(tables, *slabs, work.arena, start)
            clock.lap("codec")
            while not expansion.done:
                room = writer.room(layout.slab_bytes)
                made = expansion.make(room)
                clock.lap("kernel")
                writer.add(*made)
        nodes = slice(task.first_node, task.last_node)
        tally = work.counting.of_nodes(task.side, nodes, expansion.counts)
        tally += Tally(start=expansion.started)
        clock.lap("rest")
        record = writer.finish(tally)
        clock.lap("disk")
    return TaskResult(record, clock.seconds)
