"""States as keys: the digits of a state, packed into words of 64 bits.

A user's function lists the neighbours of a state, so nobody knows beforehand which of all
combinations of digits can be reached, and nothing numbers them. A state is its key instead. The
first digit takes the highest bits of the first word, so keys are in the order of their digits.

Wherever other spaces have the number of a state, this one has the key: a uint64 if one word is
enough, otherwise the bytes of its words, the highest first, which compare as the words do.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from frontier.errors import InputError
from frontier.space.words import RowCode

WORD_BITS = 63, 64, 64, 64
"""The bits of the words that digits may use."""

NO_KEY = np.uint64(2**64 - 1)
"""No first word of a key, because its highest bit is never set."""


BATCH = 1 << 16
"""So many keys are checked at a time."""


class Rules(NamedTuple):
    """The functions that define a space of keys.

    neighbours: neighbours(state, out) writes the neighbours of a state, int64[digits], to the rows
    of `out`, int64[most, digits], and returns their number. most: the most neighbours of a state.
    by_key: True if `neighbours` takes a key, and writes keys to `out`, uint64[most]. layer: returns
    the depth of a state; None if it cannot be read off the state. canonical: canonical(state, out)
    writes the representative of the state's class to `out`, int64[digits]; if `by_key` is True, it
    takes and returns a key. class_size: returns the number of states in the class of a state.
    ours: True if this package makes `neighbours`, so that nothing about it need be checked.
    """

    neighbours: Callable
    most: int
    by_key: bool = False
    layer: Callable | None = None
    canonical: Callable | None = None
    class_size: Callable | None = None
    ours: bool = False


class Packing(NamedTuple):
    """The bits of each digit in a key: arrays, one entry for each digit.

    radix: uint64. word: int64, the word. shift: uint64, the lowest bit. mask: uint64, the bits.
    """

    radix: np.ndarray
    word: np.ndarray
    shift: np.ndarray
    mask: np.ndarray

    @classmethod
    def of(cls, radices: Sequence[int]) -> "Packing | None":
        """Return the packing of digits with these radices; None if they do not fit four words."""
        bits = [max(1, (radix - 1).bit_length()) for radix in radices]
        words: list[list[int]] = [[]]
        for digit, count in enumerate(bits):
            if sum(bits[d] for d in words[-1]) + count > WORD_BITS[len(words) - 1]:
                if len(words) == len(WORD_BITS) or count > WORD_BITS[0]:
                    return None
                words.append([])
            words[-1].append(digit)
        word = [number for number, digits in enumerate(words) for _ in digits]
        shift = [sum(bits[d] for d in words[word[i]] if d > i) for i in range(len(bits))]
        return cls(
            np.array(radices, np.uint64),
            np.array(word, np.int64),
            np.array(shift, np.uint64),
            np.array([(1 << count) - 1 for count in bits], np.uint64),
        )


def keys_of(words: np.ndarray) -> np.ndarray:
    """Return keys from their words, uint64[N, words], as one value each."""
    if words.shape[1] == 1:
        return words.reshape(-1)
    return np.ascontiguousarray(words.astype(">u8")).view(f"S{8 * words.shape[1]}").reshape(-1)


class Everything:
    """The states that can be reached, if nobody knows which: every combination of digits may be.

    states: the number of combinations.
    """

    def __init__(self, states: int):
        self.states = states

    def contains(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        return vertex >= 0


class KeySpace:
    """The states that a program's function reaches, or one of each class of them.

    states: the number of combinations of digits, which is at least the number of states. words: the
    words of a key. dtype: the type of keys as numbers. undone: True if each move is undone by some
    move. most: the most neighbours of a state. rules: returns the functions of the program.
    classes: True if the program has `canonical`; the number of a state is then the key of
    its representative.
    """

    sides = 1

    def __init__(
        self,
        radices: Sequence[int],
        undone: bool,
        most: int,
        rules: Callable[[], Rules],
        classes: bool = False,
    ):
        packing = Packing.of(radices)
        assert packing is not None  # the puzzle has checked it
        self.packing, self.undone, self.most, self._rules = packing, undone, most, rules
        self.classes = classes
        self.radices, self.states = tuple(radices), prod(radices)
        self.code, self.nodes, self.vertex = RowCode(1), [1], [np.zeros(1, np.int64)]
        self.words = 1 + int(packing.word[-1])
        self.dtype = np.dtype(np.uint64) if self.words == 1 else np.dtype(f"S{8 * self.words}")

    @property
    def rules(self) -> Rules:
        return self._rules()

    def side_of(self, depth: int) -> int:
        """Return the side of the layer at `depth`."""
        return 0

    def words_of(self, keys: np.ndarray) -> np.ndarray:
        """Return keys as uint64[N, words]."""
        if self.words == 1:
            return keys.reshape(-1, 1)
        words = np.ascontiguousarray(keys).view(">u8").reshape(-1, self.words)
        return words.astype(np.uint64)

    def keys_of(self, words: np.ndarray) -> np.ndarray:
        """Return keys from their words; inverse of `words_of`."""
        return keys_of(words)

    def has_numbers(self, side: int, numbers: np.ndarray) -> bool:
        """Return whether all digits of some keys are below their radices, and no other bit is
        set."""
        for first in range(0, len(numbers), BATCH):
            keys = numbers[first : first + BATCH]
            digits = self.digits_of(keys)
            right = digits < self.packing.radix.astype(np.int64)
            if not (right.all() and np.array_equal(self.keys_of(self._packed(digits)), keys)):
                return False
        return True

    def digits_of(self, keys: np.ndarray) -> np.ndarray:
        """Return the digits of keys, int64[N, digits]."""
        _, word, shift, mask = self.packing
        return ((self.words_of(keys)[:, word] >> shift) & mask).astype(np.int64)

    def _packed(self, digits: np.ndarray) -> np.ndarray:
        """Return the words of states from their digits, uint64[N, words]."""
        words = np.zeros((len(digits), self.words), np.uint64)
        for digit, (word, shift) in enumerate(zip(*self.packing[1:3], strict=True)):
            words[:, word] |= digits[:, digit].astype(np.uint64) << shift
        return words

    def number(self, vertex: int, digits) -> tuple[int, Any]:
        """Return (0, key) of a state."""
        _, keys = self.numbers(np.array([vertex]), np.array([digits], dtype=np.int64))
        return 0, keys[0]

    def numbers(self, vertex: np.ndarray, digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (int64[N] zeros, N keys) of states, int64[N, digits]; -1 instead of 0 where
        the vertex is -1."""
        keys = self.keys(digits)
        return np.minimum(vertex, 0), self.represented(keys) if self.classes else keys

    def keys(self, digits: np.ndarray) -> np.ndarray:
        """Return the keys of the states themselves, int64[N, digits]."""
        return self.keys_of(self._packed(digits))

    def represented(self, keys: np.ndarray) -> np.ndarray:
        """Return the keys of the representatives of states, by the program's function without its
        compiled form. Raises InputError if a representative is no state."""
        rules, states = self.rules, self.digits_of(keys)
        assert rules.canonical is not None
        found = np.full_like(states, -1)
        for i, state in enumerate(states):
            try:
                if rules.by_key:
                    key = np.array([rules.canonical(keys[i])], np.uint64)
                    if self.has_numbers(0, key):
                        found[i] = self.digits_of(key)
                else:
                    rules.canonical(state.copy(), found[i])
            except Exception as error:
                raise self._wrong_class(state, f"{type(error).__name__}: {error}") from None
            if not ((found[i] >= 0) & (found[i] < self.packing.radix.astype(np.int64))).all():
                written = f"{int(key[0]):#x}" if rules.by_key else found[i].tolist()
                raise self._wrong_class(state, f"{written} is no state")
        return self.keys(found)

    def _wrong_class(self, state: np.ndarray, why: str) -> InputError:
        return InputError(f"puzzle.file: canonical is wrong for the state {state.tolist()}: {why}")

    def states_of(self, side: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (int64[N] zeros, int64[N, digits]) of keys; inverse of `numbers`."""
        return np.zeros(len(numbers), np.int64), self.digits_of(numbers)

    def neighbours(self, side: int, number) -> Iterator[tuple[int, Any]]:
        """Generate (0, key) of the states to which moves lead from one state, by the program's
        functions without their compiled form."""
        keys = self.listed(np.array([number], self.dtype))
        yield from ((0, key) for key in (self.represented(keys) if self.classes else keys))

    def listed(self, keys: np.ndarray) -> np.ndarray:
        """Return the neighbours of one state by the program's function without its compiled form,
        as keys.

        Raises ValueError, with what is wrong in words, if the function breaks its own statements.
        """
        rules, state = self.rules, self.digits_of(keys)[0]
        if rules.by_key:
            out = np.zeros(rules.most, np.uint64)
            given = self.words_of(keys)[0, 0]
        else:
            out, given = np.full((rules.most, len(self.radices)), -1, np.int64), state.copy()
        try:
            count = rules.neighbours(given, out)
        except Exception as error:
            raise ValueError(f"it raises {type(error).__name__}: {error}") from None
        if not 0 <= count <= rules.most:
            raise ValueError(f"it returns {count}: at most {rules.most} are stated in most")
        found = self.digits_of(out[:count]) if rules.by_key else out[:count]
        wrong = (found < 0) | (found >= self.packing.radix.astype(np.int64))
        if wrong.any():
            row, digit = (int(i) for i in np.argwhere(wrong)[0])
            raise ValueError(
                f"digit {digit} of neighbour {row} is {found[row, digit]}: digits from 0 to "
                f"{self.radices[digit] - 1} are stated in radices"
            )
        keys = self.keys_of(self._packed(found))
        if rules.by_key and (keys != out[:count]).any():
            raise ValueError("a key that it writes has bits that belong to no digit")
        return keys
