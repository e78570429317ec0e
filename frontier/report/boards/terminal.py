"""Boards in a terminal: box characters, and colours if the terminal has them.

If the output's encoding has no box characters, plain characters replace them. As many boards as fit
are drawn side by side; a board that is too wide is drawn with narrower cells.
"""

from collections.abc import Sequence
from itertools import chain, groupby, zip_longest
from operator import itemgetter

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.text import Text

from frontier.puzzles import Board, Puzzle
from frontier.puzzles.notation import OPEN_MARK
from frontier.puzzles.picture import Picture
from frontier.report.colours import colour_of, ink_on
from frontier.text import centred, width

# the corners of a drawing, indexed by bits that say which arms are lines: up, down, left, right
CORNERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
STROKES = "─│╱╲·○░"
PLAIN = str.maketrans("╵╷╴┘┐┤╶└┌├┴┬┼" + STROKES, "+" * 13 + "-|/\\.o#")
LIKE, EMPTY, DOT, WALL = "x", "○", "·", "░"
SLOPE = 3**-0.5
"""The lines of text for each column of a graph. With this slope all sides of equilateral triangles
are strokes."""

BETWEEN = 3
"""The columns between boards side by side."""

NO_CELL, OPEN, NOTHING = -2, -1, 0
DIM = Style(dim=True)
Looks = dict[int, tuple[str, Style]]


