"""Permutation puzzles: a move permutes the pieces in some positions, whatever pieces these are.

Pancakes, TopSpin, the cube and other twisty puzzles: no position need be empty. The moves are
`frontier.puzzles.generators`, and the base graph is that of `frontier.puzzles.arrangements`.

Pieces never leave the *orbit* of their position under the generators. Those whose label stands
once in their orbit are distinct; those that share a label count as the same. On a board a label may
be followed by how the piece is turned, as in 7+2. The code of a piece is its place in the goal,
from 1, and one orientation more adds the number of positions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.arrangements import Arrangements
from frontier.puzzles.board_shapes import FIRST_SORT, Sort, shape_rows
from frontier.puzzles.boards import Board
from frontier.puzzles.footprints import footprint_of
from frontier.puzzles.generators import (
    MOST_DIGITS,
    MOST_ORIENTATIONS,
    Generator,
    generators_given,
)
from frontier.puzzles.notation import OPEN_MARK, boards_given, joined, labels_given
from frontier.puzzles.puzzle import Puzzle
from frontier.space.graph import BaseGraph
from frontier.text import counted

TURNED = "+"


class Permutations(Puzzle):
    """A permutation puzzle; see `generators_given` for how its moves are written."""

    kind = "permutations"
    place = "position"
    names_moves = True

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
        self._places = tuple((position, 0) for position in range(self.cells))
        if goal is None and goals is None:
            goal = [str(position) for position in range(1, self.cells + 1)]
        given = boards_given(goal, goals, start)
        boards = [(name, self._marks(board, name)) for name, board in given]
        labels = [label for label, _ in map(self._parted, boards[0][1], each)]
        for label in labels:
            if max(each) > 1 and _split(label)[1]:
                raise InputError(f"puzzle.goal: {label!r} ends as if it were turned; name it else")
        self._alike: dict[tuple[int, str], list[int]] = {}
        for code, (orbit, label) in enumerate(zip(self._orbit.tolist(), labels, strict=True), 1):
            self._alike.setdefault((orbit, label), []).append(code)
        super().__init__(range(self.cells), self._sorted(), ["", *labels], "step", boards)
        self._ordered = len(self._kinds()) == self.cells

    def _sorted(self) -> list[Sort]:
        """The sorts of the pieces: the distinct ones of each orbit, the largest such sort last,
        then the like ones. An orbit's only distinct piece has no order and is held as a like one.

        Sets `_kind`, the kind of each sort in arrangements: 0 for distinct pieces, else from 1 on
        in each orbit.
        """
        home = {
            orbit: footprint_of(
                (), [(cell,) for cell in np.flatnonzero(self._orbit == orbit)], range(self.cells)
            )
            for orbit in set(self._orbit.tolist())
        }
        single = Counter(orbit for (orbit, _), codes in self._alike.items() if len(codes) == 1)
        distinct = {orbit: [] for orbit in sorted(home) if single[orbit] > 1}
        like, kinds = [], Counter()
        for (orbit, _), codes in self._alike.items():
            if len(codes) == 1 and orbit in distinct:
                distinct[orbit] += codes
            else:
                kinds[orbit] += 1
                like.append((kinds[orbit], Sort(home[orbit], tuple(codes), False)))
        listed = [Sort(home[orbit], tuple(codes), True) for orbit, codes in distinct.items()]
        listed.sort(key=lambda sort: len(sort.codes))
        self._kind = np.array([0] * len(listed) + [kind for kind, _ in like])
        return listed + [sort for _, sort in like]

    @property
    def title(self) -> str:
        pieces, moves = counted(self.cells, "piece"), counted(len(self.generators), "generator")
        return f"permutations of {pieces} by {moves}"

    def _marks(self, notation, name: str) -> list[str]:
        marks = labels_given(notation, self.cells, name, self.place, self._is_whole)
        if OPEN_MARK in marks:
            raise InputError(
                f"{name} = {joined(marks)}: ? stands for no piece here; give pieces that "
                "are to count as the same equal labels"
            )
        for mark, number in zip(marks, self.orientations.tolist(), strict=True):
            if self._parted(mark, number)[1] >= number:
                raise InputError(
                    f"{name} = {joined(marks)}: {mark} lies where a piece has the orientations "
                    f"0..{number - 1}"
                )
        return marks

    def _is_whole(self, word: str) -> bool:
        """Whether a word of a board is surely one label: a number, or a label and a turn."""
        turned = self.orientations.max() > 1 and _split(word)[0] != word
        return turned or word.isdigit()

    @staticmethod
    def _parted(mark: str, orientations: int) -> tuple[str, int]:
        """(label, orientation) of a mark in a position with so many orientations."""
        return _split(mark) if orientations > 1 else (mark, 0)

    def _codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        free = {key: list(codes) for key, codes in self._alike.items()}
        board = []
        for position, mark in enumerate(marks):
            label, turn = self._parted(mark, self.orientations[position])
            left = free.get((int(self._orbit[position]), label))
            if not left:
                raise InputError(
                    f"{name} = {joined(marks)}: {label!r} in position "
                    f"{position + 1} is one too many, or cannot come there; the pieces of this "
                    f"puzzle are {joined(self.labels[1:])}"
                )
            board.append(left.pop(0) + self.cells * turn)
        return tuple(board)

    def _settled(self, board: Board, name: str = "board") -> Board:
        return self._codes(self.labels_on(board), name, part=False)

    @cached_property
    def shapes(self) -> Arrangements:
        """The arrangements, whose rows have orientations besides the kinds of pieces."""
        boards = np.array([*self.goals, *([] if self.start is None else [self.start])])
        rows = self._arranged(boards, self._shape_rows(boards))
        return Arrangements(rows, self.generators, self.orientations, self._orbit)

    @cached_property
    def graph(self) -> BaseGraph:
        sizes = [len(sort.codes) for sort in self.sorts if sort.distinct]
        reading = np.concatenate(
            [*(list(sort.footprint.at) for sort in self.sorts if sort.distinct), []]
        )
        return self.shapes.graph(reading.astype(np.int64), sizes)

    @property
    def _ranked(self) -> Sequence[int]:
        return range(len(self.sorts))

    def _pieces_on(self, boards: np.ndarray) -> np.ndarray:
        return 1 + (boards - 1) % self.cells

    def _shape_rows(self, boards: np.ndarray) -> np.ndarray:
        rows = shape_rows(self._pieces_on(boards), self.sorts)
        turned = (boards - 1) // self.cells
        rows[((turned < 0) | (turned >= self.orientations)).any(axis=1)] = 0
        return rows

    def _arranged(self, boards: np.ndarray, rows: np.ndarray) -> np.ndarray:
        turned = (boards - 1) // self.cells
        return (turned + self.orientations * self._kind[rows - FIRST_SORT]).astype(np.uint8)

    def _find(self, boards: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self.shapes.find(self._arranged(boards, rows))

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        kind, turned = np.divmod(self.shapes.rows_of(vertex).astype(np.int64), self.orientations)
        rows = np.zeros(kind.shape, dtype=np.uint8)
        for number, sort in enumerate(self.sorts):
            orbit = list(sort.footprint.at)
            rows[:, orbit] += (kind[:, orbit] == self._kind[number]) * np.uint8(FIRST_SORT + number)
        return self._boards(rows, sequence) + self.cells * turned

    def blank_home(self) -> None:
        return None

    @property
    def remark(self) -> str | None:
        if self.states > len(self.origins()[0]):
            return None
        return (
            "every position that can be reached is at depth 0: the generators exchange like pieces "
            "only, or lead from goal to goal"
        )

    def _why_not(self, board: Board, name: str) -> str:
        return (
            f"{name} {list(board)}: each of the pieces 1..{self.cells} must lie in it once, in a "
            f"position that it can come to, and {self.cells} is added for each orientation"
        )

    def labels_on(self, board: Board) -> list[str]:
        turned, piece = np.divmod(np.array(board) - 1, self.cells)
        labels = [self.labels[1 + number] for number in piece]
        return [
            f"{label}{TURNED}{turn}" if turn else label
            for label, turn in zip(labels, turned.tolist(), strict=True)
        ]

    def _kinds(self) -> list[Sequence[int]]:
        colours: dict[str, list[int]] = {}
        for code, label in enumerate(self.labels[1:], start=1):
            colours.setdefault(label, []).append(code)
        return list(colours.values())

    def _after(self, generator: Generator, board: Board) -> Board:
        turned, piece = np.divmod(np.array(board) - 1, self.cells)
        turned = (turned + generator.turns) % self.orientations
        return tuple(generator.moved(1 + piece + self.cells * turned).tolist())

    def _move(self, before: Board, after: Board) -> tuple[Generator, Board]:
        """The generator that leads from one board to another, and its board."""
        led = [(generator, self._after(generator, before)) for generator in self.generators]
        exact = [pair for pair in led if pair[1] == after]
        like = [pair for pair in led if self._settled(pair[1]) == self._settled(after)]
        return (exact or like)[0]

    def name_move(self, before: Board, after: Board) -> str:
        """The name of the generator."""
        return self._move(before, after)[0].name

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [self._move(before, after)[1]]


def _split(mark: str) -> tuple[str, int]:
    """The label and the orientation that a mark on a board says."""
    label, plus, turned = mark.rpartition(TURNED)
    if not (label and plus and turned.isdecimal()):
        return mark, 0
    return label, int(turned) if len(turned) <= MOST_DIGITS else MOST_ORIENTATIONS


def _orbits(generators: Sequence[Generator], positions: int) -> np.ndarray:
    """int64[positions], the first position of the orbit of each."""
    orbit, before = np.arange(positions), None
    while before is None or (orbit != before).any():
        before = orbit.copy()
        for generator in generators:
            orbit = np.minimum(orbit, orbit[list(generator.image)])
    return orbit
