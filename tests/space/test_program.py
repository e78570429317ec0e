"""Swaps that several arcs into a node have in common at their end are done once."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.kernels import expand_rows as bits
from frontier.kernels.shift_search import ShiftSearch
from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.program import last_first
from tests.support.reference_search import moved, random_sequence, sign, voltage_layers
from tests.support.sweeps import swept
from tests.support.whole_searches import assert_search, graph_of


def flip(pancakes):
    """The swaps that turn over the first of a stack, made out of those that bring the last of them
    to the first place, then the last to the second and so on."""
    last = pancakes - 1
    return last_first([i for first in range(last) for i in range(last - 1, first - 1, -1)])


@given(st.lists(st.integers(0, 7), max_size=30))
def test_last_first(word):
    found, after = last_first(word), moved(range(9), word)
    assert moved(range(9), found) == after
    inversions = sum(after[j] < after[i] for i in range(9) for j in range(i, 9))
    assert len(found) == inversions


def test_flips_are_ends_of_one_another():
    assert moved("abcdef", flip(4)) == tuple("dcbaef")
    for pancakes in range(2, 12):
        assert len(flip(pancakes)) == pancakes * (pancakes - 1) // 2
        assert flip(pancakes + 1) == (*range(pancakes), *flip(pancakes))


def branching_case(seed):
    """(space, arcs, origin) of a few vertices with voltages that are built upon one another's
    ends, so that many of them have some swaps in common there, each some others."""
    rng = random.Random(seed)
    m, vertices = (6, 7)[seed % 2], seed % 3 + 1
    words = [()]
    for _ in range(9):
        word = tuple(rng.randrange(m - 1) for _ in range(rng.randint(1, 3)))
        words.append((*word, *rng.choice(words)))
    arcs = [(v, v - 1, ()) for v in range(1, vertices)]
    arcs += [(rng.randrange(vertices), rng.randrange(vertices), word) for word in words[1:]]
    arcs += [(target, source, word[::-1]) for source, target, word in arcs]
    origin = (0, random_sequence(rng, m))
    return Space(graph_of(vertices, m, arcs), [(0, sign(origin[1]))]), arcs, origin


@swept("seed", range(30), few=1)
def test_voltages_that_end_alike(seed):
    space, arcs, origin = branching_case(seed)
    expected = voltage_layers(arcs, [origin])
    assert_search(space, [origin], expected, steps=sum(map(len, expected)) < 1500)


@pytest.fixture
def passes(monkeypatch):
    """The swaps that were done, one entry for each row."""
    done, swap = [], bits.or_swap

    def count(target, source, i, *tables):
        done.append(i)
        swap(target, source, i, *tables)

    monkeypatch.setattr(bits, "or_swap", count)
    for name in ("or_swaps", "expand_rows"):
        monkeypatch.setattr(bits, name, getattr(bits, name).function)
    return done


def layers_and_passes(words, m, passes):
    """The sizes of the layers of one vertex whose loops have these voltages, and the swaps that are
    done for a node at most."""
    space = Space(graph_of(1, m, [(0, 0, word) for word in words]), [(0, 0)])
    search, sizes, most = ShiftSearch(Layout(space, 0, 2)), [], 0
    for counts in search.layers((np.array([0]), np.arange(m)[None])):
        sizes.append(int(counts.sum()))
        most = max(most, len(passes) / len(counts))
        passes.clear()
    return sizes, most


def test_each_swap_of_pancakes_is_done_once(passes):
    """21 swaps instead of 56, and that of the last two moves nothing."""
    sizes, most = layers_and_passes([flip(n) for n in range(2, 8)], 7, passes)
    assert sizes == [1, 6, 30, 149, 543, 1357, 1903, 1016, 35]
    assert most == 20


def test_swaps_of_ends_that_branch(passes):
    """Nine instead of sixteen. Eight would do, but only one row can wait for what else ends as it
    does, so 2 before 0 is done twice."""
    words = [(0, 1, 0), (1, 0), (1, 2, 0), (2, 0), (0,), (0, 1), (0, 2, 1)]
    assert sum(len(last_first(word)) for word in words) == 16
    sizes, most = layers_and_passes(words, 7, passes)
    assert sizes == [1, 7, 15, 1]
    assert most == 9
