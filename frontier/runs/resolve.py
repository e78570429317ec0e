"""What is at a place that a user names: a config, a run of any kind, a directory of several
runs, or nothing."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from frontier.config import bundled
from frontier.config.loading import (
    CONFIG_SUFFIXES,
    Config,
    checked_config,
    load_config,
    member_names,
)
from frontier.config.schema import HERE
from frontier.errors import InputError
from frontier.runs.directory import OWN_NAMES
from frontier.runs.events import Started
from frontier.runs.identity import read_identity, same_puzzle
from frontier.runs.kind import kind_at, open_run
from frontier.runs.kinds import BY_COSETS, BY_LAYERS, KINDS
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at
from frontier.text import near, program

BESIDE = "-gods-number"
"""The suffix of the name of a config's run by cosets, which lies beside the run by layers."""


def resolve(what: Place, settings: tuple[str, ...] = ()) -> "Named":
    """Return what a user names by a path or a URL.

    settings: as for `load_config`. A path where nothing exists stands for the run by cosets beside
    it, if there is one.
    """
    try:
        place = storage_at(bundled.place_of(what))
    except TypeError:
        message = f"{what!r}: expected a config, or the path of a config or a run directory"
        raise InputError(message) from None
    if _is_empty(place) and begun_at(place) != place:
        place = begun_at(place)
    return Named(what, place, settings)


def _is_empty(place: Storage) -> bool:
    there = place.is_folder() or place.exists("")
    return not (there or place.name.endswith(CONFIG_SUFFIXES))


def place_of_cosets(config: Config) -> Storage:
    """Return the place of the run by cosets of a config: beside its run by layers, or the config's
    own directory if it holds such a run."""
    path = config.storage
    return path if kind_at(path) == BY_COSETS else _beside(path)


def begun_at(path: Storage) -> Storage:
    """Return `path` if a run is there, or the place of the run by cosets beside it if only that run
    has begun."""
    beside = _beside(path)
    return path if StoredRun.exists(path) or not StoredRun.exists(beside) else beside


def _beside(path: Storage) -> Storage:
    return path.parent.below(f"{path.name}{BESIDE}")


@dataclass(frozen=True)
class Entry:
    """A named run, which need not have begun. config: None if the user named its directory."""

    place: Storage
    config: Config | None

    @property
    def begun(self) -> bool:
        return StoredRun.exists(self.place)


