"""What holds of every puzzle, whatever its kind: one suite over small puzzles of all kinds.

Their boards and moves are made without the package (`reference_puzzles`), and all boards that can
be reached are listed. What is larger than that is drawn at random, and held against itself.
"""

import json
import pickle
import random
from collections import defaultdict
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.config.loading import load_config
from frontier.errors import InputError
from frontier.puzzles import (
    KINDS,
    block_puzzle,
    cell_puzzle,
    graph_puzzle,
    permutation_puzzle,
    puzzle_of,
)
from frontier.puzzles.keyed import keyed
from frontier.space.layout import Layout
from frontier.space.orbits import Orbits
from tests.support.cell_boards import HEXAGON_MOVES, TRAPEZE
from tests.support.reference_permutations import PYRAMINX, burnt_pancakes, pancakes
from tests.support.reference_puzzles import (
    CONFIGS,
    HEXAGON,
    LINES,
    blocks,
    cells,
    graph,
    patterns,
    permutation,
    tiles,
)
from tests.support.reference_search import moved, random_sequence
from tests.support.sweeps import swept
from tests.support.whole_searches import arcs_of, bitmap_sizes, list_layers

WILSON = [[1, 5, 6], [0, 2], [1, 3], [2, 4, 6], [3, 5], [4, 0], [0, 3]]
SQUARE = [[1, 3], [0, 2], [1, 3], [2, 0]]
CASES = {
    "tiles": tiles(2, 3),
    "tiles row by row": tiles(3, 2, goal=[[5, 1], [0, 3], [2, 4]]),
    "tiles on one line": tiles(1, 5),
    "several tiles a move": tiles(2, 3, "multi"),
    "tiles, two goals": tiles(2, 3, goals=[[[0, 1, 2], [3, 4, 5]], [[1, 2, 0], [3, 4, 5]]]),
    "tiles, a part of a goal": tiles(2, 3, goal=[[1, 2, "?"], ["?", "?", "?"]]),
    "blocks": blocks("step", ["cd"], goal="aab/c.b/d.."),
    "blocks in lines": blocks("straight", ["cd"], goal="aab/c.b/d.."),
    "blocks along paths": blocks("path", ["cd"], goal="aab/c.b/d.."),
    "a piece in two parts": blocks("step", ["bc"], goal="a.a/.b./..c"),
    "walls": blocks("step", ["abc"], goal="ab.#/c..d/##ee"),
    "blocks, a part of a goal": blocks("step", ["bd"], goal="aa?/?.?/???",
                                       start="aac/b.c/d.."),
    "Wilson's graph": graph(WILSON, "abcdef."),
    "colours on a graph": graph(WILSON, "aabbcd."),
    "a graph, a part of a goal": graph(SQUARE, "?a?b", start="aab."),
    "cells": cells(HEXAGON, LINES, "aa.b.c.", alike=["bc"]),
    "cells along paths": cells(HEXAGON, LINES, "aa.bcd.", metric="path"),
    "a pattern": patterns(2, 3, [2, 5]),
    "a pattern of one tile on a tall board": patterns(3, 2, [4]),
    "a pattern, its own moves counted": patterns(2, 3, [1, 2, 5], "labelled"),
    "pancakes": permutation(**pancakes(5)),
    "burnt pancakes": permutation(**burnt_pancakes(3)),
    "turned by thirds": permutation({"a": {"moves": [2, 3, 1], "turns": [1, 0, 0]}},
                                    orientations=3, closed=True),
    "dials": permutation({"a": {"moves": [1, 2], "turns": [1, 0]},
                          "b": {"moves": [1, 2], "turns": [1, 1]}}, 12, closed=True),
    "a ring": permutation({"turn": [2, 3, 4, 5, 1], "flip": [3, 2, 1, 4, 5]}, closed=True),
    "like pieces, two goals": permutation({"a": [2, 3, 1, 4, 5], "b": [1, 2, 4, 5, 3]},
                                          goals=["xxyzz", "yxxzz"], closed=True),
}  # fmt: skip
FEW = [
    "several tiles a move", "walls", "blocks, a part of a goal", "colours on a graph",
    "cells along paths", "a pattern", "like pieces, two goals",
]  # fmt: skip
each_case = swept("name", CASES, few=FEW)


@cache
def made(name):
    """(puzzle, what is known of it, its boards as the package has them: text -> codes)"""
    case = CASES[name]
    puzzle = puzzle_of(case.table)
    return puzzle, case, {board: puzzle.parse(case.text(board)) for board in case.depths}


def read(puzzle, case, codes):
    return case.read(puzzle.write(codes))


