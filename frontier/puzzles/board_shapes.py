"""All shapes of a board: every way to lay its pieces if those of one sort look alike.

A *direction* gives for some cells the cell next to them: at most one step leaves each cell and at
most one comes to it, so it can be undone. It has two *ways*, there and back. A piece goes one step
as a whole: each of its cells goes to the cell that is next to it that way. If one of its cells has
none, the piece cannot go. So all placements of a piece follow from one of them: they are those that
steps reach on an empty board, and make the *footprint* of the piece.

A *sort* is the part of a piece that the shape of a board shows: its footprint, and its group of
like pieces. Cells are numbered in reading order, and a piece is found at its *anchor*, the first
cell of its placement.

A shape is a row of codes, one a cell: EMPTY, COVERED (by a piece that begins before), or FIRST_SORT
+ the sort that has its anchor there. Shapes are enumerated by filling the cells in reading order,
all partial fillings at once. If these are too many, as on a large board whose pieces hardly move,
the shapes are those that steps reach from some boards, breadth first.

Rows are numbered in lexicographic order and found by a key: the sum of a weight for each column and
code, so that a move adds the same to the key wherever it is made. The key is the row as a number,
its codes the digits, if that has 64 bits at most; otherwise the weights are random (A. L. Zobrist,
A New Hashing Method, 1970).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from frontier.errors import InputError

Steps = Sequence[Mapping[int, int]]
"""For each way, cell -> the cell next to it."""

Placement = frozenset[int]
"""The cells that a piece covers."""


@dataclass(frozen=True)
class Footprint:
    """The placements of a piece, its cells numbered in reading order.

    placements: the cells of each, ascending; no two have the same first cell. steps: (placement,
    placement, way). Two steps one after the other in one way go on in a straight line; at most one
    leaves a placement each way.
    """

    placements: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        if len(self.at) < len(self.placements):
            raise ValueError("two placements of a piece begin in one cell")

    @cached_property
    def at(self) -> dict[int, int]:
        """The placement that begins in each cell, which is its *anchor*."""
        return {cells[0]: i for i, cells in enumerate(self.placements)}

    @property
    def size(self) -> int:
        """The number of cells of the piece."""
        return len(self.placements[0])

    @cached_property
    def beyond(self) -> list[dict[int, int]]:
        """For each placement, way -> the placement one step on."""
        beyond: list[dict[int, int]] = [{} for _ in self.placements]
        for a, b, way in self.steps:
            beyond[a][way] = b
        return beyond


def steps_from(ways: Steps, placement: Placement) -> Iterator[tuple[int, Placement]]:
    """Generate (way, the placement there) for each step that leads elsewhere, each placement
    once."""
    seen = {placement}
    for way, next_cell in enumerate(ways):
        if all(cell in next_cell for cell in placement):
            on = frozenset(next_cell[cell] for cell in placement)
            if on not in seen:
                seen.add(on)
                yield way, on


def placements_from(ways: Steps, first: Placement, cells: int) -> frozenset[Placement]:
    """Return all placements that steps reach on a board of `cells` cells."""
    placements, queue = {first}, [first]
    for placement in queue:
        for _, on in steps_from(ways, placement):
            # No two may begin in one cell, so more placements than cells are refused later.
            if on not in placements and len(placements) <= cells:
                placements.add(on)
                queue.append(on)
    return frozenset(placements)


def footprint_of(
    ways: Steps, placements: Iterable[Iterable[int]], reading: Sequence[int]
) -> Footprint:
    """Return the footprint of a piece with these placements. reading: the cells in reading
    order."""
    place = {cell: i for i, cell in enumerate(reading)}
    covers = {
        frozenset(cells): tuple(sorted(place[cell] for cell in cells)) for cells in placements
    }
    number = {cells: i for i, cells in enumerate(sorted(covers, key=covers.__getitem__))}
    steps = tuple(
        (number[cells], number[on], way)
        for cells in number
        for way, on in steps_from(ways, cells)
        if on in number
    )
    return Footprint(tuple(covers[cells] for cells in number), steps)


ARROWS = {(-1, 0): "↑", (1, 0): "↓", (0, -1): "←", (0, 1): "→"}
"""(rows, columns) of a step -> its arrow, for the ways of `ways_on_squares` in their order."""

Square = tuple[int, int]
"""(row, column) of a cell."""


def ways_on_squares(squares: Sequence[Square]) -> list[dict[int, int]]:
    """Return the ways up, down, left and right between cells that are squares, given in their
    order."""
    number = {square: cell for cell, square in enumerate(squares)}
    return [
        {
            n: number[r + down, c + right]
            for (r, c), n in number.items()
            if (r + down, c + right) in number
        }
        for down, right in ARROWS
    ]


EMPTY, COVERED, FIRST_SORT = 1, 2, 3
MOST_SHAPES = 4_000_000


@dataclass(frozen=True)
class Sort:
    """Pieces that look alike in a shape.

    codes: their numbers on boards. distinct: True if they differ, so that the sequence orders them.
    """

    footprint: Footprint
    codes: tuple[int, ...]
    distinct: bool


def sorts_of(footprints: Mapping[str, Footprint], group: Mapping[str, int]) -> list[Sort]:
    """Return the sorts of the pieces with these footprints, by their labels; their codes are 1, 2,
    ….

    group: the number of its group for each label that counts as the same as others.
    """
    members: dict[tuple, list[int]] = {}
    for code, (label, footprint) in enumerate(footprints.items(), start=1):
        members.setdefault((footprint, group.get(label)), []).append(code)
    return [Sort(f, tuple(codes), number is None) for (f, number), codes in members.items()]


class RowTable:
    """A table of different rows, numbered.

    rows: uint8[N, columns], in lexicographic order. keys: uint64[N], all different.
    """

    def __init__(self, rows: np.ndarray, codes: int):
        """rows: in any order, also repeated. codes: the number of codes, which begin with 0."""
        columns = rows.shape[1]
        self.rows = different(rows, [codes] * columns)
        for self._weights in _weights(columns, codes):
            self.keys = self._keys_of(self.rows)
            self._order = np.argsort(self.keys)
            self._sorted = self.keys[self._order]
            if (self._sorted[1:] != self._sorted[:-1]).all():
                return

    def __len__(self) -> int:
        return len(self.rows)

    def _keys_of(self, rows: np.ndarray) -> np.ndarray:
        keys = np.zeros(len(rows), dtype=np.uint64)
        for weights, column in zip(self._weights, rows.T, strict=True):
            keys += weights[column]
        return keys

    def rows_of(self, number: np.ndarray) -> np.ndarray:
        """Return the rows with these numbers; inverse of `find`."""
        return self.rows[number]

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of rows, int64[N]; -1 for a row that is not in the table."""
        numbers = self.find_keys(self._keys_of(rows))
        same = (self.rows[numbers] == rows).all(axis=1)
        return np.where(same, numbers, -1)

    def find_keys(self, keys: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows with these keys, int64[N]; for a key that no row has, the
        number of some row."""
        return self._order[np.minimum(np.searchsorted(self._sorted, keys), len(self) - 1)]


def _weights(columns: int, codes: int) -> Iterator[np.ndarray]:
    """Generate weights, uint64[columns, codes], that may give every row a key of its own."""
    if codes**columns <= 2**64:  # rows that follow one another are then near by their keys
        digits = [codes**place for place in reversed(range(columns))]
        yield np.array([[code * digit for code in range(codes)] for digit in digits], np.uint64)
    random = np.random.default_rng(columns)
    while True:
        yield random.integers(2**64, size=(columns, codes), dtype=np.uint64)


class Shapes(RowTable):
    """The shapes of a board: all, or those that can be reached if all are too many."""

    def __init__(self, cells: int, sorts: Sequence[Sort], boards: np.ndarray | None = None):
        """boards: int[N, cells] in reading order, from which all shapes that matter can be reached;
        None if no such boards are known."""
        self.sorts = tuple(sorts)
        rows = fill(cells, self.sorts, MOST_SHAPES)
        if rows is None and boards is not None:
            rows = _reached(shape_rows(boards, self.sorts), self.sorts)
        if rows is None or len(rows) > MOST_SHAPES:
            raise InputError(
                f"this board has more than {MOST_SHAPES:,} shapes (ways to lay its pieces where "
                "those of one form and group look alike), more than are supported; "
                + (
                    "a puzzle.start would help, as only what can be reached from it would count"
                    if boards is None
                    else "so many can be reached; fewer empty cells or fewer groups of like "
                    "pieces make fewer"
                )
            )
        super().__init__(rows, FIRST_SORT + len(self.sorts))

    def key_of_move(self, sort: int, source: Sequence[int], target: Sequence[int]) -> np.uint64:
        """Return what a key gains when a piece goes from one placement to another, modulo 2^64."""
        codes = [FIRST_SORT + sort] + [COVERED] * (len(source) - 1)
        gain = 0
        for cell, target_cell, code in zip(source, target, codes, strict=True):
            gain += int(self._weights[cell, EMPTY]) - int(self._weights[cell, code])
            gain += int(self._weights[target_cell, code]) - int(self._weights[target_cell, EMPTY])
        return np.uint64(gain % 2**64)


def shape_rows(boards: np.ndarray, sorts: Sequence[Sort]) -> np.ndarray:
    """Return the shape rows of boards in reading order, int[N, cells]; zeros for each array that is
    no board.

    A board shows every piece whole, once. Like pieces may carry any of their codes: a piece that
    lies whole on the board is found by its first cell that no piece before it covers.
    """
    most = max((code for sort in sorts for code in sort.codes), default=0)
    valid = (boards >= 0) & (boards <= most)
    codes = np.where(valid, boards, 0)
    # The shape code of each cell under each code; 0 as yet for pieces of several cells.
    shape_of = np.zeros((boards.shape[1], most + 1), dtype=np.uint8)
    shape_of[:, 0] = EMPTY
    sort_of = np.full(most + 1, -1)
    for number, sort in enumerate(sorts):
        sort_of[list(sort.codes)] = number
        if sort.footprint.size == 1:
            shape_of[np.ix_(list(sort.footprint.at), sort.codes)] = FIRST_SORT + number
    rows = shape_of[np.arange(boards.shape[1]), codes]
    good = np.all(valid, axis=1)
    broad = [(number, sort) for number, sort in enumerate(sorts) if sort.footprint.size > 1]
    for cell in range(boards.shape[1]):
        for number, sort in broad:
            matching = np.flatnonzero((rows[:, cell] == 0) & (sort_of[codes[:, cell]] == number))
            if not matching.size:
                continue
            cover = sort.footprint.placements[sort.footprint.at.get(cell, 0)]
            covered = np.ix_(matching, np.array(cover))
            shown = codes[covered] if sort.distinct else sort_of[codes[covered]]
            good[matching] &= (cover[0] == cell) & (rows[covered] == 0).all(axis=1)
            good[matching] &= (shown == shown[:, :1]).all(axis=1)
            rows[covered] = COVERED
            rows[matching, cell] = FIRST_SORT + number
    good &= rows.all(axis=1)
    for number, sort in enumerate(sorts):
        anchored = rows == FIRST_SORT + number
        good &= anchored.sum(axis=1) == len(sort.codes)
        if sort.distinct:
            shown = np.sort(codes[anchored & good[:, None]].reshape(-1, len(sort.codes)), axis=1)
            good[good] = (shown == sorted(sort.codes)).all(axis=1)
    rows[~good] = 0
    return rows


def fill(cells: int, sorts: tuple[Sort, ...], most: int) -> np.ndarray | None:
    """Return all rows that hold each sort's number of pieces; None if there are more than `most`,
    or on the way to them."""
    counts = [len(sort.codes) for sort in sorts]
    empty = cells - sum(len(sort.codes) * sort.footprint.size for sort in sorts)
    rows = np.zeros((1, cells), dtype=np.uint8)
    remaining = np.array([[*counts, empty]], dtype=np.int16)
    for cell in range(cells):
        unfilled = rows[:, cell] == 0
        grown, remaining_parts = [rows[~unfilled]], [remaining[~unfilled]]
        for number in range(len(sorts) + 1):
            cover = [cell]
            if number < len(sorts):
                footprint = sorts[number].footprint
                if cell not in footprint.at:
                    continue
                cover = list(footprint.placements[footprint.at[cell]])
            chosen = unfilled & (remaining[:, number] > 0) & (rows[:, cover] == 0).all(axis=1)
            new_rows, new_remaining = rows[chosen], remaining[chosen]
            new_rows[:, cover] = COVERED
            new_rows[:, cell] = EMPTY if number == len(sorts) else FIRST_SORT + number
            new_remaining[:, number] -= 1
            grown.append(new_rows)
            remaining_parts.append(new_remaining)
        if sum(map(len, grown)) > most:
            return None
        rows, remaining = np.concatenate(grown), np.concatenate(remaining_parts)
    return rows


def _reached(rows: np.ndarray, sorts: tuple[Sort, ...]) -> np.ndarray:
    """Return all rows that steps reach from given ones, or, if there are more, more than
    `MOST_SHAPES`."""
    steps = []
    for number, sort in enumerate(sorts):
        placements = sort.footprint.placements
        for a, b, _ in sort.footprint.steps:
            cells_needed = [cell for cell in placements[b] if cell not in placements[a]]
            steps.append((FIRST_SORT + number, placements[a], placements[b], cells_needed))

    def after(layer: np.ndarray) -> np.ndarray:
        parts = [layer[:0]]
        for code, source, target, cells_needed in steps:
            free = (layer[:, cells_needed] == EMPTY).all(axis=1)
            moved = layer[free & (layer[:, source[0]] == code)]
            moved[:, source] = EMPTY
            moved[:, target] = COVERED
            moved[:, target[0]] = code
            parts.append(moved)
        return np.concatenate(parts)

    return reached(rows, after, [FIRST_SORT + len(sorts)] * rows.shape[1], MOST_SHAPES)


def reached(
    rows: np.ndarray,
    after: Callable[[np.ndarray], np.ndarray],
    values: Sequence[int],
    most: int,
) -> np.ndarray:
    """Return all rows that moves reach from given ones, or, if there are more, more than `most`.

    after: returns the rows that are one move away from some. values: as for `row_numbers`. Every
    move can be undone, so a row is new in a layer if it is in neither of the two layers before.
    """
    layers, count = [rows[:0]], 0
    before = current = row_numbers(rows[:0], values)
    candidates = rows
    while len(candidates) and count <= most:
        numbers, first = np.unique(row_numbers(candidates, values), return_index=True)
        new = ~np.isin(numbers, np.concatenate([before, current]), assume_unique=True)
        before, current = current, numbers[new]
        layers.append(candidates[first[new]])
        count += len(layers[-1])
        candidates = after(layers[-1])
    return np.concatenate(layers)


def different(rows: np.ndarray, values: Sequence[int]) -> np.ndarray:
    """Return the rows in lexicographic order, each once. values: as for `row_numbers`."""
    return rows[np.unique(row_numbers(rows, values), return_index=True)[1]]


def row_numbers(rows: np.ndarray, values: Sequence[int]) -> np.ndarray:
    """Return a value for each row of uint8[N, columns]; these values compare as the rows do.

    values: the number of codes in each column. The results are whole numbers if 63 bits hold them,
    otherwise byte strings.
    """
    if prod(values) >= 2**63:
        return np.ascontiguousarray(rows).view(f"S{len(values)}").ravel()
    numbers = np.zeros(len(rows), dtype=np.int64)
    for count, column in zip(values, rows.T, strict=True):
        numbers *= count
        numbers += column
    return numbers
