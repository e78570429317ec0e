"""Solve the 15-puzzle by rotations of three loops, tile by tile, without any search.

    python scripts/rotation.py "15 13 3 9/1 4 14 5/7 2 8 10/12 11 6 0"

The goal has the blank, 0, at the bottom right. The blank of the board first slides along its row
and then down to this corner. The script writes rotations as (a 3), (b -1), (c 1): (a 3) carries the
blank three times clockwise around loop a, which moves the other tiles of the loop three places
anticlockwise. A negative number turns the loop the other way.

With the blank at the bottom right, moving it once around a loop of cells through that corner
rotates the tiles of the loop by one place. Three nested loops are enough (S. Fujimoto's rotational
operations):

    a: 12 cells, 12 tile moves a turn,         0  1  2  3        a a a a
    b:  8 cells,  8 tile moves a turn,         4  5  6  7        a b b *
    c:  4 cells,  4 tile moves a turn,         8  9 10 11        a b c *
                                              12 13 14 15        a * *

The loops meet in the cells 7, 11, 13 and 14 (*). To bring a tile to its cell on the border, turn
loop `a` until the content of that cell is at a meeting place, turn the inner loop until the tile is
there instead, and turn loop `a` back. A tile that is already on the border is first brought inside
in the same way. This places the seven tiles of the border outside loop `b`, one after another from
the top right to the bottom left. Turns of loop `c` then place five tiles of loop `b`. At most one
turn of loop `c` places the last tiles, because the parity of the position allows no other case.
"""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field

from frontier.errors import InputError
from frontier.puzzles import Board, tile_puzzle
from frontier.report.boards import draw_boards
from frontier.text import counted

FIFTEEN = tile_puzzle(4, 4, goal=[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 0]])
CORNER = 15
TILES_A_LINE = 25

LOOPS = {
    "a": (14, 13, 12, 8, 4, 0, 1, 2, 3, 7, 11, CORNER),
    "b": (14, 13, 9, 5, 6, 7, 11, CORNER),
    "c": (14, 10, 11, CORNER),
}
"""The cells that the blank visits in one turn. After the turn, each tile is where the previous tile
in this order was."""

PLACED = {
    "a": {4: 3, 3: 2, 2: 1, 1: 0, 5: 4, 9: 8, 13: 12},
    "b": {8: 7, 7: 6, 6: 5, 10: 9, 14: 13},
    "c": {11: 10},
}
"""The tiles that each loop places, in this order, with the goal cell of each."""

Turn = tuple[str, int]
"""(loop, number of turns), negative in the opposite direction."""

INWARDS: dict[str, dict[int, Turn]] = {
    "a": {7: ("b", 2), 13: ("b", -2), 11: ("c", 1), 14: ("c", -1)},
    "b": {11: ("c", 1), 14: ("c", -1)},
    "c": {11: ("c", 1), 14: ("c", -1)},
}
"""The turn that brings a tile from a meeting place of a loop to a cell inside the loop."""

MEETINGS: dict[str, dict[int, tuple[int, Turn]]] = {
    "a": {10: (8, ("c", 1)), 9: (7, ("b", 1)), 5: (7, ("b", 2)), 6: (7, ("b", 3))},
    "b": {10: (5, ("c", 1))},
}
"""For each cell inside a loop: how often the loop turns until the content of the first cell of
`PLACED` is at a meeting place, and the turn that then brings the tile of the inner cell there
instead."""


@dataclass
class Stage:
    """The turns for one tile, and the board after them."""

    tile: int
    turns: list[Turn]
    board: Board


@dataclass
class Rotation:
    """A solution by rotations.

    start: the board. slide: the cells that the blank visits on its initial path to the corner.
    stages: one for each tile placed, in order.
    """

    start: Board
    slide: list[int]
    stages: list[Stage] = field(default_factory=list)

    @property
    def turns(self) -> list[Turn]:
        """All turns, in order."""
        return [turn for stage in self.stages for turn in stage.turns]

    @property
    def units(self) -> int:
        """The number of turns by one place."""
        return sum(abs(number) for _, number in self.turns)

    @property
    def blank_path(self) -> list[int]:
        """The cells that the blank visits, one per tile move."""
        return [*self.slide, *(cell for turn in self.turns for cell in cells_of(turn))]

    @property
    def short_path(self) -> list[int]:
        """The blank's path without pairs of steps that undo each other."""
        path = [self.start.index(0)]
        for cell in self.blank_path:
            if len(path) > 1 and path[-2] == cell:
                path.pop()
            else:
                path.append(cell)
        return path[1:]


