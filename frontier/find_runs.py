"""The runs that a user names: by a run directory, a directory of several of them, or a config."""

import shlex
from typing import TYPE_CHECKING

from frontier import bundled
from frontier.config import (
    CONFIG_SUFFIXES,
    HERE,
    Config,
    checked_config,
    load_config,
    member_names,
)
from frontier.errors import InputError, StorageError
from frontier.open_runs import open_any
from frontier.report.environment import NAME as ENVIRONMENT
from frontier.report.environment import PUBLIC, read_starts
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at
from frontier.store.beside import begun_at, search_beside
from frontier.store.directory import OWN_NAMES
from frontier.store.identity import check_identity, kind_at, read_identity, same_puzzle
from frontier.store.run import RunStore
from frontier.text import program

if TYPE_CHECKING:
    from frontier.cosets.store import CosetRun


def open_all(run: Place) -> "list[RunStore | CosetRun]":
    """Open the runs that a run directory or a config names; several for a config with several
    goals.

    A search of cosets is meant by its own directory, by a config of which there is no run by
    layers, and by the config's store.path if nothing is there.
    """
    return [_open(path, config, run_command(run)) for path, config in _named(run)]


def paths_of(run: Place, waiting: bool = False) -> list[Storage]:
    """Return the directories of the runs that are named, and of those of their family that have not
    begun.

    waiting: True if none of a config's runs need have begun, and a directory need not be there yet;
    otherwise that is an InputError.
    """
    place = place_of(run)
    is_config = place.name.endswith(CONFIG_SUFFIXES)
    if waiting and not is_config and not place.names() and not place.exists(""):
        return [place]
    named = _named(run)
    begun = [(path, config) for path, config in named if RunStore.exists(path)]
    waiting = waiting and all(config for _, config in named)
    for path, config in begun or ([] if waiting else named[:1]):
        _open(path, config, run_command(run))
    paths = [path for path, _ in named]
    return _family_at(place_of(run), paths) or paths


def resume_commands(run: Place, paths: list[Storage]) -> list[str]:
    """Return the commands that go on with the runs at some paths, those that `paths_of` returns.

    A config, or the directory of a family, goes on with all of its runs, and begins those that have
    not begun. Of several other runs in a directory each has its own command.
    """
    named = place_of(run)
    begun = [path for path in paths if RunStore.exists(path)]
    apart = named.is_folder() and _family_at(named, begun) is None
    return [
        search_command(path if apart else run, path)
        if kind_at(path)
        else run_command(path if apart else run)
        for path in paths
    ]


def _family_at(directory: Storage, runs: list[Storage]) -> list[Storage] | None:
    """Return the directories of all runs of the family in a directory; None if it has none.

    runs: the runs in the directory. They make a family if they are all of one puzzle, each from the
    blank cell that its name gives.
    """
    if not directory.is_folder() or runs == [directory] or any(map(kind_at, runs)):
        return None
    puzzles = {path.name: read_identity(path)["puzzle"] for path in runs}
    first, *_ = puzzles.values()
    cells = member_names(first)
    for name, puzzle in puzzles.items():
        if name not in cells or not same_puzzle(puzzle, {**first, "blank": cells[name]}):
            return None
    return [directory.below(name) for name in cells]


def config_at(run: Place, settings: tuple[str, ...] = ()) -> Config:
    """Return the config in a file, or the one that made a run directory, as far as its files have
    it.

    settings: as for `load_config`. Raises InputError if there is neither; if the directory has
    several runs that are no family; or if the run was made on a cluster, whose particulars no run
    directory holds, and the settings name no other kind. Raises StorageError if the system cannot
    read the run's environment.
    """
    path = place_of(run)
    if not path.is_folder():
        return _config_in(path, settings)
    runs = [of for of, _ in _named(run)]
    family = _family_at(path, runs)
    if family is None:
        path = _only(run, runs)
    store = open_any(runs[0])
    try:
        starts = read_starts(store.storage)
    except OSError as error:
        raise StorageError(
            f"{store.storage.place(ENVIRONMENT)} cannot be read ({error.strerror}), which says how "
            "the run was searched: mend that, or name its config instead"
        ) from None
    last_config, identity = starts[-1]["config"] if starts else {}, store.identity
    puzzle, name = dict(identity["puzzle"]), identity["name"]
    if family:
        puzzle, name = {**puzzle, "blank": "all"}, name.removesuffix(f"-{runs[0].name}")
    values = {
        "name": name,
        "puzzle": puzzle,
        "search": last_config.get("search", {}),
        "store": last_config.get("store", {}) | {"path": str(path)},
        "cluster": {
            k: v for k, v in last_config.get("cluster", {}).items() if k in PUBLIC["cluster"]
        },
    }
    for table, key in (("search", "keep"), ("store", "codec")):
        if key in identity:  # a search of cosets has neither
            values[table][key] = identity[key]
    kind = values["cluster"].get("kind", "local")
    kind_is_set = any(setting.partition("=")[0].strip() == "cluster.kind" for setting in settings)
    if kind not in HERE and not kind_is_set:
        raise InputError(
            f"{run} was made on a cluster (cluster.kind = {kind}) whose particulars are not in the "
            "run directory: name its config instead, or say --set cluster.kind=local"
        )
    return checked_config(values, str(run), settings)


