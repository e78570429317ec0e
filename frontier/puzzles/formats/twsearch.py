"""Puzzles in the format of twsearch, a search program for twisty puzzles by T. Rokicki
(https://github.com/cubing/twsearch). It extends the format of ksolve by K. Krig and M. Gottlieb.

A file has lines of words; lines that begin with # are comments.

* ``Name`` and a word: the title.
* ``Set``, a name, a number of pieces and a number of orientations: pieces that may take one
  another's places.
* ``Solved``, up to ``End``: for each set a line with its name, a line with the piece in each place,
  counted from 1, and, unless all orientations are 0, a line with the orientations. Equal numbers
  are like pieces. A set that is not named has its pieces in order.
* ``Move`` and a name, up to ``End``: for each set that moves, the place from which the piece in
  each place comes, and how far the piece that begins in each place is turned.
* ``StartState`` and ``MoveTransformation`` are like ``Solved`` and ``Move`` but count from 0, and
  the latter gives how far the piece that ends in each place is turned.
* ``MoveSequence``, a name and moves: one move that does them one after another.
* ``Ignore``, up to ``End``: for each set a line of zeros, and a line with a 1 for each place whose
  piece may have any orientation. A 1 on the first line, for a place that may hold any piece, is not
  supported.
"""

import re
from collections.abc import Callable, Iterator, Sized
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

COMMANDS = {
    "Name": "NAME",
    "Set": "NAME PIECES ORIENTATIONS",
    "Solved": "",
    "StartState": "",
    "Ignore": "",
    "Move": "NAME",
    "MoveTransformation": "NAME",
    "MoveSequence": "NAME MOVES",
}
"""The commands that are read, and the words after each."""

REFUSED = {
    "Illegal": "forbids some positions, but here every move is possible in all positions",
    "Block": "ties pieces together, but here every move is possible in all positions",
    "MoveLimits": "limits how often a move is made, but here moves have no limits",
}
"""Known commands that are not supported, with the reason."""

PASSED_OVER = ("MoveAlias", "SwizzleSet")
"""Ignored commands, which only give names."""

BEGIN = re.compile(r"^\s*(Set\s+\S+\s+\d+\s+\d+|Solved|Move\s+\S+)\s*$", re.MULTILINE)
"""Lines that only this format has."""


def is_definition(text: str) -> bool:
    """Return whether a text is in this format."""
    _, words = next(_lines(text), (0, [""]))
    is_command = words[0] in {*COMMANDS, *REFUSED, *PASSED_OVER}
    return "=" not in "".join(words) and (is_command or BEGIN.search(text) is not None)


def read_definition(text: str, file: str) -> Definition:
    """Return the definition in a text.

    Raises InputError, whose message begins with `file` and the line, for
    anything that is not in this format or not supported.
    """
    definition, lines, solved = Definition(), _lines(text), False
    for number, words in lines:
        line_name = f"{file}, line {number}: "
        command, *arguments = words
        if command in PASSED_OVER:
            continue
        if command in REFUSED:
            raise InputError(f"{line_name}{command} is not supported: it {REFUSED[command]}")
        expected = COMMANDS.get(command)
        if expected is None:
            raise InputError(
                f"{line_name}{command!r} is not a command; expected one of {', '.join(COMMANDS)}"
            )
        if command == "MoveSequence":
            arguments[1:] = [" ".join(arguments[1:])] if arguments[1:] else []
        if len(arguments) != len(expected.split()):
            raise InputError(
                f"{line_name}{' '.join(words)}: expected {f'{command} {expected}'.strip()}"
            )
        if command == "Name":
            definition.name = arguments[0]
        elif command == "Set":
            name, *numbers = arguments
            if solved or name in definition.sets:
                raise InputError(f"{line_name}each Set may appear once, and only before Solved")
            definition.add_set(
                name, *(whole_number(word, line_name, 1, MOST_PIECES) for word in numbers)
            )
        elif command in ("Solved", "StartState"):
            if solved:
                raise InputError(f"{line_name}{command} may appear only once")
            solved = True
            _read_solved(definition, lines, line_name, 0 if command == "StartState" else 1)
        elif not solved:
            what = "Ignore" if command == "Ignore" else "a move"
            raise InputError(f"{line_name}{what} comes before Solved; put Solved first")
        elif command == "Ignore":
            _ignore(definition, lines, line_name)
        else:
            _add_move(definition, command, arguments, lines, line_name)
    every: dict[str, Sized] = {
        "Set": definition.sets,
        "Solved": definition.pieces,
        "Move": definition.moves,
    }
    for name, entries in every.items():
        if len(entries) == 0:
            raise InputError(f"{file} has no {name}; every puzzle needs one")
    return definition


