"""One layer made by tasks, each of which computes one part of it."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing

from frontier.clusters.executor import Call, Executor
from frontier.errors import Stopped
from frontier.search.events import LayerStarted, Listener, TaskFinished
from frontier.search.plan import Plan
from frontier.search.task import expand_task
from frontier.store.layers import most_part_bytes
from frontier.store.ledger import LayerRecord
from frontier.store.parts import PartRecord
from frontier.store.run import RunStore
from frontier.store.run_ref import RunRef
from frontier.store.tally import Tally
from frontier.text import counted, size

SPARE_BYTES = 1_000_000
"""Bytes of the disk that are kept free for the ledger and the log."""


def layer_by_tasks(
    plan: Plan,
    run: RunStore,
    executor: Executor,
    emit: Listener,
    stop: Callable[[], bool],
    run_ref: RunRef,
) -> LayerRecord | None:
    """Make the layer after the last committed one, and return its line of the ledger; None if no
    state is left.

    stop: returns True once the run is asked to stop. Raises Stopped if that is before the layer is
    whole, or if the disk has no room for the tasks under way.
    """
    depth = len(run.records)
    files = run.files(depth, plan.layout)
    run.drop_list(depth)
    files.begin(run.durable)
    there = run.parts_under_way(plan.layout)
    parts: dict[int, PartRecord] = {}
    work: Counter[str] = Counter()
    tasks, tally, began = len(files.tasks), Tally(), time.perf_counter()
    _check_disk(plan, executor, tasks - len(there))
    emit(LayerStarted(depth, tasks))
    # What was written last is read first, while caches still hold it.
    numbers = reversed(files.tasks) if depth % 2 else files.tasks
    gives_up = plan.policy.gives_up
    calls = (Call(expand_task, (run_ref, gives_up, depth, number)) for number in numbers)
    # Closed also where an error is kept that has passed through here, as a notebook does.
    with closing(executor.run(calls, stop)) as results:
        for result in results:
            record = result.record
            parts[record.task] = record
            there.add(record.task)
            work.update(result.seconds)
            tally += record.tally
            emit(TaskFinished(depth, len(parts), tasks, tally.states))
            if len(parts) < tasks:
                _check_disk(plan, executor, tasks - len(there))
    if len(parts) < tasks:
        raise Stopped(
            f"interrupted in layer {depth}, {len(there)} of {counted(tasks, 'task')} done"
        )
    if not tally.states:
        return None
    seconds = time.perf_counter() - began
    records = [parts[task] for task in files.tasks]
    return LayerRecord.of(depth, "bits", tally, seconds, records, dict(work))


def _check_disk(plan: Plan, executor: Executor, left: int) -> None:
    """Raise Stopped if the tasks under way, of the `left` tasks still to be done, may fill the
    disk."""
    storage = plan.config.storage
    wanted = min(executor.at_once, left) * most_part_bytes(plan.layout) + SPARE_BYTES
    if (free := storage.free()) < wanted:
        raise Stopped(
            f"only {size(free)} are free at {storage}, and {size(wanted)} are wanted "
            "for the tasks under way and the ledger; make room, or give it another disk"
        )
