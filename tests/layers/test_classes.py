"""A program's `canonical` and `class_size`: one state of each class under a symmetry."""

import csv
from itertools import pairwise
from math import comb
from pathlib import Path

import numpy as np
import pytest

import frontier
from frontier.errors import InputError
from frontier.layers.verify import verify
from tests.support import programs
from tests.support.commands import invoke
from tests.support.sweeps import swept

PEGS = (Path(__file__).parents[2] / "configs" / "peg-solitaire.py").read_text()
BOARD = "ooo\nooo\n.o.\nooo\nooo"
TILTED = "oooo\noooo\no.oo"

LAMPS = """
import numpy as np

def puzzle(classes=True, first=0):
    side = 3
    cells = np.arange(side * side).reshape(side, side)
    turned = [np.rot90(board, n).ravel() for board in (cells, cells.T) for n in range(4)]
    turned = np.array(turned)

    def neighbours(state, out):
        for lamp in range(9):
            for other in range(9):
                near = abs(lamp // 3 - other // 3) + abs(lamp % 3 - other % 3) <= 1
                out[lamp, other] = state[other] ^ near
        return 9

    def canonical(state, out):
        out[:] = state
        for board in turned:
            for cell in range(9):
                if state[board[cell]] != out[cell]:
                    if state[board[cell]] < out[cell]:
                        out[:] = state[board]
                    break

    table = {"radices": [2] * 9, "start": [first] + [0] * 8, "neighbours": neighbours, "most": 9}
    return table | ({"canonical": canonical} if classes else {})
"""


def classes_of(table, layers):
    """The representatives of the states of some layers, each in the first layer that has it."""
    seen, found = set(), []
    for layer in layers:
        out = np.zeros(len(table["radices"]), np.int64)
        states = set()
        for state in layer:
            table["canonical"](np.array(state), out)
            states.add(tuple(out.tolist()))
        found.append(states - seen)
        seen |= states
    return found


def check_path(table, boards):
    for before, after in pairwise(boards):
        assert after in programs.listed(table, before)


def test_pegs_up_to_symmetry(tmp_path):
    """The start is symmetric, so a class is in the layer of each of its states."""
    table = programs.table_of(PEGS)(BOARD, True)
    layers = programs.layers(table)
    run = frontier.run(programs.program(tmp_path, PEGS, "all", board=BOARD, classes=True))
    assert [set(layer) for layer in run.layers] == classes_of(table, layers)
    assert [record.tally.members for record in run.store.records] == list(map(len, layers))
    assert verify(run.store, deep=20).faults == []
    table_of_layers = csv.DictReader(invoke("report", run.path, "--csv", "-").stdout.splitlines())
    assert [(int(row["states"]), int(row["members"])) for row in table_of_layers] == list(
        zip(run.counts, map(len, layers), strict=True)
    )
    states = [min(layer) for layer in layers]
    assert run.distance(np.array(states)).tolist() == list(range(len(layers)))
    for state in layers[-2]:
        boards = run.solve(state).boards
        assert (boards[0], boards[-1]) == (tuple(table["start"]), state)
        check_path(table, boards)


@pytest.mark.sweep
def test_a_start_that_is_not_symmetric(tmp_path):
    """A position may be reached only from another state of the start's class."""
    table = programs.table_of(PEGS)(TILTED, True)
    config = programs.program(tmp_path, PEGS, "all", board=TILTED, classes=True)
    run, layers = frontier.run(config), programs.layers(table)
    assert [set(layer) for layer in run.layers] == classes_of(table, layers)
    for state in layers[-1]:
        check_path(table, run.solve(state).boards)
    reflected = table["read"](TILTED[::-1])
    with pytest.raises(InputError, match="does not begin at the start"):
        run.solve(reflected)


