"""Additive databases of small boards, made and not kept."""

from functools import cache

import numpy as np

from frontier.puzzles import tile_puzzle
from frontier.solving.groups import compact_groups, runs_of_tiles
from frontier.solving.positions import Additive


def made_and_joined(databases):
    """The bits of databases one after the other, and the words of each."""
    tables = [np.zeros(database.words, dtype=np.uint64) for database in databases]
    for database, table in zip(databases, tables, strict=True):
        database.fill(table, 2)
    return np.concatenate(tables), [table.size for table in tables]


@cache
def additive_of(shape, blank, sizes, compact=False, share=False):
    """(the databases, the homes of the tiles of each group)"""
    puzzle = tile_puzzle(*shape, blank=blank)
    groups = (compact_groups if compact else runs_of_tiles)(puzzle, sizes)
    return Additive(puzzle, groups, made_and_joined, share=share), groups
