"""A lower bound on the moves to the goal: the moves that each piece needs on an empty board.

For each piece a table says how far it is from its place in the goal if nothing else were there,
by search over its placements. A move displaces one piece, so the sum over the pieces never
exceeds the moves that are needed. Where one move slides several tiles by a cell each, the sum of
the steps is to be divided by the most tiles that a move slides.

Each of several like pieces counts its way to the nearest of their places. That is less than the
truth when two of them count the same place. Where their exchange is impossible, as an odd
permutation is when everything else must stay as it is, each has a place of its own in the goal,
and they can be *told apart*: the puzzle with pieces that differ then has just as many positions.
"""

from itertools import permutations

import numpy as np

from frontier.puzzles.pieces import OPEN, Pieces
from frontier.puzzles.puzzle import Board
from frontier.puzzles.shapes import FIRST_SORT, Footprint, Sort, shape_rows

FAR = 10_000
"""Distance of a placement from which the goal's cannot be reached."""

MOST_LIKE = 5
"""Groups of more like pieces are not told apart."""


def most_steps(puzzle: Pieces) -> int:
    """The most steps that a move of a puzzle takes off the sum of the tables."""
    return int(np.diff(puzzle.moves.start).max(initial=1))


def move_tables(puzzle: Pieces) -> np.ndarray:
    """The moves that each piece needs, int64[rows, cells], by the cell of its anchor.

    Rows: the members of the sequence, those of the fixed classes, then one for each sort, used
    for like pieces. Cells are in reading order. All zero where a goal leaves the piece open.
    """
    moves, sorts = puzzle.moves, puzzle.shapes.sorts
    told = [
        (sorts[n], int(code)) for n in (*moves.classes, *moves.fixed) for code in puzzle.members(n)
    ]
    tables = [_table(puzzle, sort, {code}, 1) for sort, code in told]
    tables += [_table(puzzle, sort, set(sort.codes), len(sort.codes)) for sort in sorts]
    return np.array(tables, dtype=np.int64).reshape(len(tables), puzzle.cells)


def _table(puzzle: Pieces, sort: Sort, codes: set[int], count: int) -> np.ndarray:
    """The least moves from each anchor to where one of the codes lies in some goal."""
    footprint = sort.footprint
    best = np.full(puzzle.cells, FAR)
    for goal in puzzle.goals:
        covers = puzzle.drawn(sort, goal)
        in_order = [goal[cell] for cell in puzzle.reading]
        places = [footprint.at[cover[0]] for cover in covers if in_order[cover[0]] in codes]
        if OPEN in goal and len(places) < count:
            return np.zeros(puzzle.cells, dtype=np.int64)
        for place in places:
            distance = _distances(footprint, place, puzzle.metric)
            for number, cover in enumerate(footprint.placements):
                best[cover[0]] = min(best[cover[0]], distance[number])
    return best


def _distances(footprint: Footprint, place: int, metric: str) -> list[int]:
    """Moves from each placement to one of them on the empty board."""
    beyond = footprint.beyond()
    distance = [FAR] * len(footprint.placements)
    distance[place] = 0
    queue = [place]
    for here in queue:
        for direction, there in beyond[here].items():
            while True:
                if distance[there] == FAR:
                    distance[there] = distance[here] + 1
                    queue.append(there)
                if metric != "straight" or direction not in beyond[there]:
                    break
                there = beyond[there][direction]
    return [min(d, 1) if metric == "path" and d < FAR else d for d in distance]


def told_apart(puzzle: Pieces) -> Pieces:
    """The puzzle with those groups of like pieces told apart that cannot change places."""
    if any(OPEN in goal for goal in puzzle.goals):
        return puzzle
    for sort in puzzle.shapes.sorts:
        if not sort.distinct and len(sort.codes) <= MOST_LIKE:
            other = _with_distinct(puzzle, sort)
            if other.states == puzzle.states:
                puzzle = other
    return puzzle


def _with_distinct(puzzle: Pieces, sort: Sort) -> Pieces:
    """A copy of a puzzle in which a sort's pieces are told apart by their codes."""
    rest = [s for s in puzzle.shapes.sorts if s.codes != sort.codes]
    same = [s for s in rest if s.distinct and s.footprint is sort.footprint]
    rest = [s for s in rest if s not in same]
    codes = sorted([*sort.codes, *(code for s in same for code in s.codes)])
    return puzzle.with_sorts([*rest, Sort(sort.footprint, tuple(codes), True)])


def tell_apart(puzzle: Pieces, other: Pieces, board: Board) -> Board:
    """A board of a puzzle as one of `told_apart`: the naming of like pieces that is reachable."""
    groups = [
        sort.codes
        for sort in puzzle.shapes.sorts
        if not sort.distinct
        and any(s.distinct and sort.codes[0] in s.codes for s in other.shapes.sorts)
    ]
    boards = [board]
    for codes in groups:
        boards = [
            tuple(dict(zip(codes, order, strict=True)).get(code, code) for code in named)
            for named in boards
            for order in permutations(codes)
        ]
    return next(named for named in boards if other.reaches(named))


def lower_bound_sums(puzzle: Pieces, tables: np.ndarray, boards: np.ndarray) -> np.ndarray:
    """The sums of the tables at boards, int[N, cells]: int64[N]."""
    moves, sorts = puzzle.moves, puzzle.shapes.sorts
    told = [int(code) for n in (*moves.classes, *moves.fixed) for code in puzzle.members(n)]
    # rows of the tables by code, and by sort for like pieces
    row_of = np.zeros(1 + max((c for sort in sorts for c in sort.codes), default=0), dtype=np.int64)
    for number, sort in enumerate(sorts):
        for code in sort.codes:
            row_of[code] = told.index(code) if code in told else len(told) + number
    in_order = boards[:, puzzle.reading]
    anchors = shape_rows(in_order, sorts) >= FIRST_SORT
    terms = tables[row_of[in_order], np.arange(puzzle.cells)] if len(tables) else anchors * 0
    return np.where(anchors, terms, 0).sum(axis=1)
