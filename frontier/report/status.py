"""How far a run is, from its files alone, as JSON and as text."""

import time
from datetime import datetime
from pathlib import Path

from frontier.errors import CorruptRunError
from frontier.report.progress import NOT_BEGUN, progress_of, reopened
from frontier.report.progress_text import describe_state, end_of, figures, in_a_line
from frontier.report.summary import run_value
from frontier.store.files import disk_bytes
from frontier.store.run import RunStore
from frontier.text import counted, size

LEFT = ("seconds", "least", "most", "depth", "least_depth", "most_depth", "passed", "rising")
"""The fields of the time left that are in the JSON."""

CORRUPT = "corrupt"
"""The state of a run whose records cannot be read."""


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
    return {"path": name, "state": CORRUPT, "message": str(error)}


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")


def not_begun(path: Path) -> dict:
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
