"""Permutation puzzles: generators in cycles and as images, their inverses, and what is refused."""

import json
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontier
from frontier.errors import InputError
from frontier.puzzles import permutation_puzzle, puzzle_of
from frontier.puzzles.formats import puzzle_table
from frontier.puzzles.permutations import neighbour_swaps
from tests.support.commands import invoke
from tests.support.reference_permutations import CUBE_3


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
    one = permutation_puzzle({"g": image}, closed=True)
    other = permutation_puzzle({"g": text}, positions=8, closed=True)
    assert [g.effect for g in one.notation.generators] == [
        g.effect for g in other.notation.generators
    ]
    board = np.array(one.goals)
    assert (one.notation.generators[0].moved(board)[0][np.array(image) - 1] == board[0]).all()


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
    puzzle = permutation_puzzle({"a": "(1 2 3)", "b": "(1 2)"}, closed=True)
    assert [g.name for g in puzzle.notation.generators] == ["a", "b", "a'"]
    both = permutation_puzzle({"a": "(1 2 3)", "c": "(3 2 1)"})
    assert [g.name for g in both.notation.generators] == ["a", "c"]
    turned = permutation_puzzle({"a": {"turns": [1, 0]}}, orientations=3, closed=True)
    assert [g.turns for g in turned.notation.generators] == [(1, 0), (2, 0)]


def remarks_on(generators, **settings):
    puzzle = permutation_puzzle(generators, **settings)
    return [generator.name for generator in puzzle.notation.generators], puzzle.remarks


def test_generators_that_say_one_thing_twice():
    begin = "puzzle.generators has duplicates, which count once: "
    twins = {"s": "(1 2)", "w": [2, 1], "s'": "(2 1)"}
    known = ["s"], [f"{begin}w is the same as s, s' is the same as s"]
    assert remarks_on(twins) == remarks_on(twins, closed=True) == known
    powers = {"a": "(1 2 3 4)", "half": "(1 3)(2 4)", "a'": "(4 3 2 1)", "b": "(1 2)"}
    names, remarks = remarks_on(powers, metric="powers")
    assert names == ["a", "a2", "a'", "b"]
    assert remarks == [f"{begin}half is a power of a, a' is a power of a"]
    assert remarks_on(powers) == (["a", "half", "a'", "b"], [])
    taken = {"a": "(1 2 3 4)", "a2": "(1 2)"}  # a name that a power would have
    assert remarks_on(taken, metric="powers")[0] == ["a", "a^2", "a'", "a2"]


def test_commands_warn_of_generators_that_say_one_thing_twice(tmp_path):
    text = 'name = "twice"\n[puzzle]\nkind = "permutations"\n[puzzle.generators]\n'
    (tmp_path / "twice.toml").write_text(text + 's = "(1 2)"\nw = "(1 2)"\n')
    words = "warning: puzzle.generators has duplicates, which count once: w is the same as s"
    store = "--set", f"store.path={tmp_path / 'run'}"
    done = invoke("run", tmp_path / "twice.toml", *store, "--set", "cluster.kind=serial")
    assert " ".join(done.stderr.split()).count(words) == 1
    plan = json.loads(invoke("plan", tmp_path / "twice.toml", *store, "--json").stdout)
    assert plan["forecast"]["warnings"][0] == words.removeprefix("warning: ")


