"""Puzzles in the kpuzzle format of cubing.js and twips (https://github.com/cubing), in JSON.

* ``name``: the title.
* ``orbits``: sets of pieces, each with its ``orbitName``, ``numPieces`` and ``numOrientations``.
* ``defaultPattern``: the solved puzzle; for each orbit the ``pieces`` in its places, counted from
  0, and their ``orientation``. An ``orientationMod`` of 1 says that a piece may have any
  orientation, and 0 that it may not.
* ``moves``: for each move and orbit a ``permutation``, the place from which the piece in each place
  comes, and the ``orientationDelta``, how far the piece that ends in each place is turned. An orbit
  that is left out does not move.
* ``derivedMoves``: moves written as sequences of other moves.

The reader ignores other keys, which say nothing about positions and moves.
"""

import json
from dataclasses import replace

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.formats.definition import (
    MOST_PIECES,
    WILD,
    Definition,
    PieceSet,
    whole_number,
)
from frontier.puzzles.sequences import effect_of
from frontier.text import counted


def is_definition(text: str) -> bool:
    """Return whether a text is JSON."""
    return text.lstrip().startswith("{")


def read_definition(text: str, file: str) -> Definition:
    """Return the definition in a text; raises InputError, whose message begins with `file` and the
    key, for anything that is not in this format or not supported."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not valid JSON: {error}") from None
    definition = Definition(name=content.get("name"))
    if not isinstance(definition.name, str | None):
        raise InputError(f"{file}: name = {definition.name!r}: expected text")
    for number, orbit in enumerate(_part(content, "orbits", list, f"{file}: ")):
        at = f"{file}: orbits.{number}."
        name = _part(orbit, "orbitName", str, at)
        if not name or name in definition.sets:
            raise InputError(f"{at}orbitName = {name!r}: each orbit needs a name of its own")
        sizes = (
            whole_number(_part(orbit, key, int, at), f"{at}{key}: ", 1, MOST_PIECES)
            for key in ("numPieces", "numOrientations")
        )
        definition.add_set(name, *sizes)
    if not definition.sets:
        raise InputError(f"{file}: orbits = []: every puzzle needs pieces")
    _read_solved(definition, _part(content, "defaultPattern", dict, f"{file}: "), file)
    moves = _part(content, "moves", dict, f"{file}: ")
    for name, move in moves.items():
        at = f"{file}: moves.{name}."
        keys = "permutation", "orientationDelta"
        definition.add_move(name, *_arrangement(definition, move, keys, at, None), at[:-1])
    derived = _part(content, "derivedMoves", dict, f"{file}: ") if "derivedMoves" in content else {}
    _add_derived(definition, derived, file)
    return definition


def _read_solved(definition: Definition, pattern: dict, file: str) -> None:
    """Read the solved puzzle."""
    at, keys = f"{file}: defaultPattern.", ("pieces", "orientation")
    pieces, definition.turns = _arrangement(definition, pattern, keys, at, MOST_PIECES)
    definition.pieces = pieces + 1
    for of in definition.sets.values():
        if "orientationMod" not in pattern.get(of.name, {}):
            continue
        for place, mod in enumerate(
            _numbers(pattern[of.name], "orientationMod", of, MOST_PIECES, f"{at}{of.name}.")
        ):
            if mod not in (0, 1, of.orientations):
                raise InputError(
                    f"{at}{of.name}.orientationMod: {mod} is not supported: use 0 or "
                    f"{of.orientations} if the orientation counts, and 1 if it does not"
                )
            if mod == 1:
                definition.turns[of.first + place] = WILD


def _arrangement(
    definition: Definition, given, keys: tuple[str, str], at: str, most: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[positions] numbers of pieces or places, counted from 0 in each set, and
    int64[positions] turns.

    keys: the keys of the numbers and the turns of each orbit. most: the greatest number allowed, by
    default the number of the last place.
    """
    if not isinstance(given, dict):
        raise InputError(f"{at[:-1]} = {given!r}: expected an object")
    if unknown := [name for name in given if name not in definition.sets]:
        known = ", ".join(definition.sets)
        raise InputError(f"{at}{unknown[0]}: the orbits are {known}")
    numbers: list[int] = []
    turns: list[int] = []
    for name, of in definition.sets.items():
        if name not in given:
            numbers += range(of.size)
            turns += [0] * of.size
            continue
        greatest = of.size - 1 if most is None else most
        inside = f"{at}{name}."
        numbers += _numbers(given[name], keys[0], of, greatest, inside)
        turns += _numbers(given[name], keys[1], of, of.orientations - 1, inside)
    return np.array(numbers, dtype=np.int64), np.array(turns, dtype=np.int64)


def _numbers(given, key: str, of: PieceSet, most: int, at: str) -> list[int]:
    """Return the numbers of an orbit, one for each place."""
    values = _part(given, key, list, at)
    if len(values) != of.size:
        raise InputError(f"{at}{key}: expected {counted(of.size, 'number')}")
    return [whole_number(value, f"{at}{key}: ", 0, most) for value in values]


def _add_derived(definition: Definition, derived: dict, file: str) -> None:
    """Add the moves that are sequences of other moves, which may be derived moves too."""
    each, waiting = definition.orientations.tolist(), dict(derived)
    while waiting:
        left, faults = {}, []
        for name, sequence in waiting.items():
            at = f"{file}: derivedMoves.{name} = "
            if not isinstance(sequence, str):
                raise InputError(f"{at}{sequence!r}: expected a sequence of moves, such as R U'")
            if name in definition.moves:
                raise InputError(f"{at}{sequence!r}: {name} is already a move")
            try:
                effect = effect_of(sequence, definition.moves, each, at)
            except InputError as error:
                left[name] = sequence
                faults.append(error)
                continue
            definition.moves[name] = replace(effect, name=name)
        if len(left) == len(waiting):
            raise faults[0]
        waiting = left


WORDS = {list: "a list", dict: "an object", str: "text", int: "a whole number"}
"""The words of messages for the types of JSON values."""


def _part(content, key: str, kind: type, at: str):
    """Return the value of a key; raises InputError, beginning with `at`, if it is missing or not of
    this type."""
    if not isinstance(content, dict) or key not in content:
        raise InputError(f"{at}{key} is missing; every kpuzzle definition needs it")
    if not isinstance(content[key], kind) or isinstance(content[key], bool):
        raise InputError(f"{at}{key} = {content[key]!r}: expected {WORDS[kind]}")
    return content[key]
