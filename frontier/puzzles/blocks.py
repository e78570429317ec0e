"""Sliding blocks: pieces of any form on a rectangular board, drawn as text.

A board is drawn with one letter a cell; the cells of a letter are one piece, "." is an empty
cell and "#" no cell at all (a wall). Pieces keep their orientation. Those of one form are told
apart by their letters, unless they are in one group of `alike`; where they are, letters of the
group are interchangeable.

A part of a board can be a goal: "?" stands for a cell that may hold anything.
"""

from collections.abc import Mapping, Sequence

from frontier.errors import InputError
from frontier.puzzles.moves import METRICS
from frontier.puzzles.notation import BLANKS, OPEN_MARK, rows_of_letters, text_of
from frontier.puzzles.picture import Part, Picture, covers, open_cells
from frontier.puzzles.pieces import OPEN, Pieces, boards_given
from frontier.puzzles.puzzle import Board
from frontier.puzzles.shapes import Footprint, Sort
from frontier.text import counted

WALL = "#"
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
ARROWS = "↑↓←→"
AXES = ("horizontal", "vertical")
LINES = ("row", "column")
"""What a piece of each axis stays in."""
Cell = tuple[int, int]


class Blocks(Pieces):
    """A sliding block puzzle.

    goal: the board at depth 0, or a part of it. goals: several of them, instead.
    start: a board whose distance from the goal is wanted. One of them must be drawn whole: it
        says what the pieces are.
    alike: groups of letters of pieces that count as the same.
    metric: "step", "straight" or "path"; see `frontier.puzzles.moves`.
    horizontal, vertical: the letters of the pieces that move in their row or in their column only.
    symbols: letter -> what stands for it in drawings.
    """

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
        given = [("puzzle.goal", board) for board in boards_given(goal, goals)]
        if start is not None:
            given.append(("puzzle.start", start))
        if metric not in METRICS:
            raise InputError(f"puzzle.metric = {metric!r}: known are {', '.join(METRICS)}")
        drawn = [(name, rows_of_letters(text_of(board, name))) for name, board in given]
        whole = [(name, rows) for name, rows in drawn if OPEN_MARK not in "".join(rows)]
        if not whole:
            raise InputError(
                "no board of this puzzle is drawn whole, so its pieces are not known; give a "
                "puzzle.start without ?"
            )
        reference = whole[0][1]
        self._read_cells(drawn, reference)
        self._pieces = pieces = _pieces(reference, whole[0][0])
        self._letters = list(pieces)
        self._drawing = "/".join(reference)
        groups = _groups(alike, pieces)
        self._symbols = dict(symbols or {})
        if unknown := sorted(set(self._symbols) - set(pieces)):
            raise InputError(f"puzzle.symbols names {', '.join(unknown)}, not a piece of the board")
        self._code = {letter: code for code, letter in enumerate(pieces, start=1)}
        self._axis = _axes(horizontal or "", vertical or "", pieces, groups)
        self._lines = self._lines_of(reference, groups)
        forms: dict[tuple, list[str]] = {}
        for letter, form in pieces.items():
            group = next((g for g in groups if letter in g), "")
            kind = (form, group, self._axis.get(letter), self._lines.get(letter))
            forms.setdefault(kind, []).append(letter)
        reading, sorts = self._sorts_of(forms)
        boards = [self._codes(rows, name, part=not name.endswith("start")) for name, rows in drawn]
        began = boards.pop() if start is not None else None
        whole_board = self._codes(reference, "puzzle.goal", part=False)
        super().__init__(reading, sorts, metric, whole_board, boards, began)

    def _read_cells(self, drawn: list[tuple[str, list[str]]], first: list[str]) -> None:
        """Number the cells of the board, row by row, walls left out."""
        shape, walls = [len(row) for row in first], _walls(first)
        if len(set(shape)) > 1:
            raise InputError(
                f"the rows of {'/'.join(first)} have lengths {shape}: a board is a rectangle, "
                f"with {WALL} where there is no cell"
            )
        for name, rows in drawn:
            if [len(row) for row in rows] != shape or _walls(rows) != walls:
                raise InputError(
                    f"{name} = {'/'.join(rows)} is not a board like {'/'.join(first)}: rows, "
                    "columns and walls must be the same"
                )
        if not shape or len(walls) == len(shape) * shape[0]:
            raise InputError(f"{drawn[0][0]} = {'/'.join(first)!r}: a board without a cell")
        self.rows, self.columns = len(first), shape[0]
        self._cell: dict[Cell, int] = {}
        for r in range(self.rows):
            for c in range(self.columns):
                if (r, c) not in walls:
                    self._cell[r, c] = len(self._cell)

    def _lines_of(self, first: list[str], groups: Sequence[str]) -> dict[str, frozenset[int]]:
        """For each piece that moves in its row or column only: which they are, those of its like
        pieces too."""
        lines = {letter: {_place(first, letter)[axis]} for letter, axis in self._axis.items()}
        for group in groups:
            for letter in filter(lines.__contains__, group):
                lines[letter] = {line for other in group for line in lines[other]}
        return {letter: frozenset(where) for letter, where in lines.items()}

    def _sorts_of(self, forms: dict[tuple, list[str]]) -> tuple[list[int], list[Sort]]:
        """(cells in reading order, along the shorter side; the sorts of pieces)."""
        by_column = self.rows <= self.columns
        order = sorted(self._cell, key=lambda rc: rc[::-1] if by_column else rc)
        place = {rc: i for i, rc in enumerate(order)}
        footprints: dict[tuple, Footprint] = {}
        sorts = []
        for (form, group, *way), letters in forms.items():
            if (form, *way) not in footprints:
                footprints[form, *way] = _footprint(form, place, *way)
            codes = tuple(sorted(self._code[x] for x in letters))
            sorts.append(Sort(footprints[form, *way], codes, not group))
        return [self._cell[rc] for rc in order], sorts

    def _codes(self, rows: Sequence[str], name: str, part: bool) -> Board:
        """The codes of a drawn board.

        Like pieces are found by the codes of any of them, so that only here it can be seen whether
        each letter is a piece.
        """
        board = []
        for r, c in self._cell:
            letter = rows[r][c]
            if letter in BLANKS:
                board.append(0)
            elif letter == OPEN_MARK and part:
                board.append(OPEN)
            elif letter in self._code:
                board.append(self._code[letter])
            else:
                raise InputError(
                    f"{name} = {'/'.join(rows)}: {letter!r} is no piece of this puzzle; its pieces "
                    f"are {' '.join(self._letters)}"
                )
        for letter, form in _pieces(rows, name).items():
            if form != self._pieces[letter]:
                raise InputError(
                    f"{name} = {'/'.join(rows)}: piece {letter!r} is drawn in another form than in "
                    f"{self._drawing}; a piece that a board shows must be whole"
                )
            if letter in self._axis:
                axis = self._axis[letter]
                line = _place(rows, letter)[axis]
                if line not in self._lines[letter]:
                    there = ", ".join(str(n + 1) for n in sorted(self._lines[letter]))
                    raise InputError(
                        f"{name} = {'/'.join(rows)}: piece {letter!r} begins in "
                        f"{LINES[axis]} {line + 1}; as puzzle.{AXES[axis]} names it, it stays in "
                        f"{LINES[axis]} {there}, where {self._drawing} has it"
                    )
        return tuple(board)

    @property
    def title(self) -> str:
        pieces = counted(len(self._letters), "piece")
        return f"{self.rows}×{self.columns} blocks, {pieces} ({self.metric})"

    @property
    def labels(self) -> list[str]:
        return [".", *self._letters]

    def parse(self, notation) -> Board:
        rows = rows_of_letters(text_of(notation, "board"))
        if len(rows) == 1 and self.rows > 1 and len(rows[0]) == self.rows * self.columns:
            rows = [rows[0][i : i + self.columns] for i in range(0, len(rows[0]), self.columns)]
        walls = {(r, c) for r in range(self.rows) for c in range(self.columns)} - set(self._cell)
        if [len(row) for row in rows] != [self.columns] * self.rows or _walls(rows) != walls:
            raise InputError(
                f"board {'/'.join(rows)}: expected {counted(self.rows, 'row')} of "
                f"{counted(self.columns, 'letter')}, such as " + self.line(self._reference)
            )
        return self._settled(self._codes(rows, "board", part=False))

    def write(self, board: Board) -> list[str]:
        marks = {OPEN: OPEN_MARK, **dict(enumerate(self.labels))}
        return [
            "".join(
                marks[board[self._cell[r, c]]] if (r, c) in self._cell else WALL
                for c in range(self.columns)
            )
            for r in range(self.rows)
        ]

    def line(self, board: Board) -> str:
        return "/".join(self.write(board))

    def picture(self, board: Board) -> Picture:
        kind = {code: kind for kind, sort in enumerate(self._sorts) for code in sort.codes}
        drawn = {code: self._symbols.get(name, name) for code, name in enumerate(self.labels)}
        parts = []
        for code, cells in covers(board).items():
            sort = self._sorts[kind[code]]
            shared = "" if sort.distinct else drawn[sort.codes[0]]
            name = self.labels[code]
            parts.append(Part(code, name, drawn[code], kind[code], cells, shared))
        return Picture(
            places=tuple((c, r) for r, c in self._cell),
            parts=tuple(parts),
            open=open_cells(board),
            kinds=len(self._sorts),
            ordered=False,
        )

    def name_move(self, before: Board, after: Board) -> str:
        """The letter of the piece and its steps."""
        code, _, directions = self._displaced(before, after)
        return self.labels[code] + "".join(ARROWS[direction] for direction in directions)

    def _why_not(self, board: Board, name: str) -> str:
        try:
            said = self.line(board)
        except (KeyError, IndexError):
            return f"{name} {list(board)}: codes are 0 (empty) and 1..{len(self._letters)}"
        return (
            f"{name} {said}: every piece of {self.line(self._reference)} must lie in it whole, once"
        )


