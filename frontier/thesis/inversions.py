"""A lower bound of God's number of the 2×n puzzle: 2n² - n, from inversions and rows.

B. Whitmore gave this bound in 2021 (OEIS A151943), without a proof. Here is one.

The goal has the blank in the top left cell, and the tiles are 1, ..., 2n-1 in the order in which
the goal shows them when it is read column by column, each column from the top. Read a position
the same way and leave out the blank: that is its sequence. Let I be the number of inversions of
the sequence (pairs of tiles in the wrong order), and R the number of tiles that are not in their
row of the goal.

**Theorem.** A position needs at least I + R moves.

Proof. A move within a column changes one tile's row and leaves the sequence as it is: the tile and
the blank stand next to each other in it. A move within a row leaves all rows as they are, and
between the cell that the tile leaves and the one that it comes to the reading meets one cell, so
the tile passes one other tile: two neighbours of the sequence change places, and I changes by one.
So every move changes either I by one or R by one, never both. In the goal both are 0.  ∎

**Corollary.** For every n ≥ 1 some position needs at least 2n² - n moves: the goal turned by half
a turn.

Proof. Number the cells 0, ..., 2n-1 as they are read. Half a turn brings the tile of cell q to
cell 2n-1-q. So the blank is in the last cell, the sequence is reversed, and all its (2n-1)(n-1)
pairs are inversions. Cells q and 2n-1-q lie in different rows, as one of them is even and one odd,
so R is 2n-1. Together that is (2n-1)(n-1) + (2n-1) = (2n-1) n.

This position can be reached: as the blank crosses n-1 columns on its way to the last one, the
sequence must have the parity of n-1 (for n ≥ 2 that is enough), and (2n-1)(n-1) has it. For n = 1
one move leads there.  ∎

A position has no more inversions than pairs and no more than 2n-1 tiles, so I + R cannot be
greater.
"""


def inversion_formula(columns: int) -> int:
    """Return 2n² - n, a lower bound of God's number of the 2×n puzzle, n ≥ 1."""
    return 2 * columns**2 - columns
