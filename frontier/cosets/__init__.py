"""God's numbers of tile puzzles, coset by coset, beyond what can be enumerated.

A *region* of the board holds the blank's home; the tiles whose homes lie outside are *labelled*. A
*pattern* is the cells of the labelled tiles and of the blank, and its *coset* is all positions that
have it. A *solution* of a pattern is a sequence of moves that brings the labelled tiles home and
the blank into the region. dB is the length of the shortest one, and D the distance of a board of
the region by moves inside it.

**Theorem.** A solution s brings each position x of its coset to a board x·s of the region, and
d(x) <= |s| + D(x·s).

*Proof.* The blank's cell alone decides which moves are possible, so s can be made from each
position of the coset, and always takes the labelled tiles home. It leaves the region's tiles in
the region, in an even permutation of any order that moves inside the region reach with the blank
in the same cell, as both are reached from the goal. Moves inside a rectangle reach all even
permutations (W. W. Johnson and W. E. Story, Notes on the "15" Puzzle, American Journal of
Mathematics 2, 1879). So s and then D(x·s) moves lead to the goal.

The effect of s on the cells is the same for all x, so one solution bounds all positions of its
coset. Positions that no solution settles are searched singly; if a single search fails, that gives
a lower bound. docs/mathematics.md continues with the questions that lead to God's number.

Sources: T. Rokicki, H. Kociemba, M. Davidson and J. Dethridge, The Diameter of the Rubik's Cube
Group Is Twenty, SIAM Journal on Discrete Mathematics 27, 2013; D. Kunkle and G. Cooperman,
Twenty-Six Moves Suffice for Rubik's Cube, ISSAC 2007.
"""
