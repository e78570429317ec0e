"""The state of a run, read from its files, as JSON and as text."""

import time
from dataclasses import asdict
from datetime import datetime

from frontier.report.figures import RESUME, describe_state, end_of, figures
from frontier.report.results import found_so_far
from frontier.runs.kinds import open_run
from frontier.runs.layer_run import LayerRun
from frontier.runs.progress import NOT_BEGUN, Progress, SearchProgress, progress_of
from frontier.storage.places import Place, storage_at
from frontier.text import counted, named, program, size


def status_of(place: Place, resume: str | None = None) -> dict:
    """Return the state of a run from its files: the keys of ``summary.json`` and the progress.

    resume: the command that resumes the run, if known. Times are Unix times, except `ends`, which
    is in ISO 8601 with this machine's time zone. A run that has not begun has few keys.
    """
    path = storage_at(place)
    if not LayerRun.exists(path):
        return {"name": path.name, "path": str(path), "state": NOT_BEGUN}
    now, run = time.time(), open_run(path)
    progress, disk = progress_of(run), path.size()
    words = figures(progress, now) | {"on disk": f"{size(disk)} in {path}"}
    value = found_so_far(progress.source) | {
        "path": str(path),
        "state": progress.state,
        "holder": progress.holder,
        "state_in_words": describe_state(progress),
        "in_words": words,
        "disk": disk,
    }
    if progress.ended:
        value |= {"ended": progress.when, "reason": progress.reason}
    else:
        start = progress.started
        value |= {"since": progress.began, "dashboard": start.dashboard if start else None}
    if progress.reason:
        value["resume"] = words[RESUME] = resume or words[RESUME]
    if isinstance(progress, SearchProgress):
        value["asking"] = asdict(progress.asking) if progress.asking else None
    else:
        value |= _of_layers(progress, now)
        if faults := value["damaged"]:
            more = f", and {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
            words["damaged"] = f"{faults[0]}{more}; `{program()} verify` lists all damage"
    return value


def _of_layers(progress: Progress, now: float) -> dict:
    """Return the values that only a run by layers has."""
    left = progress.left(now)
    value = {
        "not_stored": progress.counts[progress.committed :],
        "tasks_finished_of_the_next_layer": progress.task.done if progress.task else 0,
        "damaged": progress.source.missing(),
    }
    if not progress.complete:
        fields = left._asdict().items() if left else ()
        value["left"] = {name: of for name, of in fields if name not in ("first", "sizes")} or None
    if not progress.ended:
        dates = [datetime.fromtimestamp(end).astimezone() for end in end_of(left, now) or ()]
        ends = [date.isoformat(timespec="seconds") for date in dates]
        value["ends"] = dict(zip(("likely", "least", "most"), ends, strict=True)) if ends else None
    return value


def describe_status(value: dict) -> str:
    """Return the status as text."""
    if value["state"] == NOT_BEGUN:
        return f"{value['name']}: {NOT_BEGUN}"
    lines = [f"{named(value['name'], value['puzzle']['title'])}, {value['state_in_words']}"]
    return "\n".join(lines + [f"  {name}: {text}" for name, text in value["in_words"].items()])
