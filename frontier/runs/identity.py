"""The identity of a run: what ``run.json`` says about it, and whether a config describes it.

    format, kind           1, and "layers" or "cosets"
    identifier, created    what distinguishes the run from an earlier one at its place
    name, puzzle           as in the config
    ...                    what the kind of run adds; see its `StoredRun.schema`

The file has a copy (`frontier.runs.copies`). Neither is written again.
"""

from itertools import zip_longest
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictInt, ValidationError

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.puzzles.settings import PuzzleTable, Table
from frontier.runs.copies import RUN
from frontier.runs.kinds import KINDS
from frontier.storage.base import Storage
from frontier.storage.places import Place
from frontier.storage.sealed import Moment, first_wrong, read_json, read_sealed
from frontier.text import near, program

FORMAT = 1


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"expected one of {', '.join(KINDS)}")
    return kind


class Identity(Table):
    """The content of ``run.json`` for all kinds of runs."""

    format: StrictInt
    kind: Annotated[str, AfterValidator(_known)]
    identifier: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    created: Moment
    name: Annotated[str, Field(pattern="^[A-Za-z0-9._-]+$", max_length=200)]
    puzzle: PuzzleTable


def read_identity(storage: Storage, name: str = RUN, schema: type[Identity] | None = None) -> dict:
    """Return the content of ``run.json``, or of its copy.

    schema: what the kind of run requires; None to read the kind itself. Raises FormatError if its
    format is not `FORMAT`, CorruptRunError if no run wrote the file.
    """
    identity, file = read_json(storage, name), storage.place(name)
    if not isinstance(identity, dict) or type(identity.get("format")) is not int:
        raise CorruptRunError(f"{file} is corrupt")
    if (format := identity["format"]) != FORMAT:
        raise FormatError(
            f"{file} has format {format}, and this program reads format {FORMAT}: use the version "
            "that wrote it, or start a new search in another directory"
        )
    identity = read_sealed(storage, name)
    if str(identity.get("kind")) not in KINDS:
        schema = Identity
    try:
        if schema:
            schema.model_validate(identity)
    except ValidationError as error:
        message = f"{file} is corrupt: {first_wrong(error)}"
        raise CorruptRunError(message) from None
    return identity


KEPT_ALL = "there keep = 'all', here keep = 'frontier'"
"""The difference of a run that keeps all layers from its config."""

SEEN_ALONE: dict[str, Any] = {
    "title": None, "picture": None, "symbols": {}, "colours": {}, "file": None,
}  # fmt: skip
"""The keys of a [puzzle] table that may change after a run has begun, because they affect only the
display. A program is known by its text, wherever its file is."""


def check_identity(path: Place, identity: dict, expected: dict) -> None:
    """Raise InputError unless the identity of the run at `path` has the values of `expected`.

    Names, and the keys in `SEEN_ALONE`, are not compared.
    """
    ours = _dotted(expected)
    stored = _dotted({key: identity[key] for key in expected})
    if (here := ours.get("puzzle.text")) and here != (there := stored.get("puzzle.text", "")):
        raise InputError(
            f"{path} was made by another text of {expected['puzzle']['file']}: "
            f"{_changed(there, here)}. Put the text back to resume that run, or choose another "
            "store.path to begin anew"
        )
    changed = [key for key in stored | ours if stored.get(key) != ours.get(key)]
    if len(changed) > 1 and "puzzle.stated" in changed:  # it follows from the others
        changed.remove("puzzle.stated")
    differences = [
        ", ".join(
            f"{where} {key} = {values[key]!r}" if key in values else f"{where} no {key}"
            for where, values in (("there", stored), ("here", ours))
        )
        for key in changed
    ]
    if set(differences) == {KEPT_ALL}:
        raise InputError(
            f"{path} holds a run that keeps all layers, but the config keeps only the last ones; "
            f"resume the run by its directory (`{program()} run {near(str(path))}`), or set "
            'search.keep = "all"'
        )
    if differences:
        resume = f"{program()} {KINDS[identity['kind']].command} {near(str(path))}"
        raise InputError(
            f"{path} was made by a different config: {'; '.join(differences)}. Resume that run by "
            f"its directory (`{resume}`), or choose another store.path"
        )


def _changed(there: str, here: str) -> str:
    """Return the first line in which two texts differ, in words."""
    lines = zip_longest(there.splitlines(), here.splitlines())
    at, (old, new) = next((i, pair) for i, pair in enumerate(lines, 1) if pair[0] != pair[1])
    gone, *both = (f"`{line.strip()}`" if line is not None else "nothing" for line in (old, new))
    return f"line {at} is {both[0]}, and was {gone}"


def same_puzzle(one: dict, other: dict) -> bool:
    """Return whether two [puzzle] tables are the same, apart from `SEEN_ALONE`."""
    return {**one, **SEEN_ALONE} == {**other, **SEEN_ALONE}


def _dotted(identity: dict) -> dict:
    """Return the values under the names that a config gives their keys, such as puzzle.goal,
    without the name of the run and the keys in `SEEN_ALONE`."""
    dotted: dict[str, Any] = {}
    for key, value in identity.items():
        if isinstance(value, dict):
            dotted |= {f"{key}.{inner}": of for inner, of in value.items()}
        else:
            dotted[key] = value
    ignored = {"name", *(f"puzzle.{key}" for key in SEEN_ALONE)}
    return {key: value for key, value in dotted.items() if key not in ignored}
