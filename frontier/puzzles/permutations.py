"""Permutation puzzles: a move permutes the pieces in certain positions, whichever pieces are there.

Examples are pancakes, TopSpin, the cube and other twisty puzzles. No position need be empty. The
moves are generators (`frontier.puzzles.generators`), and a state is a colouring of points
(`frontier.space.points`).

Pieces never leave the *orbit* of their position under the generators. Pieces that share a label in
an orbit count as the same. On a board the orientation of a piece may follow its label, as in 7+2.
In the goal, +? means that the orientation of the pieces with this label does not matter, and ?
alone means any piece in any orientation. The code of a piece is its place in the goal, from 1, plus
its orientation times the number of positions.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import factorial
from operator import itemgetter

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import FIRST_SORT, Sort, footprint_of
from frontier.puzzles.generators import Generator, generators_given
from frontier.puzzles.keyed import keyed_model
from frontier.puzzles.model import Encoding, Model, Reached, lift
from frontier.puzzles.moves import check_metric
from frontier.puzzles.nets import net_of
from frontier.puzzles.notation import OPEN_MARK, Drawing, boards_given
from frontier.puzzles.permutation_notation import (
    TURNED,
    WILD,
    Alike,
    PermutationNotation,
    marks_given,
    parted,
    split_mark,
)
from frontier.puzzles.pieces import GivenBoards, TurnedPieces
from frontier.puzzles.puzzle import Puzzle, Words
from frontier.space.graph import BaseGraph
from frontier.space.key_moves import PointMoves
from frontier.space.orbits import Orbits
from frontier.space.points import Points, orbits, points_of
from frontier.space.tower import Graph
from frontier.space.tower_space import AnySpace
from frontier.text import counted

MOST_ROTATED = 1000
"""The most goals that the turns of the whole puzzle may make."""


class PermutingEncoding(Encoding):
    """Boards of a permutation puzzle as states: one vertex, with the colours of the points as the
    sequence.

    points: the positions and stickers of the puzzle, with its generators.
    """

    pieces: TurnedPieces

    def __init__(self, pieces: TurnedPieces, metric: str, given: GivenBoards, points: Points):
        super().__init__(pieces, metric, given)
        self.points = points

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

    @property
    def key_moves(self) -> PointMoves:
        return PointMoves(self.points)

    @cached_property
    def _differ(self) -> bool:
        """True if all pieces differ and none can be turned."""
        return np.unique(self.points.label).size == self.points.count

    def reach(self, vertex: np.ndarray, sequence: np.ndarray) -> Reached:
        if self._differ:
            return super().reach(vertex, sequence)
        return self._orbits(vertex, sequence)

    def _orbits(self, vertex: np.ndarray, sequence: np.ndarray) -> Orbits:
        return Orbits(self.points, Graph.of_moves(self.points), vertex, sequence)

    def space(self, reach: Reached, vertex: np.ndarray, sequence: np.ndarray) -> AnySpace:
        """Return the lift if all pieces differ and at least half of their orders are reached,
        because shifts of bits then take no more work. Otherwise return the tower, which has fewer
        states."""
        if isinstance(reach, Orbits):
            return reach.space
        if 2 * reach.states >= factorial(self.points.count):
            return lift(self.graph, vertex, sequence)
        return self._orbits(vertex, sequence).space


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
    boards = [(name, marks_given(board, name, each)) for name, board in boards_of_config]
    labels, turns = zip(*map(parted, boards[0][1], each), strict=True)
    wild = np.array(turns) == WILD
    for label in labels:
        if max(each) > 1 and split_mark(label)[1]:
            raise InputError(
                f"puzzle.goal: {label!r} ends like an orientation; choose another name"
            )
    alike: Alike = {}
    for code, (first, label) in enumerate(zip(orbit.tolist(), labels, strict=True), start=1):
        alike.setdefault((first, label), []).append(code)
    for (_, label), codes in alike.items():
        if len({*wild[np.array(codes) - 1].tolist()}) > 1:
            raise InputError(
                f"{boards[0][0]}: {label} is written with {TURNED}{OPEN_MARK} and without; if "
                "pieces count as the same, the orientation of all or of none matters"
            )
    alike = dict(sorted(alike.items(), key=itemgetter(0)))
    pieces = TurnedPieces(
        reading=np.arange(cells),
        sorts=_sorts(alike, orbit),
        wild=wild,
        rule=(
            f"each of the pieces 1..{cells} must appear once, in a position that it can reach; add "
            f"{cells} for each orientation"
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
    if not points.undone:
        model = keyed_model(model, undone=False)
    title = f"permutations of {counted(cells, 'piece')} by {counted(len(moves), 'generator')}"
    idle = (
        "every position that can be reached is at depth 0: the generators only exchange like "
        "pieces, or lead from goal to goal"
    )
    words = Words(idle=idle, stuck=idle, config=remark)
    return Puzzle("permutations", title, model, notation, words)


def _read(notation: PermutationNotation, boards: Sequence[tuple[str, list[str]]]) -> GivenBoards:
    """Return the boards of a config. All are whole, because ? is an ordinary label."""
    read = [(key, notation.board_of(key, marks)) for key, marks in boards]
    goals = tuple(board for key, board in read if key != "puzzle.start")
    start = next((board for key, board in read if key == "puzzle.start"), None)
    return GivenBoards(goals, start, goals[0], tuple(map(notation.line, goals)))


def _rotations(given: Mapping | None, each: Sequence[int]) -> Sequence[Generator]:
    """Return the turns of the whole puzzle that a config names."""
    if not given:
        raise InputError(
            "puzzle.up_to_rotations = true: define the turns of the whole puzzle in "
            "puzzle.rotations, as in puzzle.generators"
        )
    return generators_given(given, len(each), each, False, "turns", key="puzzle.rotations").moves


def _rotated(
    notation: PermutationNotation, boards: GivenBoards, rotations: Sequence[Generator]
) -> GivenBoards:
    """Return the boards with every goal in every orientation of the whole puzzle, except goals that
    the moves cannot reach."""
    goals, seen = dict.fromkeys(boards.goals), set(boards.goals)
    for board in (waiting := list(boards.goals)):  # the loop appends to it
        for rotation in rotations:
            if (rotated := notation.moved(rotation, board)) not in seen:
                seen.add(rotated)
                waiting.append(rotated)
                # Even if no moves lead to this goal, some may lead to a further rotation of it.
                if (settled := notation.pieces.settled(rotated)) is not None:
                    goals[settled] = None
        if len(seen) > MOST_ROTATED:
            raise InputError(
                f"puzzle.rotations makes more than {MOST_ROTATED:,} goals: rotations turn the "
                "whole puzzle; remove those that are ordinary moves"
            )
    if len(goals) == len(boards.goals):
        raise InputError(
            "puzzle.up_to_rotations = true: no rotation makes another goal that the moves can "
            "reach; omit it"
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


def neighbour_swaps(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the fewest neighbour swaps that turn a sequence s into s[permutation]."""
    row, swaps = list(range(len(permutation))), []
    for place, member in enumerate(permutation):
        for i in range(row.index(member) - 1, place - 1, -1):
            row[i], row[i + 1] = row[i + 1], row[i]
            swaps.append(i)
    return tuple(swaps)
