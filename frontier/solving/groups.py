"""How the tiles of a puzzle are split into groups, each with a pattern database.

If a move slides one tile, no tile is in two groups, because the bound is the sum of the distances
in the groups (`frontier.solving.additive`). If it slides several, the bound is the greatest
distance (`frontier.solving.lines`); all groups have the same size, and may overlap.

The shape of a group matters more than its size: tiles whose homes are close get in each other's
way. `compact_groups` exchanges tiles between groups as long as this lowers the sum of the squared
distances of homes in the same group. So it finds the groups of R. E. Korf and A. Felner for the 15-
and the 24-puzzle (Disjoint Pattern Database Heuristics, Artificial Intelligence 134, 2002).
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import ceil, comb

import numpy as np

from frontier.errors import InputError
from frontier.puzzles import GridPuzzle
from frontier.space.lehmer import LehmerCode
from frontier.space.words import WORD_BYTES
from frontier.text import size_to_set

MOST_LABELLED = 9
"""The most labelled tiles of a pattern: a table lists all their orders."""

MOST_OF_LINES = 8
"""The most tiles of a group if a move slides several tiles: on a board of 16 cells a database of
nine tiles takes more than 2 GB for each of the two lines of the goal."""

STARTS = 100
"""The number of random groups from which `compact_groups` starts."""

SAMPLE = 1000
"""The size of an additive database is estimated from this many random sets of cells."""

VERTEX_BYTES = 4
"""The bytes of the table of vertices for each set of cells and cell of the blank."""

BASE_BYTES = 400
"""The approximate bytes of the base graph of a group for each set of cells and cell of the
blank."""


def equal_sizes(puzzle: GridPuzzle) -> list[tuple[int, ...]]:
    """Return the sizes of groups of almost equal sizes, for each possible number of groups, the
    fewest groups first."""
    tiles, adds = puzzle.cells - 1, puzzle.metric == "step"
    found = []
    for count in range(1, tiles + 1):
        small, larger = divmod(tiles, count)
        sizes = (small + 1,) * larger + (small,) * (count - larger)
        if sizes[0] <= (MOST_LABELLED if adds else MOST_OF_LINES):
            found.append(sizes if adds else sizes[:1] * count)
    return found


def group_sizes(puzzle: GridPuzzle, room: int) -> tuple[int, ...]:
    """Return the number of tiles of each group, for the fewest groups of almost equal sizes whose
    databases fit in memory.

    room: the bytes of memory. Raises InputError if no databases fit.
    """
    for sizes in equal_sizes(puzzle):
        if group_bytes(puzzle, sizes) <= room:
            return sizes
    raise no_room(puzzle, room)


def no_room(puzzle: GridPuzzle, room: int) -> InputError:
    """Return the error of a puzzle for which no databases fit in `room` bytes of memory."""
    least = size_to_set(group_bytes(puzzle, equal_sizes(puzzle)[-1]))
    return InputError(
        f"{puzzle.title}: no database of a group of tiles fits in {room:,} bytes of memory; allow "
        f"at least {least}"
    )


def group_bytes(puzzle: GridPuzzle, sizes: tuple[int, ...]) -> int:
    """Return the bytes of memory needed to make the databases of groups of these sizes."""
    tables = [_table_bytes(puzzle, size) for size in sizes]
    return (
        sum(tables) * (1 if puzzle.metric == "step" else 2)
        + max(tables)
        + sum(BASE_BYTES * puzzle.cells * comb(puzzle.cells - 1, size) for size in sizes)
    )


def held_bytes(puzzle: GridPuzzle, sizes: tuple[int, ...]) -> int:
    """Return the bytes of memory that the databases of groups of these sizes take once they are
    made."""
    tables = sum(_table_bytes(puzzle, size) for size in sizes)
    vertices = (VERTEX_BYTES * puzzle.cells * comb(puzzle.cells, size) for size in set(sizes))
    return tables * (1 if puzzle.metric == "step" else 2) + sum(vertices)


def making_bytes(puzzle: GridPuzzle, sizes: tuple[int, ...]) -> int:
    """Return the most bytes of memory in use while the databases are made one after the other."""
    return max(group_bytes(puzzle, (size,)) for size in set(sizes))


def _table_bytes(puzzle: GridPuzzle, size: int) -> int:
    """Return the bytes of a table of a group of `size` tiles."""
    grid = puzzle.grid
    if puzzle.metric == "step":
        vertices = _regions(grid.rows, grid.columns, size)
    else:  # lines of patterns: see `frontier.solving.lines`
        vertices = comb(puzzle.cells - 1, size) * (grid.rows + grid.columns)
    return vertices * 2 * LehmerCode(size).words * WORD_BYTES


@cache
def _regions(rows: int, columns: int, size: int) -> int:
    """Estimate from a sample how many placements `size` tiles and the blank have. Moves of the
    blank among the other tiles do not change a placement."""
    random = np.random.default_rng(size)
    shape, cells = (rows, columns), rows * columns
    places = np.stack([random.permutation(cells) for _ in range(SAMPLE)])
    free, number = np.ones((SAMPLE, *shape), dtype=bool), np.arange(cells).reshape(shape)
    np.put_along_axis(free.reshape(SAMPLE, -1), places[:, :size], False, axis=1)
    # Each free cell takes the least number of itself and the free cells beside it until no number
    # changes. Then exactly one cell in each region still has its own number. Loading the kernel
    # that finds the regions of a whole graph (`frontier.puzzles.pattern_graph`) would take longer.
    before, least = np.empty(0), np.where(free, number, cells)
    while not np.array_equal(before, least):
        before = least
        near = np.pad(least, ((0, 0), (1, 1), (1, 1)), constant_values=cells)
        beside = np.minimum(near[:, :-2, 1:-1], near[:, 2:, 1:-1])
        above = np.minimum(near[:, 1:-1, :-2], near[:, 1:-1, 2:])
        least = np.where(free, np.minimum(least, np.minimum(beside, above)), cells)
    regions = int((least == number).sum())
    return ceil(comb(cells, size) * regions / SAMPLE)


def runs_of_tiles(puzzle: GridPuzzle, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return groups of these sizes, int64[size] each: runs of tiles in the order of their homes.
    If the sizes add up to more than all tiles, neighbouring groups overlap."""
    blank = puzzle.blank_cell
    tiles = np.delete(np.arange(puzzle.cells), blank)
    starts = np.cumsum([0, *sizes[:-1]])
    shared = np.linspace(0, sum(sizes) - tiles.size, len(sizes)).astype(np.int64)
    starts = np.maximum(0, starts - shared)
    return [tiles[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def compact_groups(puzzle: GridPuzzle, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return compact groups of these sizes, int64[size] each; together they hold all tiles."""
    tiles = np.concatenate(runs_of_tiles(puzzle, sizes))
    group = _compact(tuple(tiles.tolist()), puzzle.grid.line_length, tuple(sizes))
    return [tiles[np.array(group) == g] for g in range(len(sizes))]


@lru_cache
def _compact(tiles: tuple[int, ...], side: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of the group of each tile in `compact_groups`."""
    row, column = np.divmod(np.array(tiles), side)
    apart = (abs(row[:, None] - row) + abs(column[:, None] - column)) ** 2
    random, first = np.random.default_rng(1), np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for start in (first, *(random.permutation(first) for _ in range(STARTS))):
        group = start
        while True:
            # The sum of the distances of each tile to each group, and what each exchange adds.
            to_group = apart @ (group[:, None] == np.arange(len(sizes)))
            there = to_group[:, group]
            here = there.diagonal()
            added = there + there.T - here[:, None] - here - 2 * apart
            added[group[:, None] == group] = 0
            a, b = np.unravel_index(added.argmin(), added.shape)
            if added[a, b] >= 0:
                break
            group = group.copy()
            group[[a, b]] = group[[b, a]]
        found.append((int(here.sum()), tuple(group.tolist())))
    return min(found)[1]
