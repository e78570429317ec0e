"""The outline of a set of squares: loops around it, and around its holes.

A loop goes with the squares on its right (y points downwards). Where two squares touch at a corner
alone it stays with the same square, so that loops never cross.
"""

from collections.abc import Iterable, Iterator

from frontier.puzzles.picture import Point


def loops_around(squares: Iterable[Point]) -> list[list[Point]]:
    """The corners of each loop, in order; the square (x, y) is that between x, y and x+1, y+1."""
    held = set(squares)
    sides = {}  # (corner where it begins, direction), in order
    for x, y in sorted(held):
        for corner, way, beside in (
            ((x, y), (1, 0), (x, y - 1)),
            ((x + 1, y), (0, 1), (x + 1, y)),
            ((x + 1, y + 1), (-1, 0), (x, y + 1)),
            ((x, y + 1), (0, -1), (x - 1, y)),
        ):
            if beside not in held:
                sides[corner, way] = None
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
        loops.append(_corners(loop))
    return loops


def _corners(sides: list[tuple[Point, Point]]) -> list[Point]:
    """The corners of sides, (from, direction) each, at which the loop turns."""
    return [
        corner
        for (corner, taken), (_, before) in zip(sides, [sides[-1], *sides[:-1]], strict=True)
        if taken != before
    ]


def path_around(squares: Iterable[Point], side: float, gap: float, radius: float) -> str:
    """The loops as an SVG path: drawn inwards by a gap, their corners rounded."""
    return "".join(_rounded(_inwards(loop, side, gap), radius) for loop in loops_around(squares))


def _inwards(loop: list[Point], side: float, gap: float) -> list[Point]:
    return [
        (x * side - gap * (ay + by), y * side + gap * (ax + bx))
        for (x, y), (ax, ay), (bx, by) in _turns(loop)
    ]


def _rounded(loop: list[Point], radius: float) -> str:
    text = ""
    for (x, y), (ax, ay), (bx, by) in _turns(loop):
        come = f"{x - radius * ax:.2f},{y - radius * ay:.2f}"
        text += f"{'L' if text else 'M'}{come}Q{x:.2f},{y:.2f} "
        text += f"{x + radius * bx:.2f},{y + radius * by:.2f}"
    return text + "Z"


def _turns(loop: list[Point]) -> Iterator[tuple[Point, Point, Point]]:
    """(corner, direction to it, direction from it) all around."""
    for corner, before, after in zip(loop, [loop[-1], *loop], [*loop[1:], loop[0]], strict=False):
        yield corner, _way(before, corner), _way(corner, after)


def _way(one: Point, other: Point) -> Point:
    """The direction from a corner to the next."""
    dx, dy = other[0] - one[0], other[1] - one[1]
    return (dx > 0) - (dx < 0), (dy > 0) - (dy < 0)
