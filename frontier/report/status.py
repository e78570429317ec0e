"""How far a run is, from its files alone."""

import time
from datetime import datetime
from pathlib import Path

from frontier.errors import CorruptRunError
from frontier.puzzles import puzzle_of
from frontier.report.view import (
    NO_LAYER,
    NOT_BEGUN,
    describe_state,
    end_of,
    in_a_line,
    view_of,
    words_of_depth,
    words_of_end,
    words_of_left,
)
from frontier.store.files import disk_bytes
from frontier.store.run import RunStore
from frontier.text import counted, percent, rate, size, span

CORRUPT = "corrupt"
"""The state of a run that has none of the others, as its records cannot be read."""


def status_of(run: RunStore, resume: str | None = None) -> dict:
    """What the files of a run say about it now.

    resume: the command that goes on with it, if known. Times in seconds of the epoch, but `ends`,
    which is in ISO 8601 with the zone that is meant here.
    """
    now, puzzle, view = time.time(), puzzle_of(run.identity["puzzle"]), view_of(run)
    value = {
        "name": run.identity["name"],
        "puzzle": puzzle.title,
        "path": str(run.path),
        "state": view.state,
        "holder": view.holder,
        "state_in_words": describe_state(view),
        "depth": view.depth,
        "layer": view.layers[-1].states if view.layers else 0,
        "states": view.states,
        "states_of_the_puzzle": run.identity["states"],
        "seconds": round(view.seconds, 3),
        "disk": disk_bytes(run.path),
        "tasks_finished_of_the_next_layer": 0 if view.complete else run.tasks_done(),
        "damaged": RunStore.open(run.path).missing(),
    }
    if view.ended:
        value |= {"ended": view.when, "reason": view.reason}
    if view.complete:
        return value
    left = view.left(now)
    value |= {"left": left and left._asdict(), "time_left": in_a_line(words_of_left(left))}
    if view.ended:
        value["resume"] = resume
    else:
        end = end_of(left, now)
        value |= {
            "since": view.began,
            "dashboard": view.started.dashboard,
            "ends": end and dict(zip(("likely", "least", "most"), map(_iso, end), strict=True)),
            "ends_in_words": in_a_line(words_of_end(left, now)),
        }
    if left:
        value["depth_expected"] = in_a_line(words_of_depth(left))
    return value


def corrupt(name: str, error: CorruptRunError) -> dict:
    """What there is to say of runs whose records cannot be read. name: as the user named them."""
    return {"path": name, "state": CORRUPT, "message": str(error)}


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")


def not_begun(path: Path) -> dict:
    """What there is to say of a run of a family whose turn has not come."""
    return {"name": path.name, "path": str(path), "state": NOT_BEGUN}


def describe_status(value: dict) -> str:
    if value["state"] == NOT_BEGUN:
        return f"{value['name']}: {NOT_BEGUN}"
    share = percent(value["states"] / value["states_of_the_puzzle"])
    speed = rate(value["states"], value["seconds"])
    lines = [
        f"{value['name']}: {value['puzzle']}, {value['state_in_words']}",
        f"  {NO_LAYER}"
        if value["depth"] is None
        else f"  depth {value['depth']}, {counted(value['layer'], 'state')} there",
        f"  {value['states']:,} of {counted(value['states_of_the_puzzle'], 'state')} ({share})",
        f"  {span(value['seconds'])} in layers ({speed}); {size(value['disk'])} in {value['path']}",
    ]
    if tasks := value["tasks_finished_of_the_next_layer"]:
        lines.append(f"  next layer under way: {counted(tasks, 'task')} finished")
    if "time_left" in value:
        depth = f"; depth {value['depth_expected']}" if "depth_expected" in value else ""
        again = ", once it is resumed" if "resume" in value else ""
        lines.append(f"  time left: {value['time_left']}{again}{depth}")
    if end := value.get("ends_in_words"):
        lines.append(f"  ends {end}")
    if "resume" in value:
        command = value["resume"]
        lines.append(f"  resume with: {command}" if command else "  run it again to resume")
    if value.get("dashboard"):
        lines.append(f"  dashboard: {value['dashboard']}")
    if faults := value["damaged"]:
        more = f", and {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
        lines.append(f"  damaged: {faults[0]}{more}; `verify {value['path']}` tells more")
    return "\n".join(lines)