def _read_solved(definition: Definition, lines: Iterator, at: str, first: int) -> None:
    """Read the solved puzzle. first: the number from which pieces are counted."""
    rows = _rows(definition, lines, at, lambda of: range(first, MOST_PIECES + 1), wild=True)
    pieces, definition.turns = _arrangement(definition, rows, first)
    definition.pieces = pieces + 1


def _add_move(
    definition: Definition, command: str, arguments: list[str], lines: Iterator, at: str
) -> None:
    """Read a move."""
    name, *sequence = arguments
    if name in definition.moves:
        raise InputError(f"{at}the move {name} appears twice")
    if command == "MoveSequence":
        each = definition.orientations.tolist()
        effect = effect_of(sequence[0], definition.moves, each, at)
        definition.moves[name] = replace(effect, name=name)
        return
    first = 0 if command == "MoveTransformation" else 1
    rows = _rows(definition, lines, at, lambda of: range(first, of.size + first))
    source, turns = _arrangement(definition, rows, first)
    if command == "Move":  # it gives the turn for each place before the move
        for of in definition.sets.values():
            turns[of.positions] = turns[of.positions][source[of.positions]]
    definition.add_move(name, source, turns, at.removesuffix(": "))


def _ignore(definition: Definition, lines: Iterator, at: str) -> None:
    """Read which pieces may have any orientation."""
    rows = _rows(definition, lines, at, lambda of: range(2), lambda of: range(2))
    for of, (anywhere, *turned) in rows.items():
        if any(anywhere):
            raise InputError(
                f"{at}places of {of.name} that accept any piece are not supported; in Solved, use "
                "equal numbers for pieces that count as the same"
            )
        definition.turns[of.positions][np.any(turned, axis=0)] = WILD


def _arrangement(
    definition: Definition, rows: dict[PieceSet, list[list[int]]], first: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[positions] numbers of pieces or places, counted from 0 in each set, and
    int64[positions] turns."""
    numbers: list[int] = []
    turns: list[int] = []
    for of in definition.sets.values():
        order, *turned = rows.get(of, [range(first, of.size + first)])
        numbers += [number - first for number in order]
        turns += turned[0] if turned else [0] * of.size
    return np.array(numbers, dtype=np.int64), np.array(turns, dtype=np.int64)


def _rows(
    definition: Definition,
    lines: Iterator,
    at: str,
    numbers: Callable[[PieceSet], range],
    turns: Callable[[PieceSet], range] = lambda of: range(of.orientations),
    wild: bool = False,
) -> dict[PieceSet, list[list[int]]]:
    """Read the lines up to End: one or two lists of numbers for each set that they name.

    numbers, turns: return the values that a set allows in its first list and in its second. wild:
    whether the second list may contain ?.
    """
    rows: dict[PieceSet, list[list[int]]] = {}
    of = None
    for number, words in lines:
        line_name = f"{at.rsplit(', line ', 1)[0]}, line {number}: "
        is_name = not (words[0][0].isdigit() or words[0] == "?")
        if is_name and of and not rows[of]:
            raise InputError(f"{line_name}expected the numbers of {of.name}")
        if words == ["End"]:
            return rows
        if is_name:
            if len(words) > 1 or words[0] not in definition.sets:
                raise InputError(
                    f"{line_name}{' '.join(words)}: expected End or the name of a set, which are "
                    f"{', '.join(definition.sets) or 'none'}"
                )
            if (of := definition.sets[words[0]]) in rows:
                raise InputError(f"{line_name}{of.name} appears twice")
            rows[of] = []
            continue
        if of is None or len(rows[of]) == 2:
            raise InputError(f"{line_name}{' '.join(words)}: expected End or the name of a set")
        if len(words) != of.size:
            raise InputError(f"{line_name}expected {counted(of.size, 'number')} for {of.name}")
        known = turns(of) if rows[of] else numbers(of)
        marks = {"?": WILD} if wild and rows[of] else {}
        rows[of].append(
            [
                marks[word] if word in marks else whole_number(word, line_name, known[0], known[-1])
                for word in words
            ]
        )
    raise InputError(f"{at}its End is missing")


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Generate (number, words) of the lines that are neither empty nor comments."""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words
