"""Puzzles in the format of twsearch, a searcher of twisty puzzles by T. Rokicki
(https://github.com/cubing/twsearch), which has it from ksolve by K. Krig and M. Gottlieb.

A file has lines of words; those that begin with # are comments.

* ``Name`` and a word: the title.
* ``Set``, a name, a number of pieces and a number of orientations: pieces that may take one
  another's places.
* ``Solved``, up to ``End``: for each set its name on a line, the piece in each place on the next
  one, from 1, and if they are not all 0 their orientations on a third one. Equal numbers are like
  pieces. Sets that are not named have their pieces in order.
* ``Move`` and a name, up to ``End``: for each set that moves, the place from which the piece in
  each place comes; and how far the piece that is in each place before the move is turned.
* ``StartState`` and ``MoveTransformation`` are the same but count from 0, and the latter tells how
  far the piece that is in each place after the move is turned.

A move stands for its powers too, F for F, F2 and F'. Turns of the whole puzzle, such as x or Uv,
bring no piece elsewhere in relation to the others, and are no moves. The positions of the puzzle
are those of all sets, one set after the other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.generators import (
    INVERSE,
    MOST_DIGITS,
    MOST_GENERATORS,
    MOST_ORIENTATIONS,
    MOST_POSITIONS,
)
from frontier.text import counted

SUFFIX = ".tws"

ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")
"""Names of turns of the whole puzzle."""

WILD = -1
"""An orientation that may be any."""

REFUSED = {
    "Illegal": "forbids some positions, and here a move is possible in all of them",
    "MoveSequence": "makes a move of others; write it as a Move of its own",
}
"""Commands that are known and not supported, and why."""

PASSED_OVER = ("MoveAlias", "SwizzleSet")
"""Commands that give names alone."""


@dataclass(frozen=True)
class PieceSet:
    """A set of pieces. first: the first of its positions, counted from 0 through all sets."""

    name: str
    first: int
    size: int
    orientations: int

    @property
    def positions(self) -> slice:
        return slice(self.first, self.first + self.size)


@dataclass
class _Definition:
    """What is read of a file.

    pieces, turns: int64[positions], what ``Solved`` says. moves: name -> (int64[positions] from
    where the piece in each position comes, int64[positions] how far it is turned).
    """

    name: str | None = None
    sets: dict[str, PieceSet] = field(default_factory=dict)
    pieces: np.ndarray | None = None
    turns: np.ndarray | None = None
    moves: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @property
    def positions(self) -> int:
        return sum(of.size for of in self.sets.values())

    @property
    def orientations(self) -> np.ndarray:
        """int64[positions]."""
        return np.array([of.orientations for of in self.sets.values() for _ in range(of.size)])


def puzzle_table(text: str, where: str) -> dict:
    """Return the [puzzle] table, of kind `permutations`, of a file in the format of twsearch.

    Raises InputError, beginning with `where` and the line, for what is not of this format or what
    this kind of puzzle does not have.
    """
    found = _read(text, where)
    for name, given in {"Set": found.sets, "Solved": found.pieces, "Move": found.moves}.items():
        if given is None or len(given) == 0:
            raise InputError(f"{where} has no {name}, which every puzzle needs")
    if (most := found.positions) > MOST_POSITIONS:
        raise InputError(
            f"{where} has {most} pieces in its sets: at most {MOST_POSITIONS} are supported. Sets "
            "that do not matter may be left out"
        )
    orientations, turns = _without_wild(found, where)
    each = orientations.tolist()
    if (most := max(each)) > MOST_ORIENTATIONS:
        name = next(of.name for of in found.sets.values() if of.orientations == most)
        raise InputError(
            f"{where}: the pieces of {name} have {most} orientations, at most {MOST_ORIENTATIONS} "
            "are supported"
        )
    goal = [
        f"{label}+{turn}" if turn else label
        for label, turn in zip(_labels(found), turns.tolist(), strict=True)
    ]
    return {
        "kind": "permutations",
        **({"title": found.name} if found.name else {}),
        "orientations": each[0] if len(set(each)) == 1 else each,
        "goal": goal,
        "generators": _generators(found, orientations, where),
    }


def _labels(found: _Definition) -> list[str]:
    """Return the labels of the pieces in their positions: where there are several sets, a letter
    and a number. The letter is that of the set's name where no two are the same."""
    letters = [name[0] for name in found.sets]
    if len(found.sets) == 1:
        letters = [""]
    elif len(set(letters)) < len(letters) or not "".join(letters).isalpha():
        letters = [chr(ord("a") + n) if n < 26 else f"s{n}." for n in range(len(found.sets))]
    return [
        f"{letter}{piece}"
        for letter, of in zip(letters, found.sets.values(), strict=True)
        for piece in found.pieces[of.positions].tolist()
    ]


