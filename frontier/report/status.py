"""How far a run is, from its files alone."""

from frontier.puzzles import puzzle_of
from frontier.store.files import disk_bytes
from frontier.store.lock import describe_holder, is_held
from frontier.store.run import RunStore
from frontier.text import counted, rate, size, span


def status_of(run: RunStore) -> dict:
    """What the files of a run say about it now."""
    puzzle = puzzle_of(run.identity["puzzle"])
    last = run.records[-1] if run.records else None
    under_way = len(run.records)
    finished = len(list(run.wip_path(under_way).glob("*.json"))) if not run.complete else 0
    return {
        "name": run.identity["name"],
        "puzzle": puzzle.title,
        "path": str(run.path),
        "state": "complete" if run.complete else _state(run),
        "depth": last.depth if last else None,
        "layer": last.states if last else 0,
        "states": run.states,
        "states_of_the_puzzle": run.identity["states"],
        "seconds": round(sum(record.seconds for record in run.records), 3),
        "disk": disk_bytes(run.path),
        "tasks_finished_of_the_next_layer": finished,
    }


def _state(run: RunStore) -> str:
    """Whether a run that is not complete is being written now."""
    lock = run.path / "lock"
    return f"running, by {describe_holder(lock)}" if is_held(lock) else "stopped"


def describe_status(value: dict) -> str:
    share = value["states"] / value["states_of_the_puzzle"]
    speed = rate(value["states"], value["seconds"])
    lines = [
        f"{value['name']}: {value['puzzle']}, {value['state']}",
        f"  depth {value['depth']}, {counted(value['layer'], 'state')} there",
        f"  {value['states']:,} of {counted(value['states_of_the_puzzle'], 'state')} ({share:.2%})",
        f"  {span(value['seconds'])} in layers ({speed}); {size(value['disk'])} in {value['path']}",
    ]
    if tasks := value["tasks_finished_of_the_next_layer"]:
        lines.append(f"  next layer under way: {counted(tasks, 'task')} finished")
    return "\n".join(lines)
