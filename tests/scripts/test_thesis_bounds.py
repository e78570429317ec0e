"""Bounds made of runs, real ones and made-up ones."""

import random

import pytest
from thesis.bounds import Bound, Bounds, linear_formula, thesis_bound
from thesis.runs import Depths, ThesisRuns

from tests.scripts.study import without_home
from tests.support.sweeps import swept


class Stub:
    """Runs made up: (greatest depth, greatest with the blank home), by columns, or these and k."""

    def __init__(self, whole, patterns):
        self._whole, self._patterns = whole, patterns

    def tiles(self, rows, columns):
        assert rows == 2
        return self._depths(f"2x{columns}", self._whole.get(columns))

    def columns(self, columns, k):
        return self._depths(f"pattern-2x{columns}-k{k}", self._patterns.get((columns, k)))

    @staticmethod
    def _depths(name, found):
        return found and Depths(name, *found, states=1, farthest=1)


def ways(stub, columns, most):
    """All ways to take columns off, block by block, until what is left has been searched or has
    one column: ([(columns then, k), ...], columns left)."""
    if columns in stub._whole:
        return [([], columns)]
    found = [([], 1)] if columns == 1 else []
    for k in range(1, min(most, columns - 1) + 1):
        if (columns, k) in stub._patterns:
            found += [
                ([(columns, k), *blocks], left) for blocks, left in ways(stub, columns - k, most)
            ]
    return found


def least(stub, columns, most):
    """The least total of all those ways, None if there is none."""
    totals = []
    for blocks, left in ways(stub, columns, most):
        parts = [stub._patterns[block] for block in blocks]
        if left in stub._whole:
            parts.append(stub._whole[left])
        if parts:
            totals.append(parts[0][0] + sum(part[1] for part in parts[1:]))
    return min(totals, default=None)


def random_stub(seed):
    """Some runs are missing; a blank at home is never farther than any."""
    rng = random.Random(seed)
    share = rng.choice([0.5, 0.8, 1])

    def depths(columns):
        depth = rng.randrange(1, 20 * columns)
        return depth, rng.randrange(0, depth + 1)

    whole = {n: depths(n) for n in (1, 2, 3, 4) if rng.random() < share}
    if 1 in whole:
        whole[1] = (whole[1][0], 0)
    patterns = {(n, k): depths(n) for n in range(1, 9) for k in range(1, n + 1)}
    patterns = {key: found for key, found in patterns.items() if rng.random() < share}
    return Stub(whole, patterns)


@swept("seed", range(30), few=8)
def test_bounds_of_made_up_runs(seed):
    stub, found = random_stub(seed), 0
    for most in (1, 2, 3, 6):
        bounds = Bounds(stub, most)
        for columns in range(1, 9):
            upper = bounds.upper(columns)
            assert (upper and upper.value) == least(stub, columns, most)
            if upper:
                found += 1
                assert_adds_up(stub, columns, upper)
            lower = bounds.lower(columns)
            if columns in stub._whole:
                assert lower == upper
            else:
                assert lower == Bound(2 * columns**2 - columns, ("2n² - n",), ())
            recursion, chain = bounds.recursion(columns), [(n, 1) for n in range(4, columns + 1)]
            if min(columns, 3) in stub._whole and all(key in stub._patterns for key in chain):
                total = stub._whole[min(columns, 3)][0]
                total += sum(stub._patterns[key][0] for key in chain)
                assert recursion.value == total
                if columns not in stub._whole and 4 not in stub._whole:
                    assert upper.value <= recursion.value
            else:
                assert recursion is None
    assert found > 0


def assert_adds_up(stub, columns, bound):
    """The steps and runs that a bound names make its value."""
    total, left = 0, columns
    for number, step in enumerate(bound.steps):
        kind = 1 if number else 0
        if step == "searched":
            assert bound.runs[number] == f"2x{left}"
            total += stub._whole[left][kind]
            left = 0
        else:
            k = int(step.removeprefix("k = "))
            assert bound.runs[number] == f"pattern-2x{left}-k{k}"
            total += stub._patterns[left, k][kind]
            left -= k
    assert total == bound.value
    assert left in (0, 1)
    assert len(bound.steps) == len(bound.runs)


