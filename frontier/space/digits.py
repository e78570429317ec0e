"""One digit of a number: the orbit of a colouring, and the sections of moves at its values; see
`frontier.space.tower`.
"""

from dataclasses import dataclass

import numpy as np

from frontier.errors import TooLarge
from frontier.jit import kernel
from frontier.space.sifting import SiftTable

MOST_DIGITS = 1_000_000
"""The most values that a digit may have."""

MOST_ENTRIES = 30_000_000
"""The most entries that the tables of a digit may have, and the most arcs that a graph may have."""


@dataclass(frozen=True, eq=False)
class Digit:
    """One digit.

    radix: the number of its values. to: int32[sections, radix], the digit afterwards. then:
    int32[sections, radix], the section that acts on the next digit. representatives: [radix,
    points]. columns: the points that determine the digit. sight: the colour that the stage shows
    for each colour of the goal. keys: uint64[radix], ascending. digits: the digit that has each
    key. weights: uint64[columns, colours]; a key is their sum over the columns.
    """

    radix: int
    to: np.ndarray
    then: np.ndarray
    representatives: np.ndarray
    columns: np.ndarray
    sight: np.ndarray
    keys: np.ndarray
    digits: np.ndarray
    weights: np.ndarray

    def digit_of(self, colours: np.ndarray) -> np.ndarray:
        """Return the digit, int64[N], of colourings that agree with the goal at all earlier levels;
        -1 for a colouring that has no digit."""
        seen = self.sight[colours[:, self.columns]]
        keys = self.weights[np.arange(self.columns.size), seen].sum(axis=1, dtype=np.uint64)
        at = np.minimum(np.searchsorted(self.keys, keys), self.radix - 1)
        return np.where(self.keys[at] == keys, self.digits[at], -1)


@dataclass(frozen=True, eq=False)
class Sections:
    """Sections, and the group that they generate.

    members: [S, points], the sections; the inverse of each is among them. pool: [N, points], random
    members of the group. order: a lower bound on the order of the group's action on the points that
    matter.
    """

    members: np.ndarray
    pool: np.ndarray
    order: int


def digit_of(
    given: Sections, goal: np.ndarray, finer: np.ndarray, columns: np.ndarray, alive: np.ndarray,
    rng: np.random.RandomState,
) -> tuple[Digit, Sections] | None:  # fmt: skip
    """Return the digit that a stage shows, and the sections that act on the next digit; None if the
    digit has only one value.

    goal: the colours of the goal. finer: the colours that are shown after the stage. columns,
    alive: the points that matter before and after it.
    """
    weights = random_weights(rng, goal.size, finer)
    orbit = _Orbit(given.members, finer, columns, weights)
    if orbit.radix == 1:
        return None
    everywhere = np.arange(orbit.radix)
    first = orbit.digits_of(given.pool, everywhere[:1])[:, 0]
    inverse = inverses(orbit.representatives)
    pool = np.take_along_axis(inverse[first], given.pool.astype(np.int64), axis=1)
    table = SiftTable(alive, pool.copy())
    chosen = table.lower(orbit.representatives)
    to = orbit.digits_of(given.members, everywhere)
    by, before = np.divmod(np.arange(to.size), orbit.radix)
    then, members = sections_of(
        given.members, chosen, inverses(chosen), by, before, to.ravel(), alive, rng
    )
    sight = np.zeros(goal.max() + 1, dtype=np.int64)
    sight[goal] = finer
    digit = Digit(
        orbit.radix, to, then.reshape(to.shape), chosen, columns, sight, orbit.keys[orbit.order],
        orbit.order, weights[columns],
    )  # fmt: skip
    return digit, Sections(members, pool, table.order)


