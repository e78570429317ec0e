"""Sliding blocks: pieces of any form on a rectangular board, drawn as text.

A board is drawn with one letter a cell; the cells of a letter are one piece, "." is an empty
cell and "#" no cell at all (a wall). Pieces keep their orientation. All differ but for those of one
form that are in one group of `alike`: they count as the same, and on a board that is read their
letters may be exchanged.

A part of a board can be a goal: "?" stands for a cell that may hold anything.
"""

from collections.abc import Mapping, Sequence

from frontier.errors import InputError
from frontier.puzzles.board_shapes import sorts_of
from frontier.puzzles.boards import Board
from frontier.puzzles.footprints import (
    ARROWS,
    Footprint,
    Square,
    footprint_of,
    placements_from,
    ways_on_squares,
)
from frontier.puzzles.notation import (
    BLANKS,
    OPEN_MARK,
    boards_given,
    first_whole,
    groups_given,
    rows_of_letters,
)
from frontier.puzzles.puzzle import Puzzle
from frontier.text import counted

WALL = "#"
AXES = ("horizontal", "vertical")
LINES = ("row", "column")
"""What a piece of each axis stays in."""

Form = tuple[Square, ...]
"""The cells of a piece, counted from the first."""


class Blocks(Puzzle):
    """A sliding block puzzle, of which one board is drawn whole: it says what the pieces are."""

    kind = "blocks"

    def __init__(
        self,
        goal=None,
        goals: Sequence | None = None,
        start=None,
        alike: Sequence[str] = (),
        metric: str = "step",
        symbols: Mapping[str, str] | None = None,
        horizontal: str | None = None,
        vertical: str | None = None,
    ):
        given = boards_given(goal, goals, start)
        self.rows, self.columns, self._squares = _board_of(*given[0])
        self._places = tuple((c, r) for r, c in self._squares)
        boards = [(name, self._marks(board, name)) for name, board in given]
        name, whole = first_whole(boards)
        self._drawing = self._text(whole)
        self._pieces = pieces = self._drawn(whole, name)
        self._axis = _axes(horizontal or "", vertical or "", pieces)
        kinds = {letter: (form, self._axis.get(letter)) for letter, (_, form) in pieces.items()}
        group = groups_given(alike, kinds)
        alike_as = {letter: group.get(letter, letter) for letter in pieces}
        self._lines = {
            letter: {pieces[like][0][axis] for like in pieces if alike_as[like] == alike_as[letter]}
            for letter, axis in self._axis.items()
        }
        # Along the shorter side.
        turn = 1 if self.rows > self.columns else -1
        reading = sorted(range(len(self._squares)), key=lambda cell: self._squares[cell][::turn])
        footprints = {letter: self._footprint(letter, reading) for letter in pieces}
        sorts = sorts_of(footprints, group)
        super().__init__(reading, sorts, [".", *pieces], metric, boards)
        self._symbols = dict(symbols or {})
        if unknown := sorted(set(self._symbols) - set(pieces)):
            raise InputError(f"puzzle.symbols names {', '.join(unknown)}, not a piece of the board")

    def _drawn(self, marks: Sequence[str], name: str) -> dict[str, tuple[Square, Form]]:
        """The first square of each piece that a board shows, and the piece's form."""
        squares: dict[str, list[Square]] = {}
        for square, letter in zip(self._squares, marks, strict=True):
            if letter not in (*BLANKS, OPEN_MARK):
                squares.setdefault(letter, []).append(square)
        for letter, piece in squares.items():
            ways = ways_on_squares(piece)
            if len(placements_from(ways, frozenset({0}), len(piece))) < len(piece):
                r, c = piece[0]
                raise InputError(
                    f"{name} = {self._text(marks)}: piece {letter!r} is drawn in two parts, at row "
                    f"{r + 1}, column {c + 1} and elsewhere; every piece needs a letter of its own "
                    "(pieces that count as the same are named by puzzle.alike)"
                )
        return {
            letter: (first, tuple((r - first[0], c - first[1]) for r, c in (first, *rest)))
            for letter, (first, *rest) in squares.items()
        }

    def _footprint(self, letter: str, reading: Sequence[int]) -> Footprint:
        """Where a piece can lie: all over the board, or in the lines of its axis."""
        cell_at = {square: cell for cell, square in enumerate(self._squares)}
        (_, form), axis = self._pieces[letter], self._axis.get(letter)
        covers = [
            [cell_at.get((r + down, c + right)) for down, right in form]
            for r, c in self._squares
            if axis is None or (r, c)[axis] in self._lines[letter]
        ]
        ways = [
            way if axis is None or not step[axis] else {}
            for way, step in zip(ways_on_squares(self._squares), ARROWS, strict=True)
        ]
        return footprint_of(ways, [cells for cells in covers if None not in cells], reading)

    def _marks(self, notation, name: str) -> list[str]:
        rows = rows_of_letters(notation, name)
        if len(rows) == 1 and len(rows[0]) == self.rows * self.columns:
            rows = [rows[0][i : i + self.columns] for i in range(0, len(rows[0]), self.columns)]
        drawn = {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)}
        cells = {square for square, mark in drawn.items() if mark != WALL}
        if [len(row) for row in rows] != [self.columns] * self.rows or cells != set(self._squares):
            like = self._text("." * len(self._squares))
            raise InputError(
                f"{name} = {'/'.join(rows)} is not a board like {like}: "
                f"expected {counted(self.rows, 'row')} of {counted(self.columns, 'letter')}, and "
                f"walls ({WALL}) where that has them"
            )
        return [drawn[square] for square in self._squares]

    def _codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        board = super()._codes(marks, name, part)
        for letter, (first, form) in self._drawn(marks, name).items():
            said = f"{name} = {self._text(marks)}: piece {letter!r}"
            if form != self._pieces[letter][1]:
                raise InputError(
                    f"{said} is drawn in another form than in {self._drawing}; a piece that a "
                    "board shows must be whole"
                )
            axis = self._axis.get(letter)
            if axis is not None and first[axis] not in self._lines[letter]:
                lines = ", ".join(str(n + 1) for n in sorted(self._lines[letter]))
                raise InputError(
                    f"{said} begins in {LINES[axis]} {first[axis] + 1}; as puzzle.{AXES[axis]} "
                    f"names it, it stays in {LINES[axis]} {lines}, where {self._drawing} has it"
                )
        return board

    @property
    def title(self) -> str:
        pieces = counted(len(self._pieces), "piece")
        return f"{self.rows}×{self.columns} blocks, {pieces} ({self.metric})"

    def _rows(self, marks: Sequence[str]) -> list[str]:
        """Letters, one a cell, as rows with walls."""
        mark = dict(zip(self._squares, marks, strict=True))
        columns = range(self.columns)
        return ["".join(mark.get((r, c), WALL) for c in columns) for r in range(self.rows)]

    def _text(self, marks: Sequence[str]) -> str:
        return "/".join(self._rows(marks))

    def write(self, board: Board) -> list[str]:
        return self._rows(self.labels_on(board))

    def name_move(self, before: Board, after: Board) -> str:
        """The letter of the piece and its steps."""
        code, _, ways = self._displaced(before, after)
        arrows = list(ARROWS.values())
        return self.labels[code] + "".join(arrows[way] for way in ways)


def _board_of(name: str, notation) -> tuple[int, int, list[Square]]:
    """(rows, columns, cells row by row) of a drawn board."""
    rows = rows_of_letters(notation, name)
    lengths, shown = [len(row) for row in rows], "/".join(rows)
    if len(set(lengths)) > 1:
        raise InputError(
            f"the rows of {shown} have lengths {lengths}: a board is a rectangle, with {WALL} "
            "where there is no cell"
        )
    squares = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != WALL]
    if not squares:
        raise InputError(f"{name} = {shown!r}: a board without a cell")
    return len(rows), lengths[0], squares


def _axes(horizontal: str, vertical: str, pieces: Mapping) -> dict[str, int]:
    """The axis of each piece that has one, an index of `AXES`; checked."""
    axes: dict[str, int] = {}
    for axis, letters in enumerate((horizontal, vertical)):
        said = f"puzzle.{AXES[axis]} = {letters!r}"
        for letter in letters:
            if letter not in pieces:
                raise InputError(
                    f"{said}: {letter!r} is no piece of this puzzle; its pieces are "
                    + " ".join(pieces)
                )
            if letter in axes:
                raise InputError(f"{said}: {letter!r} is named twice; a piece has one axis or none")
            axes[letter] = axis
    return axes