def some_of(boards, most=150):
    """Some boards, always the same ones."""
    boards = sorted(boards.items(), key=lambda item: item[1])
    return random.Random(len(boards)).sample(boards, min(most, len(boards)))


@cache
def arcs_from(name):
    """The arcs that leave each vertex."""
    leaving = defaultdict(list)
    for source, target, word in arcs_of(made(name)[0].model.graph):
        leaving[source].append((target, word))
    return leaving


@cache
def after_one_move(name, codes):
    """The boards that the arcs of the base graph lead to."""
    positions = made(name)[0].model
    vertex, sequence = positions.state(codes)
    arcs = arcs_from(name)[vertex]
    if not arcs:
        return []
    vertices, sequences = zip(*((v, moved(sequence, word)) for v, word in arcs), strict=True)
    boards = positions.boards_of(np.array(vertices), np.array(sequences, dtype=np.int64))
    return list(map(tuple, boards.tolist()))


def like_in_order(puzzle, codes):
    """Whether like pieces lie in the order of their codes, so that equal positions are equal."""
    pieces = puzzle.notation.pieces
    numbers = pieces.numbers(np.array(codes))[pieces.reading].tolist()
    shown = [[n for n in dict.fromkeys(numbers) if n in sort.codes] for sort in pieces.sorts]
    return all(
        sort.distinct or found == sorted(found)
        for sort, found in zip(pieces.sorts, shown, strict=True)
    )


def test_all_kinds_are_here():
    """Programs have no base graph; tests/layers/test_program_runs.py searches them."""
    assert {case.table["kind"] for case in CASES.values()} == set(KINDS) - {"program"}


# --- the model


@each_case
def test_the_layers_are_those_of_a_dictionary(name):
    puzzle, case, _ = made(name)
    positions = puzzle.model
    side, number = positions.space.numbers(*positions.origins())
    origins = list(zip(side.tolist(), number.tolist(), strict=True))
    layers, found = list_layers(positions.space, origins), {}
    for depth, numbers in enumerate(layers):
        states = positions.space.states_of(positions.space.side_of(depth), numbers)
        for codes in map(tuple, positions.boards_of(*states).tolist()):
            found[read(puzzle, case, codes)] = depth
    assert found == case.depths
    assert positions.states == len(found) == sum(layer.size for layer in layers)
    layout = Layout(positions.space, 0, max(positions.space.nodes))
    assert bitmap_sizes(positions.space, origins, layout) == [layer.size for layer in layers]


@each_case
def test_the_layers_by_keys_are_those_of_a_dictionary(name):
    """Step by step, by the function that lists neighbours without its compiled form."""
    puzzle, case, _ = made(name)
    by_keys = keyed(puzzle)
    model, space = by_keys.model, by_keys.model.space
    layer, depths, depth = set(space.numbers(*model.origins())[1].tolist()), {}, 0
    while layer:
        depths |= dict.fromkeys(layer, depth)
        near = {key.item() for state in layer for _, key in space.neighbours(0, state)}
        layer, depth = near - depths.keys(), depth + 1
    keys = np.array([*depths], space.dtype)
    boards = model.boards_of(*space.states_of(0, keys))
    found = [read(puzzle, case, tuple(board)) for board in boards.tolist()]
    assert dict(zip(found, depths.values(), strict=True)) == case.depths
    vertex, digits = model.states_of(boards)
    assert (vertex == 0).all()
    assert (space.numbers(vertex, digits)[1] == keys).all()
    assert pickle.loads(pickle.dumps(by_keys)).model.space.radices == space.radices


@each_case
def test_boards_are_states(name):
    """Each board that can be reached is one state, and that state is the board."""
    puzzle, case, boards = made(name)
    codes = np.array(list(boards.values()))
    vertex, sequence = puzzle.model.states_of(codes)
    assert len({*zip(vertex.tolist(), map(tuple, sequence.tolist()), strict=True)}) == len(codes)
    assert (vertex >= 0).all()
    assert all(like_in_order(puzzle, board) for board in boards.values())
    back = puzzle.model.boards_of(vertex, sequence)
    if case.table.get("metric") != "labelled":
        assert (back == codes).all()
    assert [read(puzzle, case, tuple(board)) for board in back.tolist()] == list(boards)


@each_case
def test_arcs_are_moves(name):
    """They lead to the boards after one move, each once, and so do those back."""
    puzzle, case, boards = made(name)
    for board, codes in some_of(boards, 60):
        after = after_one_move(name, codes)
        near = set(case.neighbours(board)) - {board}  # a generator may exchange like pieces
        assert {read(puzzle, case, there) for there in after} - {board} == near
        assert len(set(after)) == len(after)
        for there in after:
            back = after_one_move(name, there)
            assert board in {read(puzzle, case, codes) for codes in back}