def puzzle_at(run: Config | Place, settings: tuple[str, ...] = ()) -> Config:
    """Return a config with the one puzzle of a run directory or a config; raises InputError if it
    has several."""
    config = run if isinstance(run, Config) else None
    path = None if config else place_of(run)
    if path and path.is_folder():
        named = _named(run, settings)
        store = open_any(_only(run, [at for at, _ in named]))
        tables = {"name": store.identity["name"], "puzzle": store.identity["puzzle"]}
        return checked_config(tables | {"store": {"path": str(store.path)}}, str(run))
    members = (config or _config_in(path, settings)).members
    if len(members) > 1:
        name = config.name if config else run
        raise InputError(f"{name} has several goals; name one with puzzle.blank, such as [0, 0]")
    return members[0]


def puzzle_and_run(
    run: Config | Place, settings: tuple[str, ...] = ()
) -> tuple[Config, RunStore | None]:
    """Return the config of `puzzle_at`, and the run of that puzzle, or None if its directory has
    none."""
    config = puzzle_at(run, settings)
    place = config.storage
    refuse_search(
        place,
        "it has the ways of few positions: give solve the config of the puzzle instead of it",
    )
    store = RunStore.open(place) if RunStore.exists(place) else None
    if store and not same_puzzle(store.identity["puzzle"], config.puzzle_settings):
        store = None
    return config, store


def _named(run: Place, settings: tuple[str, ...] = ()) -> list[tuple[Storage, Config | None]]:
    """Return the run directories that are named, each with its config if a config names it."""
    path = place_of(run)
    if path.is_folder():
        if settings:
            raise InputError(f"--set changes a config, and {run} is a run directory")
        entries = map(path.below, sorted(path.names() - OWN_NAMES))
        inside = list(filter(RunStore.exists, entries))
        several = inside and not RunStore.exists(path)
        return [(entry, None) for entry in (inside if several else [path])]
    return [(begun_at(of.storage), of) for of in _config_in(path, settings).members]


def place_of(run: Place) -> Storage:
    """Return the place of a config or a directory that a user names; if there is neither, the place
    of the search of cosets beside it, if there is one."""
    try:
        place = storage_at(run)
    except TypeError:
        message = f"{run!r}: expected a config, or the path of one or of a run directory"
        raise InputError(message) from None
    nothing = not (place.name.endswith(CONFIG_SUFFIXES) or place.is_folder() or place.exists(""))
    return (nothing and search_beside(place)) or place


def searches_beside(paths: list[Storage]) -> list[Storage]:
    """Return the searches of cosets that have begun beside runs by layers at some paths."""
    runs = [path for path in paths if RunStore.exists(path) and not kind_at(path)]
    return list(filter(None, map(search_beside, runs)))


def _config_in(path: Storage, settings: tuple[str, ...]) -> Config:
    """Return the config in a file; if there is none, the error says that a run directory would do
    too."""
    if not path.name.endswith(CONFIG_SUFFIXES) and not path.exists(""):
        raise InputError(f"{path}: no such run directory or config; {bundled.remedy(path.name)}")
    return load_config(path, settings)


def run_command(config: Place, settings: tuple[str, ...] = (), until: int | None = None) -> str:
    """Return the command that begins the run of a config, or goes on with it."""
    words = [str(config), *(word for setting in settings for word in ("--set", setting))]
    words += [] if until is None else ["--until", str(until)]
    return f"{program()} run {shlex.join(words)}"


def search_command(
    config: Place, path: Place, settings: tuple[str, ...] = (), region: str | None = None
) -> str:
    """Return the command that goes on with the search of cosets at a path, which a config or its
    own directory names, with its last question."""
    at_most, layers = open_any(path).request
    words = [str(config), *(word for setting in settings for word in ("--set", setting))]
    words += [] if at_most is None else ["--at-most", str(at_most)]
    words += [] if layers == 1 else ["--layers", str(layers)]
    words += [] if region is None else ["--region", region]
    return f"{program()} gods-number {shlex.join(words)}"


def _open(path: Storage, config: Config | None, begin: str) -> "RunStore | CosetRun":
    """Open the run at a path; raises InputError if there is none, or if its puzzle is not the
    config's."""
    try:
        store = open_any(path)
    except InputError:  # there is none
        if config is None:
            raise
        raise InputError(f"{config.name} is not begun; begin with: {begin}") from None
    if config:  # how it is stored does not matter to a reader
        check_identity(store.path, store.identity, {"puzzle": config.puzzle_settings})
    return store


def open_one(run: Place, settings: tuple[str, ...] = ()) -> RunStore:
    """Open the one run by layers that a run directory or a config names; raises InputError if that
    is a search of cosets."""
    named = _named(run, settings)
    _only(run, [path for path, _ in named])
    store = _open(*named[0], run_command(run, settings))
    return store if isinstance(store, RunStore) else RunStore.open(store.path)  # which refuses it


def refuse_search(path: Place, why: str) -> None:
    """Raise InputError if a directory holds a search of cosets. why: what to do instead."""
    if kind := kind_at(path):
        raise InputError(f"{path} holds what the command {kind} has found; {why}")


def _only(run: Place, paths: list[Storage]) -> Storage:
    """Return the one run that is named; raises InputError if there are several."""
    if len(paths) > 1:
        raise InputError(f"{run} names several runs; name one of {', '.join(map(str, paths))}")
    return paths[0]
