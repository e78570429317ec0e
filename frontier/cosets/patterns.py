"""The patterns of a region: one bit of each distance, and lists of the farthest.

**Ends.** A solution of a pattern ends with the blank in the region. If each move slides one tile,
the blank also ends in a cell of the same checkerboard colour as the blank's home. This loses
nothing. Let a solution s end on the other colour, and lead to the board y of the region. The blank
of y is not at home, so D(y) > 0, and a shortest solution of y begins with a move to a cell of the
home's colour. Add this move to s: the solution is one move longer, its board is one move nearer,
and it settles what s settles.

**Bits.** The *distance* of a pattern is the number of moves of its shortest solutions. If a move
slides one tile, it changes this distance by exactly one, and the colour of the blank's cell shows
whether the distance is odd. So a search that knows the distance at its start needs only one bit per
pattern: whether the distance is 2 or 3 modulo 4 (`frontier.kernels.distances`). If a move slides
several tiles, the blank may end anywhere in the region, and a distance has two bits.

**Lists.** A question is about distant patterns. The search that makes the table lists the patterns
of the last layers. If a question needs more, another search lists more.

**Numbers.** A pattern is a state of a base graph (`frontier.puzzles.pattern_graph`). Its number is
the number of its bit, vertex * size + n, where n is the number of the bit of its sequence
(`frontier.kernels.distances.bit_numbers`).
"""

from collections import namedtuple

import numpy as np

from frontier.cosets.kernel import UNLABELLED
from frontier.cosets.regions import Region
from frontier.errors import InputError
from frontier.kernels.distances import WORD_BITS, bit_numbers, residue_layers, signs_and_indices
from frontier.solving.blank_moves import Moves, images, pattern_graph
from frontier.solving.paths import BLANK
from frontier.space.graph import Space
from frontier.space.lehmer import LehmerCode
from frontier.storage.tables import TableSource
from frontier.text import counted

MOST_LISTED = 1 << 29
"""The most patterns of a list: 4 GB."""

LONGER = 4
"""The factor by which each list is longer than the previous one."""

PatternTable = namedtuple("PatternTable", "residue odd period move image size")
"""Patterns as the kernels read them.

residue: uint64[planes, words], the bits of the distances, by the numbers of patterns; see
`frontier.kernels.distances.residue_layers`. odd: int64[cells], whether distances are odd with the
blank in each cell. period: 2 if the cell of the blank determines this, otherwise 1. move:
int64[vertices, K], the vertex that a move leads to, times 2**VOLTAGE_BITS, plus the number of its
voltage; -1 for no move. image: unsigned[voltages, size], see `frontier.solving.blank_moves.images`.
"""


