"""Whether a number of moves suffices for a position, and its solution, in one thread.

A search for God's number asks this about the positions that the solutions of a pattern leave open.
`Databases` are made once, and depend on whether a move slides one tile
(`frontier.solving.additive`) or several (`frontier.solving.lines`). Each thread has its own
`Decider`.

A position is a board, int8[cells]: the home of the tile in each cell, in reading order, or `BLANK`.

If a move slides one tile, two searches alternate, each time with four times the nodes: one
iteration of IDA* (`frontier.solving.deepening`), which decides whether a position needs at most a
given number of moves, and a beam search (`frontier.solving.beam`), which finds solutions of distant
positions but cannot prove that none exists.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frontier.puzzles import GridPuzzle
from frontier.solving.additive import Database, Load, additive_tables
from frontier.solving.beam import Beam, beam_for, beam_within
from frontier.solving.deepening import path_for, set_out, within
from frontier.solving.paths import BLANK, UNBOUNDED

FIRST_NODES = 20_000
"""The nodes that the first search of each kind visits."""

LONGER = 4
"""The factor by which the nodes grow each time."""

MOST_WIDTH = 1 << 20
"""The greatest width of a beam; it takes 0.6 GB of memory. The hardest known positions of 2×10 need
a tenth to a half of this width."""


class Databases(ABC):
    """Lower bounds for positions of a puzzle, from databases of groups of its tiles.

    period: 2 if all solutions of a position have the same parity, otherwise 1.
    """

    period: int

    def __init__(self, puzzle: GridPuzzle):
        self._reading = puzzle.grid.reading
        self._home = np.array(puzzle.goals[0])[self._reading].argsort()

    def homes(self, boards: ArrayLike) -> np.ndarray:
        """Return the home of the tile in each cell, int8[…, cells], from the codes of boards."""
        codes = np.asarray(boards)[..., self._reading]
        return np.where(codes == 0, BLANK, self._home[codes]).astype(np.int8, order="C")

    @abstractmethod
    def decider(self, stop: np.ndarray) -> "Decider":
        """Return the searches of one thread. stop: uint8[1], a flag that another thread sets to end
        a search at once; its result is then meaningless."""


class Decider(ABC):
    """Searches for solutions of single positions, in the memory of one thread.

    stop: see `Databases.decider`.
    """

    stop: np.ndarray

    @abstractmethod
    def bound(self, board: np.ndarray) -> int:
        """Return a lower bound on the moves that a position needs."""

    @abstractmethod
    def parts(self, board: np.ndarray, limit: int, least: int) -> list:
        """Return parts of an iteration of IDA* that together have all solutions of `limit` moves;
        at least `least` parts if there are so many."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a new iteration, whose parts follow."""

    @abstractmethod
    def search_part(self, part: Any, limit: int, most: int) -> tuple[bool, int]:
        """Return what `within` does, for a part of an iteration."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """The nodes of the search that is under way, or that was the last."""

    @property
    @abstractmethod
    def blanks(self) -> np.ndarray:
        """The cells that the blank visits, in order, in the solution that was found last."""

    def within(self, board: np.ndarray, limit: int, most: int) -> tuple[bool, int]:
        """Return whether a search found a solution of at most `limit` moves, and the nodes visited:
        `most` or more if the search ended undecided or was stopped."""
        nodes = 0
        self.begin()
        for part in self.parts(board, limit, 1):
            found, more = self.search_part(part, limit, most - nodes)
            nodes += more
            if found or nodes >= most:
                return found, nodes
        return False, nodes

    def needs_more(
        self, board: np.ndarray, limit: int, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        """Return whether a position needs more than `limit` moves (None if `most` nodes do not
        decide this or the search was stopped), and the nodes visited."""
        found, nodes = self.within(board, limit, most)
        return (False if found else None if nodes >= most else True), nodes

    def solution(self, board: np.ndarray, limit: int) -> np.ndarray | None:
        """Return the cells that the blank visits, in order, in a solution of at most `limit` moves;
        None if no solution is that short, or if the search was stopped."""
        found, _ = self.within(board, limit, UNBOUNDED)
        return self.blanks if found else None


class Additive(Databases):
    """The databases of a puzzle whose moves slide one tile.

    groups: the homes of the tiles of each group, in reading order. load, vertices_of,
    share: see `frontier.solving.additive.additive_tables`.
    """

    period = 2

    def __init__(
        self,
        puzzle: GridPuzzle,
        groups: Sequence[np.ndarray],
        load: Load,
        vertices_of: Callable[[Database], np.ndarray] = lambda database: database.vertices,
        share: bool = True,
    ):
        super().__init__(puzzle)
        self.tables = additive_tables(puzzle, groups, load, vertices_of, share)

    def decider(self, stop: np.ndarray) -> "AdditiveDecider":
        return AdditiveDecider(self.tables, stop)


class Part(NamedTuple):
    """The part of an iteration that begins at a position. untried: the bits of the moves that may
    come next. blanks: the cells of the blank on the way there, from the start on."""

    board: np.ndarray
    untried: int
    blanks: tuple[int, ...]


class AdditiveDecider(Decider):
    """Alternates IDA* and beam searches."""

    def __init__(self, tables: Any, stop: np.ndarray):
        self.tables, self.path, self.stop = tables, path_for(tables, stop), stop
        self._beam: Beam | None = None
        self._before: tuple[int, ...] = ()

    def bound(self, board: np.ndarray) -> int:
        return set_out(board, self.tables, self.path)

    def parts(self, board: np.ndarray, limit: int, least: int) -> list["Part"]:
        moves, blank = self.tables.moves, int((board == BLANK).argmax())
        parts = [Part(board, int(moves.all[blank]), (blank,))]
        while len(parts) < least and len(parts[0].blanks) <= limit // 2:
            following: dict[bytes, Part] = {}
            for part in parts:
                for k in range(moves.target.shape[1]):
                    if part.untried >> k & 1:
                        blank, target = part.blanks[-1], int(moves.target[part.blanks[-1], k])
                        after = part.board.copy()
                        after[[blank, target]] = after[[target, blank]]
                        untried = int(moves.then[blank, k])
                        if (same := following.get(after.tobytes())) is not None:
                            untried |= same.untried
                        path = (*part.blanks, target)
                        following[after.tobytes()] = Part(after, untried, path)
            parts = list(following.values())
        return parts

    def begin(self) -> None:
        self.path.salt[0] += 1

    def search_part(self, part: "Part", limit: int, most: int) -> tuple[bool, int]:
        depth = len(part.blanks) - 1
        found, nodes = within(
            part.board, np.uint64(part.untried), depth, limit - depth, most, False, self.tables,
            self.path,
        )  # fmt: skip
        self._before = part.blanks[1:]
        return found > 0, nodes

    def count(self, board: np.ndarray, distance: int, most: int) -> tuple[int, int]:
        """Return the number of shortest solutions of a position, and the nodes visited: `most` or
        more if they did not suffice to count them."""
        first = self.tables.moves.all[int((board == BLANK).argmax())]
        return within(board, first, 0, distance, most, True, self.tables, self.path)

    @property
    def nodes(self) -> int:
        return int(self.path.nodes[0])

    @property
    def blanks(self) -> np.ndarray:
        return np.append(self._before, self.path.blank[1 : self.path.taken[-1] + 1]).astype(int)

    def needs_more(
        self, board: np.ndarray, limit: int, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        enough, visited = min(FIRST_NODES, most), 0
        while not self.stop[0]:
            needs_more, nodes = super().needs_more(board, limit, enough)
            visited += nodes
            if needs_more is not None:
                return needs_more, visited
            width = min(MOST_WIDTH, max(1, enough // max(1, limit)))
            if self._beam is None or self._beam.blank.shape[1] < width:
                self._beam = beam_for(self.tables, 1 << (width - 1).bit_length(), self.stop)
            length, nodes = beam_within(board, limit, width, self.tables, self._beam)
            visited += nodes
            if length >= 0:
                return False, visited
            if enough == most:
                break
            enough = min(LONGER * enough, most)
        return None, visited
