"""Rows that are found by a key: as numbers where these fit in 64 bits, else by random weights."""

import numpy as np
import pytest

from frontier.puzzles import board_shapes
from frontier.puzzles.board_shapes import (
    COVERED,
    EMPTY,
    FIRST_SORT,
    Footprint,
    RowTable,
    Sort,
    fill,
)


@pytest.mark.parametrize(("columns", "codes"), [(1, 2), (22, 3), (32, 4), (33, 4), (64, 231)])
def test_rows_are_found_and_no_others(columns, codes):
    rng = np.random.default_rng(columns)
    rows = rng.integers(1, codes, size=(400, columns), dtype=np.uint8)
    # These two have the least and the greatest keys; with 4 codes, 32 columns just fill 64 bits.
    rows[:2] = np.array([[1], [codes - 1]])
    given, others = np.unique(rows[:200], axis=0), rows[200:]
    table = RowTable(rng.permutation(given), codes)
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
    table = RowTable(rows, 4)
    assert table.find(rows).tolist() == list(range(300))


def fillings(cells, sorts):
    """All rows, cell by cell: for each cell first the covered ones, then those of each sort, then
    the empty ones; and the most partial fillings after a cell."""
    counts = [len(sort.codes) for sort in sorts]
    empty = cells - sum(len(sort.codes) * sort.footprint.size for sort in sorts)
    found, most = [({}, (*counts, empty))], 1
    for cell in range(cells):
        grown = [part for part in found if cell in part[0]]
        for number in range(len(sorts) + 1):
            code, cover = EMPTY, (cell,)
            if number < len(sorts):
                footprint = sorts[number].footprint
                if cell not in footprint.at:
                    continue
                code, cover = FIRST_SORT + number, footprint.placements[footprint.at[cell]]
            for row, left in found:
                if left[number] and not row.keys() & set(cover):
                    less = (*left[:number], left[number] - 1, *left[number + 1 :])
                    grown.append(({**row, **dict.fromkeys(cover, COVERED), cell: code}, less))
        found, most = grown, max(most, len(grown))
    return [[row[cell] for cell in range(cells)] for row, _ in found], most


@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (2, 34)])
def test_boards_are_filled_in_all_ways(rows, columns):
    """A corner of three cells, bars and single pieces; the second board has over 64 cells."""
    number = np.arange(rows * columns).reshape(rows, columns)
    corners = tuple(
        (number[y, x].item(), number[y, x + 1].item(), number[y + 1, x].item())
        for y in range(rows - 1) for x in range(columns - 1)
    )  # fmt: skip
    bars = tuple(
        tuple(of) for of in np.stack([number[:-1], number[1:]], -1).reshape(-1, 2).tolist()
    )
    if columns == 34:  # few placements, at the end
        corners, bars = corners[-3:], bars[-5:]
    singles = tuple((cell,) for cell in range(rows * columns))[-4:]
    sorts = (
        Sort(Footprint(corners, ()), (1,), True),
        Sort(Footprint(bars, ()), (2, 3), False),
        Sort(Footprint(singles, ()), (4,), True),
    )
    expected, most = fillings(rows * columns, sorts)
    assert len(expected) > 3
    assert fill(rows * columns, sorts, most).tolist() == expected
    assert fill(rows * columns, sorts, most - 1) is None
