"""Pieces on cells: the model behind tiles, blocks, graphs and cells, which are ways to write one.

A puzzle of this family is a number of cells in a reading order, sorts of pieces with their
footprints, a metric and one or more goals. From these follow its shapes, its moves, and how
boards and states correspond. The sequence ranks the pieces of each sort in the order in which a
reference board shows them, so that the reference board's sequence is 0, 1, 2, ...

A goal is a board or a part of one: the cells that are left open may hold anything, and every
board that agrees with the others is at depth 0. Where a start is given, boards that cannot be
reached from it are left out: the search would begin from them, but no solution would pass them.
"""

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import permutations
from math import factorial
from typing import ClassVar

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Shapes, Sort, holds_all, shape_rows
from frontier.puzzles.moves import Moves, moves_of
from frontier.puzzles.notation import BLANKS, OPEN_MARK, joined
from frontier.puzzles.picture import Part, Picture, Point, covers, open_cells
from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.space.graph import BaseGraph
from frontier.space.group import Reach

OPEN = -1
"""Code of a goal's cell that may hold anything."""

MOST_ORIGINS = 1_000_000


class Pieces(Puzzle):
    """A puzzle of pieces on cells; subclasses say how it is written and where its cells lie.

    labels: what stands for each code in text; labels[0] for an empty cell. Several pieces may
        share a label.
    reading: int64[cells], the cells in reading order.
    metrics: the names of the metrics that there are.
    """

    metrics: ClassVar[tuple[str, ...]] = ("step",)
    _places: tuple[Point, ...]
    """Where the cells lie in a picture."""
    _edges: tuple[tuple[int, int], ...] | None = None
    """The pairs of cells that a picture joins; None where cells are squares."""
    _names: tuple[str, ...] = ()
    """The names of the cells, where those of moves are made of them."""
    _symbols: Mapping[str, str]
    """Label -> what is drawn instead."""

    def __init__(
        self,
        reading: Sequence[int],
        sorts: Sequence[Sort],
        labels: Sequence[str],
        metric: str,
        reference: tuple[str, Sequence[str]],
        goals: Sequence[Sequence[str]],
        start: Sequence[str] | None,
    ):
        """
        reading: the cells in reading order. reference: (key of the config, a board with all
        pieces). It, the goals, which may be parts of boards, and the start are labels, one a cell.
        """
        if metric not in self.metrics:
            known = ", ".join(self.metrics)
            raise InputError(f"puzzle.metric = {metric!r}: known are {known}")
        self.cells = len(reading)
        self.metric = metric
        self.reading = np.array(reading)
        self.labels = list(labels)
        self._sorts = tuple(sorts)
        self._symbols = {}
        self._code_of = {label: code for code, label in reversed([*enumerate(labels)])}
        self._code_of |= dict.fromkeys(BLANKS, 0)
        name, whole = reference
        self._reference = self._codes(whole, name)
        self._reference = self._settled(self._reference, name)
        self.goals = tuple(self._read(marks, "puzzle.goal", part=True) for marks in goals)
        self.start = None if start is None else self._read(start, "puzzle.start")

    @abstractmethod
    def _marks(self, notation, name: str) -> Sequence[str]:
        """The labels of a board, one a cell; `name` says where it stands."""

    def _codes(self, marks: Sequence[str], name: str, part: bool = False) -> Board:
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

    def _read(self, marks: Sequence[str], name: str, part: bool = False) -> Board:
        """A board from its labels; with `part` it may be a part of one."""
        board = self._codes(marks, name, part)
        return board if OPEN in board else self._settled(board, name)

    def parse(self, notation) -> Board:
        return self._read(self._marks(notation, "board"), "board")

    def _labels_on(self, board: Board) -> list[str]:
        return [OPEN_MARK if code == OPEN else self.labels[code] for code in board]

    def _text(self, marks: Sequence[str]) -> str:
        """Labels, one a cell, as one line of text."""
        return joined(marks)

    def write(self, board: Board) -> list | str:
        marks = self._labels_on(board)
        return "".join(marks) if all(len(mark) == 1 for mark in marks) else marks

    def line(self, board: Board) -> str:
        return self._text(self._labels_on(board))

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
        return [sort.codes for sort in self._sorts]

    def picture(self, board: Board) -> Picture:
        drawn = [self._symbols.get(label, label) for label in self.labels]
        shared = [""] * len(drawn)
        for sort in self._sorts:
            for code in () if sort.distinct else sort.codes:
                shared[code] = drawn[sort.codes[0]]
        kinds = self._kinds()
        kind = {code: n for n, codes in enumerate(kinds) for code in codes}
        # In reading order, in which the first cell of a piece stays its first where it moves on.
        place = {cell: i for i, cell in enumerate(self.reading.tolist())}
        parts = []
        for code, cells in covers(board).items():
            cells = tuple(sorted(cells, key=place.__getitem__))
            name = self.labels[code]
            parts.append(Part(code, name, drawn[code], kind[code], cells, shared[code]))
        return Picture(
            places=self._places,
            parts=tuple(parts),
            open=open_cells(board),
            kinds=len(kinds),
            ordered=False,
            edges=self._edges,
            names=self._names,
        )

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes of the board, in reading order."""
        whole = [goal for goal in self.goals if OPEN not in goal]
        if self.start is not None:
            whole.append(self.start)
        elif len(whole) < len(self.goals):
            return Shapes(self.cells, self._sorts)
        return Shapes(self.cells, self._sorts, np.array(whole)[:, self.reading])

    @property
    def graph(self) -> BaseGraph:
        return self.moves.graph

    @cached_property
    def moves(self) -> Moves:
        """All moves between shapes: the arcs of the base graph, and what they displace."""
        # Goals that show the pieces of a sort in different orders need them in the sequence.
        whole = all(OPEN not in goal for goal in self.goals)
        boards = (*self.goals, self._reference)
        orders = {tuple(map(tuple, self._orders_of(board))) for board in boards} if whole else ()
        return self._all_moves(may_fix=len(orders) == 1)

    def _all_moves(self, may_fix: bool) -> Moves:
        return moves_of(self.shapes, self.metric, may_fix)

    def _orders_of(self, board: Board) -> list[list[int]]:
        """For each sort, its codes in the order in which a board shows them."""
        seen = list(dict.fromkeys(board[cell] for cell in self.reading))
        return [
            [code for code in seen if code in sort.codes] if sort.distinct else list(sort.codes)
            for sort in self._sorts
        ]

    @cached_property
    def _members(self) -> list[np.ndarray]:
        return [np.array(codes, dtype=np.int64) for codes in self._orders_of(self._reference)]

    def members(self, sort: int) -> np.ndarray:
        """The codes of a sort by rank."""
        return self._members[sort]

    def with_sorts(self, sorts: Sequence[Sort]) -> "Pieces":
        """The same puzzle with its pieces sorted otherwise."""
        other = copy.copy(self)
        for name in list(vars(other)):
            if isinstance(getattr(type(other), name, None), cached_property):
                delattr(other, name)
        other._sorts = tuple(sorts)
        other.start = None  # its pieces may be named so that no goal can be reached
        return other

    def from_anywhere(self) -> "Pieces":
        if self.start is None:
            return self
        moves = self.moves  # where shapes are too many, those that the start reaches
        other = copy.copy(self)
        for name in ("_component", "space"):
            vars(other).pop(name, None)
        other.start, other.moves = None, moves
        return other

    @cached_property
    def _begins(self) -> dict[int, int]:
        """Where its part of the sequence begins, for each sort that has one."""
        sizes = [len(self._sorts[n].codes) for n in self.moves.in_sequence]
        return dict(zip(self.moves.in_sequence, np.cumsum([0, *sizes])[:-1].tolist(), strict=True))

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boards = self.as_boards(boards)
        in_order = boards[:, self.reading]
        rows = shape_rows(in_order, self._sorts)
        vertex = self.shapes.find(rows)
        good = holds_all(rows, self._sorts)
        sequence = np.zeros((len(boards), self.graph.length), dtype=np.int64)
        rank = np.zeros(len(self.labels), np.int64)
        for members in self._members:
            rank[members] = np.arange(len(members))
        for number in (*self.moves.in_sequence, *self.moves.fixed):
            size = len(self._sorts[number].codes)
            codes = in_order[good][rows[good] == FIRST_SORT + number].reshape(-1, size)
            ranks = rank[codes]
            once = (np.sort(ranks, axis=1) == np.arange(size)).all(axis=1)
            if number in self.moves.fixed:
                kept = (ranks == np.arange(size)).all(axis=1)
                vertex[np.flatnonzero(good)[once & ~kept]] = -1
            else:
                first = self._begins[number]
                sequence[good, first : first + size] = ranks + first
            good[np.flatnonzero(good)[~once]] = False
        if not good.all():
            raise InputError(self._why_not(boards[np.flatnonzero(~good)[0]].tolist(), "board"))
        return vertex, sequence

    def state(self, board: Board) -> State:
        vertex, sequence = super().state(board)
        if vertex < 0:
            raise InputError(
                f"board {self.line(board)} cannot be reached: its pieces are in an order, or lie "
                "in a way, to which no moves lead"
            )
        return vertex, sequence

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        rows = self.shapes.rows[vertex]
        boards = np.zeros(rows.shape, dtype=np.int64)
        for number, sort in enumerate(self._sorts):
            members, size = self._members[number], len(sort.codes)
            if number in self._begins:
                first = self._begins[number]
                codes = members[sequence[:, first : first + size] - first]
            else:
                codes = np.tile(members, (len(rows), 1))
            anchors = rows == FIRST_SORT + number
            boards[anchors] = codes.ravel()
            if sort.footprint.size > 1:
                for cover in sort.footprint.placements:
                    here = np.flatnonzero(anchors[:, cover[0]])
                    boards[np.ix_(here, cover)] = boards[here, cover[0]][:, None]
        found = np.empty_like(boards)
        found[:, self.reading] = boards
        return found

    def _settled(self, board: Board, name: str) -> Board:
        """The board with like pieces in the order of their codes; InputError if it is not one."""
        in_order = np.array(board)[self.reading]
        row = shape_rows(in_order[None], self._sorts)[0]
        for number, sort in enumerate(self._sorts):
            anchors = np.flatnonzero(row == FIRST_SORT + number)
            shown = len(anchors) if not sort.distinct else len(set(in_order[anchors].tolist()))
            if len(anchors) != len(sort.codes) or shown != len(anchors):
                raise InputError(self._why_not(board, name))
            if not sort.distinct:
                for anchor, code in zip(anchors, sort.codes, strict=True):
                    in_order[list(sort.footprint.placements[sort.footprint.at[anchor]])] = code
        settled = np.empty_like(in_order)
        settled[self.reading] = in_order
        return tuple(settled.tolist())

    def follow(self, before: Board, after: Board) -> Board:
        return self.steps(before, after)[-1]

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
        displaces.

        They are those of a shortest path over cells that are empty, from where it was to where it
        is.
        """
        pair = np.array([before, after])[:, self.reading]
        was, now = shape_rows(pair, self._sorts)
        (a,) = np.flatnonzero((was >= FIRST_SORT) & (was != now))
        (b,) = np.flatnonzero((now >= FIRST_SORT) & (was != now))
        footprint = self._sorts[was[a] - FIRST_SORT].footprint
        first, last = footprint.at[a], footprint.at[b]
        free = {*np.flatnonzero(was == EMPTY).tolist(), *footprint.placements[first]}
        beyond = footprint.beyond()
        paths: dict[int, tuple[int, ...]] = {first: ()}
        queue = [first]
        for here in queue:
            for way, on in beyond[here].items():
                if on not in paths and free.issuperset(footprint.placements[on]):
                    paths[on] = (*paths[here], way)
                    queue.append(on)
        passed = [first]
        for way in paths[last]:
            passed.append(beyond[passed[-1]][way])
        cells = [tuple(self.reading[list(footprint.placements[p])].tolist()) for p in passed]
        return before[cells[0][0]], cells, paths[last]

    def blank_home(self) -> np.ndarray | None:
        if len(self.goals) != 1 or OPEN in self.goals[0]:
            return None
        empty = np.array(self.goals[0])[self.reading] == 0
        return ((self.shapes.rows == EMPTY) == empty).all(axis=1)

    def origins(self) -> tuple[np.ndarray, np.ndarray]:
        return self._component[0]

    @property
    def reach(self) -> Reach:
        """Which states can be reached: from the start if there is one, else from the goals."""
        return self._component[1]

    @cached_property
    def _component(self) -> tuple[tuple[np.ndarray, np.ndarray], Reach, bool]:
        """(the states at depth 0, what can be reached, whether goals were left out for that)."""
        states = np.concatenate(list(map(self._agreeing, self.goals)))
        if len(self.goals) > 1:  # a board may agree with several
            states = np.unique(states, axis=0)
        vertex, sequence = states[:, 0], states[:, 1:]
        if self.start is not None:
            first = self.states_of(np.array([self.start]))
            if first[0][0] >= 0:
                reach = Reach(self.graph, *first)
                inside = reach.contains(vertex, sequence)
                if inside.any():
                    return (vertex[inside], sequence[inside]), reach, not inside.all()
        return (vertex, sequence), Reach(self.graph, vertex, sequence), False

    @property
    def why_unreachable(self) -> str:
        if self._component[2]:
            return (
                "it cannot be reached from puzzle.start, and only what can be reached from there "
                "is searched; with this board as puzzle.start its own positions are"
            )
        return super().why_unreachable

    def _agreeing(self, goal: Board) -> np.ndarray:
        """The states, int64[N, 1 + length], of all boards that agree with a goal."""
        in_order = np.array(goal)[self.reading]
        rows = self.shapes.rows
        agree = (rows[:, in_order == 0] == EMPTY).all(axis=1)
        given: dict[int, int] = {}  # anchor -> code
        for number, sort in enumerate(self._sorts):
            for cover in self.drawn(sort, goal):
                agree &= rows[:, cover[0]] == FIRST_SORT + number
                given[cover[0]] = int(in_order[cover[0]])
        vertices = np.flatnonzero(agree).tolist()
        orders_of = cache(_orders)  # many shapes have the same ones
        orders = [self._orders_with(vertex, given, orders_of) for vertex in vertices]
        many = sum(np.prod([len(part) for part in parts], dtype=float) for parts in orders)
        if not many:
            raise InputError(f"no board agrees with the goal {self.line(goal)}")
        if many > MOST_ORIGINS:
            raise InputError(_too_many(f"{many:,.0f} boards agree with the goal {self.line(goal)}"))
        return np.concatenate(
            [_all_of(vertex, every) for vertex, every in zip(vertices, orders, strict=True)]
        )

    def drawn(self, sort: Sort, goal: Board) -> list[tuple[int, ...]]:
        """The placements of a sort's pieces that a board, or a part of one, shows."""
        in_order = np.array(goal)[self.reading]
        covers = []
        taken: set[int] = set()
        for cell in range(self.cells):
            if in_order[cell] in sort.codes and cell not in taken:
                cover = sort.footprint.placements[sort.footprint.at[cell]]
                taken |= set(cover)
                covers.append(cover)
        return covers

    def _orders_with(
        self, vertex: int, given: dict[int, int], orders_of: Callable[..., np.ndarray]
    ) -> list[np.ndarray]:
        """For each sort in the sequence, all its orders at a shape that agree with the codes given
        at some anchors: int64[orders, pieces]. orders_of: `_orders`."""
        orders = []
        for number, first in self._begins.items():
            members = self._members[number].tolist()
            anchors = np.flatnonzero(self.shapes.rows[vertex] == FIRST_SORT + number).tolist()
            held = {i: members.index(given[a]) for i, a in enumerate(anchors) if a in given}
            orders.append(orders_of(first, len(members), tuple(held.items())))
        return orders


