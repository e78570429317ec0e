"""Cosets of tile puzzles from their definitions, slow and plain, without the package.

A board is a tuple, row by row, with 0 for the blank; in a pattern, `LIKE` stands for all tiles that
are not labelled. A region is a rectangle (top, left, rows, columns); tiles are labelled whose homes
lie outside. All distances come from searches breadth first over dictionaries.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tests.support.reference_search import Flat, blank_moves, layers_of, line_moves

LIKE = -1
Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True)
class Board:
    """A tile puzzle whose goal has the tiles in order and the blank in the cell (row, column)."""

    rows: int
    columns: int
    blank: tuple[int, int]
    metric: str = "step"

    @property
    def goal(self) -> Flat:
        at = self.blank[0] * self.columns + self.blank[1]
        return tuple(0 if i == at else i + (i < at) for i in range(self.rows * self.columns))

    @property
    def reading(self) -> list[int]:
        """The cells along the shorter side, line by line."""
        if self.rows > self.columns:
            return list(range(self.rows * self.columns))
        return [r * self.columns + c for c in range(self.columns) for r in range(self.rows)]

    def near(self, board: Flat) -> list[Flat]:
        """The boards one move away."""
        moves = blank_moves if self.metric == "step" else line_moves
        return moves(self.rows, self.columns, board)

    @cached_property
    def distances(self) -> dict[Flat, int]:
        """The distance of every board that can be reached."""
        return numbered(layers_of([self.goal], self.near))

    def is_odd(self, board: Flat) -> bool:
        """Whether the blank's cell has another colour, as on a checkerboard, than its home."""
        row, column = divmod(board.index(0), self.columns)
        return (row + column + sum(self.blank)) % 2 == 1

    def rectangles(self) -> Iterator[Rectangle]:
        """All regions: two lines or more each way, around the blank's home, not the whole board."""
        for top in range(self.blank[0] + 1):
            for left in range(self.blank[1] + 1):
                for rows in range(2, self.rows - top + 1):
                    for columns in range(2, self.columns - left + 1):
                        holds = self.blank[0] < top + rows and self.blank[1] < left + columns
                        if holds and rows * columns < self.rows * self.columns:
                            yield top, left, rows, columns

    def cells_of(self, region: Rectangle) -> list[int]:
        """The cells of a region, row by row."""
        top, left, rows, columns = region
        return [
            r * self.columns + c
            for r in range(top, top + rows)
            for c in range(left, left + columns)
        ]

    def labelled(self, region: Rectangle) -> list[int]:
        """The tiles whose homes lie outside of a region."""
        inside = self.cells_of(region)
        return [tile for cell, tile in enumerate(self.goal) if cell not in inside]

    def patterns(self, region: Rectangle) -> dict[Flat, int]:
        """The least moves of each pattern that bring all labelled tiles home, and the blank into
        the region: where a move slides one tile, to a cell of its home's colour."""
        home, ends = pattern_of(self.goal, self.labelled(region)), []
        for cell in self.cells_of(region):
            row, column = divmod(cell, self.columns)
            if self.metric == "step" and (row + column + sum(self.blank)) % 2:
                continue
            end = [LIKE if tile == 0 else tile for tile in home]
            end[cell] = 0
            ends.append(tuple(end))
        return numbered(layers_of(ends, self.near))

    def cosets(self, region: Rectangle) -> dict[Flat, dict[Flat, int]]:
        """The distances of the boards of each pattern."""
        labelled, cosets = self.labelled(region), {}
        for board, distance in self.distances.items():
            cosets.setdefault(pattern_of(board, labelled), {})[board] = distance
        return cosets

    def moves_of(self, tiles: Collection[int]) -> dict[Flat, int]:
        """The least number of moves of some tiles that bring them and the blank home, whatever the
        others do, for each pattern of these tiles. One move slides one tile."""
        start = pattern_of(self.goal, tiles)
        found, now = {start: 0}, [start]
        while now:
            later, pending = [], now
            while pending:
                board = pending.pop()
                for there in blank_moves(self.rows, self.columns, board):
                    moved = board[there.index(0)] != LIKE
                    if there not in found or found[there] > found[board] + moved:
                        found[there] = found[board] + moved
                        (later if moved else pending).append(there)
            now = later
        return found

    def line_of(self, board: Flat, along: bool) -> frozenset[Flat]:
        """The line of a board or pattern: with it all that moves along the blank's row lead to, or
        along its column. along: that of these along which the board is read."""
        in_rows = along == (self.rows > self.columns)

        def place(other: Flat) -> int:
            return divmod(other.index(0), self.columns)[0 if in_rows else 1]

        moved = line_moves(self.rows, self.columns, board)
        return frozenset([board, *(other for other in moved if place(other) == place(board))])

    def lines_from(self, tiles: Collection[int], along: bool) -> dict[frozenset[Flat], int]:
        """The distance of each line of the patterns of some tiles from a line of the goal, where
        lines that share a pattern are neighbours."""

        def near(line: frozenset[Flat]) -> list[frozenset[Flat]]:
            both = (self.line_of(board, kind) for board in line for kind in (True, False))
            return [other for other in both if other != line]

        return numbered(layers_of([self.line_of(pattern_of(self.goal, tiles), along)], near))

    def leads_home(self, board: Flat, blanks: Iterable[int]) -> bool:
        """Whether the blank, going to these cells one after the other, makes the goal of a board,
        by moves of this metric."""
        for cell in blanks:
            board = {there.index(0): there for there in self.near(board)}[cell]
        return board == self.goal


def pattern_of(board: Flat, labelled: Collection[int]) -> Flat:
    """The board with all tiles alike that are not labelled."""
    return tuple(tile if tile == 0 or tile in labelled else LIKE for tile in board)


def numbered(layers: Iterable[Iterable[Flat]]) -> dict[Flat, int]:
    return {board: depth for depth, layer in enumerate(layers) for board in layer}


@lru_cache(maxsize=8)
def board_of(rows: int, columns: int, blank: tuple[int, int], metric: str = "step") -> Board:
    """A puzzle, which a few tests after another share, with all its distances."""
    return Board(rows, columns, blank, metric)


def blank_cells(rows: int, columns: int) -> list[tuple[int, int]]:
    return [(r, c) for r in range(rows) for c in range(columns)]
