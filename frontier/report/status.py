"""The state of a run: in a line, the same in a terminal, a notebook and a page; as rows of a table
for programs; and, read from its files, as JSON and as text."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from frontier.runs.events import Started, Starting
from frontier.runs.kind import kind_of, open_run
from frontier.runs.kinds import KINDS
from frontier.runs.progress import NOT_BEGUN, RESUME, UNDER_WAY, Progress, progress_of
from frontier.runs.stored_run import StoredRun
from frontier.storage.places import Place, storage_at
from frontier.text import counted, moment, named, near, printable, program, size, span

STAGE_SECONDS, WITHIN_SECONDS = 1.0, 60.0
"""The least seconds between the rows of two stages, and between two rows within a stage, such as a
layer."""

CLOCK = "clock"

WIDEST = {CLOCK: "00:00:00", "states": "9" * 14, "total": "9" * 14, "tasks": "999/999"}
"""The widest values that fit in their columns."""


def describe_state(progress: Progress) -> str:
    """Return the state of a run and, if it is stopped, since when and why."""
    at = f" at {moment(progress.when)}" if progress.when else ""
    return f"{progress.state}{at}: {progress.reason}" if progress.reason else progress.state


def title(progress: Progress) -> str:
    """Return the name of a run, its puzzle and its state."""
    if not progress.started:
        return f"{progress.name}: {describe_state(progress)}"
    return f"{named(progress.name, progress.started.title)}, {describe_state(progress)}"


def line(progress: Progress) -> str:
    """Return the progress in one line."""
    names = (
        "depth", "states", "not stored yet", "time in layers", "next layer", "God's number", "now",
        "time left",
    )  # fmt: skip
    figures = progress.figures(time.time()) if progress.started else {}
    parts = [f"{name} {figures[name]}" for name in names if name in figures]
    if progress.ended and "time in layers" not in figures:
        parts.append(f"{span(progress.ended.elapsed)} since it was started")
    return "; ".join([title(progress), *parts])


def headline(start: Starting | Started) -> str:
    """Return what is searched and where, in one line."""
    aim = KINDS[start.kind].aim if start.states is None else counted(start.states, "state")
    what = f", {aim}" if aim else ""
    after = "" if start.depth < 0 else f" after depth {start.depth}"
    again = f", resuming{after}" if start.resumed else ""
    return f"{named(start.name, start.title)}{what}, in {near(start.path)}{again}"


class Rows:
    """The progress of a run as a table for programs: a row for each layer or interval, without
    units or spaces in its columns. An unknown value is -. Decides when a row is due.

    name: the content of a separate column; None for no such column.
    """

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
            if now - self._shown_at < (WITHIN_SECONDS if within else STAGE_SECONDS):
                return []
        elif state == self._shown or (shown is not None and progress.lost(shown)):
            return []
        self._shown_at, self._shown = now, state
        return self._lines(progress.row(time.time()), progress.legend)

    def _lines(self, values: Mapping[str, str], legend: str) -> list[str]:
        named = {} if self._name is None else {"run": self._name}
        values = {CLOCK: time.strftime("%H:%M:%S"), **named, **values}
        lines = [list(values.values())]
        if self._widths is None:
            self._widths = [max(len(head), len(WIDEST.get(head, ""))) for head in values]
            lines.insert(0, list(values))
        table = ["  ".join(map(str.rjust, cells, self._widths)) for cells in lines]
        return [legend, *table] if legend and len(table) > 1 else table


def status_of(place: Place, resume: str | None = None) -> dict:
    """Return the state of a run from its files: the keys of ``summary.json`` and the progress.

    resume: the command that resumes the run, if known. Times are Unix times, except `ends`, which
    is in ISO 8601 with this machine's time zone. A run that has not begun has few keys.
    """
    path = storage_at(place)
    if not StoredRun.exists(path):
        return {"name": path.name, "path": str(path), "state": NOT_BEGUN}
    now, run = time.time(), open_run(path)
    progress, disk = progress_of(run), path.size()
    words = progress.figures(now) | {"on disk": f"{size(disk)} in {printable(str(path))}"}
    value = kind_of(progress.source).results(progress.source) | {
        "path": str(path),
        "state": progress.state,
        "holder": progress.holder,
        "state_in_words": describe_state(progress),
        "in_words": words,
        "disk": disk,
        "damaged": progress.source.missing(),
    }
    if progress.ended:
        value |= {"ended": progress.when, "reason": progress.reason}
    else:
        start = progress.started
        value |= {"since": progress.began, "dashboard": start.dashboard if start else None}
    if progress.reason:
        value["resume"] = words[RESUME] = resume or words[RESUME]
    if faults := value["damaged"]:
        more = f", and {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
        words["damaged"] = f"{faults[0]}{more}; `{program()} verify` lists all damage"
    return value | progress.value(now)


def describe_status(value: dict) -> str:
    """Return the status as text."""
    if value["state"] == NOT_BEGUN:
        return f"{value['name']}: {NOT_BEGUN}"
    lines = [f"{named(value['name'], value['puzzle']['title'])}, {value['state_in_words']}"]
    return "\n".join(lines + [f"  {name}: {text}" for name, text in value["in_words"].items()])
