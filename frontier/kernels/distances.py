"""Tables of the distances of all states of a space, filled layer by layer in memory.

A table holds each distance as a byte, or its residue modulo 4 in one or two bits. The distances of
neighbours differ by at most one, so the distance of a state follows from its residue and the
distance of a neighbour, and all distances along a path follow from the first (R. E. Korf,
Minimizing Disk I/O in Two-Bit Breadth-First Search, AAAI 2008, where distances modulo 3 take two
bits).
"""

from collections.abc import Callable, Iterator

import numpy as np

from frontier.jit import kernel
from frontier.kernels.shift_search import ShiftSearch, memory_layout
from frontier.space.graph import Space
from frontier.space.lehmer import LehmerCode
from frontier.space.words import lowest_bit

UNREACHED = 255
"""The entry of a distance table where there is no reached state."""

MOST_DISTANCE = UNREACHED - 1

WORD_BITS = 64
"""The number of bits in a word of a table; the Lehmer code uses some of them."""


def bit_numbers(code: LehmerCode, sign: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the numbers of the bits that stand for sequences within their vertex, int64[N]: (sign
    * words + w) * 64 + i for bit i of word w."""
    word, bit = np.divmod(index, code.bits)
    return (sign * code.words + word) * WORD_BITS + bit


def signs_and_indices(code: LehmerCode, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the signs and Lehmer indices of sequences; inverse of `bit_numbers`."""
    word, bit = np.divmod(number, WORD_BITS)
    sign, word = np.divmod(word, code.words)
    return sign, word * code.bits + bit


@kernel
def bit_at(words, number):
    """Return bit `number` of a plane of a table, given as words of uint64: int64, 0 or 1."""
    return np.int64(words[number >> 6] >> np.uint64(number & 63) & np.uint64(1))


@kernel
def distance_change(before, residue):
    """Return the change, -1, 0 or 1, from a distance to a neighbour's distance, which is `residue`
    modulo 4."""
    return (residue - before + 1 & 3) - 1


class FoundLayer:
    """A layer that has been written to a table.

    depth: the depth of the layer. states: the number of its states.
    """

    def __init__(self, space: Space, search: ShiftSearch, depth: int, counts: np.ndarray):
        """counts: int64, the number of states at each node of the layer's side."""
        self.depth, self.states = depth, int(counts.sum())
        side, self._nodes = space.side_of(depth), np.flatnonzero(counts)
        self._counts = counts[self._nodes]
        self._rows = 2 * space.vertex[side][self._nodes].astype(np.int64)
        self._rows += space.sign[side][self._nodes]
        self._search, self._code = search, space.code

    def spread(self, function: Callable[..., None], *arrays: np.ndarray) -> None:
        """Call function(bitmaps, nodes, rows, ...) on all threads, for equal shares of the nodes
        that have states, of their rows in a table, and of arrays with one entry for each node."""
        shares, bitmaps = 4 * self._search.threads, self._search.layer(self.depth).words
        split = (np.array_split(array, shares) for array in (self._nodes, self._rows, *arrays))
        self._search.spread(lambda some: function(bitmaps, *some), zip(*split, strict=True))

    def numbers(self) -> np.ndarray:
        """Return the numbers of the layer's bits, int64[states]: (row * words + w) * 64 + i for the
        entry [row, w, i]."""
        numbers = np.empty(self.states, dtype=np.int64)
        first = self._counts.cumsum() - self._counts
        row_bits = self._code.words * WORD_BITS
        self.spread(lambda *some: _list_bits(*some, row_bits, numbers), first)
        return numbers


def distance_table(
    space: Space, origins: tuple[np.ndarray, np.ndarray], threads: int
) -> np.ndarray:
    """Return the distance of every state from the nearest origin. origins: (vertices, sequences).

    The table is uint8[2 * vertices, half]. The state of a vertex and a sequence of sign s and
    Lehmer index i is at [2 * vertex + s, i]; `UNREACHED` marks the entries without a reached state.
    Raises OverflowError if a distance is greater than `MOST_DISTANCE`.
    """
    table = np.full((2 * space.graph.vertices, space.code.half), UNREACHED, dtype=np.uint8)
    for layer in _layers(space, origins, threads):
        more = space.code.bits, layer.depth, table
        layer.spread(lambda *some, more=more: _write_bytes(*some, *more))
    return table


def residue_layers(
    space: Space, origins: tuple[np.ndarray, np.ndarray], threads: int, planes: np.ndarray
) -> Iterator[FoundLayer]:
    """Write the distances of `distance_table` modulo 4, and yield each layer once it is written.

    planes: uint64[P, 2 * vertices, words] of zeros. A bit of plane 0 is set if the distance is 2 or
    3 modulo 4. A bit of plane 1, if there is such a plane, is set if the distance is odd; in a
    bipartite space the side shows the parity. Bits that stand for no state stay 0. Raises
    OverflowError as `distance_table` does.
    """
    for layer in _layers(space, origins, threads):
        for plane, bit in zip(planes, (2, 1), strict=False):
            if layer.depth & bit:
                layer.spread(lambda *some, plane=plane: _write_bits(*some, plane))
        yield layer


def residue_table(
    space: Space, origins: tuple[np.ndarray, np.ndarray], threads: int, table: np.ndarray
) -> None:
    """Fill a table of one plane, uint64[2 * vertices, words], as `residue_layers` does."""
    for _ in residue_layers(space, origins, threads, table[None]):
        pass


def _layers(space: Space, origins, threads: int) -> Iterator[FoundLayer]:
    search = ShiftSearch(memory_layout(space, threads), threads)
    for depth, counts in enumerate(search.layers(origins)):
        if depth > MOST_DISTANCE:
            raise OverflowError(f"a distance is {depth} or more; at most {MOST_DISTANCE} is known")
        yield FoundLayer(space, search, depth, counts)


@kernel
def _write_bytes(words, nodes, rows, bits, depth, table):
    """Write a depth to the rows of a table where the bitmaps of some nodes have a bit."""
    for n in range(nodes.size):
        row = table[rows[n]]
        for prefix in range(words.shape[0]):
            strip = words[prefix, nodes[n]]
            for j in range(strip.size):
                word, column = strip[j], (prefix * strip.size + j) * bits
                while word:
                    row[column + lowest_bit(word)] = depth
                    word &= word - np.uint64(1)


@kernel
def _write_bits(words, nodes, rows, table):
    """Set the bits of the bitmaps of some nodes in the rows of a table."""
    for n in range(nodes.size):
        for prefix in range(words.shape[0]):
            strip = words[prefix, nodes[n]]
            for j in range(strip.size):
                table[rows[n], prefix * strip.size + j] |= strip[j]


@kernel
def _list_bits(words, nodes, rows, first, row_bits, numbers):
    """List the bits of the bitmaps of some nodes; the list of the n-th node begins at
    numbers[first[n]]."""
    for n in range(nodes.size):
        at = first[n]
        for prefix in range(words.shape[0]):
            strip = words[prefix, nodes[n]]
            for j in range(strip.size):
                word = strip[j]
                number = rows[n] * row_bits + (prefix * strip.size + j) * WORD_BITS
                while word:
                    numbers[at] = number + lowest_bit(word)
                    at += 1
                    word &= word - np.uint64(1)
