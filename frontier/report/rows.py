"""The progress of a run as a table for programs: a row for each layer or interval, without units or
spaces in its columns. An unknown value is -."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from frontier.runs.progress import UNDER_WAY, Progress

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

    def due(self, progress: Progress) -> list[str]:
        """Return a row if there is something new and a row is due. The heads of the columns come
        before the first row."""
        if progress.stage is None:
            return []
        now, state = time.monotonic(), (progress.stage, progress.share)
        shown = self._shown[0]
        if progress.state == UNDER_WAY:
            within = state[0] == shown or progress.within_stage
            if now - self._shown_at < (TASK_SECONDS if within else LAYER_SECONDS):
                return []
        elif state == self._shown or (shown is not None and progress.lost(shown)):
            return []
        self._shown_at, self._shown = now, state
        return self._lines(progress.row(time.time()))

    def _lines(self, values: Mapping[str, str]) -> list[str]:
        named = {} if self._name is None else {"run": self._name}
        values = {CLOCK: time.strftime("%H:%M:%S"), **named, **values}
        lines = [list(values.values())]
        if self._widths is None:
            self._widths = [max(len(head), len(WIDEST.get(head, ""))) for head in values]
            lines.insert(0, list(values))
        table = ["  ".join(map(str.rjust, cells, self._widths)) for cells in lines]
        return [QUESTIONS, *table] if "question" in values and len(table) > 1 else table


WIDEST = {CLOCK: "00:00:00", "states": "9" * 14, "total": "9" * 14, "tasks": "999/999"}
"""The widest values that fit in their columns."""