def _walls(rows: Sequence[str]) -> set[Cell]:
    return {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == WALL}


def _pieces(rows: Sequence[str], name: str) -> dict[str, tuple[Cell, ...]]:
    """The form of each piece that a drawn board shows: its cells, counted from the first."""
    cells: dict[str, list[Cell]] = {}
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            if letter not in (*BLANKS, WALL, OPEN_MARK):
                cells.setdefault(letter, []).append((r, c))
    for letter, piece in cells.items():
        joined = [piece[0]]
        for r, c in joined:
            joined += [
                (r + dr, c + dc)
                for dr, dc in DIRECTIONS
                if (r + dr, c + dc) in piece and (r + dr, c + dc) not in joined
            ]
        if len(joined) < len(piece):
            raise InputError(
                f"{name} = {'/'.join(rows)}: piece {letter!r} is drawn in two parts, at row "
                f"{piece[0][0] + 1}, column {piece[0][1] + 1} and elsewhere; every piece needs a "
                "letter of its own (pieces that count as the same are named by puzzle.alike)"
            )
    return {
        letter: tuple((r - piece[0][0], c - piece[0][1]) for r, c in piece)
        for letter, piece in cells.items()
    }


def _groups(alike: Sequence[str], pieces: Mapping[str, tuple[Cell, ...]]) -> list[str]:
    """The groups of like pieces, checked."""
    seen = ""
    for group in alike:
        for letter in group:
            if letter not in pieces:
                raise InputError(
                    f"puzzle.alike = {list(alike)}: {letter!r} is no piece of the board; its "
                    f"pieces are {' '.join(pieces)}"
                )
            if letter in seen:
                raise InputError(f"puzzle.alike = {list(alike)}: {letter!r} is named twice")
            seen += letter
            if pieces[letter] != pieces[group[0]]:
                raise InputError(
                    f"puzzle.alike = {list(alike)}: {group[0]!r} and {letter!r} differ in form, so "
                    "they cannot count as the same"
                )
    return [group for group in alike if len(group) > 1]


