"""Bounds on God's number of the 2×n puzzle, from searches and from runs of patterns.

Let G(n) be the greatest depth of the 2×n puzzle, and d(n, k) the greatest depth of its pattern of
the k right-most columns. The blank's home is the top left cell. If a search found G(n), both bounds
are G(n). Otherwise:

**Below.** The bound is 2n² - n (`thesis.inversions`).

**Above.** Bring the k right-most columns and the blank home, in at most d(n, k) moves. This leaves
the 2×(n-k) puzzle, with the right parity. So

    G(n) ≤ d(n, k) + G(n-k).

The thesis takes k = 1 throughout, down to G(3). But after the first block the blank *is* home.
Let H(n) be the greatest depth of a position with the blank home, and h(n, k) the same for the
patterns. Then

    G(n) ≤ d(n, k) + H(n-k),    H(n) ≤ h(n, k) + H(n-k),    H(1) = 0.

H and h are usually smaller than G and d: with the blank home all depths are even, and the farthest
positions have the blank elsewhere. The upper bound is the least over all k that have a run.
"""

from dataclasses import dataclass
from functools import cache

from thesis.inversions import inversion_formula
from thesis.runs import Depths, ThesisRuns


@dataclass(frozen=True)
class Bound:
    """A bound, the steps of its derivation, and the runs that it rests on."""

    value: int
    steps: tuple[str, ...]
    runs: tuple[str, ...]

    def after(self, moves: int, step: str, run: str) -> "Bound":
        return Bound(self.value + moves, (step, *self.steps), (run, *self.runs))


def thesis_bound(columns: int) -> int:
    """Return (9n² - 9n - 12) / 2, theorem 4.2.1 of the thesis, for n ≥ 4."""
    return (9 * columns**2 - 9 * columns - 12) // 2


class Bounds:
    """Bounds from the existing runs, with patterns of at most `most` columns."""

    def __init__(self, runs: ThesisRuns, most: int):
        self._runs, self._most = runs, most
        self._upper = cache(self._upper)  # type: ignore[method-assign]  # cached as long as the object lives

    def lower(self, columns: int) -> Bound:
        """Return God's number if a search found it, else 2n² - n."""
        if whole := self._runs.tiles(2, columns):
            return _exact(whole, whole.depth)
        return Bound(inversion_formula(columns), ("2n² - n",), ())

    def upper(self, columns: int) -> Bound | None:
        """Return God's number if a search found it, else the least bound from blocks of columns, or
        None if no runs give one."""
        return self._upper(columns, "depth")

    def recursion(self, columns: int) -> Bound | None:
        """Return the thesis's own bound: one column at a time, down to G(3); None if a run is
        missing."""
        if columns <= 3:
            whole = self._runs.tiles(2, columns)
            return _exact(whole, whole.depth) if whole else None
        depths, smaller = self._runs.columns(columns, 1), self.recursion(columns - 1)
        if not (depths and smaller):
            return None
        return smaller.after(depths.depth, "k = 1", depths.run)

    def _upper(self, columns: int, field: str) -> Bound | None:
        """Return the least bound on G(n) or H(n).

        field: the field of `Depths`: "depth" for G(n), "depth_at_home" for H(n).
        """
        if columns == 1 and field == "depth_at_home":
            return Bound(0, (), ())
        if whole := self._runs.tiles(2, columns):
            return _exact(whole, getattr(whole, field))
        bounds = [
            smaller.after(getattr(depths, field), f"k = {k}", depths.run)
            for k in range(1, min(self._most, columns - 1) + 1)
            if (depths := self._runs.columns(columns, k))
            and (smaller := self._upper(columns - k, "depth_at_home"))
        ]
        return min(bounds, key=lambda bound: bound.value, default=None)


def _exact(depths: Depths, moves: int) -> Bound:
    step = "searched coset by coset" if depths.by_cosets else "searched"
    return Bound(moves, (step,), (depths.run,))


def linear_formula(depths: dict[int, int]) -> tuple[int, int, int, int] | None:
    """Return (a, b, first n, last n) with depth = a n + b for at least three n, without a gap.

    The last n is the one before the first gap. Returns None if the last depths before the gap do
    not follow such a formula.
    """
    first = min(depths, default=0)
    last = first
    while last + 1 in depths:
        last += 1
    if last - first < 2:
        return None
    slope = depths[last] - depths[last - 1]
    offset, first = depths[last] - slope * last, last
    while depths.get(first - 1) == slope * (first - 1) + offset:
        first -= 1
    return (slope, offset, first, last) if last - first >= 2 else None
