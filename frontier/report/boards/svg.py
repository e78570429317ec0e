"""Boards as SVG.

A drawing has attributes only, no ids and no styles, so that many drawings can stand in one page. It
has its own background, so that it looks the same on paper and on a dark page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import atan2, cos, pi, radians, sin

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.puzzles.notation import OPEN_MARK, width
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.report.boards.outline import path_around
from frontier.report.colours import GROUND, INK, QUIET, colour_of, ink_on
from frontier.report.html import page

FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
TRAY, EDGE = "#c3cad2", "#8d97a3"
MARGIN = 0.22
"""The margin around a board, in sides of a cell."""

NOTEBOOK_SIDE, MOST_BOARDS = 24, 50
"""In a notebook, the side of a cell in pixels, and the greatest number of boards that are shown."""

NAME, ASIDE = 0.25, 0.52
"""The letter size of the name of a cell, and its distance from the middle, in sides of a cell."""

WAYS_ASIDE = [radians(225 + 90 * turn + angle) for angle in range(0, 90, 15) for turn in range(4)]
"""Directions, in radians, in which the name of a cell may stand; the first if all are free."""


def board_svg(puzzle: Puzzle, board: Board, side: float = 36) -> str:
    """A board, or a goal that is a part of one, as a standalone SVG.

    side: pixels of one cell.
    """
    scene = Scene(puzzle.picture(board).alike(), side)
    return scene.standalone(scene.board(), puzzle.line(board))


def boards_html(puzzle: Puzzle, boards: Sequence[Board], labels: Sequence[str]) -> str:
    """Drawings side by side for a notebook, each above its label."""
    drawn = [Markup(board_svg(puzzle, board, NOTEBOOK_SIDE)) for board in boards[:MOST_BOARDS]]
    shown = list(zip(drawn, labels, strict=False))
    return page("notebook/boards.html", shown=shown, more=len(boards) - len(drawn))


@dataclass(frozen=True)
class Scene:
    """A picture with a scale: side is in pixels of one cell."""

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
        """Pixels of a place."""
        left, top, _, _ = self.picture.bounds
        return (point[0] - left + MARGIN) * self.side, (point[1] - top + MARGIN) * self.side

    def standalone(self, drawn: str, title: str) -> str:
        """Markup of this scene as a standalone SVG."""
        return standalone(drawn, self.width, self.height, title)

    def board(self, pieces: Iterable[str] | None = None) -> str:
        """The board with its pieces, by default as they are drawn at rest."""
        pieces = map(self.piece, self.picture.pieces) if pieces is None else pieces
        return "".join([self.ground(), *pieces, self.names()])

    def ground(self) -> str:
        """What the pieces lie on: the cells, the edges between them, and the open ones' marks."""
        elements = [
            tag("rect", x=1, y=1, width=self.width - 2, height=self.height - 2,
                rx=self.side * 0.16, fill=GROUND, stroke=EDGE, stroke_width=1)
        ]  # fmt: skip
        if self.picture.edges is None:
            elements.append(self._outline(range(len(self.picture.places)), -0.04, 0.1, fill=TRAY))
        else:
            elements += [self._edge(*edge) for edge in self.picture.edges]
            elements += [
                self._stone(place, 0.3, fill=TRAY, stroke=EDGE, stroke_width=self.side * 0.04)
                for place in self.picture.places
            ]
        for cell in self.picture.open:
            elements.append(self._text(self.picture.places[cell], OPEN_MARK, 0.42, QUIET))
        return "".join(elements)

    def piece(self, piece: Piece, moved: bool = False) -> str:
        """A piece with its label; with a strong line around it if it has moved."""
        kinds, ordered = self.picture.kinds, self.picture.ordered
        colour = colour_of(piece.kind, kinds, ordered)
        look = {"fill": colour, "stroke": INK, "stroke_opacity": 0.45}
        look |= {"stroke_width": self.side * 0.028}
        if moved:
            look |= {"stroke_opacity": 1, "stroke_width": self.side * 0.09}
        drawn = self._form(piece, 0.05 if moved else 0.03, **look)
        if not piece.label:
            return drawn
        place, broad = self.picture.middle(piece)
        room = 0.62 if self.picture.edges is not None else broad - 0.24
        size = min(0.5, room / (0.62 * max(width(piece.label), 1)))
        return drawn + self._text(place, piece.label, size, ink_on(colour))

    def trace(self, piece: Piece) -> str:
        """Where a piece has been."""
        return self._form(piece, 0.09, fill="none", stroke=INK, stroke_width=self.side * 0.05,
                          stroke_dasharray=f"{self.side * 0.12:.2f}")  # fmt: skip

    def names(self) -> str:
        """The names of the cells, where moves name them: small, between the edges, over all."""
        if not self.picture.names:
            return ""
        texts = []
        for cell, name in enumerate(self.picture.names):
            (x, y), way = self.at(self.picture.places[cell]), self._asides[cell]
            size = self.side * min(NAME, 0.8 / (0.62 * width(name)))
            x, y = x + cos(way) * ASIDE * self.side, y + sin(way) * ASIDE * self.side
            texts.append(tag("text", escaped(name), x=x, y=y + 0.35 * size, font_size=size))
        return tag(
            "g", *texts, fill=QUIET, font_family=FONT, text_anchor="middle", stroke=GROUND,
            stroke_width=self.side * 0.06, stroke_linejoin="round", paint_order="stroke",
        )  # fmt: skip

    @cached_property
    def _asides(self) -> list[float]:
        """The direction from each cell, in radians, that is farthest from those of its edges."""
        ways: list[list[float]] = [[] for _ in self.picture.places]
        for one, other in self.picture.edges or ():
            (a, b), (c, d) = self.picture.places[one], self.picture.places[other]
            ways[one].append(atan2(d - b, c - a))
            ways[other].append(atan2(b - d, a - c))

        def room(aside: float, taken: list[float]) -> float:
            # Half a right angle is enough: then the first of the ways are taken.
            apart = (abs((aside - way + pi) % (2 * pi) - pi) for way in taken)
            return round(min(pi / 4, *apart), 3) if taken else pi / 4

        return [max(WAYS_ASIDE, key=lambda aside, w=taken: room(aside, w)) for taken in ways]

    def _form(self, piece: Piece, gap: float, **look) -> str:
        if self.picture.edges is None:
            return self._outline(piece.cells, gap, 0.13, **look)
        places = [self.picture.places[cell] for cell in piece.cells]
        if len(places) == 1:
            return self._stone(*places, 0.41 - gap, **look)
        if look["fill"] == "none":
            return tag("g", *(self._stone(place, 0.41 - gap) for place in places), **look)
        return self._limbs(piece, 0.41 - gap, **look)

    def _limbs(self, piece: Piece, radius: float, **look) -> str:
        """Stones that are joined where the graph joins their cells: broad lines with round ends,
        over others that are broader by the line around them."""
        at = {cell: self.at(self.picture.places[cell]) for cell in piece.cells}
        way = "".join(f"M{number(x)},{number(y)}h0" for x, y in at.values())
        for one, other in self.picture.edges:
            if one in at and other in at:
                (x1, y1), (x2, y2) = at[one], at[other]
                way += f"M{number(x1)},{number(y1)}L{number(x2)},{number(y2)}"
        broad, line = 2 * radius * self.side, look["stroke_width"]
        ends = {"fill": "none", "stroke_linecap": "round", "stroke_linejoin": "round"}
        around = tag("path", d=way, stroke=look["stroke"], stroke_opacity=look["stroke_opacity"],
                     stroke_width=broad + line, **ends)  # fmt: skip
        return around + tag("path", d=way, stroke=look["fill"], stroke_width=broad - line, **ends)

    def _outline(self, cells, gap: float, radius: float, **look) -> str:
        left, top, _, _ = self.picture.bounds
        places = [self.picture.places[cell] for cell in cells]
        squares = [(round(x - left - 0.5), round(y - top - 0.5)) for x, y in places]
        path = path_around(squares, self.side, gap * self.side, radius * self.side)
        shift = f"translate({number(MARGIN * self.side)} {number(MARGIN * self.side)})"
        return tag("path", d=path, transform=shift, fill_rule="evenodd", **look)

    def _stone(self, place: Point, radius: float, **look) -> str:
        x, y = self.at(place)
        return tag("circle", cx=x, cy=y, r=radius * self.side, **look)

    def _edge(self, one: int, other: int) -> str:
        (x1, y1), (x2, y2) = (self.at(self.picture.places[cell]) for cell in (one, other))
        return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=EDGE, stroke_width=self.side * 0.07)

    def _text(self, place: Point, label: str, size: float, colour: str) -> str:
        x, y = self.at(place)
        return text(x, y + 0.35 * size * self.side, label, size * self.side, colour, weight=600)


