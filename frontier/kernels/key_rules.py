"""The functions of a user's program, compiled, with the packing of digits into keys around them."""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from frontier.errors import InputError
from frontier.space.keys import NO_KEY, KeySpace, Rules

compiled_once = lru_cache(maxsize=4)
"""Keeps the results, because several kernels of a process use the same functions."""


@compiled_once
def compiled_expansion(space: KeySpace, rules: Rules) -> Callable:
    """Return the compiled function expand(keys, found, degree).

    It writes the neighbours of uint64[N, words] keys to `found`, and their number for each state to
    `degree`, and returns the number of all. It returns -1 if the program's function breaks its own
    statements. Raises NumbaError or TypeError if Numba cannot compile a function of the program.
    """
    from numba import njit

    digits, most, (read, write) = len(space.radices), rules.most, _packing(space, rules.by_key)
    given, room = ("uint64", "uint64[::1]") if rules.by_key else ("int64[::1]", "int64[:, ::1]")
    neighbours = compiled("neighbours", rules.neighbours, f"({given}, {room})")
    nothing = NO_KEY if rules.by_key else np.int64(-1)

    @njit(nogil=True)
    def expand(keys, found, degree, state, out):
        size = 0
        for i in range(keys.shape[0]):
            count = neighbours(read(keys, i, state), out)
            if count < 0 or count > out.shape[0]:
                return -1
            degree[i] = count
            for j in range(count):
                if not write(out, j, found, size):
                    return -1
                size += 1
            out[: count + 1] = nothing  # so what is not written is out of range
        return size

    expand.compile(f"int64(uint64[:, ::1], uint64[:, ::1], int64[::1], int64[::1], {room})")

    def expansion(keys: np.ndarray, found: np.ndarray, degree: np.ndarray) -> int:
        out = np.full(most if rules.by_key else (most, digits), nothing)
        return expand(keys, found, degree, np.empty(digits, np.int64), out)

    return expansion


@compiled_once
def compiled_classes(space: KeySpace, rules: Rules) -> Callable[[np.ndarray], bool]:
    """Return the compiled function that replaces uint64[N, words] keys by the keys of their
    representatives, and returns False if one of these is no state. Errors are those of
    `compiled_expansion`."""
    from numba import njit

    assert rules.canonical is not None
    digits, (read, write) = len(space.radices), _packing(space, rules.by_key)
    given = "(uint64,)" if rules.by_key else "(int64[::1], int64[::1])"
    canonical = compiled("canonical", rules.canonical, given, returns=rules.by_key)

    @njit(nogil=True)
    def of_key(key, out):
        out[0] = np.uint64(canonical(key))

    @njit(nogil=True)
    def of_digits(state, out):
        out[:] = -1
        canonical(state, out[0])

    represent = of_key if rules.by_key else of_digits

    @njit(nogil=True)
    def replace(keys, state, out):
        for i in range(keys.shape[0]):
            represent(read(keys, i, state), out)
            if not write(out, 0, keys, i):
                return False
        return True

    out = "uint64[::1]" if rules.by_key else "int64[:, ::1]"
    replace.compile(f"boolean(uint64[:, ::1], int64[::1], {out})")
    room = np.empty(1, np.uint64) if rules.by_key else np.empty((1, digits), np.int64)
    return lambda keys: replace(keys, np.empty(digits, np.int64), room.copy())


@compiled_once
def compiled_values(space: KeySpace, name: str, function: Callable) -> Callable:
    """Return the compiled function that takes uint64[N, words] keys and returns the values,
    int64[N], of a function of the program. name: the name of that function."""
    from numba import njit

    digits, (read, _) = len(space.radices), _packing(space)
    value_of = compiled(name, function, "(int64[::1],)")

    @njit(nogil=True)
    def values(keys):
        state, found = np.empty(digits, np.int64), np.empty(keys.shape[0], np.int64)
        for i in range(keys.shape[0]):
            found[i] = value_of(read(keys, i, state))
        return found

    values.compile("int64[::1](uint64[:, ::1])")
    return values


def _packing(space: KeySpace, by_key: bool = False) -> tuple[Callable, Callable]:
    """Return compiled functions, into which Numba writes the packing as constants.

    read(keys, i, state) writes the digits of key i to `state` and returns it. write(states, j,
    keys, i) writes key i from the digits of state j, and returns False if one is out of range. If
    `by_key` is True, both leave keys of one word as they are.
    """
    from numba import njit

    radix, word, shift, mask = space.packing
    words = space.words
    first = np.searchsorted(word, np.arange(words + 1))

    @njit(nogil=True)
    def digits_of(keys, i, state):
        for w in range(words):
            for d in range(first[w], first[w + 1]):
                state[d] = np.int64((keys[i, w] >> shift[d]) & mask[d])
        return state

    @njit(nogil=True)
    def pack(states, j, keys, i):
        wrong = False
        for w in range(words):
            key = np.uint64(0)
            for d in range(first[w], first[w + 1]):
                digit = np.uint64(states[j, d])
                wrong |= digit >= radix[d]
                key |= digit << shift[d]
            keys[i, w] = key
        return not wrong

    @njit(nogil=True)
    def the_key(keys, i, state):
        return keys[i, 0]

    @njit(nogil=True)
    def take_key(found, j, keys, i):
        keys[i, 0] = key = left = found[j]
        wrong = False
        for d in range(radix.size):
            digit = key >> shift[d] & mask[d]
            wrong |= digit >= radix[d]
            left ^= digit << shift[d]
        return not (wrong or left)

    return (the_key, take_key) if by_key else (digits_of, pack)


def compiled(name: str, function: Callable, arguments: str, returns: bool = True) -> Callable:
    """Return the user's function, compiled.

    returns: True if it must return a whole number. Raises InputError if it does not, or if it
    writes other numbers to arrays of whole numbers: Numba would cut off fractions, and makes a
    float of uint64 and int64.
    """
    from numba import njit, types

    made = njit(boundscheck=True, nogil=True)(getattr(function, "py_func", function))
    made.compile(arguments)
    (overload,) = made.overloads.values()
    kind = types.unliteral(overload.signature.return_type)
    if returns and not isinstance(kind, types.Integer):
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