@each_case
def test_what_can_be_reached(name):
    """Of the boards on which two pieces are exchanged, just those that are listed."""
    puzzle, case, boards = made(name)
    for _, codes in some_of(boards, 20):
        for one, other in combinations(sorted(set(codes)), 2):
            exchanged = tuple({one: other, other: one}.get(code, code) for code in codes)
            settled = puzzle.notation.pieces.settled(exchanged)
            if settled is None or 0 in (one, other):
                continue
            known = read(puzzle, case, settled) in case.depths
            vertex, _ = puzzle.model.states_of(np.array([settled]))
            if vertex[0] < 0:
                assert not known
                continue
            assert puzzle.model.reaches(settled) == known
            if not known:
                with pytest.raises(InputError, match="cannot be reached"):
                    puzzle.check_reached(settled)


def counts_as(puzzle, code, other):
    """Whether two codes are of one piece, or of pieces that count as the same."""
    one, two = puzzle.notation.pieces.numbers(np.array([code, other])).tolist()
    sorts = puzzle.notation.pieces.sorts
    return one == two or any({one, two} <= {*s.codes} and not s.distinct for s in sorts)


@each_case
def test_codes_that_make_no_board_are_refused(name):
    puzzle, _, boards = made(name)
    for _, codes in some_of(boards, 10):
        wrong = [[-1, *codes[1:]], [10_000, *codes[1:]]]
        wrong += [
            [there if cell == at else code for cell, code in enumerate(codes)]
            for at, there in product(range(len(codes)), codes)
            if codes[at] and there and not counts_as(puzzle, codes[at], there)
        ]
        for board in wrong:
            with pytest.raises(InputError):
                puzzle.model.states_of(np.array([codes, board]))
    for array in (list(codes[:-1]), [float(code) for code in codes], "codes"):
        with pytest.raises(InputError):
            puzzle.model.states_of([array])


@each_case
def test_vertices_at_the_goals_shape(name):
    """Just those whose empty cells are the goal's, if that can be said."""
    puzzle, _, boards = made(name)
    at_goal = puzzle.model.at_goal_shape()
    if at_goal is None:
        kinds = ("permutations", "labelled")
        several = len(puzzle.goals) > 1 or "?" in puzzle.line(puzzle.goals[0])
        assert several or {puzzle.kind, puzzle.metric} & {*kinds}
        return
    empty = [cell for cell, code in enumerate(puzzle.goals[0]) if code == 0]
    for codes in boards.values():
        vertex, _ = puzzle.model.state(codes)
        assert at_goal[vertex] == all(codes[cell] == 0 for cell in empty)


# --- the notation


@each_case
def test_what_is_written_is_read(name):
    puzzle, case, boards = made(name)
    for board, codes in some_of(boards):
        written = puzzle.write(codes)
        assert case.read(written) == board
        assert puzzle.parse(written) == puzzle.parse(json.loads(json.dumps(written))) == codes
        assert puzzle.parse(puzzle.line(codes)) == codes
        assert puzzle.parse(case.text(board)) == codes
        assert "\n" not in puzzle.line(codes)


@each_case
def test_moves_are_called_what_they_do(name):
    """What is done to the board as it is written; steps on the way are moves of that piece."""
    puzzle, case, boards = made(name)
    for _, codes in some_of(boards, 40):
        written = puzzle.write(codes)
        for there in after_one_move(name, codes):
            steps = puzzle.notation.steps(codes, there)
            assert steps[-1] == puzzle.notation.follow(codes, there)
            done = case.do(written, puzzle.notation.name_move(codes, there))
            if case.table.get("metric") == "labelled":
                assert case.read(done) == read(puzzle, case, there)
                continue
            assert done == puzzle.write(steps[-1])
            assert read(puzzle, case, steps[-1]) == read(puzzle, case, there)
            assert (
                all(sorted(step) == sorted(codes) for step in steps) or puzzle.notation.names_moves
            )
            assert all(a != b for a, b in zip([codes, *steps], steps, strict=False))


@each_case
def test_pictures_show_the_board(name):
    """Each piece with its cells and its label, and nothing else."""
    puzzle, _, boards = made(name)
    for _, codes in some_of(boards, 30):
        picture = puzzle.notation.picture(codes)
        assert len(picture.places) == len(set(picture.places)) == puzzle.cells
        numbers = puzzle.notation.pieces.numbers(np.array(codes)).tolist()
        assert {piece.code: {*piece.cells} for piece in picture.pieces} == {
            number: {cell for cell, here in enumerate(numbers) if here == number}
            for number in set(numbers) - {0}
        }
        marks = puzzle.notation.labels_on(codes)
        for piece in picture.pieces:
            (mark,) = {str(marks[cell]) for cell in piece.cells}
            assert mark.partition("+")[0] == piece.name
            assert piece.label in (mark, "")
            assert piece.kind is None or 0 <= piece.kind < picture.kinds
        assert picture.open == ()


