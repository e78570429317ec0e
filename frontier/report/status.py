"""How far a run is, by its files alone, as JSON and as text."""

import time
from datetime import datetime

from frontier.report.progress import NOT_BEGUN, progress_of
from frontier.report.progress_text import describe_state, end_of, figures
from frontier.report.summary import run_value
from frontier.store.files import disk_bytes
from frontier.store.objects import Place
from frontier.store.run import RunStore
from frontier.text import counted, size


def status_of(path: Place, resume: str | None = None) -> dict:
    """What the files of a run say about it now: the keys of ``summary.json``, and how far it is.

    resume: the command that goes on with it, if known. Times are in seconds of the epoch, but
    `ends` is in ISO 8601 with the zone of this machine. A run that has not begun has few keys.
    """
    if not RunStore.exists(path):
        return {"name": path.name, "path": str(path), "state": NOT_BEGUN}
    now, progress, run = time.time(), progress_of(RunStore.open(path)), RunStore.open(path)
    disk, faults, left = disk_bytes(path), run.missing(), progress.left(now)
    words = figures(progress, now) | {"on disk": f"{size(disk)} in {path}"}
    value = run_value(run) | {
        "path": str(path),
        "state": progress.state,
        "holder": progress.holder,
        "state_in_words": describe_state(progress),
        "in_words": words,
        "disk": disk,
        "tasks_finished_of_the_next_layer": progress.task.done if progress.task else 0,
        "damaged": faults,
    }
    if not progress.complete:
        fields = left._asdict().items() if left else ()
        value["left"] = {name: of for name, of in fields if name not in ("first", "sizes")} or None
    if progress.ended:
        value |= {"ended": progress.when, "reason": progress.reason}
    else:
        dates = [datetime.fromtimestamp(end).astimezone() for end in end_of(left, now) or ()]
        ends = [date.isoformat(timespec="seconds") for date in dates]
        value["ends"] = dict(zip(("likely", "least", "most"), ends, strict=True)) if ends else None
        value |= {"since": progress.began, "dashboard": progress.started.dashboard}
    if progress.reason:
        value["resume"], words["resume with"] = resume, resume or "the same command"
    if faults:
        more = f", and {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
        words["damaged"] = f"{faults[0]}{more}; `verify {path}` tells more"
    return value


def describe_status(value: dict) -> str:
    """The same for a person."""
    if value["state"] == NOT_BEGUN:
        return f"{value['name']}: {NOT_BEGUN}"
    lines = [f"{value['name']}: {value['puzzle']['title']}, {value['state_in_words']}"]
    return "\n".join(lines + [f"  {name}: {text}" for name, text in value["in_words"].items()])
