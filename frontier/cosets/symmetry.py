"""Symmetries of a coset search: of cosets that are mirror images of each other one is searched.

A symmetry is a reflection or a rotation of the board that leaves the blank's home and the region
where they are. It takes a position x to the position whose tile in cell s(c) is the one at home in
s(h), where that of x in cell c is at home in h. The goal stays the goal and moves go to moves, so
both positions are equally far; and as labelled tiles go to labelled tiles, cosets go to cosets. The
2×n boards with the blank in a corner have no symmetry, n×n boards with the blank on the diagonal
have the reflection in it.
"""

import numpy as np

from frontier.cosets.regions import Region


def symmetries(region: Region) -> np.ndarray:
    """Return the symmetries other than the identity: int64[S, cells], the image of each cell.

    Cells are numbered in the board's reading order.
    """
    puzzle = region.puzzle
    grid = np.argsort(puzzle.grid.reading).reshape(puzzle.grid.rows, puzzle.grid.columns)
    home, inside = grid.flat[puzzle.goals[0].index(0)], np.isin(grid, region.cells)
    found = {}
    for image in (grid, grid.T) if puzzle.grid.rows == puzzle.grid.columns else (grid,):
        for other in (image, image[::-1], image[:, ::-1], image[::-1, ::-1]):
            cells = np.empty(grid.size, dtype=np.int64)
            cells[grid.ravel()] = other.ravel()
            keeps_region = np.array_equal(inside, np.isin(other, region.cells))
            if keeps_region and cells[home] == home:
                found[tuple(cells.tolist())] = cells
    found.pop(tuple(range(grid.size)))
    return np.array(list(found.values()), dtype=np.int64).reshape(-1, grid.size)


def mirrored(boards: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the images of boards under a symmetry.

    boards: int8[N, cells], the home of the tile in each cell; what is negative, such as the blank,
    has no home and stays what it is. cells: int64[cells], as `symmetries` gives them.
    """
    image = np.empty_like(boards)
    image[:, cells] = np.where(boards < 0, boards, cells[boards])
    return image
