"""A board as a picture: what lies where, before it is known on what it is drawn.

Lengths are in sides of a cell, x to the right and y downwards.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import ceil, dist, floor

Point = tuple[float, float]

ROOM = 0.6
"""Sides of a cell from its middle on which its piece is seen, where cells are no squares."""


@dataclass(frozen=True)
class Piece:
    """A piece where it lies.

    code: its number on the board, which it keeps along a solution. name: what moves call it.
    label: what stands on it, "" for one of many that look alike. kind: pieces of one kind
    have one colour; None for a piece that has no place to go, which has none. cells: those it
    covers. shared: the label that stands for all that count as the same, "" if none do.
    """

    code: int
    name: str
    label: str
    kind: int | None
    cells: tuple[int, ...]
    shared: str = ""


@dataclass(frozen=True)
class Picture:
    """A board, or a part of one.

    places: the middle of each cell. pieces: the pieces by their codes. open: the cells that may
    hold anything. kinds: how many there are of `Piece.kind`; ordered: whether they make a scale.
    edges: pairs of cells that a graph joins; None where cells are squares, their places whole
    numbers. What has no cell is a wall. names: of the cells, where moves name them.
    """

    places: tuple[Point, ...]
    pieces: tuple[Piece, ...]
    open: tuple[int, ...]
    kinds: int
    ordered: bool
    edges: tuple[tuple[int, int], ...] | None = None
    names: tuple[str, ...] = ()

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) of all cells."""
        xs, ys = zip(*self.places, strict=True)
        return min(xs) - 0.5, min(ys) - 0.5, max(xs) + 0.5, max(ys) + 0.5

    def alike(self) -> "Picture":
        """The picture of a board with no moves from or to it, on which like pieces look alike.

        Which of them lies where means nothing. Only along a solution each has its name.
        """
        pieces = [replace(piece, label=piece.shared or piece.label) for piece in self.pieces]
        return replace(self, pieces=tuple(pieces))

    def middle(self, piece: Piece) -> tuple[Point, int]:
        """Where the label of a piece stands, and how many cells broad the piece is there.

        The middle of the piece if it has cells all around it, else that of its longest row.
        """
        squares = {self.places[cell] for cell in piece.cells}
        xs, ys = zip(*squares, strict=True)
        x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        if len(squares) == 1:
            return (x, y), 1
        if self.edges is not None:
            x, y = sum(xs) / len(xs), sum(ys) / len(ys)
            near = min(sorted(squares), key=lambda place: dist(place, (x, y)))
            return (x, y) if dist(near, (x, y)) <= ROOM else near, 1
        rows = _rows(squares)
        if squares.issuperset(product((floor(x), ceil(x)), (floor(y), ceil(y)))):
            sides = [
                min(x - left, left + length - 1 - x)
                for left, top, length in rows
                if top in (floor(y), ceil(y)) and left <= x <= left + length - 1
            ]
            return (x, y), round(2 * min(sides)) + 1
        left, top, length = min(rows, key=lambda row: (-row[2], abs(row[1] - y), row[1], row[0]))
        return (left + (length - 1) / 2, top), length


def _rows(squares: set[Point]) -> list[tuple[float, float, int]]:
    """(x of the first, y, number) of squares that lie side by side."""
    rows = []
    for x, y in squares:
        if (x - 1, y) not in squares:
            length = 1
            while (x + length, y) in squares:
                length += 1
            rows.append((x, y, length))
    return rows
