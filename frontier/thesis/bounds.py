"""Bounds of the greatest depth of the 2×n puzzle, from runs of patterns.

Let G(n) be the greatest depth of the 2×n puzzle, and d(n, k) that of its pattern of the k
right-most columns. The blank is home in the top left cell.

**Below.** No position is nearer to the goal than its pattern, so d(n, k) ≤ G(n) for each k. The
greatest Manhattan sum is a lower bound too, and so is 2n² - n (`frontier.thesis.inversions`). The
best one comes from the two halves of the board (`frontier.thesis.halves`).

**Above.** Bring the k right-most columns and the blank home, in at most d(n, k) moves. What is
left is the 2×(n-k) puzzle, and of the right parity. So

    G(n) ≤ d(n, k) + G(n-k).

The thesis takes k = 1 throughout, down to G(3). But after the first block the blank *is* home.
Let H(n) be the greatest depth of a position with the blank home, and h(n, k) the same for the
patterns. Then

    G(n) ≤ d(n, k) + H(n-k),    H(n) ≤ h(n, k) + H(n-k),    H(1) = 0.

These are smaller as a rule: with the blank home all depths are even, and the farthest positions
have their blanks elsewhere. Each bound is the least over all k for which there is a run, and
over the exact value where the whole puzzle has been searched.
"""

from dataclasses import dataclass
from functools import cache

from frontier.thesis.halves import halves_bound
from frontier.thesis.inversions import inversion_formula
from frontier.thesis.manhattan import manhattan_formula
from frontier.thesis.runs import Depths, Runs


@dataclass(frozen=True)
class Bound:
    """A bound, how it comes about (k by k), and the runs that it rests on."""

    value: int
    steps: tuple[str, ...]
    runs: tuple[str, ...]

    def after(self, moves: int, step: str, run: str) -> "Bound":
        return Bound(self.value + moves, (step, *self.steps), (run, *self.runs))


def thesis_bound(columns: int) -> int:
    """(9n² - 9n - 12) / 2, theorem 4.2.1 of the thesis, for n ≥ 4."""
    return (9 * columns**2 - 9 * columns - 12) // 2


class Bounds:
    """Bounds from the runs that there are.

    most: columns that are labelled, at most. halves: columns of the largest board whose two halves
        are searched, in memory.
    """

    def __init__(self, runs: Runs, most: int, halves: int = 0):
        self._runs, self._most, self._halves = runs, most, halves
        self._upper = cache(self._upper)

    def lower(self, columns: int) -> Bound:
        """The greatest lower bound."""
        found = [
            Bound(manhattan_formula(columns), ("Manhattan",), ()),
            Bound(inversion_formula(columns), ("2n² - n",), ()),
        ]
        if whole := self._runs.tiles(2, columns):
            found.append(_exact(whole, whole.depth))
        elif 2 <= columns <= self._halves and (moves := halves_bound(columns)) is not None:
            found.append(Bound(moves, ("two halves",), ()))
        for k, depths in self._patterns(columns):
            found.append(Bound(depths.depth, (f"k = {k}",), (depths.run,)))
        return max(found, key=lambda bound: bound.value)

    def recursion(self, columns: int) -> Bound | None:
        """The thesis's own: one column at a time, down to G(3); None if a run is missing."""
        if columns <= 3:
            whole = self._runs.tiles(2, columns)
            return whole and _exact(whole, whole.depth)
        depths, rest = self._runs.columns(columns, 1), self.recursion(columns - 1)
        return depths and rest and rest.after(depths.depth, "k = 1", depths.run)

    def mixed(self, columns: int) -> Bound | None:
        """The least of d(n, k) + G(n-k), applied again and again."""
        return self._upper(columns, "depth", "depth")

    def sharp(self, columns: int) -> Bound | None:
        """The least that uses that the blank is home after the first block."""
        return self._upper(columns, "depth", "home")

    def _upper(self, columns: int, of: str, rest_of: str) -> Bound | None:
        """The least bound of G(n), or of H(n), from G or H of the columns that are left.

        of, rest_of: which of the two, by the field of `Depths` that says it.
        """
        if columns == 1 and of == "home":
            return Bound(0, (), ())
        if whole := self._runs.tiles(2, columns):
            return _exact(whole, getattr(whole, of))
        found = [
            rest.after(getattr(depths, of), f"k = {k}", depths.run)
            for k, depths in self._patterns(columns)
            if (rest := self._upper(columns - k, rest_of, rest_of))
        ]
        return min(found, key=lambda bound: bound.value, default=None)

    def _patterns(self, columns: int) -> list[tuple[int, Depths]]:
        """(k, run) of the patterns that there are, with k < n."""
        ks = range(1, min(self._most, columns - 1) + 1)
        return [(k, depths) for k in ks if (depths := self._runs.columns(columns, k))]


def _exact(depths: Depths, moves: int) -> Bound:
    return Bound(moves, ("searched",), (depths.run,))


def linear_formula(depths: dict[int, int]) -> tuple[int, int, int, int] | None:
    """(a, b, first n, last n) with depth = a n + b for at least three n, without a gap.

    The last n is the one before the first gap, counted from the least n. None if the depths up to
    it do not end with such a formula.
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
