"""Moves of permutation puzzles in words: read back, they do what the moves do."""

import json
import random
import re

from markupsafe import escape

import frontier
from frontier.errors import InputError
from frontier.puzzles import permutation_puzzle
from frontier.report.boards import film_page
from tests.support.commands import invoke
from tests.support.reference_permutations import PYRAMINX
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

CUBE = CONFIGS / "cube-2x2x2.toml"


def read_back(words, names):
    """position -> (where its piece goes, how far it is turned), and the order and the inverse."""
    moves, _, more = words.rpartition("; ")
    goes = {}
    for cycle in moves.split(", "):
        if " ↔ " in cycle:
            one, other = cycle.split(" ↔ ")
            goes |= {one: (other, 0), other: (one, 0)}
            continue
        before, *others = cycle.split(" → ")
        for word in others:
            to, _, turn = word.partition("+")
            goes[before] = to, int(turn or 0)
            before = to
    order, inverse = re.fullmatch(r"order (\d+), (?:undone by (.+)|its own inverse)", more).groups()
    places = {name: place for place, name in enumerate(names)}
    goes = {places[name]: (places[to], turn) for name, (to, turn) in goes.items()}
    return goes, int(order), inverse


def moved(board, goes, orientations):
    """The (label, orientation) in each position after a move that was read back."""
    after = list(board)
    for place, (to, turn) in goes.items():
        label, turned = board[place]
        after[to] = label, (turned + turn) % orientations[place]
    return after


def check(puzzle, names):
    notation, each = puzzle.notation, puzzle.notation.pieces.orientations.tolist()
    goal = [(str(place), 0) for place in range(len(each))]
    _, meanings = notation.legend
    assert list(meanings) == [generator.name for generator in notation.generators]
    for generator in notation.generators:
        goes, order, inverse = read_back(meanings[generator.name], names)
        expected = list(goal)
        for place, (to, turn) in enumerate(zip(generator.image, generator.turns, strict=True)):
            expected[to] = str(place), turn
        board = moved(goal, goes, each)
        assert board == expected
        back, *_ = read_back(meanings[inverse or generator.name], names)
        assert moved(board, back, each) == goal
        for times in range(1, order):
            assert board != goal, times
            board = moved(board, goes, each)
        assert board == goal


@swept("seed", range(25), few=8)
def test_what_is_said_is_what_a_move_does(seed):
    rng = random.Random(seed)
    positions, orientations = rng.randint(2, 9), rng.choice([1, 2, 3, 4])
    images = [rng.sample(range(1, positions + 1), positions) for _ in range(2)]
    turns = [[rng.randrange(orientations) for _ in range(positions)] for _ in range(2)]
    moves = {f"m{n}": {"moves": images[n], "turns": turns[n]} for n in range(2)}
    try:
        puzzle = permutation_puzzle(moves, orientations=orientations, closed=True)
    except InputError:  # two moves that are equal, or one that does nothing
        return
    check(puzzle, [str(n + 1) for n in range(positions)])


def test_positions_of_a_net_are_named_by_their_faces():
    puzzle = frontier.load_config(CUBE).make_puzzle()
    check(puzzle, ["URF", "UFL", "ULB", "UBR", "DFR", "DLF", "DRB"])
    key, meanings = puzzle.notation.legend
    assert key.endswith("positions are named by their faces")
    assert "+1: " in key
    assert meanings["R"] == "URF → UBR+1 → DRB+2 → DFR+1 → URF+2; order 4, undone by R'"


def test_faces_that_several_positions_share_name_none():
    moves = {"a": "(1 2 3)"}
    puzzle = permutation_puzzle(moves, closed=True, picture="U1 U2 F3")
    check(puzzle, "123")
    assert puzzle.notation.legend[0].endswith("positions are counted from 1")


def test_orientations_that_differ():
    puzzle = permutation_puzzle(**PYRAMINX, closed=True)
    check(puzzle, [str(n + 1) for n in range(puzzle.cells)])


def test_solve_says_what_the_moves_do_once():
    boards = ["9 8 7 6 5 4 3 2 1", "2 1 3 4 5 6 7 9 8"]
    out = invoke("solve", CONFIGS / "topspin-9.toml", *boards).stdout
    assert out.count("flip   1 ↔ 4, 2 ↔ 3; order 2, its own inverse") == 1
    assert out.count("a → b: the piece in position a goes to b; positions are counted from 1") == 1
    assert "+1" not in out
    value = json.loads(invoke("solve", CONFIGS / "topspin-9.toml", boards[0], "--json").stdout)
    assert value["legend"].keys() == set(value["moves"])


def test_names_of_moves_that_say_it_need_no_words():
    out = invoke("solve", CONFIGS / "2x3.toml", "3 1 2/0 4 5", "--json").stdout
    assert "legend" not in json.loads(out)
    assert "→ b" not in invoke("solve", CONFIGS / "2x3.toml", "3 1 2/0 4 5").stdout


def test_the_page_and_the_text_of_a_solution():
    solution = frontier.solve(frontier.load_config(CUBE), "2 3 4 1 5 6 7", method="ida")
    words = "URF → UFL → ULB → UBR → URF; order 4, undone by U'"
    page = film_page(solution.puzzle, solution, "a title")
    assert f"<dt>U</dt><dd>{escape(words)}</dd>" in page
    assert f"  U  {words}" in str(solution)
    tiles = frontier.solve(frontier.load_config(CONFIGS / "2x3.toml"), "3 1 2/0 4 5", method="ida")
    assert "<h2>Moves</h2>" in page
    assert "<h2>Moves</h2>" not in film_page(tiles.puzzle, tiles, "a title")
