"""Pattern databases as the lower bound of a search: which of them fit a puzzle."""

from collections.abc import Sequence
from pathlib import Path

from frontier.answers.databases import Databases
from frontier.answers.distances import Distances
from frontier.config_values import at_home
from frontier.errors import InputError
from frontier.puzzles import Pattern, Puzzle, Tiles
from frontier.puzzles.pieces import OPEN

MOST_DATABASES = 12
"""Databases of one search, at most; the largest sets of disjoint ones are added up at each node."""


def databases_of(puzzle: Puzzle, paths: Sequence[str | Path]) -> Databases:
    """The databases of runs, or of exported arrays, for a tile puzzle.

    InputError if the puzzle is not one with a single goal in which moves slide one tile, or if a
    database is of another puzzle.
    """
    if not isinstance(puzzle, Tiles) or puzzle.metric != "step" or len(puzzle.goals) != 1:
        raise InputError(
            f"{puzzle.title}: pattern databases are for tile puzzles with one goal whose moves "
            'slide one tile (metric = "step")'
        )
    if min(puzzle.rows, puzzle.columns) == 1:
        raise InputError(
            f"{puzzle.title}: on one line no tile passes another, so there is nothing that a "
            "pattern database could tell; leave out --heuristic"
        )
    if len(paths) > MOST_DATABASES:
        raise InputError(
            f"{len(paths)} pattern databases: at most {MOST_DATABASES} can be used at once"
        )
    (goal,) = puzzle.goals
    if OPEN in goal:
        raise InputError(
            f"the goal {puzzle.line(goal)} leaves cells open: a pattern database has one goal"
        )
    databases = []
    for path in paths:
        databases.append(Distances.open(at_home(path)))
        _check(puzzle, databases[-1].puzzle, path)
    return Databases(puzzle, databases)


def _check(puzzle: Tiles, pattern: Puzzle, path: str | Path) -> None:
    """InputError unless the pattern is one of the puzzle."""
    if not isinstance(pattern, Pattern):
        raise InputError(
            f"--heuristic {path} is a run of {pattern.title}: a heuristic is a run of kind "
            '"pattern"'
        )
    if (pattern.rows, pattern.columns) != (puzzle.rows, puzzle.columns):
        raise InputError(f"--heuristic {path} is of {pattern.title}, not of {puzzle.title}")
    here, there = pattern.line(puzzle.goals[0]), pattern.line(pattern.goals[0])
    if here != there:
        raise InputError(
            f"--heuristic {path} has the goal {there}, the puzzle's would be {here} in it: set "
            "puzzle.goal or puzzle.blank alike"
        )