def _orders(first: int, pieces: int, held: tuple[tuple[int, int], ...]) -> np.ndarray:
    """All orders of first … first + pieces - 1, int64[orders, pieces], in which the places of some
    are held: (place, its number, counted from the first)."""
    places, ranks = zip(*held, strict=True) if held else ((), ())
    free = [place for place in range(pieces) if place not in places]
    if factorial(len(free)) > MOST_ORIGINS:
        raise InputError(_too_many(f"more than {factorial(len(free)):,} boards agree with a goal"))
    found = np.empty((factorial(len(free)), pieces), dtype=np.int64)
    found[:, list(places)] = ranks
    found[:, free] = list(permutations(rank for rank in range(pieces) if rank not in ranks))
    return first + found


def _all_of(vertex: int, orders: list[np.ndarray]) -> np.ndarray:
    """All states at a vertex with an order of each sort: int64[N, 1 + length]."""
    states = np.full((1, 1), vertex, dtype=np.int64)
    for each in orders:
        again = np.tile(each, (len(states), 1))
        states = np.hstack([np.repeat(states, len(each), axis=0), again])
    return states


def _too_many(boards: str) -> str:
    return (
        f"{boards}: at most {MOST_ORIGINS:,} positions can be at depth 0; say more of the goal's "
        "cells"
    )
