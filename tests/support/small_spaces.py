"""Small puzzles, their spaces and their layers, listed state by state."""

from functools import cache

import numpy as np

from frontier.puzzles import pattern_puzzle, tile_puzzle
from tests.support.sweeps import swept
from tests.support.whole_searches import list_layers, origins_of

PUZZLES = {
    "tiles 1x5": lambda: tile_puzzle(1, 5),
    "tiles 2x3": lambda: tile_puzzle(2, 3),
    "tiles 2x4": lambda: tile_puzzle(2, 4),
    "tiles 3x3": lambda: tile_puzzle(3, 3),
    "multi 2x3": lambda: tile_puzzle(2, 3, metric="multi"),
    "multi 2x4": lambda: tile_puzzle(2, 4, metric="multi"),
    "pattern 2x4, k = 1": lambda: pattern_puzzle(2, 4, k=1),
    "pattern 2x4, k = 3": lambda: pattern_puzzle(2, 4, k=3),
    "pattern 3x3": lambda: pattern_puzzle(3, 3, labels=[1, 2, 3, 5, 7, 8]),
    "labelled 2x4": lambda: pattern_puzzle(2, 4, labels=[1, 2, 4, 5, 6, 7], metric="labelled"),
    "labelled 3x3": lambda: pattern_puzzle(3, 3, labels=[1, 2, 3, 6], metric="labelled"),
}

SOME = ["tiles 1x5", "tiles 2x3", "tiles 2x4", "multi 2x3", "multi 2x4",
        "pattern 2x4, k = 1", "pattern 2x4, k = 3", "labelled 2x4"]  # fmt: skip
each_puzzle = swept("name", PUZZLES, few=SOME)


@cache
def puzzle_named(name):
    return PUZZLES[name]()


@cache
def known(name):
    """(space, origins, sorted state numbers of each layer) of a puzzle."""
    puzzle = puzzle_named(name)
    space = puzzle.model.space
    origins = [space.number(*state) for state in origins_of(puzzle)]
    return space, origins, list_layers(space, origins)


def origins_in(space, origins):
    """The states of (side, number): vertices and sequences, as a search takes them."""
    states = []
    for side, number in origins:
        node, index = divmod(number, space.code.half)
        vertex, odd = int(space.vertex[side][node]), int(space.sign[side][node])
        states.append((vertex, space.code.unrank(index, odd)))
    vertices, sequences = zip(*states, strict=True)
    return np.array(vertices), np.array(sequences)
