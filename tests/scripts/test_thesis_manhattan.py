"""The Manhattan distances of the 2×n puzzle, against enumeration and against themselves."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from numba import njit
from thesis.manhattan import manhattan_counts, manhattan_formula

from tests.support.reference_search import attaining_formula
from tests.support.sweeps import swept


def distances(columns):
    """The steps between any two cells."""
    cells = [divmod(cell, columns) for cell in range(2 * columns)]
    return [[abs(r - s) + abs(a - b) for s, b in cells] for r, a in cells]


def slowly_enumerated_counts(columns):
    steps = distances(columns)
    counts = {}
    for state in permutations(range(2 * columns)):  # state[t]: the cell of tile t
        inversions = sum(state[i] > state[j] for j in range(2 * columns) for i in range(j))
        if (inversions + steps[0][state[0]]) % 2 == 0:
            distance = sum(steps[tile][state[tile]] for tile in range(1, 2 * columns))
            counts[distance] = counts.get(distance, 0) + 1
    return [counts.get(distance, 0) for distance in range(max(counts) + 1)]


@njit
def histogram(steps, greatest):
    """The solvable states by distance, all permutations being made by exchanges (Heap)."""
    cells = len(steps)
    state = np.arange(cells)
    counts = np.zeros(greatest + 1, np.int64)
    counters = np.zeros(cells, np.int64)
    odd = 0
    counts[0] = 1
    at = 1
    while at < cells:
        if counters[at] == at:
            counters[at] = 0
            at += 1
            continue
        other = counters[at] if at % 2 else 0
        state[other], state[at] = state[at], state[other]
        odd ^= 1
        if odd == steps[0, state[0]] % 2:
            distance = 0
            for tile in range(1, cells):
                distance += steps[tile, state[tile]]
            counts[distance] += 1
        counters[at] += 1
        at = 1
    return counts


def enumerated_counts(columns):
    steps = np.array(distances(columns))
    counts = histogram(steps, steps.max(axis=1).sum())
    return np.trim_zeros(counts, "b").tolist()


def permanent(matrix):
    """Ryser's formula, the sets of columns in Gray code."""
    size = len(matrix)
    sums = [0] * size
    chosen, total = 0, 0
    for index in range(1, 1 << size):
        column = (index & -index).bit_length() - 1
        chosen ^= 1 << column
        sign = 1 if chosen >> column & 1 else -1
        sums = [value + sign * row[column] for value, row in zip(sums, matrix, strict=True)]
        product = -1 if (size - chosen.bit_count()) % 2 else 1
        for value in sums:
            product *= value
        total += product
    return total


def determinant(matrix):
    """Bareiss's elimination, exact; no pivot of these matrices is 0."""
    rows, before = [list(row) for row in matrix], 1
    for k in range(len(rows) - 1):
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // before
        before = rows[k][k]
    return rows[-1][-1]


@pytest.mark.parametrize("columns", range(1, 5))
def test_slow_twin(columns):
    slow = slowly_enumerated_counts(columns)
    assert manhattan_counts(columns) == slow
    assert enumerated_counts(columns) == slow


@pytest.mark.parametrize("columns", range(1, 6))
def test_enumeration(columns):
    assert manhattan_counts(columns) == enumerated_counts(columns)


@pytest.mark.parametrize("columns", range(1, 8))
def test_matrices(columns):
    """The counts as a polynomial, at one point, from the matrices themselves."""
    x = 3
    steps = distances(columns)
    tiles = [[x**step for step in row] for row in steps[1:]]
    blank_of_all = [1] * (2 * columns)
    blank_signed = [(-1) ** step for step in steps[0]]
    doubled = permanent([blank_of_all, *tiles]) + determinant([blank_signed, *tiles])
    counts = manhattan_counts(columns)
    assert 2 * sum(count * x**distance for distance, count in enumerate(counts)) == doubled


@pytest.mark.parametrize(
    ("columns", "greatest"), [(1, 1), (2, 6), (3, 12), (4, 21), (5, 31), (6, 44)]
)
def test_known_greatest(columns, greatest):  # thesis, table 3.1
    assert len(manhattan_counts(columns)) - 1 == greatest


@pytest.mark.parametrize(("columns", "states"), [(5, 40), (6, 216)])
def test_known_states(columns, states):  # thesis, table 3.1
    assert manhattan_counts(columns)[-1] == states


@swept("columns", range(1, 15), few=9)
def test_formulas(columns):
    counts = manhattan_counts(columns)
    assert len(counts) - 1 == manhattan_formula(columns)
    assert counts[-1] == attaining_formula(columns)


@swept("columns", range(2, 13), few=7)
def test_all_solvable_states_are_counted(columns):
    counts = manhattan_counts(columns)
    assert sum(counts) == factorial(2 * columns) // 2
    assert counts[:2] == [1, 2]  # the goal; a tile beside the blank's home has moved into it


def test_both_states_of_one_column_are_counted():
    assert manhattan_counts(1) == [1, 1]


@swept("columns", range(2, 13), few=7)
def test_mean(columns):
    """A tile is in every cell equally often: the double zero of det B at 1 keeps the mean."""
    counts = manhattan_counts(columns)
    steps = sum(sum(row) for row in distances(columns)[1:])
    total = sum(distance * count for distance, count in enumerate(counts))
    assert total == factorial(2 * columns - 1) // 2 * steps
