"""A table for sifting elements of a permutation group, filled with random elements.

The table is due to C. C. Sims, Computational methods in the study of permutation groups, 1970. It
is filled at random as in J. S. Leon, On an algorithm for finding a base and a strong generating
set, Math. Comp. 35 (1980).

For base points b_0, b_1, ... row i of the table holds, for each point e, a member of the group that
leaves b_0 .. b_{i-1} where they are and brings b_i to e, if one is known. No proof shows that the
table is complete, and none is needed. All its entries are members of the group, so the product of
the sizes of its rows is at most the order of the group, and `lower` returns some member of a coset.

A permutation p is an array in which p[k] is the place to which k goes; (p q)[k] = p[q[k]].
"""

from math import prod

import numpy as np

from frontier.jit import kernel

ROUNDS = 24
"""How many times random products are multiplied with one another. Each round doubles their
length."""


def random_members(generators: np.ndarray, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Return random members, [count, points], of the group that some permutations generate."""
    identity = np.arange(generators.shape[1], dtype=generators.dtype)
    members = np.concatenate([generators, identity[None]])
    members = members[rng.randint(len(members), size=count)]
    for _ in range(ROUNDS):
        factors = members[rng.permutation(count)]
        factors[rng.random_sample(count) < 0.25] = identity  # words of odd length must not die out
        members = np.take_along_axis(members, factors, axis=1)
    return members


class SiftTable:
    """A table of members of a group.

    base: int64[N], the base points. slot: int32[N, points], the number of the member in row i for
    point e, -1 if none is known. members: [M, points].
    """

    def __init__(self, base: np.ndarray, elements: np.ndarray):
        """elements: [K, points], random members of the group; overwritten."""
        points = elements.shape[1]
        self.base = base
        self.slot = np.full((base.size, points), -1, dtype=np.int32)
        self.slot[np.arange(base.size), base] = 0
        room = 1 + min(len(elements), base.size * points)
        self.members = np.empty((room, points), dtype=elements.dtype)
        self.members[0] = np.arange(points)
        size = _fill(elements, base, self.slot, self.members, self.members.copy())
        self.members = self.members[:size]

    @property
    def order(self) -> int:
        """A lower bound on the group's order, and nearly always the order itself."""
        return prod(np.count_nonzero(self.slot >= 0, axis=1).tolist())

    def lower(self, permutations: np.ndarray) -> np.ndarray:
        """Return a member of the left coset p G of each row of [K, points]. If the table is
        complete, it is the member that brings b_0, b_1, ... to the least points, compared in this
        order."""
        products = permutations.copy()
        _lower(products, self.base, self.slot, self.members, np.empty_like(products[0]))
        return products


@kernel
def _fill(elements, base, slot, members, inverses):
    """Sift each element, put the rest in the first row that has no member for its image, and return
    the number of members. inverses: receives the inverses of the members."""
    size = 1
    for n in range(len(elements)):
        p = elements[n]
        for i in range(base.size):
            image = p[base[i]]
            known = slot[i, image]
            if known < 0:
                for k in range(p.size):
                    members[size, k] = p[k]
                    inverses[size, p[k]] = k
                slot[i, image] = size
                size += 1
                break
            if known > 0:
                for k in range(p.size):
                    p[k] = inverses[known, p[k]]
        if size == len(members):
            break
    return size


@kernel
def _lower(products, base, slot, members, spare):
    for n in range(len(products)):
        p = products[n]
        for i in range(base.size):
            best = base[i]
            for e in range(p.size):
                if slot[i, e] >= 0 and p[e] < p[best]:
                    best = e
            if slot[i, best] > 0:
                for k in range(p.size):
                    spare[k] = p[members[slot[i, best], k]]
                for k in range(p.size):
                    p[k] = spare[k]
