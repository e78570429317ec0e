"""Layers made by tasks, one after the other.

A layer is committed when all its tasks are done. Once all of them have been begun, workers do not
wait for the last ones but begin tasks of the next layer early: those tasks for which all parts of
this layer that they read are there. The part that such a task makes is the same whenever it is
made. But the task gives up no part, as tasks under way may still read the one that its own part
replaces; that is deleted with its whole layer, when the next layer is committed. Which parts a task
reads is the same in all layers of its side, and so it is known once all tasks of one such layer
have told.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from frontier.clusters.executors import Call, Executor
from frontier.errors import Stopped
from frontier.search.events import LayerStarted, Listener, TaskFinished
from frontier.search.plan import Plan
from frontier.search.task import TaskResult, expand_task
from frontier.search.workspace import RunName, Workspace
from frontier.store.files import free_bytes
from frontier.store.layers import LayerFiles, most_part_bytes
from frontier.store.ledger import LayerRecord
from frontier.store.parts import PartRecord
from frontier.store.run import RunStore
from frontier.text import counted, size

SPARE_BYTES = 1_000_000
"""Bytes of the disk that are kept free for the ledger and the log."""


class LayersByTasks:
    """Makes layers of a run by tasks.

    stop: whether the run is asked to stop. where: the run, as `workspace_of` takes it.
    """

    def __init__(
        self,
        plan: Plan,
        run: RunStore,
        executor: Executor,
        emit: Listener,
        stop: Callable[[], bool],
        where: RunName | Workspace,
    ):
        self._plan, self._run, self._executor, self._emit = plan, run, executor, emit
        self._stop, self._where = stop, where
        sides = range(plan.space.sides)
        self._reads = [PartsRead(plan.layout.task_count(side)) for side in sides]
        self._until: int | None = None
        self._layer: TaskedLayer | None = None
        self._next: TaskedLayer | None = None

    def layers(self, until: int | None) -> Iterator["TaskedLayer"]:
        """Make the next layer, and more up to the depth `until` as long as tasks make them. Each is
        given when its parts are in place, and the caller commits it before asking for the next.

        Stopped if the run is asked to stop within a layer.
        """
        self._until = until
        self._begin(self._tasked(len(self._run.records)))
        # Closed also where an error is kept that has passed through here, as a notebook does.
        with closing(self._executor.run(self._calls(), self._stop)) as results:
            while layer := self._layer:
                if layer.whole:
                    following, self._layer = self._next, None
                    yield layer
                    if self._goes_on(layer):
                        self._begin(following or self._tasked(layer.depth + 1))
                elif result := next(results, None):
                    self._take(result)
                else:
                    raise Stopped(
                        f"interrupted in layer {layer.depth}, {len(layer.there)} of "
                        f"{counted(layer.tasks, 'task')} done"
                    )
            for result in results:  # of tasks that were done early
                self._take(result)

    def _goes_on(self, layer: "TaskedLayer") -> bool:
        """Whether tasks make the layer after one that is committed."""
        if not layer.states or self._stop() or layer.depth == self._until:
            return False
        return self._plan.policy.mode(*(r.states for r in self._run.records[-2:])) == "tasks"

    def _tasked(self, depth: int) -> "TaskedLayer":
        """A layer for tasks to make. Its folder is made here."""
        files = self._run.files(depth, self._plan.layout)
        self._run.drop_list(depth)
        files.begin(self._run.durable)
        return TaskedLayer(files)

    def _begin(self, layer: "TaskedLayer") -> None:
        """Go on with a layer, of which some tasks may have been done early."""
        self._layer, self._next = layer, None
        layer.there |= self._run.parts_under_way(self._plan.layout)
        layer.began = time.perf_counter()
        if not layer.whole:
            self._check_disk()
        self._emit(LayerStarted(layer.depth, layer.tasks))
        if layer.records:
            self._tell(layer)

    def _calls(self) -> Iterator[Call | None]:
        """The tasks as calls, in the order in which they are begun; None while no more can be."""
        while layer := self._layer:
            gives_up, number = self._plan.policy.gives_up, layer.next()
            if number is None and (number := self._early()) is not None:
                gives_up, layer = False, self._next
            if number is None:
                yield None
            else:
                yield Call(expand_task, (self._where, gives_up, layer.depth, number), layer.depth)

    def _early(self) -> int | None:
        """A task of the next layer that can be done now, None if there is none.

        At most twice as many are done early as may be under way at a time, and only if there is
        room for their parts.
        """
        layer, most = self._layer, 2 * self._executor.at_once
        if self._next is None:
            depth = layer.depth + 1
            reads = self._reads[self._plan.space.side_of(depth)]
            before = self._run.records[-1].states
            by_tasks = layer.states and self._plan.policy.mode(before, layer.states) == "tasks"
            if not (by_tasks and reads.known and layer.depth != self._until):
                return None
            self._next = self._tasked(depth)
            self._next.foresee(reads, layer.records)
        if self._next.early >= most or free_bytes(self._run.path) < self._wanted(most):
            return None
        return self._next.next_ready()

    def _take(self, result: TaskResult) -> None:
        """Note what a task has found."""
        record, layer, following = result.record, self._layer, self._next
        self._reads[self._plan.space.side_of(record.depth)].note(result)
        if layer is None:
            return
        layer.work.update(result.seconds)
        if following and record.depth == following.depth:
            following.add(record)
        elif record.depth == layer.depth:
            layer.add(record)
            if following:
                following.has(record.task)
            self._tell(layer)
            if not layer.whole:
                self._check_disk()

    def _tell(self, layer: "TaskedLayer") -> None:
        self._emit(TaskFinished(layer.depth, len(layer.records), layer.tasks, layer.states))

    def _check_disk(self) -> None:
        """Stopped when the tasks under way may fill the disk."""
        left = self._layer.tasks - len(self._layer.there)
        if self._next:
            left += self._next.early - len(self._next.records)
        wanted = self._wanted(min(self._executor.at_once, left))
        if (free := free_bytes(self._run.path)) < wanted:
            raise Stopped(
                f"only {size(free)} are free at {self._run.path}, and {size(wanted)} are wanted "
                "for the tasks under way and the ledger; make room, or give it another disk"
            )

    def _wanted(self, parts: int) -> int:
        """Bytes of the disk for so many parts, and what is kept free."""
        return parts * most_part_bytes(self._plan.layout) + SPARE_BYTES


class PartsRead:
    """Which parts of the layer before are read by the tasks of one side, as these tell.

    parts: for each task that has told, the parts that it reads. readers: for each part, the tasks
    that read it; empty until all tasks have told.
    """

    def __init__(self, tasks: int):
        self._tasks = tasks
        self.parts: dict[int, tuple[int, ...]] = {}
        self.readers: dict[int, list[int]] = {}

    def note(self, result: TaskResult) -> None:
        if result.reads is None or self.known:
            return
        self.parts[result.record.task] = result.reads
        if self.known:
            for task, parts in self.parts.items():
                for part in parts:
                    self.readers.setdefault(part, []).append(task)

    @property
    def known(self) -> bool:
        """Whether all tasks have told."""
        return len(self.parts) == self._tasks


class TaskedLayer:
    """A layer that tasks make.

    records: those of the parts that tasks have told, by task. there: the tasks whose parts are
    known to be there. states: the sum over `records`. early: how many of its tasks were begun
    before the layer before was committed. began: `time.perf_counter()` when it became the next
    layer to be committed. work: the seconds that workers have spent since then, by kind.
    """

    def __init__(self, files: LayerFiles):
        self._files, self.depth, self.tasks = files, files.depth, len(files.tasks)
        # What was written last is read first, while caches still hold it.
        self._waiting = dict.fromkeys(files.tasks if self.depth % 2 else reversed(files.tasks))
        self.records: dict[int, PartRecord] = {}
        self.work: Counter[str] = Counter()
        self.there: set[int] = set()
        self.states = self.early = 0
        self.began = 0.0
        self._ready: deque[int] = deque()
        self._lacks: Counter[int] = Counter()
        self._readers: dict[int, list[int]] = {}

    def next(self) -> int | None:
        """The next task to be handed out, None if all have been."""
        return self._waiting.popitem()[0] if self._waiting else None

    def foresee(self, reads: PartsRead, before: Iterable[int]) -> None:
        """Find which tasks can be done early; before: the parts that the layer before has."""
        self._readers = reads.readers
        self._lacks.update({task: len(parts) for task, parts in reads.parts.items()})
        self._ready.extend(task for task, parts in reads.parts.items() if not parts)
        for part in before:
            self.has(part)

    def has(self, part: int) -> None:
        """Note that a part of the layer before is there."""
        for task in self._readers.get(part, ()):
            self._lacks[task] -= 1
            if not self._lacks[task]:
                self._ready.append(task)

    def next_ready(self) -> int | None:
        """The next task that can be done early, None if there is none."""
        if not self._ready:
            return None
        number = self._ready.popleft()
        del self._waiting[number]
        self.early += 1
        return number

    def add(self, record: PartRecord) -> None:
        """Note what a task has found."""
        self.records[record.task] = record
        self.there.add(record.task)
        self.states += record.states

    @property
    def whole(self) -> bool:
        """Whether all tasks have told."""
        return len(self.records) == self.tasks

    def record(self) -> LayerRecord:
        """The line of the ledger, once the layer is whole."""
        parts = [self.records[number] for number in self._files.tasks]
        record = LayerRecord.of(parts, "bits", time.perf_counter() - self.began)
        record.work = dict(self.work)
        return record
