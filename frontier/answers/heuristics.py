"""Pattern databases as the lower bound in IDA*: whether they fit a puzzle, and their tables.

Each database holds the distances of one pattern (`frontier.puzzles.pattern_graph`). The bound is
the greatest of

* the distance of a pattern in which every move counts, for each such database;
* for each *additive set*, the sum of its distances and of the Manhattan distances of all tiles that
  none of its databases labels. The databases of such a set label disjoint sets of tiles, and each
  counts only the moves of its labelled tiles. The empty set gives the Manhattan distance.

No move counts twice in such a sum, so the bound never exceeds the distance, and one move changes it
by at most one: it is admissible and consistent (R. E. Korf and A. Felner, Disjoint Pattern Database
Heuristics, Artificial Intelligence 134, 2002).
"""

from collections.abc import Sequence

import numpy as np

from frontier.answers.distances import Distances
from frontier.answers.ida_kernel import Databases
from frontier.errors import InputError
from frontier.puzzles import GridPuzzle, PatternPuzzle, Puzzle
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.model import ShapeEncoding
from frontier.puzzles.patterns import PatternEncoding
from frontier.puzzles.pieces import OPEN
from frontier.space.lehmer import LehmerCode
from frontier.storage.places import Place

MOST_DATABASES = 12
"""The most databases of one search. Each node adds up the distances in all their largest additive
sets."""


def _joined(
    puzzle: GridPuzzle, databases: Sequence[Distances], of: Sequence[PatternPuzzle]
) -> Databases:
    """Return the joint tables of databases of a puzzle whose sequence has all tiles. of: the
    patterns of the databases."""
    tiles = puzzle.model.encoding
    assert isinstance(tiles, ShapeEncoding)  # all tiles differ
    patterns = [pattern.model.encoding for pattern in of]
    member = np.array([_members(tiles, pattern) for pattern in patterns])
    codes = [LehmerCode(pattern.shapes.labels) for pattern in patterns]
    most = max(pattern.shapes.labels for pattern in patterns)
    binomial = np.zeros((len(patterns), most + 1, puzzle.cells), dtype=np.int64)
    radices = np.ones((len(patterns), most + 1), dtype=np.int64)
    for d, (pattern, code) in enumerate(zip(patterns, codes, strict=True)):
        binomial[d, : len(pattern.shapes.binomial)] = pattern.shapes.binomial
        radices[d, : len(code.radices)] = code.radices
    digits, halves = np.array([(len(code.radices), code.half) for code in codes]).T.copy()
    regions = [pattern.shapes.region.astype(np.int32) for pattern in patterns]
    dtype = max((database.values.dtype for database in databases), key=lambda t: t.itemsize)
    values = [database.values.astype(dtype, copy=False).ravel() for database in databases]
    added = np.array([pattern.metric == "labelled" for pattern in patterns])
    chosen = _additive_sets(member >= 0, added)
    unlabelled = np.array([~(member >= 0)[some].any(axis=0) for some in chosen])
    scratch = np.empty((2, max(member.shape)), dtype=np.int64)
    shapes = tiles.shapes.rows_of(np.arange(puzzle.model.graph.vertices))
    return Databases(
        (shapes == EMPTY).argmax(axis=1), member, binomial, radices, digits, halves,
        np.concatenate(regions), np.cumsum([0, *map(len, regions)]),
        values[0] if len(values) == 1 else np.concatenate(values),
        np.cumsum([0, *map(len, values)]), chosen, unlabelled, ~added, scratch,
    )  # fmt: skip


def _members(tiles: ShapeEncoding, pattern: PatternEncoding) -> list[int]:
    """Return the number of each member of the puzzle's sequence in the pattern's sequence, -1 for a
    member that the pattern's sequence lacks."""
    number = {tile: n for n, tile in enumerate(pattern.members[: pattern.shapes.labels].tolist())}
    return [number.get(tile, -1) for tile in tiles.members.tolist()]


def _additive_sets(labelled: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Return the empty set and the maximal additive sets: bool[sets, databases].

    labelled: bool[databases, tiles], the labelled tiles of each database. added: bool[databases],
    True for databases that may be in additive sets.
    """
    sets: list[tuple[int, ...]] = [()]
    for d in np.flatnonzero(added).tolist():
        apart = [f for f in sets if not (labelled[list(f)] & labelled[d]).any()]
        sets += [(*some, d) for some in apart]
    largest = [f for f in sets if not any(set(f) < set(other) for other in sets)]
    table = np.zeros((1 + len(largest), len(labelled)), dtype=np.bool_)
    for row, some in zip(table[1:], largest, strict=True):
        row[list(some)] = True
    return np.unique(table, axis=0)


def databases_of(puzzle: Puzzle, paths: Sequence[Place]) -> Databases:
    """Return the databases of runs, or of exported arrays, for a tile puzzle.

    The puzzle must have a single goal, and its moves must slide one tile. Raises InputError if it
    does not, or if a database belongs to another puzzle.
    """
    several = len(puzzle.goals) != 1
    of_tiles = puzzle.kind == "tiles" and puzzle.metric == "step"
    if not isinstance(puzzle, GridPuzzle) or not of_tiles or several:
        raise InputError(
            f"{puzzle.title}: pattern databases are for tile puzzles with one goal whose moves "
            'slide one tile (metric = "step")'
        )
    if puzzle.grid.line_length == 1:
        raise InputError(
            f"{puzzle.title}: on a board of one line a pattern database is of no use; name none"
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
    databases: list[Distances] = []
    patterns: list[PatternPuzzle] = []
    for path in paths:
        databases.append(Distances.open(path))
        patterns.append(_checked(puzzle, databases[-1].puzzle, path))
    return _joined(puzzle, databases, patterns)


def _checked(puzzle: GridPuzzle, pattern: Puzzle, path: Place) -> PatternPuzzle:
    """Return the pattern; raises InputError unless it is a pattern of the puzzle."""
    if not isinstance(pattern, PatternPuzzle):
        raise InputError(f'{path} is a run of {pattern.title}: expected a run of kind "pattern"')
    if pattern.grid != puzzle.grid:
        raise InputError(f"{path} is of {pattern.title}, not of {puzzle.title}")
    expected, actual = pattern.line(puzzle.goals[0]), pattern.line(pattern.goals[0])
    if expected != actual:
        raise InputError(
            f"{path} has the goal {actual}, but the puzzle needs {expected}: set "
            "puzzle.goal or puzzle.blank to match"
        )
    return pattern
