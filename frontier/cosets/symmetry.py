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

from frontier.puzzles import GridPuzzle


def symmetries(puzzle: GridPuzzle, region: np.ndarray | None = None) -> np.ndarray:
    """Return the symmetries other than the identity: int64[S, cells], the image of each cell.

    Cells are numbered in the board's reading order. region: int64, the cells of a region that the
    symmetries preserve; by default the whole board.
    """
    grid = np.argsort(puzzle.grid.reading).reshape(puzzle.grid.rows, puzzle.grid.columns)
    home, region = grid.flat[puzzle.goals[0].index(0)], grid if region is None else region
    by_cells = {}
    for image in (grid, grid.T) if puzzle.grid.rows == puzzle.grid.columns else (grid,):
        for reflected in (image, image[::-1], image[:, ::-1], image[::-1, ::-1]):
            cells = np.empty(grid.size, dtype=np.int64)
            cells[grid.ravel()] = reflected.ravel()
            if np.isin(cells[region], region).all() and cells[home] == home:
                by_cells[tuple(cells.tolist())] = cells
    by_cells.pop(tuple(range(grid.size)))
    return np.array(list(by_cells.values()), dtype=np.int64).reshape(-1, grid.size)


def mirrored(boards: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the images of boards under a symmetry.

    boards: int8[N, cells], the home of the tile in each cell; negative entries, such as the blank,
    have no home and stay. cells: int64[cells], a row of `symmetries`.
    """
    image = np.empty_like(boards)
    image[:, cells] = np.where(boards < 0, boards, cells[boards])
    return image