@each_case
def test_goals_and_start_are_written_as_they_were_given(name):
    puzzle, case, _ = made(name)
    given = case.table.get("goals") or [case.table[key] for key in ("goal",) if key in case.table]
    for goal, board in zip(given, puzzle.goals, strict=bool(given)):
        if "?" in flattened(goal):
            assert flattened(puzzle.write(board)) == flattened(goal)
        else:
            assert puzzle.parse(goal) == board
        shown = puzzle.notation.picture(board)
        assert len(shown.open) == flattened(goal).count("?")
    assert puzzle.start == (puzzle.parse(case.table["start"]) if case.start else None)


def flattened(board):
    """The marks of a board, whichever way its rows are parted."""
    if isinstance(board, list):
        return "".join(map(flattened, board))
    return "".join(str(board).replace("/", " ").split())


@each_case
def test_text_that_is_no_board_is_refused(name):
    puzzle, case, boards = made(name)
    ((board, _),) = some_of(boards, 1)
    between = " " if " " in case.text(board) else ""
    marks = case.text(board).split() if between else list(case.text(board))
    for text in (marks[:-1], [*marks, marks[0]], ["%", *marks[1:]], []):
        with pytest.raises(InputError):
            puzzle.parse(between.join(text))
    for value in (7, None, [[]], {"%": 1}):
        with pytest.raises(InputError):
            puzzle.parse(value)


# --- puzzles whose boards are too many to be listed

CONFIGURED = [
    *("2x7", "4x4", "goat", "hakoiri", "rush-hour", "hexagram", "honeycomb"),
    *("pancake-9", "topspin-9", "cube-2x2x2", "pattern-2x7-k3", "pattern-2x5-k2"),
]
COMPLETE = [[v for v in range(12) if v != u] for u in range(12)]
RING = [[(u + 1) % 10, (u - 1) % 10] for u in range(10)]
TEN = ["ten", "ten", "b", "b", "c", "c", "d", "e", "f", "2", "."]
OTHERS = {
    "two classes": lambda: block_puzzle("abAA#/cBB.d/..#CC", metric="path"),
    "two like blocks": lambda: block_puzzle("ahBB/bge./dkfw", alike=("hk",)),
    "all cells joined": lambda: graph_puzzle(COMPLETE, "abcdefghij.k"),
    "colours on a ring": lambda: graph_puzzle(RING, "abcddeeff."),
    "any colours": lambda: graph_puzzle(WILSON, "???????", start="aabbcc."),
    "many cells": lambda: cell_puzzle(TRAPEZE, HEXAGON_MOVES, "aabbccdefg.", alike=["abc", "dg"]),
    "long labels": lambda: cell_puzzle(TRAPEZE, HEXAGON_MOVES, TEN),
    "turned by thirds": lambda: permutation_puzzle(**PYRAMINX, closed=True),
    "distinct and like": lambda: permutation_puzzle(
        {"a": "(1 2 3 4 5)(6 7 8)", "b": "(1 2)"}, closed=True, goal="aabcdefg"
    ),
    "turned and like": lambda: permutation_puzzle(
        {"a": {"moves": "(1 2 3 4)", "turns": [1, 0, 0, 0]}},
        orientations=4, closed=True, goal=["ten", "x", "x", "x"],
    ),
}  # fmt: skip


@cache
def larger(name):
    if name in OTHERS:
        return OTHERS[name]()
    return load_config(CONFIGS / f"{name}.toml").make_puzzle()


def random_state(rng, model):
    """A random state; of a permutation puzzle, whose colours are not free, one of its orbit."""
    graph, reach = model.graph, model.reach
    if isinstance(reach, Orbits):
        return reach.space.state(0, rng.randrange(reach.space.states))
    return rng.randrange(graph.vertices), random_sequence(rng, graph.m, graph.smaller)


@given(st.sampled_from([*CONFIGURED, *OTHERS]), st.randoms(use_true_random=False))
def test_states_are_boards_and_texts(name, rng):
    """Of all states, also of those that cannot be reached."""
    puzzle = larger(name)
    state = random_state(rng, puzzle.model)
    board = puzzle.model.board(state)
    assert puzzle.model.state(board) == state
    assert puzzle.notation.pieces.settled(board) == board
    assert like_in_order(puzzle, board)
    assert puzzle.parse(puzzle.write(board)) == board
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == board
    assert puzzle.parse(puzzle.line(board)) == board
