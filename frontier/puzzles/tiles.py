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
"""

from dataclasses import dataclass
from math import factorial

from frontier.errors import InputError
from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.space.graph import BaseGraph
from frontier.space.lehmer import parity

MOST_CELLS = 25


@dataclass(frozen=True)
class Tiles(Puzzle):
    """The rows x columns tile puzzle.

    goal: the board at depth 0, row by row, 0 the blank; by default blank first, then 1, 2, ...
    start: a board whose distance from the goal is wanted.
    """

    rows: int
    columns: int
    goal: Board = None
    start: Board | None = None

    def __post_init__(self) -> None:
        for name, value in (("rows", self.rows), ("columns", self.columns)):
            if value < 1:
                raise InputError(f"puzzle.{name} = {value}: a board has at least 1 of them")
        if self.rows * self.columns > MOST_CELLS:
            raise InputError(
                f"puzzle.rows x puzzle.columns = {self.rows} x {self.columns} = "
                f"{self.rows * self.columns} cells: at most {MOST_CELLS} are supported"
            )
        if self.goal is None:
            numbers = iter(range(self.rows * self.columns))
            goal = tuple(
                tuple(next(numbers) for _ in range(self.columns)) for _ in range(self.rows)
            )
            object.__setattr__(self, "goal", goal)
        self._check(self.goal, "puzzle.goal")
        if self.start is not None:
            self._check(self.start, "puzzle.start")
            if not self.reaches(self.start):
                why = (
                    "on a board of one line the tiles keep their order"
                    if self._line == 1
                    else "their permutations have different parity; exchanging any two tiles of "
                    "one of them makes it reachable"
                )
                raise InputError(
                    f"puzzle.start = {_rows(self.start)} cannot be reached from the goal "
                    f"{_rows(self.goal)}: {why}"
                )

    @property
    def _sides(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def title(self) -> str:
        return f"{self.rows}×{self.columns} tiles"

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def _line(self) -> int:
        """Cells of a line of the reading order."""
        return min(self._sides)

    def _check(self, board: Board, name: str) -> None:
        shape = [len(row) for row in board]
        if shape != [self.columns] * self.rows:
            raise InputError(
                f"{name} = {_rows(board)}: expected {self.rows} rows of {self.columns} numbers"
            )
        if sorted(self._read(board)) != list(range(self.cells)):
            raise InputError(
                f"{name} = {_rows(board)}: the numbers 0..{self.cells - 1} must stand in it, "
                "each once (0 is the blank)"
            )

    def _read(self, board: Board) -> list[int]:
        """The numbers of a board in reading order."""
        lines = board if self.rows > self.columns else zip(*board, strict=True)
        return [number for line in lines for number in line]

    def _order(self) -> dict[int, int]:
        """Rank of each tile in the goal's sequence, so that the goal's is 0, 1, 2, ..."""
        tiles = [tile for tile in self._read(self.goal) if tile]
        return {tile: rank for rank, tile in enumerate(tiles)}

    def graph(self) -> BaseGraph:
        line, arcs = self._line, []
        for p in range(self.cells):
            for q in {p + 1, p + line}:
                if q >= self.cells or (q == p + 1 < p + line and q % line == 0):
                    continue
                forth = tuple(range(q - 2, p - 1, -1)) if q - p == line else ()
                arcs += [(p, q, forth), (q, p, forth[::-1])]
        return BaseGraph.from_arcs(self.cells, self.cells - 1 if line > 1 else 0, arcs)

    def state(self, board: Board) -> State:
        self._check(board, "board")
        numbers, order = self._read(board), self._order()
        sequence = tuple(order[tile] for tile in numbers if tile)
        if self._line == 1 and sequence != tuple(range(self.cells - 1)):
            raise InputError(f"board {_rows(board)} cannot be reached: its tiles are out of order")
        return numbers.index(0), sequence if self._line > 1 else ()

    def board(self, state: State) -> Board:
        blank, sequence = state
        tiles = sorted(self._order(), key=self._order().get)
        numbers = [tiles[rank] for rank in (sequence if self._line > 1 else range(len(tiles)))]
        numbers.insert(blank, 0)
        lines = [numbers[i : i + self._line] for i in range(0, self.cells, self._line)]
        return tuple(map(tuple, lines if self.rows > self.columns else zip(*lines, strict=True)))

    def reaches(self, board: Board) -> bool:
        self._check(board, "board")
        if self._line == 1:
            tiles = [tile for tile in self._read(board) if tile]
            return tiles == [tile for tile in self._read(self.goal) if tile]
        # Each crossing between lines turns s tiles, s - 1 swaps.
        crossings = self._read(board).index(0) // self._line
        crossings -= self._read(self.goal).index(0) // self._line
        _, sequence = self.state(board)
        return parity(sequence) == crossings * (self._line - 1) % 2

    @property
    def states(self) -> int:
        return self.cells if self._line == 1 else factorial(self.cells) // 2

    def draw(self, board: Board) -> str:
        width = len(str(self.cells - 1))
        return "\n".join(
            " ".join((str(tile) if tile else "·").rjust(width) for tile in row) for row in board
        )

    def parse(self, text: str) -> Board:
        rows = [row.replace(",", " ").split() for row in text.replace("/", "\n").splitlines()]
        try:
            board = tuple(
                tuple(0 if word in ("·", ".", "_") else int(word) for word in row)
                for row in rows
                if row
            )
        except ValueError as error:
            raise InputError(f"board {text!r}: {error}; write numbers, 0 for the blank") from None
        if len(board) == 1 and self.rows > 1:
            flat = board[0]
            board = tuple(flat[i : i + self.columns] for i in range(0, len(flat), self.columns))
        self._check(board, "board")
        return board


def _rows(board: Board) -> list[list[int]]:
    return [list(row) for row in board]
