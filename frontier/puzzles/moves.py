"""The moves of pieces between shapes, as arcs of a base graph with voltages, and the metrics, which
define what counts as one move.

A move takes one piece over empty cells from one placement to another: to the next one
(`next_placements`), to any placement in a straight line (`straight_placements`), or to any that a
path reaches (`path_placements`). Or it moves all pieces between the only empty cell and another
cell of its line, each by one cell (`along_lines`).

The sequence of a board lists the distinct pieces, sort by sort, each sort in the reading order of
the anchors. If i other pieces of the same sort come before the old anchor of a piece, and j before
its new anchor, the piece moves from place i to place j of its sort, and the pieces between give
way: the neighbour swaps are i, i+1, ..., j-1, or i-1, ..., j if j < i.

A sort whose pieces never pass each other is *fixed*: its order never changes, so the sequence
leaves it out. A sort of one piece is always fixed.

A metric is defined here once, with everything that depends on it: the kinds of puzzles that have
it, the moves between shapes, the moves that may follow a move, and the lower bound. The bound for a
puzzle is the sum over its pieces of the moves that each needs on an empty board
(`frontier.solving.piece_bound`). So a metric names a metric, itself or another, that defines the
moves of a piece alone on the board. Moves of the named metric must lead at least as far as moves of
the metric that names it; otherwise the bound is too high and solutions are too long.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Footprint, Shapes
from frontier.space.graph import BaseGraph

Fits = Callable[[int], np.ndarray]
"""Returns bool[N] for a placement: True for each of N boards on which a piece may lie there."""

Placements = Callable[[Footprint, int, Fits], Iterator[tuple[int, np.ndarray]]]
"""Generates (placement, bool[N]) for each placement that one move from a given placement may
reach."""


@dataclass(frozen=True)
class Moves:
    """The arcs of a base graph, and the pieces that each arc moves.

    in_sequence: the sorts whose pieces are in the sequence, in its order. fixed: the other sorts of
    distinct pieces, whose order never changes. Arc a moves the pieces in the entries start[a] ..
    start[a+1]-1 of the following integer tables. sort: the sort of the piece. place: its place
    before the move, counted through the sequence and then all fixed sorts; -1 for a like piece.
    source, target: its anchors.
    """

    graph: BaseGraph
    in_sequence: tuple[int, ...]
    fixed: tuple[int, ...]
    start: np.ndarray
    sort: np.ndarray
    place: np.ndarray
    source: np.ndarray
    target: np.ndarray


def moves_of_pieces(shapes: Shapes, placements: Placements, may_fix: bool) -> Moves:
    """Return all moves of single pieces between shapes.

    placements: generates the placements after one move. may_fix: True if a sort of several pieces
    may be fixed.
    """
    columns = np.ascontiguousarray(shapes.rows.T)
    parts = [
        arcs
        for number, sort in enumerate(shapes.sorts)
        for a in range(len(sort.footprint.placements))
        for arcs in _moves_from(shapes, columns, number, a, placements)
    ]
    no_arcs = (np.empty(0, dtype=np.int64),) * 2 + (np.empty(0, dtype=np.int16),) * 5
    source, target, sort, i, j, a, b = map(np.concatenate, zip(no_arcs, *parts, strict=True))
    del parts
    size = [len(s.codes) for s in shapes.sorts]
    passing = set(np.unique(sort[i != j]).tolist())
    distinct = sorted((n for n, s in enumerate(shapes.sorts) if s.distinct), key=size.__getitem__)
    in_sequence = [n for n in distinct if size[n] > 1 and (n in passing or not may_fix)]
    fixed = [n for n in distinct if n not in in_sequence]
    first = np.full(len(shapes.sorts), -1, dtype=np.int16)
    listed = [*in_sequence, *fixed]
    first[listed] = np.cumsum([0, *(size[n] for n in listed)])[:-1]
    place = np.where(first[sort] >= 0, first[sort] + i, -1)
    place_after = np.where(first[sort] >= 0, first[sort] + j, -1)
    places = 2 + int(max(place.max(initial=0), place_after.max(initial=0)))
    pair = (place.astype(np.int32) + 1) * places + place_after + 1
    used = np.flatnonzero(np.bincount(pair, minlength=1))
    voltage = np.searchsorted(used, pair.astype(used.dtype))
    voltages = [shift_voltage(i - 1, j - 1) for i, j in (divmod(n, places) for n in used.tolist())]
    sizes = [size[n] for n in in_sequence]
    graph = _graph(len(shapes), sizes, source, target, voltages, voltage)
    start = np.arange(source.size + 1)
    return Moves(graph, tuple(in_sequence), tuple(fixed), start, sort, place, a, b)


def shift_voltage(i: int, j: int) -> tuple[int, ...]:
    """Return the neighbour swaps that move the member in place i to place j."""
    return tuple(range(i, j)) if i <= j else tuple(range(i - 1, j - 1, -1))


def _graph(vertices, sizes, source, target, voltages, voltage) -> BaseGraph:
    """Return a base graph from arcs and their voltages; several voltages may be equal."""
    different = sorted(set(voltages))
    number = np.array([different.index(w) for w in voltages], dtype=np.int64)
    *smaller, m = sizes or [0]
    return BaseGraph(vertices, m, tuple(different), source, target, number[voltage], tuple(smaller))


def _moves_from(shapes: Shapes, columns: np.ndarray, number: int, a: int, placements: Placements):
    """Generate the moves of the pieces of one sort on placement a: for each target a tuple of
    columns.

    columns: uint8[cells, N], the shapes. A tuple has the columns that `moves_of_pieces` reads:
    shape before and after, sort, place in its sort before and after, anchor before and after.
    """
    footprint, code = shapes.sorts[number].footprint, FIRST_SORT + number
    cells = footprint.placements[a]
    shapes_there = np.flatnonzero(columns[cells[0]] == code)
    if not shapes_there.size:
        return

    def fits(b: int) -> np.ndarray:
        """Return bool[N], True for the shapes on which the piece may lie on placement b."""
        cells_needed = [cell for cell in footprint.placements[b] if cell not in cells]
        return (columns[np.ix_(np.array(cells_needed, dtype=np.int64), shapes_there)] == EMPTY).all(
            axis=0
        )

    for b, reached in placements(footprint, a, fits):
        moving = shapes_there[reached]
        if not moving.size:
            continue
        cover = footprint.placements[b]
        keys = shapes.keys[moving] + shapes.key_of_move(number, cells, cover)
        i, j = np.zeros((2, moving.size), dtype=np.int16)
        if len(shapes.sorts[number].codes) > 1 and shapes.sorts[number].distinct:
            i, j = (
                (columns[:anchor, moving] == code).sum(axis=0, dtype=np.int16)
                for anchor in (cells[0], cover[0])
            )
            j -= cells[0] < cover[0]
        values = (number, cells[0], cover[0])
        sort, source, target = (np.full(moving.size, v, dtype=np.int16) for v in values)
        yield moving, shapes.find_keys(keys), sort, i, j, source, target


def next_placements(footprint: Footprint, a: int, fits: Fits) -> Iterator[tuple[int, np.ndarray]]:
    """Generate the placements one step away."""
    for _, b in sorted(footprint.beyond[a].items()):
        yield b, fits(b)


def straight_placements(
    footprint: Footprint, a: int, fits: Fits
) -> Iterator[tuple[int, np.ndarray]]:
    """Generate the placements any number of steps away in one direction."""
    for direction, b in sorted(footprint.beyond[a].items()):
        free = fits(b)
        yield b, free
        while free.any() and direction in footprint.beyond[b]:
            b = footprint.beyond[b][direction]
            free = free & fits(b)
            yield b, free


def path_placements(footprint: Footprint, a: int, fits: Fits) -> Iterator[tuple[int, np.ndarray]]:
    """Generate the placements that a path of steps reaches."""
    reached = {a: fits(a)}
    pending = [a]
    while pending:
        x = pending.pop(0)
        for y in footprint.beyond[x].values():
            more = reached[x] & fits(y)
            before = reached.get(y, np.zeros_like(more))
            if (more & ~before).any():
                reached[y] = before | more
                if y not in pending:
                    pending.append(y)
    yield from ((b, free) for b, free in sorted(reached.items()) if b != a)


def along_lines(shapes: Shapes, moves: Moves) -> Moves:
    """Return the moves, of any length, of the only empty cell along a line, made from its moves of
    one step."""
    if not shapes.sorts:
        return moves
    # For each cell c, the shape whose empty cell is c.
    vertices = np.argsort((shapes.rows == EMPTY).argmax(axis=1)).tolist()
    beyond = shapes.sorts[0].footprint.beyond
    graph = moves.graph
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    step = {pair: arc for arc, pair in enumerate(ends)}
    # (source, target, voltage, the arcs of the single steps, and for each of these arcs the place
    # of its tile before the whole move)
    whole_moves = []
    for cell, ways in enumerate(beyond):
        for way in ways:
            at = cell
            voltage: tuple[int, ...] = ()
            steps: tuple[int, ...] = ()
            places: tuple[int, ...] = ()
            order = list(range(len(beyond)))  # for each place, the first place of its tile
            while way in beyond[at]:
                next_cell = beyond[at][way]
                arc = step[vertices[at], vertices[next_cell]]
                steps, places = (*steps, arc), (*places, order[moves.place[arc]])
                swaps = graph.voltages[graph.voltage[arc]]
                for i in swaps:
                    order[i], order[i + 1] = order[i + 1], order[i]
                voltage, at = voltage + swaps, next_cell
                whole_moves.append((vertices[cell], vertices[next_cell], voltage, steps, places))
    source, target, voltages, chains, place = zip(*whole_moves, strict=True)
    sizes, number = [*graph.smaller, graph.m], np.arange(len(voltages))
    lines = _graph(graph.vertices, sizes, np.array(source), np.array(target), voltages, number)
    flat = np.concatenate(chains)
    return Moves(
        lines, moves.in_sequence, moves.fixed, np.cumsum([0, *map(len, chains)]), moves.sort[flat],
        np.concatenate(place), moves.source[flat], moves.target[flat],
    )  # fmt: skip


def _no_undoing(way: int, other: int) -> bool:
    return other != way ^ 1


def _another_axis(way: int, other: int) -> bool:
    return other // 2 != way // 2


@dataclass(frozen=True)
class Metric:
    """A definition of one move.

    name: the value of `puzzle.metric`. kinds: the kinds of puzzles that have the metric. words:
    what one move is. paths: the paths of steps that a piece may take in one move, "step" for one
    step, "straight" for steps in one way, "any" for any steps; None if a move is something else.
    moves: returns the moves between shapes; its second argument is True if a sort of more than one
    piece may be fixed. None if the kind makes its own base graph. alone: the name of the metric
    that defines the moves of a piece alone on the board. goes_on: True if one move may have several
    steps. may_follow: returns True if, in a shortest solution, a piece may move the second way
    after the first. Way 2k + 1 undoes way 2k, and both are along axis k.
    """

    name: str
    kinds: tuple[str, ...]
    words: str
    paths: str | None = None
    moves: Callable[[Shapes, bool], Moves] | None = None
    alone: str = "step"
    goes_on: bool = False
    may_follow: Callable[[int, int], bool] = _no_undoing


ALL = (
    Metric(
        name="step",
        kinds=("tiles", "pattern", "blocks", "cells", "graph"),
        words="one piece by one step",
        paths="step",
        moves=lambda shapes, may_fix: moves_of_pieces(shapes, next_placements, may_fix),
    ),
    Metric(
        name="multi",
        kinds=("tiles",),
        words="all tiles between the blank and another cell of its line, by one cell each",
        moves=lambda shapes, may_fix: along_lines(
            shapes, moves_of_pieces(shapes, next_placements, may_fix)
        ),
        alone="step",  # each tile that a move slides goes to the next cell
        goes_on=True,
        may_follow=_another_axis,
    ),
    Metric(
        name="labelled",
        kinds=("pattern",),
        words="one labelled tile by one cell; moves of other tiles do not count",
    ),
    Metric(
        name="straight",
        kinds=("blocks",),
        words="one piece any distance in one direction",
        paths="straight",
        moves=lambda shapes, may_fix: moves_of_pieces(shapes, straight_placements, may_fix),
        alone="straight",
        goes_on=True,
        may_follow=_another_axis,
    ),
    Metric(
        name="path",
        kinds=("blocks", "cells"),
        words="one piece along any path of steps",
        paths="any",
        moves=lambda shapes, may_fix: moves_of_pieces(shapes, path_placements, may_fix),
        alone="path",
        goes_on=True,
        may_follow=lambda way, other: False,
    ),
    Metric(name="turns", kinds=("permutations",), words="one generator"),
    Metric(
        name="powers",
        kinds=("permutations",),
        words="one generator, any number of times",
        goes_on=True,
    ),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in ALL}
"""All metrics by name."""


def metrics_of(kind: str) -> tuple[str, ...]:
    """Return the names of the metrics of a kind of puzzle; the first is the default."""
    return tuple(name for name, metric in METRICS.items() if kind in metric.kinds)


def check_metric(name: str, kind: str) -> None:
    """Raise InputError unless a kind of puzzle has the metric."""
    names = metrics_of(kind)
    if name not in names:
        words = "; ".join(f"{name}, {METRICS[name].words}" for name in names)
        raise InputError(f"puzzle.metric = {name!r}: expected one of {', '.join(names)} ({words})")


def moves_of(shapes: Shapes, metric: str, may_fix: bool) -> Moves:
    """Return all moves between shapes. may_fix: True if a sort of several pieces may be fixed."""
    moves = METRICS[metric].moves
    assert moves is not None  # the kinds of puzzles that have shapes have no other metric
    return moves(shapes, may_fix)
