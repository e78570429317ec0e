"""God's numbers of tile puzzles, coset by coset, beyond what can be enumerated."""
