"""Pattern databases as the lower bound of a search by IDA*: which fit a puzzle, and its kernel.

Each database holds the distances of one pattern (`frontier.puzzles.pattern_graph`). The bound is
the greatest of

* the distance of a pattern in which every move counts, for each such database;
* for each *additive set* of databases that count the moves of their labelled tiles alone and label
  disjoint tiles: the sum of their distances and of the Manhattan distances of all tiles that none
  of them labels. The empty set is the Manhattan distance itself.

No move counts twice in such a sum, so it never exceeds the distance, and one move changes the
bound by one at most: it is admissible and consistent (R. E. Korf and A. Felner, Disjoint Pattern
Database Heuristics, Artificial Intelligence 134, 2002).
"""

from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from frontier.answers.distances import Distances
from frontier.config_values import at_home
from frontier.errors import InputError
from frontier.puzzles import Pattern, Puzzle, Tiles
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.boards import OPEN
from frontier.space.deepening import Deepening, displaced, is_useless, swap_along
from frontier.space.jit import kernel
from frontier.space.lehmer import LehmerCode

MOST_DATABASES = 12
"""Databases of one search, at most; the largest sets of disjoint ones are added up at each node."""

Databases = namedtuple(
    "Databases",
    "position member binomial radices digits halves regions first_region values first_value chosen "
    "rest complete",
)
"""D databases in F additive sets as tables for the kernel; see the module's text.

position: the blank's cell at each vertex. member: int64[D, tiles], each tile's number in the
pattern, -1 if it is none. binomial, radices, digits, halves: how a pattern ranks its places and its
sequences. regions: the vertices of all patterns, those of d from first_region[d] on. values: all
distances, those of d from first_value[d] on. chosen: bool[F, D], the members of the sets. rest:
bool[F, tiles], the tiles that none of them labels. complete: bool[D], the databases in which every
move counts, which are added to no other."""


def _joined(puzzle: Tiles, databases: Sequence[Distances]) -> Databases:
    """The tables of databases of patterns of a puzzle, whose sequence has all tiles."""
    patterns = [database.puzzle for database in databases]
    member = np.array([_members(puzzle, pattern) for pattern in patterns])
    codes = [LehmerCode(pattern.base.labels) for pattern in patterns]
    most = max(pattern.base.labels for pattern in patterns)
    binomial = np.zeros((len(patterns), most + 1, puzzle.cells), dtype=np.int64)
    radices = np.ones((len(patterns), most + 1), dtype=np.int64)
    for d, (pattern, code) in enumerate(zip(patterns, codes, strict=True)):
        binomial[d, : len(pattern.base.binomial)] = pattern.base.binomial
        radices[d, : len(code.radices)] = code.radices
    digits, halves = np.array([(len(code.radices), code.half) for code in codes]).T.copy()
    regions = [pattern.base.region.astype(np.int32) for pattern in patterns]
    dtype = max((database.values.dtype for database in databases), key=lambda t: t.itemsize)
    values = [database.values.astype(dtype, copy=False).ravel() for database in databases]
    added = np.array([pattern.metric == "labelled" for pattern in patterns])
    chosen = _additive_sets(member >= 0, added)
    rest = np.array([~(member >= 0)[some].any(axis=0) for some in chosen])
    return Databases(
        (puzzle.shapes.rows == EMPTY).argmax(axis=1), member, binomial, radices, digits, halves,
        np.concatenate(regions), np.cumsum([0, *map(len, regions)]),
        values[0] if len(values) == 1 else np.concatenate(values),
        np.cumsum([0, *map(len, values)]), chosen, rest, ~added,
    )  # fmt: skip


def _members(puzzle: Tiles, pattern: Pattern) -> list[int]:
    """For each member of the puzzle's sequence its number in the pattern's, -1 if it is none."""
    number = {tile: n for n, tile in enumerate(pattern.members[: pattern.base.labels].tolist())}
    return [number.get(tile, -1) for tile in puzzle.members.tolist()]


