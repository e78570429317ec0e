"""Symmetries of a board, which preserve the distances of positions.

A symmetry s is a reflection or a rotation of the board that fixes the blank's home. It takes a
position x to a mirror image: if the tile in cell c of x has its home in h, the tile in cell s(c) of
the image has its home in s(h). The goal is its own image, and moves are mapped to moves, so both
positions have the same distance, and a lower bound for one is a lower bound for the other. A
symmetry that preserves the region takes labelled tiles to labelled tiles and cosets to cosets. Of
cosets that are mirror images of each other, only one is searched.

The 2×n boards with the blank in a corner have no symmetry; n×n boards with the blank on the
diagonal have one, the reflection in it.
"""

import numpy as np

from frontier.puzzles.grid import Grid


def board_symmetries(grid: Grid) -> np.ndarray:
    """Return all symmetries of a board, int64[4 or 8, cells]: the image of each cell."""
    cells = np.argsort(grid.reading).reshape(grid.rows, grid.columns)
    found = set()
    for image in (cells, cells.T) if grid.rows == grid.columns else (cells,):
        for reflected in (image, image[::-1], image[:, ::-1], image[::-1, ::-1]):
            found.add(tuple(reflected.ravel()[np.argsort(cells.ravel())].tolist()))
    return np.array(sorted(found), dtype=np.int64)


def symmetries(grid: Grid, home: int, region: np.ndarray | None = None) -> np.ndarray:
    """Return the symmetries other than the identity: int64[S, cells], the image of each cell.

    Cells are numbered in the board's reading order. home: the blank's home. region: int64, the
    cells of a region that the symmetries preserve; by default the whole board.
    """
    region = np.arange(grid.cells) if region is None else region
    return np.array([
        image
        for image in board_symmetries(grid)
        if image[home] == home
        and np.isin(image[region], region).all()
        and (image != np.arange(grid.cells)).any()
    ], dtype=np.int64).reshape(-1, grid.cells)  # fmt: skip


def mirrored(boards: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the images of boards under a symmetry.

    boards: int8[N, cells], the home of the tile in each cell; negative entries, such as the blank,
    have no home and stay. cells: int64[cells], a row of `symmetries`.
    """
    image = np.empty_like(boards)
    image[:, cells] = np.where(boards < 0, boards, cells[boards])
    return image