REFUSED = [
    ({"a": "(1 2)"}, {"metric": "far"}, r"metric = 'far': expected one of turns, powers \(turns"),
    ({"a": "(1 2 3)", "a'": "(1 2)"}, {"closed": True}, r"a' is not the inverse of a"),
    ({}, {}, r"puzzle\.generators has 0 of them: expected a table"),
    ("(1 2)", {}, r"puzzle\.generators = '\(1 2\)': expected a table"),
    (
        {f"g{n}": "(1 2)" for n in range(1001)},
        {},
        r"generators has 1001 of them: expected a table of 1\.\.1000 generators, such as [^g]*$",
    ),
    ({"a": "1 2"}, {}, r"generators\.a = '1 2': expected cycles"),
    ({"a": "(1 2)(2 3)"}, {}, r"names position 2 twice"),
    ({"a": "(0 1)"}, {}, r"positions are counted from 1"),
    ({"a": [2, 2]}, {}, r"a = \[2, 2\]: an image needs each of the numbers 1\.\.2 once"),
    ({"a": [1, 2]}, {}, r"generators\.a moves nothing"),
    ({"a": [2, 1]}, {"positions": 3}, r"a = \[2, 1\]: expected a number for each of the 3 pos"),
    ({"a": [2, 1], "b": [1, 3, 2]}, {}, r"a = \[2, 1\]: expected a number for each of the 3 pos"),
    ({"a": 3}, {}, r"must not depend on the state"),
    ({"a b": "(1 2)"}, {}, r"'a b' is not a label"),
    ({"a": "(1 2)"}, {"positions": 1}, r"names position 2: this puzzle has 1 position$"),
    ({"a": "(1 65)"}, {}, r"has 65 positions: 1\.\.64 are supported"),
    ({"a": "(1 " + "9" * 5000 + ")"}, {}, r"a position of 5,000 digits: 1\.\.64 are"),
    ({"a": "(1 2)"}, {"orientations": 61}, r"has 1\.\.60 orientations, not 61"),
    ({"a": "(1 2)"}, {"orientations": [2]}, r"one for each of the 2 positions"),
    ({"a": "(1 2)"}, {"orientations": [2, 1]}, r"from position 1 to 2, where it has 1 orient"),
    ({"a": {"moves": "(1 2)", "turns": [1, 0, 0]}}, {"positions": 2}, r"each of the 2 positions"),
    ({"a": {"moves": "(1 2)", "turns": [1, 0]}}, {}, r"turns: 1 for the piece in position 1"),
    ({"a": {"moves": "(1 2)", "turns": "1"}}, {}, r"turns = '1': expected a list of one number"),
    ({"a": {"move": "(1 2)"}}, {}, r"a\.move: a generator has only moves and turns"),
    ({"a": "(1 2)"}, {"goal": "abc"}, r"puzzle\.goal = 'abc' has 3 labels"),
    ({"a": "(1 2)"}, {"goal": "abc"}, r"expected one for each of the 2 positions$"),
    ({"a": "(1 2 3 4 5)", "b": "(5 4 3 2 1)"}, {"orientations": 2, "goal": "A B+1 C"},
     r"goal = 'A B\+1 C' has 3 labels: expected one for each of the 5 positions"),
    ({"a": []}, {}, r"^puzzle\.generators\.a = \[\] moves nothing; omit it"),
    ({"a": {}, "b": "(1 2)"}, {}, r"^puzzle\.generators\.a = \{\} moves nothing; omit it"),
    ({"a": "(1 2)", "": "(1 2)"}, {}, r"^puzzle\.generators has a generator without a name"),
    ({"a": "(1 2)"}, {"orientations": 2.5}, r"orientations = 2\.5: expected one whole number"),
    ({"a": "(1 2)"}, {"orientations": [1, 2.5]}, r"has 1\.\.60 orientations, not 2\.5"),
    ({"a": "(1 2)"}, {"goal": "ab", "start": "aa"}, r"start = aa: 'a' in position 2 appears too"),
    ({"a": "(1 2)(3 4)"}, {"goal": "abcd", "start": "cbad"}, r"'c' in position 1 appears too"),
    ({"a": "(1 2)"}, {"goals": ["ab", "ac"]}, r"'c' in position 2 appears too often, or cannot be"),
    ({"a": "(1 2)"}, {"orientations": 2, "goal": ["a+2", "b"]}, r"orientations are 0\.\.1"),
    ({"a": "(1 2)"}, {"orientations": 2, "goal": ["a+" + "9" * 5000, "b"]}, r"are 0\.\.1"),
    ({"a": "(1 2)"}, {"orientations": 2, "goal": ["a+1+1", "b"]}, r"ends like an orientation"),
]  # fmt: skip


@pytest.mark.parametrize(("generators", "settings", "message"), REFUSED)
def test_puzzles_that_cannot_be(generators, settings, message):
    with pytest.raises(InputError, match=message):
        permutation_puzzle(generators, **settings)


def test_what_a_config_says_of_orientations():
    """The same as from Python; one number and a list are not told of as two things."""
    generators = {"a": "(1 2)"}
    for orientations in (2.5, "2", True, {"a": 1}):
        puzzle = {"kind": "permutations", "generators": generators, "orientations": orientations}
        with pytest.raises(InputError, match="expected one whole number, or a list") as caught:
            frontier.make_config("x", puzzle)
        assert str(caught.value).count("puzzle.orientations") == 1


def test_words_of_which_one_is_turned_are_a_label_each():
    puzzle = permutation_puzzle({"a": "(1 2 3)"}, closed=True, orientations=2, goal="A B C")
    assert puzzle.line(puzzle.parse("B A+1 C")) == "B A+1 C"
    assert puzzle.parse("B A C") == puzzle.parse("BAC") == puzzle.parse("BA C")
    plain = permutation_puzzle({"a": "(1 2 3 4)"}, closed=True, goal="A+ 1B")
    assert plain.notation.labels[1:] == list("A+1B")  # without orientations + is a letter


