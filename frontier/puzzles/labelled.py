"""Boards that are written as one label a cell: what graphs and cells of one's own share."""

from collections.abc import Sequence

from frontier.puzzles.notation import OPEN_MARK, joined
from frontier.puzzles.pieces import OPEN, Pieces
from frontier.puzzles.puzzle import Board


class Labelled(Pieces):
    """Subclasses set `_labels`, by code, before `Pieces` is made."""

    _labels: list[str]

    @property
    def labels(self) -> Sequence[str]:
        return self._labels

    def _marks(self, board: Board) -> list[str]:
        return [OPEN_MARK if code == OPEN else self._labels[code] for code in board]

    def write(self, board: Board) -> list[str] | str:
        marks = self._marks(board)
        return "".join(marks) if all(len(mark) == 1 for mark in marks) else marks

    def line(self, board: Board) -> str:
        return joined(self._marks(board))
