"""Sliding blocks: pieces of any form on a rectangular board, drawn as text.

A board is drawn with one letter per cell. Cells with the same letter form one piece; "." is an
empty cell, and "#" is a wall, not a cell. Pieces keep their orientation. Pieces of one form in one
group of `alike` count as the same, and a board may exchange their letters. All other pieces differ.

A goal can be a part of a board: a cell marked "?" may hold anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.alike import sliding_encoding
from frontier.puzzles.board_shapes import Footprint, footprint_of, placements_from, sorts_of
from frontier.puzzles.grid import ARROWS, Square, ways_on_squares
from frontier.puzzles.model import Model
from frontier.puzzles.moves import check_metric
from frontier.puzzles.notation import (
    BLANKS,
    OPEN_MARK,
    Drawing,
    Notation,
    boards_given,
    check_looks,
    first_whole,
    groups_given,
    no_piece,
    read_boards,
    rows_of_letters,
)
from frontier.puzzles.picture import Point
from frontier.puzzles.pieces import Board, Pieces
from frontier.puzzles.puzzle import Puzzle, Words
from frontier.text import counted

WALL = "#"
AXES = ("horizontal", "vertical")
LINES = ("row", "column")
"""The kind of line that a piece never leaves, by the axis of the piece."""

Form = tuple[Square, ...]
"""The cells of a piece, relative to the first."""


@dataclass(frozen=True)
class Sheet:
    """The cells of a drawn board: a rectangle without the walls.

    squares: (row, column) of each cell, row by row.
    """

    rows: int
    columns: int
    squares: tuple[Square, ...]

    def letters(self, board, name: str) -> dict[Square, str]:
        """Return the letter of each square of the rectangle; raises InputError if the board has
        another size."""
        rows = rows_of_letters(board, name)
        if len(rows) == 1 and len(rows[0]) == self.rows * self.columns:
            rows = [rows[0][i : i + self.columns] for i in range(0, len(rows[0]), self.columns)]
        if [len(row) for row in rows] != [self.columns] * self.rows:
            raise self._unlike("/".join(rows), name)
        return {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)}

    def marks(self, board, name: str) -> list[str]:
        """Return the letters of a board, one per cell; raises InputError if it does not have
        the cells of the puzzle.

        A goal may leave open a wall that another board draws.
        """
        letters = self.letters(board, name)
        squares = set(self.squares)
        if any(
            letter == WALL if square in squares else letter not in (WALL, OPEN_MARK)
            for square, letter in letters.items()
        ):
            shown = "".join(letters.values())
            rows = [shown[i : i + self.columns] for i in range(0, len(shown), self.columns)]
            raise self._unlike("/".join(rows), name)
        return [letters[square] for square in self.squares]

    def _unlike(self, shown: str, name: str) -> InputError:
        """Return the error for a board that does not have the cells of the puzzle."""
        return InputError(
            f"{name} = {shown} is not a board like {self.text('.' * len(self.squares))}: expected "
            f"{counted(self.rows, 'row')} of {counted(self.columns, 'letter')}, with walls "
            f"({WALL}) in the same places"
        )

    def in_rows(self, marks: Sequence[str]) -> list[str]:
        """Return letters, one per cell, as rows with walls."""
        mark = dict(zip(self.squares, marks, strict=True))
        columns = range(self.columns)
        return ["".join(mark.get((r, c), WALL) for c in columns) for r in range(self.rows)]

    def text(self, marks: Sequence[str]) -> str:
        """Return letters, one per cell, as one line of text."""
        return "/".join(self.in_rows(marks))

    def places(self) -> tuple[Point, ...]:
        """Return the middle of each cell."""
        return tuple((c, r) for r, c in self.squares)

    def drawn(self, marks: Sequence[str]) -> dict[str, tuple[Square, Form]]:
        """Return the first square of each piece that a board shows, and the piece's form."""
        squares: dict[str, list[Square]] = {}
        for square, letter in zip(self.squares, marks, strict=True):
            if letter not in (*BLANKS, OPEN_MARK):
                squares.setdefault(letter, []).append(square)
        return {
            letter: (first, tuple((r - first[0], c - first[1]) for r, c in (first, *rest)))
            for letter, (first, *rest) in squares.items()
        }