class Patterns:
    """The table of the patterns of a region, and lists of the farthest.

    table: the table for the kernels. layers: int64, the number of patterns at each distance.
    """

    def __init__(self, region: Region, moves: Moves, threads: int, table_source: TableSource):
        self._region, self._threads, self._source = region, threads, table_source
        self._base = region.pattern.model.base
        self._code = LehmerCode(region.labelled)
        self._graph, move = pattern_graph(region.pattern, moves)
        self._lists: dict[int, np.ndarray] = {}
        self._counts: np.ndarray | None = None  # the last search sets both
        size, planes = 2 * self._code.words * WORD_BITS, 3 - region.period
        self._shape = planes, 2 * self._graph.vertices, self._code.words
        residue = table_source("patterns", self._make_residue)
        self.table = PatternTable(
            residue.reshape(planes, -1), region.odd.astype(np.int64), np.int64(region.period),
            move, images(self._graph.permutations, self._code), np.int64(size),
        )  # fmt: skip
        self.layers = table_source("layers", self._count)
        if self._lists:  # keep them, which saves another search
            self._list_from(self._first(region.most_listed))
            self._lists = {}

    @property
    def farthest(self) -> int:
        """The greatest distance of a pattern."""
        return self.layers.size - 1

    def at(self, least: int, modulo: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers, int64, and the distances, uint8, of the patterns whose distances are
        at least `least` and congruent to `modulo` modulo the period.

        Raises InputError if there are too many.
        """
        room = self._region.most_listed
        while self._first(room) > least:
            room *= LONGER
        listed, first = self._list_from(self._first(room)), 0
        numbers, distances = [], []
        for depth in range(self.farthest, least - 1, -1):
            last = first + int(self.layers[depth])
            if depth % self._region.period == modulo:
                numbers.append(listed[first:last])
                distances.append(np.full(last - first, depth, dtype=np.uint8))
            first = last
        nothing = np.empty(0, dtype=np.uint8)
        return (
            np.concatenate([nothing, *numbers], dtype=np.int64),
            np.concatenate([nothing, *distances]),
        )

    def homes(self, numbers: np.ndarray) -> np.ndarray:
        """Return the home of the labelled tile in each cell: int8[N, cells], `UNLABELLED` or
        `BLANK`."""
        vertex, number = np.divmod(numbers, self.table.size)
        sign, index = signs_and_indices(self._code, number)
        places, blank = self._base.places_of(vertex)
        homes = np.full((numbers.size, self._base.cells), UNLABELLED, dtype=np.int8)
        row = np.arange(numbers.size)
        tiles = self._region.outside[self._code.unranks(index, sign)]
        homes[row[:, None], places + (places >= blank[:, None])] = tiles
        homes[row, blank] = BLANK
        return homes

    def numbers(self, homes: np.ndarray) -> np.ndarray:
        """Return the numbers of patterns, int64[N]; inverse of `homes`."""
        blank, labelled = (homes == BLANK).argmax(axis=1), homes >= 0
        position = np.nonzero(labelled)[1].reshape(len(homes), self._code.length)
        tiles = np.searchsorted(self._region.outside, homes[labelled])
        index, sign = self._code.ranks(tiles.reshape(len(homes), self._code.length))
        vertex = self._base.vertices_of(position - (position > blank[:, None]), blank)
        return vertex * self.table.size + bit_numbers(self._code, sign, index)

    def _make_residue(self) -> np.ndarray:
        planes = np.zeros(self._shape, dtype=np.uint64)
        self._search(planes, self._region.most_listed)
        return planes

    def _count(self) -> np.ndarray:
        """Return the number of patterns at each distance, counted by the search that made the table
        or by another search."""
        if self._counts is None:
            self._search(self._nothing(), self._region.most_listed)
        return np.asarray(self._counts)

    def _nothing(self) -> np.ndarray:
        """Return an array without planes, so that a search writes no residues."""
        return np.empty((0, *self._shape[1:]), dtype=np.uint64)

    def _first(self, most: int) -> int:
        """Return the least distance that at most `most` patterns reach or exceed."""
        following = self.layers[::-1].cumsum()
        return self.layers.size - int(np.searchsorted(following, most, side="right"))

    def _list_from(self, least: int) -> np.ndarray:
        """Return the numbers of all patterns at distance `least` or farther, the farthest first;
        raises InputError if there are too many."""
        count = int(self.layers[least:].sum())
        if count > MOST_LISTED:
            raise InputError(
                f"region {self._region.name}: {counted(count, 'pattern')} at distance {least} or "
                f"more; at most {MOST_LISTED:,} can be listed; choose another region"
            )

        def make() -> np.ndarray:
            if least not in self._lists:
                self._search(self._nothing(), count)
            depths = range(self.farthest, least - 1, -1)
            listed = np.concatenate([np.empty(0, np.uint8), *(self._lists[d] for d in depths)])
            self._lists = {}
            return listed

        return self._source(f"far-{least}", make)

    def _search(self, planes: np.ndarray, most: int) -> None:
        """Search all patterns from the ends of solutions. Write their residues, count each layer,
        and list the last layers, at most `most` patterns."""
        region, base = self._region, self._base
        ends = region.cells[region.odd[region.cells] == 0]
        places = region.outside - (region.outside > ends[:, None])
        vertex = base.vertices_of(places, ends)
        sequence = np.tile(np.arange(self._code.length), (vertex.size, 1))
        space = Space(self._graph, [(v, 0) for v in vertex.tolist()])
        bits = self._shape[1] * self._shape[2] * WORD_BITS
        dtype = np.uint32 if bits <= 1 << 32 else np.int64
        counts: list[int] = []
        lists: dict[int, np.ndarray] = {}
        for layer in residue_layers(space, (vertex, sequence), self._threads, planes):
            counts.append(layer.states)
            if layer.states > most:
                lists.clear()
                continue
            lists[layer.depth] = layer.numbers().astype(dtype)
            while sum(numbers.size for numbers in lists.values()) > most:
                del lists[min(lists)]
        self._counts, self._lists = np.array(counts), lists