def _place(rows: Sequence[str], letter: str) -> Cell:
    """(row, column) of the first cell of a piece."""
    return next((r, row.index(letter)) for r, row in enumerate(rows) if letter in row)


def _axes(horizontal: str, vertical: str, pieces: Mapping, groups: Sequence[str]) -> dict[str, int]:
    """The axis of each piece that has one, an index of `AXES`; checked."""
    axes: dict[str, int] = {}
    for axis, letters in enumerate((horizontal, vertical)):
        said = f"puzzle.{AXES[axis]} = {letters!r}"
        for letter in letters:
            if letter not in pieces:
                raise InputError(
                    f"{said}: {letter!r} is no piece of the board; its pieces are "
                    + " ".join(pieces)
                )
            if letter in axes:
                raise InputError(f"{said}: {letter!r} is named twice; a piece has one axis or none")
            axes[letter] = axis
    for group in groups:
        for letter in group:
            if axes.get(letter) != axes.get(group[0]):
                raise InputError(
                    f"puzzle.alike: {group[0]!r} and {letter!r} do not move in the same directions "
                    "(puzzle.horizontal, puzzle.vertical), so they cannot count as the same"
                )
    return axes


def _footprint(
    form: tuple[Cell, ...],
    place: Mapping[Cell, int],
    axis: int | None = None,
    lines: frozenset[int] | None = None,
) -> Footprint:
    """All placements of a form on the cells, and the steps between them.

    axis: along which it moves, an index of `AXES`; None if along both. lines: the rows or columns
    that it may begin in then.
    """
    placements, at = [], {}
    for r, c in place:
        if axis is not None and (r, c)[axis] not in lines:
            continue
        cells = [(r + dr, c + dc) for dr, dc in form]
        if all(cell in place for cell in cells):
            at[r, c] = len(placements)
            placements.append(tuple(sorted(place[cell] for cell in cells)))
    steps = [
        (number, at[r + step[0], c + step[1]], direction)
        for (r, c), number in at.items()
        for direction, step in enumerate(DIRECTIONS)
        if (axis is None or not step[axis]) and (r + step[0], c + step[1]) in at
    ]
    return Footprint(tuple(placements), tuple(steps))
