"""Several classes of distinct things: their code, and whole searches of random base graphs."""

import random
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.lehmer import LehmerCode, lehmer_digits, swap_digits
from tests.support.reference_search import (
    borders,
    digits,
    indices,
    moved,
    numbered,
    random_arcs,
    random_sequence,
    sequences_of,
    sign,
    swapped,
    voltage_layers,
)
from tests.support.sweeps import swept
from tests.support.whole_searches import (
    assert_search,
    bitmap_sizes,
    graph_of,
    layouts_of,
    list_layers,
)

CODES = [
    (2, (1,)), (2, (2,)), (2, (1, 1)), (3, (1,)), (3, (2,)), (3, (3,)), (3, (2, 2)), (4, (3,)),
    (4, (1, 2)), (4, (4,)), (5, (1,)), (5, (2,)), (5, (3, 2)), (6, (1,)), (6, (2,)), (7, (1,)),
]  # fmt: skip
"""(m, smaller) of codes that are small enough for a list of all sequences."""

each_code = pytest.mark.parametrize(("m", "smaller"), CODES)


@st.composite
def codes_and_sequences(draw):
    """(m, smaller, sequence) with classes of any size."""
    m = draw(st.integers(2, 14))
    smaller = tuple(draw(st.lists(st.integers(1, min(m, 6)), max_size=4)))
    first, things = 0, []
    for size in (*smaller, m):
        things += [first + thing for thing in draw(st.permutations(range(size)))]
        first += size
    return m, smaller, tuple(things)


# --- the code


@each_code
@pytest.mark.parametrize("odd", [0, 1])
def test_indices_number_the_sequences_of_a_sign_in_lexicographic_order(m, smaller, odd):
    code, expected = LehmerCode(m, smaller), numbered(m, odd, smaller)
    assert code.half == len(expected)
    assert [code.unrank(i, odd) for i in range(code.half)] == list(expected)
    assert [code.rank(sequence) for sequence in expected] == [(i, odd) for i in range(code.half)]
    many = code.unranks(np.arange(code.half), np.full(code.half, odd))
    assert many.tolist() == list(map(list, expected))


@given(codes_and_sequences())
def test_unrank_undoes_rank(case):
    m, smaller, sequence = case
    code = LehmerCode(m, smaller)
    index, odd = code.rank(sequence)
    assert 0 <= index < code.half
    assert odd == sign(sequence)
    assert code.unrank(index, odd) == sequence
    assert code.unranks(np.array([index]), np.array([odd])).tolist() == [list(sequence)]


@given(st.integers(2, 14), st.data())
def test_rank_undoes_unrank(m, data):
    code = LehmerCode(m, tuple(data.draw(st.lists(st.integers(1, min(m, 6)), max_size=4))))
    state = data.draw(st.integers(0, code.half - 1)), data.draw(st.integers(0, 1))
    assert code.rank(code.unrank(*state)) == state


@each_code
def test_ranks_of_many_at_once(m, smaller):
    sequences = list(sequences_of([*smaller, m]))
    index, odd = LehmerCode(m, smaller).ranks(np.array(sequences))
    expected = [indices(m, smaller)[sequence] for sequence in sequences]
    assert list(zip(index.tolist(), odd.tolist(), strict=True)) == expected


@pytest.mark.parametrize("m", range(6))
def test_ranks_of_one_class(m):
    sequences = list(sequences_of([m]))
    index, odd = LehmerCode(m).ranks(np.array(sequences, dtype=int).reshape(len(sequences), m))
    expected = [indices(m)[sequence] for sequence in sequences]
    assert list(zip(index.tolist(), odd.tolist(), strict=True)) == expected


@given(st.data())
def test_ranks_are_those_of_each(data):
    m, smaller, sequence = data.draw(codes_and_sequences())
    code = LehmerCode(m, smaller)
    assume(code.half < 2**63)
    index, odd = code.ranks(np.array([sequence, range(len(sequence))]))
    assert (index[0], odd[0]) == code.rank(sequence)
    assert (index[1], odd[1]) == (0, 0)


