"""The footprint of a piece: its possible placements, and the steps between them.

A *direction* gives for some cells the cell next to them: at most one step leaves each cell and at
most one comes to it, so it can be undone. It has two *ways*, there and back. A piece goes one step
as a whole: each of its cells goes to the cell that is next to it that way. If one of its cells has
none, the piece cannot go. So all placements of a piece follow from one of them: they are those that
steps reach on an empty board.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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
