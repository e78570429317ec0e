"""A random sample of the states of a layer, drawn in one pass over a layer of any size.

The key of a state is a mix of its number and the seed, made with the function that the generator
SplitMix64 applies to its counter (G. L. Steele, D. Lea and C. H. Flood, Fast Splittable
Pseudorandom Number Generators, 2014). The sample consists of the states with the least keys. So it
depends only on the seed and the numbers, not on the order in which a layer is stored, and a smaller
sample with the same seed is part of a larger one.
"""

from collections.abc import Iterable

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

GREATEST_SEED = 2**64 - 1

ROOM = 1 << 16
"""The fewest extra states to hold before dropping some."""


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Return the keys of numbers, both uint64[N]; different numbers have different keys."""
    keys = (numbers ^ (numbers >> np.uint64(30))) * FACTORS[0]
    keys = (keys ^ (keys >> np.uint64(27))) * FACTORS[1]
    return keys ^ (keys >> np.uint64(31))


def sample(batches: Iterable[np.ndarray], count: int, seed: int) -> np.ndarray:
    """Return `count` of the states of all batches, or all if there are fewer, sorted.

    batches: state numbers, each once. seed: 0 … `GREATEST_SEED`.
    """
    shift = mixed(np.array([seed], dtype=np.uint64) + GOLDEN)
    greatest = np.uint64(GREATEST_SEED if count else 0)
    held, size, room = [], 0, max(ROOM, count)
    for numbers in batches:
        words = numbers.view(np.uint64).reshape(numbers.size, -1)
        keys = mixed(words[:, 0] + shift)
        for word in words.T[1:]:
            keys = mixed(keys ^ word)
        near = keys <= greatest
        held.append((numbers[near], keys[near]))
        size += int(near.sum())
        if size > count + room:
            numbers, keys = _least(held, count)
            held, size = [(numbers, keys)], count
            greatest = keys.max() if count else greatest
    return np.sort(_least(held, count)[0])


def _least(held: list[tuple[np.ndarray, np.ndarray]], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and keys of the states with the least keys."""
    numbers, keys = map(np.concatenate, zip(*held, strict=True))
    if keys.size <= count:
        return numbers, keys
    least = np.argpartition(keys, count)[:count]
    return numbers[least], keys[least]
