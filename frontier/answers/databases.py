"""Pattern databases as the lower bound of a search by IDA*: which of them fit a puzzle; its kernel.

Each database holds the distances of one pattern (`frontier.puzzles.pattern_graph`). The bound is
the greatest of

* the distance of a pattern in which every move counts, for each such database;
* for each *family* of databases that count the moves of their labelled tiles alone and label
  disjoint tiles: the sum of their distances and of the Manhattan distances of all tiles that none
  of them labels. The empty family is the Manhattan distance itself.

No move counts twice in such a sum, so it never exceeds the distance, and one move changes the
bound by one at most: it is admissible and consistent (R. E. Korf and A. Felner, Disjoint Pattern
Database Heuristics, Artificial Intelligence 134, 2002).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from frontier.answers.distances import Distances
from frontier.config_values import at_home
from frontier.errors import InputError
from frontier.puzzles import Pattern, Puzzle, Tiles
from frontier.puzzles.board_shapes import EMPTY
from frontier.puzzles.pieces import OPEN
from frontier.space.deepening import Deepening
from frontier.space.jit import kernel
from frontier.space.lehmer import LehmerCode

MOST_DATABASES = 12
"""Databases of one search, at most; the largest sets of disjoint ones are added up at each node."""


class Databases:
    """Several databases as tables for the kernel; see the module's text."""

    def __init__(self, puzzle: Tiles, databases: Sequence[Distances]):
        """databases: of patterns of the puzzle, whose sequence has all tiles."""
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
        kind = max((database.values.dtype for database in databases), key=lambda t: t.itemsize)
        values = [database.values.astype(kind, copy=False).ravel() for database in databases]
        added = np.array([pattern.metric == "labelled" for pattern in patterns])
        chosen = _families(member >= 0, added)
        rest = np.array([~(member >= 0)[family].any(axis=0) for family in chosen])
        self.scratch = max(member.shape)
        self.arguments = (
            (puzzle.shapes.rows == EMPTY).argmax(axis=1), member, binomial, radices, digits,
            halves, np.concatenate(regions), np.cumsum([0, *map(len, regions)]),
            values[0] if len(values) == 1 else np.concatenate(values),
            np.cumsum([0, *map(len, values)]), chosen, rest, ~added,
        )  # fmt: skip

    def bound(self, vertex: int, sequence: Sequence[int], tables: np.ndarray) -> int:
        """The lower bound at a state; tables: the Manhattan distances, as for `Deepening`."""
        sequence = np.array(sequence, dtype=np.int16)
        found, things = np.empty((2, self.scratch), dtype=np.int64)
        return int(_bound(vertex, sequence, tables, found, things, *self.arguments))


def _members(puzzle: Tiles, pattern: Pattern) -> list[int]:
    """For each member of the puzzle's sequence its number in the pattern's, -1 if it is none."""
    number = {tile: n for n, tile in enumerate(pattern.members.tolist())}
    return [number.get(tile, -1) for tile in puzzle.members.tolist()]


def _families(labelled: np.ndarray, added: np.ndarray) -> np.ndarray:
    """The empty family and the largest ones, bool[families, databases].

    labelled: bool[databases, tiles]. added: bool[databases], which may be members.
    """
    families: list[tuple[int, ...]] = [()]
    for d in np.flatnonzero(added).tolist():
        apart = [f for f in families if not labelled[list(f)].any(axis=0)[labelled[d]].any()]
        families += [(*family, d) for family in apart]
    largest = [f for f in families if not any(set(f) < set(other) for other in families)]
    table = np.zeros((1 + len(largest), len(labelled)), dtype=np.bool_)
    for row, family in zip(table[1:], largest, strict=True):
        row[list(family)] = True
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


