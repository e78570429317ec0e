"""Permutation puzzles: a move permutes the pieces in some positions, whatever pieces these are.

Pancakes, TopSpin, the cube and other twisty puzzles: no position need be empty. The moves are
`frontier.puzzles.generators`, and a state is a colouring of points (`frontier.space.points`).

Pieces never leave the *orbit* of their position under the generators. Those that share a label in
an orbit count as the same. On a board a label may be followed by the orientation of the piece, as
in 7+2; in the goal +? says that the orientation of the pieces with this label does not matter, and
? alone stands for any piece, in any orientation: what matters is where the others lie. The
code of a piece is its place in the goal, from 1, and one orientation more adds the number of
positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import factorial
from operator import itemgetter

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import FIRST_SORT, Sort, footprint_of
from frontier.puzzles.generators import (
    MOST_DIGITS,
    MOST_ORIENTATIONS,
    Generator,
    generators_given,
)
from frontier.puzzles.model import Encoding, Model, lift
from frontier.puzzles.moves import check_metric
from frontier.puzzles.nets import Net, Place, net_of, numbers_of
from frontier.puzzles.notation import (
    OPEN_MARK,
    Drawing,
    Notation,
    boards_given,
    joined,
    labels_given,
)
from frontier.puzzles.picture import Picture
from frontier.puzzles.pieces import Board, GivenBoards, TurnedPieces
from frontier.puzzles.puzzle import Puzzle, Words
from frontier.puzzles.sequences import effect_of, names_moves
from frontier.space.graph import BaseGraph
from frontier.space.group import Reach
from frontier.space.orbits import Orbits
from frontier.space.points import Points, orbits, points_of
from frontier.space.tower import Graph
from frontier.space.tower_space import AnySpace
from frontier.text import counted

TURNED = "+"

MOST_ROTATED = 1000
"""The most goals that are one goal in all positions of the whole puzzle."""

WILD = -1
"""The orientation of a piece for which it does not matter, written +?."""

Alike = dict[tuple[int, str], list[int]]
"""(first position of the orbit, label) -> the numbers of the pieces."""


class PermutingEncoding(Encoding):
    """Boards of a permutation puzzle as states: one vertex, and the colours of the points.

    points: the positions and stickers of the puzzle, with its generators.
    """

    pieces: TurnedPieces

    def __init__(self, pieces: TurnedPieces, metric: str, given: GivenBoards, points: Points):
        super().__init__(pieces, metric, given)
        self.points, self.undone = points, points.undone

    @cached_property
    def graph(self) -> BaseGraph:
        """One vertex, and for each generator a loop that permutes the colours of the points."""
        orders = [tuple(order) for order in np.argsort(self.points.moves, axis=1).tolist()]
        loops = np.zeros(len(orders), dtype=np.int64)
        words = tuple(map(neighbour_swaps, orders))
        return BaseGraph(1, self.points.count, words, loops, loops, np.arange(len(orders)))

    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        labels = rows.astype(np.int64) - FIRST_SORT
        colours = self.points.colourings(labels, self.pieces.turns(boards))
        return np.zeros(len(boards), dtype=np.int64), colours

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        labels, turns = self.points.boards(sequence)
        boards = self.pieces.cells * turns
        for number, sort in enumerate(self.pieces.sorts):
            at = labels == number
            boards[at] += np.tile(sort.codes, len(boards))
        return boards

    @cached_property
    def _differ(self) -> bool:
        """True if all pieces differ and none can be turned."""
        return np.unique(self.points.label).size == self.points.count

    def reach(self, vertex: np.ndarray, sequence: np.ndarray) -> Reach | Orbits:
        if self._differ:
            return super().reach(vertex, sequence)
        return self._orbits(vertex, sequence)

    def _orbits(self, vertex: np.ndarray, sequence: np.ndarray) -> Orbits:
        return Orbits(self.points, Graph.of_moves(self.points), vertex, sequence)

    def space(self, reach: Reach | Orbits, vertex: np.ndarray, sequence: np.ndarray) -> AnySpace:
        """Shifts of bits take no more work where all orders of pieces that differ, or half of
        them, are reached; the tower takes less where it has fewer states."""
        if isinstance(reach, Orbits):
            return reach.space
        if self.undone and 2 * reach.states >= factorial(self.points.count):
            return lift(self.graph, vertex, sequence)
        return self._orbits(vertex, sequence).space


class PermutationNotation(Notation):
    """Boards with a label a position, followed by the orientation of its piece."""

    names_moves = True
    pieces: TurnedPieces

    def __init__(
        self, pieces: TurnedPieces, labels: Sequence[str], drawing: Drawing, alike: Alike,
        generators: Sequence[Generator], orbit: np.ndarray, net: Net | None,
    ):  # fmt: skip
        super().__init__(pieces, labels, drawing)
        self._alike, self.generators, self._orbit, self._net = alike, generators, orbit, net

    def picture(self, board: Board) -> Picture:
        net = self._net
        if net is None or not net.of_stickers:
            return replace(super().picture(board), walls=False)
        codes, each = np.array(board), self.pieces.orientations.tolist()
        numbers, turns = self.pieces.numbers(codes).tolist(), self.pieces.turns(codes).tolist()
        first_number = np.cumsum([1, *each]).tolist()
        looks_like = {code: codes[0] for codes in self._alike.values() for code in codes}

        def shown(place: Place) -> tuple[int, Place]:
            position, sticker = place
            number, turn, count = numbers[position], turns[position], each[position]
            seen = first_number[number - 1] + (sticker - turn) % count
            like = looks_like[number]
            return seen, (like - 1, (sticker - turn + net.turns[like - 1]) % count)

        return net.picture(shown)

    def marks(self, board, name: str) -> list[str]:
        return _marks(board, name, self.pieces.orientations.tolist())

    def codes_shown_as(self, mark: str) -> list[int]:
        label, turn = _parted(mark, int(self.pieces.orientations.max()))
        codes = [code for code, other in enumerate(self.labels) if code and other == label]
        return [code + self.pieces.cells * turn for code in codes]

    def codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        free = {key: list(codes) for key, codes in self._alike.items()}
        board = []
        for position, mark in enumerate(marks):
            label, turn = _parted(mark, self.pieces.orientations[position])
            codes_left = free.get((int(self._orbit[position]), label))
            if not codes_left:
                raise InputError(
                    f"{name} = {joined(marks)}: {label!r} in position "
                    f"{position + 1} is one too many, or cannot come there; the pieces of this "
                    f"puzzle are {joined(self.labels[1:])}"
                )
            code = codes_left.pop(0)
            wild = self.pieces.wild[code - 1]
            if turn == WILD and not wild:
                raise InputError(
                    f"{name} = {joined(marks)}: {mark} in position {position + 1}, whose piece has "
                    f"an orientation that matters, as the goal does not write it as {mark}"
                )
            board.append(code + self.pieces.cells * (0 if wild else turn))
        return tuple(board)

    def labels_on(self, board: Board) -> list[str]:
        codes = np.array(board)
        numbers, turns = self.pieces.numbers(codes), self.pieces.turns(codes)
        return [
            f"{self.labels[number]}{TURNED}{turn}" if turn else self.labels[number]
            for number, turn in zip(numbers.tolist(), turns.tolist(), strict=True)
        ]

    def after_moves(self, text: str, board: Board) -> Board | None:
        moves, each = {g.name: g for g in self.generators}, self.pieces.orientations.tolist()
        if not names_moves(text, moves):
            return None
        effect = effect_of(text, moves, each, "as moves from the goal, ")
        return self.pieces.settled(self.moved(effect, board))

    def moved(self, generator: Generator, board: Board) -> Board:
        """Return the board after a generator."""
        codes = np.array(board)
        turns = (self.pieces.turns(codes) + generator.turns) % self.pieces.orientations
        after = generator.moved(self.pieces.numbers(codes) + self.pieces.cells * turns)
        return tuple(after.tolist())

    def _move(self, before: Board, after: Board) -> tuple[Generator, Board]:
        """Return the generator that leads from one board to another, and its board."""
        settled, led = self.pieces.settled, [(g, self.moved(g, before)) for g in self.generators]
        exact = [pair for pair in led if pair[1] == after]
        like = [pair for pair in led if settled(pair[1]) == settled(after)]
        return (exact or like)[0]

    def name_move(self, before: Board, after: Board) -> str:
        """Return the name of the generator."""
        return self._move(before, after)[0].name

    @property
    def legend(self) -> tuple[str, Mapping[str, str]]:
        each, numbers = self.pieces.orientations.tolist(), numbers_of(self.pieces.cells)
        names = numbers if self._net is None else self._net.names(self.pieces.cells)
        name_by_effect = {generator.effect: generator.name for generator in self.generators}
        by_faces = "named by their faces" if names != numbers else "counted from 1"
        turned = ", +1: it is turned by one more orientation" if max(each) > 1 else ""
        key = f"a → b: the piece in position a goes to b{turned}; positions are {by_faces}"
        return key, {
            generator.name: generator.in_words(
                each, names, name_by_effect.get(generator.inverse(each).effect)
            )
            for generator in self.generators
        }

    def steps(self, before: Board, after: Board) -> list[Board]:
        return [self._move(before, after)[1]]


def permutation_puzzle(
    generators: Mapping,
    positions: int | None = None,
    orientations: int | Sequence[int] = 1,
    closed: bool = False,
    metric: str = "turns",
    goal=None,
    goals: Sequence | None = None,
    start=None,
    picture: str | None = None,
    rotations: Mapping | None = None,
    up_to_rotations: bool = False,
) -> Puzzle:
    """Return a permutation puzzle; see `generators_given` for its moves and rotations, `net_of` for
    its picture."""
    check_metric(metric, "permutations")
    moves, each, remark = generators_given(generators, positions, orientations, closed, metric)
    cells, orbit = len(each), orbits([move.image for move in moves], len(each))
    if goal is None and goals is None:
        goal = [str(position) for position in range(1, cells + 1)]
    boards_of_config = boards_given(goal, goals, start)
    boards = [(name, _marks(board, name, each)) for name, board in boards_of_config]
    labels, turns = zip(*map(_parted, boards[0][1], each), strict=True)
    wild = np.array(turns) == WILD
    for label in labels:
        if max(each) > 1 and _split(label)[1]:
            raise InputError(f"puzzle.goal: {label!r} ends as if it were turned; name it else")
    alike: Alike = {}
    for code, (first, label) in enumerate(zip(orbit.tolist(), labels, strict=True), start=1):
        alike.setdefault((first, label), []).append(code)
    for (_, label), codes in alike.items():
        if len({*wild[np.array(codes) - 1].tolist()}) > 1:
            raise InputError(
                f"{boards[0][0]}: {label} is written with {TURNED}{OPEN_MARK} and without; pieces "
                "that count as the same have an orientation that matters, or none has"
            )
    alike = dict(sorted(alike.items(), key=itemgetter(0)))
    pieces = TurnedPieces(
        reading=np.arange(cells),
        sorts=_sorts(alike, orbit),
        wild=wild,
        rule=(
            f"each of the pieces 1..{cells} must lie in it once, in a position that it can come "
            f"to, and {cells} is added for each orientation"
        ),
        place="position",
        orientations=np.array(each),
    )
    colours: dict[str, list[int]] = {}
    for code, label in enumerate(labels, start=1):
        colours.setdefault(label, []).append(code)
    net = None if picture is None else net_of(picture, each, np.maximum(turns, 0).tolist())
    in_a_row = tuple((position, 0) for position in range(cells))
    places = in_a_row if net is None or net.of_stickers else net.by_position
    drawing = Drawing(
        lambda: places,
        list(colours.values()),
        ordered=len(colours) == cells,
    )
    notation = PermutationNotation(pieces, ["", *labels], drawing, alike, moves, orbit, net)
    boards_read = _read(notation, boards)
    if up_to_rotations:
        turns_of_all = _rotations(rotations, each)
        boards_read = _rotated(notation, boards_read, turns_of_all)
    sort_of = {code: number for number, codes in enumerate(alike.values()) for code in codes}
    kinds, effects = [sort_of[code] for code in range(1, cells + 1)], [m.effect for m in moves]
    points = points_of(effects, each, kinds, np.maximum(turns, 0), wild)
    encoding = PermutingEncoding(pieces, metric, boards_read, points)
    model = Model(encoding, boards_read.start)
    title = f"permutations of {counted(cells, 'piece')} by {counted(len(moves), 'generator')}"
    idle = (
        "every position that can be reached is at depth 0: the generators exchange like pieces "
        "only, or lead from goal to goal"
    )
    words = Words(idle=idle, stuck=idle, config=remark)
    return Puzzle("permutations", title, model, notation, words)


def _read(notation: PermutationNotation, boards: Sequence[tuple[str, list[str]]]) -> GivenBoards:
    """Return the boards of a config. ? is a label like others, so each is drawn whole."""
    read = [(key, notation.board_of(key, marks)) for key, marks in boards]
    goals = tuple(board for key, board in read if key != "puzzle.start")
    start = next((board for key, board in read if key == "puzzle.start"), None)
    return GivenBoards(goals, start, goals[0], tuple(map(notation.line, goals)))


def _rotations(given: Mapping | None, each: Sequence[int]) -> Sequence[Generator]:
    """Return the turns of the whole puzzle that a config names."""
    if not given:
        raise InputError(
            "puzzle.up_to_rotations = true: name the turns of the whole puzzle in "
            "puzzle.rotations, in the form of puzzle.generators"
        )
    return generators_given(given, len(each), each, False, "turns", key="puzzle.rotations").moves


def _rotated(
    notation: PermutationNotation, boards: GivenBoards, rotations: Sequence[Generator]
) -> GivenBoards:
    """Return the boards with the goals in every position of the whole puzzle, as far as its moves
    may lead there."""
    goals = dict.fromkeys(boards.goals)
    for goal in (waiting := list(boards.goals)):  # it grows meanwhile
        for rotation in rotations:
            rotated = notation.pieces.settled(notation.moved(rotation, goal))
            if rotated is not None and rotated not in goals:
                goals[rotated] = None
                waiting.append(rotated)
        if len(goals) > MOST_ROTATED:
            raise InputError(
                f"puzzle.rotations makes more than {MOST_ROTATED:,} goals: they turn the whole "
                "puzzle, so a move is not one of them"
            )
    if len(goals) == len(boards.goals):
        raise InputError(
            "puzzle.up_to_rotations = true: no turn of puzzle.rotations makes another goal that "
            "the moves may lead to; leave it out"
        )
    return boards._replace(goals=tuple(goals), goal_texts=tuple(map(notation.line, goals)))


def _sorts(alike: Alike, orbit: np.ndarray) -> tuple[Sort, ...]:
    """Return the sorts of the pieces: one for each label in an orbit."""
    cells = range(len(orbit))
    footprints = {
        first: footprint_of(
            (), [(cell,) for cell in np.flatnonzero(orbit == first).tolist()], cells
        )
        for first in set(orbit.tolist())
    }
    return tuple(
        Sort(footprints[first], tuple(codes), False) for (first, _), codes in alike.items()
    )


def _marks(board, name: str, orientations: Sequence[int]) -> list[str]:
    """Return the labels of a board, one a position, with their turns."""

    def is_whole(word: str) -> bool:
        """Return whether a word of a board is surely one label: a number, or a label and a turn."""
        turned = max(orientations) > 1 and _split(word)[0] != word
        return turned or word.isdigit()

    marks = labels_given(board, len(orientations), name, "position", is_whole)
    for mark, number in zip(marks, orientations, strict=True):
        if _parted(mark, number)[1] >= number:
            raise InputError(
                f"{name} = {joined(marks)}: {mark} lies where a piece has the orientations "
                f"0..{number - 1}"
            )
    return marks


def _parted(mark: str, orientations: int) -> tuple[str, int]:
    """Return (label, orientation) of a mark in a position with so many orientations."""
    if mark == OPEN_MARK and orientations > 1:
        return mark, WILD
    return _split(mark) if orientations > 1 else (mark, 0)


def _split(mark: str) -> tuple[str, int]:
    """Return the label and the orientation of a mark on a board."""
    label, plus, turned = mark.rpartition(TURNED)
    if label and turned == OPEN_MARK:
        return label, WILD
    if not (label and plus and turned.isdecimal()):
        return mark, 0
    return label, int(turned) if len(turned) <= MOST_DIGITS else MOST_ORIENTATIONS


def neighbour_swaps(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the fewest neighbour swaps that make a sequence s into s[permutation]."""
    row, swaps = list(range(len(permutation))), []
    for place, member in enumerate(permutation):
        for i in range(row.index(member) - 1, place - 1, -1):
            row[i], row[i + 1] = row[i + 1], row[i]
            swaps.append(i)
    return tuple(swaps)