class Block(NamedTuple):
    """A piece: its form, its axis (None if it may move along both), and the rows or columns to
    which a piece with an axis is confined."""

    form: Form
    axis: int | None
    lines: set[int]


class BlockNotation(Notation):
    """Boards of blocks, drawn with one letter per cell."""

    def __init__(
        self, sheet: Sheet, blocks: Mapping[str, Block], whole: str, pieces: Pieces,
        drawing: Drawing,
    ):  # fmt: skip
        """whole: the text of the board that shows all pieces."""
        super().__init__(pieces, [".", *blocks], drawing)
        self._sheet, self._blocks, self._whole = sheet, blocks, whole

    def marks(self, board, name: str) -> list[str]:
        return self._sheet.marks(board, name)

    def marks_of_part(self, board) -> list[str]:
        return self.marks(board, "board")

    def codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        board = super().codes(marks, name, part)
        for letter, (first, form) in self._sheet.drawn(marks).items():
            message, block = f"{name} = {self.text(marks)}: piece {letter!r}", self._blocks[letter]
            if form != block.form:
                raise InputError(
                    f"{message} has a different form in {self._whole}; draw each piece whole"
                )
            if block.axis is not None and first[block.axis] not in block.lines:
                line = LINES[block.axis]
                lines = ", ".join(str(n + 1) for n in sorted(block.lines))
                raise InputError(
                    f"{message} begins in {line} {first[block.axis] + 1}; "
                    f"puzzle.{AXES[block.axis]} keeps it in {line} {lines}, as in {self._whole}"
                )
        return board

    def text(self, labels: Sequence[str]) -> str:
        return self._sheet.text(labels)

    def write(self, board: Board) -> list[str]:
        return self._sheet.in_rows(self.labels_on(board))

    def name_move(self, before: Board, after: Board) -> str:
        """Return the letter of the piece and its steps."""
        code, _, ways = self.pieces.displaced(before, after)
        arrows = list(ARROWS.values())
        return self.labels[code] + "".join(arrows[way] for way in ways)


def block_puzzle(
    goal=None,
    goals: Sequence | None = None,
    start=None,
    alike: Sequence[str] = (),
    metric: str = "step",
    symbols: Mapping[str, str] | None = None,
    colours: Mapping[str, str] | None = None,
    horizontal: str | None = None,
    vertical: str | None = None,
) -> Puzzle:
    """Return a sliding block puzzle. At least one of its boards must be whole, that is, show all
    pieces."""
    boards_of_config = boards_given(goal, goals, start)
    sheet = _sheet_of(boards_of_config)
    boards = [(name, sheet.marks(board, name)) for name, board in boards_of_config]
    _, whole = first_whole(boards)
    drawn = sheet.drawn(whole)
    axis_of = _axes(horizontal or "", vertical or "", drawn)
    kinds = {letter: (form, axis_of.get(letter)) for letter, (_, form) in drawn.items()}
    group = groups_given(alike, kinds)
    alike_as = {letter: group.get(letter, letter) for letter in drawn}
    blocks = {}
    for letter, (form, axis) in kinds.items():
        firsts = [drawn[like][0] for like in drawn if alike_as[like] == alike_as[letter]]
        lines = set() if axis is None else {first[axis] for first in firsts}
        blocks[letter] = Block(form, axis, lines)
    # Read along the shorter side.
    turn = 1 if sheet.rows > sheet.columns else -1
    cells = range(len(sheet.squares))
    reading = sorted(cells, key=lambda cell: sheet.squares[cell][::turn])
    footprints = {letter: _footprint(block, sheet, reading) for letter, block in blocks.items()}
    check_metric(metric, "blocks")
    pieces = Pieces(
        reading=np.array(reading),
        sorts=tuple(sorts_of(footprints, group)),
        rule=Pieces.whole_once(sheet.text(whole)),
    )
    kinds_of_codes = [sort.codes for sort in pieces.sorts]
    drawing = Drawing(
        sheet.places, kinds_of_codes, symbols=dict(symbols or {}), painted=dict(colours or {})
    )
    notation = BlockNotation(sheet, blocks, sheet.text(whole), pieces, drawing)
    boards_read = read_boards(notation, boards)
    check_looks("symbols", symbols, blocks)
    check_looks("colours", colours, blocks)
    model = Model(sliding_encoding(pieces, metric, boards_read), boards_read.start)
    count = counted(len(blocks), "piece")
    title = f"{sheet.rows}×{sheet.columns} blocks, {count} ({metric})"
    return Puzzle("blocks", title, model, notation, Words(config=_remark(drawn)))


