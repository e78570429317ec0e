"""The notation of permutation puzzles: a label and an orientation for each position."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.generators import MOST_DIGITS, MOST_ORIENTATIONS, Generator
from frontier.puzzles.nets import Net, Place, numbers_of
from frontier.puzzles.notation import OPEN_MARK, Drawing, Notation, joined, labels_given
from frontier.puzzles.picture import Picture
from frontier.puzzles.pieces import Board, TurnedPieces
from frontier.puzzles.sequences import effect_of, names_moves

TURNED = "+"

WILD = -1
"""The orientation, written +?, of a piece whose orientation does not matter."""

Alike = dict[tuple[int, str], list[int]]
"""(first position of the orbit, label) -> the numbers of the pieces."""


class PermutationNotation(Notation):
    """Boards with one label per position, each followed by the orientation of the piece."""

    names_moves = True
    pieces: TurnedPieces

    def __init__(
        self, pieces: TurnedPieces, labels: Sequence[str], drawing: Drawing, alike: Alike,
        generators: Sequence[Generator], orbit: np.ndarray, net: Net | None,
    ):  # fmt: skip
        super().__init__(pieces, labels, drawing)
        self._alike, self.generators, self._orbit, self._net = alike, generators, orbit, net

    def picture(self, board: Board) -> Picture:
        net = self._net
        if net is None or not net.of_stickers:
            return replace(super().picture(board), walls=False)
        codes, each = np.array(board), self.pieces.orientations.tolist()
        numbers, turns = self.pieces.numbers(codes).tolist(), self.pieces.turns(codes).tolist()
        first_number = np.cumsum([1, *each]).tolist()
        looks_like = {code: codes[0] for codes in self._alike.values() for code in codes}

        def shown(place: Place) -> tuple[int, Place | None]:
            position, sticker = place
            number, turn, count = numbers[position], turns[position], each[position]
            seen = first_number[number - 1] + (sticker - turn) % count
            if self.pieces.wild[number - 1] or self.labels[number] == OPEN_MARK:
                return seen, None
            like = looks_like[number]
            return seen, (like - 1, (sticker - turn + net.turns[like - 1]) % count)

        return net.picture(shown)

    def marks(self, board, name: str) -> list[str]:
        return marks_given(board, name, self.pieces.orientations.tolist())

    def codes_shown_as(self, mark: str) -> list[int]:
        label, turn = parted(mark, int(self.pieces.orientations.max()))
        codes = [code for code, other in enumerate(self.labels) if code and other == label]
        return [code + self.pieces.cells * turn for code in codes]

    def codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        free = {key: list(codes) for key, codes in self._alike.items()}
        board = []
        for position, mark in enumerate(marks):
            label, turn = parted(mark, self.pieces.orientations[position])
            codes_left = free.get((int(self._orbit[position]), label))
            if not codes_left:
                raise InputError(
                    f"{name} = {joined(marks)}: {label!r} in position {position + 1} appears too "
                    "often, or cannot be there; the pieces of this puzzle are "
                    f"{joined(self.labels[1:])}"
                )
            code = codes_left.pop(0)
            wild = self.pieces.wild[code - 1]
            if turn == WILD and not wild:
                raise InputError(
                    f"{name} = {joined(marks)}: {mark} in position {position + 1}, but the "
                    "orientation of this piece matters, because the goal does not write it as "
                    f"{mark}"
                )
            board.append(code + self.pieces.cells * (0 if wild else turn))
        return tuple(board)

    def labels_on(self, board: Board) -> list[str]:
        codes = np.array(board)
        numbers, turns = self.pieces.numbers(codes), self.pieces.turns(codes)
        return [
            f"{self.labels[number]}{TURNED}{turn}" if turn else self.labels[number]
            for number, turn in zip(numbers.tolist(), turns.tolist(), strict=True)
        ]

    def after_moves(self, text: str, board: Board) -> Board | None:
        moves, each = {g.name: g for g in self.generators}, self.pieces.orientations.tolist()
        if not names_moves(text, moves):
            return None
        effect = effect_of(text, moves, each, "read as moves from the goal, ")
        return self.pieces.settled(self.moved(effect, board))

    def moved(self, generator: Generator, board: Board) -> Board:
        """Return the board after a generator."""
        codes = np.array(board)
        turns = (self.pieces.turns(codes) + generator.turns) % self.pieces.orientations
        after = generator.moved(self.pieces.numbers(codes) + self.pieces.cells * turns)
        return tuple(after.tolist())

    def _move(self, before: Board, after: Board) -> tuple[Generator, Board]:
        """Return the generator that leads from one board to another, and the board after it."""
        settled, led = self.pieces.settled, [(g, self.moved(g, before)) for g in self.generators]
        exact = [pair for pair in led if pair[1] == after]
        like = [pair for pair in led if settled(pair[1]) == settled(after)]
        return (exact or like)[0]

    def name_move(self, before: Board, after: Board) -> str:
        """Return the name of the generator."""
        return self._move(before, after)[0].name

    @property
    def legend(self) -> tuple[str, Mapping[str, str]]:
        each, numbers = self.pieces.orientations.tolist(), numbers_of(self.pieces.cells)
        names = numbers if self._net is None else self._net.names(self.pieces.cells)
        name_by_effect = {generator.effect: generator.name for generator in self.generators}
        by_faces = "named by their faces" if names != numbers else "counted from 1"
        turned = ", +1: its orientation grows by 1" if max(each) > 1 else ""
        key = f"a → b: the piece in position a goes to b{turned}; positions are {by_faces}"
        return key, {
            generator.name: generator.in_words(
                each, names, name_by_effect.get(generator.inverse(each).effect)
            )
            for generator in self.generators
        }

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [self._move(before, after)[1]]


def marks_given(board, name: str, orientations: Sequence[int]) -> list[str]:
    """Return the labels of a board, one per position, with their turns."""

    def is_whole(word: str) -> bool:
        """Return whether a word of a board must be one label: a number, or a label and a turn."""
        turned = max(orientations) > 1 and split_mark(word)[0] != word
        return turned or word.isdigit()

    marks = labels_given(board, len(orientations), name, "position", is_whole)
    for mark, number in zip(marks, orientations, strict=True):
        if parted(mark, number)[1] >= number:
            raise InputError(
                f"{name} = {joined(marks)}: {mark} is in a position whose orientations are "
                f"0..{number - 1}"
            )
    return marks


def parted(mark: str, orientations: int) -> tuple[str, int]:
    """Return (label, orientation) of a mark in a position with `orientations` orientations."""
    if mark == OPEN_MARK and orientations > 1:
        return mark, WILD
    return split_mark(mark) if orientations > 1 else (mark, 0)


def split_mark(mark: str) -> tuple[str, int]:
    """Return the label and the orientation of a mark on a board."""
    label, plus, turned = mark.rpartition(TURNED)
    if label and turned == OPEN_MARK:
        return label, WILD
    if not (label and plus and turned.isdecimal()):
        return mark, 0
    return label, int(turned) if len(turned) <= MOST_DIGITS else MOST_ORIENTATIONS
