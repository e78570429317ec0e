"""Symmetries of coset searches: which there are, and that mirror images are equally far."""

import numpy as np
import pytest

from frontier.cosets.regions import region_named
from frontier.puzzles import tile_puzzle
from frontier.solving.symmetry import board_symmetries, mirrored, symmetries
from tests.support.reference_cosets import board_of


@pytest.mark.parametrize(
    ("shape", "blank", "region", "count"),
    [
        ((2, 4), (0, 0), "2x2", 0),
        ((3, 3), (0, 0), "2x2", 1),
        ((3, 3), (0, 0), "2x3", 0),  # the reflection moves the region
        ((3, 3), (0, 1), "2x3", 1),
        ((3, 3), (1, 0), "3x2", 1),
        ((3, 3), (1, 1), "2x2", 1),
        ((4, 4), (0, 0), "3x3", 1),
        ((4, 4), (1, 1), "3x3", 1),
        ((4, 4), (1, 1), "3x3+1+1", 1),
        ((3, 5), (1, 2), "3x3+0+1", 3),
        ((3, 6), (0, 0), "3x4", 0),
    ],
)
def test_how_many_there_are(shape, blank, region, count):
    assert len(of_region(tile_puzzle(*shape, blank=blank), region)) == count


def home_of(puzzle):
    return puzzle.grid.reading.tolist().index(puzzle.goals[0].index(0))


def of_region(puzzle, name):
    return symmetries(puzzle.grid, home_of(puzzle), region_named(puzzle, name).cells)


def test_a_board_has_those_that_move_a_region_too():
    for shape, blank, count in (
        ((3, 3), (0, 0), 1), ((3, 3), (1, 1), 7), ((3, 5), (1, 2), 3), ((2, 4), (0, 1), 0)
    ):  # fmt: skip
        puzzle = tile_puzzle(*shape, blank=blank)
        assert len(symmetries(puzzle.grid, home_of(puzzle))) == count


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 3), (2, 5), (4, 4)])
def test_symmetries_of_a_board_keep_cells_beside_each_other(shape):
    """All of them, the identity too, wherever the blank is at home."""
    grid = tile_puzzle(*shape).grid
    images = board_symmetries(grid)
    assert len({tuple(image) for image in images.tolist()}) == (8 if shape[0] == shape[1] else 4)
    squares = [divmod(int(square), grid.columns) for square in grid.reading]

    def apart(a, b):
        return sum(abs(x - y) for x, y in zip(squares[a], squares[b], strict=True))

    for image in images.tolist():
        for a in range(grid.cells):
            assert all(apart(a, b) == apart(image[a], image[b]) for b in range(grid.cells))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("shape", "blank", "region"),
    [((3, 3), (0, 0), "2x2"), ((3, 3), (0, 1), "2x3"), ((3, 3), (2, 2), "2x2+1+1")],
)
def test_mirror_images_are_equally_far(shape, blank, region):
    """And are positions: every image of one is in the dictionary, and no two have the same."""
    puzzle, board = tile_puzzle(*shape, blank=blank), board_of(*shape, blank)
    (cells,) = of_region(puzzle, region)
    goal = np.array(puzzle.goals[0])
    codes = np.array(list(board.distances))
    homes = np.argsort(goal)[codes][:, puzzle.grid.reading]  # as cells, row by row
    homes = np.where(
        codes[:, puzzle.grid.reading] == 0,
        -2,
        np.argsort(puzzle.grid.reading)[homes],
    )
    images = mirrored(homes.astype(np.int8), cells)
    back = np.where(images < 0, np.argsort(puzzle.grid.reading)[goal.argmin()], images)
    tiles = np.empty_like(codes)
    tiles[:, puzzle.grid.reading] = goal[puzzle.grid.reading][back]
    distances = [board.distances[tuple(row)] for row in tiles.tolist()]
    assert distances == list(board.distances.values())
    assert len({tuple(row) for row in tiles.tolist()}) == len(codes)
