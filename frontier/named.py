"""The runs that a user names: by a run directory, by one that holds several, or by a config."""

import shlex
from pathlib import Path

from frontier.config import Config, load_config, member_names
from frontier.errors import InputError
from frontier.store.identity import check_identity
from frontier.store.run import OWN_NAMES, RunStore


def open_all(run: str | Path, settings: tuple[str, ...] = ()) -> list[RunStore]:
    """The runs that a run directory or a config names; several for a config with several goals."""
    begin = run_command(run, settings)
    return [_open(path, config, begin) for path, config in _named(run, settings)]


def paths_of(run: str | Path, waiting: bool = False) -> list[Path]:
    """The directories of `open_all`, and those of a family whose runs have not begun.

    waiting: the run of a config need not have begun.
    """
    named = _named(run, ())
    begun = [(path, config) for path, config in named if RunStore.exists(path)]
    waiting = waiting and all(config for _, config in named)
    for path, config in begun or ([] if waiting else named[:1]):
        _open(path, config, run_command(run))
    paths = [path for path, _ in named]
    if Path(run).is_dir() and paths != [Path(run)]:
        puzzle = RunStore.open(paths[0]).identity["puzzle"]
        family = [Path(run) / name for name in member_names(puzzle)]
        if set(paths) <= set(family):
            return family
    return paths


def _named(run: str | Path, settings: tuple[str, ...]) -> list[tuple[Path, Config | None]]:
    """Run directories, with the configs that name them."""
    path = Path(run)
    if path.is_dir():
        if settings:
            raise InputError(f"--set changes a config, and {run} is a run directory")
        others = (entry for entry in path.iterdir() if entry.name not in OWN_NAMES)
        inside = sorted(entry for entry in others if RunStore.exists(entry))
        several = inside and not RunStore.exists(path)
        return [(entry, None) for entry in (inside if several else [path])]
    if path.suffix == ".toml" or path.exists():
        return [(member.path, member) for member in load_config(path, settings).members]
    raise InputError(f"{run}: no such run directory or config")


def run_command(
    config: str | Path, settings: tuple[str, ...] = (), until: int | None = None
) -> str:
    """The command that begins the run of a config, or goes on with it."""
    words = [str(config), *(word for setting in settings for word in ("--set", setting))]
    words += [] if until is None else ["--until", str(until)]
    return "python -m frontier run " + shlex.join(words)


def _open(path: Path, config: Config | None, begin: str) -> RunStore:
    """The run at a path; InputError if it is of another puzzle than the config's, or none."""
    try:
        store = RunStore.open(path)
    except InputError:  # there is none
        if config is None:
            raise
        raise InputError(f"{config.name} is not begun; begin with: {begin}") from None
    if config:  # how it is stored does not matter to who reads it
        check_identity(store, {"puzzle": config.puzzle_settings})
    return store


def open_one(run: str | Path, settings: tuple[str, ...] = ()) -> RunStore:
    """The one run that a run directory or a config names."""
    named = _named(run, settings)
    if len(named) > 1:
        names = ", ".join(str(path) for path, _ in named)
        raise InputError(f"{run} names several runs; name one of {names}")
    return _open(*named[0], run_command(run, settings))
