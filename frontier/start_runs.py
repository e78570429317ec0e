"""The steps of a run as functions: it is planned, started and deleted.

The commands `plan` and `run` stand on them, as `frontier.api` does. Whatever asks a finished run
for positions stands there, so that these commands need not load it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from frontier.clusters.kinds import client_for, on_client
from frontier.config import Config
from frontier.config_values import check_whole
from frontier.errors import CorruptRunError, InputError
from frontier.report.console import warn_unwritten
from frontier.report.displays import listening
from frontier.report.html import run_html
from frontier.runs.directory import delete_files, refuse_others
from frontier.runs.events import Listener
from frontier.runs.identity import check_identity
from frontier.runs.layer_run import LayerRun
from frontier.runs.progress import Progress
from frontier.runs.resolve import resolve
from frontier.runs.summary import NAME as SUMMARY
from frontier.runs.summary import summary, write_summary
from frontier.search import plan as plans
from frontier.search.driver import run_plan
from frontier.storage.lock import writing
from frontier.storage.places import Place, storage_at
from frontier.text import counted, size


@dataclass(frozen=True, repr=False)
class Plan(plans.RunPlan):
    """A checked plan of a run, which a notebook shows as a table.

    fresh: True if it was made as if there were no run yet.
    """

    fresh: bool = False

    def _repr_html_(self) -> str:
        mode = f"in memory, {counted(self.threads, 'thread')}" if self.in_memory else "by tasks"
        facts = {
            "states": f"{self.puzzle.states:,}",
            "layers": mode,
            "memory": f"{size(self.task_bytes)} a process",
            "directory": str(self.config.path),
        }
        return run_html(f"{self.config.name}: {self.puzzle.title}", facts)


class Done:
    """A run that is known by its files.

    store: these files.
    """

    def __init__(self, store: LayerRun):
        self.store = store

    @property
    def path(self) -> Path | str:
        """The run directory, or the URL of a run in a bucket."""
        return self.store.path

    @property
    def complete(self) -> bool:
        """True if all layers are known."""
        return self.store.complete

    @cached_property
    def summary(self) -> dict:
        """The results of the run, as ``summary.json`` holds them."""
        return summary(self.store)


Found = TypeVar("Found", bound=Done)


def plan(what: Config | Place, fresh: bool = False, client=None) -> Plan:
    """Return what a run will do; raises InputError if it cannot be done. Nothing is written.

    what: a config, or the path of a config or of a run directory. fresh: plan as if the run
    directory were empty; otherwise an existing run keeps its layout, and one that another config
    made is refused. client: as for `run`.
    """
    config = _config_of(what, client)
    if (client := client_for(config, client)) is not None:
        config = on_client(config, client)
    layout = None
    if not fresh and LayerRun.exists(config.storage):
        stored_identity = LayerRun.open(config.storage).identity
        check_identity(config.path, stored_identity, plans.config_identity(config))
        layout = stored_identity["layout"]
    return Plan(**vars(plans.make_plan(config, layout)), fresh=fresh)


def _config_of(what: Config | Place, client) -> Config:
    """Return the config of a single run. client: as for `run`."""
    if not isinstance(what, Config):
        what = resolve(what, () if client is None else ("cluster.kind=local",)).config
    if what.from_every_blank:
        names = ", ".join(member.name for member in what.members)
        raise InputError(f"{what.name} is several runs, {names}: run each of config.members")
    return what


def start(
    what: plans.RunPlan | Config | Place,
    until: int | None = None,
    listeners: Sequence[Listener] = (),
    take_over: bool = False,
    *,
    fresh: bool = False,
    progress: bool | None = None,
    client=None,
    kind: type[Found] = Done,
) -> Found:
    """Start or resume a run and return it when it is done.

    kind: the class of what is returned. The other arguments are those of `frontier.api.run`.
    """
    if until is not None:
        check_whole("until", until, 0)
    config = what.config if isinstance(what, plans.RunPlan) else _config_of(what, client)
    storage, exists = config.storage, LayerRun.exists(config.storage)
    if exists and not fresh and getattr(what, "fresh", False):
        raise InputError(
            f"{storage} holds a run, and the plan was made as if there were none: run(plan, "
            "fresh=True) deletes that run, plan(config) makes a plan that goes on with it"
        )
    client = client_for(config, client)
    if client is not None or fresh or not isinstance(what, plans.RunPlan):
        what = plan(config, fresh, client)  # before anything is deleted
    if exists and fresh:
        delete_run(storage, take_over)
    until = config.search.until if until is None else until
    with listening(what.config, storage, Progress, listeners, progress) as all_listeners:
        done = kind(run_plan(what, until, all_listeners, take_over, client))
    try:
        write_summary(storage, done.summary)
    except CorruptRunError:
        done.store.check_mine()
        raise
    except OSError as error:  # a complete run may be kept where nothing can be written
        done.store.check_mine()
        warn_unwritten(storage.place(SUMMARY), error)
    return done


def delete_run(path: Place, take_over: bool = False) -> None:
    """Delete a run and its directory; raises InputError if that holds no run, or anything besides a
    run.

    take_over: True if a process on another host that was writing the run is known to be gone.
    """
    storage = storage_at(path).absolute()
    if not LayerRun.exists(storage):
        raise InputError(f"{storage} holds no run, so nothing is deleted")
    refuse_others(storage.names(), storage)
    with writing(storage, take_over):
        delete_files(storage)
    # The directory stays if others have put files into the layers, or if `path` is a link to it.
    storage.remove_folder()
