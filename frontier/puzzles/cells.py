"""A custom puzzle: cells anywhere, moves between them, and pieces of one or more cells.

Any number of cells may be empty. A piece moves as a whole: each of its cells moves in the same
direction to an empty cell or to another cell of the piece. `frontier.puzzles.directions` describes
cells and directions.

A board has one label per cell; cells with the same label form one piece. Pieces named in one group
of `alike` count as the same; all other pieces differ.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.alike import sliding_encoding
from frontier.puzzles.board_shapes import Placement, footprint_of, placements_from, sorts_of
from frontier.puzzles.directions import Directions
from frontier.puzzles.model import Model
from frontier.puzzles.moves import check_metric
from frontier.puzzles.notation import (
    BLANKS,
    OPEN_MARK,
    Drawing,
    Notation,
    boards_given,
    check_label,
    groups_given,
    joined,
    labels_given,
    read_boards,
)
from frontier.puzzles.picture import Point, laid_out
from frontier.puzzles.pieces import Board, Pieces
from frontier.puzzles.puzzle import Puzzle
from frontier.text import counted
from frontier.values import as_written

Forms = dict[str, frozenset[Placement]]
"""The placements of each piece, by its label."""


class CellNotation(Notation):
    """Boards with one label per cell, or as tables of the cells of each piece."""

    def __init__(self, directions: Directions, forms: Forms, pieces: Pieces, drawing: Drawing):
        super().__init__(pieces, [".", *forms], drawing)
        self.directions, self._forms = directions, forms

    def marks(self, board: Any, name: str) -> list[str]:
        return _marks(self.directions, board, name)

    def marks_of_part(self, board: Any) -> list[str]:
        return self.marks(board, "board")

    def codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        board = super().codes(marks, name, part)
        for label, form in self._forms.items():
            cells = _cells_of(marks, label)
            if cells and cells not in form:
                names = " ".join(self.directions.names[cell] for cell in sorted(cells))
                raise InputError(
                    f"{name} = {self.text(marks)}: piece {label!r} on {names} is not whole, or is "
                    "where no moves lead"
                )
        return board

    def name_move(self, before: Board, after: Board) -> str:
        """Return the label of the piece and the names of its steps."""
        code, _, ways = self.pieces.displaced(before, after)
        names = self.directions.way_names
        return " ".join([self.labels[code], *(names[way] for way in ways)])


def cell_puzzle(
    cells: Sequence[Any],
    moves: Mapping[str, Any] | Sequence[Any],
    pieces: Any,
    goal: Any = None,
    goals: Sequence[Any] | None = None,
    start: Any = None,
    alike: Sequence[str | Sequence[str]] = (),
    metric: str = "step",
) -> Puzzle:
    """Return a sliding puzzle on custom cells.

    cells, moves: as for `frontier.puzzles.directions.Directions`. The others are the arguments of
    `define_puzzle`.
    """
    directions = Directions(cells, moves)
    whole = _marks(directions, pieces, "puzzle.pieces")
    if OPEN_MARK in whole:
        raise InputError(
            f"puzzle.pieces = {pieces!r}: ? is not allowed; name the piece of each cell"
        )
    goals_given = [("puzzle.goal", pieces)]
    if goal is not None or goals is not None:
        goals_given = boards_given(goal, goals)
        start = pieces if start is None else start
    forms = _forms(directions, whole)
    group = groups_given(alike, forms)
    reading = directions.reading(list(dict.fromkeys(forms.values())))
    footprints = {
        label: footprint_of(directions.ways, form, reading) for label, form in forms.items()
    }
    boards = [("puzzle.pieces", whole)]
    boards += [(name, _marks(directions, goal, name, forms)) for name, goal in goals_given]
    if start is not None:
        boards.append(("puzzle.start", _marks(directions, start, "puzzle.start")))
    check_metric(metric, "cells")
    all_pieces = Pieces(
        reading=np.array(reading),
        sorts=tuple(sorts_of(footprints, group)),
        rule=Pieces.whole_once(joined(whole)),
    )
    drawing = Drawing(
        cache(lambda: _places(directions)),
        [sort.codes for sort in all_pieces.sorts],
        None if directions.is_squares else directions.edges,
        () if directions.named else tuple(directions.names),
    )
    notation = CellNotation(directions, forms, all_pieces, drawing)
    boards_read = read_boards(notation, boards)
    model = Model(sliding_encoding(all_pieces, metric, boards_read), boards_read.start)
    title = f"{counted(len(forms), 'piece')} on {counted(len(whole), 'cell')} ({metric})"
    return Puzzle("cells", title, model, notation)


def _forms(directions: Directions, whole: Sequence[str]) -> Forms:
    """Return the placements of each piece on a board; raises InputError if a piece cannot move."""
    forms: Forms = {}
    # Codes follow the board, not the order of the pieces in a table.
    for label in dict.fromkeys(mark for mark in whole if mark not in BLANKS):
        check_label(label, "puzzle.pieces")
        first = _cells_of(whole, label)
        if len(first) > 1 and not directions.named:
            raise InputError(
                f"puzzle.pieces: {label!r} covers {counted(len(first), 'cell')}, which move "
                "together in one direction; puzzle.moves has no directions: make it a table of "
                'them, as in {"east/west" = [["a1", "b1"]]}'
            )
        forms[label] = placements_from(directions.ways, first, len(whole))
    return forms


def _marks(directions: Directions, board: Any, name: str, whole: Forms | None = None) -> list[str]:
    """Return the labels of a board, one per cell.

    whole: the pieces of a whole board, if a table may leave some out and describe a part of a
    board.
    """
    if not isinstance(board, Mapping):
        return labels_given(board, len(directions.names), name)
    left_out = whole is not None and not set(whole) <= set(map(str, board))
    marks = [OPEN_MARK if left_out else "."] * len(directions.names)
    for label, cells_named in board.items():
        numbers = directions.cells(cells_named, f"{name}.{label}")
        if str(label) in (*BLANKS, OPEN_MARK):
            raise InputError(
                f"{name}: {label!r} cannot be the name of a piece; choose another name"
            )
        if not numbers:
            raise InputError(f"{name}.{label}: a piece needs a cell")
        for cell in numbers:
            if marks[cell] not in (".", OPEN_MARK):
                raise InputError(
                    f"{name}: cell {directions.names[cell]} already has {marks[cell]!r}, so "
                    f"{str(label)!r} cannot be there"
                )
            marks[cell] = str(label)
    return marks


def _places(directions: Directions) -> tuple[Point, ...]:
    """Return the middle of each cell."""
    points = directions.unit_points()
    return laid_out(len(directions.names), directions.edges) if points is None else points


def define_puzzle(
    cells: Sequence[Any] | Mapping[str, Any],
    moves: Mapping[str, Any] | Sequence[Any],
    pieces: Mapping[str, Any] | str | Sequence[str],
    goal: Mapping[str, Any] | str | Sequence[str] | None = None,
    goals: Sequence[Any] | None = None,
    start: Mapping[str, Any] | str | Sequence[str] | None = None,
    alike: Sequence[str | Sequence[str]] = (),
    metric: str = "step",
) -> dict[str, Any]:
    """Return a custom puzzle as the [puzzle] table of a config.

    A board is one label per cell in the order of `cells`, as text or a list, with "." for an empty
    cell and, in a goal, "?" for anything; or a table such as `pieces`. A goal whose table leaves
    out pieces is a part of a board: its other cells may hold anything.
    docs/reference/puzzles/cells.md has examples.

    Parameters
    ----------
    cells
        Names, points (x, y), or a mapping of names to points.
    moves
        For each direction, the names of a step and of its opposite, such as "→/←", and the vector
        between two cells, or the pairs of cells.
    pieces
        Label -> the cell or cells that the piece covers, on the start if there is a goal, otherwise
        on the goal.
    goal
        A board, or a part of one.
    goals
        Several goals, instead of `goal`.
    start
        A board whose distance is wanted, by default `pieces` if there is a goal.
    alike
        Groups of labels of pieces that count as the same.
    metric
        "step", one piece by one step, or "path", one piece along any path of steps.

    Returns
    -------
    dict
        The table, for `make_config`.

    Raises
    ------
    InputError
        If these values make no puzzle.
    """
    if isinstance(cells, Mapping):
        cells = [_with_point(name, point) for name, point in cells.items()]
    required = {"cells": cells, "moves": moves, "pieces": pieces, "alike": alike, "metric": metric}
    boards = {"goal": goal, "goals": goals, "start": start}
    boards_given = {key: board for key, board in boards.items() if board is not None}
    values = as_written({**required, **boards_given}, "a puzzle of one's own")
    cell_puzzle(**values)
    return {"kind": "cells", **values}


def _with_point(name: str, point: Any) -> list[Any]:
    coordinates = as_written(point, f"puzzle.cells.{name}")
    if not (isinstance(coordinates, list) and len(coordinates) == 2):
        raise InputError(
            f"puzzle.cells.{name} = {point!r}: expected the coordinates of the cell, [x, y]"
        )
    return [name, *coordinates]


def _cells_of(marks: Sequence[str], label: str) -> Placement:
    return frozenset(cell for cell, mark in enumerate(marks) if mark == label)
