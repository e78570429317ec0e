"""The greatest Manhattan distance of the 2×n puzzle, and how many states attain it.

A state s puts the tiles 1 to 2n-1 and the blank 0 into the cells 0 to 2n-1. Cell rn+c is in row r
and column c, and the home of tile t is cell t. Let d(i, j) be the number of steps between cells i
and j. The Manhattan distance of a state is MD(s) = Σ d(t, cell of t) over the tiles, without the
blank. It is a lower bound on the number of moves from s to the goal. A move shifts the blank by one
step and changes the sign of the permutation, so a state is solvable only if its sign is
(-1)^d(0, cell of 0). For n ≥ 2 half of the (2n)! states have this sign, and all of these are
solvable; for n = 1 both states are.

**All states: a permanent.** Let A be the matrix of tiles by cells with A[t, j] = x^d(t, j), and
with 1 throughout the blank's row. The product of A[t, cell of t] is x^MD(s), so the permanent of A
is Σ x^MD(s) over all states: its coefficients count the states by their distance.

**Solvable states: a determinant.** Let B be A with (-1)^d(0, j) in the blank's row. A term of its
determinant is +x^MD(s) for a state of the solvable parity and -x^MD(s) for any other state, so
(per A + det B) / 2 counts the solvable states. The determinant has a closed form. The matrix of all
x^d(i, j) is the Kronecker product of R_2 and R_n, where R_n has the entries x^|a-b|. It is known
that det R_n = (1-x²)^(n-1), so det(R_2 ⊗ R_n) = (det R_2)^n (det R_n)² = (1-x²)^(3n-2). Replacing
row 0 by another row v multiplies a determinant by v·u, where u is column 0 of the inverse. Here
v = (1, -1) ⊗ (1, -1, 1, ...), and column 0 of the inverse of R_n, for n ≥ 2, is
(1, -x, 0, ...) / (1-x²). So each direction of the board that has more than one cell contributes a
factor 1/(1-x):

    det B = (1-x²)^(3n-2) / (1-x)²  for n ≥ 2,  and  (1-x²) / (1-x) = 1 + x  for n = 1.

**The permanent by a sweep.** Let the tiles and cells arrive column by column: the tiles whose home
is in the column, then its cells. An arriving tile either waits or is matched with a waiting cell,
and an arriving cell either waits or is matched with a waiting tile. So each pair of a state is made
exactly once, when its second member arrives. Which pairs are still possible depends only on how
many of each kind wait: tiles of either row, cells of either row, and the blank. A pair has a factor
x if its rows differ, and a tile has a factor x for each boundary of columns that it crosses. The
tiles that cross a boundary to the right wait there; tiles that cross it to the left are matched
later with the cells that wait there. The blank has no factor. Its home is in column 0, so it never
crosses a boundary to the left, and no waiting cell is its own. There are O(n³) combinations of
numbers waiting, and 4n arrivals.

**Polynomials as numbers.** No coefficient that counts states exceeds (2n)!. At x = 2^k > (2n)! a
polynomial is one integer, and its coefficients are the integer's digits to the base x.

**Proof of the formula.** Let m = ⌊n/2⌋. A tile with home in column a and cell in column b moves
|a-b| ≤ |a-m| + |b-m|, with equality if and only if a and b are not strictly on the same side of m.
Over all columns, both rows, homes and cells, the right side sums to 4⌊n²/4⌋. Without the blank,
whose home is in column 0 and whose cell is (r, c), it sums to 4⌊n²/4⌋ - m - |c-m|. At most all 2n-1
tiles change rows, and not all of them if r = 0, because then n tiles have their homes in row 1 but
only n-1 cells of row 0 are free for them. So MD(s) ≤ 4⌊n²/4⌋ - m + 2n-1 = n² + ⌊3n/2⌋ - 1, for
every n ≥ 1. Equality means that the blank is in (1, m), all tiles change rows, and none stays
strictly left or strictly right of column m. Count these states by hand. If n is odd, the m right
tiles of row 0 fill the m left cells of row 1, and the left and middle tiles fill the right cells,
in m!² ways. The tiles of row 1 fill row 0 in m!² ways with the middle tile in the middle, in m·m!²
ways with it on the left, and in m·m!² ways with it on the right. If n is even, there are m columns
on the left and m-1 on the right. In the same way, there are (m-1)! m! ways to fill row 1 and m!² to
fill row 0. The total is

    n · m!⁴  for n odd,  (2/n) · m!⁴  for n even.

For n ≥ 4 there are two left tiles in row 1. Exchanging them changes only the parity, so half of the
states are solvable. For n = 1, 2, 3 there are 1, 1 and 3 states. The degree of det B is exactly the
greatest distance, and its leading coefficients are 1, 1 and -1, so one of the states is solvable.
"""

