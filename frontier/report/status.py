"""How far a run is, by its files alone: as JSON, as text, and followed from another terminal."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime

from rich.console import Group
from rich.live import Live
from rich.text import Text

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.report.console import console_on, is_live
from frontier.report.displays import ProgressTable, dashboard
from frontier.report.progress import NOT_BEGUN, Progress, progress_of, reopened
from frontier.report.progress_text import (
    describe_state,
    end_of,
    figures,
    in_a_line,
)
from frontier.report.summary import run_value
from frontier.store.files import disk_bytes
from frontier.store.objects import Place
from frontier.store.run import RunStore
from frontier.text import counted, size

LEFT = ("seconds", "least", "most", "depth", "least_depth", "most_depth", "passed", "rising")
"""The fields of the time left that are in the JSON."""

SAID = ("depth", "states", "time in layers", "time left")
"""The figures that are in the line of a run that is watched."""

TRIES = 3
"""How often in a row a run may look damaged or gone, as its files may be replaced meanwhile."""


def status_of(run: RunStore, resume: str | None = None) -> dict:
    """What the files of a run say about it now: the keys of ``summary.json``, and how far it is.

    resume: the command that goes on with it, if known. Times are in seconds of the epoch, but
    `ends` is in ISO 8601 with the zone of this machine.
    """
    now, run = time.time(), reopened(run)[0]
    progress = progress_of(run)
    value = run_value(run) | {
        "path": str(run.path),
        "state": progress.state,
        "holder": progress.holder,
        "state_in_words": describe_state(progress),
        "in_words": {name: in_a_line(text) for name, text in figures(progress, now).items()},
        "disk": disk_bytes(run.path),
        "tasks_finished_of_the_next_layer": 0 if progress.complete else run.tasks_done(),
        "damaged": RunStore.open(run.path).missing(),
    }
    if progress.ended:
        value |= {"ended": progress.when, "reason": progress.reason}
    if progress.complete:
        return value
    left = progress.left(now)
    value["left"] = left and {name: getattr(left, name) for name in LEFT}
    if progress.ended:
        return value | {"resume": resume}
    end = end_of(left, now)
    dashboard = progress.started.dashboard
    value |= {"since": progress.began, "dashboard": dashboard, "ends": end}
    if end:
        value["ends"] = dict(zip(("likely", "least", "most"), map(_iso, end), strict=True))
    return value


def corrupt(name: str, error: CorruptRunError) -> dict:
    """What is known of runs whose records cannot be read. name: as the user named them."""
    return {"path": name, "state": "corrupt", "message": str(error)}


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")


def not_begun(path: Place) -> dict:
    """What is known of a run that has not begun, where others of its config have."""
    return {"name": path.name, "path": str(path), "state": NOT_BEGUN}


def describe_status(value: dict) -> str:
    """The same for a person."""
    if value["state"] == NOT_BEGUN:
        return f"{value['name']}: {NOT_BEGUN}"
    lines = [f"{value['name']}: {value['puzzle']['title']}, {value['state_in_words']}"]
    lines += [f"  {name}: {text}" for name, text in value["in_words"].items()]
    lines.append(f"  on disk: {size(value['disk'])} in {value['path']}")
    if tasks := value["tasks_finished_of_the_next_layer"]:
        lines.append(f"  next layer under way: {counted(tasks, 'task')} finished")
    if "resume" in value:
        command = value["resume"]
        lines.append(f"  resume with: {command}" if command else "  run it again to resume")
    if value.get("dashboard"):
        lines.append(f"  dashboard: {value['dashboard']}")
    if faults := value["damaged"]:
        more = f", and {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
        lines.append(f"  damaged: {faults[0]}{more}; `verify {value['path']}` tells more")
    return "\n".join(lines)


class Watched:
    """A run that is watched."""

    def __init__(self, path: Place):
        self.path = path
        self.run: RunStore | None = None
        self.progress = Progress()
        self._failures = 0

    def look(self) -> None:
        """Read the files; InputError if the run is gone, CorruptRunError if it is damaged."""
        try:
            if self.run is None and not RunStore.exists(self.path):
                return
            self.run = RunStore.open(self.path)
            self.progress = progress_of(self.run)
            self._failures = 0
        except FormatError:
            raise
        except (InputError, CorruptRunError):
            self._failures += 1
            if not self.path.exists():
                raise InputError(f"{self.path} is gone: the run was deleted") from None
            if self._failures >= TRIES:
                raise

    def line(self) -> str:
        """The progress in one line."""
        progress = self.progress
        if progress.started is None:
            return f"{self.path.name}: {progress.state}"
        known = figures(progress)
        wanted = [name for name in SAID if name in known]
        parts = (f"{name} {in_a_line(known[name])}" for name in wanted)
        return ", ".join([f"{progress.started.name}: {progress.state}", *parts])

    def shown(self) -> Group:
        progress = self.progress
        if progress.started is None:
            return Group(Text(f"{self.path.name}: {progress.state}", style="dim"))
        title = f"{progress.started.name}: {progress.started.title}, {describe_state(progress)}"
        parts = [Text(title, style="bold"), ProgressTable(progress)]
        if progress.started.dashboard and not progress.ended:
            parts.append(dashboard(progress.started.dashboard))
        return Group(*parts)


def watch(
    paths: list[Place], interval: float, wait: Callable[[float], None] = time.sleep
) -> list[dict]:
    """Follow runs until all are complete, on standard output; returns how they stand then."""
    watched, console, said = [Watched(path) for path in paths], console_on(), {}

    def tables() -> Group:
        return Group(*(one.shown() for one in watched))

    table = None
    if is_live(console):
        table = Live(get_renderable=tables, console=console, refresh_per_second=2)
    with table or nullcontext():
        while True:
            for one in watched:
                if not one.progress.complete:
                    one.look()
                known = one.progress.depth, str(one.progress.ended), one.progress.task
                if table is None and said.get(one) != known:
                    said[one] = known
                    print(f"{time.strftime('%H:%M:%S')}  {one.line()}", flush=True)
            if table:
                table.refresh()
            if all(one.progress.complete for one in watched):
                break
            wait(interval)
    values = [status_of(one.run) for one in watched]
    for value in values:
        print(describe_status(value), flush=True)
    return values
