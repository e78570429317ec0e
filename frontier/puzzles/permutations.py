"""Permutation puzzles: a move permutes the pieces in some positions, whatever pieces these are.

Pancakes, TopSpin, the cube and other twisty puzzles: no position need be empty. The moves are
`frontier.puzzles.generators`, and the base graph is that of `frontier.puzzles.arrangements`.

Pieces whose label stands once in the orbit of their position are distinct; those that share a label
count as the same. On a board a label may be followed by how the piece is turned, as in 7+2. The
code of a piece is its place in the goal, from 1, and one orientation more adds the number of
positions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.arrangements import Arrangements
from frontier.puzzles.generators import (
    MOST_DIGITS,
    MOST_ORIENTATIONS,
    Generator,
    generators_given,
)
from frontier.puzzles.notation import OPEN_MARK, boards_given, joined, labels_given
from frontier.puzzles.picture import Picture, Piece
from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.space.graph import BaseGraph
from frontier.text import counted

TURNED = "+"


class Permutations(Puzzle):
    """A permutation puzzle.

    generators: name -> what a move does, see `generators_given`. closed: whether inverses that are
        missing are to be added, named as the generator and an apostrophe.
    positions: their number, by default the greatest that a generator names.
    orientations: how many each piece has, one number or one a position.
    goal: a label a position, by default 1, 2, 3, …. goals: several of them, instead. start: a board
        whose distance is wanted.
    """

    place = "position"

    def __init__(
        self,
        generators: Mapping,
        positions: int | None = None,
        orientations: int | Sequence[int] = 1,
        closed: bool = False,
        goal=None,
        goals: Sequence | None = None,
        start=None,
    ):
        self.generators, each = generators_given(generators, positions, orientations, closed)
        self.cells, self.orientations = len(each), np.array(each)
        self._orbit = _orbits(self.generators, self.cells)
        if goal is None and goals is None:
            goal = [str(position) for position in range(1, self.cells + 1)]
        boards = [
            (name, *self._read(board, name)) for name, board in boards_given(goal, goals, start)
        ]
        self.labels = boards[0][1]
        for label in self.labels:
            if max(each) > 1 and _split(label)[1]:
                raise InputError(f"puzzle.goal: {label!r} ends as if it were turned; name it else")
        codes = [(name, self._codes(*read, name)) for name, *read in boards]
        self.goals = tuple(board for name, board in codes if name != "puzzle.start")
        self.start = next((board for name, board in codes if name == "puzzle.start"), None)

    @property
    def title(self) -> str:
        pieces, moves = counted(self.cells, "piece"), counted(len(self.generators), "generator")
        return f"permutations of {pieces} by {moves}"

    def _read(self, notation, name: str) -> tuple[list[str], list[int]]:
        """(label, orientation) of each position of a board."""
        marks = labels_given(notation, self.cells, name, self.place, self._is_whole)
        if OPEN_MARK in marks:
            raise InputError(
                f"{name} = {joined(marks)}: ? stands for no piece here; give pieces that "
                "are to count as the same equal labels"
            )
        read = [
            _split(mark) if number > 1 else (mark, 0)
            for mark, number in zip(marks, self.orientations.tolist(), strict=True)
        ]
        for mark, (_, turned), number in zip(marks, read, self.orientations, strict=True):
            if turned >= number:
                raise InputError(
                    f"{name} = {joined(marks)}: {mark} lies where a piece has the orientations "
                    f"0..{number - 1}"
                )
        labels, turned = zip(*read, strict=True)
        return list(labels), list(turned)

    def _is_whole(self, word: str) -> bool:
        """Whether a word of a board is surely one label: a number, or a label and a turn."""
        turned = self.orientations.max() > 1 and _split(word)[0] != word
        return turned or word.isdigit()

    def _codes(self, labels: Sequence[str], turned: Sequence[int], name: str) -> Board:
        """The codes of a board; like pieces in the order of their codes."""
        free = {key: list(places) for key, places in self._alike.items()}
        board = []
        for position, (label, turn) in enumerate(zip(labels, turned, strict=True)):
            left = free.get((int(self._orbit[position]), label))
            if not left:
                raise InputError(
                    f"{name} = {joined(self._marks(labels, turned))}: {label!r} in position "
                    f"{position + 1} is one too many, or cannot come there; the pieces of this "
                    f"puzzle are {joined(self.labels)}"
                )
            board.append(1 + left.pop(0) + self.cells * turn)
        return tuple(board)

    @cached_property
    def _alike(self) -> dict[tuple[int, str], list[int]]:
        """The pieces of each orbit that share a label, each by its place in the goal, from 0."""
        alike: dict[tuple[int, str], list[int]] = {}
        for piece, label in enumerate(self.labels):
            alike.setdefault((int(self._orbit[piece]), label), []).append(piece)
        return alike

    @cached_property
    def _kind(self) -> np.ndarray:
        """The kind of each piece: 0 if it is in the sequence, else one for those of its orbit that
        share its label."""
        single = Counter(orbit for (orbit, _), pieces in self._alike.items() if len(pieces) == 1)
        kind, kinds = np.zeros(self.cells, dtype=np.int64), Counter()
        for (orbit, _), pieces in self._alike.items():
            if len(pieces) > 1 or single[orbit] == 1:
                kinds[orbit] += 1
                kind[pieces] = kinds[orbit]
        return kind

    @cached_property
    def _sizes(self) -> np.ndarray:
        """The number of pieces in the sequence from each orbit, by its first position."""
        return np.bincount(self._orbit[self._kind == 0], minlength=self.cells)

    @cached_property
    def _reading(self) -> np.ndarray:
        """The positions in the order in which the sequence lists them: orbit after orbit, that with
        the most pieces of the sequence last, and behind it those that have none."""
        size = self._sizes[self._orbit]
        return np.lexsort([self._orbit, size, size == 0])

    @cached_property
    def _members(self) -> np.ndarray:
        """The pieces of the sequence by their numbers there, which are their order in the goal."""
        return self._reading[self._kind[self._reading] == 0]

    @cached_property
    def _shapes(self) -> Arrangements:
        boards = [*self.goals, *([] if self.start is None else [self.start])]
        rows = self._rows(np.array(boards))
        return Arrangements(rows, self.generators, self.orientations, self._orbit)

    @cached_property
    def graph(self) -> BaseGraph:
        return self._shapes.graph(self._reading, sorted(self._sizes[self._sizes > 0].tolist()))

    def _rows(self, boards: np.ndarray) -> np.ndarray:
        """The arrangements of boards."""
        turned, piece = np.divmod(boards - 1, self.cells)
        return (turned + self.orientations * self._kind[piece]).astype(np.uint8)

    def states_of(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boards = self.as_boards(boards).astype(np.int64)
        turned, piece = np.divmod(boards - 1, self.cells)
        bad = (np.sort(piece, axis=1) != np.arange(self.cells)).any(axis=1)
        bad |= (turned < 0).any(axis=1) | (turned >= self.orientations).any(axis=1)
        bad |= (self._orbit[piece] != self._orbit).any(axis=1)
        if bad.any():
            raise InputError(
                f"board {boards[bad.argmax()].tolist()}: each of the pieces 1..{self.cells} must "
                f"lie in it once, in a position that it can come to, and {self.cells} is added for "
                "each orientation"
            )
        number = np.full(self.cells, -1)
        number[self._members] = np.arange(self._members.size)
        member = number[piece[:, self._reading]]
        sequence = member[member >= 0].reshape(len(boards), self._members.size)
        return self._shapes.find(self._rows(boards)), sequence

    def state(self, board: Board) -> State:
        vertex, sequence = super().state(board)
        if vertex < 0:
            raise InputError(f"board {self.line(board)} cannot be reached: no moves lead to it")
        return vertex, sequence

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        kind, turned = np.divmod(self._shapes.rows[vertex].astype(np.int64), self.orientations)
        piece = np.empty_like(kind)
        in_order = np.zeros_like(kind)
        in_order[kind[:, self._reading] == 0] = self._members[sequence].ravel()
        piece[:, self._reading] = in_order
        for (orbit, _), pieces in self._alike.items():
            if number := self._kind[pieces[0]]:
                piece[(kind == number) & (self._orbit == orbit)] = np.tile(pieces, len(kind))
        return 1 + piece + self.cells * turned

    @property
    def remark(self) -> str | None:
        if self.states > len(self.origins()[0]):
            return None
        return (
            "every position that can be reached is at depth 0: the generators exchange like pieces "
            "only, or lead from goal to goal"
        )

    def parse(self, notation) -> Board:
        return self._codes(*self._read(notation, "board"), "board")

    def _marks(self, labels: Sequence[str], turned: Sequence[int]) -> list[str]:
        return [
            f"{label}{TURNED}{turn}" if turn else label
            for label, turn in zip(labels, turned, strict=True)
        ]

    def labels_on(self, board: Board) -> list[str]:
        turned, piece = np.divmod(np.array(board) - 1, self.cells)
        return self._marks([self.labels[number] for number in piece], turned.tolist())

    def picture(self, board: Board) -> Picture:
        marks, colours = self.labels_on(board), list(dict.fromkeys(self.labels))
        at = sorted(((code - 1) % self.cells, position) for position, code in enumerate(board))
        pieces = tuple(
            Piece(
                n + 1, self.labels[n], marks[position], colours.index(self.labels[n]), (position,)
            )
            for n, position in at
        )
        places = tuple((position, 0) for position in range(self.cells))
        return Picture(places, pieces, (), len(colours), ordered=len(colours) == self.cells)

    def _after(self, generator: Generator, board: Board) -> Board:
        turned, piece = np.divmod(np.array(board) - 1, self.cells)
        turned = (turned + generator.turns) % self.orientations
        return tuple(generator.moved(1 + piece + self.cells * turned).tolist())

    def _settled(self, board: Board) -> Board:
        """The board with like pieces in the order of their codes."""
        turned, piece = np.divmod(np.array(board) - 1, self.cells)
        labels = [self.labels[number] for number in piece]
        return self._codes(labels, turned.tolist(), "board")

    def _move(self, before: Board, after: Board) -> tuple[Generator, Board]:
        """The generator that leads from one board to another, and its board."""
        led = [(generator, self._after(generator, before)) for generator in self.generators]
        exact = [pair for pair in led if pair[1] == after]
        like = [pair for pair in led if self._settled(pair[1]) == self._settled(after)]
        return (exact or like)[0]

    def name_move(self, before: Board, after: Board) -> str:
        """The name of the generator."""
        return self._move(before, after)[0].name

    def follow(self, before: Board, after: Board) -> Board:
        return self._move(before, after)[1]


def _split(mark: str) -> tuple[str, int]:
    """The label and the orientation that a mark on a board says."""
    label, plus, turned = mark.rpartition(TURNED)
    if not (label and plus and turned.isdecimal()):
        return mark, 0
    return label, int(turned) if len(turned) <= MOST_DIGITS else MOST_ORIENTATIONS


def _orbits(generators: Sequence[Generator], positions: int) -> np.ndarray:
    """int64[positions], the first position of the orbit of each."""
    orbit = list(range(positions))
    for first in range(positions):
        if orbit[first] == first:
            queue = [first]
            for position in queue:
                for generator in generators:
                    if (to := generator.image[position]) not in queue:
                        orbit[to] = first
                        queue.append(to)
    return np.array(orbit)
