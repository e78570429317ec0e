"""Rows that are found by a key: as numbers where these fit in 64 bits, else by random weights."""

import numpy as np
import pytest

from frontier.puzzles import board_shapes
from frontier.puzzles.board_shapes import RowTable


@pytest.mark.parametrize(("columns", "codes"), [(1, 2), (22, 3), (32, 4), (33, 4), (64, 231)])
def test_rows_are_found_and_no_others(columns, codes):
    rng = np.random.default_rng(columns)
    rows = rng.integers(1, codes, size=(400, columns), dtype=np.uint8)
    # These two have the least and the greatest keys; with 4 codes, 32 columns just fill 64 bits.
    rows[:2] = np.array([[1], [codes - 1]])
    given, others = np.unique(rows[:200], axis=0), rows[200:]
    table = RowTable(rng.permutation(np.concatenate([given, given])), codes)
    assert sorted(table.rows.tolist()) == given.tolist()
    assert (table.rows.tolist() == given.tolist()) == (codes**columns <= 2**64)
    known = {tuple(row): number for number, row in enumerate(table.rows.tolist())}
    assert table.find(given).tolist() == [known[tuple(row)] for row in given.tolist()]
    assert table.find(others).tolist() == [known.get(tuple(row), -1) for row in others.tolist()]


def test_rows_near_by_have_keys_near_by_where_they_fit():
    rng = np.random.default_rng(1)
    # A search that leaps about in memory takes several times as long.
    for columns, in_order in ((32, True), (33, False)):
        table = RowTable(rng.integers(1, 4, size=(400, columns), dtype=np.uint8), 4)
        assert (np.diff(table.keys.astype(object)) > 0).all() == in_order


def test_different_rows_with_one_key_get_other_weights(monkeypatch):
    weights = board_shapes._weights

    def poor_first(columns, codes):
        yield np.ones((columns, codes), dtype=np.uint64)
        yield from weights(columns, codes)

    monkeypatch.setattr(board_shapes, "_weights", poor_first)
    rows = np.random.default_rng(2).integers(1, 4, size=(300, 40), dtype=np.uint8)
    table = RowTable(np.concatenate([rows, rows]), 4)
    assert table.find(rows).tolist() == list(range(300))
