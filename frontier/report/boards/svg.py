"""Boards as SVG.

A drawing uses only attributes, no ids or styles, so one page can hold many drawings. It has its own
background, so it looks the same on paper and on a dark page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.puzzles.notation import OPEN_MARK
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.report.colours import GROUND, INK, QUIET, colour_of, ink_on
from frontier.report.html import page
from frontier.text import width

FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
TRAY, EDGE = "#c3cad2", "#8d97a3"
MARGIN = 0.22
"""The margin around a board, in sides of a cell."""

ROUND, STONE = 0.13, 0.37
"""The radius of the corners of squares, and of stones on a graph, in sides of a cell."""

NOTEBOOK_SIDE, MOST_BOARDS = 24, 50
"""In a notebook, the side of a cell in pixels, and the most boards shown."""

NAME, ASIDE = 0.25, (-0.45, -0.26)
"""The letter size of the name of a cell, and its place relative to the middle, in sides of a cell:
between the edges of a grid of squares or of triangles."""


def board_svg(puzzle: Puzzle, board: Board, side: float = 36) -> str:
    """Return a board, or a goal that is a part of one, as a standalone SVG. side: the pixels of one
    cell."""
    scene = Scene(puzzle.notation.picture(board).alike(), side)
    return scene.standalone(scene.board(), puzzle.line(board))


def boards_html(puzzle: Puzzle, boards: Sequence[Board], labels: Sequence[str]) -> str:
    """Return drawings side by side for a notebook, each above its label."""
    drawn = [Markup(board_svg(puzzle, board, NOTEBOOK_SIDE)) for board in boards[:MOST_BOARDS]]
    shown = list(zip(drawn, labels, strict=False))
    return page("notebook/boards.html", shown=shown, more=len(boards) - len(drawn))


@dataclass(frozen=True)
class Scene:
    """A picture with a scale. side: pixels of one cell."""

    picture: Picture
    side: float

    @property
    def width(self) -> float:
        left, _, right, _ = self.picture.bounds
        return (right - left + 2 * MARGIN) * self.side

    @property
    def height(self) -> float:
        _, top, _, bottom = self.picture.bounds
        return (bottom - top + 2 * MARGIN) * self.side

    def at(self, point: Point) -> Point:
        """Return a place of the picture, in pixels."""
        left, top, _, _ = self.picture.bounds
        return (point[0] - left + MARGIN) * self.side, (point[1] - top + MARGIN) * self.side

    def standalone(self, drawn: str, title: str) -> str:
        """Return the markup of this scene as a standalone SVG."""
        return standalone(drawn, self.width, self.height, title)

    def board(self, pieces: Iterable[str] | None = None) -> str:
        """Return the board with its pieces, by default drawn at rest."""
        pieces = map(self.piece, self.picture.pieces) if pieces is None else pieces
        return "".join([self.ground(), *pieces, self.names()])

    def ground(self) -> str:
        """Return the background of the pieces: the cells, the edges between them, and the marks of
        open cells."""
        drawn = tag(
            "rect", x=1, y=1, width=self.width - 2, height=self.height - 2, rx=self.side * 0.16,
            fill=GROUND, stroke=EDGE, stroke_width=1,
        )  # fmt: skip
        everywhere, places = range(len(self.picture.places)), self.picture.places
        if self.picture.edges is None:
            drawn += self._path(self._squares(everywhere, ROUND - 0.04), 2 * ROUND, TRAY)
        else:
            stones, edges = self._stones(everywhere)
            drawn += self._path(edges, 0.07, EDGE)
            drawn += self._path(stones, 0.64, EDGE) + self._path(stones, 0.56, TRAY)
        return drawn + "".join(
            self._text(places[cell], OPEN_MARK, 0.42, QUIET) for cell in self.picture.open
        )

    def piece(self, piece: Piece, moved: bool = False) -> str:
        """Return a piece with its label, with a strong outline if it has moved."""
        gap, line, opacity = (0.05, 0.09, 1) if moved else (0.03, 0.028, 0.45)
        path, breadth = self._form(piece, gap)
        colour = piece.colour or colour_of(piece.kind, self.picture.kinds, self.picture.ordered)
        drawn = self._path(path, breadth + line, INK, fill="none", stroke_opacity=opacity)
        drawn += self._path(path, breadth - line, colour)
        if not piece.label:
            return drawn
        place, broad = self.picture.middle(piece)
        room = 0.62 if self.picture.edges is not None else broad - 0.24
        size = min(0.5, room / (0.62 * max(width(piece.label), 1)))
        return drawn + self._text(place, piece.label, size, ink_on(colour))

    def trace(self, piece: Piece) -> str:
        """Return the former place of a piece as a shadow."""
        return self._path(*self._form(piece, 0.09), INK, opacity=0.25)

    def names(self) -> str:
        """Return the names of the cells, if moves use them: small, between the edges, on top of the
        drawing."""
        halo = {"stroke": GROUND, "stroke_width": self.side * 0.06, "paint_order": "stroke"}
        drawn = ""
        for (x, y), name in zip(self.picture.places, self.picture.names, strict=False):
            size = min(NAME, 0.8 / (0.62 * width(name)))
            drawn += self._text((x + ASIDE[0], y + ASIDE[1]), name, size, QUIET, 400, **halo)
        return drawn

    def _form(self, piece: Piece, gap: float) -> tuple[str, float]:
        """Return a path along a piece, and the width of the round stroke that draws the piece on
        this path. The drawing stays `gap` sides away from the edges of the piece's cells."""
        if self.picture.edges is None:
            return self._squares(piece.cells, gap + ROUND), 2 * ROUND
        return "".join(self._stones(piece.cells)), 2 * (STONE - gap)

    def _squares(self, cells: Iterable[int], inset: float) -> str:
        """Return a path of squares, inside their edges, that also covers the gaps between two or
        four of them."""
        held = {self.picture.places[cell] for cell in cells}
        path = ""
        for (x, y), (i, j) in product(sorted(held), product((0, 1), repeat=2)):
            if held.issuperset(product((x, x + i), (y, y + j))):
                left, top = map(number, self.at((x - 0.5 + inset, y - 0.5 + inset)))
                broad, high = ((1 + more - 2 * inset) * self.side for more in (i, j))
                path += f"M{left},{top}h{number(broad)}v{number(high)}h{number(-broad)}z"
        return path

    def _stones(self, cells: Iterable[int]) -> tuple[str, str]:
        """Return the path of the middles of cells, and the path of the edges of the graph between
        them."""
        places = {cell: map(number, self.at(self.picture.places[cell])) for cell in cells}
        at = {cell: ",".join(place) for cell, place in places.items()}
        edges = (f"M{at[a]}L{at[b]}" for a, b in self.picture.edges or () if a in at and b in at)
        return "".join(f"M{place}h0" for place in at.values()), "".join(edges)

    def _path(self, path: str, breadth: float, colour: str, **look) -> str:
        """Return a filled path with a round stroke, whose width `breadth` is in sides."""
        brush: dict[str, Any] = {"stroke_linecap": "round", "stroke_linejoin": "round"}
        brush |= {"stroke": colour, "stroke_width": breadth * self.side}
        return tag("path", d=path, **{"fill": colour} | brush | look)

    def _text(self, place: Point, label: str, size: float, colour: str, weight=600, **look) -> str:
        x, y = self.at((place[0], place[1] + 0.35 * size))
        return text(x, y, label, size * self.side, colour, weight=weight, **look)


