"""Cells anywhere, and the directions in which pieces move between them, as a user defines them.

`frontier.puzzles.board_shapes` defines directions and steps. A direction is given as pairs of cells
or, if cells lie at points of the plane, as the vector between the cells of each pair.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from frontier.errors import InputError
from frontier.puzzles.board_shapes import Placement
from frontier.puzzles.notation import check_label
from frontier.puzzles.picture import Point
from frontier.text import counted

MOST_CELLS = 64
GREATEST = 10**6
"""The greatest absolute value of a coordinate."""

CLOSE = 1 / 20
"""Points closer together than this fraction of the least distance between two cells count as
one."""


class Directions:
    """Cells, numbered from 0 in the order given, and directions.

    cells: names, points [x, y], or names with their points [name, x, y].
    moves: pairs of cells, each a separate direction; or for each direction its pairs of cells, or
        the vector [dx, dy] between the cells of a pair. Pieces move both ways between the cells of
        a pair. The name of a direction is the names of both ways with a slash between them, as in
        "east/west".

    points: where the cells lie, x to the right and y downwards; None if the cells have no points.
    ways: for each way, cell -> the next cell; way 2k + 1 undoes way 2k. way_names: the names of the
        ways. named: True if the directions have names.
    """

    def __init__(self, cells: Sequence, moves: Mapping | Sequence):
        if not isinstance(cells, list | tuple) or not 1 <= len(cells) <= MOST_CELLS:
            count = counted(len(cells), "cell") if isinstance(cells, list | tuple) else repr(cells)
            raise InputError(
                f"puzzle.cells: {count}; a list of 1..{MOST_CELLS} names or points is supported"
            )
        self._number: dict[str | Point, int] = {}
        given: list[Point | None] = []
        for number, entry in enumerate(cells):
            key, point = _cell(entry)
            if self._number.setdefault(key, number) < number:
                raise InputError(f"puzzle.cells names {entry!r} twice")
            given.append(point)
        self.names = [
            key if isinstance(key, str) else "{:g},{:g}".format(*key) for key in self._number
        ]
        points = [point for point in given if point is not None]
        self.points: list[Point] | None = None
        if len(points) == len(given):
            self.points = points
            self._least = min((math.dist(p, q) for p, q in combinations(points, 2)), default=1.0)
            if not self._least:
                raise InputError("puzzle.cells: two cells have the same point")
        elif points:
            raise InputError(
                f"puzzle.cells: cell {self.names[given.index(None)]!r} has no point, but other "
                'cells have one; give all cells points, as in ["a1", 0, 0.5], or none'
            )
        self.named = isinstance(moves, Mapping)
        self.ways: list[dict[int, int]] = []
        self.way_names: list[str] = []
        if isinstance(moves, Mapping):
            for name, entry in moves.items():
                key = f"puzzle.moves.{name}"
                vector, ways = _point(entry), self._way_names(str(name))
                pairs = self._pairs(entry, key) if vector is None else self._apart(vector, key)
                self._add(ways, pairs, key)
        elif isinstance(moves, list | tuple):
            for pair in dict.fromkeys(map(frozenset, self._pairs(moves, "puzzle.moves"))):
                first, second = sorted(pair)
                u, v = self.names[first], self.names[second]
                self._add([f"{u}→{v}", f"{v}→{u}"], [(first, second)], "puzzle.moves")
        else:
            raise InputError(
                f"puzzle.moves = {moves!r}: expected pairs of cells, or a table of directions"
            )

    def cells(self, value, key: str) -> list[int]:
        """Return the numbers of one or more cells, given by name or point. key: the key of the
        config."""
        single = isinstance(value, str) or _point(value) is not None
        if not single and not isinstance(value, list | tuple):
            raise InputError(f"{key} = {value!r}: expected a cell or a list of cells")
        return [self._cell(cell, key) for cell in ([value] if single else value)]

    def _cell(self, value, key: str) -> int:
        name = value if isinstance(value, str) else _point(value)
        if name is None or name not in self._number:
            raise InputError(
                f"{key}: {value!r} is not a cell of this board; its cells are "
                + " ".join(self.names)
            )
        return self._number[name]

    def _way_names(self, name: str) -> list[str]:
        """Return the names of both ways of a direction."""
        ways = name.split("/") if "/" in name else [name, f"-{name}"]
        for way in ways:
            check_label(way, "puzzle.moves")
        if len(ways) != 2 or len({*ways, *self.way_names}) < 2 + len(self.way_names):
            raise InputError(
                f'puzzle.moves.{name}: a direction needs one name, or two as in "east/west"; '
                "no other direction may have the same name"
            )
        return ways

    def _pairs(self, value, key: str) -> list[tuple[int, int]]:
        pairs = []
        for pair in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise InputError(f"{key}: {pair!r} is not a pair of cells")
            u, v = (self._cell(end, key) for end in pair)
            if u == v:
                raise InputError(f"{key}: {pair!r} leads from a cell to itself")
            pairs.append((u, v))
        return pairs

    def _apart(self, vector: Point, key: str) -> list[tuple[int, int]]:
        """Return all pairs of cells with the given vector from the first to the second."""
        if self.points is None:
            raise InputError(
                f"{key} = {list(vector)}: the cells have no points, so directions need pairs of "
                "cells; or add points to puzzle.cells"
            )
        close = CLOSE * self._least
        pairs = [
            (u, v)
            for u, (x, y) in enumerate(self.points)
            for v, point in enumerate(self.points)
            if u != v and math.dist((x + vector[0], y + vector[1]), point) <= close
        ]
        if not pairs:
            raise InputError(f"{key} = {list(vector)}: no two cells have this difference")
        return pairs

    def _add(self, ways: list[str], pairs: list[tuple[int, int]], key: str) -> None:
        """Add a direction; raises InputError if its steps cannot be undone."""
        forth: dict[int, int] = {}
        back: dict[int, int] = {}
        for u, v in pairs:
            leaves = forth.setdefault(u, v) != v
            if leaves or back.setdefault(v, u) != u:
                raise InputError(
                    f"{key}: two moves {'leave' if leaves else 'enter'} cell "
                    f"{self.names[u if leaves else v]}; in one direction at most one may, so that "
                    "moves can be undone"
                )
        self.ways += [forth, back]
        self.way_names += ways

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The pairs of cells that a move joins, each once, the smaller first."""
        pairs = {(min(u, v), max(u, v)) for next_cells in self.ways for u, v in next_cells.items()}
        return tuple(sorted(pairs))

    def unit_points(self) -> tuple[Point, ...] | None:
        """Return the points, scaled to put the two nearest cells 1 apart and shifted to begin at 0;
        None if the cells have no points."""
        if self.points is None:
            return None
        least_x, least_y = (min(values) for values in zip(*self.points, strict=True))
        return tuple(
            (round((x - least_x) / self._least, 4), round((y - least_y) / self._least, 4))
            for x, y in self.points
        )

    @property
    def is_squares(self) -> bool:
        """True if the cells are squares, and moves join exactly the squares that share a side."""
        points = self.unit_points()
        if points is None or any(part % 1 for point in points for part in point):
            return False
        pairs = combinations(range(len(points)), 2)
        beside = tuple((u, v) for u, v in pairs if math.dist(points[u], points[v]) == 1)
        return beside == self.edges

    def reading(self, forms: Sequence[frozenset[Placement]]) -> list[int]:
        """Return the cells in an order in which no two placements of a piece have the same first
        cell.

        A move by a vector keeps the order of the points, so that order is suitable if all moves are
        vectors. forms: the placements of each piece. Raises InputError if no such order is found.
        """
        cells = range(len(self.names))
        orders: list[Sequence[int]] = [cells]
        if self.points is not None:
            # Along the shorter side first, so that a moving piece passes few other pieces.
            at = [[round(part / (CLOSE * self._least)) for part in p] for p in self.points]
            broad, high = (max(values) - min(values) for values in zip(*at, strict=True))
            turn = -1 if high >= broad else 1
            by_axis = [sorted(cells, key=lambda c: at[c][::way]) for way in (turn, -turn)]
            orders = [*by_axis, cells]
        for order in orders:
            place = {cell: i for i, cell in enumerate(order)}
            begins = [[min(map(place.__getitem__, p)) for p in form] for form in forms]
            if all(len(set(begun)) == len(begun) for begun in begins):
                return list(order)
        worst = next(form for form in forms if len(form) > 1 and len(next(iter(form))) > 1)
        lies = " ".join(self.names[cell] for cell in sorted(min(worst, key=sorted)))
        raise InputError(
            f"the piece that can be on {lies} has two placements that begin in the same cell, as "
            "on a ring; each placement of a piece of several cells needs a first cell of its own, "
            "as on a board in the plane"
        )


def _cell(given) -> tuple[str | Point, Point | None]:
    """Return (the name or point of a cell, its point or None)."""
    match given:
        case str():
            return given, None
        case [str() as name, x, y] if point := _point([x, y]):
            return name, point
        case [_, _] if point := _point(given):
            return point, point
    raise InputError(
        f'puzzle.cells: {given!r} is not a cell; a cell is a name such as "a1", a point [x, y], or '
        f'both, ["a1", x, y], where x and y are at most {GREATEST:,}'
    )


def _point(value) -> Point | None:
    """Return the value as a pair of coordinates, or None if it is not one."""
    match value:
        case [int() | float() as x, int() | float() as y] if (
            abs(x) <= GREATEST and abs(y) <= GREATEST
        ):
            return float(x), float(y)
    return None
