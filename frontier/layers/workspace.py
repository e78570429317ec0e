"""The caches of a worker between the tasks of a run: tables, open layers, an arena.

Nothing is lost if a worker dies. The driver hands each task a reference to the run (`RunRef`), from
which the process that does the task gets its workspace (`workspace_of`).
"""

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from frontier.kernels.engines import engine_of
from frontier.kernels.part_expansion import PartTables
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.tally import Counting
from frontier.runs.stored_run import RunCache, RunRef
from frontier.space.layout import Task

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
