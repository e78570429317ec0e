"""Whether a run is the one that a config describes."""

from frontier.errors import InputError
from frontier.store.run import RunStore


def check_identity(run: RunStore, identity: dict) -> None:
    """InputError unless what `identity` says of a run, name and title aside, holds of this one."""
    here = _dotted(identity)
    there = _dotted({key: run.identity[key] for key in identity})
    differences = [
        ", ".join(
            f"{where} {key} = {values[key]!r}" if key in values else f"{where} no {key}"
            for where, values in (("there", there), ("here", here))
        )
        for key in there | here
        if there.get(key) != here.get(key)
    ]
    if differences:
        raise InputError(
            f"{run.path} was made by another config: {'; '.join(differences)}. Choose another "
            "directory (store.path), or delete the old run with run --fresh"
        )


def same_puzzle(one: dict, other: dict) -> bool:
    """Whether two [puzzle] tables say the same, their titles aside."""
    return {**one, "title": None} == {**other, "title": None}


def _dotted(identity: dict) -> dict:
    """The values with their keys as a config names them, such as puzzle.goal; what they are called
    does not matter."""
    dotted = {}
    for key, value in identity.items():
        if isinstance(value, dict):
            dotted |= {f"{key}.{inner}": of for inner, of in value.items()}
        else:
            dotted[key] = value
    return {key: value for key, value in dotted.items() if key not in ("name", "puzzle.title")}
