"""The progress of a run in words, the same in a terminal, in a notebook and on a page; and as JSON,
by its files alone."""

import time
from dataclasses import asdict
from datetime import datetime

from frontier.cosets.store import CosetRun, open_any
from frontier.forecast.time_left import TimeLeft
from frontier.report.gods_number import gods_number_value, search_figures
from frontier.report.progress import NOT_BEGUN, Progress, SearchProgress, Standing, progress_of
from frontier.report.summary import run_value
from frontier.search.events import RunStarted, SearchStarted
from frontier.storage.places import Place, storage_at
from frontier.store.run import RunStore
from frontier.text import counted, moment, percent, rate, rough, size, span


def figures(progress: Standing, now: float | None = None) -> dict[str, str]:
    """Return the figures of a run by their names."""
    if isinstance(progress, SearchProgress):
        return search_figures(progress)
    now = time.time() if now is None else now
    start, layers, figures_known = progress.started, progress.layers, {}
    if not progress.complete and progress.states < start.states:
        time_left = progress.left(now)
        figures_known["time left"] = time_left_words(time_left)
        if not progress.ended and (end := end_of(time_left, now)):
            times = moment(end[1], now), moment(end[2], end[1])
            figures_known["ends"] = "–".join(dict.fromkeys(times))  # once, if they are the same
        if time_left and time_left.least_depth < time_left.most_depth:
            figures_known["last depth"] = (
                f"about {time_left.depth} ({time_left.least_depth} to {time_left.most_depth})"
            )
    figures_known["depth"] = "– (no layer is committed yet)"
    if layers:
        figures_known["depth"] = f"{progress.depth} ({counted(layers[-1].states, 'state')} there)"
    states, seconds = progress.states, progress.seconds
    share = "all" if progress.complete else f"{percent(states / start.states)} of {start.states:,}"
    figures_known["states"] = f"{states:,} ({share})"
    if waiting := len(layers) - progress.committed:
        depths = f"depth {progress.committed}"
        depths = f"from {depths} on" if waiting > 1 else f"at {depths}"
        figures_known["not stored yet"] = f"{counted(waiting, 'layer')} ({depths})"
    figures_known["time in layers"] = f"{span(seconds)} ({rate(states, seconds)})"
    if progress.storing:
        figures_known["now"] = f"storing {counted(progress.storing, 'layer')}"
    elif words := next_layer_words(progress, now):
        figures_known["next layer"] = f"{len(layers)} ({words})"
    figures_known["layers on disk"] = size(progress.disk)
    dashboard = None if progress.ended else start.dashboard
    more = {"written by": progress.holder, "dashboard": dashboard}
    return figures_known | {name: text for name, text in more.items() if text}


def time_left_words(left: TimeLeft | None) -> str:
    """Return the time that a run still takes, in words."""
    if left is None:
        return "too early to tell"
    if left.most < 2:
        return "a moment"
    likely, least, most = map(rough, (left.seconds, left.least, left.most))
    if left.passed:
        return f"about {likely} ({least} to {most})"
    rising = "the largest layers are still to come"
    return f"{least} to {most} ({rising if left.rising else 'among the largest layers so far'})"


def end_of(left: TimeLeft | None, now: float) -> tuple[float, float, float] | None:
    """Return when a run under way ends, in Unix time: the likely, the earliest and the latest time.

    Returns None if that is not known, or if the latest is more than a hundred years away.
    """
    if left is None or left.most > 100 * 365 * 86400:
        return None
    return now + left.seconds, now + left.least, now + left.most


def next_layer_words(progress: Progress, now: float) -> str:
    """Return how much of the next layer is done, and for how long it has been under way."""
    task, words = progress.task, []
    if task:
        of = f"{task.done:,} of {counted(task.tasks, 'task')}"
        words.append(f"{of if task.tasks else counted(task.done, 'task')} done")
    if progress.ended is None:
        words.append(f"under way for {span(max(0.0, now - progress.since))}")
    return ", ".join(words)


def describe_state(progress: Standing) -> str:
    """Return the state of a run and, if it is stopped, since when and why."""
    at = f" at {moment(progress.when)}" if progress.when else ""
    return f"{progress.state}{at}: {progress.reason}" if progress.reason else progress.state


def title(progress: Standing) -> str:
    """Return the name of a run, its puzzle and its state."""
    puzzle = f"{progress.started.title}, " if progress.started else ""
    return f"{progress.name}: {puzzle}{describe_state(progress)}"


def line(progress: Standing) -> str:
    """Return the progress in one line."""
    names = (
        "depth", "states", "not stored yet", "time in layers", "next layer", "God's number", "now",
        "time left",
    )  # fmt: skip
    figures_known = figures(progress) if progress.started else {}
    parts = [f"{name} {figures_known[name]}" for name in names if name in figures_known]
    if progress.ended and "time in layers" not in figures_known:
        parts.append(f"{span(progress.ended.elapsed)} since it was started")
    return "; ".join([title(progress), *parts])


def headline(start: RunStarted | SearchStarted) -> str:
    """Return what is searched, by whom, where and how, in some lines."""
    if isinstance(start, SearchStarted):
        by, again = counted(start.workers, "worker"), ", going on" if start.resumed else ""
        dashboard = f"\ndashboard: {start.dashboard}" if start.dashboard else ""
        return f"{start.name}: {start.title}, coset by coset; {by}; {start.path}{again}{dashboard}"
    states, workers = counted(start.states, "state"), counted(start.workers, "worker")
    by = f"; {workers}" if start.workers > 1 else ""
    again = f", resuming after depth {start.depth}" if start.resumed else ""
    mode = f"\nlayers are searched {start.mode}" if start.mode else ""
    dashboard = f"\ndashboard: {start.dashboard}" if start.dashboard else ""
    return f"{start.name}: {start.title}, {states}{by}; {start.path}{again}{mode}{dashboard}"


def status_of(place: Place, resume: str | None = None) -> dict:
    """Return the state of a run by its files: the keys of ``summary.json``, and its progress.

    resume: the command that goes on with it, if known. Times are Unix times, but `ends` is in ISO
    8601 with the zone of this machine. A run that has not begun has few keys.
    """
    path = storage_at(place)
    if not RunStore.exists(path):
        return {"name": path.name, "path": str(path), "state": NOT_BEGUN}
    now, run = time.time(), open_any(path)
    progress, disk = progress_of(run), path.size()
    words = figures(progress, now) | {"on disk": f"{size(disk)} in {path}"}
    about = gods_number_value if isinstance(run, CosetRun) else run_value
    value = about(progress.run) | {
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
        value |= {"since": progress.began, "dashboard": progress.started.dashboard}
    if progress.reason:
        value["resume"], words["resume with"] = resume, resume or "the same command"
    if isinstance(progress, SearchProgress):
        value["asking"] = asdict(progress.asking)
    else:
        value |= _of_layers(progress, now)
        if faults := value["damaged"]:
            more = f", and {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
            words["damaged"] = f"{faults[0]}{more}; `verify {path}` tells more"
    return value


def _of_layers(progress: Progress, now: float) -> dict:
    """Return the values that only a run by layers has."""
    left = progress.left(now)
    value = {
        "not_stored": progress.counts[progress.committed :],
        "tasks_finished_of_the_next_layer": progress.task.done if progress.task else 0,
        "damaged": progress.run.missing(),
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
    lines = [f"{value['name']}: {value['puzzle']['title']}, {value['state_in_words']}"]
    return "\n".join(lines + [f"  {name}: {text}" for name, text in value["in_words"].items()])
