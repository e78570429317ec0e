"""The notation of a puzzle: how its boards and moves are written, read and drawn.

A board is text, in rows on separate lines or between slashes, or one label per cell. A goal is a
board or a part of one: its open cells may hold anything.
"""

import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.puzzles.pieces import OPEN, Board, GivenBoards, Pieces
from frontier.text import counted

GOALS = "puzzle.goals"
"""The key of a config for several goals."""

BLANKS = {".", "·", "_", "□"}
"""Marks of an empty cell."""

OPEN_MARK = "?"
"""Mark of a cell of a goal that may hold anything."""


def rows_of_words(text: str) -> list[list[str]]:
    """Return rows of words separated by spaces or commas."""
    rows = [row.replace(",", " ").split() for row in text.replace("/", "\n").splitlines()]
    return [row for row in rows if row]


def value_written(board) -> Any:
    """Return the list or table that a text represents in the notation of a config or of JSON, such
    as "[[1, 2], [3, 0]]"; None if `board` is no such text."""
    if not isinstance(board, str) or board.lstrip()[:1] not in ("[", "{"):
        return None
    for read in (lambda text: tomllib.loads(f"board = {text}")["board"], json.loads):
        with suppress(ValueError, RecursionError):
            return read(board.strip())
    return None


def rows_of_letters(notation, name: str) -> list[str]:
    """Return the rows of single letters of a board, given as text or as a list of rows of text.

    Spaces do not count. Raises InputError, beginning with `name`, if the board is neither.
    """
    if isinstance(notation, list | tuple) and all(isinstance(row, str) for row in notation):
        notation = "\n".join(notation)
    if not isinstance(notation, str):
        raise InputError(f"{name} = {notation!r}: expected text, or a list of rows of text")
    rows = ["".join(row.split()) for row in notation.replace("/", "\n").splitlines()]
    return [row for row in rows if row]


def _words(text: str) -> list[str]:
    return [word for row in rows_of_words(text) for word in row]


def labels_given(
    notation,
    cells: int,
    name: str,
    place: str = "cell",
    whole: Callable[[str], bool] = str.isdigit,
) -> list[str]:
    """Return the labels of a board given as text or as a list, one per cell.

    place: the word for a cell in messages. whole: returns True if a word of several letters must be
    one label; then every word of this board is one label.
    """
    if isinstance(notation, str):
        words = _words(notation)
        # On a board of several words, 12 is one label, not two.
        wholes = len(words) > 1 and any(len(word) > 1 and whole(word) for word in words)
        if len(words) != cells and not wholes:
            words = list("".join(words))
    elif isinstance(notation, list | tuple):
        words = [str(word) for word in notation]
        for word in words:
            check_label(word, f"{name} = {notation!r}")
    else:
        raise InputError(f"{name} = {notation!r}: expected one label per cell, as text or a list")
    if len(words) != cells:
        raise InputError(
            f"{name} = {notation!r} has {counted(len(words), 'label')}: expected one for each "
            f"of the {counted(cells, place)}"
        )
    return words


def joined(labels: Sequence[str]) -> str:
    """Return labels as one line of text that `labels_given` reads."""
    return ("" if all(len(label) == 1 for label in labels) else " ").join(labels)


def check_label(label: str, name: str) -> None:
    """Raise InputError unless a text can hold the label."""
    if _words(label) != [label]:
        raise InputError(
            f"{name}: {label!r} is not a label; a label needs at least one letter, and no "
            "spaces, / or ,"
        )


def boards_given(goal, goals: Sequence | None, start=None) -> list[tuple[str, object]]:
    """Return (key of the config, board) for each goal, from `goal` or `goals`, and for the start,
    if there is one."""
    if (goal is None) == (goals is None):
        raise InputError("a puzzle of this kind needs either puzzle.goal or puzzle.goals")
    if goals is not None and (not isinstance(goals, list | tuple) or not goals):
        raise InputError(f"puzzle.goals = {goals!r}: expected a list of one board or more")
    boards = [("puzzle.goal", goal)] if goals is None else [(GOALS, board) for board in goals]
    return boards if start is None else [*boards, ("puzzle.start", start)]


def first_whole(boards: Sequence[tuple[str, Sequence]]) -> tuple[str, Sequence]:
    """Return the first (key, labels) without an open cell; raises InputError if every board has
    one."""
    for key, labels in boards:
        if OPEN_MARK not in labels:
            return key, labels
    raise InputError("no board shows all pieces; set a puzzle.start without ?")


def no_piece(where: str, label: Hashable, pieces: Iterable[Hashable]) -> InputError:
    """Return the error for a label that no piece of a puzzle has. where: the place of the label."""
    known = " ".join(map(str, pieces))
    return InputError(f"{where}: {label!r} is not a piece of this puzzle; its pieces are {known}")


