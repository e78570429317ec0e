"""The config of a run: a TOML file checked against a schema, with overrides from the command line.

Every error names the key, its value, the allowed values and, for an unknown key, the nearest known
key. Checking creates no files.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import time
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from frontier import bundled, machine
from frontier.codec.codecs import SlabCodec
from frontier.config_values import A_SIZE, as_written, size_written
from frontier.errors import InputError, why_unreadable
from frontier.puzzles import Puzzle, formats, puzzle_of
from frontier.puzzles.grid import Grid
from frontier.puzzles.settings import KIND_TABLES, PuzzleTable, Table, TilesTable
from frontier.puzzles.tiles import MOST_CELLS
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at

CONFIG_SUFFIXES = (".toml", *formats.SUFFIXES)
"""The usual endings of the name of a config. The content shows the format."""


class SearchTable(Table):
    """[search]"""

    keep: Literal["frontier", "all"] = "frontier"
    spare: StrictInt = Field(default=0, ge=0, le=1000)
    until: StrictInt | None = Field(default=None, ge=0)
    in_memory: StrictBool = True


def _path(path: str) -> str:
    if "\0" in path:
        raise ValueError("a path has no NUL in it")
    return path


class StoreTable(Table):
    """[store]"""

    path: Annotated[str, AfterValidator(_path)] | None = None
    codec: str = "bitmap"
    fsync: Literal["layer", "never"] = "layer"


Queue = Literal["slurm", "pbs", "lsf", "sge", "oar", "htcondor"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
"""Kinds of [cluster] whose workers are jobs of a batch queue."""

Here = Literal["local", "serial"]
HERE: tuple[Here, ...] = get_args(Here)
"""Kinds of [cluster] whose tasks run only on this machine."""

MEMORY = 1_500_000_000
"""The bytes that a worker may take if the memory is unknown: in a queue or on other hosts."""

MEMORY_SHARE = 3, 4
"""The share of this machine's memory that all workers on it together may take, as (numerator,
denominator)."""


def _texts(options: Any) -> Any:
    """Return options with times as text: TOML reads an unquoted 04:00:00 as a time of day."""
    if not isinstance(options, dict):
        return options
    return {key: str(of) if isinstance(of, time) else of for key, of in options.items()}


class ClusterTable(Table):
    """[cluster]; docs/reference/clusters.md explains each key. Keys that only other kinds of
    cluster use are ignored, so only `kind` has to change for another machine."""

    kind: Literal[Here, "address", "scheduler-file", "slurm-runner", Queue] = "local"
    workers: StrictInt = Field(default_factory=lambda: machine.cores(), ge=1, le=100_000)
    memory: Annotated[ByteSize, BeforeValidator(size_written)] = Field(
        default_factory=lambda known: default_memory(known.get("kind"), known.get("workers", 1))
    )
    oversubscribe: StrictBool = False
    patience: StrictInt = Field(
        default_factory=lambda known: 86_400 if known.get("kind") in QUEUES else 300, ge=1
    )
    address: str | None = None
    scheduler_file: str | None = None
    options: Annotated[dict[str, Any], BeforeValidator(_texts)] = Field(default_factory=dict)

    @property
    def workers_here(self) -> int:
        """The number of processes on this machine that run tasks; 0 if tasks run elsewhere."""
        if self.kind not in HERE:
            return 0
        return 1 if self.kind == "serial" else self.workers

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        needs = f'cluster.kind = "{self.kind}" needs cluster.'
        key = {"address": "address", "scheduler-file": "scheduler_file"}.get(self.kind)
        if key and getattr(self, key) is None:
            raise ValueError(f"{needs}{key}")
        if self.kind in (*QUEUES, "slurm-runner") and self.options.get("interface") is None:
            raise ValueError(
                f"{needs}options.interface, the network that its nodes share, such as "
                '"eth0" or "ib0"; "lo" for one'
            )
        if "processes" in self.options:
            raise ValueError(
                "unknown key cluster.options.processes; a job is one worker, and cluster.workers "
                "says how many there are"
            )
        return self


TABLES: dict[str, type[Table]] = {
    "search": SearchTable,
    "store": StoreTable,
    "cluster": ClusterTable,
    **KIND_TABLES,
}
"""The schemas of a config's tables by name; the [puzzle] table has one schema for each kind of
puzzle."""


def default_memory(kind: str, workers: int) -> ByteSize:
    """Return the bytes that each worker may take if the config does not set them."""
    if kind in HERE:
        return ByteSize(machine.memory() * MEMORY_SHARE[0] // MEMORY_SHARE[1] // workers)
    return ByteSize(MEMORY)


CONFIG_BYTES = 1 << 20
"""The greatest size of a config file, in bytes."""


RESUMING = {
    "search": {"keep", "spare", "until", "in_memory"},
    "store": {"codec", "fsync"},
    "cluster": {"kind", "workers", "memory"},
}
"""The keys of a config that a run stores, so that its directory is enough to resume it."""


def _name(name: str) -> str:
    """Check that a name is valid for a directory on every system and needs no quotes in a shell."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise ValueError(
            f"name = {name!r}: a name has letters from a to z or A to Z, digits, dots, hyphens "
            "and underscores, no spaces; it begins with a letter or a digit and has at most 100 "
            "characters"
        )
    return name