@given(codes_and_sequences(), st.data())
def test_a_swap_in_a_class_changes_two_digits_by_the_rule(case, data):
    m, smaller, sequence = case
    inside = sorted(set(range(len(sequence) - 1)) - borders((*smaller, m)))
    i = data.draw(st.sampled_from(inside))
    before, after = digits(sequence), digits(swapped(sequence, i))
    assert after[i : i + 2] == list(swap_digits(*before[i : i + 2]))
    assert after[:i] == before[:i]
    assert after[i + 2 :] == before[i + 2 :]
    assert lehmer_digits(sequence) == before


@given(codes_and_sequences())
def test_index_is_the_weighted_sum_of_the_kept_digits(case):
    m, smaller, sequence = case
    code = LehmerCode(m, smaller)
    kept = digits(sequence)[: len(code.strides)]
    assert code.rank(sequence)[0] == sum(
        digit * stride for digit, stride in zip(kept, code.strides, strict=True)
    )
    assert len(kept) == len(sequence) - 2


@each_code
def test_sizes_of_a_code(m, smaller):
    code = LehmerCode(m, smaller)
    assert code.length == m + sum(smaller)
    assert code.half == prod(map(factorial, [*smaller, m])) // 2
    assert code.words * code.bits == code.half
    assert code.bits == {2: 1, 3: 3, 4: 12}.get(m, 60)
    assert code.leading == code.radices[: len(code.leading)]


@pytest.mark.parametrize(
    ("m", "smaller"), [(1, (1,)), (0, (1,)), (3, (0,)), (3, (4,)), (4, (2, 5))]
)
def test_the_last_class_is_the_largest(m, smaller):
    with pytest.raises(ValueError, match=f"one of {m}: the last is the largest"):
        LehmerCode(m, smaller)


@pytest.mark.parametrize(
    ("smaller", "m", "word", "position"), [((2,), 3, (1,), 1), ((2, 3), 3, (0, 2, 4), 4)]
)
def test_voltages_stay_in_their_classes(smaller, m, word, position):
    with pytest.raises(ValueError, match=f"swaps {position} and {position + 1}, of different"):
        graph_of(1, m, [(0, 0, word)], smaller)
    with pytest.raises(ValueError, match=f"a sequence of {sum(smaller) + m} has"):
        graph_of(1, m, [(0, 0, (sum(smaller) + m - 1,))], smaller)


# --- whole searches

SIZES = [
    (2, (1,)), (2, (2,)), (3, (1,)), (3, (2,)), (3, (3,)), (3, (2, 2)), (4, (2,)), (4, (4,)),
    (5, (1,)), (5, (2,)), (6, (1,)), (6, (2,)),
]  # fmt: skip
RANDOM_GRAPHS = 4 * len(SIZES)


