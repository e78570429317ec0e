"""The pieces of a puzzle and their cells, shared by its model and its notation.

A board is a tuple with one code for each cell: 0 for an empty cell, otherwise the number of the
piece there. In permutation puzzles the code also gives its orientation. Pieces that count as the
same lie in the order of their codes, so equal positions are equal boards.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Sort, shape_rows
from frontier.text import counted

Board = tuple[int, ...]

OPEN = -1
"""The code of a cell of a goal that may hold anything."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces:
    """The pieces of a puzzle.

    reading: int64[cells], the cells in reading order. sorts: the sorts of the pieces. rule: the
    rule that every board obeys, in words. place: the word for a cell in messages.
    """

    reading: np.ndarray
    sorts: tuple[Sort, ...]
    rule: str
    place: str = "cell"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.reading)

    @property
    def count(self) -> int:
        """The number of pieces, whose codes are 1, 2, …"""
        return sum(len(sort.codes) for sort in self.sorts)

    @property
    def greatest_code(self) -> int:
        """The greatest code that a cell of a board can have."""
        return self.count

    def as_boards(self, boards) -> np.ndarray:
        """Return boards as int[N, cells]; raises InputError if they do not form such an array."""
        try:
            boards = np.asarray(boards)
        except ValueError as error:
            raise InputError(f"the boards do not form an array: {error}") from None
        if not boards.ndim:
            raise InputError(f"boards = {boards.item()!r}: expected an array, int[N, {self.cells}]")
        if not len(boards):
            boards = np.empty((0, self.cells), dtype=np.int64)
        boards = boards.reshape(len(boards), int(np.prod(boards.shape[1:])))
        if boards.shape[1] != self.cells or not np.issubdtype(boards.dtype, np.integer):
            raise InputError(
                f"boards of {counted(boards.shape[1], self.place)} of type {boards.dtype}: boards "
                f"of this puzzle have {counted(self.cells, 'whole number')}"
            )
        return boards

    @staticmethod
    def whole_once(pieces: str) -> str:
        """Return the usual rule. pieces: all pieces, as text."""
        return f"every piece of {pieces} must appear once, whole"

    def broken_rule(self, board: Board) -> str:
        """Return the rule that the codes of a board break, in words."""
        if not all(0 <= code <= self.count for code in board):
            return f"codes are 0 (empty) and 1..{self.count}"
        return self.rule

    def numbers(self, boards: np.ndarray) -> np.ndarray:
        """Return the numbers of the pieces on boards, from their codes."""
        return boards

    def shape_rows(self, boards: np.ndarray) -> np.ndarray:
        """Return the shape rows of boards, as `frontier.puzzles.board_shapes.shape_rows` does."""
        return shape_rows(np.take(self.numbers(boards), self.reading, axis=1), self.sorts)

    def laid(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the boards, int64[N, cells], of shapes whose pieces have these codes at their
        anchors.

        codes: int64[N, cells] in reading order, 0 in empty cells. Other cells are overwritten with
        the code of the piece that covers them.
        """
        for number, sort in enumerate(self.sorts):
            for first, *others in sort.footprint.placements if sort.footprint.size > 1 else ():
                matching = np.flatnonzero(rows[:, first] == FIRST_SORT + number)
                codes[np.ix_(matching, np.array(others))] = codes[matching, first][:, None]
        return np.take(codes, np.argsort(self.reading), axis=1)

    def settled(self, board: Board) -> Board | None:
        """Return the board with like pieces in the order of their codes; None if it is not a board
        of this puzzle."""
        boards = np.array([board])
        rows, in_order = self.shape_rows(boards), self.numbers(boards)[:, self.reading]
        if not rows.all():
            return None
        for number, sort in enumerate(self.sorts):
            if not sort.distinct:
                in_order[rows == FIRST_SORT + number] = sort.codes
        numbers = self.laid(rows, in_order)
        return tuple((boards + numbers - self.numbers(boards))[0].tolist())

    def order_on(self, board: Board) -> tuple[int, ...]:
        """Return the numbers of all pieces in their order on a board, sort by sort."""
        shown = dict.fromkeys(self.numbers(np.array(board))[self.reading].tolist())
        return tuple(code for sort in self.sorts for code in shown if code in sort.codes)

    def displaced(
        self, before: Board, after: Board
    ) -> tuple[int, list[tuple[int, ...]], tuple[int, ...]]:
        """Return (code, cells, ways) of the piece that one move displaces: on a shortest path over
        empty cells, the cells that it covers before and after each step, and the way of each
        step."""
        pair = np.array([before, after])[:, self.reading]
        rows_before, rows_after = shape_rows(pair, self.sorts)
        (a,) = np.flatnonzero((rows_before >= FIRST_SORT) & (rows_before != rows_after))
        (b,) = np.flatnonzero((rows_after >= FIRST_SORT) & (rows_before != rows_after))
        footprint = self.sorts[rows_before[a] - FIRST_SORT].footprint
        placements, beyond = footprint.placements, footprint.beyond
        first, last = footprint.at[a], footprint.at[b]
        free = {*np.flatnonzero(rows_before == EMPTY).tolist(), *placements[first]}
        paths: dict[int, tuple[tuple[int, int], ...]] = {first: ()}
        queue = [first]
        for placement in queue:
            for way, following in beyond[placement].items():
                if following not in paths and free.issuperset(placements[following]):
                    paths[following] = (*paths[placement], (way, following))
                    queue.append(following)
        ways, passed = zip(*paths[last], strict=True)
        cells = [tuple(self.reading[list(placements[p])].tolist()) for p in (first, *passed)]
        return before[cells[0][0]], cells, ways


@dataclass(frozen=True, eq=False, kw_only=True)
class TurnedPieces(Pieces):
    """Pieces that may be turned, one in each position.

    The code of a piece is its number plus its orientation times the number of positions.
    orientations: int64[positions], the number of orientations in each. wild: bool[pieces], True if
    the orientation of a piece does not matter; it is then 0 on boards.
    """

    orientations: np.ndarray
    wild: np.ndarray

    @property
    def greatest_code(self) -> int:
        return self.cells * int(self.orientations.max())

    def numbers(self, boards: np.ndarray) -> np.ndarray:
        return 1 + (boards - 1) % self.cells

    def turns(self, boards: np.ndarray) -> np.ndarray:
        """Return the orientations of the pieces on boards."""
        return (boards - 1) // self.cells

    def shape_rows(self, boards: np.ndarray) -> np.ndarray:
        rows, turns = super().shape_rows(boards), self.turns(boards)
        rows[((turns < 0) | (turns >= self.orientations)).any(axis=1)] = 0
        return rows

    def settled(self, board: Board) -> Board | None:
        if (settled := super().settled(board)) is None:
            return None
        numbers = self.numbers(np.array(settled))
        return tuple(np.where(self.wild[numbers - 1], numbers, settled).tolist())

    def broken_rule(self, board: Board) -> str:
        return self.rule


class GivenBoards(NamedTuple):
    """The boards that define a puzzle.

    goals: the positions at depth 0, as boards or parts of boards. start: a position whose distance
    from the goal is wanted, if any; the puzzle then has only the positions that can be reached from
    it. reference: a board that shows all pieces. goal_texts: the goals as text.
    """

    goals: tuple[Board, ...]
    start: Board | None
    reference: Board
    goal_texts: tuple[str, ...]
