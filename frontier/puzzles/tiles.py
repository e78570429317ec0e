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
other: n positions, told apart by the blank alone.

Metrics: ``step``, a move slides one tile; ``multi``, it slides all tiles between the blank and
some tile of its row or column by one cell, so the blank moves along a line as far as it likes.

Renaming the tiles maps the positions with the blank in a given cell onto each other and keeps
the moves, and so does a symmetry of the board. So the greatest distance from a position depends
on the orbit of its blank alone, and the diameter of the state graph is the greatest over one
blank cell of each orbit (`blank_orbits`).
"""

import operator
from collections.abc import Sequence

from frontier.errors import InputError
from frontier.puzzles.moves import Moves, lines_of, moves_of
from frontier.puzzles.notation import BLANKS, OPEN_MARK, in_rows, rows_of_words
from frontier.puzzles.pieces import OPEN, Pieces
from frontier.puzzles.puzzle import Board
from frontier.puzzles.shapes import FIRST_SORT, Footprint, Sort

MOST_CELLS = 25
ARROWS = {(-1, 0): "↑", (1, 0): "↓", (0, -1): "←", (0, 1): "→"}


class Tiles(Pieces):
    """The rows x columns tile puzzle.

    goal: the board at depth 0, in rows of numbers, 0 the blank; by default the blank in the cell
        `blank` (row, column, from 0; the first cell if that is not given), the tiles in order.
        It may be given in part, with "?" for what may be anything.
    goals: several boards at depth 0, instead.
    start: a board whose distance from the goal is wanted.
    metric: "step" or "multi".
    """

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
        for name, value in (("rows", rows), ("columns", columns)):
            if value < 1:
                raise InputError(f"puzzle.{name} = {value}: a board has at least 1 of them")
        _check_size(rows, columns)
        self.rows, self.columns = rows, columns
        if (goal is not None) + (goals is not None) + (blank is not None) > 1:
            raise InputError("puzzle.goal, puzzle.goals and puzzle.blank exclude each other")
        if blank is not None:
            _check_blank(blank, rows, columns)
        cells = rows * columns
        at = blank[0] * columns + blank[1] if blank is not None else 0
        in_order = (*range(1, at + 1), 0, *range(at + 1, cells))
        if goal is not None:
            goals = [goal]
        patterns = [self._parse(board, "puzzle.goal", part=True) for board in goals or ()] or [
            in_order
        ]
        began = None if start is None else self._parse(start, "puzzle.start")
        whole = [board for board in (*patterns, began) if board and OPEN not in board]
        line = min(rows, columns)
        numbers = range(cells)
        reading = (
            list(numbers)
            if rows > columns
            else [r * columns + c for c in range(columns) for r in range(rows)]
        )
        at_place = {cell: place for place, cell in enumerate(reading)}
        steps = []
        for cell in numbers:
            for direction, (dr, dc) in enumerate(ARROWS):
                r, c = cell // columns + dr, cell % columns + dc
                if 0 <= r < rows and 0 <= c < columns:
                    steps.append((at_place[cell], at_place[r * columns + c], direction))
        footprint = Footprint(tuple((place,) for place in numbers), tuple(steps))
        tiles = [Sort(footprint, tuple(range(1, cells)), True)] if cells > 1 else []
        self._line_length = line
        reference = whole[0] if whole else in_order
        super().__init__(reading, tiles, metric, reference, patterns, began)

    def _all_moves(self, may_fix: bool) -> Moves:
        if self.metric == "step" or self.cells == 1:
            return super()._all_moves(may_fix)
        moves = moves_of(self.shapes, "step", may_fix)
        with_blank_at = {
            int((row != FIRST_SORT).argmax()): v for v, row in enumerate(self.shapes.rows)
        }
        vertices = [with_blank_at[cell] for cell in range(self.cells)]
        return lines_of(moves, vertices, self._sorts[0].footprint.beyond())

    @property
    def title(self) -> str:
        multi = ", any number of tiles a move" if self.metric == "multi" else ""
        return f"{self.rows}×{self.columns} tiles{multi}"

    @property
    def labels(self) -> list[str]:
        return ["·", *map(str, range(1, self.cells))]

    @property
    def why_unreachable(self) -> str:
        if self._line_length == 1:
            why = "on a board of one line the tiles keep their order"
        else:
            why = "its parity differs from the goal's; exchanging any two tiles mends that"
        return f"it cannot be reached from the goal: {why}"

    def _parse(self, notation, name: str, part: bool = False) -> Board:
        """A board from rows of numbers, or from text; with part, "?" stands for anything."""
        if isinstance(notation, str):
            rows = rows_of_words(notation)
        elif isinstance(notation, list | tuple) and all(
            isinstance(row, list | tuple) for row in notation
        ):
            rows = [list(row) for row in notation]
        else:
            raise InputError(f"{name} = {notation!r}: expected rows of numbers, or text")
        if len(rows) == 1 and self.rows > 1:
            rows = in_rows(rows[0], self.columns)
        said = f"{name} = {_plain(rows)}"
        if [len(row) for row in rows] != [self.columns] * self.rows:
            raise InputError(f"{said}: expected {self.rows} rows of {self.columns} numbers")
        board = []
        for word in (word for row in rows for word in row):
            if isinstance(word, str) and word in BLANKS:
                board.append(0)
            elif part and word == OPEN_MARK:
                board.append(OPEN)
            else:
                try:
                    number = int(word) if isinstance(word, str) else operator.index(word)
                    if isinstance(word, bool) or number < 0:
                        raise ValueError
                    board.append(number)
                except (TypeError, ValueError):
                    raise InputError(
                        f"{said}: {word!r} is not a number; write numbers, 0 for the blank"
                    ) from None
        most = self.rows * self.columns - 1
        given = [number for number in board if number != OPEN]
        if len(set(given)) < len(given) or not set(given) <= set(range(most + 1)):
            raise InputError(
                f"{said}: the numbers 0..{most} must stand in it, each once (0 is the blank)"
            )
        return tuple(board)

    def parse(self, notation) -> Board:
        return self._parse(notation, "board")

    def write(self, board: Board) -> list[list]:
        numbers = ["?" if number == OPEN else number for number in board]
        return in_rows(numbers, self.columns)

    def line(self, board: Board) -> str:
        return "/".join(" ".join(map(str, row)) for row in self.write(board))

    def draw(self, board: Board) -> str:
        width = len(str(self.cells - 1))
        return "\n".join(
            " ".join((str(tile) if tile else "·").rjust(width) for tile in row)
            for row in self.write(board)
        )

    def name_move(self, before: Board, after: Board) -> str:
        """The tiles that slide, the nearest to the blank first, and where to."""
        p, q = before.index(0), after.index(0)
        dr, dc = (p // self.columns - q // self.columns, p % self.columns - q % self.columns)
        length = max(abs(dr), abs(dc))
        step = (dr // length, dc // length)
        passed = [before[p - k * (step[0] * self.columns + step[1])] for k in range(1, length + 1)]
        return ",".join(map(str, passed)) + ARROWS[step]

    def follow(self, before: Board, after: Board) -> Board:
        return after

    def _why_not(self, board: Board, name: str) -> str:
        numbers = f"the numbers 0..{self.cells - 1} must stand in it, each once"
        return f"{name} {self.line(board)}: {numbers}"


def _check_size(rows: int, columns: int) -> None:
    if rows * columns > MOST_CELLS:
        raise InputError(
            f"puzzle.rows x puzzle.columns = {rows} x {columns} = {rows * columns} cells: at most "
            f"{MOST_CELLS} are supported"
        )


def _check_blank(blank, rows: int, columns: int) -> None:
    if not (isinstance(blank, list | tuple) and len(blank) == 2):
        raise InputError(f'puzzle.blank = {blank!r}: expected [row, column] or "all"')
    if not all(type(i) is int and 0 <= i < n for i, n in zip(blank, (rows, columns), strict=True)):
        raise InputError(
            f"puzzle.blank = {list(blank)}: rows are 0..{rows - 1}, columns 0..{columns - 1}"
        )


def blank_orbits(rows: int, columns: int) -> list[tuple[int, int]]:
    """One cell, the first, of each orbit of a board's cells under its symmetries."""
    _check_size(rows, columns)
    orbits = set()
    for r in range(rows):
        for c in range(columns):
            images = {
                (r, c),
                (rows - 1 - r, c),
                (r, columns - 1 - c),
                (rows - 1 - r, columns - 1 - c),
            }
            if rows == columns:
                images |= {(x, y) for y, x in images}
            orbits.add(min(images))
    return sorted(orbits)


def _plain(rows: Sequence[Sequence]) -> str:
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
