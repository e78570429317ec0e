"""The identity of a run: what ``run.json`` says of it, and whether a config describes it."""

from contextlib import suppress
from typing import Annotated, Literal

from pydantic import Field, StrictInt, ValidationError

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.puzzles.tables import REMOVED_KINDS, PuzzleTable, Table
from frontier.storage.base import Storage
from frontier.storage.places import Place, storage_at
from frontier.storage.sealed import first_wrong, read_json, read_sealed

FORMAT = 5


class LayoutTable(Table):
    """The settings of a `Layout`."""

    prefix_digits: StrictInt = Field(ge=0)
    task_nodes: StrictInt = Field(ge=1)
    shares: StrictInt = Field(default=1, ge=1)


class Identity(Table):
    """The content of ``run.json``."""

    format: StrictInt
    identifier: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    created: float = Field(ge=0, strict=True, allow_inf_nan=False)
    name: Annotated[str, Field(pattern="^[A-Za-z0-9._-]+$", max_length=200)]
    puzzle: PuzzleTable
    keep: Literal["frontier", "all"]
    codec: str
    layout: LayoutTable
    states: StrictInt = Field(ge=1)


GODS_NUMBER = "gods-number"
"""The `kind` in the ``run.json`` of a search of God's number."""


def kind_at(place: Place) -> str | None:
    """Return the command whose results a directory holds, as its ``run.json`` says.

    None stands for a run by layers, or for no ``run.json``. If it is damaged, the folder of tables
    tells a search of God's number.
    """
    storage = storage_at(place)
    with suppress(CorruptRunError):
        identity = read_json(storage, "run.json")
        return identity.get("kind") if isinstance(identity, dict) else None
    return GODS_NUMBER if storage.is_folder("tables") else None


def read_identity(storage: Storage) -> dict:
    """Return the content of ``run.json``.

    Raises FormatError if its format or its kind of puzzle is not ours, CorruptRunError if it is not
    what a run has written.
    """
    identity, file = read_json(storage, "run.json"), storage.place("run.json")
    if not isinstance(identity, dict) or type(identity.get("format")) is not int:
        raise CorruptRunError(f"{file} is not what was written there")
    if kind := identity.get("kind"):
        raise InputError(
            f"{storage} holds no run by layers, but what the command {kind} has found: {kind} "
            "goes on with it; status, farthest and verify tell of it"
        )
    if (format := identity["format"]) != FORMAT:
        remedy = "install a newer frontier" if format > FORMAT else "use the version that wrote it"
        raise FormatError(
            f"{file} has format {format}, this program reads format {FORMAT}: {remedy}"
        )
    identity = read_sealed(storage, "run.json")
    puzzle = identity.get("puzzle")
    if isinstance(puzzle, dict) and (instead := REMOVED_KINDS.get(str(puzzle.get("kind")))):
        raise FormatError(
            f"{file} has puzzle.kind = {puzzle['kind']!r}, which this program no longer has: "
            f"{instead}; use the version that wrote it, or search anew"
        )
    try:
        layout = Identity.model_validate(identity).layout
    except ValidationError as error:
        message = f"{file} is not what was written there: {first_wrong(error)}"
        raise CorruptRunError(message) from None
    # Older runs do not say how many tasks share siblings; it is one in all of them.
    return {**identity, "layout": layout.model_dump()}


SEEN_ALONE = {"title": None, "picture": None}
"""The keys of a [puzzle] table that may change after a run has begun: only people see them."""


def check_identity(path: Place, identity: dict, expected: dict) -> None:
    """Raise InputError unless the identity of the run at `path` has the values of `expected`.

    Names, titles and pictures are not compared.
    """
    ours = _dotted(expected)
    stored = _dotted({key: identity[key] for key in expected})
    differences = [
        ", ".join(
            f"{where} {key} = {values[key]!r}" if key in values else f"{where} no {key}"
            for where, values in (("there", stored), ("here", ours))
        )
        for key in stored | ours
        if stored.get(key) != ours.get(key)
    ]
    if differences:
        raise InputError(
            f"{path} was made by another config: {'; '.join(differences)}. Choose another "
            "directory with --set store.path=…, or move this one away"
        )


def same_puzzle(one: dict, other: dict) -> bool:
    """Return whether two [puzzle] tables are the same, apart from `SEEN_ALONE`."""
    return {**one, **SEEN_ALONE} == {**other, **SEEN_ALONE}


def _dotted(identity: dict) -> dict:
    """Return the values with their keys as a config names them, such as puzzle.goal, without the
    name of the run and what of its puzzle is in `SEEN_ALONE`."""
    dotted = {}
    for key, value in identity.items():
        if isinstance(value, dict):
            dotted |= {f"{key}.{inner}": of for inner, of in value.items()}
        else:
            dotted[key] = value
    ignored = {"name", *(f"puzzle.{key}" for key in SEEN_ALONE)}
    return {key: value for key, value in dotted.items() if key not in ignored}
