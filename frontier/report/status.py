"""How far a run is, from its files alone."""

from pathlib import Path

from frontier.puzzles import puzzle_of
from frontier.report.view import View, describe_depths, describe_left, tasks_done, view_of
from frontier.search.events import RunFinished
from frontier.store.files import disk_bytes
from frontier.store.lock import describe_holder
from frontier.store.run import RunStore
from frontier.text import counted, moment, rate, size, span


def status_of(run: RunStore) -> dict:
    """What the files of a run say about it now."""
    puzzle, view = puzzle_of(run.identity["puzzle"]), view_of(run)
    value = {
        "name": run.identity["name"],
        "puzzle": puzzle.title,
        "path": str(run.path),
        "state": describe_state(view, run.path / "lock"),
        "depth": view.depth if run.records else None,
        "layer": run.records[-1].states if run.records else 0,
        "states": run.states,
        "states_of_the_puzzle": run.identity["states"],
        "seconds": round(view.seconds, 3),
        "disk": disk_bytes(run.path),
        "tasks_finished_of_the_next_layer": 0 if run.complete else tasks_done(run),
    }
    if view.ended:
        value["ended"] = view.when
        if not run.complete and not isinstance(view.ended, RunFinished):
            value["reason"] = view.ended.reason
        return value
    left = view.left()
    value |= {
        "since": view.began,
        "dashboard": view.started.dashboard,
        "left": left and left._asdict(),
        "time_left": describe_left(left),
    }
    if left:
        value["depth_expected"] = describe_depths(left)
    return value


def not_begun(path: Path) -> dict:
    """What there is to say of a run of a family whose turn has not come."""
    return {"name": path.name, "path": str(path), "state": "not begun"}


def short_state(view: View) -> str:
    """Whether it is under way."""
    if view.complete:
        return "complete"
    return "stopped" if view.ended else "running"


def describe_state(view: View, lock: Path) -> str:
    """The same, and by whom."""
    return short_state(view) if view.ended else f"running, by {describe_holder(lock)}"


def describe_status(value: dict) -> str:
    if value["state"] == "not begun":
        return f"{value['name']}: not begun"
    share = value["states"] / value["states_of_the_puzzle"]
    speed = rate(value["states"], value["seconds"])
    ended = value["state"] == "stopped" and value["ended"]
    ended = f" at {moment(ended)}" if ended else ""
    reason = f" ({value['reason']})" if "reason" in value else ""
    lines = [
        f"{value['name']}: {value['puzzle']}, {value['state']}{ended}{reason}",
        "  no layer is committed yet"
        if value["depth"] is None
        else f"  depth {value['depth']}, {counted(value['layer'], 'state')} there",
        f"  {value['states']:,} of {counted(value['states_of_the_puzzle'], 'state')} ({share:.2%})",
        f"  {span(value['seconds'])} in layers ({speed}); {size(value['disk'])} in {value['path']}",
    ]
    if tasks := value["tasks_finished_of_the_next_layer"]:
        lines.append(f"  next layer under way: {counted(tasks, 'task')} finished")
    if "time_left" in value:
        depth = f"; depth {value['depth_expected']}" if "depth_expected" in value else ""
        lines.append(f"  time left: {value['time_left']}{depth}")
    if value.get("dashboard"):
        lines.append(f"  dashboard: {value['dashboard']}")
    return "\n".join(lines)