def text(
    x: float, y: float, label: str, size: float, colour: str, *inside: str, weight=400, **more
) -> str:
    """Text whose middle is at x and whose foot is at y. inside: what the element has besides."""
    return tag("text", escaped(label), *inside, x=x, y=y, font_size=size, fill=colour,
               font_weight=weight, font_family=FONT, text_anchor="middle", **more)  # fmt: skip


def standalone(drawn: str, width: float, height: float, title: str) -> str:
    """Markup as an SVG that can be a file or a part of a page."""
    return tag(
        "svg", tag("title", escaped(title)), drawn, xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}", width=width, height=height, role="img",
    )  # fmt: skip


def tag(name: str, *inside: str, **attributes) -> str:
    """An element; an underscore in an attribute's name stands for a hyphen."""
    pairs = ""
    for key, value in attributes.items():
        value = number(value) if isinstance(value, int | float) else escaped(value)
        pairs += f' {key.replace("_", "-")}="{value}"'
    return f"<{name}{pairs}>{''.join(inside)}</{name}>" if inside else f"<{name}{pairs}/>"


def escaped(label: str) -> str:
    """Text as it stands in XML, which holds no control characters."""
    return escape("".join(letter if letter.isprintable() else "\ufffd" for letter in label))


def number(value: float) -> str:
    return f"{round(value, 2):g}"
