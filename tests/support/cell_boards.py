"""Cells and directions to make puzzles of one's own."""

HEXAGON = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if abs(x + y) <= 1]
"""Seven cells, in coordinates along two of their three directions."""
HEXAGON_MOVES = {"→/←": (1, 0), "↘/↖": (0, 1), "↙/↗": (-1, 1)}
TRAPEZE = [(0, 0), (1, 0), (2, 0), (3, 0), (-1, 1), (0, 1), (1, 1), (2, 1), (-1, 2), (0, 2), (1, 2)]
BOX = [(x, y) for y in range(2) for x in range(3)]
SQUARE = {"right/left": (1, 0), "down/up": (0, 1)}
THETA = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "e"), ("e", "c"), ("e", "f")]
