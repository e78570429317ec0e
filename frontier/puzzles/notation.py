"""The notation of a puzzle: how its boards and moves are written, read and drawn.

A goal is a board or a part of one: the cells that are left open may hold anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_text import BLANKS, GOALS, OPEN_MARK, first_whole, joined, labels_given
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.puzzles.pieces import OPEN, Board, GivenBoards, Pieces


@dataclass(frozen=True)
class Drawing:
    """The look of boards.

    places: returns the middle of each cell. colours: for each colour the numbers of the pieces that
    have it. edges: the pairs of cells that a picture joins; None if cells are squares. names: of
    the cells, if the names of moves contain them. symbols: label -> the text drawn instead.
    ordered: True if the colours make a scale.
    """

    places: Callable[[], tuple[Point, ...]]
    colours: Sequence[Sequence[int]]
    edges: tuple[tuple[int, int], ...] | None = None
    names: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False


class Notation(ABC):
    """The notation of one puzzle.

    labels: the text of each code on boards as they are written, labels[0] for an empty cell.
    Several pieces may share a label. names_moves: True if moves have names of their own, which name
    no piece.
    """

    names_moves = False

    def __init__(self, pieces: Pieces, labels: Sequence, drawing: Drawing):
        self.pieces, self.labels, self.drawing = pieces, list(labels), drawing
        self._code_of = {label: code for code, label in reversed([*enumerate(labels)])}
        self._code_of |= dict.fromkeys(BLANKS, 0)

    def marks(self, board, name: str) -> Sequence:
        """Return the labels of a board, one a cell. name: that of the board in messages."""
        return labels_given(board, self.pieces.cells, name, self.pieces.place)

    def codes(self, marks: Sequence, name: str, part: bool) -> Board:
        """Return the codes of labels. part: allow `OPEN_MARK` for anything.

        Raises InputError for unknown labels here, as later steps see codes alone.
        """
        code_of = self._code_of | ({OPEN_MARK: OPEN} if part else {})
        for mark in marks:
            if mark not in code_of:
                raise InputError(
                    f"{name} = {self.text(marks)}: {mark!r} is no piece of this puzzle; its "
                    f"pieces are {' '.join(dict.fromkeys(self.labels[1:]))}"
                )
        return tuple(code_of[mark] for mark in marks)

    def board_of(self, name: str, marks: Sequence, part: bool = False) -> Board:
        """Return a board from its labels; with `part` it may be a part of one.

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

    def labels_on(self, board: Board) -> list:
        """Return the label of each cell of a board, or of a goal that is a part of one."""
        return [OPEN_MARK if code == OPEN else self.labels[code] for code in board]

    def write(self, board: Board):
        """Return the board as a config or JSON holds it."""
        labels = self.labels_on(board)
        return "".join(labels) if all(len(label) == 1 for label in labels) else labels

    def line(self, board: Board) -> str:
        """Return the board as one line of text that `parse` reads."""
        return self.text(self.labels_on(board))

    def text(self, labels: Sequence) -> str:
        """Return labels, one a cell, as one line of text."""
        return joined(labels)

    @abstractmethod
    def name_move(self, before: Board, after: Board) -> str:
        """Return the name of the move that leads from one board to another."""

    @property
    def legend(self) -> tuple[str, Mapping[str, str]]:
        """How to read what moves do, and what each does, by its name; empty where their names say
        it."""
        return "", {}

    def meanings(self, moves: Iterable[str]) -> dict[str, str]:
        """Return what each of some moves does, by its name, once; empty where names say it."""
        _, words = self.legend
        return {name: words[name] for name in moves} if words else {}

    def follow(self, before: Board, after: Board) -> Board:
        """Return the board after one move, the last of its `steps`."""
        return self.steps(before, after)[-1]

    def steps(self, before: Board, after: Board) -> list[Board]:
        """Return the boards that one move passes, the last included; like pieces keep the codes
        that they had before it."""
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
        # In reading order, in which the first cell of a piece stays its first where it moves on.
        covers: dict[int, list[int]] = {}
        for cell in self.pieces.reading.tolist():
            covers.setdefault(int(codes[cell]), []).append(cell)
        pieces = [
            Piece(
                code, str(self.labels[code]), self._shown_as(marks[cells[0]]), kind.get(code),
                tuple(cells), shared.get(code, ""),
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

    boards: (key of the config, labels one a cell) of the goals, which may be parts of boards, and
    of the start. The first whole one, whatever its key, is the reference.
    """
    reference = notation.board_of(*first_whole(boards))
    keys = ("puzzle.goal", GOALS)
    goals = tuple(notation.board_of(*goal, part=True) for goal in boards if goal[0] in keys)
    starts = [notation.board_of(*board) for board in boards if board[0] == "puzzle.start"]
    texts = tuple(map(notation.line, goals))
    return GivenBoards(goals, starts[0] if starts else None, reference, texts)