class Config(Table):
    """A whole config; docs/reference/config.md explains each key."""

    name: Annotated[str, AfterValidator(_name)]
    puzzle: PuzzleTable
    search: SearchTable = SearchTable()
    store: StoreTable = StoreTable()
    cluster: ClusterTable = Field(default_factory=ClusterTable)
    _checked: list[Puzzle] = PrivateAttr(default_factory=list)
    """The puzzles of its members, held so that `puzzle_of` does not make them again."""

    def __repr__(self) -> str:
        puzzle = self.model_dump(include={"puzzle"}, exclude_none=True)["puzzle"]
        said = ", ".join(f"{key} = {value!r}" for key, value in puzzle.items())
        return f"<Config {self.name}: {said}; {self.path}>"

    @property
    def storage(self) -> Storage:
        """The storage of the run's files."""
        return storage_at(self.store.path or f"runs/{self.name}").absolute()

    @property
    def path(self) -> Path | str:
        """The run directory, or its URL."""
        return self.storage.path

    @property
    def from_every_blank(self) -> bool:
        """True if the config asks for a search of the tile puzzle from every blank cell."""
        return isinstance(self.puzzle, TilesTable) and self.puzzle.blank == "all"

    @property
    def members(self) -> list["Config"]:
        """The configs of the runs that this config describes: itself, or a family.

        A tile puzzle from every blank cell is a family: one run for each orbit of cells under the
        board's symmetries, each in its own directory. A family may have a single orbit.
        """
        if not self.from_every_blank:
            return [self]
        return [
            self.model_copy(
                update={
                    "name": f"{self.name}-{name}",
                    "puzzle": self.puzzle.model_copy(update={"blank": blank}),
                    "store": self.store.model_copy(update={"path": str(self.storage.below(name))}),
                }
            )
            for name, blank in member_names(self.puzzle_settings).items()
        ]

    def refuse_family(self, remedy: str) -> None:
        """Raise InputError, with a remedy, if this config describes a family."""
        if self.from_every_blank:
            names = ", ".join(member.name for member in self.members)
            raise InputError(f"{self.name} is several runs, {names}: {remedy}")

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The tables needed to resume a run, without the place where it runs."""
        return self.model_dump(mode="json", include=RESUMING, exclude_none=True)

    @property
    def is_kept(self) -> bool:
        """True if a run's directory stores all keys that are set here, so that it is enough to
        resume the run."""
        tables = self.model_dump(include={*RESUMING}, exclude_unset=True)
        tables.get("store", {}).pop("path", None)
        return self.cluster.kind in HERE and all(
            table.keys() <= RESUMING[name] for name, table in tables.items()
        )

    def make_puzzle(self) -> Puzzle:
        return puzzle_of(self.puzzle_settings)

    @property
    def puzzle_settings(self) -> dict[str, Any]:
        return self.puzzle.model_dump(exclude_none=True)


def member_names(puzzle: dict[str, Any]) -> dict[str, list[int]]:
    """Return the names of the runs of a tile puzzle from all blank cells, and the cell of each,
    [row, column]. The result is empty for other kinds of puzzles."""
    if puzzle["kind"] != "tiles":
        return {}
    orbits = Grid.checked(puzzle["rows"], puzzle["columns"], MOST_CELLS).blank_orbits()
    return {f"blank-{row}-{column}": [row, column] for row, column in orbits}


def load_config(path: str | Place, settings: str | Sequence[str] = ()) -> Config:
    """Read and check a config file, or another program's definition of a puzzle.

    Parameters
    ----------
    path
        A TOML file, or a file in a format of `frontier.puzzles.formats`, which gives the run its
        name. Also the bare name of a config that comes with the program, such as "2x5". settings
        One override ``key=value``, or several. Keys are dotted; values are TOML, or bare words,
        which are strings.

    Returns
    -------
    Config
        The config, with its puzzle checked.

    Raises
    ------
    InputError
        If a value cannot be used.
    """
    file = storage_at(bundled.place_of(path))
    settings = (settings,) if isinstance(settings, str) else tuple(settings)
    try:
        # TOML is UTF-8; editors may add a BOM.
        text = file.read("", CONFIG_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{file}: no such config file; {bundled.remedy(file.name)}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as a config: {why_unreadable(error)}") from None
    if (puzzle := formats.puzzle_table(text, str(file))) is not None:
        values = {"name": formats.name_of(file.name), "puzzle": puzzle}
        return checked_config(values, str(file), settings)
    try:
        values = tomllib.loads(text)
    # Tables may be nested too deeply, and numbers may be too long, for Python.
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{file} is not valid TOML: {error}. Besides TOML, {formats.KNOWN} are read"
        ) from None
    return checked_config(values, str(file), settings)


def make_config(
    name: str,
    puzzle: Mapping[str, Any],
    search: Mapping[str, Any] | None = None,
    store: Mapping[str, Any] | None = None,
    cluster: Mapping[str, Any] | None = None,
) -> Config:
    """Make a config from Python values: its tables are mappings with the keys of a config file.

    Parameters
    ----------
    name
        The name of the run.
    puzzle
        A table as in docs/reference/puzzles.md, for example from `define_puzzle`.
    search
        How to search; docs/reference/config.md has the keys of this table and the next two. store
        Where to keep the run. Paths may be `Path` objects.
    cluster
        Where to run tasks.

    Returns
    -------
    Config
        The config, with its puzzle checked.

    Raises
    ------
    InputError
        If a value cannot be used.
    """
    tables = {"puzzle": puzzle, "search": search, "store": store, "cluster": cluster}
    tables_given = {key: table for key, table in tables.items() if table is not None}
    source = f"config {name!r}"
    return checked_config(as_written({"name": name, **tables_given}, source), source)


def checked_config(values: dict[str, Any], source: str, settings: tuple[str, ...] = ()) -> Config:
    """Return the config of these tables, after making its puzzles and checking that their starts
    reach a goal.

    settings: overrides, which change `values`. Raises InputError, beginning with `source` unless
    the schema refuses an override.
    """
    for setting in settings:
        _override(values, setting)
    config = config_of(values, source, settings)
    with _naming(source):
        config._checked = [member.make_puzzle() for member in config.members]
        for puzzle in config._checked:
            puzzle.check()
    return config


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Put `source` before the message of an InputError in the body."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None


def config_of(values: dict[str, Any], source: str, settings: tuple[str, ...] = ()) -> Config:
    """Return the config of these tables, checked only against the schema; raises InputError as
    `checked_config` does."""
    overridden = tuple(f"{setting.partition('=')[0].strip()}." for setting in settings)

    def begin(*keys: str) -> str:
        keys = tuple(f"{key}." for key in keys)
        overrides = (
            any(of.startswith(key) or key.startswith(of) for of in overridden) for key in keys
        )
        return "" if all(overrides) else f"{source}: "

    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        errors = [e for e in error.errors() if e["type"] != "default_factory_not_called"]
        said = begin(*map(_key_of, errors)) + "; ".join(map(_complaint, errors))
        raise InputError(said) from None
    try:
        SlabCodec(config.store.codec)
    except InputError as error:
        raise InputError(f"{begin('store.codec')}{error}") from None
    return config


def _override(values: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    *tables, last = key.strip().split(".")
    if not equals or not last:
        raise InputError(f'--set {setting}: expected key=value, such as store.codec="zstd:1"')
    value = _value_of(text)
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise InputError(f"--set {setting}: {table} is a value, not a table")
    values[last] = value


def _value_of(text: str) -> Any:
    """Return the value of an override: the value of its TOML, or the text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    return parsed["value"] if set(parsed) == {"value"} else text.strip()


