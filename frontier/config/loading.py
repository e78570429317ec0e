"""The config of a run: a TOML file checked against a schema, with overrides from the command line.

Every error names the key, its value, the allowed values and, for an unknown key, the nearest known
key. Checking creates no files.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError

from frontier.codec.codecs import SlabCodec
from frontier.config import bundled
from frontier.config.complaints import Source, complaints
from frontier.config.schema import HERE, ClusterTable, SearchTable, StoreTable
from frontier.errors import InputError, path_error, why_unreadable
from frontier.puzzles import Puzzle, formats, puzzle_of
from frontier.puzzles.grid import Grid
from frontier.puzzles.program_file import read_program
from frontier.puzzles.settings import PuzzleTable, Table, TilesTable
from frontier.puzzles.tiles import MOST_CELLS
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at
from frontier.values import as_written

CONFIG_SUFFIXES = (".toml", *formats.SUFFIXES)
"""The usual endings of the name of a config. The content shows the format."""


CONFIG_BYTES = 1 << 20
"""The greatest size of a config file, in bytes."""


MOST_PARTS = 32
DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]+[ \t]*\.[ \t]*){{{MOST_PARTS}}}""")
"""The beginning of a key of more parts, for which reading TOML takes time quadratic in their
number."""


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

    def __hash__(self) -> int:
        return hash(self.name)  # tables have lists, which cannot be hashed

    def __repr__(self) -> str:
        puzzle = self.model_dump(include={"puzzle"}, exclude_none=True)["puzzle"]
        shown = (key for key in puzzle if key not in ("text", "stated"))
        said = ", ".join(f"{key} = {puzzle[key]!r}" for key in shown)
        return f"<Config {self.name}: {said}; {self.path}>"

    @property
    def storage(self) -> Storage:
        """The storage of the run's files."""
        path = self.store.path
        return storage_at(f"runs/{self.name}" if path is None else path).absolute()

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
        """True if a run's directory stores all keys that are set here, so that the directory is
        enough to resume the run."""
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


def known_depth(config: "Config") -> int | None:
    """Return the depth of the last layer if the config that comes with the program under this name
    has the same puzzle and gives the depth; otherwise None."""
    if config.name not in bundled.names():
        return None
    found = re.search(r"states, (\d+) moves", bundled.title_of(config.name))
    known = config_of(tomllib.loads(bundled.text_of(config.name)), config.name)
    return int(found[1]) if found and known.puzzle_settings == config.puzzle_settings else None


def load_config(path: str | Place, settings: str | Sequence[str] = ()) -> Config:
    """Read and check a config file, or another program's definition of a puzzle.

    Parameters
    ----------
    path
        A TOML file; a file in a format of `frontier.puzzles.formats`, after which the run is named;
        or the bare name of a config that comes with the program, such as "2x5".
    settings
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
        message = f"{file} cannot be read as a config: {why_unreadable(error)}"
        raise path_error(message, error) from None
    if (puzzle := formats.puzzle_table(text, str(file))) is not None:
        values = {"name": formats.name_of(file.name), "puzzle": puzzle}
        return checked_config(values, str(file), settings)
    if DEEP_KEY.search(text):
        raise InputError(
            f"{file} has a key of more than {MOST_PARTS} parts; a config has no such key"
        )
    try:
        values = tomllib.loads(text)
    # Tables may be nested too deeply, and numbers may be too long, for Python.
    except (ValueError, RecursionError) as error:
        others = "" if file.name.endswith(".toml") else f". Besides TOML, {formats.KNOWN} are read"
        raise InputError(f"{file} is not valid TOML: {error}{others}") from None
    return checked_config(values, str(file), settings, text, Path(str(file)).parent)


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
        How to search; docs/reference/config.md has the keys of this table and the next two.
    store
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
    values = as_written({"name": name, **tables_given}, source)
    return checked_config(values, source, folder=Path())


def checked_config(
    values: dict[str, Any],
    name: str,
    settings: tuple[str, ...] = (),
    text: str = "",
    folder: Path | None = None,
) -> Config:
    """Return the config of these tables, after making its puzzles and checking that their starts
    reach a goal.

    name: the file of the config, or a phrase. settings: overrides, which change `values`. text: the
    TOML of the file. folder: the directory from which the path of a program counts; None for tables
    that a run has stored. Raises InputError, beginning with `name` and the line unless the schema
    refuses an override.
    """
    for setting in settings:
        _override(values, setting)
    table = values.get("puzzle")
    if folder is not None and isinstance(table, dict) and table.get("kind") == "program":
        with _naming(Source(name, text, settings)):
            values["puzzle"] = read_program(table, folder)
    config = config_of(values, name, settings, text)
    with _naming(Source(name, text, settings)):
        config._checked = [member.make_puzzle() for member in config.members]
        for puzzle in config._checked:
            puzzle.check()
    return config


@contextmanager
def _naming(source: Source) -> Iterator[None]:
    """Put the source before the message of an InputError in the body, with the line of the key with
    which the message begins."""
    try:
        yield
    except InputError as error:
        key = re.match(r"\w+(\.[\w-]+)+", str(error))
        line = source.line(key[0]) if key else ""
        raise type(error)(f"{source.name}{', ' if line else ''}{line}: {error}") from None


def config_of(
    values: dict[str, Any], name: str, settings: tuple[str, ...] = (), text: str = ""
) -> Config:
    """Return the config of these tables, checked only against the schema; the parameters and errors
    are those of `checked_config`."""
    source = Source(name, text, settings)
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        errors = [e for e in error.errors() if e["type"] != "default_factory_not_called"]
        raise InputError(complaints(errors, Config, source)) from None
    try:
        SlabCodec(config.store.codec)
    except InputError as error:
        raise InputError(f"{source.begin('store.codec')}{error}") from None
    return config


def _override(values: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    *tables, last = key.strip().split(".")
    if not equals or not last:
        raise InputError(f'setting {setting}: expected key=value, such as store.codec="zstd:1"')
    value = _value_of(text)
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise InputError(f"setting {setting}: {table} is a value, not a table")
    values[last] = value


def _value_of(text: str) -> Any:
    """Return the value of an override: the value of the text as TOML, or the text itself."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    return parsed["value"] if set(parsed) == {"value"} else text.strip()


def setting_of(key: str, value: int | str) -> str:
    """Return the override ``key=value``; a text stays text, even if it looks like TOML."""
    text = str(value)
    return f"{key}={text if _value_of(text) == value else json.dumps(value)}"
