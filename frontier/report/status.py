"""The state of a run, read from its files, as JSON and as text."""

import time

from frontier.report.figures import describe_state
from frontier.runs.kind import kind_of, open_run
from frontier.runs.progress import NOT_BEGUN, RESUME, progress_of
from frontier.runs.stored_run import StoredRun
from frontier.storage.places import Place, storage_at
from frontier.text import counted, named, printable, program, size


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