def setting_of(key: str, value: int | str) -> str:
    """Return the override ``key=value``; a text stays text, even if it looks like TOML."""
    text = str(value)
    return f"{key}={text if _value_of(text) == value else json.dumps(value)}"


def _homes_of(name: str, where: str) -> list[str]:
    """Return the dotted keys of a misplaced name, found at `where`, in the tables that allow it."""
    keys = (
        f"{'puzzle' if table in KIND_TABLES else table}.{name}"
        for table, schema in TABLES.items()
        if name in schema.model_fields
    )
    return [key for key in dict.fromkeys(keys) if key != where]


def _key_of(error: ErrorDetails) -> str:
    """Return the dotted key of a schema error."""
    return ".".join(str(part) for part in error["loc"] if part not in KIND_TABLES)


def _complaint(error: ErrorDetails) -> str:
    """Return a sentence for a schema error."""
    location, key = [str(part) for part in error["loc"]], _key_of(error)
    if error["type"] == "extra_forbidden":
        schema: type[Table] = TABLES[location[-2]] if len(location) > 1 else Config
        keys = list(schema.model_fields)
        near = difflib.get_close_matches(location[-1], keys, 1, cutoff=0.5)
        near = _homes_of(location[-1], key) or near
        hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(keys))}"
        if location[:-1] == ["cluster"]:
            hint += "; requests to a queue go into cluster.options (docs/reference/clusters.md)"
        return f"unknown key {key}{hint}"
    if error["type"] == "missing":
        return f"{key} is missing"
    if error["type"] == "union_tag_not_found":
        return f"{key}.kind is missing; known: {', '.join(KIND_TABLES)}"
    if error["type"] == "union_tag_invalid":
        return f"{key}.kind = {error['ctx']['tag']!r}; known: {', '.join(KIND_TABLES)}"
    if error["type"] in ("model_type", "model_attributes_type", "dict_type"):
        such = ' with kind = "tiles"' if key == "puzzle" else ""
        return f"{key} = {error['input']!r}: it is a table of keys, such as [{key}]{such}"
    if error["type"].startswith("byte_size"):
        return f"{key} = {error['input']!r}: {A_SIZE}"
    if error["type"] == "value_error":
        prefix = f"{key} = {error['input']!s}: " if len(location) > 1 else ""
        return f"{prefix}{error['ctx']['error']}"
    return f"{key} = {error['input']!r}: {error['msg'][0].lower()}{error['msg'][1:]}"