def draw_boards(
    puzzle: Puzzle,
    boards: Sequence[Board],
    captions: Sequence[str] = (),
    console: Console | None = None,
    named: bool = False,
) -> str:
    """Return boards, or goals that are parts of boards, as lines of text, with a caption above
    each.

    named: True to label like pieces with their names in moves, as in a solution. console: where the
    text will be printed, by default standard output. The text has colours if the console shows
    them.
    """
    console = console or Console()
    pictures = [puzzle.notation.picture(board) for board in boards]
    if not named:
        pictures = [picture.alike() for picture in pictures]
    drawings = [drawing(picture, console.encoding, console.width) for picture in pictures]
    if captions:
        drawings = [[Text(c), *d] for c, d in zip(captions, drawings, strict=True)]
    broad = max((line.cell_len for lines in drawings for line in lines), default=1)
    across = max(1, (console.width + BETWEEN) // (broad + BETWEEN))
    for line in chain.from_iterable(drawings):
        line.align("left", broad + BETWEEN)
    rows = [drawings[first : first + across] for first in range(0, len(drawings), across)]
    whole = [Text("\n").join(map(Text().join, zip_longest(*row, fillvalue=Text()))) for row in rows]
    with console.capture() as captured:
        console.print(*whole, sep="\n\n", soft_wrap=True, highlight=False)
    return "\n".join(map(str.rstrip, captured.get().splitlines()))


def drawing(picture: Picture, encoding: str = "utf-8", most: int = 80) -> list[Text]:
    """Return a picture as lines of equal width, of at most `most` columns if possible."""
    looks = _looks(picture, encoding)
    longest = max(width(mark) for mark, _ in [*looks.values(), (OPEN_MARK, DIM)])
    draw = _squares if picture.edges is None else _network
    lines = draw(picture, looks, longest, most).lines()
    if not can_say(CORNERS + STROKES, encoding):
        for line in lines:
            line.plain = line.plain.translate(PLAIN)
    return lines


class _Canvas:
    """Columns and rows of characters with styles; wide characters take two columns."""

    def __init__(self, rows: int, columns: int):
        self.rows: list[list[tuple[str, Style | str]]] = [
            [(" ", "")] * columns for _ in range(rows)
        ]

    def put(self, row: int, column: int, text: str, style: Style | str = "") -> None:
        for letter in text:
            self.rows[row][column] = (letter, style)
            for extra in range(1, width(letter)):
                self.rows[row][column + extra] = ("", style)
            column += width(letter)

    def lines(self) -> list[Text]:
        lines = []
        for row in self.rows:
            runs = groupby(row, key=itemgetter(1))
            parts = (("".join(letter for letter, _ in run), style) for style, run in runs)
            lines.append(Text.assemble(*parts))
        return lines


def _squares(picture: Picture, looks: Looks, longest: int, most: int) -> _Canvas:
    """Draw squares: pieces with outlines and a mark in the middle of each, and hatched walls."""
    left, top, right, bottom = picture.bounds
    high, broad = round(bottom - top), round(right - left)
    codes = dict.fromkeys(picture.open, OPEN)
    codes |= {cell: piece.code for piece in picture.pieces for cell in piece.cells}
    code_at = {
        (round(x - left - 0.5), round(y - top - 0.5)): codes.get(cell, NOTHING)
        for cell, (x, y) in enumerate(picture.places)
    }
    inside = longest + 2 if (longest + 3) * broad + 1 <= most else longest
    step = inside + 1
    canvas = _Canvas(2 * high + 1, step * broad + 1)
    for i in range(2 * high + 1):
        rows = ((i - 1) // 2, i // 2)
        for j in range(step * broad + 1):
            columns = ((j - 1) // step, j // step)
            (a, b), (c, d) = ([code_at.get((x, y), NO_CELL) for x in columns] for y in rows)
            if a == b == c == d:
                is_wall = (
                    a == NO_CELL
                    and picture.walls
                    and not {-1, high} & {*rows}
                    and not {-1, broad} & {*columns}
                )
                style = looks[a][1] if a in looks else ""
                canvas.put(i, j, *((WALL, DIM) if is_wall else (" ", style)))
            else:
                arms = (a != b, c != d, a != c, b != d)
                canvas.put(i, j, CORNERS[sum(arm << bit for bit, arm in enumerate(arms))])
    marks = [(looks[of.code], *picture.middle(of)) for of in picture.pieces]
    marks += [((OPEN_MARK, DIM), picture.places[cell], 1) for cell in picture.open]
    for (mark, style), (x, y), cells in marks:
        first = round((x - (cells - 1) / 2 - left - 0.5) * step) + 1
        canvas.put(round(2 * (y - top - 0.5)) + 1, first, centred(mark, cells * step - 1), style)
    return canvas


def _network(picture: Picture, looks: Looks, longest: int, most: int) -> _Canvas:
    """Draw a graph: marks at its cells, and its edges as lines of characters."""
    at = _on_characters(picture, longest).tolist()
    columns, rows = (max(values) + 1 for values in zip(*at, strict=True))
    canvas = _Canvas(rows, columns + longest - 1)
    for source, target in picture.edges or ():
        _line(canvas, at[source], at[target], longest)
    held = dict.fromkeys(picture.open, (OPEN_MARK, DIM))
    held |= {cell: looks[piece.code] for piece in picture.pieces for cell in piece.cells}
    for cell, (x, y) in enumerate(at):
        mark, style = held.get(cell, (EMPTY, DIM))
        canvas.put(y, x, centred(mark, longest), style)
    return canvas


def _on_characters(picture: Picture, longest: int) -> np.ndarray:
    """Return (column, line) of each cell, at the smallest scale that leaves room for an edge
    between any two marks."""
    for columns in range(2, 4 * (longest + 3)):
        at = np.rint(np.array(picture.places) * (columns, columns * SLOPE)).astype(int)
        across, down = np.abs(at[:, None] - at[None]).transpose(2, 0, 1)
        if np.count_nonzero((down <= 1) & (across <= longest + 1)) == len(at):
            break
    return at


def _line(canvas: _Canvas, source: list[int], target: list[int], longest: int) -> None:
    """Draw an edge: a stroke in one of four directions, dots in any other."""
    (x, y), (u, v) = sorted([source, target], key=lambda point: point[::-1])
    across, down, middle = u - x, v - y, (longest - 1) // 2
    strokes = {down: "─", across: "│", across - down: "╲", across + down: "╱"}
    sign, steps = strokes.get(0, DOT), max(abs(across), down)
    if sign == DOT:
        steps = max(2, steps // 2)  # dots with gaps between them
    for n in range(1, steps):
        column, row = x + middle + round(across * n / steps), y + round(down * n / steps)
        canvas.put(row, column, sign, DIM)


def _looks(picture: Picture, encoding: str) -> Looks:
    """Return the mark of each piece, in characters of the encoding, and its style, by code."""
    looks = {}
    for piece in picture.pieces:
        label = piece.label or (LIKE if piece.kind is None else "")
        mark = next(text for text in (label, piece.name, "*") if can_say(text, encoding))
        colour = piece.colour or colour_of(piece.kind, picture.kinds, picture.ordered)
        bold = bool(piece.label) and piece.kind is not None
        looks[piece.code] = mark, Style(color=ink_on(colour), bgcolor=colour, bold=bold)
    return looks


def can_say(text: str, encoding: str) -> bool:
    """Return whether an encoding has all characters of a text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
