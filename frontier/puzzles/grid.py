"""Boards of numbered tiles in rows and columns: how they are read, written and pictured."""

import operator
from collections.abc import Container, Sequence

from frontier.errors import InputError
from frontier.puzzles.footprints import ARROWS
from frontier.puzzles.notation import BLANKS, rows_of_words
from frontier.puzzles.picture import Picture, Piece, covers, open_cells

LIKE = "x"
"""Mark of a tile that is like others."""


class Grid:
    """The cells of a board, numbered row by row.

    reading: the cells along the shorter side, as `frontier.puzzles.tiles` reads them. line: the
    number of cells along it. squares: (row, column) of each cell.
    """

    def __init__(self, rows: int, columns: int, most: int):
        """InputError for a board without cells, or with more than `most`."""
        for name, value in (("rows", rows), ("columns", columns)):
            if value < 1:
                raise InputError(f"puzzle.{name} = {value}: a board has at least 1 of them")
        if rows * columns > most:
            raise InputError(
                f"puzzle.rows x puzzle.columns = {rows} x {columns} = {rows * columns} cells: at "
                f"most {most} are supported"
            )
        self.rows, self.columns, self.cells = rows, columns, rows * columns
        self.line = min(rows, columns)
        self.squares = [(r, c) for r in range(rows) for c in range(columns)]
        self.reading = list(range(self.cells))
        if rows <= columns:
            self.reading = [r * columns + c for c in range(columns) for r in range(rows)]

    def home(self, blank: tuple[int, int] | None) -> tuple[int, ...]:
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

    def in_rows(self, flat: Sequence) -> list[list]:
        """A board as rows."""
        starts = range(0, len(flat), self.columns)
        return [list(flat[first : first + self.columns]) for first in starts]

    def line_of(self, flat: Sequence) -> str:
        """A board in one line of text."""
        return "/".join(" ".join(map(str, row)) for row in self.in_rows(flat))

    def parse(self, notation, name: str, marks: Sequence[str] = ()) -> tuple:
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
            rows = self.in_rows(rows[0])
        said = f"{name} = {_plain(rows) if rows else repr(notation)}"
        if [len(row) for row in rows] != [self.columns] * self.rows:
            raise InputError(f"{said}: expected {self.rows} rows of {self.columns} numbers")
        return tuple(_number(word, marks, said) for row in rows for word in row)

    def numbers(self, notation, name: str, marks: Sequence[str] = ()) -> tuple:
        """A board as for `parse`, whose numbers are of 0 .. cells-1, none of them twice."""
        board = self.parse(notation, name, marks)
        given = [number for number in board if number not in marks]
        if len(set(given)) < len(given) or not set(given) <= set(range(self.cells)):
            raise InputError(
                f"{name} = {_plain(self.in_rows(board))}: the numbers 0..{self.cells - 1} must "
                "stand in it, each once (0 is the blank)"
            )
        return board

    def picture(
        self, board: Sequence[int], goal: Sequence[int], named: Container[int] | None = None
    ) -> Picture:
        """A board whose tiles are coloured by the lines that they come to, the shorter ones.

        named: the tiles that have a number and a colour, by default all. A tile that the goal does
        not show has no colour.
        """
        home = {tile: self.squares[cell] for cell, tile in enumerate(goal)}
        along = 0 if self.rows >= self.columns else 1
        pieces = []
        for tile, cells in covers(board, self.reading).items():
            told = named is None or tile in named
            kind = home[tile][along] if told and tile in home else None
            name = str(tile) if told else LIKE
            pieces.append(Piece(tile, name, str(tile) if told else "", kind, cells))
        return Picture(
            places=tuple((c, r) for r, c in self.squares),
            pieces=tuple(pieces),
            open=open_cells(board),
            kinds=max(self.rows, self.columns),
            ordered=True,
        )

    def arrow(self, source: int, target: int) -> str:
        """The arrow from a cell to another of its row or column."""
        (r, c), (rr, cc) = self.squares[source], self.squares[target]
        return ARROWS[(rr > r) - (rr < r), (cc > c) - (cc < c)]


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
