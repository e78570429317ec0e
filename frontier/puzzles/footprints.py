"""Where a piece can lie, and the steps between: its footprint.

A *direction* says for some cells which cell lies next to them: at most one leaves each cell and at
most one comes to it, so it can be gone back. It has two *ways*, there and back. A piece goes one
step as a whole: each of its cells goes to the cell that is next to it that way. Where one of its
cells has none there, the piece cannot go. So where it can lie follows from where it lies once: all
that steps lead to on an empty board.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Ways = Sequence[Mapping[int, int]]
"""For each way, cell -> the cell next to it."""

Placement = frozenset[int]
"""The cells that a piece covers."""


@dataclass(frozen=True)
class Footprint:
    """Where a piece can lie, its cells numbered in reading order.

    placements: the cells of each, ascending; no two have the same first cell.
    steps: (placement, placement, way). Two steps one after the other in one way go on in a straight
        line; at most one leaves a placement each way.
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
        """Cells of the piece."""
        return len(self.placements[0])

    @cached_property
    def beyond(self) -> list[dict[int, int]]:
        """For each placement, way -> the placement one step on."""
        beyond: list[dict[int, int]] = [{} for _ in self.placements]
        for a, b, way in self.steps:
            beyond[a][way] = b
        return beyond


def steps_from(ways: Ways, placement: Placement) -> Iterator[tuple[int, Placement]]:
    """(way, the placement there) for each step that leads elsewhere, each placement once."""
    seen = {placement}
    for way, there in enumerate(ways):
        if all(cell in there for cell in placement):
            on = frozenset(there[cell] for cell in placement)
            if on not in seen:
                seen.add(on)
                yield way, on


def placements_from(ways: Ways, first: Placement, cells: int) -> frozenset[Placement]:
    """All placements that steps lead to on a board of `cells` cells."""
    found, queue = {first}, [first]
    for placement in queue:
        for _, on in steps_from(ways, placement):
            # No two may begin in one cell, so more placements than cells are refused later.
            if on not in found and len(found) <= cells:
                found.add(on)
                queue.append(on)
    return frozenset(found)


def footprint_of(
    ways: Ways, placements: Iterable[Iterable[int]], reading: Sequence[int]
) -> Footprint:
    """The footprint of a piece with these placements. reading: the cells in reading order."""
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
    """The ways up, down, left and right between cells that are squares, given in their order."""
    number = {square: cell for cell, square in enumerate(squares)}
    return [
        {
            n: number[r + down, c + right]
            for (r, c), n in number.items()
            if (r + down, c + right) in number
        }
        for down, right in ARROWS
    ]
