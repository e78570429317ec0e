"""Permutation puzzles: whole searches against dictionaries and known tables, texts, refusals."""

import json
import random
import tomllib
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest
from engine import bitmap_sizes, boards_at, graph_of, list_layers
from hypothesis import given
from hypothesis import strategies as st
from making import invoke
from puzzles.permutation_twins import (
    PYRAMINX,
    burnt_pancakes,
    pancakes,
    permutation_layers,
    topspin,
    undone,
)
from sweeps import swept
from twins import layers_of as layers_by_dictionary

from frontier.errors import InputError
from frontier.puzzles import Permutations, puzzle_of
from frontier.puzzles.arrangements import neighbour_swaps
from frontier.puzzles.board_shapes import MOST_SHAPES
from frontier.space.graph import Space
from frontier.space.layout import Layout

CONFIGS = Path(__file__).parents[2] / "configs"


def origins_of(puzzle):
    side, numbers = puzzle.space.numbers(*puzzle.origins())
    return list(zip(side.tolist(), numbers.tolist(), strict=True))


def sizes_of(puzzle):
    """The states of each layer, by bitmaps."""
    space = puzzle.space
    layout = Layout(space, 0, -(-max(space.nodes) // 3))
    sizes = bitmap_sizes(space, origins_of(puzzle), layout, threads=2)
    assert sum(sizes) == puzzle.states
    return sizes


def marks(board):
    """A board of the twin, as the puzzle writes it."""
    return " ".join(f"{label}+{turned}" if turned else label for label, turned in board)


def layers_of(puzzle):
    """The boards of each layer, by the list kernel; bitmaps must find as many."""
    layers = list_layers(puzzle.space, origins_of(puzzle))
    assert [layer.size for layer in layers] == sizes_of(puzzle)
    return [
        {
            " ".join(puzzle._labels_on(board))
            for board in boards_at(puzzle.space, puzzle, puzzle.space.side_of(depth), found)
        }
        for depth, found in enumerate(layers)
    ]


def assert_layers(moves, orientations, goals, **settings):
    """The engine finds what a dictionary finds. moves: of the twin, inverses left out."""
    puzzle = Permutations(
        {f"m{n}": {"moves": image, "turns": turns} for n, (image, turns) in enumerate(moves)},
        orientations=orientations,
        closed=True,
        goals=[[f"{label}+{turned}" if turned else label for label, turned in g] for g in goals],
        **settings,
    )
    moves = [*moves, *map(undone, moves)]
    expected = permutation_layers(moves, orientations, goals)
    assert layers_of(puzzle) == [set(map(marks, layer)) for layer in expected]
    return puzzle


def random_moves(rng, positions, orientations):
    """Moves that differ from each other and from doing nothing."""
    swap = [2, 1, *range(3, positions + 1)]
    found = [(swap, [0] * positions)] if rng.random() < 0.5 else []
    while len(found) < rng.randint(1, 3):
        image = list(range(1, positions + 1))
        some = rng.sample(range(positions), rng.randint(0, positions))
        for i, j in zip(some, rng.sample(some, len(some)), strict=True):
            image[i] = j + 1
        turns = [rng.randrange(orientations) for _ in range(positions)]
        if (image, turns) not in [*found, (sorted(image), [0] * positions)]:
            found.append((image, turns))
    return found


# --- whole searches


@swept("seed", range(120), few=30)
def test_random_puzzles(seed):
    rng = random.Random(seed)
    positions, orientations = rng.randint(2, 5), rng.choice([1, 1, 2, 3])
    moves = random_moves(rng, positions, orientations)
    labels = "abcde"[:positions]
    if seed % 3:
        labels = [rng.choice("abcde"[: rng.randint(1, 5)]) for _ in range(positions)]
    goal = tuple((label, rng.randrange(orientations)) for label in labels)
    assert_layers(moves, [orientations] * positions, [goal])


@swept("number", range(2, 9), few=[2, 3, 4, 5])
def test_pancakes_by_dictionary(number):
    moves = [(image, [0] * number) for image in pancakes(number)["generators"].values()]
    goal = tuple((str(n + 1), 0) for n in range(number))
    puzzle = assert_layers(moves, [1] * number, [goal])
    assert (puzzle.graph.vertices, puzzle.graph.length) == (1, number)


@swept("number", range(1, 7), few=[1, 2, 3, 4])
def test_burnt_pancakes_by_dictionary(number):
    settings = burnt_pancakes(number)["generators"].values()
    moves = [(of["moves"], of["turns"]) for of in settings]
    goal = tuple((str(n + 1), 0) for n in range(number))
    puzzle = assert_layers(moves, [2] * number, [goal])
    assert puzzle.graph.vertices == 2**number


@swept("number", range(4, 9), few=[4, 5, 6])
def test_topspin_by_dictionary(number):
    moves = [(image, [0] * number) for image in topspin(number)["generators"].values()]
    assert_layers(moves, [1] * number, [tuple((str(n), 0) for n in range(number))])


def test_like_pieces_and_several_goals():
    moves = [([2, 3, 4, 5, 1], [0] * 5), ([2, 1, 3, 4, 5], [0] * 5)]
    goals = [tuple((label, 0) for label in text) for text in ("aabbc", "cbbaa")]
    puzzle = assert_layers(moves, [1] * 5, goals)
    assert puzzle.states == 5 * comb(4, 2)


def test_two_orbits_with_distinct_and_like_pieces():
    moves = [([2, 3, 1, 5, 6, 4, 7], [0] * 7), ([2, 1, 3, 4, 5, 6, 7], [0] * 7)]
    for labels in ("abcdefg", "aabdefg", "abcabcg", "abcaacg", "aaaaaaa"):
        assert_layers(moves, [1] * 7, [tuple((label, 0) for label in labels)])


PANCAKES = {
    1: [1],
    2: [1, 1],
    3: [1, 2, 2, 1],
    4: [1, 3, 6, 11, 3],
    5: [1, 4, 12, 35, 48, 20],
    6: [1, 5, 20, 79, 199, 281, 133, 2],
    7: [1, 6, 30, 149, 543, 1357, 1903, 1016, 35],
    8: [1, 7, 42, 251, 1191, 4281, 10561, 15011, 8520, 455],
    9: [1, 8, 56, 391, 2278, 10666, 38015, 93585, 132697, 79379, 5804],
    10: [1, 9, 72, 575, 3963, 22825, 106461, 377863, 919365, 1309756, 814678, 73232],
    11: [
        1, 10, 90, 809, 6429, 43891, 252737, 1174766, 4126515, 9981073, 14250471, 9123648,
        956354, 6,
    ],
}  # fmt: skip
"""OEIS A092113; the God's numbers are A058986."""


@swept("number", range(2, 12), few=range(2, 9))
def test_pancakes(number):
    assert sizes_of(Permutations(**pancakes(number))) == PANCAKES[number]


@swept(
    ("number", "depth"),
    [*enumerate((1, 4, 6, 8, 10, 12, 14, 15), start=1)],
    few=[(1, 1), (2, 4), (3, 6), (4, 8), (5, 10), (6, 12)],
)
def test_burnt_pancakes(number, depth):
    """OEIS A078942."""
    sizes = sizes_of(Permutations(**burnt_pancakes(number)))
    assert (len(sizes) - 1, sum(sizes)) == (depth, 2**number * factorial(number))


HALF_TURNS = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
QUARTER_TURNS = [
    1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276,
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize(("sizes", "turns"), [(HALF_TURNS, "URF"), (QUARTER_TURNS, "")])
def test_cube(sizes, turns):
    settings = tomllib.loads((CONFIGS / "cube-2x2x2.toml").read_text())["puzzle"]
    kept = {*"URF", *(f"{face}2" for face in turns)}
    settings["generators"] = {
        name: of for name, of in settings["generators"].items() if name in kept
    }
    puzzle = puzzle_of(settings)
    assert (puzzle.states, puzzle.graph.vertices) == (3_674_160, 3**6)
    assert sizes_of(puzzle) == sizes


def test_cube_has_all_its_positions():
    puzzle = puzzle_of(tomllib.loads((CONFIGS / "cube-2x2x2.toml").read_text())["puzzle"])
    assert (puzzle.states, len(puzzle.generators)) == (3_674_160, 9)
    first = list_layers(puzzle.space, origins_of(puzzle), 4)
    assert [layer.size for layer in first] == HALF_TURNS[:5]


@pytest.mark.sweep
def test_pyraminx():
    puzzle = Permutations(**PYRAMINX, closed=True)
    known = [1, 8, 48, 288, 1728, 9896, 51808, 220111, 480467, 166276, 2457, 32]
    assert sizes_of(puzzle) == known


@swept(("rows", "columns"), [(2, 2), (2, 3), (3, 3), (3, 4), (4, 4)], few=3)
def test_lights_out(rows, columns):
    """No piece moves: a button turns its own lamp and the neighbours'."""
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    buttons = [[int(abs(r - y) + abs(c - x) < 2) for y, x in cells] for r, c in cells]
    puzzle = Permutations(
        {f"b{n}": {"turns": turns} for n, turns in enumerate(buttons)},
        orientations=2,
        goal=["o"] * len(cells),
    )
    assert puzzle.graph.length == 0
    expected = permutation_layers(
        [([*range(1, len(cells) + 1)], turns) for turns in buttons],
        [2] * len(cells),
        [(("o", 0),) * len(cells)],
    )
    assert layers_of(puzzle) == [set(map(marks, layer)) for layer in expected]


@swept("disks", range(1, 8), few=4)
def test_hanoi_is_a_base_graph_alone(disks):
    """What a move may do depends on what lies where: no generators, but a vertex each position."""
    pegs = 4

    def moves(position):
        for disk, peg in enumerate(position):
            if peg not in position[:disk]:  # no smaller one lies on it
                for to in range(pegs):
                    if to != peg and to not in position[:disk]:
                        yield (*position[:disk], to, *position[disk + 1 :])

    goal = (0,) * disks
    layers = layers_by_dictionary([goal], moves)
    number = {position: n for n, position in enumerate(sorted(set().union(*layers)))}
    arcs = [(number[p], number[q], ()) for p in number for q in moves(p)]
    space = Space(graph_of(len(number), 0, arcs), [(0, 0)])
    sizes = [len(layer) for layer in layers]
    assert [layer.size for layer in list_layers(space, [space.number(0, ())])] == sizes
    assert bitmap_sizes(space, [space.number(0, ())], Layout(space, 0, 100)) == sizes
    assert len(sizes) - 1 == [1, 3, 5, 9, 13, 17, 25][disks - 1]


# --- generators


@given(st.permutations(range(1, 9)), st.randoms(use_true_random=False))
def test_cycles_and_images_agree(image, rng):
    """Cycles may begin anywhere and stand in any order; positions that stay may be left out."""
    if image == sorted(image):
        return
    cycles, left = [], set(image)
    while left:
        cycle = [rng.choice(sorted(left))]
        while (to := image[cycle[-1] - 1]) != cycle[0]:
            cycle.append(to)
        left -= set(cycle)
        if len(cycle) > 1 or rng.random() < 0.5:
            cycles.append(cycle)
    rng.shuffle(cycles)
    text = " ".join("(" + rng.choice([" ", ", "]).join(map(str, cycle)) + ")" for cycle in cycles)
    one = Permutations({"g": image}, closed=True)
    other = Permutations({"g": text}, positions=8, closed=True)
    assert [g.effect for g in one.generators] == [g.effect for g in other.generators]
    board = np.array(one.goals)
    assert (one.generators[0].moved(board)[0][np.array(image) - 1] == board[0]).all()


@given(st.permutations(range(7)))
def test_neighbour_swaps(permutation):
    row = list(range(7))
    swaps = neighbour_swaps(permutation)
    for i in swaps:
        row[i], row[i + 1] = row[i + 1], row[i]
    assert row == list(permutation)
    inversions = sum(permutation[j] < permutation[i] for i in range(7) for j in range(i, 7))
    assert len(swaps) == inversions


def test_inverses_that_are_added():
    puzzle = Permutations({"a": "(1 2 3)", "b": "(1 2)"}, closed=True)
    assert [g.name for g in puzzle.generators] == ["a", "b", "a'"]
    both = Permutations({"a": "(1 2 3)", "c": "(3 2 1)"})
    assert [g.name for g in both.generators] == ["a", "c"]
    turned = Permutations({"a": {"turns": [1, 0]}}, orientations=3, closed=True)
    assert [g.turns for g in turned.generators] == [(1, 0), (2, 0)]


REFUSED = [
    ({"a": "(1 2 3)"}, {}, r"puzzle\.generators\.a has no inverse among .*closed = true"),
    ({"a": "(1 2 3)", "a'": "(1 2)"}, {"closed": True}, r"a' is not the inverse of a"),
    ({"a": "(1 2)", "b": [2, 1]}, {}, r"generators\.b does what a does"),
    ({}, {}, r"puzzle\.generators = \{\}: expected a table"),
    ({"a": "1 2"}, {}, r"generators\.a = '1 2': expected cycles"),
    ({"a": "(1 2)(2 3)"}, {}, r"names position 2 twice"),
    ({"a": "(0 1)"}, {}, r"positions are counted from 1"),
    ({"a": [2, 2]}, {}, r"a = \[2, 2\]: an image has each of the numbers 1\.\.2 once"),
    ({"a": [1, 2]}, {}, r"generators\.a moves nothing"),
    ({"a": 3}, {}, r"depends on what lies where is none of this kind"),
    ({"a b": "(1 2)"}, {}, r"'a b' is no label"),
    ({"a": "(1 2)"}, {"positions": 1}, r"names position 2: this puzzle has 1 position$"),
    ({"a": "(1 65)"}, {}, r"has 65 positions: 1\.\.64 are supported"),
    ({"a": "(1 2)"}, {"orientations": 8}, r"has 1\.\.7 orientations, not 8"),
    ({"a": "(1 2)"}, {"orientations": [2]}, r"one for each of the 2 positions"),
    ({"a": "(1 2)"}, {"orientations": [2, 1]}, r"from position 1 to 2, where it has 1 orient"),
    ({"a": {"moves": "(1 2)", "turns": [1, 0, 0]}}, {"positions": 2}, r"one for each of 2 pos"),
    ({"a": {"moves": "(1 2)", "turns": [1, 0]}}, {}, r"turns: 1 for the piece in position 1"),
    ({"a": {"moves": "(1 2)", "turns": "1"}}, {}, r"turns = '1': expected a list of numbers"),
    ({"a": {"move": "(1 2)"}}, {}, r"a\.move: a generator has moves and turns"),
    ({"a": "(1 2)"}, {"goal": "abc"}, r"puzzle\.goal = 'abc' has 3 labels"),
    ({"a": "(1 2)"}, {"goal": "a?"}, r"\? stands for no piece here; .*equal labels"),
    ({"a": "(1 2)"}, {"goal": "ab", "start": "aa"}, r"start = aa: 'a' in position 2 is one too"),
    ({"a": "(1 2)(3 4)"}, {"goal": "abcd", "start": "cbad"}, r"'c' in position 1 is one too"),
    ({"a": "(1 2)"}, {"goals": ["ab", "ac"]}, r"'c' in position 2 is one too many, or cannot come"),
    ({"a": "(1 2)"}, {"orientations": 2, "goal": ["a+2", "b"]}, r"orientations 0\.\.1"),
    ({"a": "(1 2)"}, {"orientations": 2, "goal": ["a+1+1", "b"]}, r"ends as if it were turned"),
]  # fmt: skip


@pytest.mark.parametrize(("generators", "settings", "message"), REFUSED)
def test_puzzles_that_cannot_be(generators, settings, message):
    with pytest.raises(InputError, match=message):
        Permutations(generators, **settings)


def test_too_many_arrangements():
    swaps = {f"s{n}": f"({n} {n + 1})" for n in range(1, 26)}
    with pytest.raises(InputError, match=f"more than {MOST_SHAPES:,} arrangements"):
        Permutations(swaps, goal="ab" * 13).graph  # noqa: B018


def test_a_start_that_cannot_be_reached():
    with pytest.raises(InputError, match=r"puzzle\.start = 132: .*cannot be reached"):
        Permutations({"a": "(1 2 3)"}, closed=True, start="132").check()
    turned = Permutations({"a": "(1 2)"}, orientations=2, start=["1+1", "2"])
    with pytest.raises(InputError, match=r"puzzle\.start = 1\+1 2: .*cannot be reached"):
        turned.check()
    puzzle = Permutations({"a": "(1 2 3)"}, closed=True, goals=["123", "132"], start="321")
    puzzle.check()
    assert [puzzle.line(puzzle.board((v, s))) for v, s in zip(*puzzle.origins(), strict=True)] == [
        "132"
    ]
    assert puzzle.from_anywhere().reaches(puzzle.parse("123"))


def test_what_is_said_of_a_search_that_ends_where_it_begins():
    assert Permutations({"a": "(1 2)"}, goal="aa").remark.startswith("every position that can")
    assert Permutations({"a": "(1 2)"}).remark is None


# --- boards

LARGE = [
    Permutations(**pancakes(9)),
    Permutations(**burnt_pancakes(5)),
    Permutations(**PYRAMINX, closed=True),
    Permutations({"a": "(1 2 3 4 5)(6 7 8)", "b": "(1 2)"}, closed=True, goal="aabcdefg"),
    Permutations(
        {"a": {"moves": "(1 2 3 4)", "turns": [1, 0, 0, 0]}},
        orientations=4, closed=True, goal=["ten", "x", "x", "x"],
    ),
]  # fmt: skip


@given(st.integers(0, len(LARGE) - 1), st.randoms(use_true_random=False))
def test_state_undoes_board(number, rng):
    puzzle = LARGE[number]
    board = puzzle.goals[0]
    for _ in range(12):
        generator = rng.choice(puzzle.generators)
        after = puzzle._after(generator, board)
        followed = puzzle.follow(board, puzzle._settled(after))
        assert puzzle._settled(followed) == puzzle._settled(after)
        assert followed in [puzzle._after(g, board) for g in puzzle.generators]
        name = puzzle.name_move(board, after)
        assert name in [g.name for g in puzzle.generators if puzzle._after(g, board) == after]
        board = after
    board = puzzle._settled(board)
    assert puzzle.board(puzzle.state(board)) == board
    assert puzzle.reaches(board)
    assert puzzle.parse(puzzle.write(board)) == board
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == board
    assert puzzle.parse(puzzle.line(board)) == board
    assert "\n" not in puzzle.line(board)


def test_codes_that_are_no_board():
    puzzle = Permutations({"a": "(1 2)(3 4)"})
    for board in ((1, 1, 3, 4), (3, 2, 1, 4), (5, 2, 3, 4), (0, 2, 3, 4)):
        with pytest.raises(InputError, match=r"each of the pieces 1\.\.4 must lie in it once"):
            puzzle.state(board)


def test_a_board_out_of_reach():
    puzzle = Permutations({"a": "(1 2)"}, orientations=2)
    assert not puzzle.reaches(puzzle.parse("1+1 2"))
    with pytest.raises(InputError, match=r"board 1\+1 2 cannot be reached"):
        puzzle.state(puzzle.parse("1+1 2"))


# --- as a user types it


def test_a_run_from_a_config(tmp_path):
    """It is whole, its answers are shortest, and boards are drawn as a row."""
    path = tmp_path / "run"
    settings = [f"store.path={path}", "search.keep=all", "cluster.kind=serial"]
    config = tmp_path / "burnt.toml"
    moves = burnt_pancakes(4)["generators"]
    lines = [
        f"{name} = {{moves = {of['moves']}, turns = {of['turns']}}}" for name, of in moves.items()
    ]
    config.write_text(
        'name = "burnt"\n[puzzle]\nkind = "permutations"\norientations = 2\n'
        "[puzzle.generators]\n" + "\n".join(lines),
        encoding="utf-8",
    )
    options = [word for setting in settings for word in ("--set", setting)]
    invoke("run", config, *options)
    assert "all sound" in invoke("verify", path, "--deep").stdout
    summary = json.loads((path / "summary.json").read_text())
    assert (summary["depth"], summary["states"]) == (8, 384)
    assert "1+1" in invoke("farthest", path).stdout
    assert "| 8 |" in invoke("report", path, "--markdown", "-").stdout
    for method in ("layers", "ida", "search"):
        asked = path if method == "layers" else config
        board = "1+1 2+1 3+1 4+1"
        answer = json.loads(invoke("solve", asked, board, "--method", method, "--json").stdout)
        assert answer["distance"] == 8
        assert set(answer["moves"]) <= set(moves)
    drawn = invoke("draw", config, "2+1 1 3 4").stdout
    assert "│ 2+1 │  1  │  3  │  4  │" in drawn
