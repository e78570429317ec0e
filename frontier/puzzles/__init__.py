"""Puzzles: what their positions are, how they move, how they are written."""

import json
from weakref import WeakValueDictionary

from frontier.puzzles.blocks import Blocks
from frontier.puzzles.boards import Board
from frontier.puzzles.cells import Cells, define_puzzle
from frontier.puzzles.graphs import Graph
from frontier.puzzles.lines import Lines
from frontier.puzzles.patterns import Pattern
from frontier.puzzles.permutations import Permutations
from frontier.puzzles.puzzle import Puzzle, State
from frontier.puzzles.tiles import Tiles

KINDS: dict[str, type[Puzzle]] = {
    "tiles": Tiles,
    "lines": Lines,
    "blocks": Blocks,
    "graph": Graph,
    "cells": Cells,
    "pattern": Pattern,
    "permutations": Permutations,
}

__all__ = [
    "KINDS", "Blocks", "Board", "Cells", "Graph", "Lines", "Pattern", "Permutations", "Puzzle",
    "State", "Tiles", "define_puzzle", "puzzle_of",
]  # fmt: skip


_in_use: WeakValueDictionary[str, Puzzle] = WeakValueDictionary()
"""The puzzles in use, by their settings; plans, runs and workers of one process share them."""


def puzzle_of(settings: dict) -> Puzzle:
    """The puzzle that a checked ``[puzzle]`` table describes; its `kind` names the class.

    While it is in use, the same settings give the same object, as its shapes may take gigabytes and
    a while to make.
    """
    text = json.dumps(settings)
    if (puzzle := _in_use.get(text)) is None:
        values = json.loads(text)
        kind, title = KINDS[values.pop("kind")], values.pop("title", None)
        if title is not None:
            kind = type(kind.__name__, (kind,), {"title": title})
        puzzle = _in_use[text] = kind(**values)
    return puzzle
