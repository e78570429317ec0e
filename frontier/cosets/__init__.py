"""God's numbers of tile puzzles, coset by coset, for boards with too many positions to enumerate.

A *region* of the board holds the blank's home; the tiles whose homes lie outside it are *labelled*.
A *pattern* is the cells of the labelled tiles and of the blank, and its *coset* is the set of all
positions with this pattern. A *solution* of a pattern is a sequence of moves that brings the
labelled tiles home and the blank into the region. dB is the length of a pattern's shortest
solution, and D the distance of a board of the region through moves inside the region.

**Theorem.** A solution s brings each position x of its coset to a board x·s of the region, and
d(x) <= |s| + D(x·s).

*Proof.* Only the blank's cell decides which moves are possible, so s can be made from each position
of the coset, and always takes the labelled tiles home. The region's tiles are then in the region.
Their order is an even permutation of any order that moves inside the region reach with the blank in
the same cell, because both orders can be reached from the goal. Moves inside a rectangle reach all
even permutations (W. W. Johnson and W. E. Story, Notes on the "15" Puzzle, American Journal of
Mathematics 2, 1879). So s followed by D(x·s) moves leads to the goal.

The effect of s on the cells is the same for all x, so one solution bounds all positions of its
coset. Positions that no solution settles are searched one by one; a search that finds no solution
gives a lower bound. docs/mathematics.md continues with the questions that determine God's number.

Sources: T. Rokicki, H. Kociemba, M. Davidson and J. Dethridge, The Diameter of the Rubik's Cube
Group Is Twenty, SIAM Journal on Discrete Mathematics 27, 2013; D. Kunkle and G. Cooperman,
Twenty-Six Moves Suffice for Rubik's Cube, ISSAC 2007.
"""
