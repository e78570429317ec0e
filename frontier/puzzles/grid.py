"""Numbered tiles and one blank in rows and columns: what `tiles` and `pattern` have in common."""

import operator
from collections.abc import Sequence
from typing import ClassVar

from frontier.errors import InputError
from frontier.puzzles.board_shapes import Sort
from frontier.puzzles.footprints import ARROWS, Square, footprint_of, ways_on_squares
from frontier.puzzles.notation import BLANKS, rows_of_words
from frontier.puzzles.pieces import Pieces
from frontier.puzzles.puzzle import Board

LIKE = "x"
"""Mark of a tile that is like others."""


class NumberedTiles(Pieces):
    """A puzzle of numbered tiles on the cells of a board, which are numbered row by row.

    squares: (row, column) of each cell. line_length: the number of cells along the shorter side, in
    whose direction `frontier.puzzles.tiles` reads them. A tile is coloured by the line, of the
    shorter ones, that it comes to; one that the goal does not show has no colour.
    """

    most_cells: ClassVar[int]
    _ordered = True

    def _set_size(self, rows: int, columns: int) -> None:
        self.squares = squares_of(rows, columns, self.most_cells)
        self.rows, self.columns, self.cells = rows, columns, rows * columns
        self.line_length = min(rows, columns)
        self._places = tuple((c, r) for r, c in self.squares)

    def _set_pieces(
        self,
        tiles: Sequence[tuple[tuple[int, ...], bool]],
        labels: Sequence,
        metric: str,
        boards: Sequence[tuple[str, Sequence]],
    ) -> None:
        """tiles: the numbers of those of each sort, and whether they are distinct; the rest as for
        `Pieces`."""
        cells = range(self.cells)
        reading = sorted(cells, key=lambda cell: self.squares[cell][::-1])
        if self.rows > self.columns:
            reading = list(cells)
        ways = ways_on_squares(self.squares)
        footprint = footprint_of(ways, [(cell,) for cell in cells], reading)
        sorts = [Sort(footprint, codes, distinct) for codes, distinct in tiles if codes]
        super().__init__(reading, sorts, labels, metric, boards)

    def _home(self, blank: tuple[int, int] | None) -> Board:
        """The board with the blank in a cell, by default the first, and the tiles in order.

        InputError if the cell is not on the board.
        """
        blank = (0, 0) if blank is None else blank
        if not (isinstance(blank, list | tuple) and len(blank) == 2):
            raise InputError(
                f"puzzle.blank = {blank!r}: expected [row, column], or, of tiles in a config to "
                'run, "all"'
            )
        if tuple(blank) not in self.squares or not all(type(i) is int for i in blank):
            raise InputError(
                f"puzzle.blank = {list(blank)}: rows are 0..{self.rows - 1}, columns "
                f"0..{self.columns - 1}"
            )
        at = blank[0] * self.columns + blank[1]
        return (*range(1, at + 1), 0, *range(at + 1, self.cells))

    def _in_rows(self, flat: Sequence) -> list[list]:
        starts = range(0, len(flat), self.columns)
        return [list(flat[first : first + self.columns]) for first in starts]

    def _text(self, labels: Sequence) -> str:
        return "/".join(" ".join(map(str, row)) for row in self._in_rows(labels))

    def write(self, board: Board) -> list[list]:
        return self._in_rows(self.labels_on(board))

    def _parsed(self, notation, name: str, marks: Sequence[str] = ()) -> tuple:
        """The numbers of a board that is given as rows or as text, not yet checked.

        marks: what may stand there instead of a number. InputError, beginning with `name`, if the
        board has another size or holds anything else.
        """
        given = isinstance(notation, list | tuple)
        if given and notation and all(isinstance(row, str) for row in notation):
            notation = "/".join(notation)
        if isinstance(notation, str):
            rows = rows_of_words(notation)
        elif given and all(isinstance(row, list | tuple) for row in notation):
            rows = [list(row) for row in notation]
        else:
            raise InputError(f"{name} = {notation!r}: expected rows of numbers, or text")
        if len(rows) == 1 and self.rows > 1:
            rows = self._in_rows(rows[0])
        said = f"{name} = {_plain(rows) if rows else repr(notation)}"
        if [len(row) for row in rows] != [self.columns] * self.rows:
            raise InputError(f"{said}: expected {self.rows} rows of {self.columns} numbers")
        return tuple(_number(word, marks, said) for row in rows for word in row)

    def _numbers(self, notation, name: str, marks: Sequence[str] = ()) -> tuple:
        """A board as for `_parsed`, whose numbers are of 0 .. cells-1, none of them twice."""
        board = self._parsed(notation, name, marks)
        given = [number for number in board if number not in marks]
        if len(set(given)) < len(given) or not set(given) <= set(range(self.cells)):
            raise InputError(f"{name} = {_plain(self._in_rows(board))}: {self._rule}")
        return board

    @property
    def _rule(self) -> str:
        """What every board has."""
        return f"the numbers 0..{self.cells - 1} must stand in it, each once (0 is the blank)"

    def _kinds(self) -> list[Sequence[int]]:
        along = 0 if self.rows >= self.columns else 1
        lines: list[list[int]] = [[] for _ in range(max(self.rows, self.columns))]
        for square, code in zip(self.squares, self.goals[0], strict=True):
            if code > 0 and self.labels[code] != LIKE:
                lines[square[along]].append(code)
        return lines

    def name_move(self, before: Board, after: Board) -> str:
        """The tiles that slide, the nearest to the blank first, and where to."""
        there, here = before.index(0), after.index(0)
        stride = 1 if (here - there) % self.columns else self.columns
        stride = stride if here > there else -stride
        passed = (before[cell] for cell in range(there + stride, here + stride, stride))
        return ",".join(str(self.labels[tile]) for tile in passed) + self._arrow(here, there)

    def _arrow(self, source: int, target: int) -> str:
        """The arrow from a cell to another of its row or column."""
        (r, c), (rr, cc) = self.squares[source], self.squares[target]
        return ARROWS[(rr > r) - (rr < r), (cc > c) - (cc < c)]

    def steps(self, before: Board, after: Board) -> list[Board]:
        # The way of several tiles that move by turns is not told, and those that slide at once
        # have made one step.
        return super().steps(before, after) if self.metric == "step" else [after]


def squares_of(rows: int, columns: int, most: int) -> list[Square]:
    """The cells of a board, row by row; InputError if there are none, or more than `most`."""
    for name, value in (("rows", rows), ("columns", columns)):
        if value < 1:
            raise InputError(f"puzzle.{name} = {value}: a board has at least 1 of them")
    if rows * columns > most:
        raise InputError(
            f"puzzle.rows x puzzle.columns = {rows} x {columns} = {rows * columns} cells: at "
            f"most {most} are supported"
        )
    return [(r, c) for r in range(rows) for c in range(columns)]


def _number(word, marks: Sequence[str], said: str) -> int | str:
    """A number of a board, 0 for a blank, or one of the marks."""
    if isinstance(word, str) and word in (*marks, *BLANKS):
        return word if word in marks else 0
    try:
        number = int(word) if isinstance(word, str) else operator.index(word)
        if not isinstance(word, bool) and number >= 0:
            return number
    except (TypeError, ValueError):
        pass
    raise InputError(f"{said}: {word!r} is not a number; write numbers, 0 for the blank")


def _plain(rows: Sequence[Sequence]) -> str:
    """Rows as one line of text, in brackets."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
