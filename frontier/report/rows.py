"""The progress of a run as a table for programs: a row for each layer or interval, without units or
spaces in its columns. An unknown value is -."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from frontier.runs.progress import UNDER_WAY, AnyProgress, Progress, SearchProgress

LAYER_SECONDS, TASK_SECONDS = 1.0, 60.0
"""The least seconds between the rows of two layers, and between two rows within a layer; in a
search by cosets, between the rows of two questions and within a question."""

CLOCK = "clock"

QUESTIONS = (
    "# Question >T: which positions need more than T moves? question_percent and question_left (in "
    "seconds) are of this question alone."
)
"""The line before the heads of a search by cosets."""


class Rows:
    """Decides when a row about a run is due. name: the content of a separate column; None for no
    such column."""

    def __init__(self, name: str | None = None):
        self._name, self._shown_at = name, float("-inf")
        self._shown: tuple[Any, float | None] = (None, None)
        self._widths: Sequence[int] | None = None

    def due(self, progress: AnyProgress) -> list[str]:
        """Return a row if there is something new and a row is due. The heads of the columns, which
        `QUESTIONS` explains, come before the first row."""
        if progress.stage is None:
            return []
        now, state = time.monotonic(), (progress.stage, progress.share)
        if progress.state == UNDER_WAY:
            within = state[0] == self._shown[0] or _tasks_done(progress) > 0
            if now - self._shown_at < (TASK_SECONDS if within else LAYER_SECONDS):
                return []
        elif state == self._shown or self._is_behind(progress):
            return []
        self._shown_at, self._shown = now, state
        return self._lines(values_of(progress))

    def _is_behind(self, progress: AnyProgress) -> bool:
        """Return whether a stop has lost the last layers shown."""
        shown = self._shown[0]
        return isinstance(progress, Progress) and shown is not None and shown > progress.stage

    def _lines(self, values: Mapping[str, str]) -> list[str]:
        named = {} if self._name is None else {"run": self._name}
        values = {CLOCK: time.strftime("%H:%M:%S"), **named, **values}
        lines = [list(values.values())]
        if self._widths is None:
            self._widths = [max(len(head), len(WIDEST.get(head, ""))) for head in values]
            lines.insert(0, list(values))
        table = ["  ".join(map(str.rjust, cells, self._widths)) for cells in lines]
        return [QUESTIONS, *table] if "question" in values and len(table) > 1 else table


def _tasks_done(progress: AnyProgress) -> int:
    """Return how many tasks of the current layer are done."""
    return progress.task.done if isinstance(progress, Progress) and progress.task else 0


WIDEST = {CLOCK: "00:00:00", "states": "9" * 14, "total": "9" * 14, "tasks": "999/999"}
"""The widest values that fit in their columns."""


def values_of(progress: AnyProgress) -> dict[str, str]:
    """Return the values of a row by the heads of their columns."""
    if isinstance(progress, SearchProgress):
        return _of_search(progress)
    now, start = time.time(), progress.started
    assert start is not None  # only a run that has begun has rows
    depth, states, tasks = progress.depth, progress.counts[-1], "-"
    task = None if progress.complete else progress.task  # the last task found no state
    if task and task.done:
        depth, states, tasks = task.depth, task.states, f"{task.done}/{task.tasks or '?'}"
    total = progress.states + (task.states if task else 0)
    left = None if progress.ended else progress.left(now)
    return {
        "depth": str(depth),
        "states": str(states),
        "total": str(total),
        "percent": _percent(total, start.states),
        "tasks": tasks,
        "seconds": _elapsed(progress, now),
        "left": "-" if left is None else f"{left.seconds:.0f}",
    }


def _of_search(progress: SearchProgress) -> dict[str, str]:
    asking = progress.asking
    assert asking is not None  # a search that has begun has a question
    left = None if progress.ended else asking.left
    known = asking.lower, asking.upper, f">{asking.limit}" if asking.portions else None
    lower, upper, limit = ("-" if value is None else str(value) for value in known)
    return {
        "lower": lower,
        "upper": upper,
        "question": limit,
        "question_percent": _percent(asking.done, asking.portions) if asking.portions else "-",
        "found": str(asking.positions),
        "seconds": _elapsed(progress, time.time()),
        "question_left": "-" if left is None else f"{left:.0f}",
    }


def _percent(part: int, whole: int) -> str:
    """Return a share in percent; only the whole is 100.00."""
    hundredths = (10_000 * part + whole // 2) // whole
    return f"{(hundredths if part == whole else min(hundredths, 9_999)) / 100:.2f}"


def _elapsed(progress: AnyProgress, now: float) -> str:
    """Return the seconds since the run started or, if it has ended, the seconds that it took."""
    return f"{progress.ended.elapsed if progress.ended else now - progress.began:.1f}"
