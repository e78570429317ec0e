"""Lists of keys are expanded as sets are, however layers are divided."""

from functools import cache
from math import comb

import numpy as np
import pytest

from frontier.errors import InputError, Stopped
from frontier.kernels import key_lists
from frontier.kernels.key_lists import KeyLists
from frontier.space.keys import KeySpace, Rules
from tests.support import programs
from tests.support.sweeps import swept


@cache
def graph(states=20_000, both=True, pad=0):
    """The table of a random graph, and its layers by a dictionary."""
    table = programs.table_of(programs.GRAPH)(states, 3, both=both, pad=pad)
    return table, programs.layers(table)


def lists_of(table, **changed) -> KeyLists:
    table = table | changed
    rules = Rules(table["neighbours"], table["most"], layer=table.get("layer"))
    return KeyLists(KeySpace(table["radices"], table["undone"], rules.most, lambda: rules))


@cache
def lists_of_graph(**parameters) -> KeyLists:
    return lists_of(graph(**parameters)[0])


def found(lists: KeyLists, table, threads=2, room=1 << 40) -> list[set]:
    """The layers that the kernel finds."""
    lists.allow(threads, room)
    origins = np.zeros(1, np.int64), np.array([table["start"]])
    layers = list(lists.layers(origins, not table["undone"]))
    assert all((layer[1:] > layer[:-1]).all() for layer in layers)
    return [set(map(tuple, lists.space.digits_of(layer).tolist())) for layer in layers]


@swept(("both", "pad"), [(True, 0), (False, 110), (False, 0), (True, 50)], few=2)
def test_layers_are_those_of_a_dictionary(both, pad, monkeypatch):
    """Keys of one, two and four words; parts, blocks and waves are small."""
    monkeypatch.setattr(key_lists, "PART_KEYS", 700)
    monkeypatch.setattr(key_lists, "BLOCK_KEYS", 700)
    monkeypatch.setattr(key_lists, "SMALL_LIST", 32)
    table, layers = graph(both=both, pad=pad)
    assert max(map(len, layers)) > 4000
    lists = lists_of_graph(both=both, pad=pad)
    assert found(lists, table) == layers
    room = key_lists.PROCESS_BYTES + 40 * 20_000 * lists.space.words
    assert found(lists, table, threads=1, room=room) == layers


def test_neighbours_and_their_sources():
    table, _ = graph()
    lists = lists_of_graph(both=True, pad=0)
    states = np.array([[5], [7], [19_999]])
    _, keys = lists.space.numbers(np.zeros(3, np.int64), states)
    near, source = lists.neighbours(0, keys)
    for i, state in enumerate(states):
        mine = map(tuple, lists.space.digits_of(near[source == i]).tolist())
        assert set(mine) == programs.listed(table, state)


def test_keys_instead_of_digits():
    def neighbours(state, out):
        for lamp in range(12):
            for other in range(12):
                out[lamp, other] = state[other] ^ (lamp == other)
        return 12

    def by_key(key, out):
        for lamp in range(12):
            out[lamp] = key ^ (np.uint64(1) << np.uint64(lamp))
        return 12

    table = {"radices": [2] * 12, "start": [0] * 12, "undone": True, "most": 12}
    layers = found(lists_of(table | {"neighbours": neighbours}), table)
    space = KeySpace([2] * 12, True, 12, lambda: Rules(by_key, 12, True))
    assert found(KeyLists(space), table) == layers
    assert [len(layer) for layer in layers] == [comb(12, depth) for depth in range(13)]


def test_no_room_for_a_layer(monkeypatch):
    monkeypatch.setattr(key_lists, "SMALL_LIST", 32)
    table, layers = graph()
    lists = lists_of_graph(both=True, pad=0)
    with pytest.raises(Stopped, match=r"cluster\.memory"):
        found(lists, table, room=key_lists.PROCESS_BYTES + 8 * 100)
    assert found(lists, table) == layers


def beyond(state, out):
    out[7, 0] = state[0]
    return 1


def too_many(state, out):
    return 9


def too_large(state, out):
    out[0, 0] = 500
    return 1


def one_way(state, out):
    out[0, 0] = (state[0] + 1) % 5
    return 1


def raising(state, out):
    if state[0] > 2:
        raise ValueError("three")
    out[0, 0] = state[0] + 1
    out[1, 0] = max(0, state[0] - 1)
    return 2


def not_compiled(state, out):
    return len(open("moves.txt").read()) + {}.nothing


def nothing(state, out):
    out[0, 0] = 1


def fraction(state, out):
    out[0, 0] = state[0] / 2
    return 1


def a_float(state, out):
    return 1.7


def unwritten(state, out):
    """State 2 counts a second row, which only states 0 and 1 write."""
    out[0, 0] = (state[0] + 1) % 5
    if state[0] < 2:
        out[1, 0] = state[0]
    return 2


def dividing(state, out):
    return 1 // state[0]


@swept(
    ("neighbours", "said"),
    [
        (beyond, r"state \[0\].*index"),
        (too_large, r"is 500: digits from 0 to 4"),
        (one_way, "none leads back"),
        (not_compiled, "^puzzle.file: Numba cannot compile it: [A-Z]"),
        (fraction, "writes float64"),
        (too_many, "returns 9"),
        (raising, "three"),
        (nothing, "returns none"),
        (a_float, "returns float64"),
        (dividing, r"state \[0\]: it raises ZeroDivisionError"),
    ],
    few=5,
)
def test_wrong_functions_are_named(neighbours, said):
    table = {"radices": [5], "start": [0], "undone": True, "most": 2, "neighbours": neighbours}
    with pytest.raises(InputError, match=said):
        found(lists_of(table), table)


def test_a_digit_that_is_not_written_is_found():
    """A row of `out` holds nothing of the state before."""
    table = {"radices": [5], "start": [0], "undone": False, "most": 2, "neighbours": unwritten}
    with pytest.raises(InputError, match=r"state \[2\]: digit 0 of neighbour 1 is -1"):
        found(lists_of(table), table)


def test_a_key_with_bits_of_no_digit():
    def neighbours(key, out):
        out[0] = key ^ np.uint64(64)
        return 1

    space = KeySpace([5], False, 1, lambda: Rules(neighbours, 1, True))
    table = {"start": [0], "undone": False}
    with pytest.raises(InputError, match=r"state \[0\]: a key .* bits that belong to no digit"):
        found(KeyLists(space), table)


def test_layer_raises():
    def layer(state):
        if state[0] > 2:
            raise ValueError("three")
        return state[0]

    def neighbours(state, out):
        out[0, 0] = min(state[0] + 1, 4)
        return 1

    table = {"radices": [5], "start": [0], "undone": False, "most": 1, "neighbours": neighbours}
    with pytest.raises(InputError, match="layer raises ValueError: three"):
        found(lists_of(table, layer=layer), table)


def test_a_wrong_depth_is_named():
    def layer(state):
        return min(state[0], 3)

    def neighbours(state, out):
        out[0, 0] = min(state[0] + 1, 4)
        return 1

    table = {"radices": [5], "start": [0], "undone": False, "most": 1, "neighbours": neighbours}
    with pytest.raises(InputError, match=r"layer says 3 for the state \[4\]"):
        found(lists_of(table, layer=layer), table)
    assert len(found(lists_of(table), table)) == 5
