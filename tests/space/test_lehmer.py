from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.space.lehmer import LehmerCode, lehmer_digits, swap_digits
from tests.support.reference_search import digits, indices, numbered, sign, swapped

sequences = st.integers(0, 24).flatmap(lambda m: st.permutations(range(m)))


@st.composite
def digit_lists(draw, least=2, most=24):
    """All Lehmer digits, radices m, m-1, ..., 1, of some sequence."""
    m = draw(st.integers(least, most))
    return [draw(st.integers(0, radix - 1)) for radix in range(m, 0, -1)]


def swap_at(code, i):
    """Digits after positions i and i+1 change places."""
    a, b = swap_digits(code[i], code[i + 1])
    return [*code[:i], a, b, *code[i + 2 :]]


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("m", range(7))
def test_indices_number_the_sequences_of_a_sign_in_lexicographic_order(m, odd):
    code, expected = LehmerCode(m), numbered(m, odd)
    if m < 2 and odd:
        assert expected == ()
        return
    assert code.half == len(expected)
    assert [code.unrank(i, odd) for i in range(code.half)] == list(expected)
    assert [code.rank(sequence) for sequence in expected] == [(i, odd) for i in range(code.half)]


@given(sequences)
def test_unrank_undoes_rank(sequence):
    code = LehmerCode(len(sequence))
    index, odd = code.rank(sequence)
    assert 0 <= index < code.half
    assert odd == sign(sequence)
    assert code.unrank(index, odd) == tuple(sequence)


@given(st.integers(2, 24), st.data())
def test_rank_undoes_unrank(m, data):
    code = LehmerCode(m)
    index = data.draw(st.integers(0, code.half - 1))
    odd = data.draw(st.integers(0, 1))
    assert code.rank(code.unrank(index, odd)) == (index, odd)


@pytest.mark.parametrize("m", range(8))
def test_many_at_once_are_those_one_by_one(m):
    code = LehmerCode(m)
    for odd in (0, 1) if m > 1 else (0,):
        found = code.unranks(np.arange(code.half), np.full(code.half, odd))
        assert found.shape == (code.half, m)
        assert found.tolist() == list(map(list, numbered(m, odd)))


@given(st.integers(2, 20), st.data())
def test_some_of_long_sequences_are_those_one_by_one(m, data):
    code = LehmerCode(m)
    indices = data.draw(st.lists(st.integers(0, code.half - 1), max_size=5))
    signs = [data.draw(st.integers(0, 1)) for _ in indices]
    found = code.unranks(np.array(indices, dtype=np.int64), np.array(signs, dtype=np.int64))
    assert found.tolist() == [list(code.unrank(*one)) for one in zip(indices, signs, strict=True)]


@given(sequences)
def test_digits_and_parity(sequence):
    assert lehmer_digits(sequence) == digits(sequence)
    assert sum(lehmer_digits(sequence)) % 2 == sign(sequence)


def test_digits_of_things_that_are_not_numbered_from_zero():
    assert lehmer_digits("dab") == [2, 0, 0]
    assert sum(lehmer_digits((7, 3, 5, 1))) % 2 == sign((7, 3, 5, 1)) == 1


@given(sequences.filter(lambda sequence: len(sequence) >= 3))
def test_index_is_the_weighted_sum_of_the_kept_digits(sequence):
    code = LehmerCode(len(sequence))
    kept = digits(sequence)[: len(sequence) - 2]
    assert code.rank(sequence)[0] == sum(
        digit * stride for digit, stride in zip(kept, code.strides, strict=True)
    )


@pytest.mark.parametrize("m", range(2, 7))
def test_swap_of_digits_is_the_swap_of_things(m):
    for sequence in permutations(range(m)):
        for i in range(m - 1):
            assert swap_at(digits(sequence), i) == digits(swapped(sequence, i))


@pytest.mark.parametrize("radix", range(2, 25))
def test_swap_of_digits_stays_in_range_and_undoes_itself(radix):
    pairs = [(a, b) for a in range(radix) for b in range(radix - 1)]
    images = [swap_digits(a, b) for a, b in pairs]
    assert sorted(images) == pairs
    assert [swap_digits(a, b) for a, b in images] == pairs


@given(digit_lists(least=3), st.data())
def test_braid_relation(code, data):
    i = data.draw(st.integers(0, len(code) - 3))
    left = swap_at(swap_at(swap_at(code, i), i + 1), i)
    right = swap_at(swap_at(swap_at(code, i + 1), i), i + 1)
    assert left == right


@given(digit_lists(least=4), st.data())
def test_distant_swaps_commute(code, data):
    i = data.draw(st.integers(0, len(code) - 4))
    j = data.draw(st.integers(i + 2, len(code) - 2))
    assert swap_at(swap_at(code, i), j) == swap_at(swap_at(code, j), i)


@given(digit_lists(), st.data())
def test_swap_changes_the_sign(code, data):
    i = data.draw(st.integers(0, len(code) - 2))
    assert (sum(swap_at(code, i)) - sum(code)) % 2 == 1


@pytest.mark.parametrize("m", range(25))
def test_sizes_of_a_code(m):
    code = LehmerCode(m)
    assert code.half == max(1, factorial(m) // 2)
    assert code.words * code.bits == code.half
    assert code.bits == {0: 1, 1: 1, 2: 1, 3: 3, 4: 12}.get(m, 60)
    assert code.radices == tuple(range(m, 2, -1))
    assert code.leading == tuple(radix for radix in code.radices if radix > 5)
    assert len(code.strides) == len(code.radices)
    weight = code.half
    for radix, stride in zip(code.radices, code.strides, strict=True):
        assert stride * radix == weight
        weight = stride
    assert weight == 1


@pytest.mark.parametrize("m", [-1, -24])
def test_a_sequence_has_no_negative_length(m):
    with pytest.raises(ValueError, match=str(m)):
        LehmerCode(m)


@pytest.mark.parametrize(("m", "index"), [(0, 1), (1, 1), (2, 1), (4, 12), (4, -1), (8, 20160)])
def test_index_out_of_range(m, index):
    with pytest.raises(
        ValueError, match=rf"index {index} is outside 0\.\.{LehmerCode(m).half - 1}"
    ):
        LehmerCode(m).unrank(index, 0)
    with pytest.raises(
        ValueError, match=rf"index {index} is outside 0\.\.{LehmerCode(m).half - 1}"
    ):
        LehmerCode(m).unranks(np.array([0, index]), np.array([0, 0]))


def test_twin_numbering_is_complete():
    assert len(indices(5)) == 120
    assert sorted(p for odd in (0, 1) for p in numbered(5, odd)) == list(permutations(range(5)))
