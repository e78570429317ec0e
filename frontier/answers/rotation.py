"""The 15-puzzle solved by rotations of three loops, piece by piece, without any search.

With the blank at the bottom right, carrying it once around a loop of cells through that corner
turns the other tiles of the loop by one place. Three nested loops will do (S. Fujimoto's rotational
operations):

    a: the border,      12 tile moves a turn,  0  1  2  3        a a a a
    b: around 6 cells,   8 tile moves a turn,  4  5  6  7        a b b *
    c: four cells,       4 tile moves a turn,  8  9 10 11        a b c *
                                              12 13 14 15        a * *

The loops meet in the cells 7, 11, 13 and 14 (*). To bring a tile to its cell of the border: turn a
until that cell's content is at a meeting place, turn the inner loop until the tile is there
instead, turn a back. A tile that is on the border already is first brought inside the same way.
So the seven tiles of the border that b does not pass are placed, one after the other, from the top
right to the bottom left, then five of b's by turns of c; one turn of c, or none, does the rest, as
the parity of the position allows no other case.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from frontier.errors import InputError
from frontier.puzzles import Board, Tiles

FIFTEEN = Tiles(4, 4, goal=[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 0]])
CORNER = 15

LOOPS = {
    "a": (14, 13, 12, 8, 4, 0, 1, 2, 3, 7, 11, CORNER),
    "b": (14, 13, 9, 5, 6, 7, 11, CORNER),
    "c": (14, 10, 11, CORNER),
}
"""The cells that the blank visits in one turn; each tile then lies where the one before it in
this order lay."""

OUTER = ((4, 3), (3, 2), (2, 1), (1, 0), (5, 4), (9, 8), (13, 12))
"""The tiles that loop a places, with their cells, in this order."""

INNER = ((8, 7), (7, 6), (6, 5), (10, 9), (14, 13))
"""The same for loop b."""

Turn = tuple[str, int]
"""(loop, number of turns), negative the other way around."""


@dataclass
class Stage:
    """What is done for one tile: turns, and the board after them."""

    tile: int
    turns: list[Turn]
    board: Board


@dataclass
class Rotation:
    """A solution by rotations.

    start: the board. slide: cells that the blank visits to come to the corner first.
    stages: one for each tile that is placed, in order.
    """

    start: Board
    slide: list[int]
    stages: list[Stage] = field(default_factory=list)

    @property
    def turns(self) -> list[Turn]:
        """All commands."""
        return [turn for stage in self.stages for turn in stage.turns]

    @property
    def units(self) -> int:
        """Turns by one place."""
        return sum(abs(number) for _, number in self.turns)

    @property
    def blank_way(self) -> list[int]:
        """The cells that the blank visits, one a tile move."""
        return [*self.slide, *(cell for turn in self.turns for cell in cells_of(turn))]

    @property
    def short_way(self) -> list[int]:
        """The same without ways there and straight back."""
        way = [self.start.index(0)]
        for cell in self.blank_way:
            if len(way) > 1 and way[-2] == cell:
                way.pop()
            else:
                way.append(cell)
        return way[1:]


def cells_of(turn: Turn) -> list[int]:
    """The cells that the blank visits, from the corner to the corner."""
    loop, number = turn
    once = LOOPS[loop] if number > 0 else (*reversed(LOOPS[loop][:-1]), CORNER)
    return list(once) * abs(number)


def moved(board: Board, way: Iterable[int]) -> Board:
    """The board after the blank has visited these cells, each next to the one before."""
    cells = list(board)
    blank = cells.index(0)
    for cell in way:
        cells[blank], cells[cell] = cells[cell], 0
        blank = cell
    return tuple(cells)


def solve_by_rotations(board: Board) -> Rotation:
    """Solve a board of `FIFTEEN`; InputError if the goal cannot be reached from it."""
    if not FIFTEEN.reaches(board):
        raise InputError(f"board {FIFTEEN.line(board)}: {FIFTEEN.why_unreachable}")
    blank = board.index(0)
    along_row = range(blank + 1, blank // 4 * 4 + 4)
    slide = [*along_row, *range(blank // 4 * 4 + 7, CORNER + 1, 4)]
    rotation = Rotation(board, slide)
    work = _Work(moved(board, slide))
    placements = [
        *((tile, work.place_on_border, n) for n, (tile, _) in enumerate(OUTER)),
        *((tile, work.place_on_b, n) for n, (tile, _) in enumerate(INNER)),
        (11, work.place_last, 0),
    ]
    for tile, place, number in placements:
        rotation.stages.append(work.stage(place, tile, number))
    return rotation


class _Work:
    """A board under way, with the turns of the stage under way."""

    def __init__(self, board: Board):
        self.board = board
        self.turns: list[Turn] = []

    def stage(self, place: Callable[[int, int], None], tile: int, number: int) -> Stage:
        """Do one of the ways to place a tile below."""
        self.turns = []
        place(tile, number)
        return Stage(tile, self.turns, self.board)

    def turn(self, loop: str, number: int) -> None:
        self.turns.append((loop, number))
        self.board = moved(self.board, cells_of((loop, number)))

    def place_on_border(self, tile: int, number: int) -> None:
        """Bring a tile to its cell on loop a; the `number` tiles before it stay in theirs."""
        if self.board.index(tile) == OUTER[number][1]:
            return
        self._leave_border(tile)
        cell = self.board.index(tile)
        if cell == 10:
            self._exchange("a", len(OUTER) + 1 - number, "c", 1)  # meet in cell 14
        else:
            self._exchange("a", len(OUTER) - number, "b", {9: 1, 5: 2, 6: 3}[cell])  # in 13

    def _leave_border(self, tile: int) -> None:
        """Bring a tile that is on loop a to a cell inside."""
        cell = self.board.index(tile)
        border = [cell for _, cell in OUTER]
        if cell in border:
            self._exchange("a", len(border) - border.index(cell), "b", -1)
        elif cell in (7, 13):
            self.turn("b", 2 if cell == 7 else -2)
        elif cell in (11, 14):
            self.turn("c", 1 if cell == 11 else -1)

    def place_on_b(self, tile: int, number: int) -> None:
        """Bring a tile to its cell on loop b; loop a and the tiles before it stay."""
        cell = self.board.index(tile)
        if cell == INNER[number][1]:
            return
        loop = [cell for _, cell in INNER]
        if cell in loop:
            self._exchange("b", len(loop) - loop.index(cell), "c", -1)
        elif cell in (11, 14):
            self.turn("c", 1 if cell == 11 else -1)
        self._exchange("b", len(loop) - number, "c", 1)

    def place_last(self, tile: int, number: int) -> None:
        """Turn the three tiles that are left."""
        cell = self.board.index(tile)
        if cell != 10:
            self.turn("c", 1 if cell == 11 else -1)

    def _exchange(self, outer: str, turns: int, inner: str, number: int) -> None:
        self.turn(outer, turns)
        self.turn(inner, number)
        self.turn(outer, -turns)