class Without:
    """Runs, but for the searches of whole puzzles of more than so many columns."""

    def __init__(self, runs, most):
        self._runs, self._most, self.columns = runs, most, runs.columns

    def tiles(self, rows, columns):
        return self._runs.tiles(rows, columns) if columns <= self._most else None


@swept(
    ("columns", "whole", "depth"),
    [(4, 3, 36), (4, 2, 36), (5, 4, 55), (5, 3, 55), (6, 4, 80)],
    few=2,
)
def test_god_s_number_lies_between(directory, columns, whole, depth):
    """As if it were not known."""
    bounds = Bounds(Without(ThesisRuns(directory, 10**6), whole), 3)
    lower, upper = bounds.lower(columns).value, bounds.upper(columns).value
    assert lower < depth <= upper
    if whole >= 3:
        assert upper < bounds.recursion(columns).value
    exact = Bounds(ThesisRuns(directory, 10**6), 3)
    if columns == 4:
        assert {f(4).value for f in (exact.lower, exact.upper)} == {depth}


def test_the_thesis_s_bound():
    expected = {4: 48, 5: 84, 6: 129, 7: 183, 8: 246, 9: 318, 10: 399}
    assert {n: thesis_bound(n) for n in expected} == expected
    total = 21
    for n in range(4, 40):
        total += 9 * n - 9
        assert thesis_bound(n) == total


def test_the_recursion_is_the_thesis_s(directory):
    bounds = Bounds(ThesisRuns(directory, 10**6), 1)
    for n in range(4, 11):
        assert bounds.recursion(n).value == thesis_bound(n)
    assert bounds.recursion(5).steps == ("k = 1", "k = 1", "searched")
    assert bounds.recursion(5).runs == ("pattern-2x5-k1", "pattern-2x4-k1", "2x3")


@pytest.mark.parametrize(
    ("depths", "expected"),
    [
        ({2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54}, (9, -9, 4, 7)),
        ({2: 6, 3: 21, 4: 35, 5: 48, 6: 61, 7: 74}, (13, -17, 4, 7)),
        ({3: 21, 4: 36, 5: 54, 6: 71, 7: 88}, (17, -31, 5, 7)),
        ({7: 88, 5: 54, 3: 21, 6: 71, 4: 36}, (17, -31, 5, 7)),
        ({3: 21, 4: 36, 5: 54}, None),
        ({1: 4, 2: 6, 3: 8}, (2, 2, 1, 3)),
        ({1: 5, 2: 5, 3: 5, 4: 5}, (0, 5, 1, 4)),
        ({1: 9, 2: 7, 3: 5}, (-2, 11, 1, 3)),
        ({1: 4, 2: 6}, None),
        ({1: 4}, None),
        ({}, None),
        ({1: 1, 2: 2, 3: 4, 4: 6}, (2, -2, 2, 4)),
        ({1: 1, 2: 2, 3: 3, 4: 5}, None),
        ({4: 27, 5: 36, 6: 45, 100: 891}, (9, -9, 4, 6)),  # not past a gap
        ({4: 27, 5: 36, 6: 45, 8: 1, 9: 2, 10: 3}, (9, -9, 4, 6)),
        ({4: 27, 6: 45, 8: 63}, None),
    ],
)
def test_formulas_of_made_up_tables(depths, expected):
    """a n + b from n on, up to n."""
    assert linear_formula(depths) == expected


def test_bounds_of_runs_that_do_not_say_where_their_blanks_are(tmp_path):
    """They are as true, if less sharp."""
    runs = ThesisRuns(tmp_path, 10**6)
    bounds = Bounds(Without(runs, 2), 1)
    sharp = {n: bounds.upper(n).value for n in (4, 5)}
    for made in runs.used:
        without_home(tmp_path / made.run)
    blunt = Bounds(Without(ThesisRuns(tmp_path, 0), 2), 1)
    assert all(sharp[n] <= blunt.upper(n).value for n in sharp)
    assert any(sharp[n] < blunt.upper(n).value for n in sharp)
