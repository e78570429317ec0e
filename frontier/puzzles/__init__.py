"""Puzzles: what their positions are, how they move, how they are written."""

import json
from functools import lru_cache

from frontier.puzzles.blocks import Blocks
from frontier.puzzles.cells import Cells, define_puzzle
from frontier.puzzles.graphs import Graph
from frontier.puzzles.patterns import Pattern
from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.puzzles.tiles import Tiles

KINDS: dict[str, type[Puzzle]] = {
    "tiles": Tiles,
    "blocks": Blocks,
    "graph": Graph,
    "cells": Cells,
    "pattern": Pattern,
}

__all__ = [
    "KINDS", "Blocks", "Board", "Cells", "Graph", "Pattern", "Puzzle", "State", "Tiles",
    "define_puzzle", "puzzle_of",
]  # fmt: skip


def puzzle_of(settings: dict) -> Puzzle:
    """The puzzle that a checked ``[puzzle]`` table describes; its `kind` names the class."""
    return _made(json.dumps(settings))


@lru_cache(maxsize=1)  # its shapes may be gigabytes
def _made(settings: str) -> Puzzle:
    # A puzzle's shapes and moves may take a while to make, and are asked for again and again.
    values = json.loads(settings)
    kind, title = KINDS[values.pop("kind")], values.pop("title", None)
    if title is not None:
        kind = type(kind.__name__, (kind,), {"title": title})
    return kind(**values)