def cells_of(turn: Turn) -> list[int]:
    """Return the cells that the blank visits in a turn, beginning and ending at the corner."""
    loop, number = turn
    once = LOOPS[loop] if number > 0 else (*reversed(LOOPS[loop][:-1]), CORNER)
    return list(once) * abs(number)


def moved(board: Board, path: Iterable[int]) -> Board:
    """Return the board after the blank has visited these cells, each next to the previous one."""
    cells = list(board)
    blank = cells.index(0)
    for cell in path:
        cells[blank], cells[cell] = cells[cell], 0
        blank = cell
    return tuple(cells)


def solve_by_rotations(board: Board) -> Rotation:
    """Solve a board of `FIFTEEN`; raises InputError if the goal cannot be reached from it."""
    if not FIFTEEN.model.reaches(board):
        raise InputError(
            f"board {FIFTEEN.line(board)}: {FIFTEEN.why_unreachable}; the goal is "
            f"{FIFTEEN.line(FIFTEEN.goals[0])}"
        )
    blank = board.index(0)
    along_row = range(blank + 1, blank // 4 * 4 + 4)
    slide = [*along_row, *range(blank // 4 * 4 + 7, CORNER + 1, 4)]
    rotation, board = Rotation(board, slide), moved(board, slide)
    for loop, tile in ((loop, tile) for loop, cells in PLACED.items() for tile in cells):
        turns = _placing(loop, tile, board)
        board = _after(board, turns)
        rotation.stages.append(Stage(tile, turns, board))
    return rotation


def _placing(loop: str, tile: int, board: Board) -> list[Turn]:
    """Return the turns that bring a tile to its cell on a loop and leave the tiles already placed
    in theirs."""
    cells, cell = list(PLACED[loop].values()), board.index(tile)
    turns: list[Turn] = []
    if cell == PLACED[loop][tile]:
        return turns
    if cell in cells:
        turns = _exchange(loop, len(cells) - cells.index(cell), ("b" if loop == "a" else "c", -1))
    elif cell in INWARDS[loop]:
        turns = [INWARDS[loop][cell]]
    if loop == "c":
        return turns
    number, turn = MEETINGS[loop][_after(board, turns).index(tile)]
    return [*turns, *_exchange(loop, number - cells.index(PLACED[loop][tile]), turn)]


def _exchange(loop: str, number: int, turn: Turn) -> list[Turn]:
    return [(loop, number), turn, (loop, -number)]


def _after(board: Board, turns: Iterable[Turn]) -> Board:
    return moved(board, (cell for turn in turns for cell in cells_of(turn)))


def tiles_of(rotation: Rotation, path: list[int]) -> list[int]:
    """Return the tiles that move when the blank moves through these cells."""
    tiles, board = [], rotation.start
    for cell in path:
        tiles.append(board[cell])
        board = moved(board, [cell])
    return tiles


def describe(rotation: Rotation, boards: bool) -> str:
    """Return the solution as text. boards: True to draw the board after each tile."""
    lines = [f"{FIFTEEN.line(rotation.start)}:"]
    if rotation.slide:
        slid = map(str, tiles_of(rotation, rotation.slide))
        lines.append(f"  blank to the corner: {' '.join(slid)}")
    for stage in rotation.stages:
        turns = " ".join(f"({loop} {number})" for loop, number in stage.turns)
        lines.append(f"  {stage.tile:>2}: {turns or 'in place'}")
        if boards:
            lines += ["", draw_boards(FIFTEEN, [stage.board]), ""]
    counts = [
        counted(len(rotation.turns), "command"),
        counted(rotation.units, "unit rotation"),
        counted(len(rotation.blank_path), "tile move"),
    ]
    lines.append(f"  {', '.join(counts)}")
    tiles = [f"{tile:>2}" for tile in tiles_of(rotation, rotation.short_path)]
    lines.append(f"  without backtracking, {counted(len(tiles), 'tile move')}:")
    for first in range(0, len(tiles), TILES_A_LINE):
        lines.append(f"    {' '.join(tiles[first : first + TILES_A_LINE])}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", metavar="BOARD", help="its rows, such as 1 2 3 4/5 6 7 8/…")
    parser.add_argument("--boards", action="store_true", help="show the board after each tile")
    options = parser.parse_args()
    try:
        rotation = solve_by_rotations(FIFTEEN.parse(options.board))
    except InputError as error:
        parser.error(str(error))
    print(describe(rotation, options.boards))


if __name__ == "__main__":
    main()
