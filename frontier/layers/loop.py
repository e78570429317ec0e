"""The loop over the layers: expand, commit, delete, until a layer is empty.

A layer is computed from the two before it. This process makes thin layers as lists, and other
layers as bitmaps if two of them fit in memory (`frontier.layers.in_process`); it commits several
layers at a time. If they do not fit, tasks compute the parts of each layer
(`frontier.layers.by_tasks`). A crash costs at most the work since the last commit or, with tasks,
the tasks under way.
"""

import threading
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from frontier.errors import CorruptRunError, InputError, Stopped
from frontier.executors.executor import Executor
from frontier.jit.notices import compiling_told_to
from frontier.layers.by_tasks import layer_by_tasks
from frontier.layers.events import LayerFinished, LayerMade, LayerStarted, StoringLayers
from frontier.layers.in_process import HELD, AsLists, Held
from frontier.layers.plan import Plan
from frontier.layers.policy import LEAST_KEPT, Mode
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.tally import Counting
from frontier.runs.events import Compiling, Listener
from frontier.space.keys import KeySpace
from frontier.stopwatch import working_time
from frontier.text import counted

LIST_SECONDS = 2.0
"""The driver commits layers made as lists after this many seconds, or later as below, and stores
the last two."""

MEMORY_SECONDS, TIMES_STORING = 20.0, 10
"""The driver commits layers made as bitmaps in memory after the first number of seconds or, if that
is longer, after the second number times the duration of the last save."""


