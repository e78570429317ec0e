"""The tables of a config beside [puzzle]: their keys, values and defaults."""

from datetime import time
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)

from frontier import machine
from frontier.puzzles.settings import KIND_TABLES, Table
from frontier.values import size_written


class SearchTable(Table):
    """[search]"""

    keep: Literal["frontier", "all"] = "frontier"
    spare: StrictInt = Field(default=0, ge=0, le=1000)
    until: StrictInt | None = Field(default=None, ge=0)
    in_memory: StrictBool = True


def _place(text: str) -> str:
    if not text.strip():
        raise ValueError("an empty text names no place; name one, or omit the key")
    if "\0" in text:
        raise ValueError("a path has no NUL in it")
    return text


PlaceText = Annotated[str, AfterValidator(_place)]
"""A path, a URL or an address. It is never blank: a script whose variable is unset must not get the
default instead."""


class StoreTable(Table):
    """[store]"""

    path: PlaceText | None = None
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
    address: PlaceText | None = None
    scheduler_file: PlaceText | None = None
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
        for option, value in self.options.items():
            if isinstance(value, str) and not value.strip():
                raise ValueError(f"cluster.options.{option} = {value!r}: set it, or omit the key")
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
