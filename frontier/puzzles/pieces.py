"""Pieces on cells: the model behind tiles, blocks, graphs and cells, which are ways to write one.

Such a puzzle is a number of cells in a reading order, sorts of pieces with their
footprints, a metric and one or more goals. From these follow its shapes, its moves, and how
boards and states correspond. The sequence ranks the pieces of each sort in the order in which a
reference board shows them, so that the reference board's sequence is 0, 1, 2, ...

A goal is a board or a part of one: the cells that are left open may hold anything, and every
board that agrees with the others is at depth 0. Where a start is given, boards that cannot be
reached from it are left out: the search would begin from them, but no solution would pass them.
"""

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise, permutations, product
from math import factorial, prod
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Shapes, Sort, shape_rows
from frontier.puzzles.moves import Moves, moves_of
from frontier.puzzles.notation import BLANKS, GOALS, OPEN_MARK, first_whole, labels_given
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.space.graph import BaseGraph

OPEN = -1
"""Code of a goal's cell that may hold anything."""

MOST_ORIGINS = 1_000_000


class Pieces(Puzzle):
    """A puzzle of pieces on cells; subclasses say how it is written and where its cells lie.

    labels: what stands for each code on boards as they are written, labels[0] for an empty cell.
        Several pieces may share a label.
    reading: int64[cells], the cells in reading order. sorts: the pieces by what shapes tell.
    metrics: the names of the metrics that there are.
    """

    metrics: ClassVar[tuple[str, ...]] = ("step",)
    _places: tuple[Point, ...]
    """Where the cells lie in a picture."""
    _edges: tuple[tuple[int, int], ...] | None = None
    """The pairs of cells that a picture joins; None where cells are squares."""
    _names: tuple[str, ...] = ()
    """The names of the cells, where those of moves are made of them."""
    _symbols: Mapping[str, str] = MappingProxyType({})
    """Label -> what is drawn instead."""
    _ordered = False
    """Whether the colours of pieces make a scale."""

    def __init__(
        self,
        reading: Sequence[int],
        sorts: Sequence[Sort],
        labels: Sequence,
        metric: str,
        boards: Sequence[tuple[str, Sequence]],
    ):
        """boards: (key of the config, labels one a cell) of the goals, which may be parts of
        boards, and of the start. The first whole one, be it of another key, shows all pieces.
        """
        if metric not in self.metrics:
            known = ", ".join(self.metrics)
            raise InputError(f"puzzle.metric = {metric!r}: known are {known}")
        self.cells, self.metric = len(reading), metric
        self.reading, self.labels = np.array(reading), list(labels)
        self.sorts = tuple(sorts)
        self._code_of = {label: code for code, label in reversed([*enumerate(labels)])}
        self._code_of |= dict.fromkeys(BLANKS, 0)
        self._reference = self._read(*first_whole(boards))
        goals = [board for board in boards if board[0] in ("puzzle.goal", GOALS)]
        self.goals = tuple(self._read(*goal, part=True) for goal in goals)
        starts = [self._read(*board) for board in boards if board[0] == "puzzle.start"]
        self.start = starts[0] if starts else None

    def _marks(self, notation, name: str) -> Sequence:
        """The labels of a board, one a cell; `name` says where it stands."""
        return labels_given(notation, self.cells, name)

    def _codes(self, marks: Sequence, name: str, part: bool) -> Board:
        """The codes of labels. part: whether `OPEN_MARK` may stand for anything.

        Unknown labels are refused here, as later steps see codes alone.
        """
        code_of = self._code_of | ({OPEN_MARK: OPEN} if part else {})
        for mark in marks:
            if mark not in code_of:
                raise InputError(
                    f"{name} = {self._text(marks)}: {mark!r} is no piece of this puzzle; its "
                    f"pieces are {' '.join(dict.fromkeys(self.labels[1:]))}"
                )
        return tuple(code_of[mark] for mark in marks)

    def _read(self, name: str, marks: Sequence, part: bool = False) -> Board:
        """A board from its labels; with `part` it may be a part of one."""
        board = self._codes(marks, name, part)
        return board if OPEN in board else self._settled(board, name)

    def parse(self, notation) -> Board:
        return self._read("board", self._marks(notation, "board"))

    def labels_on(self, board: Board) -> list:
        return [OPEN_MARK if code == OPEN else self.labels[code] for code in board]

    def _why_not(self, board: Board, name: str) -> str:
        """A sentence on what is wrong with the codes of a board; `name` says where it stands."""
        if not all(0 <= code < len(self.labels) for code in board):
            return f"{name} {list(board)}: codes are 0 (empty) and 1..{len(self.labels) - 1}"
        return (
            f"{name} {self.line(board)}: every piece of {self.line(self._reference)} must lie in "
            "it whole, once"
        )

    def _kinds(self) -> list[Sequence[int]]:
        """The codes of the pieces that have one colour in pictures, for each colour."""
        return [sort.codes for sort in self.sorts]

    def picture(self, board: Board) -> Picture:
        kinds, marks = self._kinds(), self.labels_on(board)
        kind = {code: n for n, codes in enumerate(kinds) for code in codes}
        shared = {
            code: self._shown_as(self.labels[sort.codes[0]])
            for sort in self.sorts
            for code in sort.codes
            if not sort.distinct and self.labels[code] != self.labels[sort.codes[0]]
        }
        codes = self._pieces_on(np.array(board))
        # In reading order, in which the first cell of a piece stays its first where it moves on.
        covers: dict[int, list[int]] = {}
        for cell in self.reading.tolist():
            covers.setdefault(int(codes[cell]), []).append(cell)
        pieces = [
            Piece(
                code, str(self.labels[code]), self._shown_as(marks[cells[0]]), kind.get(code),
                tuple(cells), shared.get(code, ""),
            )
            for code, cells in sorted(covers.items())
            if code > 0
        ]  # fmt: skip
        return Picture(
            self._places, tuple(pieces), tuple(np.flatnonzero(codes == OPEN).tolist()), len(kinds),
            self._ordered, self._edges, self._names,
        )  # fmt: skip

    def _shown_as(self, label) -> str:
        return str(self._symbols.get(label, label))

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes of the board, in reading order."""
        boards = [board for board in (*self.goals, self.start) if board and OPEN not in board]
        if self.start is None and len(boards) < len(self.goals):
            return Shapes(self.cells, self.sorts)
        return Shapes(self.cells, self.sorts, np.array(boards)[:, self.reading])

    @property
    def graph(self) -> BaseGraph:
        return self.moves.graph

    @cached_property
    def moves(self) -> Moves:
        """All moves between shapes: the arcs of the base graph, and what they displace."""
        # Goals that show the pieces of a sort in different orders need them in the sequence.
        whole = all(OPEN not in goal for goal in self.goals)
        may_fix = whole and len({*map(self._order_of, (*self.goals, self._reference))}) == 1
        return moves_of(self.shapes, self.metric, may_fix)

    def _order_of(self, board: Board) -> tuple[int, ...]:
        """The codes of all pieces in the order in which a board shows them, sort after sort."""
        shown = dict.fromkeys(self._pieces_on(np.array(board))[self.reading].tolist())
        return tuple(code for sort in self.sorts for code in shown if code in sort.codes)

    @property
    def _ranked(self) -> Sequence[int]:
        """The numbers of the sorts in the order in which `members` has them."""
        like = [number for number, sort in enumerate(self.sorts) if not sort.distinct]
        return [*self.moves.in_sequence, *self.moves.fixed, *like]

    @cached_property
    def _ranks(self) -> dict[int, slice]:
        """The ranks of the pieces of each sort in `members`."""
        numbers = self._ranked
        ends = np.cumsum([0, *(len(self.sorts[number].codes) for number in numbers)]).tolist()
        return dict(zip(numbers, (slice(*ends) for ends in pairwise(ends)), strict=True))

    @cached_property
    def members(self) -> np.ndarray:
        """The codes of all pieces by rank: first those in the sequence, then those of sorts whose
        order never changes, then those that are like others."""
        order = self._order_of(self._reference)
        ranked = [c for number in self._ranks for c in order if c in self.sorts[number].codes]
        return np.array(ranked, dtype=np.int64)

    @cached_property
    def _rank(self) -> np.ndarray:
        """The ranks of the pieces by their codes."""
        rank = np.zeros(len(self.labels), dtype=np.int64)
        rank[self.members] = np.arange(self.members.size)
        return rank

    def with_sorts(self, sorts: Sequence[Sort]) -> "Pieces":
        """The same puzzle with its pieces sorted otherwise."""
        other = copy.copy(self)
        for name in vars(self):
            if isinstance(getattr(type(self), name, None), cached_property):
                delattr(other, name)
        # Without its start, as pieces may be named so that it can reach no goal.
        other.sorts, other.start = tuple(sorts), None
        return other

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boards = self.as_boards(boards)
        rows = self._shape_rows(boards)
        if not (whole := rows.all(axis=1)).all():
            raise InputError(self._why_not(boards[whole.argmin()].tolist(), "board"))
        vertex, length = self._find(boards, rows), self.graph.length
        pieces = self._pieces_on(boards)[:, self.reading]
        order = np.tile(np.arange(self.members.size), (len(boards), 1))
        for number, ranks in self._ranks.items():
            if self.sorts[number].distinct:
                codes = pieces[rows == FIRST_SORT + number]
                order[:, ranks] = self._rank[codes].reshape(order[:, ranks].shape)
        moved = order[:, length:] != np.arange(length, self.members.size)
        vertex[moved.any(axis=1)] = -1
        return vertex, np.ascontiguousarray(order[:, :length])

    def _pieces_on(self, boards: np.ndarray) -> np.ndarray:
        """The numbers of the pieces that the codes of boards stand for."""
        return boards

    def _shape_rows(self, boards: np.ndarray) -> np.ndarray:
        """What `shape_rows` says of boards."""
        return shape_rows(boards[:, self.reading], self.sorts)

    def _find(self, boards: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The vertices of boards that have these rows."""
        return self.shapes.find(rows)

    def state(self, board: Board) -> State:
        vertex, sequence = super().state(board)
        if vertex < 0:
            raise InputError(
                f"board {self.line(board)} cannot be reached: its pieces are in an order, or lie "
                "in a way, to which no moves lead"
            )
        return vertex, sequence

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        return self._boards(self.shapes.rows_of(vertex), sequence)

    def _boards(self, rows: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """The boards of shapes and sequences."""
        rest = np.arange(self.graph.length, self.members.size)
        codes = self.members[np.hstack([sequence, np.tile(rest, (len(rows), 1))])]
        anchored = np.zeros(rows.shape, dtype=np.int64)
        for number, ranks in self._ranks.items():
            anchored[rows == FIRST_SORT + number] = codes[:, ranks].ravel()
        return self._laid(rows, anchored)

    def _settled(self, board: Board, name: str) -> Board:
        """The board with like pieces in the order of their codes; InputError if it is not one."""
        in_order = np.array([board])[:, self.reading]
        rows = shape_rows(in_order, self.sorts)
        if not rows.all():
            raise InputError(self._why_not(board, name))
        for number, sort in enumerate(self.sorts):
            if not sort.distinct:
                in_order[rows == FIRST_SORT + number] = sort.codes
        return tuple(self._laid(rows, in_order)[0].tolist())

    def _laid(self, rows: np.ndarray, anchored: np.ndarray) -> np.ndarray:
        """The boards, int64[N, cells], of shapes whose pieces have these codes at their anchors."""
        boards = np.zeros(rows.shape, dtype=np.int64)
        for number, sort in enumerate(self.sorts):
            for cover in sort.footprint.placements:
                here = np.flatnonzero(rows[:, cover[0]] == FIRST_SORT + number)
                codes = anchored[here, cover[0]]
                boards[np.ix_(here, self.reading[list(cover)])] = codes[:, None]
        return boards

    def steps(self, before: Board, after: Board) -> list[Board]:
        code, passed, _ = self._displaced(before, after)
        rest = tuple(0 if there == code else there for there in before)
        return [
            tuple(code if cell in placement else there for cell, there in enumerate(rest))
            for placement in passed[1:]
        ]

    def _displaced(
        self, before: Board, after: Board
    ) -> tuple[int, list[tuple[int, ...]], tuple[int, ...]]:
        """(code, the cells that it covers one after the other, ways) of the piece that one move
        displaces: those of a shortest path over cells that are empty.
        """
        pair = np.array([before, after])[:, self.reading]
        was, now = shape_rows(pair, self.sorts)
        (a,) = np.flatnonzero((was >= FIRST_SORT) & (was != now))
        (b,) = np.flatnonzero((now >= FIRST_SORT) & (was != now))
        footprint = self.sorts[was[a] - FIRST_SORT].footprint
        placements, beyond = footprint.placements, footprint.beyond
        first, last = footprint.at[a], footprint.at[b]
        free = {*np.flatnonzero(was == EMPTY).tolist(), *placements[first]}
        paths: dict[int, tuple[tuple[int, int], ...]] = {first: ()}
        queue = [first]
        for here in queue:
            for way, on in beyond[here].items():
                if on not in paths and free.issuperset(placements[on]):
                    paths[on] = (*paths[here], (way, on))
                    queue.append(on)
        ways, passed = zip(*paths[last], strict=True)
        cells = [tuple(self.reading[list(placements[p])].tolist()) for p in (first, *passed)]
        return before[cells[0][0]], cells, ways

    def blank_home(self) -> np.ndarray | None:
        if len(self.goals) != 1 or OPEN in self.goals[0]:
            return None
        empty = np.array(self.goals[0])[self.reading] == 0
        return ((self.shapes.rows == EMPTY) == empty).all(axis=1)

    def _states_of_goals(self) -> np.ndarray:
        if any(OPEN in goal for goal in self.goals):
            return np.concatenate(list(map(self._agreeing, self.goals)))
        return super()._states_of_goals()

    @property
    def why_unreachable(self) -> str:
        if not self._included.all():
            return (
                "it cannot be reached from puzzle.start, and only what can be reached from there "
                "is searched; with this board as puzzle.start its own positions are"
            )
        return super().why_unreachable

    def _agreeing(self, goal: Board) -> np.ndarray:
        """The states, int64[N, 1 + length], of all boards that agree with a goal."""
        in_order = np.array(goal)[self.reading]
        agree = (self.shapes.rows[:, in_order == 0] == EMPTY).all(axis=1)
        for number, sort in enumerate(self.sorts):
            for code in set(sort.codes).intersection(goal):
                anchor = (in_order == code).argmax()
                agree &= self.shapes.rows[:, anchor] == FIRST_SORT + number
        vertices = np.flatnonzero(agree)
        # The rank in each place of the sequence where the goal says it, else -1.
        given = np.full((len(vertices), self.graph.length), -1)
        blocks = [self._ranks[number] for number in self.moves.in_sequence]
        for number, ranks in zip(self.moves.in_sequence, blocks, strict=True):
            anchor = np.nonzero(self.shapes.rows[vertices] == FIRST_SORT + number)[1]
            codes = in_order[anchor].reshape(given[:, ranks].shape)
            given[:, ranks] = np.where(codes == OPEN, -1, self._rank[codes])
        found, many = [], 0
        different, which = np.unique(given, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        alike = np.split(vertices[order], np.cumsum(np.bincount(which.ravel()))[:-1])
        for ranks, here in zip(different.tolist(), alike, strict=False):
            many += len(here) * prod(factorial(ranks[block].count(-1)) for block in blocks)
            if many <= MOST_ORIGINS:
                found.append(_states_with(here, ranks, blocks))
        if not many:
            raise InputError(f"no board agrees with the goal {self.line(goal)}")
        if many > MOST_ORIGINS:
            raise InputError(
                f"{many:,} boards agree with the goal {self.line(goal)}: at most {MOST_ORIGINS:,} "
                "positions can be at depth 0; say more of the goal's cells"
            )
        return np.concatenate(found)


def _states_with(vertices: np.ndarray, given: list[int], blocks: list[slice]) -> np.ndarray:
    """All states, int64[N, 1 + length], at some vertices with these ranks in their places.

    given: a rank or -1 for each place of the sequence, of which each block has its own ranks.
    """
    missing = [set(range(block.start, block.stop)).difference(given) for block in blocks]
    orders = [tuple(chain(*parts)) for parts in product(*map(permutations, map(sorted, missing)))]
    sequence = np.tile(given, (len(orders), 1)).astype(np.int64)
    sequence[:, np.array(given, dtype=np.int64) < 0] = orders
    vertex = np.repeat(vertices, len(orders))[:, None]
    return np.hstack([vertex, np.tile(sequence, (len(vertices), 1))])