def text(
    x: float, y: float, label: str, size: float, colour: str, *inside: str, weight=400, **more
) -> str:
    """Return text centred at x with its baseline at y. inside: further parts of the element."""
    return tag("text", escaped(label), *inside, x=x, y=y, font_size=size, fill=colour,
               font_weight=weight, font_family=FONT, text_anchor="middle", **more)  # fmt: skip


def standalone(drawn: str, width: float, height: float, title: str) -> str:
    """Return markup as an SVG that can be a file or a part of a page."""
    return tag(
        "svg", tag("title", escaped(title)), drawn, xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}", width=width, height=height, role="img",
    )  # fmt: skip


def tag(name: str, *inside: str, **attributes) -> str:
    """Return an element; an underscore in an attribute's name becomes a hyphen."""
    pairs = ""
    for key, value in attributes.items():
        value = number(value) if isinstance(value, int | float) else escaped(value)
        pairs += f' {key.replace("_", "-")}="{value}"'
    return f"<{name}{pairs}>{''.join(inside)}</{name}>" if inside else f"<{name}{pairs}/>"


def escaped(label: str) -> str:
    """Return text escaped for XML, without control characters."""
    return escape("".join(letter if letter.isprintable() else "\ufffd" for letter in label))


def number(value: float) -> str:
    return f"{round(value, 2):g}"
