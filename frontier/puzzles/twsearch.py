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
    MOST_DIGITS,
    MOST_GENERATORS,
    MOST_ORIENTATIONS,
    MOST_POSITIONS,
)
from frontier.text import counted

SUFFIX = ".tws"

ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")
"""The names of turns of the whole puzzle."""

WILD = -1
"""Stands for any orientation."""

REFUSED = {
    "Illegal": "forbids some positions, and here a move is possible in all of them",
    "MoveSequence": "makes a move of others; write it as a Move of its own",
}
"""Commands that are known and not supported, and the reason."""

PASSED_OVER = ("MoveAlias", "SwizzleSet")
"""Commands that only give names."""


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
    """The content of a file.

    pieces, turns: int64[positions], those of ``Solved``. moves: name -> (int64[positions] from
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


def puzzle_table(text: str, file: str) -> dict:
    """Return the [puzzle] table, of kind `permutations`, of a file in the format of twsearch.

    Raises InputError, beginning with `file` and the line, for text that is not of this format
    or not supported by this kind of puzzle.
    """
    definition = _read(text, file)
    for name, entries in {
        "Set": definition.sets,
        "Solved": definition.pieces,
        "Move": definition.moves,
    }.items():
        if entries is None or len(entries) == 0:
            raise InputError(f"{file} has no {name}, which every puzzle needs")
    if (most := definition.positions) > MOST_POSITIONS:
        raise InputError(
            f"{file} has {most} pieces in its sets: at most {MOST_POSITIONS} are supported. Sets "
            "that do not matter may be left out"
        )
    orientations, turns = _without_wild(definition, file)
    each = orientations.tolist()
    if (most := max(each)) > MOST_ORIENTATIONS:
        name = next(of.name for of in definition.sets.values() if of.orientations == most)
        raise InputError(
            f"{file}: the pieces of {name} have {most} orientations, at most {MOST_ORIENTATIONS} "
            "are supported"
        )
    goal = [
        f"{label}+{turn}" if turn else label
        for label, turn in zip(_labels(definition), turns.tolist(), strict=True)
    ]
    return {
        "kind": "permutations",
        **({"title": definition.name} if definition.name else {}),
        "orientations": each[0] if len(set(each)) == 1 else each,
        "goal": goal,
        "generators": _generators(definition, orientations, file),
        "closed": True,
        "metric": "powers",
    }


def _labels(definition: _Definition) -> list[str]:
    """Return the labels of the pieces in their positions: a letter and a number if there are
    several sets. The letter is that of the set's name unless two are the same."""
    letters = [name[0] for name in definition.sets]
    if len(definition.sets) == 1:
        letters = [""]
    elif len(set(letters)) < len(letters) or not "".join(letters).isalpha():
        letters = [chr(ord("a") + n) if n < 26 else f"s{n}." for n in range(len(definition.sets))]
    return [
        f"{letter}{piece}"
        for letter, of in zip(letters, definition.sets.values(), strict=True)
        for piece in definition.pieces[of.positions].tolist()
    ]


