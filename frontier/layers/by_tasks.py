"""How tasks make one layer: each computes one part of it."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing

from frontier.errors import Stopped
from frontier.executors.executor import Call, Executor
from frontier.layers.events import LayerStarted, TaskFinished
from frontier.layers.files import LayerFiles, most_part_bytes
from frontier.layers.key_task import expand_keys, ranges
from frontier.layers.parts import PartRecord
from frontier.layers.plan import Plan
from frontier.layers.reader import RunReader
from frontier.layers.record import Form, LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.tally import Tally
from frontier.layers.task import expand_task
from frontier.puzzles.program_file import digest_of
from frontier.runs.events import Listener
from frontier.space.key_layout import AnyLayout, KeyLayout
from frontier.text import counted, size

SPARE_BYTES = 1_000_000
"""The bytes of the disk kept free for the ledger and the log."""


def layer_by_tasks(
    plan: Plan, run: LayerRun, executor: Executor, emit: Listener, stop: Callable[[], bool]
) -> LayerRecord | None:
    """Make the layer after the last committed one and return its ledger line.

    Returns None if that layer is empty. stop: returns True once the run should stop. Raises Stopped
    if the run is stopped before the layer is complete, or if the disk has no room for the tasks
    under way.
    """
    depth = len(run.records)
    form, files, task = _work(plan, run, depth)
    run.drop_list(depth)
    files.begin(run.durable)
    done = run.parts_under_way(plan.layout)
    parts: dict[int, PartRecord] = {}
    work: Counter[str] = Counter()
    tasks, tally, began = len(files.tasks), Tally(), time.perf_counter()
    waited: float | None = None
    _check_disk(plan, executor, tasks - len(done))
    emit(LayerStarted(depth, tasks))
    # The tasks start with what was written last, while caches still hold it.
    numbers = reversed(files.tasks) if depth % 2 else files.tasks
    calls = (Call(task.function, (*task.arguments, number)) for number in numbers)
    # A notebook keeps the last error and with it this frame, so the results are closed here.
    with closing(executor.run(calls, stop)) as results:
        for result in results:
            if waited is None:  # all new workers wait about equally long for kernels
                waited = result.prepared
            record = result.record
            parts[record.task] = record
            done.add(record.task)
            work.update(result.seconds)
            tally += record.tally
            emit(TaskFinished(depth, len(parts), tasks, tally.states))
            if len(parts) < tasks:
                _check_disk(plan, executor, tasks - len(done))
    if len(parts) < tasks:
        raise Stopped(f"interrupted in layer {depth}, {len(done)} of {counted(tasks, 'task')} done")
    if not tally.states:
        return None
    seconds = time.perf_counter() - began - (waited or 0.0)
    records = [parts[task] for task in files.tasks]
    return LayerRecord.of(depth, form, tally, seconds, records, dict(work))


def _work(plan: Plan, run: LayerRun, depth: int) -> tuple[Form, LayerFiles, Call]:
    """Return the form and the files of the next layer, and the call that computes a part, which
    lacks the number of the part."""
    layout = plan.layout
    if not isinstance(layout, KeyLayout):
        call = Call(expand_task, (run.ref, plan.policy.deletes_replaced, depth))
        return "bits", run.files(depth, layout), call
    text = plan.config.puzzle_settings.get("text")
    allowed = max(1, plan.threads), plan.task_bytes
    call = Call(expand_keys, (run.ref, text and digest_of(text), *allowed, depth))
    return "keys", run.files(depth, layout, parts=len(ranges(RunReader(run), depth))), call


def bytes_wanted(layout: AnyLayout, tasks: int) -> int:
    """Return the bytes of disk that must be free for `tasks` tasks under way and the ledger."""
    return tasks * most_part_bytes(layout) + SPARE_BYTES


def _check_disk(plan: Plan, executor: Executor, remaining: int) -> None:
    """Raise Stopped if the tasks under way may fill the disk; `remaining` tasks are not done."""
    storage = plan.config.storage
    needed = bytes_wanted(plan.layout, min(executor.at_once, remaining))
    free = storage.free()
    if free < needed:
        raise Stopped(
            f"only {size(free)} is free at {storage}, and {size(needed)} is needed "
            "for the tasks under way; make room, or choose another disk"
        )
