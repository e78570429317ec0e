"""A puzzle of one's own: cells anywhere, moves between them, pieces of one or more cells.

Any number of cells may be empty. A piece moves in one direction as a whole: each of its cells
goes along a move of that direction, to a cell that is empty or is the piece's own. See
`frontier.puzzles.floor` for cells and directions.

A board has a label a cell; the cells of a label are one piece. Pieces that are named in one group
of `alike` count as the same; all others differ.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from frontier.errors import InputError
from frontier.puzzles.floor import Floor, Form
from frontier.puzzles.labelled import Labelled
from frontier.puzzles.notation import (
    BLANKS,
    OPEN_MARK,
    check_label,
    joined,
    labels_given,
)
from frontier.puzzles.picture import Part, Picture, Point, covers, open_cells
from frontier.puzzles.pieces import OPEN, boards_given
from frontier.puzzles.plane import laid_out
from frontier.puzzles.puzzle import Board
from frontier.puzzles.shapes import Sort
from frontier.text import counted
from frontier.values import as_written

METRICS = ("step", "path")


class Cells(Labelled):
    """A sliding puzzle on cells of one's own.

    cells, moves: as for `frontier.puzzles.floor.Floor`.
    pieces: label -> the cell or cells it lies on: the start if there is a goal, else the goal.
    goal: a board, or a part of one. goals: several of them, instead. start: a board whose distance
        is wanted, by default `pieces` if there is a goal.
    alike: groups of labels of pieces that count as the same.
    metric: "step", one piece by one step, or "path", one piece along any path of steps.

    A board is a label a cell in the order of `cells`, as text or a list, "." for an empty cell and
    "?" in a goal for anything; or a table such as `pieces`. A goal's table that leaves out pieces
    is a part of a board: its other cells may hold anything.
    """

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
        if metric not in METRICS:
            raise InputError(f"puzzle.metric = {metric!r}: known are {', '.join(METRICS)}")
        self.floor = floor = Floor(cells, moves)
        self.cells = len(floor)
        whole = self._marks_given(pieces, "puzzle.pieces")
        if OPEN_MARK in whole:
            raise InputError(f"puzzle.pieces = {pieces!r}: ? is no piece; say what lies everywhere")
        given = [pieces]
        if goal is not None or goals is not None:
            given = boards_given(goal, goals)
            start = pieces if start is None else start
        # Codes follow the board, not the order in which a table happens to name the pieces.
        self._labels = [".", *dict.fromkeys(mark for mark in whole if mark not in BLANKS)]
        self._code = {label: code for code, label in enumerate(self._labels) if code}
        self._forms = {label: floor.form(_cells_of(whole, label)) for label in self._code}
        self._check_pieces(whole)
        reading = floor.reading(list(dict.fromkeys(self._forms.values())))
        footprints = {form: floor.footprint(form, reading) for form in self._forms.values()}
        sorts: dict[tuple[Form, int], list[int]] = {}
        groups = self._groups(alike)
        for label, code in self._code.items():
            sorts.setdefault((self._forms[label], groups.get(label, -1)), []).append(code)
        reference = self._codes(whole, "puzzle.pieces", part=False)
        boards = []
        for board in given:
            marks = self._marks_given(board, "puzzle.goal", part=True)
            boards.append(self._codes(marks, "puzzle.goal", part=OPEN_MARK in marks))
        began = None
        if start is not None:
            marks = self._marks_given(start, "puzzle.start")
            began = self._codes(marks, "puzzle.start", part=False)
        super().__init__(
            reading,
            [Sort(footprints[form], tuple(c), group < 0) for (form, group), c in sorts.items()],
            metric,
            reference,
            boards,
            began,
        )

    def _check_pieces(self, whole: list[str]) -> None:
        for label in self._code:
            check_label(label, "puzzle.pieces")
            if whole.count(label) > 1 and not self.floor.named:
                raise InputError(
                    f"puzzle.pieces: {label!r} covers {counted(whole.count(label), 'cell')}, which "
                    "move together in one direction; puzzle.moves names none: make it a table of "
                    'directions, as in {"east/west" = [["a1", "b1"]]}'
                )

    def _groups(self, alike: Sequence[str | Sequence[str]]) -> dict[str, int]:
        """The number of the group of each label that is named in one, checked."""
        if not isinstance(alike, list | tuple) or not all(map(_is_group, alike)):
            raise InputError(
                f"puzzle.alike = {alike!r}: expected a list of groups of labels, each a text of "
                'letters or a list of labels, as in ["ab", ["c1", "c2"]]'
            )
        group_of: dict[str, int] = {}
        for number, group in enumerate(alike):
            for label in group:
                said = f"puzzle.alike = {list(alike)}: {label!r}"
                if label not in self._code:
                    raise InputError(
                        f"{said} is no piece; the pieces are {' '.join(self._labels[1:])}"
                    )
                if label in group_of:
                    raise InputError(f"{said} is named twice")
                group_of[label] = number
                if self._forms[label] != self._forms[group[0]]:
                    raise InputError(
                        f"{said} can never lie where {group[0]!r} does, so they cannot count as "
                        "the same"
                    )
        return group_of

    def _marks_given(self, notation, name: str, part: bool = False) -> list[str]:
        """The labels of a board, or of what may be a part of one; one a cell."""
        if not isinstance(notation, Mapping):
            return labels_given(notation, self.cells, name)
        left_out = part and not set(self._code) <= set(map(str, notation))
        marks = [OPEN_MARK if left_out else "."] * self.cells
        for label, given in notation.items():
            here = self.floor.cells(given, f"{name}.{label}")
            if str(label) in (*BLANKS, OPEN_MARK):
                raise InputError(f"{name}: {label!r} stands for no piece; name it otherwise")
            if not here:
                raise InputError(f"{name}.{label}: a piece lies on one cell or more")
            for cell in here:
                if marks[cell] not in (".", OPEN_MARK):
                    raise InputError(
                        f"{name}: cell {self.floor.names[cell]} is that of {marks[cell]!r}, "
                        f"{str(label)!r} cannot lie there too"
                    )
                marks[cell] = str(label)
        return marks

    def _codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        """The codes of labels. Only here it is seen whether each label is a piece: like pieces
        are found by the codes of any of them."""
        board = []
        for mark in marks:
            if mark in BLANKS:
                board.append(0)
            elif mark == OPEN_MARK and part:
                board.append(OPEN)
            elif mark in self._code:
                board.append(self._code[mark])
            else:
                raise InputError(
                    f"{name} = {joined(marks)}: {mark!r} is no piece of this puzzle; its pieces "
                    f"are {' '.join(self._labels[1:])}"
                )
        for label in self._code:
            here = _cells_of(marks, label)
            if here and frozenset(here) not in self._forms[label]:
                raise InputError(
                    f"{name} = {joined(marks)}: piece {label!r} on "
                    f"{' '.join(self.floor.names[cell] for cell in here)} is not whole, or lies "
                    "where no moves lead it"
                )
        return tuple(board)

    @property
    def title(self) -> str:
        pieces = counted(len(self._code), "piece")
        return f"{pieces} on {counted(self.cells, 'cell')} ({self.metric})"

    def parse(self, notation) -> Board:
        marks = self._marks_given(notation, "board")
        return self._settled(self._codes(marks, "board", part=False))

    def picture(self, board: Board) -> Picture:
        kind = {code: n for n, sort in enumerate(self._sorts) for code in sort.codes}
        # In reading order, in which the first cell of a piece stays its first where it moves on.
        place = {cell: i for i, cell in enumerate(self.reading.tolist())}
        parts = []
        for code, cells in covers(board).items():
            label, sort = self._labels[code], self._sorts[kind[code]]
            shared = "" if sort.distinct else self._labels[sort.codes[0]]
            cells = tuple(sorted(cells, key=place.__getitem__))
            parts.append(Part(code, label, label, kind[code], cells, shared))
        return Picture(
            places=self._places,
            parts=tuple(parts),
            open=open_cells(board),
            kinds=len(self._sorts),
            ordered=False,
            edges=None if self.floor.is_squares else self.floor.edges,
            names=() if self.floor.named else tuple(self.floor.names),
        )

    @cached_property
    def _places(self) -> tuple[Point, ...]:
        points = self.floor.unit_points()
        return laid_out(self.floor.adjacency()) if points is None else points

    def name_move(self, before: Board, after: Board) -> str:
        """The label of the piece and the names of its steps."""
        code, _, ways = self._displaced(before, after)
        return " ".join([self._labels[code], *(self.floor.ways[way] for way in ways)])

    def _why_not(self, board: Board, name: str) -> str:
        if not all(0 <= code < len(self._labels) for code in board):
            return f"{name} {list(board)}: codes are 0 (empty) and 1..{len(self._code)}"
        return (
            f"{name} {self.line(board)}: every piece of {self.line(self._reference)} must lie in "
            "it whole, once"
        )


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


def _cells_of(marks: Sequence[str], label: str) -> list[int]:
    return [cell for cell, mark in enumerate(marks) if mark == label]


def _is_group(group) -> bool:
    many = isinstance(group, list | tuple) and all(isinstance(label, str) for label in group)
    return many or isinstance(group, str)
