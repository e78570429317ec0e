"""Boards of pieces on cells: how they are written, read and drawn.

A board is a tuple with one code for each cell: 0 for an empty cell, else the number of the piece
that lies there, which in permutation puzzles also says how it is turned. Pieces that count as the
same lie in the order of their codes, so that equal positions are equal boards.

A puzzle has a number of cells in a reading order, sorts of pieces with their footprints, a metric
and one or more goals. A goal is a board or a part of one: the cells that are left open may
hold anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Sort, shape_rows
from frontier.puzzles.metrics import check_metric, metrics_of
from frontier.puzzles.notation import (
    BLANKS,
    GOALS,
    OPEN_MARK,
    first_whole,
    joined,
    labels_given,
)
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.text import counted

Board = tuple[int, ...]

OPEN = -1
"""Code of a goal's cell that may hold anything."""


class Boards(ABC):
    """The boards of a puzzle.

    labels: what stands for each code on boards as they are written, labels[0] for an empty cell.
        Several pieces may share a label.
    reading: int64[cells], the cells in reading order. sorts: the sorts of the pieces.
    """

    title: str
    cells: int
    goals: tuple[Board, ...]
    """The positions at depth 0, as boards or parts of boards."""

    start: Board | None
    """A position whose distance from the goal is asked for, if any; then the positions of the
    puzzle are those that can be reached from it."""

    names_moves = False
    """Whether moves have names of their own, which tell no piece."""

    place = "cell"
    """What messages call a place of a board."""

    kind: ClassVar[str]
    """The name of the kind of puzzle, which decides its metrics."""

    _places: tuple[Point, ...]
    """Where the cells lie in a picture."""
    _edges: tuple[tuple[int, int], ...] | None = None
    """The pairs of cells that a picture joins; None where cells are squares."""
    _names: tuple[str, ...] = ()
    """The names of the cells, where the names of moves contain them."""
    _symbols: Mapping[str, str] = MappingProxyType({})
    """Label -> what is drawn instead."""
    _ordered = False
    """Whether the colours of pieces make a scale."""

    def __init__(
        self,
        reading: Sequence[int],
        sorts: Sequence[Sort],
        labels: Sequence,
        metric: str,
        boards: Sequence[tuple[str, Sequence]],
    ):
        """boards: (key of the config, labels one a cell) of the goals, which may be parts of
        boards, and of the start. The first whole one, whatever its key, shows all pieces.
        """
        check_metric(metric, metrics_of(self.kind))
        self.cells, self.metric = len(reading), metric
        self.reading, self.labels = np.array(reading), list(labels)
        self.sorts = tuple(sorts)
        self._code_of = {label: code for code, label in reversed([*enumerate(labels)])}
        self._code_of |= dict.fromkeys(BLANKS, 0)
        self._reference = self._read(*first_whole(boards))
        goals = [board for board in boards if board[0] in ("puzzle.goal", GOALS)]
        self.goals = tuple(self._read(*goal, part=True) for goal in goals)
        starts = [self._read(*board) for board in boards if board[0] == "puzzle.start"]
        self.start = starts[0] if starts else None

    def _marks(self, notation, name: str) -> Sequence:
        """The labels of a board, one a cell; `name` says where it stands."""
        return labels_given(notation, self.cells, name)

    def _codes(self, marks: Sequence, name: str, part: bool) -> Board:
        """The codes of labels. part: whether `OPEN_MARK` may stand for anything.

        Unknown labels are refused here, as later steps see codes alone.
        """
        code_of = self._code_of | ({OPEN_MARK: OPEN} if part else {})
        for mark in marks:
            if mark not in code_of:
                raise InputError(
                    f"{name} = {self._text(marks)}: {mark!r} is no piece of this puzzle; its "
                    f"pieces are {' '.join(dict.fromkeys(self.labels[1:]))}"
                )
        return tuple(code_of[mark] for mark in marks)

    def _read(self, name: str, marks: Sequence, part: bool = False) -> Board:
        """A board from its labels; with `part` it may be a part of one."""
        board = self._codes(marks, name, part)
        return board if OPEN in board else self._settled(board, name)

    def _settled(self, board: Board, name: str) -> Board:
        """The board with like pieces in the order of their codes; InputError if it is not one."""
        in_order = np.array([board])[:, self.reading]
        rows = shape_rows(in_order, self.sorts)
        if not rows.all():
            raise InputError(self._why_not(board, name))
        for number, sort in enumerate(self.sorts):
            if not sort.distinct:
                in_order[rows == FIRST_SORT + number] = sort.codes
        return tuple(self._laid(rows, in_order)[0].tolist())

    def parse(self, notation) -> Board:
        """A board from text, or from what `write` returns; InputError if it is not one."""
        return self._read("board", self._marks(notation, "board"))

    def labels_on(self, board: Board) -> list:
        """What stands for each cell of a board, or of a goal that is a part of one."""
        return [OPEN_MARK if code == OPEN else self.labels[code] for code in board]

    def write(self, board: Board):
        """The board as it stands in a config or in JSON."""
        labels = self.labels_on(board)
        return "".join(labels) if all(len(label) == 1 for label in labels) else labels

    def line(self, board: Board) -> str:
        """The board as one line of text that `parse` reads."""
        return self._text(self.labels_on(board))

    def _text(self, labels: Sequence) -> str:
        """Labels, one a cell, as one line of text."""
        return joined(labels)

    def as_boards(self, boards) -> np.ndarray:
        """Boards as an array of whole numbers, [N, cells]; InputError if they make none."""
        try:
            boards = np.asarray(boards)
        except ValueError as error:
            raise InputError(f"boards that make no array: {error}") from None
        if not boards.ndim:
            raise InputError(f"boards = {boards.item()!r}: expected an array, int[N, {self.cells}]")
        if not len(boards):
            boards = np.empty((0, self.cells), dtype=np.int64)
        boards = boards.reshape(len(boards), int(np.prod(boards.shape[1:])))
        if boards.shape[1] != self.cells or not np.issubdtype(boards.dtype, np.integer):
            raise InputError(
                f"boards of {counted(boards.shape[1], self.place)} of type {boards.dtype}: those "
                f"of this puzzle have {counted(self.cells, 'whole number')}"
            )
        return boards

    def _why_not(self, board: Board, name: str) -> str:
        """A sentence on what is wrong with the codes of a board; `name` says where it stands."""
        if not all(0 <= code < len(self.labels) for code in board):
            return f"{name} {list(board)}: codes are 0 (empty) and 1..{len(self.labels) - 1}"
        return (
            f"{name} {self.line(board)}: every piece of {self.line(self._reference)} must lie in "
            "it whole, once"
        )

    def _pieces_on(self, boards: np.ndarray) -> np.ndarray:
        """The numbers of the pieces that the codes of boards stand for."""
        return boards

    def _shape_rows(self, boards: np.ndarray) -> np.ndarray:
        """The shape rows of boards, as of `shape_rows`."""
        return shape_rows(np.take(boards, self.reading, axis=1), self.sorts)

    def _laid(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The boards, int64[N, cells], of shapes whose pieces have these codes at their anchors.

        codes: int64[N, cells] in reading order, 0 in empty cells. Other cells are overwritten with
        the code of the piece that covers them.
        """
        for number, sort in enumerate(self.sorts):
            for first, *rest in sort.footprint.placements if sort.footprint.size > 1 else ():
                here = np.flatnonzero(rows[:, first] == FIRST_SORT + number)
                codes[np.ix_(here, rest)] = codes[here, first][:, None]
        return np.take(codes, np.argsort(self.reading), axis=1)

    def _kinds(self) -> list[Sequence[int]]:
        """The codes of the pieces that have one colour in pictures, for each colour."""
        return [sort.codes for sort in self.sorts]

    def picture(self, board: Board) -> Picture:
        """The board, or a goal that is a part of one, as a picture."""
        kinds, marks = self._kinds(), self.labels_on(board)
        kind = {code: n for n, codes in enumerate(kinds) for code in codes}
        shared = {
            code: self._shown_as(self.labels[sort.codes[0]])
            for sort in self.sorts
            for code in sort.codes
            if not sort.distinct and self.labels[code] != self.labels[sort.codes[0]]
        }
        codes = self._pieces_on(np.array(board))
        # In reading order, in which the first cell of a piece stays its first where it moves on.
        covers: dict[int, list[int]] = {}
        for cell in self.reading.tolist():
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
            self._places, tuple(pieces), tuple(np.flatnonzero(codes == OPEN).tolist()), len(kinds),
            self._ordered, self._edges, self._names,
        )  # fmt: skip

    def _shown_as(self, label) -> str:
        return str(self._symbols.get(label, label))

    @abstractmethod
    def name_move(self, before: Board, after: Board) -> str:
        """What a person calls the move that leads from one board to another."""

    def follow(self, before: Board, after: Board) -> Board:
        """The board after one move, the last of its `steps`."""
        return self.steps(before, after)[-1]

    def steps(self, before: Board, after: Board) -> list[Board]:
        """The boards that one move passes, the last included; like pieces carry the codes that they
        had before it."""
        code, passed, _ = self._displaced(before, after)
        rest = tuple(0 if there == code else there for there in before)
        return [
            tuple(code if cell in placement else there for cell, there in enumerate(rest))
            for placement in passed[1:]
        ]

    def _displaced(
        self, before: Board, after: Board
    ) -> tuple[int, list[tuple[int, ...]], tuple[int, ...]]:
        """(code, the cells that it covers one after the other, ways) of the piece that one move
        displaces: those of a shortest path over cells that are empty.
        """
        pair = np.array([before, after])[:, self.reading]
        was, now = shape_rows(pair, self.sorts)
        (a,) = np.flatnonzero((was >= FIRST_SORT) & (was != now))
        (b,) = np.flatnonzero((now >= FIRST_SORT) & (was != now))
        footprint = self.sorts[was[a] - FIRST_SORT].footprint
        placements, beyond = footprint.placements, footprint.beyond
        first, last = footprint.at[a], footprint.at[b]
        free = {*np.flatnonzero(was == EMPTY).tolist(), *placements[first]}
        paths: dict[int, tuple[tuple[int, int], ...]] = {first: ()}
        queue = [first]
        for here in queue:
            for way, on in beyond[here].items():
                if on not in paths and free.issuperset(placements[on]):
                    paths[on] = (*paths[here], (way, on))
                    queue.append(on)
        ways, passed = zip(*paths[last], strict=True)
        cells = [tuple(self.reading[list(placements[p])].tolist()) for p in (first, *passed)]
        return before[cells[0][0]], cells, ways
