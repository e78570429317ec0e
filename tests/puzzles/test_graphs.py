"""One blank on a graph: whole searches against dictionaries of boards, texts, what is refused."""

import random
import re
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from frontier.config.loading import load_config
from frontier.errors import InputError
from frontier.puzzles import graph_puzzle, puzzle_of
from frontier.space.layout import Layout
from tests.support.reference_cells import graph_layers, graph_moves, random_adjacency
from tests.support.reference_search import within_reach
from tests.support.sweeps import swept
from tests.support.whole_searches import bitmap_sizes, boards_at, list_layers

PATH = [[1], [0, 2], [1]]
TRIANGLE = [[1, 2], [0, 2], [0, 1]]
WILSON = [[1, 5, 6], [0, 2], [1, 3], [2, 4, 6], [3, 5], [4, 0], [0, 3]]
"""The graph whose group is not plain to see, on seven vertices (R. M. Wilson 1974)."""
STAR = [[1, 2, 3, 4], [0], [0], [0], [0]]
SQUARE = [[1, 3], [0, 2], [1, 3], [2, 0]]
APART = [[1, 2], [0, 2], [0, 1], [4], [3]]
HEXAGRAM = Path(__file__).parents[2] / "configs" / "hexagram.toml"


def labels(puzzle, board):
    return tuple(puzzle.notation.labels[code] for code in board)


