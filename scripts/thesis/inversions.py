"""A lower bound on God's number of the 2×n puzzle: 2n² - n, from inversions and rows.

B. Whitmore gave this bound in 2021 (OEIS A151943) without a proof; here is one.

The goal has the blank in the top left cell. Number the tiles 1, ..., 2n-1 in the order of the goal,
read column by column, each column from the top. The sequence of a position is its tiles, read in
the same way without the blank. Let I be the number of inversions of the sequence (pairs of tiles in
the wrong order), and R the number of tiles that are not in their goal row.

**Theorem.** A position needs at least I + R moves.

Proof. A move within a column changes one tile's row and leaves the sequence unchanged, because the
tile and the blank are adjacent in reading order. A move within a row leaves all rows unchanged. In
reading order, one cell is between the tile's old and new cells, so the tile passes one other tile:
two neighbours of the sequence change places, and I changes by one. So every move changes either I
by one or R by one, never both. In the goal both are 0.  ∎

**Corollary.** For every n ≥ 1, the goal turned by half a turn needs at least 2n² - n moves.

Proof. Number the cells 0, ..., 2n-1 in reading order. Half a turn brings the tile of cell q to
cell 2n-1-q. So the blank is in the last cell, the sequence is reversed, and all its (2n-1)(n-1)
pairs are inversions. Cells q and 2n-1-q lie in different rows, because one of these numbers is even
and the other odd, so R is 2n-1. The sum is (2n-1)(n-1) + (2n-1) = (2n-1) n.

This position is reachable: because the blank crosses n-1 columns on its way to the last one, the
sequence must have the parity of n-1 (for n ≥ 2 this is sufficient), and (2n-1)(n-1) has this
parity. For n = 1 one move leads to the position.  ∎

No position has a greater I + R, because I is at most the number of pairs and R at most 2n-1.
"""


def inversion_formula(columns: int) -> int:
    """Return 2n² - n, a lower bound on God's number of the 2×n puzzle, n ≥ 1."""
    return 2 * columns**2 - columns