class Driver:
    """Runs one plan in its run directory."""

    def __init__(
        self,
        plan: Plan,
        run: LayerRun,
        executor: Executor,
        emit: Listener,
        stopping: threading.Event,
        started: float,
    ):
        """stopping: set once the run should stop. started: `time.perf_counter()` when the run
        began, before its workers started."""
        self.plan, self.run, self.executor, self.emit = plan, run, executor, emit
        self.stopping, self._started = stopping, started
        self._counting = Counting(plan.puzzle, plan.space)
        self._held: Held | None = None
        self._storing, self._compiled_elsewhere = 0.0, False
        # Tasks of a run without spare layers delete parts of the older layer. A worker that has
        # outlived an earlier driver may be doing so now.
        stored = run.stored_depths()
        self._depth_being_replaced = stored[0] if len(stored) == LEAST_KEPT else None

    def search(self, until: int | None) -> None:
        """Make layers until one is empty, or until the layer at depth `until` is committed.

        Raises Stopped if the run should stop, FrontierError if it fails. In both cases the run can
        be resumed from the last committed layer.
        """
        if not self.run.records:
            self._commit_origins()
        if self.plan.policy.deletes_replaced and len(self.run.stored_depths()) > LEAST_KEPT:
            self._commit([], False)  # so that a later start sees which layer is being replaced
        while not self.run.complete and (until is None or len(self.run.records) <= until):
            if self.stopping.is_set():
                raise Stopped("interrupted")
            mode = self._mode()
            # Tasks finish a layer that tasks have begun: they may have deleted the layer that it is
            # made from.
            if mode == "tasks" or self.run.parts_under_way(self.plan.layout):
                self._make_by_tasks()
            else:
                self._make_here(mode, until)

    def close(self) -> None:
        """Free the memory that this process holds for the run, perhaps gigabytes."""
        self._held = None

    def _mode(self, made: Sequence[LayerRecord] = ()) -> Mode:
        """Return how to make the layer after the committed ones and those made since."""
        last_two = [*self.run.records[-2:], *made][-2:]
        return self.plan.policy.mode(*(record.states for record in last_two))

    def _commit_origins(self) -> None:
        plan, run = self.plan, self.run
        numbers = np.unique(plan.space.numbers(*plan.puzzle.model.origins())[1])
        tally = self._counting.of_list(0, numbers)
        part = run.files(0, plan.layout, numbers.size).write_list(numbers, tally, run.durable)
        self._commit([LayerRecord.of(0, "list", tally, 0.0, [part])], complete=False)

    def _make_by_tasks(self) -> None:
        """Make a layer by tasks and commit it."""
        depth, last = len(self.run.records), self.run.records[-1]
        if isinstance(self.plan.space, KeySpace) and last.form == "list":
            held = self._hold("lists")
            assert isinstance(held, AsLists)
            self.run.replace_last(held.in_parts(last))
        self._held = None
        stop = self.stopping.is_set
        if not (self.executor.in_process or self._compiled_elsewhere):
            self._compiled_elsewhere = True
            self.emit(Compiling(elsewhere=True))
        layer = layer_by_tasks(self.plan, self.run, self.executor, self.emit, stop)
        if layer:
            self._commit([layer], complete=False)
        else:
            self._commit([], complete=True)
            self.run.abandon_layer(depth)

    def _make_here(self, mode: Mode, until: int | None) -> None:
        """Make layers in this process until it is time to store the last two, and commit them all.

        Meanwhile a worker that outlived an earlier start may have computed parts of the next layer
        and deleted the parts that these replace. In that case this method makes no layer,
        and tasks finish that layer.
        """
        run, policy = self.run, self.plan.policy
        run.drop_list(len(run.records))
        self.emit(LayerStarted(len(run.records), None))
        least = LIST_SECONDS if mode == "lists" else MEMORY_SECONDS
        seconds = max(least, TIMES_STORING * self._storing)
        began, since = time.perf_counter(), working_time()
        try:
            held = self._hold(mode)
        except CorruptRunError:
            if not run.parts_under_way(self.plan.layout):
                raise
            return
        made: list[LayerRecord] = []
        pause, wrong, layers = False, None, held.layers(since)
        while not pause:
            try:
                layer = next(layers, None)
            except (InputError, Stopped) as error:  # a program is wrong, or memory is short
                pause, wrong = True, error
                break
            if layer is None:
                break
            now = time.perf_counter()
            self.emit(LayerMade(layer, now - self._started))
            made.append(held.store(layer) if policy.layers_kept is None else layer)
            over = now - began > seconds or layer.depth == until or self.stopping.is_set()
            pause = over or self._mode(made) != mode
        self._commit(self._store(held, made), complete=not pause)
        if wrong:
            raise wrong

    def _hold(self, mode: Mode) -> Held:
        """Return the last two layers in the form of this mode: as they were last made in it, or
        else read back from the store."""
        if not isinstance(self._held, HELD[mode]):
            self._held = None  # may free gigabytes before others are allocated
            self._held = HELD[mode](self.plan, self.run, self._counting)
        return self._held

    def _store(self, held: Held, made: list[LayerRecord]) -> list[LayerRecord]:
        """Store the new layers that are held but not yet stored; returns all new layers."""
        kept = [record for record in made if record.depth in held.depths and not record.stored]
        if kept:
            self.emit(StoringLayers(len(kept)))
        began = time.perf_counter()
        with compiling_told_to(partial(self.emit, Compiling())):  # not to be ended by a stop
            stored = {record.depth: held.store(record) for record in kept}
        self._storing = time.perf_counter() - began
        return [stored.get(record.depth, record) for record in made]

    def _commit(self, records: list[LayerRecord], complete: bool) -> None:
        run, policy = self.run, self.plan.policy
        stored = [*run.stored_depths(), *(record.depth for record in records if record.stored)]
        forget = set(stored) - set(policy.depths_to_keep(stored))
        if policy.layers_kept is not None:
            forget |= self._partly_replaced()
        so_far = run.states
        states = so_far + sum(record.states for record in records)
        if states > self.plan.puzzle.states:
            raise CorruptRunError(
                f"{self.plan.puzzle.title} has {counted(self.plan.puzzle.states, 'state')}, but "
                f"the layers up to {records[-1].depth} of {run.path} would hold {states:,}: the "
                "search has read wrong data. Nothing more was committed"
            )
        begun = len(run.records)
        run.commit(records, complete, tuple(forget))
        elapsed = time.perf_counter() - self._started
        for record in run.records[begun:]:  # including their chains, as in the ledger
            so_far += record.states
            self.emit(LayerFinished(record, so_far, elapsed, run.disk))

    def _partly_replaced(self) -> set[int]:
        """Return the depths of layers, at most one, that may lack parts because the layer under way
        replaced them."""
        before = len(self.run.records) - 2
        if before not in self.run.stored_depths() or self.run.records[before].form != "bits":
            return set()
        files = self.run.files(before, self.plan.layout)
        replaced = before == self._depth_being_replaced or len(self.run.part_names(before)) < len(
            files.tasks
        )
        return {before} if replaced else set()