def _without_wild(found: _Definition, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the orientations in each position and those of the pieces in it when solved.

    A position has one orientation if those of all pieces that can come there may be any.
    """
    orientations, turns = found.orientations, found.turns.copy()
    wild, orbit, before = turns == WILD, np.arange(turns.size), None
    while before is None or (orbit != before).any():
        before = orbit.copy()
        for source, _ in found.moves.values():
            orbit = np.minimum(orbit, orbit[source])
    for first in np.unique(orbit[wild]).tolist():
        inside = orbit == first
        if not wild[inside].all():
            name = next(of.name for of in found.sets.values() if first < of.positions.stop)
            raise InputError(
                f"{where}: some pieces of {name} have the orientation ?, and others that can take "
                "their places have one; give all of them ?, or none"
            )
        orientations[inside], turns[inside] = 1, 0
    return orientations, turns


def _generators(found: _Definition, orientations: np.ndarray, where: str) -> dict[str, dict]:
    """Return the moves with their powers as the `generators` of a puzzle, each effect once."""
    generators, effects = {}, set()
    for name, (source, turns) in found.moves.items():
        powers = _powers(source, turns % orientations, orientations, f"{where}: the move {name}")
        for exponent, power in powers:
            effect = tuple(map(bytes, power))
            if effect in effects:
                continue
            effects.add(effect)
            title = _power_name(name, exponent, len(powers) + 1)
            if title != name and title in found.moves:
                title = f"{name}^{exponent}"
            came_from, turned = power
            image, before = np.empty_like(came_from), np.empty_like(turned)
            image[came_from], before[came_from] = np.arange(1, image.size + 1), turned
            some = {"turns": before.tolist()} if before.any() else {}
            generators[title] = {"moves": image.tolist(), **some}
    if not 1 <= len(generators) <= MOST_GENERATORS:
        raise InputError(
            f"{where} has {counted(len(generators), 'move')} with their powers: 1 to "
            f"{MOST_GENERATORS:,} are supported"
        )
    return generators


def _powers(
    source: np.ndarray, turns: np.ndarray, orientations: np.ndarray, what: str
) -> list[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    """Return (exponent, (from where the pieces come, how far they are turned)) of all powers that
    move something."""
    powers, here, turned = [], source, turns
    while (here != np.arange(here.size)).any() or turned.any():
        powers.append((len(powers) + 1, (here, turned)))
        if len(powers) > MOST_GENERATORS:
            raise InputError(
                f"{what} and its powers are more than {MOST_GENERATORS:,} moves, which are not "
                "supported"
            )
        here, turned = here[source], (turned[source] + turns) % orientations
    return powers


def _power_name(name: str, exponent: int, order: int) -> str:
    """Return what a power is called, of a move that brings all back after `order` times."""
    back = order - exponent < exponent
    times = order - exponent if back else exponent
    return f"{name}{times if times > 1 else ''}{INVERSE if back else ''}"


def _read(text: str, where: str) -> _Definition:
    """Return what a file says."""
    found, lines = _Definition(), _lines(text)
    for number, words in lines:
        at = f"{where}, line {number}: "
        command, *rest = words
        if command in PASSED_OVER:
            continue
        if command in REFUSED:
            raise InputError(f"{at}{command} is not supported: it {REFUSED[command]}")
        expected = COMMANDS.get(command)
        if expected is None:
            raise InputError(f"{at}{command!r} is no command; known are {', '.join(COMMANDS)}")
        if len(rest) != len(expected.split()):
            raise InputError(f"{at}{' '.join(words)}: expected {f'{command} {expected}'.strip()}")
        if command == "Name":
            found.name = rest[0]
        elif command == "Set":
            if found.pieces is not None or rest[0] in found.sets:
                raise InputError(f"{at}each Set stands once, and before Solved")
            size, orientations = (_number(word, at, 1, 255) for word in rest[1:])
            found.sets[rest[0]] = PieceSet(rest[0], found.positions, size, orientations)
        elif command in ("Solved", "StartState"):
            if found.pieces is not None:
                raise InputError(f"{at}{command} stands once")
            from_zero = command == "StartState"
            found.pieces, found.turns = _arrangement(found, lines, at, from_zero, wild=True)
            found.pieces += 1
        else:
            _add_move(found, rest[0], lines, at, command == "MoveTransformation")
    return found


COMMANDS = {
    "Name": "NAME",
    "Set": "NAME PIECES ORIENTATIONS",
    "Solved": "",
    "StartState": "",
    "Move": "NAME",
    "MoveTransformation": "NAME",
}
"""The commands that are read, and the words after each."""


def _add_move(found: _Definition, name: str, lines: Iterator, at: str, from_zero: bool) -> None:
    """Read a move; a turn of the whole puzzle is read and dropped."""
    if found.pieces is None:
        raise InputError(f"{at}a move stands after Solved")
    if name in found.moves:
        raise InputError(f"{at}the move {name} stands twice")
    source, turns = _arrangement(found, lines, at, from_zero, wild=False)
    for of in found.sets.values():
        if sorted(source[of.positions].tolist()) != list(range(of.size)):
            raise InputError(
                f"{at}the places of {of.name} in the move {name} are {of.size} numbers, each once"
            )
        source[of.positions] += of.first
    if not ROTATION.fullmatch(name):
        # In a Move a turn stands in the place of the piece before it.
        found.moves[name] = source, (turns if from_zero else turns[source])


def _arrangement(
    found: _Definition, lines: Iterator, at: str, from_zero: bool, wild: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Read the lines up to End: int64[positions] numbers of pieces or places, counted from 0 in
    each set, and int64[positions] turns. wild: whether a turn may be ?."""
    orders = [np.arange(of.size) for of in found.sets.values()]
    numbers = np.concatenate([np.empty(0, dtype=np.int64), *orders])
    turns, given, of = np.zeros_like(numbers), {}, None
    for number, words in lines:
        here = f"{at.rsplit(', line ', 1)[0]}, line {number}: "
        is_name = not (words[0][0].isdigit() or words[0] == "?")
        if is_name and of and not given[of]:
            raise InputError(f"{here}expected the numbers of {of.name}")
        if words == ["End"]:
            return numbers, turns
        if is_name:
            if len(words) > 1 or words[0] not in found.sets:
                known = ", ".join(found.sets) or "none"
                raise InputError(
                    f"{here}{' '.join(words)}: expected End or the name of a set, which are {known}"
                )
            if (of := found.sets[words[0]]) in given:
                raise InputError(f"{here}{of.name} stands twice")
            given[of] = 0
            continue
        if of is None or given[of] == 2:
            raise InputError(f"{here}{' '.join(words)}: expected End or the name of a set")
        if len(words) != of.size:
            raise InputError(f"{here}expected {counted(of.size, 'number')} for {of.name}")
        if given[of]:
            turns[of.positions] = _turns(words, here, of.orientations, wild)
        else:
            least = 0 if from_zero else 1
            most = 255 if wild else of.size - 1 + least
            numbers[of.positions] = [_number(word, here, least, most) - least for word in words]
        given[of] += 1
    raise InputError(f"{at}there is no End to it")


def _turns(words: Sequence[str], at: str, orientations: int, wild: bool) -> list[int]:
    return [
        WILD if wild and word == "?" else _number(word, at, 0, orientations - 1) for word in words
    ]


def _number(word: str, at: str, least: int, most: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
        raise InputError(f"{at}{word!r} is no number")
    if not least <= int(word) <= most:
        raise InputError(f"{at}{word} is not one of the numbers {least} to {most}")
    return int(word)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return (number, words) of the lines that say something."""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words
