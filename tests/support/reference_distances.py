"""Tiles, or a pattern of them, without the package: boards, distances, and the array of these."""

from functools import cache, cached_property
from itertools import combinations
from math import comb, factorial

import numpy as np

from tests.support.reference_search import blank_moves, digits, layers_of, sign

X = -1
"""Any tile that is not labelled."""


class Twin:
    """Tiles, or a pattern of them, without the package; boards are flat, unlabelled tiles X.

    table: the [puzzle] table of a config.
    """

    def __init__(self, rows, columns, metric="step", k=None, labels=None, goal=None, blank=None):
        self.rows, self.columns, self.metric = rows, columns, metric
        self.cells = cells = rows * columns
        home = [*range(1, cells)]
        home.insert(0 if blank is None else blank[0] * columns + blank[1], 0)
        home = home if goal is None else goal
        self.pattern = k is not None or labels is not None
        if k is not None:
            labels = [tile for i, tile in enumerate(home) if i % columns >= columns - k and tile]
        self.labels = set(labels or home) - {0}
        self.goal = self.masked(home)
        more = {"k": k, "labels": labels if k is None else None, "blank": blank}
        if goal is not None:
            more["goal"] = [goal[i : i + columns] for i in range(0, cells, columns)]
        self.table = {
            "kind": "pattern" if self.pattern else "tiles",
            "rows": rows,
            "columns": columns,
            "metric": metric,
            **{key: value for key, value in more.items() if value is not None},
        }

    def masked(self, board):
        return tuple(tile if tile == 0 or tile in self.labels else X for tile in board)

    def moves(self, board):
        return blank_moves(self.rows, self.columns, board)

    @cached_property
    def depths(self) -> dict:
        """The distance of every board that can be reached."""
        if self.metric == "step":
            layers = layers_of([self.goal], self.moves)
            return {board: depth for depth, layer in enumerate(layers) for board in layer}
        region = cache(self.region)
        layers = layers_of(
            [region(self.goal)],
            lambda here: {
                region(after)
                for board in here
                for after in self.moves(board)
                if after[board.index(0)] != X
            },
        )
        return {
            board: depth for depth, layer in enumerate(layers) for here in layer for board in here
        }

    def region(self, board) -> frozenset:
        """The boards that moves of unlabelled tiles lead to."""

        def free(here):
            return [after for after in self.moves(here) if after[here.index(0)] == X]

        return frozenset().union(*layers_of([board], free))

    def full(self, board, rng) -> tuple:
        """The board with its unlabelled tiles numbered in any order."""
        rest = sorted(set(range(1, self.cells)) - self.labels)
        rng.shuffle(rest)
        return tuple(rest.pop() if tile == X else tile for tile in board)

    # --- the array, read by its documented index alone

    def in_line(self, board) -> list:
        """What stands in the cells, read along the shorter side."""
        if self.rows > self.columns:
            return list(board)
        return [board[r * self.columns + c] for c in range(self.columns) for r in range(self.rows)]

    def place(self, board) -> int:
        """rank * cells + position, the blank being left out for the rank."""
        line = self.in_line(board)
        tiles = [tile for tile in line if tile != 0]
        labelled = [place for place, tile in enumerate(tiles) if tile != X]
        rank = sum(comb(place, i) for i, place in enumerate(labelled, start=1))
        return rank * self.cells + line.index(0)

    @cached_property
    def vertices(self) -> dict:
        """The vertex of each `place`: itself, but where unlabelled moves are free."""
        if self.metric == "step":
            count = comb(self.cells - 1, len(self.labels)) * self.cells
            return {place: place for place in range(count)}
        least = {}
        for cells in combinations(range(self.cells), len(self.labels) + 1):
            for blank in cells:
                board = [1 if cell in cells else X for cell in range(self.cells)]
                board[blank] = 0
                places = [self.place(other) for other in self.region(tuple(board))]
                least[self.place(board)] = min(places)
        number = {place: n for n, place in enumerate(sorted(set(least.values())))}
        return {place: number[first] for place, first in least.items()}

    @cached_property
    def order(self) -> dict:
        """The number of each labelled tile: their order in the goal."""
        return {tile: n for n, tile in enumerate(t for t in self.in_line(self.goal) if t > 0)}

    def index(self, board) -> tuple[int, int]:
        """(row, column) of a board."""
        sequence = [self.order[tile] for tile in self.in_line(board) if tile > 0]
        column = 0
        for i, digit in enumerate(digits(sequence)[:-2]):
            column = column * (len(sequence) - i) + digit
        return 2 * self.vertices[self.place(board)] + sign(sequence), column

    def array(self, dtype) -> np.ndarray:
        """What the exported array is to be."""
        count, half = len(set(self.vertices.values())), max(1, factorial(len(self.labels)) // 2)
        values = np.full((2 * count, half), np.iinfo(dtype).max, dtype=dtype)
        for board, depth in self.depths.items():
            values[self.index(board)] = depth
        return values
