"""The expansion of sorted lists of state numbers, for layers too thin for bitmaps.

A bitmap costs the same however few states it holds. At both ends of a search, and throughout a long
thin one, a sorted list of the states of a layer is better. The kernel expands each state through
its digits, sorts the results, and drops duplicates and the states of the layer before (delayed
duplicate detection, R. E. Korf, AAAI 2004). The cost depends only on the number of states, whatever
the size of the space.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from frontier.jit import kernel
from frontier.space.graph import Space
from frontier.space.lehmer import digit_sum, swap_digits, swapped
from frontier.space.tower_space import AnySpace

NO_STATE = np.uint64(2**64 - 1)

PLAIN_STATES, PLAIN_VOLTAGES = 400_000, 100
"""Up to this many states and this many voltages, NumPy finishes a search before Numba could be
loaded."""


class ListKernel(ABC):
    """Expands sorted lists of the states of one space.

    plain: True if it uses no compiled kernels, because the space is small.
    """

    plain = False

    def __init__(self, space: AnySpace, starts: list[np.ndarray], node_states: int):
        """starts: for each side, where the arcs of each node begin; see `Arcs`. node_states: the
        number of states of a node."""
        self.space, self._starts, self._node_states = space, starts, np.uint64(node_states)
        self._degree = [int(np.diff(start).max(initial=0)) for start in starts]

    def bytes_for(self, states: int) -> int:
        """Return the most bytes that the expansion of a list of this many states takes, lists
        included."""
        return states * 8 * (2 + 2 * max(self._degree))

    def allow(self, threads: int, room: int) -> None:  # noqa: B027  (most need no more)
        """Allow the use of some threads and of `room` bytes of memory in all."""

    def expand(self, side: int, current: np.ndarray, previous: np.ndarray) -> np.ndarray:
        """Return the layer after `current`, which lies on `side`. Both layers and the result are
        sorted uint64 arrays."""
        neighbours = self._all_neighbours(side, current)
        neighbours.sort()
        same_side = current if self.space.sides == 1 else current[:0]
        if self.plain:
            return without(neighbours, previous, same_side)
        return neighbours[: _keep_new(neighbours, previous, same_side)].copy()

    def layers(
        self, origins: tuple[np.ndarray, np.ndarray], revisits: bool = False
    ) -> Iterator[np.ndarray]:
        """Generate the layers of a search from some states, (vertices, sequences), to the last
        layer. revisits: True if moves may lead to any earlier layer."""
        current, depth = np.unique(self.space.numbers(*origins)[1]), 0
        seen = current[:0]
        while current.size:
            yield current
            new = self.expand(self.space.side_of(depth), current, seen)
            seen = united(seen, current) if revisits else current
            current, depth = new, depth + 1

    def neighbours(self, side: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all neighbours of uint64[N] states of a side, in the order of the arcs.

        The result is (uint64[K] state numbers of the next side, int64[K] the index of the state
        that each comes from).
        """
        nodes = (numbers // self._node_states).astype(np.int64)
        source = np.repeat(np.arange(numbers.size), np.diff(self._starts[side])[nodes])
        return self._all_neighbours(side, numbers), source

    @abstractmethod
    def _all_neighbours(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """Return all neighbours, in the order of the arcs, in a new array."""


def united(*lists: np.ndarray) -> np.ndarray:
    """Return the members of some sorted lists together, sorted."""
    return np.sort(np.concatenate(lists), kind="stable")


def without(numbers: np.ndarray, *lists: np.ndarray) -> np.ndarray:
    """Return the members of a sorted array that are in none of some sorted lists, each once."""
    new = np.append(True, numbers[1:] != numbers[:-1])[: numbers.size]
    for excluded in filter(len, lists):
        new &= excluded[np.searchsorted(excluded[:-1], numbers)] != numbers
    return numbers[new]


class ShiftLists(ListKernel):
    """Expands lists of the states of a lift."""

    space: Space

    def __init__(self, space: Space):
        super().__init__(space, [arcs.start for arcs in space.arcs], space.code.half)
        code, voltages = space.code, space.graph.voltages
        self._radices = np.array([*code.radices, 1, 1], dtype=np.int64)
        self._strides = np.array([*code.strides, 1, 1], dtype=np.int64)
        self._swap_start = np.cumsum([0, *map(len, voltages)])
        self._swaps = np.array([i for voltage in voltages for i in voltage], dtype=np.int64)
        self.plain = space.states <= PLAIN_STATES and len(voltages) <= PLAIN_VOLTAGES

    def _all_neighbours(self, side: int, numbers: np.ndarray) -> np.ndarray:
        space, arcs = self.space, self.space.arcs[side]
        if self.plain:
            return self._neighbours_plainly(side, numbers)
        neighbours = np.empty(numbers.size * self._degree[side], dtype=np.uint64)
        size = _neighbours(
            numbers, neighbours, space.code.length, np.uint64(space.code.half), self._radices,
            self._strides, space.sign[side], arcs.start, arcs.target, arcs.voltage,
            self._swap_start, self._swaps,
        )  # fmt: skip
        return neighbours[:size]

    def _neighbours_plainly(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """Return the neighbours, computed with NumPy for all states at once, voltage by voltage."""
        space, arcs = self.space, self.space.arcs[side]
        node, origin = np.divmod(numbers.astype(np.int64), space.code.half)
        degree = np.diff(arcs.start)[node]
        ends = np.cumsum(degree)
        arc = np.repeat(arcs.start[node] - ends + degree, degree) + np.arange(degree.sum())
        index, odd = np.repeat(origin, degree), np.repeat(space.sign[side][node], degree)
        voltage = arcs.voltage[arc]
        for number, swaps in enumerate(space.graph.voltages):
            (chosen,) = np.nonzero(voltage == number)
            moved, sign = index[chosen], odd[chosen]
            for swap in swaps:
                moved, sign = self._swapped(moved, sign, swap), 1 - sign
            index[chosen] = moved
        return (arcs.target[arc].astype(np.int64) * space.code.half + index).astype(np.uint64)

    def _swapped(self, index: np.ndarray, sign: np.ndarray, i: int) -> np.ndarray:
        """Return the indices of sequences after their members i and i + 1 have changed places."""
        code = self.space.code
        if i <= code.length - 4:
            return swapped(index, code.radices[i], code.radices[i + 1], code.strides[i + 1])
        if i == code.length - 3:  # the digit of radix 3 turns, as in the compiled kernel
            parity = sign + digit_sum(index // 3, code.radices[: code.length - 3])
            digit = index % 3
            return index + (digit + 1 + parity % 2) % 3 - digit
        return index


@kernel
def _neighbours(
    current, neighbours, length, half, radices, strides, sign, start, target, voltage, swap_start,
    swaps,
):  # fmt: skip
    """Write the neighbours of all states to `neighbours`, unsorted, and return their number."""
    size = 0
    for number in current:
        node = np.int64(number // half)
        origin = np.int64(number % half)
        for arc in range(start[node], start[node + 1]):
            index, odd = origin, sign[node]
            for k in range(swap_start[voltage[arc]], swap_start[voltage[arc] + 1]):
                i = swaps[k]
                if i <= length - 4:
                    behind = index // strides[i + 1]
                    a = behind // radices[i + 1]
                    b = behind - a * radices[i + 1]
                    a %= radices[i]
                    first, second = swap_digits(a, b)
                    index += (first - a) * strides[i] + (second - b) * strides[i + 1]
                elif i == length - 3:
                    # The digit of radix 3 turns, up if the sign and the other digits add up to an
                    # even number.
                    turn = index // 3
                    parity = odd
                    for j in range(length - 4, -1, -1):
                        quotient = turn // radices[j]
                        parity += turn - quotient * radices[j]
                        turn = quotient
                    digit = index % 3
                    index += (digit + 1 + parity % 2) % 3 - digit
                odd = 1 - odd
            neighbours[size] = np.uint64(target[arc]) * half + np.uint64(index)
            size += 1
    return size


@kernel
def _keep_new(neighbours, previous, current):
    """Move the members of sorted `neighbours` that are in neither list to the start of the array,
    each once, and return their number."""
    size, p, c = 0, 0, 0
    last = NO_STATE
    for i in range(neighbours.size):
        x = neighbours[i]
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
        neighbours[size] = x
        size += 1
    return size


@kernel
def set_bits(strips, numbers, first_node, first_word, half, bits):
    """Set the bits of states in strips that hold all of them, uint64[nodes, words of a strip]."""
    for number in numbers:
        node, index = divmod(np.int64(number), half)
        word, bit = divmod(index, bits)
        strips[node - first_node, word - first_word] |= np.uint64(1) << np.uint64(bit)


@kernel
def list_bits(strips, first_node, first_word, half, bits, numbers):
    """Write the state numbers of the bits of strips to `numbers`, ascending, and return their
    count."""
    size = 0
    for n in range(strips.shape[0]):
        for j in range(strips.shape[1]):
            word = strips[n, j]
            if word == 0:
                continue
            first = (first_node + n) * half + (first_word + j) * bits
            for bit in range(bits):
                if (word >> np.uint64(bit)) & np.uint64(1):
                    numbers[size] = np.uint64(first + bit)
                    size += 1
    return size