class _Orbit:
    """The orbit of a colouring under a group.

    radix: its size. colourings: uint16[radix, points], the given one first. representatives:
    [radix, points], members that bring the first colouring to each. keys: uint64[radix]. order: the
    digits in ascending order of their keys.
    """

    def __init__(
        self, generators: np.ndarray, first: np.ndarray, columns: np.ndarray, weights: np.ndarray
    ):
        """generators: permutations, among them the inverse of each. columns: the points that
        distinguish the colourings."""
        self._columns, self._weights = columns, weights
        identity = np.arange(first.size, dtype=generators.dtype)[None]
        layers = [(first[None].astype(np.uint16), identity)]
        before = current = np.empty(0, dtype=np.uint64)
        radix = 0
        while len(layers[-1][0]):
            colourings, chosen = layers[-1]
            before, current = current, np.sort(self._keys_after(identity, colourings)[0])
            radix += len(colourings)
            if radix > MOST_DIGITS or radix * len(generators) > MOST_ENTRIES:
                raise TooLarge(
                    f"identical pieces of one kind have at least {radix:,} arrangements: at most "
                    f"{MOST_DIGITS:,} arrangements, and tables of {MOST_ENTRIES:,} entries, are "
                    "supported; use more different pieces, or fewer pieces or moves"
                )
            keys = self._keys_after(generators, colourings)
            new, at = np.unique(keys.ravel(), return_index=True)
            # Every move can be undone, so the images lie in the last two layers or in a new one.
            known = np.isin(new, np.concatenate([before, current]), assume_unique=True)
            by, digit = np.divmod(np.sort(at[~known]), len(colourings))
            moves = generators[by]
            images = np.empty((by.size, first.size), dtype=np.uint16)
            np.put_along_axis(images, moves.astype(np.int64), colourings[digit], axis=1)
            chosen = np.take_along_axis(moves, chosen[digit].astype(np.int64), axis=1)
            layers.append((images, chosen))
        self.colourings, self.representatives = map(np.concatenate, zip(*layers, strict=True))
        self.radix, self.keys = radix, self._keys_after(identity, self.colourings)[0]
        self.order = np.argsort(self.keys)

    def _keys_after(self, permutations: np.ndarray, colourings: np.ndarray) -> np.ndarray:
        """Return the keys, uint64[permutations, colourings], of the images of the colourings."""
        keys = np.empty((len(permutations), len(colourings)), dtype=np.uint64)
        _add_keys(keys, permutations, colourings, self._columns, self._weights)
        return keys

    def digits_of(self, permutations: np.ndarray, digits: np.ndarray) -> np.ndarray:
        """Return the digits, int32[permutations, digits], of the images of the colourings with
        these digits."""
        keys = self._keys_after(permutations, self.colourings[digits])
        at = np.minimum(np.searchsorted(self.keys[self.order], keys), self.radix - 1)
        to = self.order[at].astype(np.int32)
        if _differ(to, permutations, self.colourings, digits, self._columns):
            raise AssertionError("two colourings have one key, or the orbit is not closed")
        return to


@kernel
def _add_keys(keys, permutations, colourings, columns, weights):
    for s in range(len(permutations)):
        for i in range(len(colourings)):
            total = np.uint64(0)
            for k in columns:
                total += weights[permutations[s, k], colourings[i, k]]
            keys[s, i] = total


@kernel
def _differ(to, permutations, colourings, digits, columns):
    """Return whether the image of some colouring differs from the colouring whose digit is in
    `to`."""
    for s in range(len(permutations)):
        for i in range(digits.size):
            for k in columns:
                if colourings[to[s, i], permutations[s, k]] != colourings[digits[i], k]:
                    return True
    return False


def random_weights(rng: np.random.RandomState, points: int, colours: np.ndarray) -> np.ndarray:
    """Return random weights, uint64[points, colours]; the key of a colouring is the sum of the
    weights of its points (A. L. Zobrist, A New Hashing Method, 1970)."""
    return rng.randint(2**64, size=(points, int(colours.max()) + 1), dtype=np.uint64)


def inverses(permutations: np.ndarray) -> np.ndarray:
    """Return the inverse of each row."""
    return np.argsort(permutations, axis=1).astype(permutations.dtype)


def sections_of(
    generators: np.ndarray, chosen: np.ndarray, inverse: np.ndarray, by: np.ndarray,
    before: np.ndarray, after: np.ndarray, alive: np.ndarray, rng: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the section t_d'^-1 m t_d of each triple (m, d, d'), as its number, int32[N], and the
    distinct sections, [S, points].

    chosen, inverse: [D, points], the t_d and their inverses. by, before, after: int[N], the numbers
    of m (among the generators), d and d'. alive: the points on which two sections must differ to
    count as distinct.
    """
    weights = random_weights(rng, len(inverse[0]), np.arange(len(inverse[0])))
    keys = np.empty(by.size, dtype=np.uint64)
    triples = by, before, after
    _add_section_keys(keys, *triples, generators, chosen, inverse, alive, weights)
    _, first, then = np.unique(keys, return_index=True, return_inverse=True)
    products = np.take_along_axis(
        generators[by[first]], chosen[before[first]].astype(np.int64), axis=1
    )
    sections = np.take_along_axis(inverse[after[first]], products.astype(np.int64), axis=1)
    then = then.ravel().astype(np.int32)
    if _sections_differ(then, *triples, generators, chosen, inverse, alive, sections):
        raise AssertionError("two sections have one key")
    return then, sections


@kernel
def _add_section_keys(keys, by, before, after, generators, chosen, inverse, alive, weights):
    for n in range(keys.size):
        m, d, to, total = by[n], before[n], after[n], np.uint64(0)
        for k in alive:
            total += weights[k, inverse[to, generators[m, chosen[d, k]]]]
        keys[n] = total


@kernel
def _sections_differ(then, by, before, after, generators, chosen, inverse, alive, sections):
    """Return whether some section differs from the one that its number stands for."""
    for n in range(then.size):
        m, d, to = by[n], before[n], after[n]
        for k in alive:
            if inverse[to, generators[m, chosen[d, k]]] != sections[then[n], k]:
                return True
    return False
