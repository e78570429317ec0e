"""The steps of a run as functions; the command line and ``import frontier`` stand on these."""

from collections.abc import Sequence
from pathlib import Path

from frontier.config import Config
from frontier.errors import InputError
from frontier.report.log import EventLog
from frontier.search.driver import check_identity, run_plan
from frontier.search.events import Listener
from frontier.search.plan import Plan, config_identity, make_plan
from frontier.store.lock import RunLock
from frontier.store.run import RunStore


def plan(config: Config, fresh: bool = False) -> Plan:
    """What a run will do; InputError if it cannot be done. Makes nothing.

    fresh: as if the run directory were empty; else an existing run keeps its layout, and is
    refused if another config made it.
    """
    if fresh or not RunStore.exists(config.path):
        return make_plan(config)
    existing = RunStore.open(config.path)
    check_identity(existing, config_identity(config))
    return make_plan(config, existing.identity["layout"])


def run(plan: Plan, until: int | None = None, listeners: Sequence[Listener] = ()) -> RunStore:
    """Start or resume a run and return it when it is done.

    until: last depth to compute, by default `search.until` of the config.
    """
    until = plan.config.search.until if until is None else until
    return run_plan(plan, until, [*listeners, EventLog(plan.config.path / "events.jsonl")])


def open_run(path: str | Path) -> RunStore:
    """An existing run, for reading."""
    return RunStore.open(Path(path))


def delete_run(path: Path) -> None:
    """Delete a run and its directory; InputError if it holds no run, or something else too."""
    path = path.resolve()
    if not RunStore.exists(path):
        raise InputError(f"{path} holds no run, so nothing is deleted")
    RunStore.refuse_others({entry.name for entry in path.iterdir()}, path)
    with RunLock(path / "lock"):
        RunStore.delete(path)
    path.rmdir()
