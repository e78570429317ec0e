"""The loop over the layers: expand, commit, forget, until a layer is empty.

A layer is computed from the two before it. Thin layers are advanced several at a time by one
task on lists; others are cut into tasks that compute chunks of bitmaps. A layer is committed
when all its tasks are done; a stop or a crash in between costs at most the tasks under way.
"""

import errno
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from frontier.errors import CorruptRunError, Stopped
from frontier.search.advance import Advance, Advanced, advance_bits, advance_lists
from frontier.search.clusters import executor_of
from frontier.search.environment import note_leg
from frontier.search.events import (
    Event,
    LayerFinished,
    LayerStarted,
    Listener,
    RunFinished,
    RunStarted,
    RunStopped,
    TaskFinished,
)
from frontier.search.executors import Executor
from frontier.search.plan import Plan
from frontier.search.task import TaskResult, expand_task
from frontier.search.workspace import workspace
from frontier.signals import handling
from frontier.store.copies import check_copies
from frontier.store.files import read_sealed, remove_tree
from frontier.store.identity import check_identity
from frontier.store.layers import Manifest, write_list
from frontier.store.lock import NotWritable, RunLock
from frontier.store.run import LayerRecord, RunStore
from frontier.text import counted, size

LIST_SECONDS = 2.0
"""How long lists are advanced before what was found is committed."""

SPARE_BYTES = 1_000_000
"""Of the disk, for the ledger and manifests."""

MEMORY_SECONDS = 5.0
"""The same for bitmaps in memory, of which two layers are stored then; at least ten times as long
as that took the last time."""


