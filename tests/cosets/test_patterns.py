"""The patterns of a region, number by number, against searches by dictionary."""

import random
from itertools import permutations

import numpy as np
import pytest

from frontier.cosets import patterns
from frontier.cosets.patterns import Patterns
from frontier.cosets.regions import Region
from frontier.errors import InputError
from frontier.solving.blank_moves import moves_on
from frontier.solving.paths import BLANK, VOLTAGE_BITS, VOLTAGES
from tests.support.coset_boards import HALF, METRICS, as_homes, each_region, made, region_of
from tests.support.reference_cosets import board_of
from tests.support.reference_search import sign
from tests.support.sweeps import swept

BITS = {1: 1, 2: 1, 3: 3, 4: 12}
"""The bits of a word that are used, of so many labelled tiles; of more, 60."""


def pattern_number(board, region, pattern):
    """The number of a pattern of the twin, from its definition."""
    homes = as_homes(board, pattern).tolist()
    places = [n for n, home in enumerate(homes) if home >= 0]
    blank = homes.index(BLANK)
    order = {home: i for i, home in enumerate(region.outside.tolist())}
    sequence = tuple(order[homes[n]] for n in places)
    vertex = region.pattern.model.base.vertices_of(
        np.array([[n - (n > blank) for n in places]]), np.array([blank])
    )
    same = [s for s in permutations(range(len(sequence))) if sign(s) == sign(sequence)]
    bits = BITS.get(len(sequence), 60)
    words = -(-HALF[len(sequence)] // bits)
    word, bit = divmod(same.index(sequence), bits)
    return ((2 * int(vertex[0]) + sign(sequence)) * words + word) * 64 + bit


def keeping(kept, made_now=None):
    """A source that makes each table once, and notes which it has made."""

    def keep(name, make):
        if name not in kept:
            kept[name] = make()
            if made_now is not None:
                made_now.append(name)
        return kept[name]

    return keep


def made_for(board, rectangle, source=made):
    region = region_of(board, rectangle)
    return region, Patterns(region, moves_on(board.rows, board.columns, board.metric), 2, source)


@each_region
def test_patterns(shape, blank, rectangle, metric):
    """Each number and its residue, and where each move leads."""
    board = board_of(*shape, blank, metric)
    moves = moves_on(*shape, metric)
    region, found = made_for(board, rectangle)
    table, expected, rng = found.table, board.patterns(rectangle), random.Random(1)
    assert found.layers.tolist() == np.bincount(list(expected.values())).tolist()
    assert found.farthest == max(expected.values())
    some = sorted(expected)
    some = some if len(some) < 1000 else rng.sample(some, 400)
    homes = np.array([as_homes(board, pattern) for pattern in some])
    numbers = [pattern_number(board, region, pattern) for pattern in some]
    assert found.numbers(homes).tolist() == numbers
    assert found.homes(np.array(numbers)).tolist() == homes.tolist()
    for pattern, p in zip(some, numbers, strict=True):
        planes = [int(plane[p // 64]) >> p % 64 & 1 for plane in table.residue]
        at = board.reading.index(pattern.index(0))
        odd = planes[1] if metric == "multi" else table.odd[at]
        assert 2 * planes[0] + odd == expected[pattern] % 4
        near = {there.index(0): there for there in board.near(pattern)}
        vertex, number = divmod(p, int(table.size))
        for k, entry in enumerate(table.move[vertex].tolist()):
            assert (entry >= 0) == (moves.target[at, k] >= 0)
            if entry >= 0:
                image = int(table.image[entry & VOLTAGES, number])
                there = near.pop(board.reading[moves.target[at, k]])
                there = pattern_number(board, region, there)
                assert (entry >> VOLTAGE_BITS) * table.size + image == there
        assert near == {}


def listed(found, least, modulo):
    """The distances of patterns, by their numbers."""
    numbers, distances = found.at(least, modulo)
    assert numbers.dtype == np.int64
    assert distances.dtype == np.uint8
    assert len(set(numbers.tolist())) == numbers.size
    return dict(zip(numbers.tolist(), distances.tolist(), strict=True))


@each_region
def test_far_patterns(shape, blank, rectangle, metric):
    """At every distance or farther, and at one that no pattern has."""
    board = board_of(*shape, blank, metric)
    region, found = made_for(board, rectangle)
    expected = board.patterns(rectangle)
    numbers = found.numbers(np.array([as_homes(board, pattern) for pattern in expected]))
    distance = dict(zip(numbers.tolist(), expected.values(), strict=True))
    for least in {0, 1, found.farthest // 2, found.farthest, found.farthest + 1}:
        for modulo in range(region.period):
            assert listed(found, least, modulo) == {
                number: depth
                for number, depth in distance.items()
                if depth >= least and depth % region.period == modulo
            }


@swept("most", [1, 10, 500, 10**6], few=[10])
def test_few_patterns_are_listed_at_first(monkeypatch, most):
    """The others are when they are wanted, and all of it is kept by its name."""
    board, kept, made_now = board_of(2, 4, (0, 1)), {}, []
    _, whole = made_for(board, (0, 0, 2, 3), keeping({}))
    whole = {(least, m): listed(whole, least, m) for least in range(28) for m in (0, 1)}
    monkeypatch.setattr(Region, "most_listed", most)
    monkeypatch.setattr(patterns, "MOST_LISTED", 10**6)

    keep = keeping(kept, made_now)
    _, found = made_for(board, (0, 0, 2, 3), keep)
    assert made_now[:2] == ["patterns", "layers"]
    for least in range(found.farthest + 1, -1, -1):
        for modulo in (0, 1):
            assert listed(found, least, modulo) == whole[least, modulo]
    assert "far-0" in kept
    assert len(kept) <= 2 + 12
    made_now.clear()
    _, again = made_for(board, (0, 0, 2, 3), keep)
    assert listed(again, 0, 1) == whole[0, 1]
    assert made_now == []
    for name in list(kept):  # each of them is made again
        before = kept.pop(name)
        _, again = made_for(board, (0, 0, 2, 3), keep)
        for least in range(found.farthest, -1, -1):
            assert listed(again, least, 0) == whole[least, 0]
        assert (kept[name] == before).all()


def test_too_many_patterns_to_be_listed(monkeypatch):
    monkeypatch.setattr(Region, "most_listed", 10)
    monkeypatch.setattr(patterns, "MOST_LISTED", 200)
    _, found = made_for(board_of(2, 4, (0, 0)), (0, 0, 2, 3))
    assert listed(found, found.farthest - 2, 1)
    with pytest.raises(InputError, match=r"patterns at distance .* or more; at most 200 can be"):
        found.at(0, 0)


@pytest.mark.parametrize("metric", METRICS)
def test_tables_are_kept_by_their_names(metric):
    board, kept = board_of(2, 4, (0, 1), metric), {}
    _, found = made_for(board, (0, 0, 2, 3), keeping(kept))
    assert sorted(kept) == ["far-0", "layers", "patterns"]
    _, again = made_for(board, (0, 0, 2, 3), lambda name, make: kept[name])
    assert (again.table.residue == found.table.residue).all()
    assert (again.layers == found.layers).all()


def test_more_voltages_than_an_entry_has_room_for_are_refused(monkeypatch):
    monkeypatch.setattr("frontier.solving.blank_moves.VOLTAGE_BITS", 1)
    with pytest.raises(OverflowError, match="voltages; 1 bits"):
        made_for(board_of(2, 4, (0, 0), "multi"), (0, 0, 2, 2))
