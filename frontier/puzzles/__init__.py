"""Puzzles: their positions and moves, and how both are written.

A puzzle has a model, which the engine searches, and a notation, which people read. For each kind of
puzzle, a function makes the two from the values of a [puzzle] table (`frontier.puzzles.tables`);
docs/reference/puzzles.md explains the kinds.
"""

from frontier.puzzles.blocks import block_puzzle
from frontier.puzzles.cells import cell_puzzle, define_puzzle
from frontier.puzzles.graphs import graph_puzzle
from frontier.puzzles.model import Model, State
from frontier.puzzles.patterns import PatternPuzzle, pattern_puzzle
from frontier.puzzles.permutations import permutation_puzzle
from frontier.puzzles.pieces import Board
from frontier.puzzles.puzzle import GridPuzzle, Puzzle
from frontier.puzzles.tables import KINDS, puzzle_of
from frontier.puzzles.tiles import tile_puzzle

__all__ = [
    "KINDS", "Board", "GridPuzzle", "Model", "PatternPuzzle", "Puzzle", "State", "block_puzzle",
    "cell_puzzle", "define_puzzle", "graph_puzzle", "pattern_puzzle", "permutation_puzzle",
    "puzzle_of", "tile_puzzle",
]  # fmt: skip
