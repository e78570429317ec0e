"""The m x n tile puzzle: distinct tiles and one blank, a move slides a tile into the blank.

Read the cells along the shorter side: with s = min(rows, columns) and rows <= columns, column
by column, else row by row, so that line k holds the cells k s, ..., k s + s - 1. The shape of
a board is the cell of its blank; its sequence is the tiles in reading order.

* The blank moves within a line, from cell p to p + 1: the tile that passes it meets no other,
  so the sequence stays as it is.
* The blank moves to the next line, from p to p + s: the tile that comes to p jumps over the
  s - 1 tiles between; positions p, ..., p + s - 1 of the sequence turn by one, as the
  neighbour swaps p + s - 2, ..., p, one after the other. For s = 2 that is a single swap.

For m, n >= 2 the blank's tours generate all even permutations of the tiles, and a position can
be reached from the goal if and only if the sign of its sequence differs from the goal's as
often as the blank has crossed lines of even length (W. W. Johnson and W. E. Story, American
Journal of Mathematics 2, 1879): (mn)!/2 positions. On a 1 x n board the tiles never pass each
other: n positions, one for each cell of the blank.

Metrics: ``step``, a move slides one tile; ``multi``, it slides all tiles between the blank and
some tile of its row or column by one cell, so the blank moves along a line as far as it likes.

Renaming the tiles maps the positions with the blank in a given cell onto each other and keeps
the moves, and so does a symmetry of the board. So the greatest distance from a position depends
on the orbit of its blank alone, and the diameter of the state graph is the greatest over one
blank cell of each orbit (`blank_orbits`).
"""

import operator
from collections.abc import Sequence
from typing import ClassVar

from frontier.errors import InputError
from frontier.puzzles.board_shapes import Sort
from frontier.puzzles.boards import Board
from frontier.puzzles.footprints import ARROWS, Square, footprint_of, ways_on_squares
from frontier.puzzles.notation import BLANKS, GOALS, OPEN_MARK, rows_of_words
from frontier.puzzles.puzzle import Puzzle

MOST_CELLS = 25

LIKE = "x"
"""Mark of a tile that is like others."""


class NumberedTiles(Puzzle):
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
        `Puzzle`."""
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


class Tiles(NumberedTiles):
    """The rows x columns tile puzzle."""

    kind = "tiles"
    most_cells = MOST_CELLS

    def __init__(
        self,
        rows: int,
        columns: int,
        goal=None,
        goals: Sequence | None = None,
        start=None,
        metric: str = "step",
        blank: tuple[int, int] | None = None,
    ):
        self._set_size(rows, columns)
        if (goal is not None) + (goals is not None) + (blank is not None) > 1:
            raise InputError("puzzle.goal, puzzle.goals and puzzle.blank exclude each other")
        home = self._home(blank)
        given = goals or ([] if goal is None else [goal])
        key = "puzzle.goal" if goals is None else GOALS
        boards = [(key, self._numbers(board, key, (OPEN_MARK,))) for board in given]
        boards = boards or [(key, home)]
        if start is not None:
            boards.append(("puzzle.start", self._marks(start, "puzzle.start")))
        boards.append(("puzzle.blank", home))
        tiles = tuple(range(1, self.cells))
        self._set_pieces([(tiles, True)], range(self.cells), metric, boards)

    @property
    def title(self) -> str:
        multi = ", any number of tiles a move" if self.metric == "multi" else ""
        return f"{self.rows}×{self.columns} tiles{multi}"

    @property
    def why_unreachable(self) -> str:
        if not self._included.all():
            return super().why_unreachable
        if self.line_length == 1:
            why = "on a board of one line the tiles keep their order"
        else:
            why = "its parity differs from the goal's; exchanging any two tiles mends that"
        return f"it cannot be reached from the goal: {why}"

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [after]  # no two tiles are alike, and all that slide make one step

    def _marks(self, notation, name: str) -> tuple:
        return self._numbers(notation, name)

    def _why_not(self, board: Board, name: str) -> str:
        return f"{name} {self._text(board)}: {self._rule}"


def blank_orbits(rows: int, columns: int) -> list[tuple[int, int]]:
    """One cell, the first, of each orbit of a board's cells under its symmetries."""
    orbits = set()
    for r, c in squares_of(rows, columns, MOST_CELLS):
        images = {(y, x) for y in (r, rows - 1 - r) for x in (c, columns - 1 - c)}
        if rows == columns:
            images |= {(x, y) for y, x in images}
        orbits.add(min(images))
    return sorted(orbits)


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
