"""Pieces on cells: what the tile, block and graph puzzles have in common.

A puzzle of this family is a number of cells in a reading order, sorts of pieces with their
footprints, a metric and one or more goals. From these follow its shapes, its moves, and how
boards and states correspond. The sequence ranks the pieces of each class in the order in which a
reference board shows them, so that the reference board's sequence is 0, 1, 2, ...

A goal is a board or a part of one: the cells that are left open may hold anything, and every
board that agrees with the others is at depth 0. Where a start is given, only those are that can be
reached from it: others would be searched from, but never met on the way to a solution.
"""

import copy
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import permutations
from math import factorial

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.moves import Moves, moves_of
from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.puzzles.shapes import EMPTY, FIRST_SORT, Shapes, Sort, holds_all, shape_rows
from frontier.space.graph import BaseGraph
from frontier.space.group import Reach

OPEN = -1
"""Code of a goal's cell that may hold anything."""

MOST_ORIGINS = 1_000_000


class Pieces(Puzzle):
    """A puzzle of pieces on cells; subclasses say how it is written and drawn."""

    def __init__(
        self,
        reading: Sequence[int],
        sorts: Sequence[Sort],
        metric: str,
        reference: Board,
        goals: Sequence[Board],
        start: Board | None,
    ):
        """
        reading: the cells in reading order. reference: a board with all pieces.
        goals: boards, with OPEN for cells that may hold anything, the pieces that they show
        whole. Subclasses have set what `line` needs before this is called.
        """
        self.cells = len(reading)
        self.metric = metric
        self.reading = np.array(reading)
        self._sorts = tuple(sorts)
        self._reference = reference
        self._reference = self._settled(reference, "puzzle.goal")
        self.goals = tuple(b if OPEN in b else self._settled(b, "puzzle.goal") for b in goals)
        self.start = None if start is None else self._settled(start, "puzzle.start")

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
        # Goals that show the pieces of a class in different orders need them in the sequence.
        whole = all(OPEN not in goal for goal in self.goals)
        boards = (*self.goals, self._reference)
        orders = {tuple(map(tuple, self._orders_of(board))) for board in boards} if whole else ()
        return self._all_moves(may_fix=len(orders) == 1)

    def _all_moves(self, may_fix: bool) -> Moves:
        return moves_of(self.shapes, self.metric, may_fix)

    def _orders_of(self, board: Board) -> list[list[int]]:
        """For each sort, its codes in the order in which a board shows them."""
        in_order = [board[cell] for cell in self.reading]
        seen = list(dict.fromkeys(in_order))
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

    @property
    def _offsets(self) -> list[tuple[int, int]]:
        """(sort, where its part of the sequence begins) of each class in the sequence."""
        sizes = [len(self._sorts[n].codes) for n in self.moves.classes]
        return list(zip(self.moves.classes, np.cumsum([0, *sizes])[:-1].tolist(), strict=True))

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boards = self.as_boards(boards)
        in_order = boards[:, self.reading]
        rows = shape_rows(in_order, self._sorts)
        vertex = self.shapes.find(rows)
        good = holds_all(rows, self._sorts)
        graph = self.moves.graph
        sequence = np.zeros((len(boards), graph.length), dtype=np.int64)
        rank = np.zeros(max((c for s in self._sorts for c in s.codes), default=0) + 1, np.int64)
        for members in self._members:
            rank[members] = np.arange(len(members))
        for number in (*self.moves.classes, *self.moves.fixed):
            size = len(self._sorts[number].codes)
            codes = in_order[good][rows[good] == FIRST_SORT + number].reshape(-1, size)
            ranks = rank[codes]
            once = (np.sort(ranks, axis=1) == np.arange(size)).all(axis=1)
            if number in self.moves.fixed:
                kept = (ranks == np.arange(size)).all(axis=1)
                vertex[np.flatnonzero(good)[once & ~kept]] = -1
            else:
                first = dict(self._offsets)[number]
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
        offsets = dict(self._offsets)
        for number, sort in enumerate(self._sorts):
            members, size = self._members[number], len(sort.codes)
            if number in offsets:
                first = offsets[number]
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

    def _settled(self, board: Board, name: str = "board") -> Board:
        """The board with like pieces in the order of their codes; InputError if it is not one."""
        in_order = np.array(board)[self.reading]
        row = shape_rows(in_order[None], self._sorts)[0]
        for number, sort in enumerate(self._sorts):
            anchors = np.flatnonzero(row == FIRST_SORT + number)
            if len(anchors) != len(sort.codes):
                raise InputError(self._why_not(board, name))
            if not sort.distinct:
                for anchor, code in zip(anchors, sort.codes, strict=True):
                    in_order[list(sort.footprint.placements[sort.footprint.at[anchor]])] = code
            elif len({in_order[anchor] for anchor in anchors}) < len(anchors):
                raise InputError(self._why_not(board, name))
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
        """(code, the cells that it covers one after the other, directions) of the piece that one
        move displaces.

        They are those of a shortest way over cells that are empty, from where it was to where it
        is.
        """
        pair = np.array([before, after])[:, self.reading]
        was, now = shape_rows(pair, self._sorts)
        vacated = np.flatnonzero((was >= FIRST_SORT) & (was != now))
        taken = np.flatnonzero((now >= FIRST_SORT) & (was != now))
        (a,), (b,) = vacated, taken
        footprint = self._sorts[was[a] - FIRST_SORT].footprint
        first, last = footprint.at[a], footprint.at[b]
        free = {*np.flatnonzero(was == EMPTY).tolist(), *footprint.placements[first]}
        beyond = footprint.beyond()
        ways: dict[int, tuple[int, ...]] = {first: ()}
        queue = [first]
        for place in queue:
            for direction, on in beyond[place].items():
                if on not in ways and free.issuperset(footprint.placements[on]):
                    ways[on] = (*ways[place], direction)
                    queue.append(on)
        passed = [first]
        for direction in ways[last]:
            passed.append(beyond[passed[-1]][direction])
        covers = [tuple(self.reading[list(footprint.placements[p])].tolist()) for p in passed]
        return before[covers[0][0]], covers, ways[last]

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
        states = self._agreeing_with_goals()
        if self.start is not None:
            vertex, sequence = self.states_of(np.array([self.start]))
            if vertex[0] >= 0:
                reach = Reach(self.graph, vertex, sequence)
                inside = reach.contains(*states)
                if inside.any():
                    return (states[0][inside], states[1][inside]), reach, not inside.all()
        return states, Reach(self.graph, *states), False

    def _agreeing_with_goals(self) -> tuple[np.ndarray, np.ndarray]:
        """The states of all boards that agree with a goal, each once."""
        whole = [goal for goal in self.goals if OPEN not in goal]
        found = [self.states_of(np.array(whole))] if whole else []
        found += [self._agreeing(goal) for goal in self.goals if OPEN in goal]
        states = np.column_stack(
            [np.concatenate([v for v, _ in found]), np.concatenate([s for _, s in found])]
        )
        states = np.unique(states, axis=0)
        return states[:, 0], states[:, 1:]

    @property
    def why_unreachable(self) -> str:
        if self._component[2]:
            return (
                "it cannot be reached from puzzle.start, and only what can be reached from there "
                "is searched; with this board as puzzle.start its own positions are"
            )
        return super().why_unreachable

    def _agreeing(self, goal: Board) -> tuple[np.ndarray, np.ndarray]:
        """The states of all boards that agree with a part of a board."""
        in_order = np.array(goal)[self.reading]
        rows = self.shapes.rows
        agree = (rows[:, in_order == 0] == EMPTY).all(axis=1)
        given: dict[int, int] = {}  # anchor -> code
        for number, sort in enumerate(self._sorts):
            for cover in self.drawn(sort, goal):
                agree &= rows[:, cover[0]] == FIRST_SORT + number
                given[cover[0]] = int(in_order[cover[0]])
        vertices = np.flatnonzero(agree)
        blocks = [self._orders_with(int(v), given) for v in vertices]
        many = sum(np.prod([len(part) for part in parts], dtype=float) for parts in blocks)
        if not many:
            raise InputError(f"no board agrees with the goal {self.line(goal)}")
        if many > MOST_ORIGINS:
            raise InputError(
                f"{many:,.0f} boards agree with the goal {self.line(goal)}: at most "
                f"{MOST_ORIGINS:,} positions can be at depth 0; say more of the goal's cells"
            )
        states = []
        for vertex, parts in zip(vertices.tolist(), blocks, strict=True):
            sequences = [()]
            for part in parts:
                sequences = [(*s, *p) for s in sequences for p in part]
            states += [(vertex, *s) for s in sequences]
        table = np.array(states, dtype=np.int64)
        return table[:, 0], table[:, 1:]

    def drawn(self, sort: Sort, goal: Board) -> list[tuple[int, ...]]:
        """The placements of a sort's pieces that a board, or a part of one, shows."""
        in_order = np.array(goal)[self.reading]
        covers = []
        taken: set[int] = set()
        for cell in range(self.cells):
            if in_order[cell] not in sort.codes or cell in taken:
                continue
            cover = sort.footprint.placements[sort.footprint.at[cell]]
            taken |= set(cover)
            covers.append(cover)
        return covers

    def _orders_with(self, vertex: int, given: dict[int, int]) -> list[list[tuple[int, ...]]]:
        """For each class, all its sequences at a shape that agree with the codes given."""
        parts = []
        for number, first in self._offsets:
            members = self._members[number].tolist()
            anchors = np.flatnonzero(self.shapes.rows[vertex] == FIRST_SORT + number).tolist()
            held = {i: members.index(given[a]) for i, a in enumerate(anchors) if a in given}
            rest = [r for r in range(len(members)) if r not in held.values()]
            free = [i for i in range(len(members)) if i not in held]
            if factorial(len(free)) > MOST_ORIGINS:
                raise InputError(
                    f"more than {factorial(len(free)):,} boards agree with a goal: at most "
                    f"{MOST_ORIGINS:,} positions can be at depth 0; say more of the goal's cells"
                )
            orders = []
            for order in permutations(rest):
                place = held | dict(zip(free, order, strict=True))
                orders.append(tuple(first + place[i] for i in range(len(members))))
            parts.append(orders)
        return parts

    @property
    @abstractmethod
    def labels(self) -> Sequence[str]:
        """What stands for each code in text; labels[0] for an empty cell."""

    @abstractmethod
    def _why_not(self, board: Board, name: str) -> str:
        """A sentence on what is wrong with a board; `name` says where it stands."""


def boards_given(goal, goals: Sequence | None) -> list:
    """The boards at depth 0 as a config names them, in one of its two ways."""
    if (goal is None) == (goals is None):
        raise InputError("a puzzle of this kind needs either puzzle.goal or puzzle.goals")
    if goals is None:
        return [goal]
    if not isinstance(goals, list | tuple) or not goals:
        raise InputError(f"puzzle.goals = {goals!r}: expected a list of one board or more")
    return list(goals)
