"""A run's config: a TOML file checked against a schema, with overrides from the command line.

Every complaint names the key, its value, what is allowed and, for an unknown key, the nearest
known one. Checking creates nothing.
"""

import difflib
import os
import tomllib
from pathlib import Path
from typing import Literal

import psutil
from pydantic import (
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    model_validator,
)

from frontier.errors import InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.store.codecs import ChunkCodec

Board = list[list[StrictInt]]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PuzzleTable(_Table):
    """[puzzle]"""

    kind: Literal["tiles"]
    rows: StrictInt = Field(ge=1)
    columns: StrictInt = Field(ge=1)
    goal: Board | None = None
    start: Board | None = None


class SearchTable(_Table):
    """[search]"""

    keep: Literal["frontier", "all"] = "frontier"
    until: StrictInt | None = Field(default=None, ge=0)


class StoreTable(_Table):
    """[store]"""

    path: str | None = None
    codec: str = "lz4"


class ClusterTable(_Table):
    """[cluster]"""

    kind: Literal["local", "serial", "address", "scheduler-file"] = "local"
    workers: StrictInt = Field(
        default_factory=lambda: len(os.sched_getaffinity(0)), ge=1, le=100_000
    )
    memory: ByteSize = Field(default_factory=lambda: _default_memory())
    address: str | None = None
    scheduler_file: str | None = None

    @model_validator(mode="after")
    def _place_is_named(self):
        for kind, key in (("address", "address"), ("scheduler-file", "scheduler_file")):
            if self.kind == kind and getattr(self, key) is None:
                raise ValueError(f'cluster.kind = "{kind}" needs cluster.{key}')
        return self


def _default_memory() -> ByteSize:
    """1.5 GB a worker, or less where the machine has less than that for each processor."""
    share = psutil.virtual_memory().total * 0.7 / len(os.sched_getaffinity(0))
    return ByteSize(min(1_500_000_000, int(share)))


class Config(_Table):
    """A whole config; README.md says what each key means."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    puzzle: PuzzleTable
    search: SearchTable = SearchTable()
    store: StoreTable = StoreTable()
    cluster: ClusterTable = Field(default_factory=ClusterTable)

    @property
    def path(self) -> Path:
        """The run directory."""
        return Path(self.store.path or f"runs/{self.name}").absolute()

    def make_puzzle(self) -> Puzzle:
        return puzzle_of(self.puzzle_settings)

    @property
    def puzzle_settings(self) -> dict:
        return self.puzzle.model_dump(exclude_none=True)


def load_config(path: str | Path, settings: tuple[str, ...] = ()) -> Config:
    """Read and check a config file.

    settings: overrides ``key=value`` with dotted keys, values in TOML (bare words are strings).
    InputError for anything that cannot be used.
    """
    path = Path(path)
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise InputError(f"{path}: no such config file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a config: {error}") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    for setting in settings:
        _override(values, setting)
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: " + "; ".join(map(_complaint, error.errors()))) from None
    ChunkCodec(config.store.codec)
    config.make_puzzle()
    return config


def _override(values: dict, setting: str) -> None:
    key, equals, text = setting.partition("=")
    *tables, last = key.strip().split(".")
    if not equals or not last:
        raise InputError(f'--set {setting}: expected key=value, such as store.codec="zstd:1"')
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        parsed = {}
    value = parsed["value"] if set(parsed) == {"value"} else text.strip()
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise InputError(f"--set {setting}: {table} is a value, not a table")
    values[last] = value


def _complaint(error: dict) -> str:
    """One sentence for one error of the schema."""
    location = [str(part) for part in error["loc"]]
    key = ".".join(location)
    if error["type"] == "extra_forbidden":
        known = _known_keys(location[:-1])
        near = difflib.get_close_matches(location[-1], known, 1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(known))}"
        return f"unknown key {key}{hint}"
    if error["type"] == "missing":
        return f"{key} is missing"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"{key} = {error['input']!r}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _known_keys(tables: list[str]) -> list[str]:
    model = Config
    for table in tables:
        model = model.model_fields[table].annotation
    return list(model.model_fields)
