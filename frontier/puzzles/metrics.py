"""The metrics: what counts as one move.

A metric is registered here, once, with all that depends on it: the kinds of puzzles that have it,
the moves between shapes, what may follow a move, and the lower bound. The bound of a puzzle is the
sum over its pieces of the moves that each needs on an empty board (`frontier.puzzles.bound`). So a
metric names the one by which a piece that is alone on the board moves. Moves of that metric must
lead at least as far as its own, else the bound is too high and solutions are too long.
"""

from collections.abc import Callable
from dataclasses import dataclass

from frontier.errors import InputError
from frontier.puzzles.board_shapes import Shapes
from frontier.puzzles.moves import (
    Moves,
    along_lines,
    moves_of_pieces,
    next_placements,
    path_placements,
    straight_placements,
)


@dataclass(frozen=True)
class Metric:
    """A definition of one move.

    name: as `puzzle.metric` has it. kinds: the kinds of puzzles that have it. words: what one move
    is. alone: the name of the metric by which a piece moves that is alone on the board. moves:
    returns the moves between shapes; its second argument is True if a sort of more than one piece
    may be fixed. None if the base graph of the kind has them. goes_on: True if one move may be of
    several steps. may_follow: returns True if the same piece may move the second way after the
    first on a shortest solution. Way 2k + 1 undoes way 2k, and both are along axis k.
    """

    name: str
    kinds: tuple[str, ...]
    words: str
    alone: str
    moves: Callable[[Shapes, bool], Moves] | None
    goes_on: bool
    may_follow: Callable[[int, int], bool]


METRICS: dict[str, Metric] = {}
"""All metrics by their names."""


def register(metric: Metric) -> None:
    """Add a metric to `METRICS`.

    Raises ValueError if its name is taken, or if it has no lower bound, as the metric of a piece
    that is alone is not registered or gives no moves.
    """
    if metric.name in METRICS:
        raise ValueError(f"the metric {metric.name!r} is registered twice")
    alone = METRICS.get(metric.alone, metric if metric.alone == metric.name else None)
    if alone is None or alone.moves is None:
        with_moves = ", ".join(name for name, known in METRICS.items() if known.moves)
        raise ValueError(
            f"the metric {metric.name!r} has no lower bound: alone = {metric.alone!r} gives no "
            f"moves of a piece that is alone on the board; name one of {with_moves or 'none'}, "
            "or itself"
        )
    METRICS[metric.name] = metric


def metrics_of(kind: str) -> tuple[str, ...]:
    """Return the names of the metrics of a kind of puzzle; the first is the default."""
    return tuple(name for name, metric in METRICS.items() if kind in metric.kinds)


def check_metric(name: str, kind: str) -> None:
    """Raise InputError if the metric is none of those that a kind of puzzle has."""
    names = metrics_of(kind)
    if name not in names:
        words = "; ".join(f"{name}, {METRICS[name].words}" for name in names)
        raise InputError(f"puzzle.metric = {name!r}: known are {', '.join(names)} ({words})")


def moves_of(shapes: Shapes, metric: str, may_fix: bool) -> Moves:
    """Return all moves between shapes.

    may_fix: whether a sort of more than one piece may be fixed. Raises InputError if the metric is
    not registered, or has no moves between shapes.
    """
    moves = METRICS[metric].moves if metric in METRICS else None
    if moves is None:
        with_moves = ", ".join(name for name, known in METRICS.items() if known.moves)
        raise InputError(f"metric = {metric!r}: moves are known for {with_moves}")
    return moves(shapes, may_fix)


def _no_undoing(way: int, other: int) -> bool:
    return other != way ^ 1


def _another_axis(way: int, other: int) -> bool:
    return other // 2 != way // 2


register(Metric(
    name="step",
    kinds=("tiles", "pattern", "blocks", "cells", "graph", "permutations"),
    words="one piece by one step, or one generator",
    alone="step",
    moves=lambda shapes, may_fix: moves_of_pieces(shapes, next_placements, may_fix),
    goes_on=False,
    may_follow=_no_undoing,
))  # fmt: skip
register(Metric(
    name="multi",
    kinds=("tiles",),
    words="all tiles between the blank and some other cell of its line by one cell",
    alone="step",  # each tile that a move slides goes to the next cell
    moves=lambda shapes, may_fix: along_lines(
        shapes, moves_of_pieces(shapes, next_placements, may_fix)
    ),
    goes_on=True,
    may_follow=_another_axis,
))  # fmt: skip
register(Metric(
    name="labelled",
    kinds=("pattern",),
    words="one labelled tile by one cell, while the moves of all others count nothing",
    alone="step",
    moves=None,
    goes_on=False,
    may_follow=_no_undoing,
))  # fmt: skip
register(Metric(
    name="straight",
    kinds=("blocks",),
    words="one piece any distance in one direction",
    alone="straight",
    moves=lambda shapes, may_fix: moves_of_pieces(shapes, straight_placements, may_fix),
    goes_on=True,
    may_follow=_another_axis,
))  # fmt: skip
register(Metric(
    name="path",
    kinds=("blocks", "cells"),
    words="one piece along any path of steps",
    alone="path",
    moves=lambda shapes, may_fix: moves_of_pieces(shapes, path_placements, may_fix),
    goes_on=True,
    may_follow=lambda way, other: False,
))  # fmt: skip
