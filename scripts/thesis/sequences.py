"""Shortest move sequences of the pattern of one column: their number, and the thesis's sequence."""

from dataclasses import dataclass

import numpy as np

from frontier.kernels.lists import ShiftLists
from frontier.puzzles import Board, pattern_puzzle
from frontier.solving.oracle import paths_back
from frontier.space.graph import Space

PARTS = {"B": "RRDLLU", "C": "RRRDLLU", "D": "RRDRULDLURDRU"}


@dataclass(frozen=True)
class FarthestOfColumn:
    """The farthest positions of the one-column pattern of 2×n.

    depth: f(n). positions: the positions at this depth. sequences: the number of shortest move
    sequences from them to the goal.
    """

    depth: int
    positions: list[Board]
    sequences: int


def farthest_of_one_column(columns: int) -> FarthestOfColumn:
    """Search all layers in memory, then count the paths back, layer by layer."""
    puzzle = pattern_puzzle(2, columns, k=1)
    space = puzzle.model.space
    assert isinstance(space, Space)  # labelled tiles differ
    lists = ShiftLists(space)
    layers = list(lists.layers(puzzle.model.origins()))
    depth, last = len(layers) - 1, layers[-1]
    boards = puzzle.model.boards_of(*space.states_of(space.side_of(depth), last))
    total = last.size
    for _, _, path_counts in paths_back(
        lists, depth, last, lambda t, near: np.isin(near, layers[t])
    ):
        total = int(path_counts.sum())
    return FarthestOfColumn(depth, list(map(tuple, boards.tolist())), total)


def thesis_sequence(columns: int) -> str:
    """Return A B C^(n-4) D E of section 4.2 of the thesis, for n ≥ 4, as steps of the blank."""
    first = "D" + "L" * (columns - 1) + "U"
    middle = PARTS["B"] + PARTS["C"] * (columns - 4) + PARTS["D"]
    return first + middle + "L" * (columns - 1)


def replayed(columns: int, board: Board, sequence: str) -> Board:
    """Return the board after these steps of the blank of a 2×n board.

    Raises ValueError if a step leaves the board.
    """
    cells = list(board)
    row, column = divmod(cells.index(0), columns)
    for step in sequence:
        to = row + (step == "D") - (step == "U"), column + (step == "R") - (step == "L")
        if not (0 <= to[0] < 2 and 0 <= to[1] < columns):
            raise ValueError(f"step {step} leaves the board of {columns} columns")
        source, target = row * columns + column, to[0] * columns + to[1]
        cells[source], cells[target] = cells[target], cells[source]
        row, column = to
    return tuple(cells)
