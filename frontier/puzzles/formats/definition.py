"""Other programs' definitions of twisty puzzles, as tables of permutation puzzles.

All formats have the same content: sets of pieces, which may take one another's places; the piece in
each place of the solved puzzle and its orientation, with equal numbers for like pieces; and moves,
which take the piece in each place to another place and may turn it. The reader of a format
(`frontier.puzzles.formats` lists the readers) fills in a `Definition`, whose `table` method makes
the table of a config.

The positions of the puzzle are the places of all sets, one set after another. The powers of a move
are moves too. A turn of the whole puzzle, such as x or Uv, does not change how the pieces lie
relative to one another. It is not a move, but one of the table's `rotations`.
"""

import re
from collections.abc import Collection, Mapping
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
"""The most pieces of a set, and the most orientations of a piece."""

ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")
"""The names of turns of the whole puzzle."""

WILD = -1
"""Stands for any orientation."""


@dataclass(frozen=True)
class PieceSet:
    """A set of pieces. first: its first position, counted from 0 through all sets."""

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
    puzzle, and its orientation. moves: the moves by name, including turns of the whole puzzle.
    """

    name: str | None = None
    sets: dict[str, PieceSet] = field(default_factory=dict)
    pieces: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    turns: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    moves: dict[str, Generator] = field(default_factory=dict)

    @property
    def orientations(self) -> np.ndarray:
        """The number of orientations in each position, int64[positions]."""
        sets = self.sets.values()
        return np.repeat([of.orientations for of in sets], [of.size for of in sets])

    def add_set(self, name: str, size: int, orientations: int) -> None:
        first = sum(of.size for of in self.sets.values())
        self.sets[name] = PieceSet(name, first, size, orientations)

    def add_move(self, name: str, source: np.ndarray, turns: np.ndarray, at: str) -> None:
        """Add a move. source: int64[positions], the place in its set from which the piece in each
        position comes. turns: int64[positions], how far the piece that ends in each position is
        turned.

        Raises InputError, beginning with `at`, if the move takes two pieces to one place.
        """
        image, before = np.empty_like(source), np.empty_like(turns)
        for of in self.sets.values():
            came_from = source[of.positions]
            if sorted(came_from.tolist()) != list(range(of.size)):
                raise InputError(
                    f"{at}: expected the places of {of.name} in the move {name}: {of.size} "
                    "numbers, each once"
                )
            image[of.first + came_from] = np.arange(of.first, of.first + of.size)
            before[of.first + came_from] = turns[of.positions]
        before %= self.orientations
        self.moves[name] = Generator(name, tuple(image.tolist()), tuple(before.tolist()))

    def table(self, file: str) -> dict:
        """Return the [puzzle] table; raises InputError, beginning with `file`, if a permutation
        puzzle cannot represent the definition."""
        if (most := self.orientations.size) > MOST_POSITIONS:
            raise InputError(
                f"{file} has {most} pieces in its sets: at most {MOST_POSITIONS} are supported. "
                "Omit sets that do not matter"
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
        """Return the label of the piece in each position: a letter and a number if there are
        several sets. The letter is the first of the set's name unless two sets share it."""
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
        """Return the number of orientations in each position and the orientation there when solved.

        If one piece may have any orientation, so may all pieces with its label. If all pieces that
        can reach a position may have any orientation, the position has only one.
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
    """Return moves as `generators`, without moves that change nothing."""
    generators = {}
    for name, move in moves.items():
        turns = (np.array(move.turns) % orientations).tolist()
        image = [to + 1 for to in move.image]
        if any(turns) or image != sorted(image):
            generators[name] = {"moves": image, **({"turns": turns} if any(turns) else {})}
    return generators


def whole_number(value, at: str, least: int, most: int) -> int:
    """Return a whole number, given as a number or as text; raises InputError, beginning with `at`,
    unless it is between `least` and `most`."""
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise InputError(f"{at}{value!r} is not a number")
    if not least <= int(text) <= most:
        raise InputError(f"{at}{text} is not one of the numbers {least} to {most}")
    return int(text)
