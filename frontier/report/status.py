"""The state of a run: in a line, the same in a terminal, a notebook and a page; and, read from its
files, as JSON and as text."""

import time

from frontier.runs.events import Started, Starting
from frontier.runs.kind import kind_of, open_run
from frontier.runs.kinds import KINDS
from frontier.runs.progress import NOT_BEGUN, RESUME, Progress, progress_of
from frontier.runs.stored_run import StoredRun
from frontier.storage.places import Place, storage_at
from frontier.text import counted, moment, named, near, printable, program, size, span


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
