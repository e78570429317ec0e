"""The steps of a run as functions: plan, start, delete.

The commands `plan` and `run` and the module `frontier.api.runs` use them. The code that gets
positions from a finished run is in `frontier.api.runs`, so these commands need not load it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.executors.choice import check_cluster, client_for, on_client
from frontier.layers.plan import Plan, config_identity, make_plan, with_what_is_kept
from frontier.layers.run import LayerRun
from frontier.layers.search import LayerSearch
from frontier.report.console import warn_unwritten
from frontier.report.displays import listening
from frontier.runs.directory import SUMMARY, delete_files, refuse_others
from frontier.runs.drive import Search, drive
from frontier.runs.events import Listener
from frontier.runs.identity import check_identity
from frontier.runs.kind import kind_at, kind_named
from frontier.runs.kinds import BY_LAYERS
from frontier.runs.resolve import resolve
from frontier.runs.stored_run import StoredRun
from frontier.storage.lock import writing
from frontier.storage.places import Place, storage_at
from frontier.values import check_whole

if TYPE_CHECKING:
    from distributed import Client

RunT = TypeVar("RunT", bound=StoredRun)

__all__ = ["Plan", "delete_run", "plan", "start"]


def plan(
    what: Config | Place,
    fresh: bool = False,
    client: "Client | None" = None,
    until: int | None = None,
) -> Plan:
    """Return the plan of a run. Nothing is written.

    Parameters
    ----------
    what
        A config, or the path of a config or of a run directory.
    fresh
        Plan as if the run directory were empty. Otherwise an existing run keeps its layout, and a
        run of another config is refused.
    client, until
        As for `run`. With `until`, the plan may be of the first layers of a puzzle of any size.

    Returns
    -------
    Plan
        The plan, an argument of `run`.

    Raises
    ------
    InputError
        If the run cannot be done.
    TooLarge
        If the run needs more memory than it may use.
    """
    config = _config_of(what, client)
    if (client := client_for(config, client)) is not None:
        config = on_client(config, client)
    layout = None
    if not fresh and LayerRun.exists(config.storage):
        stored_identity = LayerRun.open(config.storage).identity
        expected = config_identity(with_what_is_kept(config))
        check_identity(config.path, stored_identity, expected)
        layout = stored_identity["layout"]
    until = config.search.until if until is None else until
    return replace(make_plan(config, layout, until), fresh=fresh)


def _config_of(what: Config | Place, client: "Client | None") -> Config:
    """Return the config of a single run. client: as for `run`."""
    if not isinstance(what, Config):
        what = resolve(what, () if client is None else ("cluster.kind=local",)).config
    what.refuse_family("run each of config.members")
    return what


def start(
    what: Plan | Config | Place,
    until: int | None = None,
    listeners: Sequence[Listener] = (),
    take_over: bool = False,
    *,
    fresh: bool = False,
    progress: bool | None = None,
    client: "Client | None" = None,
) -> tuple[LayerRun, dict[str, Any]]:
    """Start or resume a run, and return it with its summary when it is done.

    The arguments are those of `frontier.api.runs.run`.
    """
    if until is not None:
        check_whole("until", until, 0)
    planned = what if isinstance(what, Plan) else None
    config = what.config if isinstance(what, Plan) else _config_of(what, client)
    storage, exists = config.storage, LayerRun.exists(config.storage)
    if exists and not fresh and planned and planned.fresh:
        raise InputError(
            f"{storage} holds a run, but the plan assumes that there is none: resume the run with "
            "a new plan(config), or delete it with run(plan, fresh=True)"
        )
    client = client_for(config, client)
    if client is not None or fresh or not planned:
        planned = plan(config, fresh, client, until)  # before anything is deleted
    if fresh or not exists:
        check_cluster(planned.config.cluster, planned.in_memory, client)
    if exists and fresh:
        delete_run(storage, take_over)
    until = config.search.until if until is None else until
    return carry_out(LayerSearch(planned, until, client), listeners, take_over, progress)


def carry_out(
    search: Search[RunT],
    listeners: Sequence[Listener],
    take_over: bool | str,
    progress: bool | None,
) -> tuple[RunT, dict[str, Any]]:
    """Start or resume the run of a search with its display, and return it with its summary when it
    is done. The arguments are those of `frontier.api.runs.run`."""
    kind = kind_named(search.kind)
    with listening(
        search.config, search.storage, kind.progress, listeners, progress
    ) as all_listeners:
        run = drive(search, all_listeners, take_over)
    with run.gone_instead():
        found = kind.summary(run)
    run.check_here()
    try:
        run.write_summary(found)
    except OSError as error:  # only warn, because a complete run may be in a read-only place
        warn_unwritten(run.storage.place(SUMMARY), error)
    return run, found


def delete_run(path: Place, take_over: bool = False) -> None:
    """Delete a run and its directory; raises InputError if the directory holds no run, or other
    files too.

    take_over: True if a process on another host that was writing the run is known to be gone.
    """
    storage = storage_at(path).absolute()
    if not LayerRun.exists(storage):
        raise InputError(f"{storage} holds no run; nothing was deleted")
    refuse_others(storage.names(), storage)
    with writing(storage, take_over):
        delete_files(storage, kind_named(kind_at(storage) or BY_LAYERS).delete)
    # The directory stays if there are foreign files in the layers, or if `path` is a link to it.
    storage.remove_folder()
