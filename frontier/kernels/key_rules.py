"""The functions of a user's program, compiled, with the packing of digits into keys around them."""

import re
from collections.abc import Callable

import numpy as np

from frontier.space.keys import KeySpace, Rules


def compiled_expansion(space: KeySpace, rules: Rules) -> Callable:
    """Return the compiled function expand(keys, found, degree).

    It writes the neighbours of uint64[N, words] keys to `found`, and their number for each state to
    `degree`, and returns the number of all. It returns -1 if the program's function breaks its own
    statements. Raises NumbaError if Numba cannot compile a function of the program.
    """
    from numba import njit

    radix, word, shift, mask = space.packing
    digits, words, most = len(word), space.words, rules.most
    first = np.searchsorted(word, np.arange(words + 1))
    neighbours = njit(boundscheck=True, nogil=True)(rules.neighbours)

    @njit(nogil=True)
    def by_digits(keys, found, degree, state, out):
        size = 0
        for i in range(keys.shape[0]):
            for w in range(words):
                for d in range(first[w], first[w + 1]):
                    state[d] = np.int64((keys[i, w] >> shift[d]) & mask[d])
            count = neighbours(state, out)
            if count < 0 or count > out.shape[0]:
                return -1
            degree[i] = count
            for j in range(count):
                wrong = False
                for w in range(words):
                    key = np.uint64(0)
                    for d in range(first[w], first[w + 1]):
                        digit = np.uint64(out[j, d])
                        wrong |= digit >= radix[d]
                        key |= digit << shift[d]
                    found[size, w] = key
                if wrong:
                    return -1
                size += 1
        return size

    @njit(nogil=True)
    def by_key(keys, found, degree, state, out):
        size = 0
        for i in range(keys.shape[0]):
            count = neighbours(keys[i, 0], out)
            if count < 0 or count > out.shape[0]:
                return -1
            degree[i] = count
            for j in range(count):
                left, wrong = out[j], False
                for d in range(radix.size):
                    digit = out[j] >> shift[d] & mask[d]
                    wrong |= digit >= radix[d]
                    left ^= digit << shift[d]
                if wrong or left:
                    return -1
                found[size, 0] = out[j]
                size += 1
        return size

    room = "uint64[::1]" if rules.by_key else "int64[:, ::1]"
    expand = by_key if rules.by_key else by_digits
    expand.compile(f"int64(uint64[:, ::1], uint64[:, ::1], int64[::1], int64[::1], {room})")

    def expansion(keys: np.ndarray, found: np.ndarray, degree: np.ndarray) -> int:
        state = np.empty(digits, np.int64)
        out = np.empty(most, np.uint64) if rules.by_key else np.empty((most, digits), np.int64)
        return expand(keys, found, degree, state, out)

    return expansion


def compiled_depths(space: KeySpace, layer: Callable) -> Callable[[np.ndarray], np.ndarray]:
    """Return the compiled function that returns the depths, int64[N], that the program's function
    `layer` gives for uint64[N, words] keys."""
    from numba import njit

    _, word, shift, mask = space.packing
    digits, depth_of = len(word), njit(boundscheck=True)(layer)

    @njit(nogil=True)
    def depths(keys):
        state, found = np.empty(digits, np.int64), np.empty(keys.shape[0], np.int64)
        for i in range(keys.shape[0]):
            for d in range(digits):
                state[d] = np.int64((keys[i, word[d]] >> shift[d]) & mask[d])
            found[i] = depth_of(state)
        return found

    depths.compile("int64[::1](uint64[:, ::1])")
    return depths


def reason(error: Exception) -> str:
    """Return why Numba cannot compile a function: the first sentence, and the line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = re.search(r'File ".*?", line (\d+)', str(error))
    skipped = ("Failed in nopython", "During:", "Traceback")
    first = next((line for line in lines if not line.startswith(skipped)), lines[0])
    return f"{first.rstrip('.')}{f' (line {place[1]})' if place else ''}"
