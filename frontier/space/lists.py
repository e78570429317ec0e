"""One layer step on sorted lists of state numbers, for layers too thin for bitmaps.

A bitmap costs the same however few states it holds. At both ends of a search, and all the way
through a long thin one, a layer is better kept as the sorted list of its states: each state is
expanded by its digits, the results are sorted, and duplicates and the states of the layer
before are dropped (delayed duplicate detection, R. E. Korf, AAAI 2004). The cost follows the
number of states alone, whatever the size of the space.
"""

import numpy as np

from frontier.space.graph import Space
from frontier.space.jit import kernel

NO_STATE = np.uint64(2**64 - 1)


class ListKernel:
    """Expands sorted lists of the states of one space."""

    def __init__(self, space: Space):
        self.space = space
        code = space.code
        words = space.graph.words
        self._radices = np.array([*code.radices, 1, 1], dtype=np.int64)
        self._strides = np.array([*code.strides, 1, 1], dtype=np.int64)
        self._word_start = np.cumsum([0, *map(len, words)])
        self._word = np.array([i for word in words for i in word], dtype=np.int64)
        self._degree = [int(np.diff(a.start).max(initial=0)) for a in space.arcs]

    def room(self, states: int) -> int:
        """Bytes that expanding a list of this many states takes at most, lists included."""
        return states * 8 * (2 + 2 * max(self._degree))

    def expand(self, klass: int, current: np.ndarray, previous: np.ndarray) -> np.ndarray:
        """The layer after `current`, which lies in `klass`; all are sorted uint64 arrays."""
        space = self.space
        found = _sorted(
            self._all_neighbours(klass, current),
            np.uint64(space.nodes[(klass + 1) % space.classes] * space.code.half),
        )
        itself = current if space.classes == 1 else current[:0]
        return found[: _keep_new(found, previous, itself)].copy()

    def neighbours(self, klass: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All neighbours of uint64[N] states of a class, in the order of the arcs.

        (uint64[K] state numbers of the next class, int64[K] which of the N each comes from).
        """
        degree = np.diff(self.space.arcs[klass].start)
        nodes = (numbers // np.uint64(self.space.code.half)).astype(np.int64)
        source = np.repeat(np.arange(numbers.size), degree[nodes])
        return self._all_neighbours(klass, numbers), source

    def _all_neighbours(self, klass: int, numbers: np.ndarray) -> np.ndarray:
        space, arcs = self.space, self.space.arcs[klass]
        found = np.empty(numbers.size * self._degree[klass], dtype=np.uint64)
        size = _neighbours(
            numbers, found, space.code.length, np.uint64(space.code.half), self._radices,
            self._strides, space.sign[klass], arcs.start, arcs.target, arcs.word,
            self._word_start, self._word,
        )  # fmt: skip
        return found[:size]


@kernel
def _neighbours(
    current, found, length, half, radices, strides, sign, start, target, word, word_start, swaps
):  # fmt: skip
    """Write the neighbours of all states to `found`, unsorted; returns how many there are."""
    size = 0
    for number in current:
        node = np.int64(number // half)
        origin = np.int64(number % half)
        for arc in range(start[node], start[node + 1]):
            index, odd = origin, sign[node]
            for k in range(word_start[word[arc]], word_start[word[arc] + 1]):
                i = swaps[k]
                if i <= length - 4:
                    behind = index // strides[i + 1]
                    a = behind // radices[i + 1]
                    b = behind - a * radices[i + 1]
                    a %= radices[i]
                    if a <= b:
                        index += (b + 1 - a) * strides[i] + (a - b) * strides[i + 1]
                    else:
                        index += (b - a) * strides[i] + (a - 1 - b) * strides[i + 1]
                elif i == length - 3:
                    # the digit of radix 3 turns, up if sign and other digits add up to even
                    turn = index // 3
                    parity = odd
                    for j in range(length - 4, -1, -1):
                        rest = turn // radices[j]
                        parity += turn - rest * radices[j]
                        turn = rest
                    digit = index % 3
                    index += (digit + 1 + parity % 2) % 3 - digit
                odd = 1 - odd
            found[size] = np.uint64(target[arc]) * half + np.uint64(index)
            size += 1
    return size


@kernel
def _sorted(numbers, limit):
    """Sort numbers below `limit`, eleven bits at a time from the last (radix sort).

    Returns one of `numbers` and a second buffer of its size; the other is scratch.
    """
    if numbers.size < 4096:
        numbers.sort()
        return numbers
    spare = np.empty_like(numbers)
    count = np.empty(2048, dtype=np.int64)
    shift = np.uint64(0)
    while shift < np.uint64(64) and limit >> shift:
        count[:] = 0
        for x in numbers:
            count[(x >> shift) & np.uint64(2047)] += 1
        total = 0
        for digit in range(2048):
            total, count[digit] = total + count[digit], total
        for x in numbers:
            digit = (x >> shift) & np.uint64(2047)
            spare[count[digit]] = x
            count[digit] += 1
        numbers, spare = spare, numbers
        shift += np.uint64(11)
    return numbers


@kernel
def _keep_new(found, previous, current):
    """Compact sorted `found` to its different members in neither list; returns their number."""
    size, p, c = 0, 0, 0
    last = NO_STATE
    for i in range(found.size):
        x = found[i]
        if x == last:
            continue
        last = x
        while p < previous.size and previous[p] < x:
            p += 1
        if p < previous.size and previous[p] == x:
            continue
        while c < current.size and current[c] < x:
            c += 1
        if c < current.size and current[c] == x:
            continue
        found[size] = x
        size += 1
    return size


@kernel
def set_bits(chunk, numbers, first_node, first_word, half, bits):
    """Set the bits of states in uint64[nodes, words of a strip], a chunk that holds them all."""
    for number in numbers:
        node, index = divmod(np.int64(number), half)
        word, bit = divmod(index, bits)
        chunk[node - first_node, word - first_word] |= np.uint64(1) << np.uint64(bit)


@kernel
def list_bits(chunk, first_node, first_word, half, bits, numbers):
    """Write the state numbers of a chunk's bits to `numbers`, ascending; returns how many."""
    size = 0
    for n in range(chunk.shape[0]):
        for j in range(chunk.shape[1]):
            word = chunk[n, j]
            if word == 0:
                continue
            first = (first_node + n) * half + (first_word + j) * bits
            for bit in range(bits):
                if (word >> np.uint64(bit)) & np.uint64(1):
                    numbers[size] = np.uint64(first + bit)
                    size += 1
    return size
