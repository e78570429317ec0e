"""The work of a task: computing one part of the next layer.

A task reads slabs, writes one file and returns a few numbers; all other data go through the store.
The file has the same bytes however often the task is done, and gets its name when it is complete. A
worker that does the task again finds the file and checks it instead.

Between the tasks of a run, a process keeps a *workspace*: tables, open layers, an arena. Nothing is
lost if it dies. The driver hands each task a reference to the run (`RunRef`), from which the
process that does the task gets its workspace (`workspace_of`).
"""

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from frontier.errors import CorruptRunError
from frontier.kernels.engines import engine_of, lists_of
from frontier.kernels.lists import ListKernel
from frontier.kernels.part_expansion import PartTables
from frontier.layers.parts import PartRecord
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.tally import Counting, Tally
from frontier.runs.stored_run import RunCache, RunRef
from frontier.space.layout import Task
from frontier.space.words import WORD_BYTES
from frontier.stopwatch import Stopwatch, preparing

TABLE_BYTES = 100_000_000
"""The most bytes of tables that are kept besides the tables of the task under way."""

GROWTH_BYTES = 1 << 22
"""The size of a buffer is a multiple of this many bytes."""


class Workspace(RunReader):
    """The tables, layers and arena of a run in a process that does its tasks.

    computing: the lock of the task that uses the arena and the processor. Other tasks of the
    process wait for the disk meanwhile.
    """

    def __init__(self, run: LayerRun):
        super().__init__(run)
        self.computing, self._making = threading.Lock(), threading.Lock()
        self.writer = ThreadPoolExecutor(1)
        self.counting = Counting(self.puzzle, self.space)
        self._tables: OrderedDict[Task, PartTables] = OrderedDict()
        self._table_bytes = 0
        self.arena = Buffer()

    @cached_property
    def lists(self) -> ListKernel:
        """The kernels that expand lists, with the functions that they have compiled."""
        return lists_of(self.space)

    def task(self, depth: int, number: int) -> Task:
        return self.layout.task(self.space.side_of(depth), number)

    def tables(self, task: Task) -> PartTables:
        with self._making:
            if task not in self._tables:
                self._tables[task] = made = engine_of(self.space).tables(self.layout, task)
                self._table_bytes += made.nbytes
                while self._table_bytes > TABLE_BYTES and len(self._tables) > 1:
                    _, oldest = self._tables.popitem(last=False)
                    self._table_bytes -= oldest.nbytes
            return self._tables[task]


class Buffer:
    """Memory that is reused, so that its pages are mapped once; it grows as needed."""

    def __init__(self):
        self._bytes = np.empty(0, dtype=np.uint8)

    def __call__(self, size: int) -> np.ndarray:
        """Return an uninitialised uint8 array of `size` bytes, valid until the next call."""
        if self._bytes.size < size:
            self._bytes = self._bytes[:0]  # frees the smaller array before the larger is made
            self._bytes = np.empty(-(-size // GROWTH_BYTES) * GROWTH_BYTES, dtype=np.uint8)
        return self._bytes[:size]


def open_workspace(run_ref: RunRef) -> Workspace:
    """Return a new workspace of a run; raises InputError if another run is at its path."""
    return Workspace(run_ref.open(LayerRun))


_open = RunCache(open_workspace)
workspace_of, close_workspace = _open.of, _open.close
"""The first function returns this process's workspace of a run, and the second frees it."""


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
    if (result := done_before(work, depth, number)) is None:
        try:
            result = _expand(work, depth, number)
            result.prepared = preparing.seconds - prepared
        except (CorruptRunError, FileNotFoundError):
            # Meanwhile another worker may have done the task and deleted what this one was reading;
            # or the layer was committed, and the unfinished file was swept away.
            if (result := done_before(work, depth, number)) is None:
                raise
    if delete_replaced and _replaces(work, depth):
        work.run.delete_replaced_part(depth - 2, number, work.layout)
    return result


def done_before(work: Workspace, depth: int, number: int) -> TaskResult | None:
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
    return depth >= 2 and work.run.records[depth - 2].form == "bits"


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
