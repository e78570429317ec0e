"""A board of numbered tiles in rows and columns: its cells, and how it is written.

Cells are numbered row by row. They are read along the shorter side (`frontier.puzzles.tiles`).
"""

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import Footprint, Sort, footprint_of
from frontier.puzzles.notation import BLANKS, rows_of_words
from frontier.puzzles.picture import Point
from frontier.puzzles.pieces import Board

ARROWS = {(-1, 0): "↑", (1, 0): "↓", (0, -1): "←", (0, 1): "→"}
"""(rows, columns) of a step -> its arrow, for the ways of `ways_on_squares` in their order."""

Square = tuple[int, int]
"""(row, column) of a cell."""


def ways_on_squares(squares: Sequence[Square]) -> list[dict[int, int]]:
    """Return the ways up, down, left and right between squares, numbered in the given order."""
    number = {square: cell for cell, square in enumerate(squares)}
    return [
        {
            n: number[r + down, c + right]
            for (r, c), n in number.items()
            if (r + down, c + right) in number
        }
        for down, right in ARROWS
    ]


@dataclass(frozen=True)
class Grid:
    """The cells of a board in rows and columns."""

    rows: int
    columns: int

    @classmethod
    def checked(cls, rows: int, columns: int, most: int) -> "Grid":
        """Return the grid; raises InputError if it has no cells, or more than `most`."""
        for name, value in (("rows", rows), ("columns", columns)):
            if value < 1:
                raise InputError(f"puzzle.{name} = {value}: a board needs at least 1")
        if rows * columns > most:
            raise InputError(
                f"puzzle.rows x puzzle.columns = {rows} x {columns} = {rows * columns} cells: at "
                f"most {most} are supported"
            )
        return cls(rows, columns)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    @cached_property
    def squares(self) -> list[Square]:
        """(row, column) of each cell."""
        return [(r, c) for r in range(self.rows) for c in range(self.columns)]

    @property
    def line_length(self) -> int:
        """The number of cells along the shorter side, the direction in which cells are read."""
        return min(self.rows, self.columns)

    @cached_property
    def reading(self) -> np.ndarray:
        """int64[cells], the cells in reading order."""
        cells = range(self.cells)
        if self.rows > self.columns:
            return np.array(cells)
        return np.array(sorted(cells, key=lambda cell: self.squares[cell][::-1]))

    @cached_property
    def footprint(self) -> Footprint:
        """The footprint of a tile."""
        ways = ways_on_squares(self.squares)
        return footprint_of(ways, [(cell,) for cell in range(self.cells)], self.reading.tolist())

    def sorts(self, tiles: Sequence[tuple[Sequence[int], bool]]) -> tuple[Sort, ...]:
        """Return the sorts of tiles. tiles: the numbers of the tiles of each sort, and whether they
        are distinct."""
        return tuple(
            Sort(self.footprint, tuple(codes), distinct) for codes, distinct in tiles if codes
        )

    def places(self) -> tuple[Point, ...]:
        """Return the middle of each cell."""
        return tuple((c, r) for r, c in self.squares)

    def in_order(self, blank: tuple[int, int] | None) -> Board:
        """Return the board with the tiles in order and the blank in the given cell, by default the
        first.

        Raises InputError if the cell is not on the board.
        """
        blank = (0, 0) if blank is None else blank
        if not (isinstance(blank, list | tuple) and len(blank) == 2):
            raise InputError(
                f'puzzle.blank = {blank!r}: expected [row, column] or, in a config of tiles, "all"'
            )
        if tuple(blank) not in self.squares or not all(type(i) is int for i in blank):
            raise InputError(
                f"puzzle.blank = {list(blank)}: rows are 0..{self.rows - 1}, columns "
                f"0..{self.columns - 1}"
            )
        at = blank[0] * self.columns + blank[1]
        return (*range(1, at + 1), 0, *range(at + 1, self.cells))

    def in_rows(self, flat: Sequence) -> list[list]:
        """Return the contents of the cells as rows."""
        starts = range(0, len(flat), self.columns)
        return [list(flat[first : first + self.columns]) for first in starts]

    def text(self, labels: Sequence) -> str:
        """Return the contents of the cells as one line of text."""
        return "/".join(" ".join(map(str, row)) for row in self.in_rows(labels))

    def parsed(self, board, name: str, marks: Sequence[str] = ()) -> tuple:
        """Return the numbers of a board, given as rows or as text, without checking them.

        A number is a word or, without spaces, one digit or letter: 812043765, or
        1234/5678/9abc/def0, where a is 10, b is 11 and so on. marks: the marks that a cell may have
        instead of a number. Raises InputError, beginning with `name`, if the board has another size
        or holds anything else.
        """
        if type(board) is int:  # a setting of digits is read as a number
            board = str(board)
        given = isinstance(board, list | tuple)
        if given and board and all(isinstance(row, str) for row in board):
            board = "/".join(board)
        if isinstance(board, str):
            rows = self._with_figures(rows_of_words(board), marks)
        elif given and all(isinstance(row, list | tuple) for row in board):
            rows = [list(row) for row in board]
        else:
            raise InputError(f"{name} = {board!r}: expected rows of numbers, or text")
        if len(rows) == 1 and self.rows > 1:
            rows = self.in_rows(rows[0])
        typed = isinstance(board, str) and board.isprintable() and board.strip()
        message = f"{name} = {board if typed else _plain(rows) if rows else repr(board)}"
        if [len(row) for row in rows] != [self.columns] * self.rows:
            raise InputError(f"{message}: expected {self.rows} rows of {self.columns} numbers")
        return tuple(_number(word, marks, message) for row in rows for word in row)

    def _with_figures(self, rows: list[list[str]], marks: Sequence[str]) -> list[list[str]]:
        """Return rows of words; a board without spaces becomes one word per character."""
        lengths = [[len(word) for word in row] for row in rows]
        if lengths not in ([[self.cells]], [[self.columns]] * self.rows):
            return rows
        return [[_figure(figure, marks) for figure in word] for (word,) in rows]

    def numbers(self, board, name: str, marks: Sequence[str] = ()) -> tuple:
        """Return a board as `parsed` does; raises InputError unless its numbers are all different
        and in 0 .. cells-1."""
        parsed = self.parsed(board, name, marks)
        numbers = Counter(number for number in parsed if number not in marks)
        wrong = [
            f"{number} {'is repeated' if number in range(self.cells) else 'is not one of them'}"
            for number, times in numbers.items()
            if times > 1 or number not in range(self.cells)
        ]
        if wrong:
            typed = isinstance(board, str) and board.isprintable()
            shown = board if typed else _plain(self.in_rows(parsed))
            raise InputError(f"{name} = {shown}: {self.rule}; {', '.join(wrong)}")
        return parsed

    @property
    def rule(self) -> str:
        """The rule that every board of distinct tiles obeys, in words."""
        return f"the numbers 0..{self.cells - 1} must appear, each once (0 is the blank)"

    def lines(self, board: Board, codes: Sequence[int]) -> list[list[int]]:
        """Return the given tiles in each of the shorter lines of a board."""
        along = 0 if self.rows >= self.columns else 1
        lines: list[list[int]] = [[] for _ in range(max(self.rows, self.columns))]
        for square, code in zip(self.squares, board, strict=True):
            if code in codes:
                lines[square[along]].append(code)
        return lines

    def arrow(self, source: int, target: int) -> str:
        """Return the arrow from a cell to another cell of its row or column."""
        (r, c), (rr, cc) = self.squares[source], self.squares[target]
        return ARROWS[(rr > r) - (rr < r), (cc > c) - (cc < c)]

    def blank_orbits(self) -> list[tuple[int, int]]:
        """Return the first cell of each orbit of the cells under the board's symmetries."""
        orbits = set()
        for r, c in self.squares:
            images = {(y, x) for y in (r, self.rows - 1 - r) for x in (c, self.columns - 1 - c)}
            if self.rows == self.columns:
                images |= {(x, y) for y, x in images}
            orbits.add(min(images))
        return sorted(orbits)


def _figure(figure: str, marks: Sequence[str]) -> str:
    """Return the mark or the number that a digit or a letter represents."""
    is_number = figure not in marks and figure.isascii() and figure.isalnum()
    return str(int(figure, 36)) if is_number else figure


def _number(word, marks: Sequence[str], message: str) -> int | str:
    """Return a number of a board, 0 for a blank, or one of the marks."""
    if isinstance(word, str) and word in (*marks, *BLANKS):
        return word if word in marks else 0
    try:
        number = int(word) if isinstance(word, str) else operator.index(word)
        if not isinstance(word, bool) and number >= 0:
            return number
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"{message}: {word!r} is not the number of a tile; write whole numbers, 0 for the blank"
    )


def _plain(rows: Sequence[Sequence]) -> str:
    """Return rows as one line of text, in brackets."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
