"""A study of the 2×n puzzle: a thesis claim by claim, and results beyond it."""
