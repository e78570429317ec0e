"""Which positions need more than T moves: one question about all cosets of a region.

If a move slides one tile, it changes the colour of the blank's cell on the checkerboard, so a
position's distance has the parity of its blank's way home. The question for T is then only about
the positions whose distances have the parity of T. If none of them needs more than T moves, then no
position needs more than T + 1, because each has a neighbour of the other parity. So half of the
cosets need no search. The positions found are all positions at the depths T + 2, T + 4, ...: with
T = G - 2 for God's number G they are the last layer, with T = G - 3 the layer before it.

If a move slides several tiles, the question for T is about all positions, and the positions found
are at the depths T + 1, T + 2, ...

No position of a coset needs more than T moves if its pattern's distance plus the greatest D is at
most T. Of cosets that are mirror images of each other only one is searched
(`frontier.solving.symmetry`). The cosets to search are shuffled, so any portion of them shows how
long the others will take.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock
from typing import NamedTuple

import numpy as np

from frontier.cosets.kernel import Tables, scratch_for, search_cosets
from frontier.cosets.patterns import Patterns
from frontier.cosets.regions import Region, far_boards, region_table
from frontier.puzzles import Board, GridPuzzle
from frontier.solving.additive import Database
from frontier.solving.blank_moves import moves_on
from frontier.solving.groups import runs_of_tiles
from frontier.solving.lines import Lines
from frontier.solving.paths import BLANK, FIRST_MIX, MOST_MOVES, UNBOUNDED, no_stop
from frontier.solving.positions import Additive, Databases, Decider
from frontier.solving.symmetry import mirrored, symmetries
from frontier.storage.sealed import Count, Seconds
from frontier.storage.tables import TableSource

PORTIONS = 1000
"""The most portions of a question."""

PORTION_COSETS = 64
"""The fewest cosets of a portion."""

WORTH = 100_000
"""The fewest look-ups for each open position of a coset before these positions are searched
singly."""

MOST_WORTH = 64 * WORTH
"""The most look-ups for each open position, unless a single search ended undecided."""

SEARCHED_LONGER = 16
"""The nodes of a position's single search for each of these look-ups; if they are not enough, its
coset is searched again."""

LOOK_UPS_A_NODE = 8
"""The look-ups in a search of cosets that take as long as one node of a single search: 35 ns each
against 280 ns. The databases of a single search are larger than all caches."""

LONGER = 4
"""The factor by which the limits grow when a coset is searched again."""

MOST_LOOK_UPS = 1_000_000_000
"""The most look-ups in one coset, regardless of the number of open positions."""

LOOK_UPS_A_CHECK = 100_000_000
"""The look-ups after which, at the end of a coset, a portion checks whether to stop."""

ROOM = 100_000
"""The number of open positions that always fit in the memory of a thread."""

MIRRORED = 1 << 18
"""The number of cosets compared with their mirror images at a time."""

AT_ONCE = 16
"""The number of cosets that the kernel searches at a time."""


@dataclass(frozen=True)
class Farther:
    """A position that needs more moves than the limit of its question.

    board: its codes. depth: its distance. blanks: the cells that the blank visits in a shortest
    solution, in order.
    """

    board: Board
    depth: Count
    blanks: tuple[Count, ...]


@dataclass(frozen=True)
class Witness:
    """A position, by its codes, that needs more than `limit` moves; its exact distance is unknown.

    seconds: the processor seconds that a question took to find it.
    """

    board: Board
    limit: Count
    seconds: Seconds = 0.0


@dataclass(frozen=True)
class Portion:
    """The result of the search of some cosets of a question.

    number: the number of the portion. cosets: how many cosets it has. look_ups, solutions: the
    numbers of look-ups and of solutions in the search of cosets. left: the number of positions left
    open. nodes: the nodes of the single searches. farther: the positions that need more moves.
    seconds: the processor seconds. hardest: (nodes, board) of the longest single search that found
    a solution.
    """

    number: Count
    cosets: Count
    look_ups: Count
    solutions: Count
    left: Count
    nodes: Count
    seconds: Seconds
    farther: tuple[Farther, ...] = ()
    hardest: tuple[Count, Board] | None = None


class Asker:
    """The tables of a region, and the search of portions of cosets with them.

    deepest: the greatest distance of a pattern, and of a board of the region to which a solution
    may lead. bound: their sum, a number of moves that suffices for every position.
    """

    def __init__(
        self,
        region: Region,
        sizes: tuple[int, ...],
        threads: int,
        source: TableSource,
    ):
        """sizes: the number of tiles of each group of the databases; see `frontier.solving.groups`.
        source: returns tables made before."""
        self.region, self.puzzle, metric = region, region.puzzle, region.puzzle.metric
        self._goal = np.array(self.puzzle.goals[0])[self.puzzle.grid.reading]
        moves = moves_on(self.puzzle.grid.rows, self.puzzle.grid.columns, metric)
        # Making the patterns takes the most memory, so they come first.
        self._patterns = Patterns(region, moves, threads, source)
        boards = region_table(region, threads, source)
        self._databases = databases_of(self.puzzle, sizes, threads, source)
        self._tables = Tables(moves, self._patterns.table, boards)
        most = int(boards.distance.max())
        self.deepest = self._patterns.farthest, most - most % region.period
        self.bound = sum(self.deepest)
        self._symmetries = symmetries(self.puzzle.grid, self.puzzle.blank_cell, region.cells)
        self._settled = self._nodes = 0  # positions settled by single searches, and the nodes
        self._stop = no_stop()
        self._prepare = Lock()
        self._prepared: _Prepared | None = None
        self._spare: SimpleQueue = SimpleQueue()

    def cosets(self, limit: int) -> int:
        """Return how many cosets a question has to search."""
        return self._question(limit).cosets.size

    def portions(self, limit: int) -> int:
        """Return the number of portions of a question."""
        return min(PORTIONS, -(-self.cosets(limit) // PORTION_COSETS))

    def learn(self, portions: Iterable[Portion]) -> None:
        """Include the single searches of earlier portions in the mean number of nodes."""
        for portion in portions:
            self._settled, self._nodes = self._settled + portion.left, self._nodes + portion.nodes

    def stop(self) -> None:
        """End the current searches and prevent later ones; all return None."""
        self._stop[0] = 1

    def search(
        self, limit: int, number: int, stop: Callable[[], bool] = bool, whole: bool = True
    ) -> Portion | Witness | None:
        """Search a portion of the question for `limit`; return None if it was stopped.

        whole: True if all positions that need more moves are wanted, with their distances;
        otherwise the first one ends the search.
        """
        question = self._question(limit)
        of_portion = np.arange(number, question.cosets.size, self.portions(limit))
        return self._search(question, of_portion, number, stop, whole)

    def search_some(
        self, limit: int, distance: int, some: slice, stop: Callable[[], bool]
    ) -> Portion | None:
        """Search the slice `some` of the cosets of a question whose patterns have the given
        distance; return None if it was stopped."""
        question = self._question(limit)
        there = np.flatnonzero(question.distances == distance)
        found = self._search(question, there[some], 0, stop, True)
        return None if isinstance(found, Witness) else found  # a whole search has no witness

    def distances(self, limit: int) -> np.ndarray:
        """Return the number of cosets of a question by the distance of the pattern, int64."""
        return np.bincount(self._question(limit).distances)

    def _search(
        self, question: "_Prepared", of_portion: np.ndarray, number: int, stop, whole: bool
    ) -> Portion | Witness | None:
        """Search the cosets that `of_portion` lists by number."""
        began, limit = time.thread_time(), question.limit
        # Copies, because numba would compile the kernels again for arrays with gaps.
        cosets, distances = question.cosets[of_portion], question.distances[of_portion]
        homes = self._patterns.homes(cosets)
        look_ups = solutions = left_open = nodes = first = 0
        farther: dict[Board, Farther] = {}
        hardest: tuple[int, Board] | None = None
        settled: set[bytes] = set()

        def stops() -> bool:
            return stop() or bool(self._stop[0])

        with self._memory(question.most_open) as (scratch, decider):
            boards = np.empty((max(ROOM, question.most_open), self.puzzle.cells), dtype=np.int8)
            worth = self._worth
            while first < cosets.size:
                some = slice(first, first + AT_ONCE)
                done, opened, *work = search_cosets(
                    cosets[some], distances[some], homes[some], limit, worth,
                    max(worth, MOST_LOOK_UPS), LOOK_UPS_A_CHECK, question.tables, scratch, boards,
                )  # fmt: skip
                look_ups, solutions = look_ups + work[0], solutions + work[1]
                for board in boards[:opened]:
                    if stops():
                        return None
                    if board.tobytes() in settled:
                        continue
                    most = SEARCHED_LONGER * max(worth, WORTH)
                    needs_more, nodes_of_board = decider.needs_more(board, limit, most)
                    nodes, self._nodes = nodes + nodes_of_board, self._nodes + nodes_of_board
                    if needs_more is None:
                        worth = LONGER * max(1, worth, WORTH)
                        break
                    settled.add(board.tobytes())
                    if not needs_more:
                        if hardest is None or nodes_of_board > hardest[0]:
                            hardest = nodes_of_board, self._codes(board)
                    elif not whole:
                        return Witness(self._codes(board), limit, time.thread_time() - began)
                    elif self._codes(board) not in farther:  # nor an image of one
                        farther |= self._farther(board, limit, decider)
                else:
                    first, left_open = first + done, left_open + len(settled)
                    self._settled += len(settled)
                    settled.clear()
                    worth = self._worth
                if stops():
                    return None
        seconds = time.thread_time() - began
        positions = tuple(farther.values())
        return Portion(
            number, cosets.size, look_ups, solutions, left_open, nodes, seconds, positions, hardest
        )

    def witness(self, board: Board, limit: int, most: int = UNBOUNDED) -> Witness | None:
        """Return a position as a witness if a search of `most` nodes shows that it needs more than
        `limit` moves."""
        homes = self._databases.homes(board)
        with self._memory(1) as (_, decider):
            needs_more, _ = decider.needs_more(homes, limit, most)
        return Witness(tuple(board), limit) if needs_more else None

    def _question(self, limit: int) -> "_Prepared":
        """Return the data that all portions of a question share."""
        with self._prepare:
            if self._prepared is None or self._prepared.limit != limit:
                self._prepared = None  # it may be large
                self._prepared = self._prepared_for(limit)
            return self._prepared

    def _prepared_for(self, limit: int) -> "_Prepared":
        farthest, of_boards = self.deepest
        cosets, distances = self._patterns.at(
            max(0, limit - of_boards + 1), limit % self.region.period
        )
        if self._symmetries.size:
            groups = np.split(cosets, range(MIRRORED, cosets.size, MIRRORED))
            first = np.concatenate([self._is_first(some) for some in groups])
            cosets, distances = cosets[first], distances[first]
        shuffled = np.argsort(cosets.astype(np.uint64) * FIRST_MIX)
        boards = far_boards(self._tables.boards, max(0, limit - farthest + 1))
        most = int(boards.count[:, max(0, min(of_boards + 1, limit - farthest + 1))].max())
        return _Prepared(
            limit, self._tables._replace(boards=boards), cosets[shuffled], distances[shuffled], most
        )

    def _is_first(self, cosets: np.ndarray) -> np.ndarray:
        """Return whether each coset has the least number of its mirror images."""
        first, homes = np.ones(cosets.size, dtype=bool), self._patterns.homes(cosets)
        for cells in self._symmetries:
            first &= cosets <= self._patterns.numbers(mirrored(homes, cells))
        return first

    @property
    def _worth(self) -> int:
        """The look-ups for each open position of a coset before it is searched singly. They take as
        long as the average single search so far.

        Some positions take far longer. So a single search ends after `SEARCHED_LONGER` nodes for
        each of these look-ups. If they do not suffice, the coset is searched again with greater
        limits, and so on.
        """
        mean = LOOK_UPS_A_NODE * self._nodes // max(1, self._settled)
        return max(WORTH, min(mean, MOST_WORTH))

    def _farther(self, board: np.ndarray, limit: int, decider: Decider) -> dict[Board, Farther]:
        """Return a position that needs more moves and its mirror images, with their shortest
        solutions."""
        period = self.region.period
        for depth in range(limit + period, MOST_MOVES + 1, period):
            if self._stop[0]:
                return {}
            cells = decider.solution(board, depth)
            if cells is not None:
                images = {self._codes(board): cells}
                for symmetry in self._symmetries:
                    image = self._codes(mirrored(board[None], symmetry)[0])
                    images.setdefault(image, symmetry[cells])
                return {
                    codes: Farther(codes, depth, tuple(self.puzzle.grid.reading[blanks].tolist()))
                    for codes, blanks in images.items()
                }
        raise OverflowError(f"a position needs more than {MOST_MOVES} moves")

    def _codes(self, board: np.ndarray) -> Board:
        """Return a board whose cells hold the homes of their tiles, as codes row by row."""
        codes = np.empty_like(self._goal)
        codes[self.puzzle.grid.reading] = np.where(board == BLANK, 0, self._goal[board])
        return tuple(codes.tolist())

    @contextmanager
    def _memory(self, most_open: int):
        """Lend memory to one thread; the next portion reuses it."""
        try:
            scratch, decider = self._spare.get_nowait()
        except Empty:
            scratch = scratch_for(self.puzzle.cells, most_open, self._stop)
            decider = self._databases.decider(self._stop)
        if scratch.open.size < most_open:
            scratch = scratch_for(self.puzzle.cells, most_open, self._stop)
        yield scratch, decider
        self._spare.put((scratch, decider))


class _Prepared(NamedTuple):
    """The tables of a question, the patterns of its cosets with their distances, and the most
    positions that a coset leaves open."""

    limit: int
    tables: Tables
    cosets: np.ndarray
    distances: np.ndarray
    most_open: int


def databases_of(
    puzzle: GridPuzzle, sizes: tuple[int, ...], threads: int, table_source: TableSource
) -> Databases:
    """Return the databases for single positions, of groups of these sizes."""
    if puzzle.metric == "multi":
        return Lines(puzzle, sizes, threads, table_source)

    def make(databases: Sequence[Database]) -> np.ndarray:
        words = [database.words for database in databases]
        residue = np.zeros(sum(words), dtype=np.uint64)
        for database, part in zip(databases, np.split(residue, np.cumsum(words)[:-1]), strict=True):
            database.fill(part, threads)
        return residue

    def load(databases: Sequence[Database]) -> tuple[np.ndarray, list[int]]:
        words = [database.words for database in databases]
        return table_source("groups", lambda: make(databases)), words

    return Additive(puzzle, runs_of_tiles(puzzle, sizes), load, share=False)