def _remark(drawn: Mapping[str, tuple[Square, Form]]) -> str | None:
    """Return a sentence that names the pieces in several parts; None if every piece is in one."""
    apart = [
        letter
        for letter, (_, form) in drawn.items()
        if len(placements_from(ways_on_squares(form), frozenset({0}), len(form))) < len(form)
    ]
    if not apart:
        return None
    return (
        f"some cells of {' and '.join(map(repr, apart))} do not touch, and move together as one "
        "piece; separate pieces need letters of their own (name those that count as the same in "
        "puzzle.alike)"
    )


def _footprint(block: Block, sheet: Sheet, reading: Sequence[int]) -> Footprint:
    """Return the footprint of a piece on the whole board or, with an axis, in its lines."""
    cell_at = {square: cell for cell, square in enumerate(sheet.squares)}
    covers = [
        [(r + down, c + right) for down, right in block.form]
        for r, c in sheet.squares
        if block.axis is None or (r, c)[block.axis] in block.lines
    ]
    ways = [
        way if block.axis is None or not step[block.axis] else {}
        for way, step in zip(ways_on_squares(sheet.squares), ARROWS, strict=True)
    ]
    inside = [[cell_at[at] for at in cover] for cover in covers if cell_at.keys() >= set(cover)]
    return footprint_of(ways, inside, reading)


def _sheet_of(boards: Sequence[tuple[str, object]]) -> Sheet:
    """Return the cells of drawn boards: the squares that no board draws as a wall."""
    rows = rows_of_letters(boards[0][1], boards[0][0])
    lengths, shown = [len(row) for row in rows], "/".join(rows)
    if len(set(lengths)) > 1:
        raise InputError(
            f"the rows of {shown} have lengths {lengths}: a board is a rectangle; write {WALL} "
            "where there is no cell"
        )
    columns = lengths[0] if lengths else 0
    squares = tuple((r, c) for r in range(len(rows)) for c in range(columns))
    whole = Sheet(len(rows), columns, squares)
    drawn = [whole.letters(board, name) for name, board in boards]
    cells = tuple(square for square in squares if all(on[square] != WALL for on in drawn))
    if not cells:
        raise InputError(f"{boards[0][0]} = {shown!r}: a board needs a cell")
    return Sheet(len(rows), columns, cells)


def _axes(horizontal: str, vertical: str, pieces: Mapping) -> dict[str, int]:
    """Return the axis of each piece that has one, an index of `AXES`.

    Raises InputError if a letter belongs to no piece, or is named for both axes.
    """
    axes: dict[str, int] = {}
    for axis, letters in enumerate((horizontal, vertical)):
        message = f"puzzle.{AXES[axis]} = {letters!r}"
        for letter in "".join(letters.split()):
            if letter not in pieces:
                raise no_piece(message, letter, pieces)
            if axes.setdefault(letter, axis) != axis:
                raise InputError(
                    f"{message}: {letter!r} is one of puzzle.{AXES[0]} too; a piece has one axis "
                    "or none"
                )
    return axes
