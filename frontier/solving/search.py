"""Shortest solutions of positions of tile puzzles, with databases and all threads.

A position is first searched without large databases. If it takes many nodes, larger ones are made
or loaded, because an easy position must not wait for them. IDA* is divided into parts that begin a
few moves after the start; the threads take them one after the other. A beam search may find a
solution before IDA* has shown that no shorter one exists.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from frontier import machine
from frontier.errors import InputError
from frontier.puzzles import GridPuzzle
from frontier.solving.beam import beam_for, beam_within
from frontier.solving.databases import DatabaseFiles, different
from frontier.solving.groups import equal_sizes, group_bytes, held_bytes, making_bytes, no_room
from frontier.solving.paths import MOST_MOVES, UNBOUNDED, no_stop
from frontier.solving.positions import LONGER, AdditiveDecider, Databases, Decider

FIRST_NODES = 200_000
"""The nodes of a position that one thread searches before several do."""

PARTS = 300
"""The least number of parts of an iteration, if the position has so many."""

SMALLEST = 4
"""The most tiles of a group of the first databases, which take a few megabytes."""

GROWTH = 8
"""The factor by which databases grow at least, from one stage to the next."""

MADE_BYTES, LOADED_BYTES = 300, 500
"""In the time of one node, databases are made whose making takes so many bytes (`group_bytes`), or
so many bytes of them are loaded if they are kept (`held_bytes`)."""

BEAM_WIDTH = 1 << 14
"""The greatest width of a beam."""

MOST_COUNTED = 1_000_000_000
"""The nodes of a count of solutions."""

LOOK_SECONDS = 0.05


@dataclass
class Search:
    """The state of the search of one position.

    homes: the position, as `frontier.solving.positions` describes. limit: the number of moves that
    is being tried; fewer do not suffice. nodes: the nodes so far. iterations: the nodes of each
    limit that has been decided, with attempts that were given up for larger databases. tried: the
    nodes of the present attempt. best: the cells that the blank visits in the best solution known;
    None if no solution is known.
    """

    homes: np.ndarray
    limit: int = 0
    nodes: int = 0
    iterations: tuple[int, ...] = ()
    tried: int = 0
    best: np.ndarray | None = None

    @property
    def proved(self) -> bool:
        """True if no solution is shorter than the best."""
        return self.best is not None and self.best.size <= self.limit

    @property
    def length(self) -> int | None:
        """The moves of the best solution known."""
        return None if self.best is None else int(self.best.size)

    @property
    def left(self) -> int | None:
        """The nodes of this limit that remain if nodes grow as before; None if that is unknown."""
        if len(self.iterations) < 2 or not self.iterations[-2]:
            return None
        growth = max(1.0, self.iterations[-1] / self.iterations[-2])
        left = ceil(self.iterations[-1] * growth) - self.tried
        return left if left > 0 else None


Watch = Callable[[], None]
"""Called while a position is searched; an error that it raises ends the search."""


def stages(puzzle: GridPuzzle, room: int) -> list[tuple[int, ...]]:
    """Return the sizes of the groups of the databases of each stage, small databases first. Those
    of the last stage are the largest that fit in `room` bytes of memory."""
    found: list[tuple[int, ...]] = []
    last = 0
    for sizes in reversed(equal_sizes(puzzle)):
        held = sizes
        if puzzle.metric == "step":
            held = tuple(len(database.homes) for database in different(puzzle, sizes))
        bytes_needed = held_bytes(puzzle, held)
        if bytes_needed > room or making_bytes(puzzle, sizes) > machine.memory():
            continue  # fewer groups may share more databases
        if sizes[0] <= SMALLEST:
            found, last = [sizes], bytes_needed
        elif bytes_needed >= GROWTH * last or len(found) == 1:
            found.append(sizes)
            last = bytes_needed
        else:
            found[-1] = sizes
    if not found:
        raise no_room(puzzle, room)
    return found


class TileSolver:
    """Solves positions of one puzzle. It holds memory until it is closed.

    files: where databases are kept. room: the bytes of memory for databases. threads: how many
    search.
    """

    def __init__(self, puzzle: GridPuzzle, files: DatabaseFiles, room: int, threads: int):
        self.puzzle, self._files, self._threads = puzzle, files, threads
        self._stages = stages(puzzle, room)
        self._stop = no_stop()
        self._pool = ThreadPoolExecutor(threads)
        self._deciders: list[Decider] = []
        self.databases: Databases = self._load(0)

    def close(self) -> None:
        self._stop[0] = 1
        self._pool.shutdown()
        self._deciders = []

    @property
    def _decider(self) -> Decider:
        """The searches of this thread."""
        if not self._deciders:
            raise InputError(f"the solver of {self.puzzle.title} is closed; make another one")
        return self._deciders[0]

    @property
    def groups(self) -> tuple[int, ...]:
        """The sizes of the groups of the present databases."""
        return self._stages[self._stage]

    def _load(self, stage: int) -> Databases:
        """Use the databases of a stage. If this is interrupted, the present ones stay in use."""
        databases = self._files.databases(self.puzzle, self._stages[stage])
        self._deciders = [databases.decider(self._stop) for _ in range(self._threads)]
        self.databases, self._stage = databases, stage
        self._nodes, self._next_worth = 0, self._worth()
        return databases

    def load_all(self) -> None:
        """Load the largest databases, or make them."""
        if self._stage + 1 < len(self._stages):
            self._load(len(self._stages) - 1)

    def bound(self, boards: ArrayLike) -> np.ndarray:
        """Return lower bounds on the moves that boards, int[N, cells], need: int64[N]."""
        decider, homes = self._decider, self.databases.homes(boards)
        return np.array([decider.bound(board) for board in homes], dtype=np.int64)

    def solve(self, search: Search, most_nodes: int | None, watch: Watch) -> None:
        """Search until a shortest solution is known, or for about `most_nodes` nodes."""
        most, decider = most_nodes or UNBOUNDED, self._decider
        search.limit = decider.bound(search.homes)
        beam_nodes = FIRST_NODES if isinstance(decider, AdditiveDecider) else UNBOUNDED
        decided = 0  # the nodes when the present limit began
        while not search.proved and search.nodes < most:
            if self._nodes >= self._next_worth:
                self._load(self._stage + 1)
                search.limit = max(search.limit, self._bound_like(search))
                continue
            if search.nodes >= beam_nodes:
                beam_nodes = LONGER * search.nodes
                self._beam(search, min(BEAM_WIDTH, beam_nodes // max(1, search.limit)))
                continue
            before = search.nodes
            ends = min(most, before + self._next_worth - self._nodes)
            found = self._iteration(search, ends, watch)
            self._nodes += search.nodes - before
            if found is None:
                continue
            search.iterations += (search.nodes - decided,)
            search.tried, decided = 0, search.nodes
            if not found:
                search.limit += self.databases.period
            if search.limit > MOST_MOVES:
                raise OverflowError(f"a position needs more than {MOST_MOVES} moves")

    def count(self, search: Search, most_nodes: int | None) -> int | None:
        """Return the number of shortest solutions of a position, of which one is known; None if it
        takes more nodes than it may."""
        decider, most = self._decider, most_nodes or MOST_COUNTED
        assert isinstance(decider, AdditiveDecider)
        assert search.best is not None
        if search.best.size == 0:
            return 1
        found, nodes = decider.count(search.homes, search.best.size, most)
        return found if nodes < most else None

    def _worth(self) -> int:
        """Return the nodes after which the next databases are worth their time."""
        if self._stage + 1 == len(self._stages):
            return UNBOUNDED
        sizes = self._stages[self._stage + 1]
        if self._files.kept(self.puzzle, sizes):
            return max(FIRST_NODES, held_bytes(self.puzzle, sizes) // LOADED_BYTES)
        return max(FIRST_NODES, group_bytes(self.puzzle, sizes) // MADE_BYTES)

    def _bound_like(self, search: Search) -> int:
        """Return the bound of a position, raised to the parity of its distance."""
        bound = self._deciders[0].bound(search.homes)
        return bound + (search.limit - bound) % self.databases.period

    def _beam(self, search: Search, width: int) -> None:
        decider = self._deciders[0]
        assert isinstance(decider, AdditiveDecider)
        limit = MOST_MOVES - 1 if search.best is None else search.best.size - 1
        beam = beam_for(decider.tables, width, self._stop, trace=True)
        length, _ = beam_within(search.homes, limit, width, decider.tables, beam)
        if length >= 0:
            search.best = beam.blanks[1 : length + 1].copy()

    def _iteration(self, search: Search, ends: int, watch: Watch) -> bool | None:
        """Return whether a solution of `search.limit` moves was found, None if the nodes did not
        suffice."""
        decider, first = self._deciders[0], min(FIRST_NODES, ends - search.nodes)
        found, nodes = decider.within(search.homes, search.limit, first)
        if found:
            search.best = decider.blanks
        if found or nodes < first or search.nodes + first >= ends:
            search.nodes += min(nodes, first)
            return found if found or nodes < first else None
        return self._by_threads(search, ends, watch)

    def _by_threads(self, search: Search, ends: int, watch: Watch) -> bool | None:
        """Search an iteration with all threads; return what `_iteration` does."""
        parts = iter(self._deciders[0].parts(search.homes, search.limit, PARTS))
        free, at_work = list(self._deciders), {}
        before, done, enough = search.nodes, 0, False
        for decider in free:
            decider.begin()
        try:
            while not search.proved and not enough:
                while free and (part := next(parts, None)) is not None:
                    decider = free.pop()
                    task = self._pool.submit(decider.search_part, part, search.limit, UNBOUNDED)
                    at_work[task] = decider
                if not at_work:
                    return False
                for task in wait(at_work, LOOK_SECONDS, FIRST_COMPLETED).done:
                    decider = at_work.pop(task)
                    free.append(decider)
                    done += decider.nodes
                    if task.result()[0]:
                        search.best = decider.blanks
                search.tried = done + sum(other.nodes for other in at_work.values())
                search.nodes = before + search.tried
                enough = search.nodes >= ends
                watch()
        finally:
            self._stop[0] = 1
            wait(at_work)
            self._stop[0] = 0
        return search.proved or None
