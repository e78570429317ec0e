"""Pictures of permutation puzzles: the positions in a grid, or a net of their stickers.

The text of a picture has a line for each row of squares, with a word for each square:

* ``.`` leaves out a square;
* ``3`` is position 3; the piece there is drawn with its label and its orientation;
* ``U3.1`` is sticker 1 of position 3, a part of the face U. In a net a position has one sticker for
  each orientation, numbered from 0. A piece turned by one more shows on sticker k what it showed on
  sticker k - 1; ``U3`` is the only sticker of a position without orientations;
* ``U`` is a part of the face U that never moves.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from frontier.errors import InputError
from frontier.puzzles.generators import MOST_DIGITS
from frontier.puzzles.notation import OPEN_MARK
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.text import counted

NOTHING = "."
WORD = re.compile(rf"([^\W\d_]*)(\d{{1,{MOST_DIGITS}}})?(?:\.(\d{{1,{MOST_DIGITS}}}))?")

Place = tuple[int, int]
"""(position, sticker), counted from 0."""


@dataclass(frozen=True)
class Net:
    """The squares of a picture.

    places: the middle of each square. faces: the letters of the face of each square, "" if squares
    are positions. stickers: the position and sticker on each square; None if nothing moves there.
    turns: the orientation in each position on the goal, where each sticker has the face of its
    square.
    """

    places: tuple[Point, ...]
    faces: tuple[str, ...]
    stickers: tuple[Place | None, ...]
    turns: Sequence[int]

    @property
    def of_stickers(self) -> bool:
        """True if the squares are stickers rather than positions."""
        return any(self.faces)

    @cached_property
    def by_position(self) -> tuple[Point, ...]:
        """The places in the order of the positions, for a picture whose squares are positions."""
        at = dict(zip(self.stickers, self.places, strict=True))
        return tuple(at[sticker] for sticker in sorted(at))  # type: ignore[type-var]  # all move

    def names(self, positions: int) -> tuple[str, ...]:
        """Return a name for each position: the faces of its stickers, such as URF, if they differ
        for all positions, otherwise its number, counted from 1."""
        faces = dict(zip(self.stickers, self.faces, strict=True))
        moving = sorted(sticker for sticker in self.stickers if sticker is not None)
        names = [""] * positions
        for position, sticker in moving:
            names[position] += faces[position, sticker]
        return tuple(names) if len({*names, ""}) > positions else numbers_of(positions)

    def picture(self, shown: Callable[[Place], tuple[int, Place | None]]) -> Picture:
        """Return the picture of a board.

        shown: returns, for a sticker of a position, the number of the sticker that is seen there,
        and the position and sticker whose face it has, or None if any face may be seen there. The
        picture then shows ?.
        """
        at_home = dict(zip(self.stickers, self.faces, strict=True)) | {None: OPEN_MARK}
        kinds = {face: kind for kind, face in enumerate(dict.fromkeys(self.faces))}
        pieces, numbers = [], sum(sticker is not None for sticker in self.stickers)
        for cell, (face, sticker) in enumerate(zip(self.faces, self.stickers, strict=True)):
            if sticker is None:
                numbers += 1
                number = numbers
            else:
                number, home = shown(sticker)
                face = at_home[home]
            pieces.append(Piece(number, face, face, kinds.get(face), (cell,)))
        pieces.sort(key=lambda piece: piece.code)
        return Picture(self.places, tuple(pieces), (), len(kinds), ordered=False, walls=False)


def numbers_of(positions: int) -> tuple[str, ...]:
    """Return the numbers of the positions, their names if faces do not name them."""
    return tuple(str(number) for number in range(1, positions + 1))


def net_of(text: str, orientations: Sequence[int], turns: Sequence[int]) -> Net:
    """Return the squares of `puzzle.picture`.

    orientations: the number of orientations in each position. turns: the orientation in each
    position on the goal.

    Raises InputError unless the picture shows each position once, or each sticker of each position
    once.
    """
    squares = [
        (word, (x, y), *_read(word, orientations))
        for y, line in enumerate(text.strip("\n").splitlines())
        for x, word in enumerate(line.split())
        if word != NOTHING
    ]
    words, places, faces, stickers = zip(*squares, strict=True) if squares else [()] * 4
    if any(faces) and not all(faces):
        word = words[faces.index("")]
        raise InputError(
            f"puzzle.picture: {word!r} names no face, but {words[faces.index(max(faces))]!r} does; "
            "name the face of each square, or of none"
        )
    shown = [sticker for sticker in stickers if sticker is not None]
    each = orientations if any(faces) else [1] * len(orientations)
    wanted = [(position, k) for position, number in enumerate(each) for k in range(number)]
    wrong = sorted(sticker for sticker in {*wanted, *shown} if shown.count(sticker) != 1)
    if wrong:
        position, sticker = wrong[0]
        what = f"position {position + 1}"
        if any(faces) and orientations[position] > 1:
            what = f"sticker {sticker} of {what}"
        raise InputError(
            f"puzzle.picture shows {what} {counted(shown.count(wrong[0]), 'time')}; expected once"
        )
    return Net(places, faces, stickers, turns)


def _read(word: str, orientations: Sequence[int]) -> tuple[str, Place | None]:
    """Return (face, (position, sticker) or None) of a word of a picture."""
    found = WORD.fullmatch(word)
    face, position, sticker = found.groups() if found else ("", None, None)
    if not (face or position) or (sticker and not (face and position)):
        raise InputError(
            f"puzzle.picture: {word!r} is not a square; a square is a position such as 3, a "
            "sticker such as U3.1, a face, or . for no square"
        )
    if position is None:
        return face, None
    if not 1 <= int(position) <= len(orientations):
        raise InputError(
            f"puzzle.picture: {word!r} names position {int(position)}: this puzzle has "
            f"{counted(len(orientations), 'position')}"
        )
    number = orientations[int(position) - 1]
    if int(sticker or 0) >= number or (face and number > 1 and sticker is None):
        raise InputError(
            f"puzzle.picture: {word!r}: position {int(position)} has the stickers "
            f"0..{number - 1}, such as {face}{int(position)}.0"
        )
    return face, (int(position) - 1, int(sticker or 0))