class Driver:
    """Runs one plan in its run directory."""

    def __init__(self, plan: Plan, run: RunStore, executor: Executor, emit: Listener):
        self.plan, self.run, self.executor, self.emit = plan, run, executor, emit
        self.stopping = threading.Event()
        self._keep_all = plan.config.search.keep == "all"
        self._started = time.perf_counter()
        self._storing = 0.0

    def search(self, until: int | None) -> None:
        """Go on until the last layer is empty (or `until` is committed).

        Stopped if the run is asked to stop, FrontierError if it goes wrong; both can be
        resumed from the last committed layer.
        """
        if not self.run.records:
            self._commit_origins()
        while not self.run.complete and (until is None or len(self.run.records) <= until):
            if self.stopping.is_set():
                raise Stopped("interrupted")
            if max(r.states for r in self.run.records[-2:]) <= self.plan.list_states:
                self._advance(advance_lists, LIST_SECONDS, until)
            elif self.plan.threads:
                self._advance(advance_bits, max(MEMORY_SECONDS, 10 * self._storing), until)
            else:
                self._expand_layer()

    def _commit_origins(self) -> None:
        plan = self.plan
        puzzle = plan.puzzle
        numbers = np.unique(plan.space.numbers(*puzzle.origins())[1])
        path = self.run.scratch_path(0)
        manifest = write_list(path, 0, numbers, plan.config.store.codec, self.run.durable)
        manifest.scratch = path.name
        start, home = False, puzzle.blank_home()
        if puzzle.start is not None:
            klass, number = plan.space.number(*puzzle.state(puzzle.start))
            start = klass == 0 and bool(np.isin(np.uint64(number), numbers))
        record = LayerRecord(0, len(numbers), "list", True, 0.0, manifest.bytes, start=start)
        record.home = None if home is None else 1
        self._commit([manifest], [record], complete=False)

    def _advance(
        self, function: Callable[[Advance], Advanced], seconds: float, until: int | None
    ) -> None:
        """Several layers in one call."""
        plan = self.plan
        self.run.abandon_layer(len(self.run.records))
        self.emit(LayerStarted(len(self.run.records), None))
        call = Advance(
            *self._name(), self.run.records[-1].depth, until, seconds, self._keep_all,
            plan.list_states, plan.threads,
        )  # fmt: skip
        for done in self.executor.run(function, [(call,)], self.stopping.is_set):
            self._storing = done.storing
            self._commit(done.manifests, done.records, done.complete)

    def _expand_layer(self) -> None:
        began = time.perf_counter()
        plan, run = self.plan, self.run
        depth = len(run.records)
        klass = plan.space.class_of(depth)
        results = self._finished_tasks(depth)
        run.begin_layer(depth, plan.layout, klass)
        tasks = plan.layout.task_count(klass)
        todo = [number for number in range(tasks) if number not in results]
        if depth % 2:
            todo.reverse()  # what was written last is read first, while caches still hold it
        calls = ((*self._name(), depth, number) for number in todo)
        states = sum(result.states for result in results.values())
        self._check_disk(klass, len(todo))
        self.emit(LayerStarted(depth, tasks))
        for result in self.executor.run(expand_task, calls, self.stopping.is_set):
            results[result.number] = result
            states += result.states
            self.emit(TaskFinished(depth, len(results), tasks, states))
            self._check_disk(klass, tasks - len(results))
        if len(results) < tasks:
            raise Stopped(
                f"interrupted in layer {depth}, {len(results)} of {counted(tasks, 'task')} done"
            )
        if states == 0:
            remove_tree(run.layer_path(depth))
            run.commit([], [], complete=True)
        else:
            manifest = Manifest(depth, "bits", states)
            nodes = [0] * plan.space.nodes[klass]
            work = Counter()
            for number in sorted(results):
                manifest.chunks.update(results[number].chunks)
                work.update(results[number].seconds)
                for node, count in results[number].nodes.items():
                    nodes[int(node)] += count
            manifest.nodes = nodes if sum(nodes) == states else None
            record = LayerRecord(
                depth, states, "bits", True, time.perf_counter() - began, manifest.bytes,
                manifest.nodes, dict(work), any(result.start for result in results.values()),
                _sum_or_none(result.home for result in results.values()),
            )  # fmt: skip
            self._commit([manifest], [record], complete=False)
        run.finish_tasks(depth)

    def _check_disk(self, klass: int, left: int) -> None:
        """Stopped when the tasks under way may fill the disk. left: tasks that are not done."""
        layout, path = self.plan.layout, self.run.path
        chunks = layout.blocks(klass) * layout.prefixes / max(1, layout.task_count(klass))
        under_way = int(min(self.executor.at_once, left) * chunks * layout.chunk_bytes)
        if (free := shutil.disk_usage(path).free) < under_way + SPARE_BYTES:
            raise Stopped(
                f"only {size(free)} are free at {path}, and the tasks under way may write "
                f"{size(under_way)}; make room, or give it another disk"
            )

    def _finished_tasks(self, depth: int) -> dict[int, TaskResult]:
        """Tasks of the layer under way that an earlier run has finished."""
        results = {}
        for path in self.run.wip_path(depth).glob("*.json"):
            result = TaskResult(**read_sealed(path))
            # A worker may outlive its driver, and even its run.
            if result.run == self.run.identity["identifier"] and all(
                self._has_chunk(depth, key, size) for key, (_, size, _) in result.chunks.items()
            ):
                results[result.number] = result
        return results

    def _has_chunk(self, depth: int, key: str, size: int) -> bool:
        path = self.run.layer_path(depth) / key
        return path.exists() and path.stat().st_size == size

    def _commit(self, manifests: list[Manifest], records: list[LayerRecord], complete: bool):
        run = self.run
        forget: tuple[int, ...] = ()
        if not self._keep_all:
            kept, new = run.stored_depths(), sum(record.stored for record in records)
            excess = len(kept) + new - 2 - self.plan.config.search.spare
            forget = tuple(kept[: max(0, excess)])
        so_far = run.states
        found = so_far + sum(record.states for record in records)
        if found > self.plan.puzzle.states:
            raise CorruptRunError(
                f"{self.plan.puzzle.title} has {counted(self.plan.puzzle.states, 'state')}, but "
                f"the layers up to {records[-1].depth} of {run.path} would hold {found:,}: "
                "something that the search read is wrong; nothing more is committed"
            )
        run.commit(manifests, records, complete, forget)
        disk = sum(record.bytes for record in run.records if record.stored)
        elapsed = time.perf_counter() - self._started
        for record in records:
            so_far += record.states
            self.emit(
                LayerFinished(
                    record.depth,
                    record.states,
                    so_far,
                    record.form,
                    record.seconds,
                    elapsed,
                    disk,
                    record.bytes,
                )
            )

    def _name(self) -> tuple[str, str, bool]:
        return str(self.run.path), self.run.identity["identifier"], self.run.durable


