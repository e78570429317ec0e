"""The outline of a set of squares: loops around it, and around its holes.

A loop goes with the squares on its right (y points downwards). Where two squares touch at a corner
alone it stays with the same square, so that loops never cross.
"""

from collections.abc import Iterable

from frontier.puzzles.picture import Point

SIDES = (
    ((0, 0), (1, 0), (0, -1)),
    ((1, 0), (0, 1), (1, 0)),
    ((1, 1), (-1, 0), (0, 1)),
    ((0, 1), (0, -1), (-1, 0)),
)
"""The sides of a square: the corner where each begins, its direction, and the square beyond it."""

Turn = tuple[Point, Point, Point]
"""A corner, the direction in which a loop comes to it, and that in which it goes on."""


def loops_around(squares: Iterable[Point]) -> list[list[Turn]]:
    """The turns of each loop, in order; the square (x, y) is that between x, y and x+1, y+1."""
    held = set(squares)
    sides = {  # (corner where it begins, direction), in order
        ((x + a, y + b), way): None
        for x, y in sorted(held)
        for (a, b), way, (i, j) in SIDES
        if (x + i, y + j) not in held
    }
    left, loops = dict(sides), []
    while left:
        side, loop = next(iter(left)), []
        while side in left:
            del left[side]
            loop.append(side)
            (x, y), (dx, dy) = side
            end = (x + dx, y + dy)
            # To the right if it can, straight on, to the left.
            ways = ((-dy, dx), (dx, dy), (dy, -dx))
            side = next((end, way) for way in ways if (end, way) in sides)
        pairs = zip([loop[-1], *loop], loop, strict=False)
        loops.append([(at, came, goes) for (_, came), (at, goes) in pairs if came != goes])
    return loops


def path_around(squares: Iterable[Point], side: float, gap: float, radius: float) -> str:
    """The loops as an SVG path: drawn inwards by a gap, their corners rounded."""
    path = ""
    for loop in loops_around(squares):
        draw = "M"
        for (x, y), (ax, ay), (bx, by) in loop:
            x, y = x * side - gap * (ay + by), y * side + gap * (ax + bx)
            path += f"{draw}{x - radius * ax:.2f},{y - radius * ay:.2f}Q{x:.2f},{y:.2f} "
            path += f"{x + radius * bx:.2f},{y + radius * by:.2f}"
            draw = "L"
        path += "Z"
    return path