def test_boards_of_the_wrong_size_have_positions():
    with pytest.raises(InputError, match=r"boards of 3 positions of type int64: .*2 whole numbers"):
        permutation_puzzle({"a": "(1 2)"}).model.states_of([[1, 2, 3]])


def lights(n):
    """The buttons of n x n lamps: each turns its own and those beside it."""
    lamps = [(row, column) for row in range(n) for column in range(n)]
    return {
        f"{row}-{column}": {"turns": [int(abs(row - r) + abs(column - c) < 2) for r, c in lamps]}
        for row, column in lamps
    }


def test_positions_are_counted_before_they_are_numbered():
    """2^23 positions of the lamps; those of the cube of 3x3x3."""
    assert permutation_puzzle(lights(5), orientations=2).states == 2**23
    cube = puzzle_of(puzzle_table(json.dumps(CUBE_3), "cube"))
    assert cube.states == 43_252_003_274_489_856_000
    like = permutation_puzzle({"a": "(1 2)", "b": [*range(2, 65), 1]}, closed=True, goal="ab" * 32)
    with pytest.raises(
        InputError, match=f"at least {comb(64, 32):,} arrangements.* at most 1,000,000 are"
    ):
        like.states  # noqa: B018


def test_moves_that_cannot_be_undone():
    puzzle = permutation_puzzle({"a": "(1 2 3)", "b": "(1 2)"})
    (remark,) = puzzle.remarks
    assert remark.startswith("puzzle.generators a: no move undoes it, so depths count moves from")
    assert puzzle.notation.legend[1]["a"] == "1 → 2 → 3 → 1; order 3, undone by no move"


WILD_GOALS = [
    ("a+? a b", r"puzzle\.goal: a is written with \+\? and without"),
    ("a+2 a b", r"orientations are 0\.\.1"),
]


@pytest.mark.parametrize(("goal", "message"), WILD_GOALS)
def test_orientations_that_matter_and_do_not(goal, message):
    with pytest.raises(InputError, match=message):
        permutation_puzzle({"a": "(1 2 3)"}, closed=True, orientations=2, goal=goal)


def test_orientations_that_do_not_matter():
    turning = {"a": {"moves": "(1 2 3)", "turns": [1, 0, 0]}}
    puzzle = permutation_puzzle(turning, closed=True, orientations=2, goal="a+? a+? b")
    assert puzzle.parse("a+1 a b") == puzzle.parse("a a+? b") == puzzle.goals[0]
    assert puzzle.line(puzzle.goals[0]) == "aab"
    with pytest.raises(InputError, match=r"b\+\? in position 3, but the orientation of this piece"):
        puzzle.parse("a a b+?")


def test_a_start_that_cannot_be_reached():
    with pytest.raises(InputError, match=r"puzzle\.start = 132: .*cannot be reached"):
        permutation_puzzle({"a": "(1 2 3)"}, closed=True, start="132").check()
    turned = permutation_puzzle({"a": "(1 2)"}, orientations=2, start=["1+1", "2"])
    with pytest.raises(InputError, match=r"puzzle\.start = 1\+1 2: .*cannot be reached"):
        turned.check()
    puzzle = permutation_puzzle({"a": "(1 2 3)"}, closed=True, goals=["123", "132"], start="321")
    puzzle.check()
    assert [
        puzzle.line(puzzle.model.board((v, s)))
        for v, s in zip(*puzzle.model.origins(), strict=True)
    ] == ["132"]
    assert puzzle.model.from_anywhere().reaches(puzzle.parse("123"))


def test_what_is_said_of_a_search_that_ends_where_it_begins():
    (remark,) = permutation_puzzle({"a": "(1 2)"}, goal="aa").remarks
    assert remark.startswith("every position that can")
    assert permutation_puzzle({"a": "(1 2)"}).remarks == []


def test_boards_of_more_states_than_have_numbers_are_known_to_be_reached():
    """A number of 63 bits overflows; whether moves lead to a board does not depend on it."""
    cube = puzzle_of(puzzle_table(json.dumps(CUBE_3), "cube"))
    names = [generator.name for generator in cube.notation.generators]
    rng = np.random.default_rng(5)
    for _ in range(20):
        board = cube.position(" ".join(rng.choice(names, 30)))
        cube.check_reached(board)
        swapped = list(board)
        swapped[0], swapped[1] = swapped[1], swapped[0]
        with pytest.raises(InputError, match="cannot be reached"):
            cube.check_reached(cube.notation.pieces.settled(tuple(swapped)))