def _without_wild(definition: _Definition, file: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the orientations in each position and those of the pieces in it when solved.

    A position has one orientation if those of all pieces that can come there may be any.
    """
    orientations, turns = definition.orientations, definition.turns.copy()
    wild, orbit, before = turns == WILD, np.arange(turns.size), None
    while before is None or (orbit != before).any():
        before = orbit.copy()
        for source, _ in definition.moves.values():
            orbit = np.minimum(orbit, orbit[source])
    for first in np.unique(orbit[wild]).tolist():
        inside = orbit == first
        if not wild[inside].all():
            name = next(of.name for of in definition.sets.values() if first < of.positions.stop)
            raise InputError(
                f"{file}: some pieces of {name} have the orientation ?, and others that can take "
                "their places have one; give all of them ?, or none"
            )
        orientations[inside], turns[inside] = 1, 0
    return orientations, turns


def _generators(definition: _Definition, orientations: np.ndarray, file: str) -> dict[str, dict]:
    """Return the moves as the `generators` of a puzzle, but those that move nothing."""
    generators = {}
    for name, (came_from, turned) in definition.moves.items():
        turned = turned % orientations
        if (came_from == np.arange(came_from.size)).all() and not turned.any():
            continue
        image, before = np.empty_like(came_from), np.empty_like(turned)
        image[came_from], before[came_from] = np.arange(1, image.size + 1), turned
        some = {"turns": before.tolist()} if before.any() else {}
        generators[name] = {"moves": image.tolist(), **some}
    if not 1 <= len(generators) <= MOST_GENERATORS:
        raise InputError(
            f"{file} has {counted(len(generators), 'move')} with an effect: 1 to "
            f"{MOST_GENERATORS:,} are supported"
        )
    return generators


def _read(text: str, file: str) -> _Definition:
    """Return the definition in a file."""
    definition, lines = _Definition(), _lines(text)
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
                f"{line_name}{command!r} is no command; known are {', '.join(COMMANDS)}"
            )
        if len(arguments) != len(expected.split()):
            raise InputError(
                f"{line_name}{' '.join(words)}: expected {f'{command} {expected}'.strip()}"
            )
        if command == "Name":
            definition.name = arguments[0]
        elif command == "Set":
            if definition.pieces is not None or arguments[0] in definition.sets:
                raise InputError(f"{line_name}each Set stands once, and before Solved")
            size, orientations = (_number(word, line_name, 1, 255) for word in arguments[1:])
            definition.sets[arguments[0]] = PieceSet(
                arguments[0], definition.positions, size, orientations
            )
        elif command in ("Solved", "StartState"):
            if definition.pieces is not None:
                raise InputError(f"{line_name}{command} stands once")
            from_zero = command == "StartState"
            definition.pieces, definition.turns = _arrangement(
                definition, lines, line_name, from_zero, wild=True
            )
            definition.pieces += 1
        else:
            _add_move(definition, arguments[0], lines, line_name, command == "MoveTransformation")
    return definition


COMMANDS = {
    "Name": "NAME",
    "Set": "NAME PIECES ORIENTATIONS",
    "Solved": "",
    "StartState": "",
    "Move": "NAME",
    "MoveTransformation": "NAME",
}
"""The commands that are read, and the words after each."""


def _add_move(
    definition: _Definition, name: str, lines: Iterator, at: str, from_zero: bool
) -> None:
    """Read a move; a turn of the whole puzzle is read and dropped."""
    if definition.pieces is None:
        raise InputError(f"{at}a move comes before Solved; put Solved first")
    if name in definition.moves:
        raise InputError(f"{at}the move {name} stands twice")
    source, turns = _arrangement(definition, lines, at, from_zero, wild=False)
    for of in definition.sets.values():
        if sorted(source[of.positions].tolist()) != list(range(of.size)):
            raise InputError(
                f"{at}the places of {of.name} in the move {name} are {of.size} numbers, each once"
            )
        source[of.positions] += of.first
    if not ROTATION.fullmatch(name):
        # In a Move a turn stands in the place of the piece before it.
        definition.moves[name] = source, (turns if from_zero else turns[source])


def _arrangement(
    definition: _Definition, lines: Iterator, at: str, from_zero: bool, wild: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Read the lines up to End: int64[positions] numbers of pieces or places, counted from 0 in
    each set, and int64[positions] turns. wild: whether a turn may be ?."""
    orders = [np.arange(of.size) for of in definition.sets.values()]
    numbers = np.concatenate([np.empty(0, dtype=np.int64), *orders])
    turns, lists_read, of = np.zeros_like(numbers), {}, None
    for number, words in lines:
        line_name = f"{at.rsplit(', line ', 1)[0]}, line {number}: "
        is_name = not (words[0][0].isdigit() or words[0] == "?")
        if is_name and of and not lists_read[of]:
            raise InputError(f"{line_name}expected the numbers of {of.name}")
        if words == ["End"]:
            return numbers, turns
        if is_name:
            if len(words) > 1 or words[0] not in definition.sets:
                set_names = ", ".join(definition.sets) or "none"
                raise InputError(
                    f"{line_name}{' '.join(words)}: expected End or the name of a set, which are "
                    f"{set_names}"
                )
            if (of := definition.sets[words[0]]) in lists_read:
                raise InputError(f"{line_name}{of.name} stands twice")
            lists_read[of] = 0
            continue
        if of is None or lists_read[of] == 2:
            raise InputError(f"{line_name}{' '.join(words)}: expected End or the name of a set")
        if len(words) != of.size:
            raise InputError(f"{line_name}expected {counted(of.size, 'number')} for {of.name}")
        if lists_read[of]:
            turns[of.positions] = _turns(words, line_name, of.orientations, wild)
        else:
            least = 0 if from_zero else 1
            most = 255 if wild else of.size - 1 + least
            numbers[of.positions] = [
                _number(word, line_name, least, most) - least for word in words
            ]
        lists_read[of] += 1
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
    """Generate (number, words) of the lines that are neither empty nor comments."""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words
