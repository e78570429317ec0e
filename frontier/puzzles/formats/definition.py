"""Definitions of twisty puzzles by other programs, as tables of permutation puzzles.

All their formats say the same: sets of pieces, which may take one another's places; the piece in
each place when the puzzle is solved, equal numbers for like pieces, and how it is turned; and
moves, which bring the piece in each place to another one and turn it on the way. A reader of a
format (`frontier.puzzles.formats` lists them) fills in a `Definition`, whose `table` is that of a
config.

The positions of the puzzle are those of all sets, one set after the other. A move stands for its
powers too. Turns of the whole puzzle, such as x or Uv, bring no piece elsewhere in relation to the
others, and are no moves; they are the table's `rotations`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.generators import (
    MOST_DIGITS,
    MOST_GENERATORS,
    MOST_ORIENTATIONS,
    MOST_POSITIONS,
    Generator,
)
from frontier.space.points import orbits
from frontier.text import counted

MOST_PIECES = 255
"""The most pieces of a set that are read, and their most orientations."""

ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")
"""The names of turns of the whole puzzle."""

WILD = -1
"""Stands for any orientation."""


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
class Definition:
    """The content of a file.

    name: the title. pieces, turns: int64[positions], the piece in each position of the solved
    puzzle, and its orientation. moves: by their names, turns of the whole puzzle among them.
    """

    name: str | None = None
    sets: dict[str, PieceSet] = field(default_factory=dict)
    pieces: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    turns: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    moves: dict[str, Generator] = field(default_factory=dict)

    @property
    def orientations(self) -> np.ndarray:
        """int64[positions]."""
        sets = self.sets.values()
        return np.repeat([of.orientations for of in sets], [of.size for of in sets])

    def add_set(self, name: str, size: int, orientations: int) -> None:
        first = sum(of.size for of in self.sets.values())
        self.sets[name] = PieceSet(name, first, size, orientations)

    def add_move(self, name: str, source: np.ndarray, turns: np.ndarray, at: str) -> None:
        """Add a move, given by int64[positions], from which place of its set the piece in each
        position comes, and how far it is turned, by its position afterwards.

        Raises InputError, beginning with `at`, if two pieces come to one place.
        """
        image, before = np.empty_like(source), np.empty_like(turns)
        for of in self.sets.values():
            came_from = source[of.positions]
            if sorted(came_from.tolist()) != list(range(of.size)):
                raise InputError(
                    f"{at}: the places of {of.name} in the move {name} are {of.size} numbers, "
                    "each once"
                )
            image[of.first + came_from] = np.arange(of.first, of.first + of.size)
            before[of.first + came_from] = turns[of.positions]
        before %= self.orientations
        self.moves[name] = Generator(name, tuple(image.tolist()), tuple(before.tolist()))

    def table(self, file: str) -> dict:
        """Return the [puzzle] table; raises InputError, beginning with `file`, for what a
        permutation puzzle cannot be."""
        if (most := self.orientations.size) > MOST_POSITIONS:
            raise InputError(
                f"{file} has {most} pieces in its sets: at most {MOST_POSITIONS} are supported. "
                "Sets that do not matter may be left out"
            )
        moves = {n: move for n, move in self.moves.items() if not ROTATION.fullmatch(n)}
        orientations, turns = self._without_wild(moves.values())
        each = orientations.tolist()
        if (most := max(each)) > MOST_ORIENTATIONS:
            name = next(of.name for of in self.sets.values() if of.orientations == most)
            raise InputError(
                f"{file}: the pieces of {name} have {most} orientations, at most "
                f"{MOST_ORIENTATIONS} are supported"
            )
        generators = _generators(moves, orientations)
        if not 1 <= len(generators) <= MOST_GENERATORS:
            raise InputError(
                f"{file} has {counted(len(generators), 'move')} with an effect: 1 to "
                f"{MOST_GENERATORS:,} are supported"
            )
        rotations = _generators(
            {n: move for n, move in self.moves.items() if n not in moves}, orientations
        )
        goal = [
            f"{label}+{'?' if turn == WILD else turn}" if turn else label
            for label, turn in zip(self._labels(), turns.tolist(), strict=True)
        ]
        return {
            "kind": "permutations",
            **({"title": self.name} if self.name else {}),
            "orientations": each[0] if len(set(each)) == 1 else each,
            "goal": goal,
            "generators": generators,
            **({"rotations": rotations} if rotations else {}),
            "closed": True,
            "metric": "powers",
        }

    def _labels(self) -> list[str]:
        """Return the labels of the pieces in their positions: a letter and a number if there are
        several sets. The letter is that of the set's name unless two are the same."""
        letters = [name[0] for name in self.sets]
        if len(self.sets) == 1:
            letters = [""]
        elif len(set(letters)) < len(letters) or not "".join(letters).isalpha():
            letters = [chr(ord("a") + n) if n < 26 else f"s{n}." for n in range(len(self.sets))]
        return [
            f"{letter}{piece}"
            for letter, of in zip(letters, self.sets.values(), strict=True)
            for piece in self.pieces[of.positions].tolist()
        ]

    def _without_wild(self, moves: Collection[Generator]) -> tuple[np.ndarray, np.ndarray]:
        """Return the orientations in each position and those of the pieces in it when solved.

        If that of one piece may be any, so may those of all pieces with its label. A position has
        one orientation if those of all pieces that can come there may be any.
        """
        orientations, turns, labels = self.orientations, self.turns.copy(), np.array(self._labels())
        turns[np.isin(labels, labels[turns == WILD])] = WILD
        turns[orientations == 1] = 0
        orbit = orbits([move.image for move in moves], turns.size)
        for first in np.unique(orbit).tolist():
            if (turns[orbit == first] == WILD).all():
                orientations[orbit == first], turns[orbit == first] = 1, 0
        return orientations, turns


def _generators(moves: Mapping[str, Generator], orientations: np.ndarray) -> dict:
    """Return moves as `generators`, but those that move nothing."""
    generators = {}
    for name, move in moves.items():
        turns = (np.array(move.turns) % orientations).tolist()
        image = [to + 1 for to in move.image]
        if any(turns) or image != sorted(image):
            generators[name] = {"moves": image, **({"turns": turns} if any(turns) else {})}
    return generators


def whole_number(value, at: str, least: int, most: int) -> int:
    """Return a whole number, also one that is text; raises InputError, beginning with `at`, if it
    is none of those from `least` to `most`."""
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise InputError(f"{at}{value!r} is not a number")
    if not least <= int(text) <= most:
        raise InputError(f"{at}{text} is not one of the numbers {least} to {most}")
    return int(text)


def whole_numbers(values: Sequence, count: int, at: str, least: int, most: int) -> list[int]:
    """Return so many whole numbers; raises InputError as `whole_number` does."""
    if len(values) != count:
        raise InputError(f"{at}expected {counted(count, 'number')}")
    return [whole_number(value, at, least, most) for value in values]
