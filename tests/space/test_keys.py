"""Keys hold the digits of states, and compare as the digits do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.space.keys import KeySpace, Packing

RADICES = st.lists(st.integers(1, 2**40), min_size=1, max_size=8)


def space_of(radices) -> KeySpace:
    return KeySpace(radices, True, 1, lambda: pytest.fail("the rules are not needed"))


@given(RADICES, st.data())
def test_keys_hold_digits(radices, data):
    if Packing.of(radices) is None:
        return
    space = space_of(radices)
    one = st.tuples(*(st.integers(0, radix - 1) for radix in radices))
    states = np.array(data.draw(st.lists(one, min_size=1, max_size=5)))
    _, keys = space.numbers(np.zeros(len(states), np.int64), states)
    assert np.array_equal(space.states_of(0, keys)[1], states)
    assert np.array_equal(space.keys_of(space.words_of(keys)), keys)
    assert space.has_numbers(0, keys)
    assert [tuple(s) for s in states[np.argsort(keys, kind="stable")].tolist()] == sorted(
        map(tuple, states.tolist())
    )


@pytest.mark.parametrize(
    ("radices", "words"),
    [([2] * 63, 1), ([2] * 64, 2), ([2] * 255, 4), ([2**63], 1), ([2, 2**63], 2), ([1] * 64, 2)],
)
def test_words_fill_up(radices, words):
    assert space_of(radices).words == words


@pytest.mark.parametrize("radices", [[2] * 256, [2**63 + 1], [2**33] * 6])
def test_too_many_bits(radices):
    assert Packing.of(radices) is None


def test_a_digit_above_its_radix_is_no_key():
    space = space_of([3, 5])
    _, keys = space.numbers(np.zeros(1, np.int64), np.array([[2, 4]]))
    assert space.has_numbers(0, keys)
    assert not space.has_numbers(0, keys + np.uint64(1))
    assert not space.has_numbers(0, keys + np.uint64(32))
