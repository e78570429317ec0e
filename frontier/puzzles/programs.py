"""Puzzles whose moves a user's file lists: states as digits, and how they are written.

A board is the digits of a state. The file need not be run to read them; only what its functions
show, read or name needs it (`frontier.puzzles.program_file`).
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.keyed import DigitEncoding
from frontier.puzzles.model import Model
from frontier.puzzles.notation import OPEN_MARK, Drawing, Notation
from frontier.puzzles.picture import Picture, Piece
from frontier.puzzles.pieces import OPEN, Board, GivenBoards, Pieces
from frontier.puzzles.program_file import Program
from frontier.puzzles.puzzle import Puzzle
from frontier.space.keys import Rules
from frontier.text import counted

WALL = "#"
"""The character of a text that is drawn as a wall."""

LONGEST_VALUE = 30
"""A title names the parameters that are written with at most this many characters."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Digits(Pieces):
    """The digits of a state, in place of the pieces on cells."""

    radices: tuple[int, ...]

    @property
    def greatest_code(self) -> int:
        return max(self.radices) - 1

    def settled(self, board: Board) -> Board | None:
        return board if all(map(operator.contains, map(range, self.radices), board)) else None

    def broken_rule(self, board: Board) -> str:
        pairs = zip(board, self.radices, strict=True)
        at, (digit, radix) = next(
            (i, pair) for i, pair in enumerate(pairs) if pair[0] not in range(pair[1])
        )
        return f"digit {at} is {digit}, but digits from 0 to {radix - 1} are stated in radices"


class ProgramEncoding(DigitEncoding):
    """Boards are the digits of states."""

    pieces: Digits

    def __init__(self, pieces: Digits, given: GivenBoards, stated: Mapping[str, Any], rules):
        super().__init__(pieces, "moves", given)
        self.undone, self._layer = stated["undone"], stated["layer"]
        self._most, self.classes, self._rules = stated["most"], stated["classes"], rules

    @property
    def radices(self) -> Sequence[int]:
        return self.pieces.radices

    @property
    def most(self) -> int:
        return self._most

    @property
    def rules(self) -> Rules:
        return self._rules()

    @property
    def revisits(self) -> bool:
        return not (self.undone or self._layer)

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boards = self.pieces.as_boards(boards)
        wrong = ((boards < 0) | (boards >= np.array(self.pieces.radices))).any(axis=1)
        if wrong.any():
            board = boards[wrong.argmax()].tolist()
            raise InputError(f"board {board}: {self.pieces.broken_rule(board)}")
        return self._states(boards, boards)

    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(boards), np.int64), boards.astype(np.int64)

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        return sequence


class ProgramNotation(Notation):
    """States as their digits, or as the user's functions show and read them."""

    names_moves = True
    pieces: Digits

    def __init__(self, pieces: Digits, program: Program):
        super().__init__(pieces, [], Drawing(tuple, ()))
        self._program = program

    def _has(self, name: str) -> bool:
        """Return whether the user's file has a function, and it may be run."""
        return self._program.trusted and self._program.table.get(name) is not None

    def marks(self, board: Any, name: str) -> Sequence:
        if isinstance(board, str) and self._has("read"):
            digits = self._program.call("read", board.replace("/", "\n"))
            if not isinstance(digits, Iterable):
                raise InputError(f"puzzle.file: read returns {digits!r:.100}: expected digits")
            return list(digits)
        return super().marks(board, name)

    def codes(self, marks: Sequence, name: str, part: bool) -> Board:
        try:
            return tuple(OPEN if part and mark == OPEN_MARK else int(str(mark)) for mark in marks)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} = {marks}: expected one whole number for each digit"
            ) from None

    def board_of(self, name: str, marks: Sequence, part: bool = False) -> Board:
        if len(marks) != self.pieces.cells:
            raise InputError(
                f"{name} has {counted(len(marks), 'digit')}: expected {self.pieces.cells}"
            )
        return super().board_of(name, marks, part)

    def codes_shown_as(self, mark: str) -> list[int]:
        return [int(mark)] if mark.isdigit() else []

    def labels_on(self, board: Board) -> list:
        return [OPEN_MARK if code == OPEN else str(code) for code in board]

    def _shown(self, board: Board) -> str | None:
        """Return the text of the user's function; None without one."""
        if OPEN in board or not self._has("show"):
            return None
        return self._program.written("show", np.array(board))

    def line(self, board: Board) -> str:
        shown = self._shown(board)
        return super().line(board) if shown is None else "/".join(shown.splitlines())

    def write(self, board: Board) -> Any:
        return self.line(board)

    def name_move(self, before: Board, after: Board) -> str:
        if self._has("move"):
            return self._program.written("move", np.array(before), np.array(after))
        pairs = enumerate(zip(before, after, strict=True))
        return " ".join(f"{at}:{old}→{new}" for at, (old, new) in pairs if old != new)

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [after]

    def picture(self, board: Board) -> Picture:
        """Return the characters of the user's text as cells, # as walls; or the digits in a row."""
        shown = self._shown(board)
        rows = [self.labels_on(board)] if shown is None else shown.splitlines()
        marks = [(x, y, m) for y, row in enumerate(rows) for x, m in enumerate(row) if m != WALL]
        pieces = tuple(
            Piece(cell + 1, str(cell), mark, None, (cell,))
            for cell, (_, _, mark) in enumerate(marks)
            if mark.strip()
        )
        return Picture(tuple((x, y) for x, y, _ in marks), pieces, (), 1, False)


def program_puzzle(
    file: str, text: str, stated: Mapping[str, Any], goal=None, start=None, **parameters
) -> Puzzle:
    """Return the puzzle of a user's file, without running it.

    text, stated: the content of the file, and what it states (`read_program`). parameters: what its
    function is called with.
    """
    if goal is not None:
        raise InputError(
            f"puzzle.goal: the search begins at the start that {file} states; remove it"
        )
    program, radices = Program(file, text, parameters), tuple(stated["radices"])
    pieces = Digits(
        reading=np.arange(len(radices)), sorts=(), rule="", place="digit", radices=radices
    )
    notation = ProgramNotation(pieces, program)
    starts = tuple(map(tuple, stated["starts"]))
    board = None
    if start is not None:
        board = notation.board_of("puzzle.start", notation.marks(start, "puzzle.start"))
    given = GivenBoards(starts, board, starts[0], tuple(map(notation.line, starts)))
    encoding = ProgramEncoding(pieces, given, stated, lambda: program.rules)
    values = [f"{key} = {value}" for key, value in parameters.items()]
    short = (value for value in values if len(value) <= LONGEST_VALUE and value.isprintable())
    title = ", ".join([Path(file).stem, *short])
    return Puzzle("program", title, Model(encoding, board), notation)