from collections import defaultdict
from math import factorial

KINDS = TOP_TILE, BOTTOM_TILE, TOP_CELL, BOTTOM_CELL, BLANK = range(5)
ARRIVALS = (TOP_TILE, BOTTOM_TILE, TOP_CELL, BOTTOM_CELL)

ROWS_APART = {
    TOP_TILE: {TOP_CELL: 0, BOTTOM_CELL: 1},
    BOTTOM_TILE: {TOP_CELL: 1, BOTTOM_CELL: 0},
    TOP_CELL: {TOP_TILE: 0, BOTTOM_TILE: 1, BLANK: 0},
    BOTTOM_CELL: {TOP_TILE: 1, BOTTOM_TILE: 0, BLANK: 0},
}
"""For each kind of tile or cell that arrives, the waiting kinds that it can be matched with, and
the vertical steps between the two."""

Waiting = tuple[int, ...]
"""The number of waiting tiles or cells of each kind."""


def manhattan_counts(columns: int) -> list[int]:
    """Return the numbers of solvable states at each Manhattan distance from 0 to the greatest.

    Table 3.1 of the thesis has greatest distances, and its section 3.3 the numbers of states there.
    """
    bits = factorial(2 * columns).bit_length()
    x = 1 << bits
    packed = (_permanent(columns, x) + _determinant(columns, x)) // 2
    return [packed >> at & (x - 1) for at in range(0, packed.bit_length(), bits)]


def manhattan_formula(columns: int) -> int:
    """Return the greatest Manhattan distance in steps, from a formula for every n ≥ 1."""
    return columns**2 + 3 * columns // 2 - 1


def _determinant(columns: int, x: int) -> int:
    """Return Σ ±x^MD over all states, + for those with the solvable parity."""
    directions = min(columns, 2)
    return (1 - x * x) ** (3 * columns - 2) // (1 - x) ** directions


def _permanent(columns: int, x: int) -> int:
    """Return Σ x^MD over all states."""
    sums = {_changed((0,) * len(KINDS), BLANK, 1): 1}
    for column in range(columns):
        # The blank waits from the beginning, in place of the top tile of the first column.
        for kind in ARRIVALS if column else ARRIVALS[1:]:
            sums = _after(sums, kind, x)
        sums = {waiting: x ** _crossings(waiting) * total for waiting, total in sums.items()}
    return sums[(0,) * len(KINDS)]


def _after(sums: dict[Waiting, int], kind: int, x: int) -> dict[Waiting, int]:
    """Return the sums, by the numbers waiting, after another tile or cell of a kind arrives."""
    after: defaultdict[Waiting, int] = defaultdict(int)
    for waiting, total in sums.items():
        after[_changed(waiting, kind, 1)] += total
        for partner, steps in ROWS_APART[kind].items():
            if waiting[partner]:
                after[_changed(waiting, partner, -1)] += waiting[partner] * x**steps * total
    return dict(after)


def _crossings(waiting: Waiting) -> int:
    """Return how many tiles cross the boundary of columns where these tiles and cells wait."""
    return sum(waiting) - waiting[BLANK]


def _changed(waiting: Waiting, kind: int, by: int) -> Waiting:
    return (*waiting[:kind], waiting[kind] + by, *waiting[kind + 1 :])
