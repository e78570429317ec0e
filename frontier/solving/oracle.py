"""The distance and the shortest solutions of any position, from a run that kept every layer.

A layer holds the positions at one distance, so a position's distance is the depth of the layer that
has its bit. From a position at depth t > 0 some move leads to depth t - 1, and so on to the goal.
Shortest solutions are counted layer by layer: a position at depth t adds its number of shortest
paths to that of each neighbour at depth t - 1.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from frontier.answers.distances import reader_of
from frontier.errors import CorruptRunError, InputError
from frontier.kernels.engines import lists_of
from frontier.kernels.key_lists import KeyLists
from frontier.kernels.lists import ListKernel
from frontier.layers.run import LayerRun
from frontier.puzzles import Board, Puzzle
from frontier.solving.piece_bound import LowerBound, bound_of
from frontier.solving.solution import Solution, solution_along

MOST_OPEN_STATES = 50_000_000
"""The most states that all list layers in memory hold together, if there are several."""

BATCH = 1 << 16
"""So many states of a layer are expanded at a time."""

MOST_COUNTED = 20_000_000
"""The most positions of one layer that `count` follows."""


class Oracle:
    """Distances and solutions of the positions of one run. Layers stay open between calls."""

    def __init__(self, run: LayerRun):
        """Raises InputError if the run did not keep its layers."""
        self._run = run
        self._reader = reader_of(run, 1, MOST_OPEN_STATES)
        self._space = self._reader.space
        self._lists = lists_of(self._space)
        self.puzzle, self._model = self._reader.puzzle, self._reader.puzzle.model
        self._depths = sorted(
            (record.depth for record in run.records), key=lambda d: -run.records[d].states
        )

    def __repr__(self) -> str:
        return f"<Oracle of {self.puzzle.title}>"

    def distance(self, boards: np.ndarray) -> np.ndarray:
        """Return the distances, int32[N], of N boards, int[N, ...].

        A distance is -1 if the goal cannot be reached, or if it is greater than the depth of the
        run. Raises InputError unless all are boards of this puzzle.
        """
        vertex, sequence = self._model.states_of(boards)
        side = np.full(len(vertex), -1)
        numbers = np.zeros(len(vertex), dtype=self._space.dtype)
        valid = np.flatnonzero(vertex >= 0)
        side[valid], numbers[valid] = self._space.numbers(vertex[valid], sequence[valid])
        distance = np.full(len(vertex), -1, dtype=np.int32)
        for depth in self._depths:  # the largest layers first: they hold the most positions
            candidates = np.flatnonzero((distance < 0) & (side == self._space.side_of(depth)))
            if candidates.size:
                distance[candidates[self._reader.layer(depth).contains(numbers[candidates])]] = (
                    depth
                )
        return distance

    def distance_of(self, board: Board) -> int:
        """Return the distance of one board; raises InputError if the goal cannot be reached from
        it."""
        distance = int(self.distance(np.array([board]))[0])
        if distance < 0:
            self.puzzle.check_reached(board)
            if self._run.complete:
                raise InputError(
                    f"board {self.puzzle.line(board)} cannot be reached from the start: the run "
                    "has found all positions that can"
                )
            raise InputError(
                f"board {self.puzzle.line(board)} is deeper than {len(self._run.records) - 1}, the "
                f"depth that {self._run.path} has reached; resume the run"
            )
        return distance

    def _number(self, board: Board) -> Any:
        """Return the state number of a board that can be reached."""
        state = self._space.number(*self._model.state(board))
        assert state is not None
        return state[1]

    def solve(self, board: Board) -> Solution:
        """Return one shortest solution of a board; raises InputError as `distance_of` does."""
        depth, boards = self.distance_of(board), [board]
        number = self._number(board)
        if self.puzzle.kind == "program" and not self._model.undone:
            numbers = path_to(self._lists, self._batches, depth, number)
            return solution_along(
                self.puzzle, boards_along(self.puzzle, self._lists, numbers, board)
            )
        self._check_undone()
        path = [number]
        for t in range(depth, 0, -1):
            side = self._space.side_of(t)
            near, _ = self._lists.neighbours(side, np.array([number], dtype=self._space.dtype))
            number, nearest = self._nearest(t - 1, near)
            path.append(number)
            boards.append(nearest)
        if not self._model.counted:
            numbers = np.array(path[::-1], self._space.dtype)
            boards = boards_along(self.puzzle, self._lists, numbers, board)
        return solution_along(self.puzzle, boards)

    def _batches(self, depth: int) -> Iterator[np.ndarray]:
        """Return an iterator over the states of a layer, in batches."""
        numbers = self._reader.layer(depth).numbers()
        return (numbers[i : i + BATCH] for i in range(0, numbers.size, BATCH))

    def _check_undone(self) -> None:
        """Raise InputError if some moves cannot be undone. In that case layers give the distance
        from the goal to a position, not the distance back."""
        if not self._model.undone:
            raise InputError(
                f"{self.puzzle.title}: moves cannot be undone, so only one solution is found: "
                "solve without options that list or count more"
                if self.puzzle.kind == "program"
                else f"{self.puzzle.title}: some moves cannot be undone, so the layers cannot "
                "solve a position; use the method ida"
            )

    @cached_property
    def _bound(self) -> LowerBound | None:
        return bound_of(self._model) if self._model.counted else None

    def _nearest(self, depth: int, neighbours: np.ndarray) -> tuple[Any, Board]:
        """Return the neighbour, with its board, that lies in the layer at `depth`.

        Each neighbour may lie in a different slab, so neighbours with the smallest lower bounds are
        looked up first.
        """
        side = self._space.side_of(depth)
        boards = self._model.boards_of(*self._space.states_of(side, neighbours))
        likely = np.zeros(len(boards)) if self._bound is None else self._bound.sums(boards)
        for i in np.argsort(likely, kind="stable"):
            if self._reader.layer(depth).contains(neighbours[i : i + 1])[0]:
                return neighbours[i], tuple(boards[i].tolist())
        raise CorruptRunError(
            f"{self._run.path}: a position at depth {depth + 1} has no neighbour at {depth}"
        )

    def count(self, board: Board) -> int:
        """Return the exact number of shortest solutions of a board; raises InputError as
        `distance_of` does."""
        self._check_undone()
        depth = self.distance_of(board)
        number = self._number(board)
        numbers, total = np.array([number], dtype=self._space.dtype), 1
        for t, near, path_counts in paths_back(
            self._lists, depth, numbers, lambda t, near: self._reader.layer(t).contains(near)
        ):
            if near.size > MOST_COUNTED:
                raise InputError(
                    f"more than {MOST_COUNTED:,} positions at depth {t} lie on shortest solutions "
                    f"of {self.puzzle.line(board)}, too many to count"
                )
            total = int(path_counts.sum())
        return total


def path_to(
    lists: ListKernel, batches: Callable[[int], Iterator[np.ndarray]], depth: int, number: Any
) -> np.ndarray:
    """Return the states on a shortest path from depth 0 to a state.

    batches(depth): an iterator over all states of a layer. number: a state at `depth`. Each layer
    is expanded again to find a state before the next one on the path, because no move leads back.
    """
    path = [number]
    for t in range(depth - 1, -1, -1):
        for numbers in batches(t):
            near, source = lists.neighbours(lists.space.side_of(t), numbers)
            if (found := np.flatnonzero(near == path[-1])).size:
                path.append(numbers[source[found[0]]])
                break
        else:
            raise CorruptRunError(f"no move leads from depth {t} to a state at depth {t + 1}")
    return np.array(path[::-1], lists.space.dtype)


def boards_along(puzzle: Puzzle, lists: ListKernel, path: np.ndarray, board: Board) -> list[Board]:
    """Return the boards of a solution of a program.

    path: the states from depth 0 to the state of `board`. If moves are undone, the boards begin
    with `board`, otherwise they end with it.
    """
    model, space = puzzle.model, lists.space
    path = path[::-1] if model.undone else path
    if isinstance(lists, KeyLists) and lists.space.classes:
        own, origins = map(lists.space.keys, (np.array([board]), model.origins()[1]))
        path = _through(lists, path, *((own,) if model.undone else (origins, own[0])))
    boards = model.boards_of(*space.states_of(0, path))
    return list(map(tuple, boards.tolist()))


def _through(lists: KeyLists, path: np.ndarray, first: np.ndarray, last: Any = None) -> np.ndarray:
    """Return states, each one move after the one before, in the classes along a path.

    path: the representatives of the classes. first: states, some of the first class. last: the
    state at the end; if it is None, any state of the last class. Raises InputError if no moves from
    `first` lead to `last`.
    """
    found, sources = [first[lists.represented(first) == path[0]]], []
    for wanted in path[1:]:
        near, source = lists.moves(found[-1])
        (hits,) = np.nonzero(lists.represented(near) == wanted)
        states, index = np.unique(near[hits], return_index=True)
        only = slice(1 if last is None else None)  # the moves of one state reach all classes
        found.append(states[only])
        sources.append(source[hits[index[only]]])
    at = 0
    if last is not None:
        (ends,) = np.nonzero(found[-1] == last)
        if not ends.size:
            raise InputError(
                f"the shortest solution of {lists.space.digits_of(last.reshape(1))[0].tolist()} "
                "does not begin at the start, but at another state of its class; search without "
                "canonical, or from a start that is the only state of its class"
            )
        at = int(ends[0])
    back = [found[-1][at]]
    for before, source in zip(found[-2::-1], sources[::-1], strict=True):
        at = source[at]
        back.append(before[at])
    return np.array(back[::-1], path.dtype)


def paths_back(
    lists: ListKernel,
    depth: int,
    numbers: np.ndarray,
    inside: Callable[[int, np.ndarray], np.ndarray],
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Generate (depth, states, number of shortest paths to each) layer by layer, back to depth 0.

    numbers: states at `depth`, where the paths begin. inside(depth, numbers): returns bool[N], True
    for the states in the layer at a depth.
    """
    path_counts = np.ones(numbers.size, dtype=object)
    for t in range(depth, 0, -1):
        near, source = lists.neighbours(lists.space.side_of(t), numbers)
        unique_states, index = np.unique(near, return_inverse=True)
        contained = inside(t - 1, unique_states)
        sums = np.zeros(unique_states.size, dtype=object)
        np.add.at(sums, index, path_counts[source])
        numbers, path_counts = unique_states[contained], sums[contained]
        yield t - 1, numbers, path_counts
