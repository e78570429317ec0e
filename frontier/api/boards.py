"""Boards and solutions as Python values."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from frontier.errors import InputError
from frontier.puzzles import Board, Puzzle
from frontier.report.boards import boards_html, draw_boards, film_strip
from frontier.report.solution import describe_moves, describe_solution, solution_value
from frontier.solving.solution import Solution
from frontier.text import counted
from frontier.values import as_written


def board_of(puzzle: Puzzle, board: ArrayLike | str | Mapping[str, Any]) -> Board:
    """Return the codes of a board in any form that `Run.board` takes."""
    flat = isinstance(board, list | tuple) and all(isinstance(c, Integral) for c in board)
    if isinstance(board, np.ndarray) and board.dtype.kind not in "OUS":
        board, flat = board.ravel(), True
    if not flat:
        return puzzle.position(as_written(board, "board"))
    boards = puzzle.notation.pieces.as_boards([board])
    puzzle.model.states_of(boards)  # raises InputError if it is not a board of the puzzle
    return tuple(boards[0].tolist())


def boards_of(
    puzzle: Puzzle, value: str | Mapping[str, Any] | ArrayLike | Sequence[Any]
) -> tuple[np.ndarray, bool]:
    """Return boards as int[N, cells], and whether the value is a single board.

    A value that could be either counts as a list of boards.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # its lists differ in length
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "OUS":
        single = array.ndim > 0 and array.size == puzzle.cells != array[0].size
        boards = array.reshape(1, puzzle.cells) if single else array
        return puzzle.notation.pieces.as_boards(boards), single
    if not array.ndim:
        return np.array([board_of(puzzle, value)]), True
    try:
        several: Any = value
        return np.array([board_of(puzzle, board) for board in several]), False
    except InputError as error:
        with suppress(InputError):
            return np.array([board_of(puzzle, value)]), True
        raise error


def board_or_start(puzzle: Puzzle, board: ArrayLike | str | Mapping[str, Any] | None) -> Board:
    """Return the codes of a board; of the start if `board` is None."""
    if board is not None:
        return board_of(puzzle, board)
    if puzzle.start is None:
        raise InputError(f"{puzzle.title} has no puzzle.start, so name a board to be solved")
    return puzzle.start


class Drawings:
    """Boards of a puzzle. `print` shows them as text; a notebook shows them in colour."""

    def __init__(self, puzzle: Puzzle, boards: Sequence[Board]):
        self.puzzle, self.boards = puzzle, list(boards)

    def __str__(self) -> str:
        return draw_boards(self.puzzle, self.boards)

    def __repr__(self) -> str:
        return f"<{counted(len(self.boards), 'board')} of {self.puzzle.title}>"

    def _repr_html_(self) -> str:
        lines = list(map(self.puzzle.line, self.boards))
        return boards_html(self.puzzle, self.boards, lines)


@dataclass(frozen=True, repr=False)
class Solved(Solution):
    """A shortest solution of a board. `print` shows it as text, and a notebook as a film strip.

    Attributes
    ----------
    boards
        The boards from the position to the goal, as codes.
    moves
        The names of the moves between them.
    puzzle
        The puzzle.
    method
        The method, one of `frontier.solving.methods.METHODS`.
    """

    puzzle: Puzzle
    method: str

    def __str__(self) -> str:
        said = describe_solution(self.puzzle, self, solution_value(self.puzzle, self, False))
        legend = describe_moves(self.puzzle, self.moves)
        return f"{said}\n\n{legend}" if legend else said

    def __repr__(self) -> str:
        first, goal = self.puzzle.line(self.boards[0]), self.puzzle.line(self.goal)
        return f"<Solution of {first}: {counted(self.distance, 'move')} to {goal}>"

    def _repr_html_(self) -> str:
        return film_strip(self.puzzle, self)