def check_looks(key: str, looks: Iterable[str] | None, labels: Iterable[str]) -> None:
    """Raise InputError if a table of the looks of pieces, `puzzle.key`, names an unknown label."""
    if unknown := sorted(set(looks or ()) - set(labels)):
        raise InputError(f"puzzle.{key} names {', '.join(unknown)}: the board has no such piece")


def groups_given(alike, forms: Mapping[str, Hashable]) -> dict[str, int]:
    """Return the number of the group of each label in `puzzle.alike`.

    forms: for each label of the puzzle, a value that must be equal for all labels of one group.
    """
    if not isinstance(alike, list | tuple) or not all(
        isinstance(group, str) or _are_labels(group) for group in alike
    ):
        raise InputError(
            f"puzzle.alike = {alike!r}: expected a list of groups of labels, each a string of "
            'letters or a list of labels, as in ["ab", ["c1", "c2"]]'
        )
    group_of: dict[str, int] = {}
    for number, group in enumerate(alike):
        for label in group:
            name = f"puzzle.alike = {list(alike)}"
            if label not in forms:
                raise no_piece(name, label, forms)
            if label in group_of:
                raise InputError(f"{name}: {label!r} is named twice")
            group_of[label] = number
            if forms[label] != forms[group[0]]:
                raise InputError(
                    f"puzzle.alike = {list(alike)}: {group[0]!r} and {label!r} differ in form or "
                    "in the places that they can reach, so they cannot count as the same"
                )
    return {label: number for label, number in group_of.items() if len(alike[number]) > 1}


def _are_labels(group) -> bool:
    return isinstance(group, list | tuple) and all(isinstance(label, str) for label in group)


@dataclass(frozen=True)
class Drawing:
    """The look of boards.

    places: returns the middle of each cell. colours: the numbers of the pieces of each colour.
    edges: the pairs of cells that a picture joins; None if cells are squares. names: the names of
    the cells, if the names of moves contain them. symbols: label -> the text to draw instead.
    painted: label -> the colour, as #rrggbb, to use instead.
    ordered: True if the colours form a scale.
    """

    places: Callable[[], tuple[Point, ...]]
    colours: Sequence[Sequence[int]]
    edges: tuple[tuple[int, int], ...] | None = None
    names: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    painted: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False