@swept("first", range(2), few=1)
def test_lamps_up_to_symmetry(tmp_path, first):
    """Moves are undone: a solution begins at the board, and ends in the class of the start."""
    table = programs.table_of(LAMPS)(first=first)
    starts = {tuple(table["start"])}
    if first:
        starts = {tuple(int(cell == corner) for cell in range(9)) for corner in (0, 2, 6, 8)}
    depths, layer, depth = {}, starts, 0
    while layer:
        depths |= dict.fromkeys(layer, depth)
        layer = {n for state in layer for n in programs.listed(table, state)} - set(depths)
        depth += 1
    run = frontier.run(programs.program(tmp_path, LAMPS, "all", first=first))
    layers = [{s for s in depths if depths[s] == t} for t in range(depth)]
    assert [set(layer) for layer in run.layers] == classes_of(table, layers)
    assert verify(run.store, deep=20).faults == []
    assert run.distance(np.array(list(depths))).tolist() == list(depths.values())
    fresh = programs.program(tmp_path, LAMPS, first=first)
    solved = [run.solve(max(layers[-1])), frontier.solve(fresh, max(layers[-1]))]
    for boards in (solution.boards for solution in solved):
        assert (len(boards), boards[0], boards[-1] in starts) == (depth, max(layers[-1]), True)
        check_path(table, boards)


KEYS = """
import numpy as np

def puzzle():
    one = np.uint64(1)

    def neighbours(key, out):
        for lamp in range(12):
            out[lamp] = key ^ (one << np.uint64(lamp))
        return 12

    def canonical(key):
        least = np.uint64(0)
        for lamp in range(12):
            if key >> np.uint64(lamp) & one:
                least = least << one | one
        return least

    def class_size(state):
        size = 1
        for lamp in range(state.sum()):
            size = size * (12 - lamp) // (lamp + 1)
        return size

    return {
        "radices": [2] * 12, "start": [1] * 5 + [0] * 7, "neighbours": neighbours, "most": 12,
        "by_key": True, "canonical": canonical, "class_size": class_size,
    }
"""


def test_keys_up_to_symmetry(tmp_path):
    run = frontier.run(programs.program(tmp_path, KEYS, "all"))
    assert sum(run.counts) == 13
    assert list(run.layers[0]) == [(0,) * 7 + (1,) * 5]
    members = [record.tally.members for record in run.store.records]
    sizes = [[comb(12, n) for n in range(13) if abs(5 - n) == depth] for depth in range(8)]
    assert members == list(map(sum, sizes))


def test_more_members_than_a_word_counts(tmp_path):
    text = """
def puzzle():
    def neighbours(state, out):
        if state[0]:
            out[0] = 0
            return 1
        for i in range(9):
            out[i] = 1 + i, 0
        return 9

    def canonical(state, out):
        out[:] = state

    return {
        "radices": [1 << 62, 1 << 62], "start": [0, 0], "neighbours": neighbours, "most": 9,
        "canonical": canonical, "class_size": lambda state: 1 << 62,
    }
"""
    run = frontier.run(programs.program(tmp_path, text, "all"))
    again = frontier.open_run(run.path).store.records
    assert [record.tally.members for record in again] == [1 << 62, 9 << 62]
    assert verify(run.store).faults == []


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("def canonical(state, out): out[0] = (state[0] + 1) % 6", "must be its own"),
        ("def canonical(state, out): out[0] = min(state[0], 2)", "different classes"),
        ("def canonical(state, out): out[0] = state[0] + 5 * (state[0] == 3)", r"\[8\] is no st"),
        ("def canonical(state, out): pass", r"state \[0\]: \[-1\] is no state"),
        ("def canonical(state, out): out[state[0] // 2] = 0", r"state \[5\]: IndexError"),
        ("def canonical(state, out): out[0] = state[0] / 2", "writes float64"),
        ("canonical = 3", "canonical = 3"),
        ("canonical, class_size = None, len", "no canonical"),
        ("class_size = lambda state: 0", r"class_size says 0 for the state \[0\]"),
        ("class_size = lambda state: 7", r"class_size says 7 for the state \[0\].* at most 6"),
        ("class_size = lambda state: 0.5", "class_size returns float64"),
        ("class_size = lambda state: 1 // state[0]", "class_size raises ZeroDivisionError"),
    ],
)
def test_wrong_functions_are_named(tmp_path, function, said):
    text = f"""
def puzzle():
    def neighbours(state, out):
        out[0, 0], out[1, 0] = (state[0] + 1) % 6, (state[0] - 1) % 6
        return 2

    def canonical(state, out):
        out[0] = min(state[0], 6 - state[0])

    class_size = None
    {function}
    return {{
        "radices": [6], "start": [0], "neighbours": neighbours, "most": 2,
        "canonical": canonical, "class_size": class_size,
    }}
"""
    with pytest.raises(InputError, match=said):
        frontier.run(programs.program(tmp_path, text))