def random_case(seed):
    """(space, arcs, origins, border) of a random base graph with several classes."""
    rng = random.Random(seed)
    m, smaller = SIZES[seed % len(SIZES)]
    size = factorial(m) * prod(map(factorial, smaller))
    vertices = rng.randint(2, max(2, min(8, 2000 // size)))
    border = rng.randint(0, sum(smaller) + max(0, m - 5))
    arcs = random_arcs(rng, vertices, m, border, smaller)
    origins = [
        (rng.randrange(vertices), random_sequence(rng, m, smaller))
        for _ in range(rng.choice([1, 1, 2, 4]))
    ]
    graph = graph_of(vertices, m, arcs, smaller)
    return Space(graph, [(v, sign(p)) for v, p in origins]), arcs, origins, border


@swept("seed", range(RANDOM_GRAPHS), few=5)
def test_random_graphs(seed):
    """Both engines find what a dictionary finds, in every layout that the voltages allow."""
    space, arcs, origins, border = random_case(seed)
    expected = voltage_layers(arcs, origins)
    rows = [(4096,), (6,), (1,)][seed // len(SIZES) % 3]
    steps = sum(map(len, expected)) < 400
    assert border in assert_search(space, origins, expected, rows, steps=steps)


def test_random_graphs_are_of_all_kinds():
    cases = [random_case(seed) for seed in range(RANDOM_GRAPHS)]
    assert {space.sides for space, *_ in cases} == {1, 2}
    assert len({border for *_, border in cases}) > 3
    words = [
        (set(word), sum(space.graph.smaller))
        for space, *_ in cases
        for word in space.graph.voltages
    ]
    assert any(min(word) < first <= max(word) for word, first in words if word)
    assert any(max(word) < first for word, first in words if word)


@swept(("m", "smaller"), SIZES, few=[(2, (1,)), (3, (2, 2)), (4, (2,)), (5, (1,))])
def test_neighbour_swaps_of_each_class(m, smaller):
    """The distance of a sequence is its number of inversions, as no swap crosses classes."""
    sizes = (*smaller, m)
    arcs = [(0, 0, (i,)) for i in range(sum(sizes) - 1) if i not in borders(sizes)]
    origin = (0, tuple(range(sum(sizes))))
    space = Space(graph_of(1, m, arcs, smaller), [(0, 0)])
    layers = [set() for _ in range(1 + sum(size * (size - 1) // 2 for size in sizes))]
    for sequence in sequences_of(sizes):
        layers[sum(digits(sequence))].add((0, sequence))
    assert voltage_layers(arcs, [origin]) == layers
    assert_search(space, [origin], layers, steps=False)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(4))
def test_bitmaps_and_lists_agree_where_dictionaries_are_too_slow(seed):
    """Classes of 7 and 3, and of 8 and 2: all layouts of at most 36 prefixes."""
    rng = random.Random(seed)
    m, smaller = [(7, (3,)), (8, (2,)), (7, (2, 2)), (6, (3, 2))][seed]
    sizes, border = (*smaller, m), seed % 3
    swaps = [(0, 0, (i,)) for i in range(sum(sizes) - 1) if i not in borders(sizes)]
    some = [arc for arc in swaps if arc[2][0] + 1 != border]
    arcs = [*random_arcs(rng, 3, m, border, smaller), (0, 1, ()), (1, 0, ()), *some]
    space = Space(graph_of(3, m, arcs, smaller), [(0, 0)])
    expected = [layer.size for layer in list_layers(space, [(0, 0)])]
    assert sum(expected) > 10_000
    tried = set()
    for layout in layouts_of(space, most_prefixes=36):
        assert bitmap_sizes(space, [(0, 0)], layout, threads=2) == expected
        tried.add(layout.prefix_digits)
    assert border in tried


@each_code
def test_numbers_of_many_states_at_once(m, smaller):
    rng = random.Random(m)
    arcs = random_arcs(rng, 4, m, smaller=smaller)
    space = Space(graph_of(4, m, arcs, smaller), [(0, 0)])
    states = list(product(range(4), sequences_of([*smaller, m])))
    side, number = space.numbers(
        np.array([v for v, _ in states]), np.array([sequence for _, sequence in states])
    )
    for state, c, n in zip(states, side.tolist(), number.tolist(), strict=True):
        if c < 0:
            assert space.number(*state) is None
        else:
            assert space.number(*state) == (c, n)
            assert space.state(c, n) == state


def test_layouts_with_prefixes_of_both_classes_are_tried():
    """A prefix may end in, at the end of, or behind the first class."""
    space = Space(graph_of(1, 7, [(0, 0, (0,)), (0, 0, (7,))], (3,)), [(0, 0)])
    assert space.code.leading == (3, 2, 1, 7, 6)
    assert {layout.prefix_digits for layout in layouts_of(space)} == set(range(6))
    assert Layout(space, 3, 1).task_prefixes == 1


@given(codes_and_sequences(), st.data())
def test_voltages_move_ranks_as_they_move_things(case, data):
    """A word done on the digits of the index, swap by swap, is the word done on the things."""
    m, smaller, sequence = case
    assume(factorial(m) * prod(map(factorial, smaller)) < 2**63)  # as state numbers have 63 bits
    inside = sorted(set(range(len(sequence) - 1)) - borders((*smaller, m)))
    word = data.draw(st.lists(st.sampled_from(inside), max_size=5))
    arcs = [(0, 0, tuple(word)), (0, 0, tuple(word[::-1]))]
    space = Space(graph_of(1, m, arcs, smaller), [(0, sign(sequence))])
    reached = {space.number(0, moved(sequence, w)) for _, _, w in arcs}
    layers = list_layers(space, [space.number(0, sequence)])
    found = {(space.side_of(1), n) for n in layers[1].tolist()} if len(layers) > 1 else set()
    assert found == reached - {space.number(0, sequence)}