@dataclass(frozen=True)
class Named:
    """What a user names.

    what: as the user wrote it. place: where it is. settings: values that override keys of a config.
    """

    what: Place
    place: Storage
    settings: tuple[str, ...] = ()

    @cached_property
    def is_folder(self) -> bool:
        return self.place.is_folder()

    @cached_property
    def loaded(self) -> Config:
        """The config in the named file; raises InputError if the file is not a config."""
        if _is_empty(self.place):
            remedy = bundled.remedy(self.place.name)
            raise InputError(f"{self.place}: no such run directory or config; {remedy}")
        return load_config(self.place, self.settings)

    @cached_property
    def entries(self) -> list[Entry]:
        """The runs: the run of a directory, or the runs in it; or one run for each goal of a
        config, at the place of the run by cosets if only that run has begun."""
        if not self.is_folder:
            return [Entry(begun_at(of.storage), of) for of in self.loaded.members]
        if self.settings:
            raise InputError(
                f"{self.what} is a run directory, not a config: omit {', '.join(self.settings)}"
            )
        places = map(self.place.below, sorted(self.place.names() - OWN_NAMES))
        inside = [] if StoredRun.exists(self.place) else list(filter(StoredRun.exists, places))
        return [Entry(place, None) for place in inside or [self.place]]

    @property
    def begun(self) -> list[Storage]:
        """The places of the runs that have begun."""
        return [entry.place for entry in self.entries if entry.begun]

    @cached_property
    def family(self) -> list[Storage] | None:
        """The places of all runs of the family that a directory holds; None if it holds no family.

        Runs form a family if all have the same puzzle, each from the blank cell that its name
        gives.
        """
        places = [entry.place for entry in self.entries]
        if not self.is_folder or places == [self.place]:
            return None
        if any(kind_at(place) != BY_LAYERS for place in places):
            return None
        puzzles = {place.name: read_identity(place)["puzzle"] for place in places}
        first, *_ = puzzles.values()
        cells = member_names(first)
        for name, puzzle in puzzles.items():
            if name not in cells or not same_puzzle(puzzle, {**first, "blank": cells[name]}):
                return None
        return [self.place.below(name) for name in cells]

    def open(self) -> list[StoredRun]:
        """Open the runs; raises InputError if one has not begun, or has a puzzle other than its
        config's."""
        return list(map(self._open, self.entries))

    def open_one(self) -> StoredRun:
        """Open the one named run; raises InputError if there are several."""
        return self._open(self.one)

    def _open(self, entry: Entry) -> StoredRun:
        config = entry.config
        if config is None:
            return open_run(entry.place)
        if not entry.begun:
            raise InputError(f"{config.name} has not started; start it with: {self.run_command()}")
        run = open_run(entry.place)
        run.check_is_of({"puzzle": config.puzzle_settings})  # how the run is stored does not matter
        return run

    @property
    def one(self) -> Entry:
        """The one named run; raises InputError if there are several."""
        if len(self.entries) > 1:
            places = ", ".join(str(entry.place) for entry in self.entries)
            raise InputError(f"{self.what} names several runs; name one of {places}")
        return self.entries[0]

    def places(self, waiting: bool = False) -> list[Storage]:
        """Return the places of the runs, and of runs of their family that have not begun.

        waiting: True if none of a config's runs need have begun, and a directory need not exist
        yet; otherwise these cases raise InputError.
        """
        if waiting and _is_empty(self.place):
            return [self.place]
        waiting = waiting and not self.is_folder
        begun = [entry for entry in self.entries if entry.begun]
        for entry in begun or ([] if waiting else self.entries[:1]):
            self._open(entry)
        return self.family or [entry.place for entry in self.entries]

    @cached_property
    def config(self) -> Config:
        """The named config, or the config that resumes the run in a directory.

        Raises InputError if there is neither, or if the directory has several runs that are not a
        family. It also raises InputError if the run was made on a cluster and the settings name no
        other kind, because no run directory holds the particulars of a cluster.
        """
        if not self.is_folder:
            return self.loaded
        here = Named(self.what, self.place)
        run = open_run(here.entries[0].place if here.family else here.one.place)
        identity, settings = run.identity, run.settings
        puzzle, name, path = dict(identity["puzzle"]), identity["name"], run.path
        if here.family:
            puzzle, path = {**puzzle, "blank": "all"}, self.place.path
            name = name.removesuffix(f"-{run.storage.name}")
        values = {
            "name": name,
            "puzzle": puzzle,
            "search": dict(settings.get("search", {})),
            "store": settings.get("store", {}) | {"path": str(path)},
            "cluster": dict(settings.get("cluster", {})),
        }
        for table, key in (("search", "keep"), ("store", "codec")):
            if key in identity:  # a run by cosets has neither key
                values[table][key] = identity[key]
        kind = values["cluster"].get("kind", "local")
        sets_kind = any(of.partition("=")[0].strip() == "cluster.kind" for of in self.settings)
        if kind not in HERE and not sets_kind:
            raise InputError(
                f"{self.what} was made on a cluster (cluster.kind = {kind}) whose settings are not "
                'in the run directory: name its config instead, or set cluster.kind = "local"'
            )
        return checked_config(values, str(self.what), self.settings)

    @property
    def puzzle(self) -> Config:
        """A config with the one named puzzle; raises InputError if there are several."""
        if not self.is_folder:
            return only_member(self.loaded, self.what)
        run = open_run(self.one.place)
        tables = {"name": run.identity["name"], "puzzle": run.identity["puzzle"]}
        return checked_config(tables | {"store": {"path": str(run.path)}}, str(self.what))

    @property
    def searches_beside(self) -> list[Storage]:
        """The runs by cosets that have begun beside the named runs by layers."""
        runs = [place for place in self.begun if kind_at(place) == BY_LAYERS]
        return list(filter(StoredRun.exists, map(_beside, runs)))

    def run_command(self) -> str:
        """Return the command that starts or resumes the runs by layers."""
        return _command("run", [self.what], self.settings, {})

    def resume_command(self, place: Storage) -> str:
        """Return the command that resumes the run at one of the `places`.

        A config, or the directory of a family, resumes all of its runs, and starts those that have
        not begun. Other runs in a directory each have their own command.
        """
        what = place if self.is_folder and self.family is None else self.what
        if StoredRun.exists(place):
            return command_of(open_run(place), what, self.settings)
        return Named(what, place, self.settings).run_command()


def only_member(config: Config, what: object) -> Config:
    """Return the config of a single run; raises InputError if there are several. what: the name
    that the user gave."""
    if len(config.members) > 1:
        raise InputError(f"{what} has several goals; choose one, such as puzzle.blank = [0, 0]")
    return config.members[0]


def again_command(named: Sequence[Named], until: int | None = None) -> str:
    """Return the command that resumes runs by layers once they have begun: for one, the command for
    its directory, if that holds every setting; for several, the command as the user wrote it."""
    first, *others = named
    if others or not first.settings or not first.config.is_kept:
        whats = [one.what for one in named]
        return _command("run", whats, first.settings, {"until": until})
    return _command("run", [near(str(first.config.path))], (), {"until": until})


def resume_command(start: Started, options: dict[str, Any]) -> str:
    """Return the command that resumes a run by its directory. start: the event of its last
    start."""
    return _command(KINDS[start.kind].command, [start.path], (), options)


def command_of(
    run: StoredRun, what: Place, settings: tuple[str, ...] = (), **options: str | None
) -> str:
    """Return the command that resumes a run as it was last started. what: its config or directory,
    as the user names it. options: further options."""
    return _command(KINDS[run.kind].command, [what], settings, run.options() | options)


def _command(name: str, whats: Sequence[Place], settings: tuple[str, ...], options: dict) -> str:
    # A place that begins with "-" must not be taken for an option.
    words = [f"./{what}" if str(what).startswith("-") else str(what) for what in whats]
    for option, value in [*(("set", setting) for setting in settings), *options.items()]:
        words += [] if value is None else [f"--{option}", str(value)]
    return f"{program()} {name} {shlex.join(words)}"
