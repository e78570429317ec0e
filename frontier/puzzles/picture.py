"""A board as a picture: the places of its pieces, for any output format.

The unit of length is the side of a cell; x points to the right and y downwards. The cells of a
graph lie either as a text shows them, or where distances in the plane are close to those in the
graph: majorisation lowers the stress sum (|p_i - p_j| - d_ij)^2 / d_ij^2 (E. R. Gansner, Y. Koren
and S. North, Graph Drawing by Stress Majorization, 2004), starting from the plane that fits the
distances best (classical scaling).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import ceil, dist, floor

import numpy as np

from frontier.text import width

Point = tuple[float, float]

ROOM = 0.6
"""A drawn piece reaches this far from the middle of its cell, in sides of a cell, if cells are not
squares."""

ROUNDS = 300
USUAL = 2
"""The usual height of a letter in a text, in widths of a letter."""


@dataclass(frozen=True)
class Piece:
    """A piece at its place.

    code: its number on the board, which it keeps throughout a solution. name: its name in moves.
    label: the text on it, "" for one of many that look alike. kind: pieces of one kind have one
    colour; None, without a colour, for a piece that has no goal cell or may end anywhere. cells:
    the cells that it covers. shared: the label of all pieces that count as the same, "" if none do.
    colour: as #rrggbb, "" for the colour of its kind.
    """

    code: int
    name: str
    label: str
    kind: int | None
    cells: tuple[int, ...]
    shared: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Picture:
    """A board, or a part of one.

    places: the middle of each cell. pieces: the pieces by their codes. open: the cells that may
    hold anything. kinds: the number of kinds of pieces. ordered: True if their colours form a
    scale. edges: pairs of cells that a graph joins; None if cells are squares, whose places are
    whole numbers. names: the names of the cells, if moves use them. walls: True if squares without
    a cell are walls.
    """

    places: tuple[Point, ...]
    pieces: tuple[Piece, ...]
    open: tuple[int, ...]
    kinds: int
    ordered: bool
    edges: tuple[tuple[int, int], ...] | None = None
    names: tuple[str, ...] = ()
    walls: bool = True

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) of all cells."""
        xs, ys = zip(*self.places, strict=True)
        return min(xs) - 0.5, min(ys) - 0.5, max(xs) + 0.5, max(ys) + 0.5

    def alike(self) -> "Picture":
        """Return the picture of a single board, on which like pieces look alike.

        Only the moves of a solution tell like pieces apart; on a single board their names mean
        nothing.
        """
        pieces = [replace(piece, label=piece.shared or piece.label) for piece in self.pieces]
        return replace(self, pieces=tuple(pieces))

    def middle(self, piece: Piece) -> tuple[Point, int]:
        """Return the place of the label of a piece, and the width of the piece there in cells.

        The place is the middle of the piece if cells of the piece surround it, otherwise the middle
        of its longest row.
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
    """Return (x of the first square, y, number of squares) of each row of adjacent squares."""
    rows = []
    for x, y in squares:
        if (x - 1, y) not in squares:
            length = 1
            while (x + length, y) in squares:
                length += 1
            rows.append((x, y, length))
    return rows


def shown_in(text: str, edges: Sequence[tuple[int, int]]) -> tuple[Point, ...]:
    """Return the places of cells from a text that shows their numbers; the nearest cells are 1
    apart.

    The distance between lines of text, 1 to 4 widths of a letter, is chosen to make the lengths of
    the edges as equal as possible.
    """
    place_of = {}
    for y, line in enumerate(text.splitlines()):
        for number in re.finditer(r"\d+", line):
            # A cell lies where its number begins, so 9 and 10 can be in one column.
            place_of[int(number[0])] = (width(line[: number.start()]), y)
    at = np.array([place_of[cell] for cell in range(len(place_of))], dtype=float)
    across, down = np.array([(at[a] - at[b]) ** 2 for a, b in edges]).reshape(-1, 2).T
    squared = USUAL**2
    if np.unique(down).size > 1:  # least variance of the squared lengths across + squared * down
        squared = -np.mean((across - across.mean()) * (down - down.mean())) / down.var()
    at[:, 1] *= np.sqrt(np.clip(squared, 1, 16))
    return _scaled(at)


def laid_out(cells: int, edges: Sequence[tuple[int, int]]) -> tuple[Point, ...]:
    """Return places computed from the graph alone; the nearest cells are 1 apart."""
    if cells == 1:
        return ((0.0, 0.0),)
    far = _distances(cells, edges)
    centred = np.eye(cells) - 1 / cells
    values, vectors = np.linalg.eigh(-0.5 * centred @ (far**2) @ centred)
    at = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    # Move the cells off a common point or line, where no force would separate them.
    turn = 2 * np.pi * np.arange(cells) / cells
    at = at + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    weight = 1 / (far + np.eye(cells)) ** 2 - np.eye(cells)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(ROUNDS):
        pull = weight * far / np.maximum(_apart(at), 1e-9)
        at = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ at)
    return _scaled(_turned(at, far))


def _distances(cells: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the numbers of steps between cells, float64[cells, cells]; between separate parts, one
    more than the greatest (R. W. Floyd, Algorithm 97, 1962)."""
    far = np.where(np.eye(cells), 0, np.inf)
    for u, v in edges:
        far[u, v] = far[v, u] = 1
    for middle in range(cells):
        far = np.minimum(far, far[:, middle, None] + far[middle])
    joined = far < np.inf
    return np.where(joined, far, far[joined].max() + 1)


def _apart(at: np.ndarray) -> np.ndarray:
    """Return the distances between points, float64[N, N]."""
    return np.linalg.norm(at[:, None] - at[None], axis=2)


def _turned(at: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Return the points, rotated to put the first to the left of a point farthest from it, and
    reflected to put the second no lower than the first."""
    along = at[int(far[0].argmax())] - at[0]
    angle = np.arctan2(along[1], along[0])
    cosine, sine = np.cos(angle), np.sin(angle)
    at = at @ np.array([[cosine, -sine], [sine, cosine]])
    if at[1, 1] > at[0, 1]:
        at[:, 1] *= -1
    return at


def _scaled(at: np.ndarray) -> tuple[Point, ...]:
    """Return the points, scaled to put the nearest two 1 apart and shifted to begin at 0."""
    if len(at) > 1:
        apart = _apart(at) + np.diag([np.inf] * len(at))
        at = at / max(apart.min(), 1e-3 * np.abs(at - at.mean(axis=0)).max())
    at = at - at.min(axis=0)
    return tuple((round(float(x), 4) + 0.0, round(float(y), 4) + 0.0) for x, y in at)