class Notation(ABC):
    """The notation of one puzzle.

    labels: the text of each code on a written board, labels[0] for an empty cell. Several pieces
    may share a label. names_moves: True if moves have their own names, which do not name pieces.
    """

    names_moves = False

    def __init__(self, pieces: Pieces, labels: Sequence, drawing: Drawing):
        self.pieces, self.labels, self.drawing = pieces, list(labels), drawing
        self._code_of = {label: code for code, label in reversed([*enumerate(labels)])}
        self._code_of |= dict.fromkeys(BLANKS, 0)

    def marks(self, board, name: str) -> Sequence:
        """Return the labels of a board, one per cell. name: the name of the board in messages."""
        return labels_given(board, self.pieces.cells, name, self.pieces.place)

    def codes(self, marks: Sequence, name: str, part: bool) -> Board:
        """Return the codes of labels. part: True to allow `OPEN_MARK` for anything.

        Raises InputError for an unknown label, because later steps see only codes.
        """
        code_of = self._code_of | ({OPEN_MARK: OPEN} if part else {})
        for mark in marks:
            if mark not in code_of:
                pieces = dict.fromkeys(self.labels[1:])
                raise no_piece(f"{name} = {self.text(marks)}", mark, pieces)
        return tuple(code_of[mark] for mark in marks)

    def board_of(self, name: str, marks: Sequence, part: bool = False) -> Board:
        """Return a board, or with `part` a part of one, from its labels.

        Raises InputError, beginning with `name`, if the labels make no board.
        """
        board = self.codes(marks, name, part)
        if OPEN in board:
            return board
        if (settled := self.pieces.settled(board)) is None:
            raise InputError(f"{name} {self.line(board)}: {self.pieces.broken_rule(board)}")
        return settled

    def parse(self, board) -> Board:
        """Return a board from text, or from what `write` returns.

        Raises InputError if it is not a board of this puzzle.
        """
        return self.board_of("board", self.marks(board, "board"))

    def agreeing(self, part) -> dict[int, list[int]]:
        """Return the codes, by cell, that let a board agree with a part of a board.

        part: a board as `parse` takes it, with `OPEN_MARK` for cells that do not matter. Raises
        InputError if all cells are open, or if a label belongs to no piece.
        """
        try:
            marks = list(map(str, self.marks_of_part(part)))
        except InputError:
            if (value := value_written(part)) is None:
                raise
            marks = list(map(str, self.marks_of_part(value)))
        codes = {mark: self.codes_shown_as(mark) for mark in marks if mark != OPEN_MARK}
        if not codes:
            raise InputError(
                f"board {self.text(marks)} leaves all cells open; name at least one piece"
            )
        for mark, found in codes.items():
            if not found:
                labels = dict.fromkeys(self.labels[1:])
                raise no_piece(f"board {self.text(marks)}", mark, labels)
        return {cell: codes[mark] for cell, mark in enumerate(marks) if mark != OPEN_MARK}

    def marks_of_part(self, board) -> Sequence:
        """Return the labels of a part of a board, one per cell."""
        return labels_given(board, self.pieces.cells, "board", self.pieces.place)

    def codes_shown_as(self, mark: str) -> list[int]:
        """Return the codes that a mark on a written board may represent."""
        if mark in BLANKS:
            return [0]
        return [code for code, label in enumerate(self.labels) if str(label) == mark]

    def after_moves(self, text: str, board: Board) -> Board | None:
        """Return the board that a text of moves reaches from `board`; None if no word of the text
        is the name of a move. Raises InputError if only some words are names of moves."""
        return None

    def labels_on(self, board: Board) -> list:
        """Return the label of each cell of a board, or of a goal that is a part of one."""
        return [OPEN_MARK if code == OPEN else self.labels[code] for code in board]

    def write(self, board: Board):
        """Return the board in the form of a config or of JSON."""
        labels = self.labels_on(board)
        return "".join(labels) if all(len(label) == 1 for label in labels) else labels

    def line(self, board: Board) -> str:
        """Return the board as one line of text that `parse` reads."""
        return self.text(self.labels_on(board))

    def text(self, labels: Sequence) -> str:
        """Return labels, one per cell, as one line of text."""
        return joined(labels)

    @abstractmethod
    def name_move(self, before: Board, after: Board) -> str:
        """Return the name of the move that leads from one board to another."""

    @property
    def legend(self) -> tuple[str, Mapping[str, str]]:
        """How to read descriptions of moves, and the description of each move by name; empty if the
        names describe the moves."""
        return "", {}

    def meanings(self, moves: Iterable[str]) -> dict[str, str]:
        """Return the description of each given move by name; empty if the names describe the
        moves."""
        _, words = self.legend
        return {name: words[name] for name in moves} if words else {}

    def follow(self, before: Board, after: Board) -> Board:
        """Return the board after one move: the last of its `steps`."""
        return self.steps(before, after)[-1]

    def steps(self, before: Board, after: Board) -> list[Board]:
        """Return the boards after each step of one move. Like pieces keep the codes that they
        had before the move."""
        code, passed, _ = self.pieces.displaced(before, after)
        others = tuple(0 if other == code else other for other in before)
        return [
            tuple(code if cell in placement else other for cell, other in enumerate(others))
            for placement in passed[1:]
        ]

    def picture(self, board: Board) -> Picture:
        """Return the board, or a goal that is a part of one, as a picture."""
        drawing, marks = self.drawing, self.labels_on(board)
        kind = {code: n for n, codes in enumerate(drawing.colours) for code in codes}
        shared = {
            code: self._shown_as(self.labels[sort.codes[0]])
            for sort in self.pieces.sorts
            for code in sort.codes
            if not sort.distinct and self.labels[code] != self.labels[sort.codes[0]]
        }
        codes = self.pieces.numbers(np.array(board))
        # In reading order, so that the first cell of a piece stays its first cell when it moves.
        covers: dict[int, list[int]] = {}
        for cell in self.pieces.reading.tolist():
            covers.setdefault(int(codes[cell]), []).append(cell)
        pieces = [
            Piece(
                code, str(self.labels[code]), self._shown_as(marks[cells[0]]), kind.get(code),
                tuple(cells), shared.get(code, ""), drawing.painted.get(self.labels[code], ""),
            )
            for code, cells in sorted(covers.items())
            if code > 0
        ]  # fmt: skip
        return Picture(
            drawing.places(), tuple(pieces), tuple(np.flatnonzero(codes == OPEN).tolist()),
            len(drawing.colours), drawing.ordered, drawing.edges, drawing.names,
        )  # fmt: skip

    def _shown_as(self, label) -> str:
        return str(self.drawing.symbols.get(label, label))


def read_boards(notation: Notation, boards: Sequence[tuple[str, Sequence]]) -> GivenBoards:
    """Read the boards of a puzzle.

    boards: (key of the config, labels, one per cell) of the goals, which may be parts of boards,
    and of the start. The first whole board is the reference, whether goal or start.
    """
    reference = notation.board_of(*first_whole(boards))
    keys = ("puzzle.goal", GOALS)
    goals = tuple(notation.board_of(*goal, part=True) for goal in boards if goal[0] in keys)
    starts = [notation.board_of(*board) for board in boards if board[0] == "puzzle.start"]
    texts = tuple(map(notation.line, goals))
    return GivenBoards(goals, starts[0] if starts else None, reference, texts)
