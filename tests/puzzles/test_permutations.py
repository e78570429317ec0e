"""Permutation puzzles: whole searches against dictionaries and known tables."""

import random
import tomllib
from math import comb, factorial
from pathlib import Path

import pytest

from frontier.puzzles import permutation_puzzle, puzzle_of
from frontier.space.graph import Space
from frontier.space.layout import Layout
from tests.support.reference_permutations import (
    PYRAMINX,
    burnt_pancakes,
    packed_sizes,
    pancakes,
    permutation_layers,
    powers_of,
    topspin,
    undone,
)
from tests.support.reference_search import layers_of as layers_by_dictionary
from tests.support.sweeps import swept
from tests.support.whole_searches import bitmap_sizes, boards_at, graph_of, list_layers

CONFIGS = Path(__file__).parents[2] / "configs"


def origins_of(puzzle):
    side, numbers = puzzle.model.space.numbers(*puzzle.model.origins())
    return list(zip(side.tolist(), numbers.tolist(), strict=True))


def sizes_of(puzzle):
    """The states of each layer, by bitmaps."""
    space = puzzle.model.space
    layout = Layout(space, 0, -(-max(space.nodes) // 3))
    sizes = bitmap_sizes(space, origins_of(puzzle), layout, threads=2)
    assert sum(sizes) == puzzle.states
    return sizes


def marks(board):
    """A board of the twin, as the puzzle writes it."""
    return " ".join(f"{label}+{turned}" if turned else label for label, turned in board)


def layers_of(puzzle):
    """The boards of each layer, by the list kernel; bitmaps must find as many."""
    layers = list_layers(puzzle.model.space, origins_of(puzzle))
    assert [layer.size for layer in layers] == sizes_of(puzzle)
    return [
        {
            " ".join(puzzle.notation.labels_on(board))
            for board in boards_at(
                puzzle.model.space, puzzle, puzzle.model.space.side_of(depth), found
            )
        }
        for depth, found in enumerate(layers)
    ]


def assert_layers(moves, orientations, goals, **settings):
    """The engine finds what a dictionary finds. moves: of the twin, inverses left out."""
    puzzle = permutation_puzzle(
        {f"m{n}": {"moves": image, "turns": turns} for n, (image, turns) in enumerate(moves)},
        orientations=orientations,
        closed=True,
        goals=[[f"{label}+{turned}" if turned else label for label, turned in g] for g in goals],
        **settings,
    )
    if settings.get("metric") == "powers":
        moves = [power for move in moves for power in powers_of(move, orientations)]
    else:
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


@swept("seed", range(40), few=range(1, 6))
def test_random_puzzles(seed):
    rng = random.Random(seed)
    positions, orientations = rng.randint(2, 5), rng.choice([1, 1, 2, 3])
    moves = random_moves(rng, positions, orientations)
    labels = "abcde"[:positions]
    if seed % 3:
        labels = [rng.choice("abcde"[: rng.randint(1, 5)]) for _ in range(positions)]
    goal = tuple((label, rng.randrange(orientations)) for label in labels)
    for metric in ("turns", "powers"):
        assert_layers(moves, [orientations] * positions, [goal], metric=metric)


def test_a_metric_counts_turns_or_powers():
    """A ring of five takes two turns to come halfway round, and one power."""
    ring = {"generators": {"turn": "(1 2 3 4 5)"}, "closed": True}
    for metric, sizes, names in (
        ("turns", [1, 2, 2], ["turn", "turn'"]),
        ("powers", [1, 4], ["turn", "turn2", "turn2'", "turn'"]),
    ):
        puzzle = permutation_puzzle(**ring, metric=metric)
        assert puzzle.metric == metric
        assert [generator.name for generator in puzzle.notation.generators] == names
        assert sizes_of(puzzle) == sizes
    assert permutation_puzzle(**ring).metric == "turns"


def test_powers_need_no_inverses():
    puzzle = permutation_puzzle({"a": "(1 2 3)"}, metric="powers")
    assert [generator.name for generator in puzzle.notation.generators] == ["a", "a'"]


@swept("number", range(2, 9), few=[2, 3, 4, 5])
def test_pancakes_by_dictionary(number):
    moves = [(image, [0] * number) for image in pancakes(number)["generators"].values()]
    goal = tuple((str(n + 1), 0) for n in range(number))
    puzzle = assert_layers(moves, [1] * number, [goal])
    assert (puzzle.model.graph.vertices, puzzle.model.graph.length) == (1, number)


@swept("number", range(1, 7), few=[1, 2, 3, 4])
def test_burnt_pancakes_by_dictionary(number):
    settings = burnt_pancakes(number)["generators"].values()
    moves = [(of["moves"], of["turns"]) for of in settings]
    goal = tuple((str(n + 1), 0) for n in range(number))
    puzzle = assert_layers(moves, [2] * number, [goal])
    assert puzzle.states == 2**number * factorial(number)


@swept("number", range(4, 9), few=[4, 5])
def test_topspin_by_dictionary(number):
    moves = [(image, [0] * number) for image in topspin(number)["generators"].values()]
    assert_layers(moves, [1] * number, [tuple((str(n), 0) for n in range(number))])


@swept("number", range(5, 12), few=[5, 7])
def test_topspin_by_packed_numbers(number):
    settings = topspin(number)
    images = list(settings["generators"].values())
    sizes = sizes_of(permutation_puzzle(**settings, closed=True))
    assert sizes == packed_sizes([*images, undone((images[0], [0] * number))[0]])


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


@swept("number", range(2, 12), few=range(2, 8))
def test_pancakes(number):
    assert sizes_of(permutation_puzzle(**pancakes(number))) == PANCAKES[number]


@swept(
    ("number", "depth"),
    [*enumerate((1, 4, 6, 8, 10, 12, 14, 15), start=1)],
    few=[(1, 1), (2, 4), (3, 6), (4, 8), (5, 10)],
)
def test_burnt_pancakes(number, depth):
    """OEIS A078941."""
    sizes = sizes_of(permutation_puzzle(**burnt_pancakes(number)))
    assert (len(sizes) - 1, sum(sizes)) == (depth, 2**number * factorial(number))


HALF_TURNS = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
QUARTER_TURNS = [
    1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276,
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize(("metric", "sizes"), [("powers", HALF_TURNS), ("turns", QUARTER_TURNS)])
def test_cube(metric, sizes):
    settings = tomllib.loads((CONFIGS / "cube-2x2x2.toml").read_text())["puzzle"]
    generators = {face: settings["generators"][face] for face in "URF"}
    settings |= {"generators": generators, "metric": metric, "closed": metric == "turns"}
    puzzle = puzzle_of(settings)
    assert puzzle.states == puzzle.model.space.states == 3_674_160
    assert sizes_of(puzzle) == sizes


def test_cube_has_all_its_positions():
    puzzle = puzzle_of(tomllib.loads((CONFIGS / "cube-2x2x2.toml").read_text())["puzzle"])
    assert (puzzle.states, len(puzzle.notation.generators)) == (3_674_160, 9)
    first = list_layers(puzzle.model.space, origins_of(puzzle), 4)
    assert [layer.size for layer in first] == HALF_TURNS[:5]


@pytest.mark.sweep
def test_pyraminx():
    puzzle = permutation_puzzle(**PYRAMINX, closed=True)
    known = [1, 8, 48, 288, 1728, 9896, 51808, 220111, 480467, 166276, 2457, 32]
    assert sizes_of(puzzle) == known


@swept(("rows", "columns"), [(2, 2), (2, 3), (3, 3), (3, 4), (4, 4)], few=3)
def test_lights_out(rows, columns):
    """No piece moves: a button turns its own lamp and the neighbours'."""
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    buttons = [[int(abs(r - y) + abs(c - x) < 2) for y, x in cells] for r, c in cells]
    puzzle = permutation_puzzle(
        {f"b{n}": {"turns": turns} for n, turns in enumerate(buttons)},
        orientations=2,
        goal=["o"] * len(cells),
    )
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
