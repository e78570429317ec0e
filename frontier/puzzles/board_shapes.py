"""All shapes of a board: every arrangement of its pieces if pieces of one sort look alike.

A *direction* leads from each of certain cells to a next cell. At most one step leaves each cell and
at most one enters it, so every step can be undone. A direction has two opposite *ways*. A piece
moves as a whole: each of its cells moves to the next cell in the same way. If one of them has no
next cell, the piece cannot move. So one placement of a piece determines all its placements: those
that steps reach on an empty board. Together they are the *footprint* of the piece.

A shape shows only the *sort* of a piece: its footprint and its group of identical pieces. Cells are
numbered in reading order. The *anchor* of a piece is the first cell of its placement.

A shape is a row of codes, one per cell: EMPTY, COVERED (by a piece whose anchor is an earlier
cell), or FIRST_SORT + the sort of the piece whose anchor is there. Shapes are enumerated by filling
the cells in reading order, with all partial fillings in memory at once. If there are too many
fillings, as on a large board whose pieces can hardly move, nothing is enumerated
(`frontier.puzzles.placements`).

Rows are numbered, and a key finds the number of a row. The key is a sum of weights, one for each
column with its code, so a move changes the key by the same amount on every board. If 64 bits can
hold the row as a number whose digits are the codes, this number is the key, and rows are in the
order of keys; otherwise the weights are random (A. L. Zobrist, A New Hashing Method, 1970).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from frontier.errors import InputError

Steps = Sequence[Mapping[int, int]]
"""For each way, cell -> the next cell."""

Placement = frozenset[int]
"""The cells that a piece covers."""


@dataclass(frozen=True)
class Footprint:
    """The placements of a piece, with cells numbered in reading order.

    placements: the cells of each, ascending; no two have the same first cell. steps: (placement,
    placement, way). Consecutive steps in one way follow a straight line; at most one step leaves a
    placement in each way.
    """

    placements: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        if len(self.at) < len(self.placements):
            raise ValueError("two placements of a piece begin in one cell")

    @cached_property
    def at(self) -> dict[int, int]:
        """anchor -> the number of the placement that begins there."""
        return {cells[0]: i for i, cells in enumerate(self.placements)}

    @property
    def size(self) -> int:
        """The number of cells of the piece."""
        return len(self.placements[0])

    @cached_property
    def beyond(self) -> list[dict[int, int]]:
        """For each placement, way -> the placement one step away."""
        beyond: list[dict[int, int]] = [{} for _ in self.placements]
        for a, b, way in self.steps:
            beyond[a][way] = b
        return beyond


def steps_from(ways: Steps, placement: Placement) -> Iterator[tuple[int, Placement]]:
    """Generate (way, placement after the step) for each step that changes the placement, without
    repeating a placement."""
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
            # `Footprint` refuses two placements with the same first cell, so there cannot be more
            # placements than cells.
            if on not in placements and len(placements) <= cells:
                placements.add(on)
                queue.append(on)
    return frozenset(placements)


def footprint_of(
    ways: Steps, placements: Iterable[Iterable[int]], reading: Sequence[int]
) -> Footprint:
    """Return the footprint of a piece from its placements. reading: the cells in reading order."""
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


EMPTY, COVERED, FIRST_SORT = 1, 2, 3

MOST_SHAPES = 1_000_000
"""The most shapes, and partial fillings, that are enumerated. Each shape takes about 700 bytes
while the base graph is made."""


MOST_SORTS = 256 - FIRST_SORT
"""The most sorts, because a shape has one byte for each cell."""


@dataclass(frozen=True)
class Sort:
    """Pieces that look alike in a shape.

    codes: their numbers on boards. distinct: True if they differ, so that their order matters.
    """

    footprint: Footprint
    codes: tuple[int, ...]
    distinct: bool


def sorts_of(footprints: Mapping[str, Footprint], group: Mapping[str, int]) -> list[Sort]:
    """Return the sorts of the pieces whose footprints are given by label; their codes are 1, 2, ….

    group: for the label of each piece with like pieces, the number of its group.
    """
    members: dict[tuple, list[int]] = {}
    for code, (label, footprint) in enumerate(footprints.items(), start=1):
        members.setdefault((footprint, group.get(label)), []).append(code)
    if len(members) > MOST_SORTS:
        raise InputError(
            f"{len(members)} sorts of pieces differ in form, in the places that they can reach, or "
            f"in group: at most {MOST_SORTS} are supported; use fewer pieces"
        )
    return [Sort(f, tuple(codes), number is None) for (f, number), codes in members.items()]


class RowTable:
    """A table of different rows, numbered.

    rows: uint8[N, columns], in the order of their keys if a key is the row as a number, otherwise
    as given. keys: uint64[N], all different.
    """

    def __init__(self, rows: np.ndarray, codes: int):
        """rows: in any order. codes: the number of codes, which begin at 0."""
        for self._weights in _weights(rows.shape[1], codes):
            keys = _keys(rows, self._weights)
            order = np.argsort(keys)
            if np.diff(keys[order]).all():
                break
        if _are_numbers(rows.shape[1], codes):  # close keys then have close numbers
            rows, keys, order = rows[order], keys[order], np.arange(len(rows))
        self.rows, self.keys, self._order, self._sorted = rows, keys, order, keys[order]

    def __len__(self) -> int:
        return len(self.rows)

    def rows_of(self, number: np.ndarray) -> np.ndarray:
        """Return the rows with these numbers; inverse of `find`."""
        return self.rows[number]

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of rows, int64[N]; -1 for a row that is not in the table."""
        numbers = self.find_keys(_keys(rows, self._weights))
        same = (self.rows[numbers] == rows).all(axis=1)
        return np.where(same, numbers, -1)

    def find_keys(self, keys: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows with these keys, int64[N]; for a key that no row has, the
        number of an arbitrary row."""
        # Look-ups in the order of the keys use the caches, and are twice as fast in large tables.
        order = np.argsort(keys)
        places = np.empty(len(keys), dtype=np.int64)
        places[order] = np.searchsorted(self._sorted, keys[order])
        return self._order[np.minimum(places, len(self) - 1)]


def _are_numbers(columns: int, codes: int) -> bool:
    """Return whether rows, as numbers, fit in 64-bit keys."""
    return codes**columns <= 2**64


def _weights(columns: int, codes: int) -> Iterator[np.ndarray]:
    """Generate weights, uint64[columns, codes], which probably give every row a different key."""
    if _are_numbers(columns, codes):
        digits = [codes**place for place in reversed(range(columns))]
        yield np.array([[code * digit for code in range(codes)] for digit in digits], np.uint64)
    random = np.random.default_rng(columns)
    while True:
        yield random.integers(2**64, size=(columns, codes), dtype=np.uint64)


def _keys(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the keys of rows, uint64[N]."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    for weights_there, column in zip(weights, rows.T, strict=True):
        keys += weights_there[column]
    return keys


class Shapes(RowTable):
    """All shapes of a board."""

    def __init__(self, cells: int, sorts: Sequence[Sort]):
        self.sorts = tuple(sorts)
        rows = fill(cells, self.sorts, MOST_SHAPES)
        if rows is None:
            raise InputError(
                f"this board has more than {MOST_SHAPES:,} shapes (placements of its pieces, if "
                "pieces of one form and group look alike); use fewer empty cells"
            )
        super().__init__(rows, FIRST_SORT + len(self.sorts))

    def key_of_move(self, sort: int, source: Sequence[int], target: Sequence[int]) -> np.uint64:
        """Return the change of a key when a piece moves from one placement to another, modulo
        2^64."""
        codes = [FIRST_SORT + sort] + [COVERED] * (len(source) - 1)
        gain = 0
        for cell, target_cell, code in zip(source, target, codes, strict=True):
            gain += int(self._weights[cell, EMPTY]) - int(self._weights[cell, code])
            gain += int(self._weights[target_cell, code]) - int(self._weights[target_cell, EMPTY])
        return np.uint64(gain % 2**64)


def shape_rows(boards: np.ndarray, sorts: Sequence[Sort]) -> np.ndarray:
    """Return the shape rows of boards in reading order, int[N, cells]; zeros for a row of codes
    that is not a board.

    A board shows every piece whole, once. Like pieces may carry any of their codes, so a piece is
    recognised at the first cell that no earlier piece covers.
    """
    most = max((code for sort in sorts for code in sort.codes), default=0)
    valid = (boards >= 0) & (boards <= most)
    codes = np.where(valid, boards, 0)
    # The shape code in each cell for each code on a board; pieces of several cells still have 0.
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


@lru_cache(maxsize=2)
def fill(cells: int, sorts: tuple[Sort, ...], most: int) -> np.ndarray | None:
    """Return all rows that hold the right number of pieces of each sort; None if there are more
    than `most` rows or partial fillings."""
    counts = [len(sort.codes) for sort in sorts]
    empty = cells - sum(len(sort.codes) * sort.footprint.size for sort in sorts)
    # A partial filling is the pieces left and a bit for each covered cell. The rows, ten times as
    # large, are made from the choices at the end, when there are no more than `most`.
    left = np.array([*counts, empty], dtype=np.int16)[:, None]
    covered = np.zeros((1 + (cells - 1) // 64, 1), dtype=np.uint64)
    choices = []
    for cell in range(cells):
        free = covered[cell // 64] >> np.uint64(cell % 64) & np.uint64(1) == 0
        (open_,), parents, placed = np.nonzero(free), [np.flatnonzero(~free)], []
        covered_there = covered[:, open_]
        for number in range(len(sorts) + 1):
            cover: Sequence[int] = [cell]
            if number < len(sorts):
                footprint = sorts[number].footprint
                if cell not in footprint.at:
                    continue
                cover = footprint.placements[footprint.at[cell]]
            bits = np.zeros_like(covered[:, :1])
            for other in cover:
                bits[other // 64] |= np.uint64(1 << other % 64)
            fits = left[number, open_] > 0
            for word in np.flatnonzero(bits):
                fits &= covered_there[word] & bits[word] == 0
            parents.append(open_[fits])
            placed.append((number, bits))
        ends = np.cumsum([*map(len, parents)])
        if ends[-1] > most:
            return None
        parent = np.concatenate(parents)
        left, covered = left.take(parent, axis=1), covered.take(parent, axis=1)
        for (number, bits), begin, end in zip(placed, ends, ends[1:], strict=False):
            left[number, begin:end] -= 1
            covered[:, begin:end] |= bits
        codes = [COVERED, *(EMPTY if n == len(sorts) else FIRST_SORT + n for n, _ in placed)]
        code = np.repeat(np.array(codes, np.uint8), np.diff(ends, prepend=0))
        choices.append((parent.astype(np.int32), code))
    rows = np.empty((left.shape[1], cells), dtype=np.uint8)
    at = np.arange(len(rows), dtype=np.int32)
    for cell, (before, code) in reversed(list(enumerate(choices))):
        rows[:, cell], at = code[at], before[at]
    return rows
