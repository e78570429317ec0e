"""The rectangles that can be regions, and which boards have them."""

from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.cosets.regions import (
    BALANCE,
    MOST_LABELLED,
    MOST_TILES,
    best_region,
    check_puzzle,
    region_named,
    regions_of,
)
from frontier.errors import InputError
from frontier.puzzles import pattern_puzzle, tile_puzzle
from tests.support.coset_boards import region_of, regions
from tests.support.reference_cosets import Board, blank_cells, board_of
from tests.support.sweeps import swept

SHAPES = [(r, c) for r in range(2, 6) for c in range(2, 13) if 4 < r * c <= 25]

SMALL = [case[:3] for case in regions([(2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])]


@st.composite
def boards(draw):
    shape = draw(st.sampled_from(SHAPES))
    return Board(*shape, draw(st.sampled_from(blank_cells(*shape))))


@given(boards())
def test_all_rectangles_that_hold_the_blank_and_are_not_too_large_are_regions(board):
    cells = board.rows * board.columns
    expected = {
        rectangle
        for rectangle in board.rectangles()
        if rectangle[2] * rectangle[3] - 1 <= MOST_TILES
        and cells - rectangle[2] * rectangle[3] <= MOST_LABELLED
    }
    found = list(regions_of(tile_puzzle(board.rows, board.columns, blank=board.blank)))
    assert {(r.top, r.left, r.rows, r.columns) for r in found} == expected
    assert len({r.name for r in found}) == len(found) == len(expected)
    for region in found:
        assert region_named(region.puzzle, region.name) == region


@pytest.mark.parametrize("metric", ["step", "multi"])
@swept(("shape", "blank", "rectangle"), SMALL, few=[*SMALL[::9], *SMALL[-9:]])
def test_cells_and_tiles(shape, blank, rectangle, metric):
    board = board_of(*shape, blank, metric)
    region = region_of(board, rectangle)
    inner = board.cells_of(rectangle)
    assert sorted(board.reading[n] for n in region.cells) == inner
    outside = [n for n, cell in enumerate(board.reading) if cell not in inner]
    assert region.outside.tolist() == outside
    assert region.tiles == len(inner) - 1
    assert region.labelled == len(outside)
    assert region.pattern.model.labelled == tuple(sorted(board.labelled(rectangle)))
    assert region.boards == factorial(len(inner)) // 2
    assert region.board.metric == metric
    # The region's own puzzle numbers its cells by its own shape, and its blank is at home.
    own = Board(*rectangle[2:], (blank[0] - rectangle[0], blank[1] - rectangle[1]))
    assert region.board.goals[0] == own.goal
    assert [board.reading[n] for n in region.cells] == [inner[cell] for cell in own.reading]


@swept(("shape", "blank", "rectangle"), [s for s in SMALL if s[0] != (3, 3)], few=8)
def test_numbers_of_patterns(shape, blank, rectangle):
    board = board_of(*shape, blank)
    region, patterns = region_of(board, rectangle), board.patterns(rectangle)
    assert region.patterns == len(patterns) == len(board.cosets(rectangle))
    assert region.bytes == len(patterns) * 8 // 60 + region.boards


@given(boards())
def test_the_best_region_has_the_smallest_tables_that_are_balanced(board):
    puzzle = tile_puzzle(board.rows, board.columns, blank=board.blank)
    regions = list(regions_of(puzzle))
    some = [r for r in regions if r.patterns >= BALANCE * r.boards] or regions
    assert best_region(puzzle).bytes == min(r.bytes for r in some)
    assert best_region(puzzle) in some


def test_every_board_has_a_region():
    """The largest ones too, from whatever cell: 2×12 has one of 16 cells, too large to be made."""
    for rows, columns in [(2, 12), (12, 2), (5, 5), (4, 6), (3, 8), (8, 3), (2, 11)]:
        for blank in blank_cells(rows, columns):
            assert best_region(tile_puzzle(rows, columns, blank=blank)).tiles <= 15


def test_an_unknown_region_is_refused():
    with pytest.raises(InputError, match=r"'4x4'.*2x2"):
        region_named(tile_puzzle(2, 4), "4x4")


# --- what is refused


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (2, 2), (1, 1)])
def test_boards_that_are_too_small_are_refused(shape):
    with pytest.raises(InputError, match=r"larger than 2×2"):
        check_puzzle(tile_puzzle(*shape))


def test_a_board_of_which_no_region_leaves_few_tiles_is_refused():
    with pytest.raises(InputError, match=r"6×6 tiles: .* at most 9 outside it"):
        check_puzzle(tile_puzzle(6, 6))


def test_other_kinds_of_puzzles_are_refused():
    with pytest.raises(InputError, match="tile puzzle"):
        check_puzzle(pattern_puzzle(2, 4, k=1))


@pytest.mark.parametrize(
    "more",
    [{"goal": [[1, 0, 2], [3, 5, 4]]}, {"goals": [[[0, 1, 2], [3, 4, 5]], [[1, 2, 0], [3, 4, 5]]]},
     {"goal": [[0, "?", 2], [3, "?", "?"]]}],
)  # fmt: skip
def test_other_goals_are_refused(more):
    with pytest.raises(InputError, match=r"puzzle\.blank instead of puzzle\.goal"):
        check_puzzle(tile_puzzle(2, 3, **more))


@pytest.mark.parametrize("metric", ["step", "multi"])
@swept("shape", [s for s in SHAPES if s[0] * s[1] <= 16], few=[(2, 3), (3, 2), (4, 4)])
def test_every_blank_cell_is_good(shape, metric):
    for blank in blank_cells(*shape):
        puzzle = tile_puzzle(*shape, blank=blank, metric=metric)
        assert check_puzzle(puzzle) is puzzle
        assert list(regions_of(puzzle))
    goal = [list(row) for row in ((1, 2, 3), (4, 0, 5))]
    assert check_puzzle(tile_puzzle(2, 3, goal=goal)).goals[0] == (1, 2, 3, 4, 0, 5)
