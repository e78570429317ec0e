"""Samples against a slow twin, however a layer is cut into batches, and their chances."""

from collections import Counter

import numpy as np
import pytest

from frontier.answers import sampling
from frontier.answers.sampling import GREATEST_SEED, mixed, sample

MASK = 2**64 - 1


def twin(number):
    """SplitMix64's mixing of one number, in whole numbers."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


def slow_sample(numbers, count, seed):
    shift = twin((seed + 0x9E3779B97F4A7C15) & MASK)
    return sorted(sorted(numbers, key=lambda n: twin((n + shift) & MASK))[:count])


def test_mixing():
    # The first numbers of the generator from seed 0, as its authors' program in C gives them.
    counter = np.arange(1, 4, dtype=np.uint64) * sampling.GOLDEN
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mixed(counter).tolist() == published == [twin(n) for n in counter.tolist()]


@pytest.mark.parametrize("seed", [0, 7, GREATEST_SEED])
@pytest.mark.parametrize("count", [0, 1, 20, 999, 1000, 5000])
def test_a_sample_is_the_same_however_a_layer_is_stored(monkeypatch, count, seed):
    monkeypatch.setattr(sampling, "ROOM", 5)
    rng = np.random.default_rng(1)
    numbers = rng.choice(10**12, 1000, replace=False).astype(np.uint64)
    wanted = slow_sample(numbers.tolist(), count, seed)
    for pieces in (1, 7, 400):
        batches = np.array_split(rng.permutation(numbers), pieces)
        found = sample(iter(batches), count, seed)
        assert found.dtype == np.uint64
        assert found.tolist() == wanted


def test_every_state_is_drawn_as_often():
    numbers, seeds = np.arange(1000, 1020, dtype=np.uint64), 4000
    drawn = Counter(n for seed in range(seeds) for n in sample([numbers], 5, seed).tolist())
    # 5 of 20 each time: 1000 times each, with a standard deviation of 27
    assert set(drawn) == set(numbers.tolist())
    assert all(abs(times - 1000) < 150 for times in drawn.values())
