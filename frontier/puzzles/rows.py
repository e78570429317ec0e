"""Rows of small codes, which stand for the shapes of boards: how many there are and their numbers.

Rows are numbered in lexicographic order and found by a key: the sum of a random weight for each
column and code, so that a change of some columns adds the same to the key wherever it is made
(A. L. Zobrist, A New Hashing Method, 1970).
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

MOST_SHAPES = 4_000_000


class RowTable:
    """Different rows.

    rows: uint8[N, columns], in lexicographic order. keys: uint64[N], all different.
    """

    def __init__(self, rows: np.ndarray, codes: int):
        """rows: the same in any order. codes: how many there are, from 0."""
        self.rows = different(rows, [codes] * rows.shape[1])
        random = np.random.default_rng(rows.shape[1])
        while True:
            self._weights = random.integers(2**64, size=(rows.shape[1], codes), dtype=np.uint64)
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
        """The rows with these numbers; inverse of `find`."""
        return self.rows[number]

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Numbers of rows, int64[N]; -1 where there is no such row."""
        found = self.find_keys(self._keys_of(rows))
        same = (self.rows[found] == rows).all(axis=1)
        return np.where(same, found, -1)

    def find_keys(self, keys: np.ndarray) -> np.ndarray:
        """Numbers of the rows with these keys, int64[N]; for a key that no row has, the number of
        some row."""
        return self._order[np.minimum(np.searchsorted(self._sorted, keys), len(self) - 1)]


def reached(
    rows: np.ndarray,
    after: Callable[[np.ndarray], np.ndarray],
    values: Sequence[int],
    most: int,
) -> np.ndarray:
    """All rows that moves lead to from some; where these are more than `most`, not all of them.

    after: makes of rows those one move on. values: as for `row_numbers`. Every move can be undone,
    so what is new in a layer is in neither of the two before it.
    """
    layers = [rows[:0], different(rows, values)]
    count = len(layers[-1])
    while len(layers[-1]) and count <= most:
        fresh = different(after(layers[-1]), values)
        known = row_numbers(np.concatenate(layers[-2:]), values)
        new = ~np.isin(row_numbers(fresh, values), known, assume_unique=True)
        layers.append(fresh[new])
        count += len(layers[-1])
    return np.concatenate(layers)


def different(rows: np.ndarray, values: Sequence[int]) -> np.ndarray:
    """The rows in lexicographic order, each once; values: as for `row_numbers`."""
    return rows[np.unique(row_numbers(rows, values), return_index=True)[1]]


def row_numbers(rows: np.ndarray, values: Sequence[int]) -> np.ndarray:
    """What compares as the rows do, for each of uint8[N, columns]. values: how many codes there are
    in each column.

    They are numbers, and texts of bytes where numbers would have too many digits.
    """
    if prod(values) >= 2**63:
        return np.ascontiguousarray(rows).view(f"S{len(values)}").ravel()
    numbers = np.zeros(len(rows), dtype=np.int64)
    for many, column in zip(values, rows.T, strict=True):
        numbers *= many
        numbers += column
    return numbers
