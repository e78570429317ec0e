"""The kinds of puzzles, and the puzzle that a [puzzle] table describes."""

import json
from collections.abc import Callable
from dataclasses import replace
from weakref import WeakValueDictionary

from frontier.puzzles.blocks import block_puzzle
from frontier.puzzles.cells import cell_puzzle
from frontier.puzzles.graphs import graph_puzzle
from frontier.puzzles.patterns import pattern_puzzle
from frontier.puzzles.permutations import permutation_puzzle
from frontier.puzzles.programs import program_puzzle
from frontier.puzzles.puzzle import Puzzle
from frontier.puzzles.tiles import tile_puzzle

KINDS: dict[str, Callable[..., Puzzle]] = {
    "tiles": tile_puzzle,
    "blocks": block_puzzle,
    "graph": graph_puzzle,
    "cells": cell_puzzle,
    "pattern": pattern_puzzle,
    "permutations": permutation_puzzle,
    "program": program_puzzle,
}

_in_use: WeakValueDictionary[str, Puzzle] = WeakValueDictionary()
"""The puzzles in use, by their settings; plans, runs and workers of one process share them."""


def puzzle_of(settings: dict) -> Puzzle:
    """Return the puzzle that a checked ``[puzzle]`` table describes.

    While a puzzle is in use, the same settings return the same object, because its shapes may take
    gigabytes of memory and minutes to make.
    """
    text = json.dumps(settings)
    if (puzzle := _in_use.get(text)) is None:
        values = json.loads(text)
        kind, title = KINDS[values.pop("kind")], values.pop("title", None)
        puzzle = kind(**values)
        title = puzzle.title if title is None else title
        puzzle = _in_use[text] = replace(
            puzzle, title=title, maker=(puzzle_of, (json.loads(text),))
        )
    return puzzle