def _additive_sets(labelled: np.ndarray, added: np.ndarray) -> np.ndarray:
    """The empty set and the largest ones, bool[sets, databases].

    labelled: bool[databases, tiles]. added: bool[databases], which may be members.
    """
    sets: list[tuple[int, ...]] = [()]
    for d in np.flatnonzero(added).tolist():
        apart = [f for f in sets if not labelled[list(f)].any(axis=0)[labelled[d]].any()]
        sets += [(*some, d) for some in apart]
    largest = [f for f in sets if not any(set(f) < set(other) for other in sets)]
    table = np.zeros((1 + len(largest), len(labelled)), dtype=np.bool_)
    for row, some in zip(table[1:], largest, strict=True):
        row[list(some)] = True
    return np.unique(table, axis=0)


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
    return _joined(puzzle, databases)


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


class DatabaseDeepening(Deepening):
    """Searches whose bound comes from databases."""

    def __init__(self, databases: Databases, *arguments):
        super().__init__(*arguments)
        self.databases = databases

    def least(self, vertex: int, sequence: Sequence[int], total: int) -> int:
        sequence, scratch = np.array(sequence, dtype=np.int16), _scratch(self.databases)
        tables = self.tables.tables
        return max(total, int(_bound(vertex, sequence, tables, *scratch, self.databases)))

    def deepen(self, *arguments) -> None:
        _deepen(*arguments, _scratch(self.databases), self.databases)


def _scratch(databases: Databases) -> np.ndarray:
    """Room for what `_bound` notes of each database, or of each tile."""
    return np.empty((2, max(databases.member.shape)), dtype=np.int64)


@kernel
def _bound(vertex, sequence, tables, found, things, of):
    """The bound at a state of the tile puzzle; of: the databases."""
    blank, tiles = of.position[vertex], sequence.size
    best = 0
    for d in range(of.member.shape[0]):
        size = rank = 0
        for place in range(tiles):
            thing = of.member[d, sequence[place]]
            if thing >= 0:
                things[size] = thing
                size += 1
                rank += of.binomial[d, size, place]
        v = rank * (tiles + 1) + blank
        if of.first_region[d + 1] > of.first_region[d]:
            v = of.regions[of.first_region[d] + v]
        index = sign = 0
        for i in range(size):
            digit = 0
            for j in range(i + 1, size):
                digit += things[j] < things[i]
            sign ^= digit & 1
            if i < of.digits[d]:
                index = index * of.radices[d, i] + digit
        found[d] = of.values[of.first_value[d] + (2 * v + sign) * of.halves[d] + index]
        if of.complete[d]:
            best = max(best, found[d])
    for f in range(of.chosen.shape[0]):
        total = 0
        for d in range(of.member.shape[0]):
            if of.chosen[f, d]:
                total += found[d]
        for place in range(tiles):
            thing = sequence[place]
            if of.rest[f, thing]:
                total += tables[thing, place + (place >= blank)]
        best = max(best, total)
    return best


@kernel
def _deepen(budget, bound, shared, way, status, scratch, databases):
    """As the kernel of `Deepening`, with the bound of the databases."""
    found, things = scratch
    vertex, sequence, total, last, cursor = way
    depth, next_bound = status[0], status[1]
    length, nodes = sequence.shape[1], 0
    while depth >= 0 and nodes < budget:
        arc = cursor[depth]
        if arc == shared.start[vertex[depth] + 1]:
            depth -= 1
            continue
        cursor[depth] = arc + 1
        if last[depth] >= 0 and is_useless(shared, last[depth], vertex[depth], arc):
            continue
        after = total[depth] + displaced(shared, arc, sequence[depth])
        least = depth + 1 + after
        if least > bound:  # the sum of Manhattan distances is at hand, so it is asked first
            next_bound = min(next_bound, least)
            continue
        for k in range(length):
            sequence[depth + 1, k] = sequence[depth, k]
        swap_along(shared, arc, sequence[depth + 1])
        to = shared.target[arc]
        least = depth + 1 + _bound(to, sequence[depth + 1], shared.tables, found, things, databases)
        if least > bound:
            next_bound = min(next_bound, least)
            continue
        depth += 1
        nodes += 1
        vertex[depth], total[depth], last[depth] = to, after, arc
        cursor[depth] = shared.start[to]
        if after == 0:
            status[3] = 1
            break
    status[0], status[1], status[2] = depth, next_bound, nodes
