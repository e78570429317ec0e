"""The model of a puzzle, which all kinds share: what the engine asks of one.

A puzzle turns boards, as people write them, into states (base vertex, sequence of the distinct
pieces) and back, and says how the base graph's arcs move them. It knows nothing of bitmaps,
stores or schedulers. From cells, pieces, metric and goals follow its shapes, its moves, and how
boards and states correspond. The sequence ranks the pieces of each sort in the order in which a
reference board shows them, so that the reference board's sequence is 0, 1, 2, ...

Every board that agrees with a goal is at depth 0. Where a start is given, those that it cannot
reach are left out: the search would begin from them too, but no solution of the start ends there.
"""

import copy
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise, permutations, product
from math import factorial, prod

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import EMPTY, FIRST_SORT, Shapes, Sort
from frontier.puzzles.boards import OPEN, Board, Boards
from frontier.puzzles.metrics import moves_of
from frontier.puzzles.moves import Moves
from frontier.space.graph import BaseGraph, Space
from frontier.space.group import Reach
from frontier.space.lehmer import LehmerCode

State = tuple[int, tuple[int, ...]]

MOST_ORIGINS = 1_000_000


class Puzzle(Boards):
    """One puzzle with its goals; depth is the least number of moves to the nearest goal.

    The arguments of each kind are the keys of its [puzzle] table, which docs/puzzles.md explains.
    """

    shape_bytes = 0
    """Bytes of its base graph in each process, where these are many and known beforehand."""

    @property
    def subject(self) -> "Puzzle":
        """The puzzle whose positions are counted: itself, unless its states are no positions."""
        return self

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes of the board, in reading order."""
        boards = [board for board in (*self.goals, self.start) if board and OPEN not in board]
        if self.start is None and len(boards) < len(self.goals):
            return Shapes(self.cells, self.sorts)
        return Shapes(self.cells, self.sorts, np.array(boards)[:, self.reading])

    @property
    def graph(self) -> BaseGraph:
        """The base graph with voltages."""
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

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The states of int[N, cells]: int64[N] vertices and int64[N, length] sequences.

        The vertex is -1 where no moves lead to the way in which the pieces lie, or to the order of
        those that cannot pass each other. InputError, naming the first of them, where a board is
        not one of this puzzle.
        """
        boards = self.as_boards(boards)
        rows = self._shape_rows(boards)
        if not (whole := rows.all(axis=1)).all():
            raise InputError(self._why_not(boards[whole.argmin()].tolist(), "board"))
        vertex, length = self._find(boards, rows), self.graph.length
        pieces = np.take(self._pieces_on(boards), self.reading, axis=1)
        order = np.tile(np.arange(self.members.size), (len(boards), 1))
        for number, ranks in self._ranks.items():
            if self.sorts[number].distinct:
                codes = pieces[rows == FIRST_SORT + number]
                order[:, ranks] = self._rank[codes].reshape(order[:, ranks].shape)
        moved = order[:, length:] != np.arange(length, self.members.size)
        vertex[moved.any(axis=1)] = -1
        return vertex, np.ascontiguousarray(order[:, :length])

    def _find(self, boards: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The vertices of boards that have these rows."""
        return self.shapes.find(rows)

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """The boards of states, int64[N, cells]; inverse of `states_of`."""
        return self._boards(self.shapes.rows_of(vertex), sequence)

    def _boards(self, rows: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """The boards of shapes and sequences."""
        rest = np.arange(self.graph.length, self.members.size)
        codes = self.members[np.hstack([sequence, np.tile(rest, (len(rows), 1))])]
        anchored = np.zeros(rows.shape, dtype=np.int64)
        for number, ranks in self._ranks.items():
            anchored[rows == FIRST_SORT + number] = codes[:, ranks].ravel()
        return self._laid(rows, anchored)

    def state(self, board: Board) -> State:
        """(base vertex, sequence) of a board; InputError if no moves lead to it."""
        vertex, sequence = self.states_of(np.array([board], dtype=np.int64))
        if vertex[0] < 0:
            raise InputError(
                f"board {self.line(board)} cannot be reached: its pieces are in an order, or lie "
                "in a way, to which no moves lead"
            )
        return int(vertex[0]), tuple(sequence[0].tolist())

    def board(self, state: State) -> Board:
        """The board of a state; inverse of `state`."""
        vertex, sequence = state
        boards = self.boards_of(np.array([vertex]), np.array([sequence], dtype=np.int64))
        return tuple(boards[0].tolist())

    @cached_property
    def space(self) -> Space:
        """The space of states that the engine searches."""
        vertex, sequence = self.origins()
        _, sign = LehmerCode(self.graph.m, self.graph.smaller).ranks(sequence)
        roots = np.divmod(np.unique(2 * vertex + sign), 2)
        return Space(self.graph, np.stack(roots, axis=1))

    def origins(self) -> tuple[np.ndarray, np.ndarray]:
        """The states at depth 0: int64[N] vertices and int64[N, length] sequences."""
        states = self._goal_states[self._included]
        return states[:, 0], states[:, 1:]

    @cached_property
    def reach(self) -> Reach:
        """Which states can be reached: from the start if it reaches a goal, else from the goals."""
        states = self._goal_states
        if self.start is not None and len(states) > 1:
            vertex, sequence = self.states_of(np.array([self.start]))
            if vertex[0] >= 0:
                reach = Reach(self.graph, vertex, sequence)
                if reach.contains(states[:, 0], states[:, 1:]).any():
                    return reach
        return Reach(self.graph, states[:, 0], states[:, 1:])

    @cached_property
    def _goal_states(self) -> np.ndarray:
        """The states of all goals, int64[N, 1 + length], each once."""
        return np.unique(self._states_of_goals(), axis=0)  # a board may agree with several goals

    def _states_of_goals(self) -> np.ndarray:
        if any(OPEN in goal for goal in self.goals):
            return np.concatenate(list(map(self._agreeing, self.goals)))
        return np.column_stack(self.states_of(np.array(self.goals)))

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

    @cached_property
    def _included(self) -> np.ndarray:
        """bool[N], the goals at depth 0: of several, those that the start can be reached from."""
        states = self._goal_states
        if self.start is None or len(states) == 1:
            return np.ones(len(states), dtype=bool)
        return self.reach.contains(states[:, 0], states[:, 1:])

    @property
    def states(self) -> int:
        """Number of positions that can be reached from the goals."""
        return self.reach.states

    def reaches(self, board: Board) -> bool:
        """Whether a goal can be reached from the board."""
        vertex, sequence = self.states_of(np.array([board]))
        return bool(self.reach.contains(vertex, sequence)[0])

    def from_anywhere(self) -> "Puzzle":
        """The same puzzle, also for positions that its start does not reach."""
        if self._included.all():
            return self
        # Its base graph stays: where all shapes are too many, it has those that the start reaches.
        other = copy.copy(self)
        other.start = None
        for computed in ("_included", "reach", "space"):
            vars(other).pop(computed, None)
        return other

    def with_sorts(self, sorts: Sequence[Sort]) -> "Puzzle":
        """The same puzzle with other sorts of its pieces, and without a start."""
        other = copy.copy(self)
        for name in vars(self):
            if isinstance(getattr(type(self), name, None), cached_property):
                delattr(other, name)
        # The start may name like pieces, once they differ, so that it reaches no goal.
        other.sorts, other.start = tuple(sorts), None
        return other

    def blank_home(self) -> np.ndarray | None:
        """bool[vertices], the vertices whose states are counted apart in each layer: those whose
        empty cells are the goal's.

        None where there is not one such goal, or the vertex does not say which cells are empty.
        """
        if len(self.goals) != 1 or OPEN in self.goals[0]:
            return None
        empty = np.array(self.goals[0])[self.reading] == 0
        return ((self.shapes.rows == EMPTY) == empty).all(axis=1)

    @property
    def remark(self) -> str | None:
        """Why all positions are at depth 0, in a sentence; None where some are not."""
        vertex, _ = self.origins()
        if self.states > len(vertex):
            return None
        if np.isin(vertex, self.graph.source).any():
            return "every position that can be reached is at depth 0: the goal asks for nothing"
        return (
            "no move is possible from depth 0, so there is nothing to search: no piece lies beside "
            "an empty cell that it could go to"
        )

    def check(self) -> None:
        """InputError if the start cannot reach a goal."""
        if self.start is not None and not self.reaches(self.start):
            raise InputError(f"puzzle.start = {self.line(self.start)}: {self.why_unreachable}")

    @property
    def why_unreachable(self) -> str:
        """Why no goal can be reached from a position."""
        if not self._included.all():
            return (
                "it cannot be reached from puzzle.start, and only what can be reached from there "
                "is searched; with this board as puzzle.start its own positions are"
            )
        return "the goal cannot be reached from this position"


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