def layers_of(puzzle):
    """The boards of each layer as labels, by the list kernel; bitmaps must find as many."""
    space = puzzle.model.space
    side, numbers = space.numbers(*puzzle.model.origins())
    origins = list(zip(side.tolist(), numbers.tolist(), strict=True))
    layers = list_layers(space, origins)
    sizes = [layer.size for layer in layers]
    assert sum(sizes) == puzzle.states
    layout = Layout(space, 0, -(-max(space.nodes) // 3))
    assert bitmap_sizes(space, origins, layout, threads=2) == sizes
    return [
        {labels(puzzle, board) for board in boards_at(space, puzzle, space.side_of(depth), found)}
        for depth, found in enumerate(layers)
    ]


def agree(board, goal):
    """Whether a board looks like a goal wherever that does not show a ?."""
    return all(mark in ("?", label) for label, mark in zip(board, goal, strict=True))


def assert_layers(adjacency, boards, start=None):
    """The engine finds what a dictionary finds from these goals, some of them given in part."""
    puzzle = graph_puzzle(adjacency, goals=boards, start=start)
    every = set(permutations(start or boards[0]))
    origins = {board for goal in boards for board in every if agree(board, goal)}
    if start is not None:
        origins = within_reach(origins, tuple(start), lambda at: graph_moves(adjacency, at))
    expected = graph_layers(adjacency, origins)
    found = layers_of(puzzle)
    assert [len(layer) for layer in found] == [len(layer) for layer in expected]
    assert found == expected
    reached = set().union(*expected)
    for board in random.Random(len(every)).sample(sorted(every), min(len(every), 60)):
        assert puzzle.model.reaches(puzzle.parse(list(board))) == (board in reached)
    return puzzle


# --- whole searches


@pytest.mark.sweep
def test_hexagram():
    config = load_config(HEXAGRAM)
    settings = config.puzzle
    puzzle = config.make_puzzle()
    goal = tuple("BBBBBBSWWWWWW".replace("S", "."))
    expected = graph_layers(settings.adjacency, [goal])
    found = [
        {tuple("." if mark == "S" else mark for mark in board) for board in layer}
        for layer in layers_of(puzzle)
    ]
    assert found == expected
    assert (len(found) - 1, sum(map(len, found)), len(found[-1])) == (30, 12_012, 7)
    assert puzzle.line(puzzle.start).replace("S", ".") == "".join(reversed(goal))


BOARDS = {
    "path, all different": (PATH, ["ab."]),
    "path, alike": (PATH, ["aa."]),
    "path, two orders": (PATH, ["ab.", "ba."]),
    "triangle": (TRIANGLE, ["ab."]),
    "star": (STAR, [".abcd"]),
    "square": (SQUARE, ["ab.c"]),
    "square, some alike": (SQUARE, ["aa.c"]),
    "apart": (APART, ["ab.cd"]),
    "apart, several goals": (APART, ["ab.cd", "abdc."]),
    "Wilson's graph": (WILSON, ["abcdef."]),
    "Wilson's graph, two colours": (WILSON, ["aaabbb."]),
    "Wilson's graph, two different and some alike": (WILSON, ["abcccc."]),
    "Wilson's graph, three different and two colours": (WILSON, ["abcddf."]),
    "one cell": ([[]], ["."]),
    "two cells": ([[1], [0]], [".a"]),
    "no edges": ([[], [], []], ["a.b"]),
}


@pytest.mark.parametrize("name", BOARDS)
def test_boards(name):
    assert_layers(*BOARDS[name])


def test_one_blank_on_wilsons_graph():
    """All 7! positions of most graphs of seven cells, but only 840 of this one."""
    assert graph_puzzle(WILSON, "abcdef.").states == 840
    odd = [[*neighbours] for neighbours in WILSON]
    odd[1].append(4)
    odd[4].append(1)
    assert graph_puzzle(odd, "abcdef.").states == factorial(7)


@swept("seed", range(25), few=4)
def test_random_graphs(seed):
    rng = random.Random(seed)
    cells = rng.randint(2, 6)
    adjacency = random_adjacency(rng, cells)
    board = [rng.choice("abcde"[: rng.randint(1, 5)]) for _ in range(cells)]
    if seed % 2:
        board = list("abcdef"[:cells])
    board[rng.randrange(cells)] = "."
    goals = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        hidden = rng.choice([0.0, 0.4, 0.8])
        goal = rng.sample(board, cells)
        goals.append("".join("?" if rng.random() < hidden else label for label in goal))
    assert_layers(adjacency, goals, "".join(board))


def test_what_is_said_of_a_search_that_ends_where_it_begins():
    for puzzle, begin in (
        (graph_puzzle([[1], [0], []], "ab."), "no move is possible from depth 0"),
        (graph_puzzle([[]], "."), "no move is possible"),
        (graph_puzzle(PATH, "???", start="ab."), "every position that can be reached"),
    ):
        (remark,) = puzzle.remarks
        assert remark.startswith(begin)
    assert graph_puzzle(PATH, "ab.").remarks == []
    assert graph_puzzle([[1], [0], []], ".?b", start="a.b").remarks == []


@pytest.mark.parametrize("goal", ["???.", "a???", "??b.", "????", "?a?b"])
@pytest.mark.parametrize("start", ["abc.", "aab.", "abb."])
def test_goals_in_parts(goal, start):
    puzzle = assert_layers(SQUARE, [goal], start)
    assert puzzle.line(puzzle.goals[0]) == goal
    assert puzzle.line(puzzle.start) == start


# --- boards and states

COLOURED = [
    (WILSON, "abcdef."),
    (WILSON, "abcddd."),
    (WILSON, "aabbcc."),
]


@swept(
    ("adjacency", "start"),
    COLOURED[::-1],
    few=1,
)
def test_boards_and_states_correspond_one_to_one(adjacency, start):
    puzzle = graph_puzzle(adjacency, "?" * len(start), start=start)
    boards = [puzzle.parse(list(board)) for board in set(permutations(start))]
    vertex, sequence = puzzle.model.states_of(np.array(boards))
    states = set(zip(vertex.tolist(), map(tuple, sequence.tolist()), strict=True))
    assert (
        len(states) == len(boards) == puzzle.model.graph.vertices * factorial(puzzle.model.graph.m)
    )
    assert list(map(tuple, puzzle.model.boards_of(vertex, sequence).tolist())) == boards


# --- texts


def test_ways_to_write_a_board():
    puzzle = graph_puzzle(PATH, "ab.")
    assert puzzle.goals == ((1, 2, 0),)
    for notation in ("ab.", "a b .", "a,b,.", "a/b/.", ["a", "b", "."], "ab_", "ab·", "ab□"):
        assert puzzle.parse(notation) == (1, 2, 0)
    assert puzzle.write((2, 1, 0)) == puzzle.line((2, 1, 0)) == "ba."


def test_a_blank_with_a_label_of_its_own():
    puzzle = graph_puzzle(PATH, "aSb", blank="S")
    assert puzzle.goals == ((1, 0, 2),)
    assert puzzle.parse("Sab") == puzzle.parse(".ab") == (0, 1, 2)
    assert puzzle.line((0, 1, 2)) == "Sab"


def test_labels_of_several_letters():
    puzzle = graph_puzzle(PATH, ["ten", ".", "2"])
    board = puzzle.parse("2 ten .")
    assert puzzle.write(board) == ["2", "ten", "."]
    assert puzzle.parse(puzzle.line(board)) == puzzle.parse(puzzle.write(board)) == board
    assert graph_puzzle(PATH, [1, ".", 2]).write((1, 2, 0)) == "12."


def test_labels_that_are_figures():
    puzzle = graph_puzzle(PATH, [1, 2, 0], blank="0")
    for board in ((1, 2, 0), (2, 0, 1)):
        assert puzzle.parse(puzzle.line(board)) == puzzle.parse(puzzle.write(board)) == board
    assert graph_puzzle(PATH, ["a", "b?", "."]).line((2, 1, 0)) == "b? a ."


@pytest.mark.parametrize("label", ["", " ", "a b", "a\n", "\u3000", "/", "a/b", ",", "a,"])
def test_labels_that_no_text_can_hold(label):
    said = re.escape(
        f"{label!r} is not a label; a label needs at least one letter, and no spaces, / or"
    )
    goals = {"goal": ["a", label, "."], "goals": [["a", "b", "."], ["a", label, "."]]}
    for key, boards in goals.items():
        with pytest.raises(InputError, match=rf"puzzle\.{key} = .*: {said}"):
            graph_puzzle(PATH, **{key: boards})
    with pytest.raises(InputError, match=rf"puzzle\.start = .*: {said}"):
        graph_puzzle(PATH, "ab.", start=["a", label, "."])
    with pytest.raises(InputError, match=rf"board = .*: {said}"):
        graph_puzzle(PATH, "ab.").parse(["a", label, "."])
    with pytest.raises(InputError, match=rf"puzzle\.blank: {said}"):
        graph_puzzle(PATH, ["a", "b", label], blank=label)


def test_a_mark_that_stands_for_anything_is_no_label():
    with pytest.raises(InputError, match=r"puzzle\.blank = '\?': \? is reserved"):
        graph_puzzle(PATH, ["a", "b", "?"], blank="?")


def test_title():
    assert graph_puzzle(PATH, "ab.").title == "graph of 3 cells, 2 kinds of tiles"
    assert graph_puzzle(PATH, "aa.").title == "graph of 3 cells, 1 kind of tiles"


def test_puzzle_of_settings():
    settings = {"kind": "graph", "adjacency": PATH, "goal": "ab."}
    puzzle = puzzle_of(settings)
    assert puzzle.kind == "graph"
    assert puzzle.goals == ((1, 2, 0),)
    assert settings["kind"] == "graph"


# --- what is refused

REFUSED = [
    ([], "", r"puzzle\.adjacency has 0 cells: 1\.\.64"),
    ([[1], [0, 3], [1]], "ab.", r"cell 1 names 3 as a neighbour; .*0\.\.2"),
    ([[1], [0, -1], [1]], "ab.", r"cell 1 names -1 as a neighbour"),
    ([[0]], ".", "cell 0 names 0 as a neighbour; expected another cell"),
    ([[1, 1], [0, 0]], "a.", "cell 0 names a neighbour twice"),
    (PATH, "a..", r"puzzle\.goal = a\.\. has 2 blanks: expected one"),
    (PATH, "abc", r"puzzle\.goal = abc has 0 blanks: expected one"),
    (PATH, "...", "has 3 blanks"),
    (PATH, "ab", r"puzzle\.goal = 'ab' has 2 labels: expected one for each of the 3 cells"),
    (PATH, "abc.", r"puzzle\.goal = 'abc\.' has 4 labels"),
    (PATH, ["a", "b"], r"puzzle\.goal = \['a', 'b'\] has 2 labels"),
    (PATH, "a??", r"no board shows all pieces.*puzzle\.start without"),
    (PATH, None, r"either puzzle\.goal or puzzle\.goals"),
]


@pytest.mark.parametrize(("adjacency", "goal", "message"), REFUSED)
def test_puzzles_that_cannot_be(adjacency, goal, message):
    with pytest.raises(InputError, match=message):
        graph_puzzle(adjacency, goal)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"goals": ["ab.", "ac."]},
            r"puzzle\.goals = ac\.: 'c' is not a piece of this puzzle; its pieces are a b$",
        ),
        ({"goals": ["ab.", "aa."]}, r"puzzle\.goals = aa\.: 'a' appears more than 1 time"),
        ({"goals": ["ab.", "aa?"]}, r"puzzle\.goals = aa\?: 'a' appears more than 1 time"),
        ({"goals": ["ab.", "..?"]}, r"puzzle\.goals = \.\.\? has 2 blanks"),
        ({"goal": "ab.", "goals": ["ab."]}, r"either puzzle\.goal or puzzle\.goals"),
        (
            {"goal": "ab.", "start": "a?."},
            r"puzzle\.start = a\?\.: '\?' is not a piece of this puzzle",
        ),
        ({"goal": "ab.", "start": "ax."}, r"puzzle\.start = ax\.: 'x' is not a piece"),
        ({"goal": "ab.", "start": "a.."}, r"puzzle\.start = a\.\. has 2 blanks"),
        ({"goal": "ab.", "start": "a."}, r"puzzle\.start = 'a\.' has 2 labels"),
        ({"goal": "ab.", "picture": "0 1"}, r"puzzle\.picture must show each of the cells 0\.\.2"),
        ({"goal": "ab.", "picture": "0 1 1 2"}, r"once; it shows \[0, 1, 1, 2\]"),
        ({"goal": "ab.", "picture": "0 1 2 3"}, r"once; it shows \[0, 1, 2, 3\]"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        graph_puzzle(PATH, **settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aa.", "'a' appears more than 1 time"),
        ("ac.", "'c' is not a piece"),
        ("a?.", r"'\?' is not a piece"),
        ("a..", "has 2 blanks"),
        ("a.", "expected one for each of the 3 cells"),
        ("", "has 0 labels"),
    ],
)
def test_boards_of_another_puzzle(text, message):
    with pytest.raises(InputError, match=message):
        graph_puzzle(PATH, "ab.").parse(text)


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ((1, 1, 0), r"board \[1, 1, 0\]: every piece of ab\. must appear once, whole"),
        ((1, 2, 9), r"board \[1, 2, 9\]: codes are 0 \(empty\) and 1\.\.2"),
        ((1, 0, 0), r"board \[1, 0, 0\]: every piece of ab\."),
        ((1, 2, 2), r"board \[1, 2, 2\]: every piece of ab\."),
        ((-1, 1, 2), r"board \[-1, 1, 2\]: codes are 0 \(empty\) and 1\.\.2"),
    ],
)
def test_codes_that_are_no_board(board, message):
    puzzle = graph_puzzle(PATH, "ab.")
    for ask in (puzzle.model.state, puzzle.model.reaches):
        with pytest.raises(InputError, match=message):
            ask(board)


def test_a_start_that_cannot_be_reached():
    with pytest.raises(InputError, match=r"puzzle\.start = ba\.: .*cannot be reached"):
        graph_puzzle(PATH, "ab.", start="ba.").check()
    graph_puzzle(TRIANGLE, "ab.", start="ba.").check()
    graph_puzzle(PATH, "aa.", start=".aa").check()