class DatabaseDeepening(Deepening):
    """Searches whose bound comes from databases."""

    def __init__(self, databases: Databases, *arguments):
        super().__init__(*arguments)
        self.databases = databases

    def least(self, vertex: int, sequence: Sequence[int], total: int) -> int:
        return max(total, self.databases.bound(vertex, sequence, self.tables))

    def deepen(self, *arguments) -> None:
        _deepen(*arguments, *self.databases.arguments)


@kernel
def _bound(
    vertex, sequence, tables, found, things, position, member, binomial, radices, digits, halves,
    regions, first_region, values, first_value, chosen, rest, alone,
):  # fmt: skip
    """The bound at a state of the tile puzzle; found, things: scratch."""
    blank, tiles = position[vertex], sequence.size
    best = 0
    for d in range(member.shape[0]):
        size = rank = 0
        for place in range(tiles):
            thing = member[d, sequence[place]]
            if thing >= 0:
                things[size] = thing
                size += 1
                rank += binomial[d, size, place]
        v = rank * (tiles + 1) + blank
        if first_region[d + 1] > first_region[d]:
            v = regions[first_region[d] + v]
        index = sign = 0
        for i in range(size):
            digit = 0
            for j in range(i + 1, size):
                digit += things[j] < things[i]
            sign ^= digit & 1
            if i < digits[d]:
                index = index * radices[d, i] + digit
        found[d] = values[first_value[d] + (2 * v + sign) * halves[d] + index]
        if alone[d]:
            best = max(best, found[d])
    for f in range(chosen.shape[0]):
        total = 0
        for d in range(member.shape[0]):
            if chosen[f, d]:
                total += found[d]
        for place in range(tiles):
            thing = sequence[place]
            if rest[f, thing]:
                total += tables[thing, place + (place >= blank)]
        best = max(best, total)
    return best


@kernel
def _deepen(
    budget, bound, most, tables, goals, start, arc_target, arc_word, word_start, swaps,
    first_pair, useless, moved_start, moved_end, place, row, source, target, vertex, sequence,
    total, last, cursor, status, position, member, binomial, radices, digits, halves, regions,
    first_region, values, first_value, chosen, rest, alone,
):  # fmt: skip
    depth, next_bound = status[0], status[1]
    length, nodes = sequence.shape[1], 0
    found = np.empty(member.shape[0], dtype=np.int64)
    things = np.empty(length, dtype=np.int64)
    while depth >= 0 and nodes < budget:
        arc = cursor[depth]
        if arc == start[vertex[depth] + 1]:
            depth -= 1
            continue
        cursor[depth] = arc + 1
        before = last[depth]
        if before >= 0 and useless[first_pair[before] + arc - start[vertex[depth]]]:
            continue
        after = total[depth]
        for d in range(moved_start[arc], moved_end[arc]):
            piece = row[d] if row[d] >= 0 else np.int64(sequence[depth, place[d]])
            after += tables[piece, target[d]] - tables[piece, source[d]]
        least = depth + 1 + after
        if least > bound:  # the sum of Manhattan distances is at hand, so it is asked first
            next_bound = min(next_bound, least)
            continue
        for k in range(length):
            sequence[depth + 1, k] = sequence[depth, k]
        word = arc_word[arc]
        for k in range(word_start[word], word_start[word + 1]):
            i = swaps[k]
            thing = sequence[depth + 1, i]
            sequence[depth + 1, i] = sequence[depth + 1, i + 1]
            sequence[depth + 1, i + 1] = thing
        least = depth + 1 + _bound(
            arc_target[arc], sequence[depth + 1], tables, found, things, position, member,
            binomial, radices, digits, halves, regions, first_region, values, first_value, chosen,
            rest, alone,
        )  # fmt: skip
        if least > bound:
            next_bound = min(next_bound, least)
            continue
        depth += 1
        nodes += 1
        vertex[depth], total[depth], last[depth] = arc_target[arc], after, arc
        cursor[depth] = start[arc_target[arc]]
        if after == 0:
            status[3] = 1
            break
    status[0], status[1], status[2] = depth, next_bound, nodes