def _sum_or_none(numbers: Iterable[int | None]) -> int | None:
    numbers = list(numbers)
    return None if None in numbers else sum(numbers)


def run_plan(
    plan: Plan, until: int | None, listeners: list[Listener], take_over: bool = False
) -> RunStore:
    """Start or resume the run of a plan in its directory; returns it when it is done.

    `until`: the last depth to compute, None for all. take_over: of a lock on another host. Raises
    Stopped if interrupted, and CorruptRunError if a complete run does not add up.
    """
    path = plan.config.path
    RunStore.make_directory(path)

    def emit(event: Event) -> None:
        for listener in listeners:
            listener(event)

    with _full_disk_stops():
        try:
            with RunLock(path / "lock", take_over):
                return _run_held(plan, until, emit)
        except NotWritable:
            if not (RunStore.exists(path) and RunStore.open(path).complete):
                raise
    return _opened(plan)  # nothing is left to be written


def _run_held(plan: Plan, until: int | None, emit: Listener) -> RunStore:
    path = plan.config.path
    durable = plan.config.store.fsync == "layer"
    if not RunStore.exists(path):
        RunStore.create(path, plan.identity, durable)
    run = _opened(plan)
    run.durable = durable
    if not run.is_group():
        run.describe_group()
    run.sweep()
    if not run.complete and (until is None or len(run.records) <= until):
        try:
            _search(plan, run, until, emit)
        finally:
            workspace.cache_clear()  # that of this process, if tasks ran here
        run.drop_forgotten()  # a run that stops leaves these files, for the next to write over
    return run


def _opened(plan: Plan) -> RunStore:
    """The run of a plan, whose records are whole."""
    run = RunStore.open(plan.config.path)
    check_identity(run, plan.identity)
    check_copies(run)
    for depth in run.stored_depths():
        run.layer(depth)  # what is damaged is named now, not hours later
    _check(plan, run)
    return run


def _search(plan: Plan, run: RunStore, until: int | None, emit: Listener) -> None:
    began = time.perf_counter()
    with executor_of(plan.config.cluster, alone=plan.alone) as executor:
        driver = Driver(plan, run, executor, emit)
        depth = len(run.records) - 1
        note_leg(run.environment_path, plan.config, len(run.records), executor.workers)
        emit(
            RunStarted(
                plan.config.name,
                plan.puzzle.title,
                str(run.path),
                depth,
                run.states,
                plan.puzzle.states,
                executor.workers,
                bool(run.records),
                executor.dashboard,
                until,
                plan.way,
            )
        )
        try:
            with _interrupts_stop(driver.stopping.set):
                driver.search(until)
        except BaseException as error:
            elapsed = time.perf_counter() - began
            emit(RunStopped(len(run.records) - 1, str(error) or type(error).__name__, elapsed))
            raise
    _check(plan, run)
    elapsed = time.perf_counter() - began
    emit(RunFinished(run.records[-1].depth, run.states, run.complete, elapsed))


def _check(plan: Plan, run: RunStore) -> None:
    """A complete run holds every state of the space."""
    if run.complete and run.states != plan.puzzle.states:
        raise CorruptRunError(
            f"the layers of {run.path} add up to {counted(run.states, 'state')}, but "
            f"{plan.puzzle.title} has {plan.puzzle.states:,}; the run is wrong, do not use it"
        )


@contextmanager
def _full_disk_stops():
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Stopped(f"the disk is full ({error}); make room") from None


def _interrupts_stop(stop: Callable[[], None]) -> AbstractContextManager[None]:
    """Let the first Ctrl-C, and any SIGTERM, ask for a clean stop; a second Ctrl-C ends at once.

    Queues send SIGTERM to each process of a job, and their scripts send it on, so it comes twice.
    """
    before = signal.getsignal(signal.SIGINT)

    def handle(number, frame):
        stop()
        signal.signal(signal.SIGINT, before)

    return handling({signal.SIGINT: handle, signal.SIGTERM: handle})
