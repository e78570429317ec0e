"""The functions of a user's program, compiled, with the packing of digits into keys around them."""

import re
from collections.abc import Callable

import numpy as np

from frontier.errors import InputError
from frontier.space.keys import NO_KEY, KeySpace, Rules


def compiled_expansion(space: KeySpace, rules: Rules) -> Callable:
    """Return the compiled function expand(keys, found, degree).

    It writes the neighbours of uint64[N, words] keys to `found`, and their number for each state to
    `degree`, and returns the number of all. It returns -1 if the program's function breaks its own
    statements. Raises NumbaError or TypeError if Numba cannot compile a function of the program.
    """
    from numba import njit

    radix, word, shift, mask = space.packing
    digits, words, most = len(word), space.words, rules.most
    first = np.searchsorted(word, np.arange(words + 1))
    given, room = ("uint64", "uint64[::1]") if rules.by_key else ("int64[::1]", "int64[:, ::1]")
    neighbours = compiled("neighbours", rules.neighbours, f"({given}, {room})")

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
            out[: count + 1] = -1  # so a digit that is not written is out of range
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
            out[: count + 1] = NO_KEY
        return size

    expand = by_key if rules.by_key else by_digits
    expand.compile(f"int64(uint64[:, ::1], uint64[:, ::1], int64[::1], int64[::1], {room})")

    def expansion(keys: np.ndarray, found: np.ndarray, degree: np.ndarray) -> int:
        state = np.empty(digits, np.int64)
        digits_out, keys_out = np.full((most, digits), -1, np.int64), np.full(most, NO_KEY)
        out = keys_out if rules.by_key else digits_out
        return expand(keys, found, degree, state, out)

    return expansion


def compiled_depths(space: KeySpace, layer: Callable) -> Callable[[np.ndarray], np.ndarray]:
    """Return the compiled function that returns the depths, int64[N], that the program's function
    `layer` gives for uint64[N, words] keys."""
    from numba import njit

    _, word, shift, mask = space.packing
    digits, depth_of = len(word), compiled("layer", layer, "(int64[::1],)")

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


def compiled(name: str, function: Callable, arguments: str) -> Callable:
    """Return the user's function, compiled.

    Raises InputError unless it returns a whole number and writes whole numbers to arrays of them:
    Numba would cut off fractions, and makes a float of uint64 and int64.
    """
    from numba import njit, types

    made = njit(boundscheck=True, nogil=True)(getattr(function, "py_func", function))
    made.compile(arguments)
    (overload,) = made.overloads.values()
    kind = types.unliteral(overload.signature.return_type)
    if not isinstance(kind, types.Integer):
        raise InputError(f"puzzle.file: {name} returns {kind}: expected a whole number")
    for statement, of in overload.type_annotation.calltypes.items():
        if type(statement).__name__ in ("SetItem", "StaticSetItem"):
            array, _, value = of.args
            if isinstance(value, types.Float) and isinstance(array.dtype, types.Integer):
                raise InputError(
                    f"puzzle.file: line {statement.loc.line} of {name} writes {value} to an array "
                    f"of {array.dtype}: divide by //, and join keys with np.uint64(1), not with 1"
                )
    return made


def reason(error: Exception) -> str:
    """Return why Numba cannot compile a function: the first sentence, and the line."""
    text = re.sub(r"\x1b\[\d*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    place = re.search(r'File ".*?", line (\d+)', text)
    skipped = ("Failed in nopython", "During:", "Traceback")
    told = [line for line in lines if not line.startswith(skipped)] or lines
    first = " ".join(told[: 1 + told[0].endswith(":")])
    return f"{first.rstrip('.')}{f' (line {place[1]})' if place else ''}"
