"""A puzzle of one's own: cells anywhere, moves between them, pieces of one or more cells.

Any number of cells may be empty. A piece moves in one direction as a whole: each of its cells
goes along a move of that direction, to a cell that is empty or is the piece's own. See
`frontier.puzzles.directions` for cells and directions.

A board has a label a cell; the cells of a label are one piece. Pieces that are named in one group
of `alike` count as the same; all others differ.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from frontier.config_values import as_written
from frontier.errors import InputError
from frontier.puzzles.board_shapes import sorts_of
from frontier.puzzles.boards import Board
from frontier.puzzles.directions import Directions
from frontier.puzzles.footprints import Placement, footprint_of, placements_from
from frontier.puzzles.notation import BLANKS, OPEN_MARK, boards_given, check_label, groups_given
from frontier.puzzles.picture import Point, laid_out
from frontier.puzzles.puzzle import Puzzle
from frontier.text import counted


class Cells(Puzzle):
    """A sliding puzzle on cells of one's own.

    cells, moves: as for `frontier.puzzles.directions.Directions`.
    pieces: label -> the cell or cells it lies on: the start if there is a goal, else the goal.
    goal: a board, or a part of one. goals: several of them, instead. start: a board whose distance
        is wanted, by default `pieces` if there is a goal.
    alike: groups of labels of pieces that count as the same.
    metric: "step", one piece by one step, or "path", one piece along any path of steps.

    A board is a label a cell in the order of `cells`, as text or a list, "." for an empty cell and
    "?" in a goal for anything; or a table such as `pieces`. A goal's table that leaves out pieces
    is a part of a board: its other cells may hold anything.
    """

    kind = "cells"

    def __init__(
        self,
        cells: Sequence,
        moves: Mapping | Sequence,
        pieces,
        goal=None,
        goals: Sequence | None = None,
        start=None,
        alike: Sequence[str | Sequence[str]] = (),
        metric: str = "step",
    ):
        self.directions = board = Directions(cells, moves)
        self.cells = len(board.names)
        self._forms: dict[str, frozenset[Placement]] = {}
        whole = self._marks(pieces, "puzzle.pieces")
        if OPEN_MARK in whole:
            raise InputError(f"puzzle.pieces = {pieces!r}: ? is no piece; say what lies everywhere")
        given = [("puzzle.goal", pieces)]
        if goal is not None or goals is not None:
            given = boards_given(goal, goals)
            start = pieces if start is None else start
        # Codes follow the board, not the order in which a table happens to name the pieces.
        for label in dict.fromkeys(mark for mark in whole if mark not in BLANKS):
            check_label(label, "puzzle.pieces")
            first = _cells_of(whole, label)
            if len(first) > 1 and not board.named:
                raise InputError(
                    f"puzzle.pieces: {label!r} covers {counted(len(first), 'cell')}, which move "
                    "together in one direction; puzzle.moves names none: make it a table of "
                    'directions, as in {"east/west" = [["a1", "b1"]]}'
                )
            self._forms[label] = placements_from(board.ways, first, self.cells)
        group = groups_given(alike, self._forms)
        reading = board.reading(list(dict.fromkeys(self._forms.values())))
        footprints = {
            label: footprint_of(board.ways, form, reading) for label, form in self._forms.items()
        }
        sorts = sorts_of(footprints, group)
        boards = [("puzzle.pieces", whole)]
        boards += [(name, self._marks(goal, name, part=True)) for name, goal in given]
        if start is not None:
            boards.append(("puzzle.start", self._marks(start, "puzzle.start")))
        super().__init__(reading, sorts, [".", *self._forms], metric, boards)
        self._edges = None if board.is_squares else board.edges
        self._names = () if board.named else tuple(board.names)

    def _marks(self, notation, name: str, part: bool = False) -> list[str]:
        if not isinstance(notation, Mapping):
            return super()._marks(notation, name)
        left_out = part and not set(self._forms) <= set(map(str, notation))
        marks = [OPEN_MARK if left_out else "."] * self.cells
        for label, given in notation.items():
            here = self.directions.cells(given, f"{name}.{label}")
            if str(label) in (*BLANKS, OPEN_MARK):
                raise InputError(f"{name}: {label!r} stands for no piece; name it otherwise")
            if not here:
                raise InputError(f"{name}.{label}: a piece lies on one cell or more")
            for cell in here:
                if marks[cell] not in (".", OPEN_MARK):
                    raise InputError(
                        f"{name}: cell {self.directions.names[cell]} is that of {marks[cell]!r}, "
                        f"{str(label)!r} cannot lie there too"
                    )
                marks[cell] = str(label)
        return marks

    def _codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        board = super()._codes(marks, name, part)
        for label, form in self._forms.items():
            here = _cells_of(marks, label)
            if here and here not in form:
                on = " ".join(self.directions.names[cell] for cell in sorted(here))
                raise InputError(
                    f"{name} = {self._text(marks)}: piece {label!r} on {on} is not whole, or lies "
                    "where no moves lead it"
                )
        return board

    @property
    def title(self) -> str:
        pieces = counted(len(self._forms), "piece")
        return f"{pieces} on {counted(self.cells, 'cell')} ({self.metric})"

    @cached_property
    def _places(self) -> tuple[Point, ...]:
        points = self.directions.unit_points()
        return laid_out(self.cells, self.directions.edges) if points is None else points

    def name_move(self, before: Board, after: Board) -> str:
        """The label of the piece and the names of its steps."""
        code, _, ways = self._displaced(before, after)
        return " ".join([self.labels[code], *(self.directions.way_names[way] for way in ways)])


def define_puzzle(
    cells: Sequence | Mapping,
    moves: Mapping | Sequence,
    pieces: Mapping | str | Sequence[str],
    goal: Mapping | str | Sequence[str] | None = None,
    goals: Sequence | None = None,
    start: Mapping | str | Sequence[str] | None = None,
    alike: Sequence[str | Sequence[str]] = (),
    metric: str = "step",
) -> dict:
    """A puzzle of one's own, as the [puzzle] table of a config.

    cells: names, points (x, y), or a mapping of names to points. The rest as for
    `frontier.puzzles.cells.Cells`. InputError if there is no such puzzle.
    """
    if isinstance(cells, Mapping):
        cells = [_with_point(name, point) for name, point in cells.items()]
    needed = {"cells": cells, "moves": moves, "pieces": pieces, "alike": alike, "metric": metric}
    boards = {"goal": goal, "goals": goals, "start": start}
    given = {key: board for key, board in boards.items() if board is not None}
    values = as_written({**needed, **given}, "a puzzle of one's own")
    Cells(**values)
    return {"kind": "cells", **values}


def _with_point(name, point) -> list:
    coordinates = as_written(point, f"puzzle.cells.{name}")
    if not (isinstance(coordinates, list) and len(coordinates) == 2):
        raise InputError(f"puzzle.cells.{name} = {point!r}: expected where the cell lies, [x, y]")
    return [name, *coordinates]


def _cells_of(marks: Sequence[str], label: str) -> Placement:
    return frozenset(cell for cell, mark in enumerate(marks) if mark == label)
