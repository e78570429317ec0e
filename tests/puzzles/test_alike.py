"""Sliding pieces of which some are alike: the same boards whether like pieces are told by vertices
or by colours."""

import random
from functools import cache

import numpy as np
import pytest

from frontier.kernels.engines import engine_of
from frontier.puzzles import alike, block_puzzle, graph_puzzle
from frontier.puzzles.alike import AlikeEncoding
from frontier.solving.pieces import IdaSolver
from frontier.space.tower_space import TowerSpace
from tests.support.sweeps import swept, tried
from tests.support.whole_searches import list_layers

SQUARES = {n: [[r * n + c for r, c in near if 0 <= r < n and 0 <= c < n]
               for near in ([(i, j - 1), (i, j + 1), (i - 1, j), (i + 1, j)]
                            for i in range(n) for j in range(n))] for n in (2, 3)}  # fmt: skip
RING = [[(u + 1) % 7, (u - 1) % 7] for u in range(7)]

PUZZLES = {
    "two colours": lambda: graph_puzzle(SQUARES[3], "aaaabbbb."),
    "three of some": lambda: graph_puzzle(SQUARES[3], "abbcccdd."),
    "a ring": lambda: graph_puzzle(RING, "aabbbc."),
    "goals apart": lambda: graph_puzzle(RING, goals=["aabbbc.", "ababbc."]),
    "a start": lambda: graph_puzzle(RING, goals=["aabbbc.", "ababbc."], start="babbca."),
    "blocks": lambda: block_puzzle("AAbc/defg/..hh", alike=("bcd", "ef"), metric="step"),
    "along lines": lambda: block_puzzle("AAbc/defg/..hh", alike=("bcd", "ef"), metric="straight"),
    "paths": lambda: block_puzzle("ab.c/d.ef", alike=("abc", "de"), metric="path"),
    "in a row": lambda: block_puzzle("aabb.AA/ccdd.ee", alike=("ab", "cd")),
}


@cache
def both(name):
    """A puzzle with like pieces as vertices, and with colours."""
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for most in (10**9, 0):
            patch.setattr(alike, "MOST_EXPLICIT", most)
            found.append(PUZZLES[name]())
    return found


def layers_of(puzzle):
    """The boards of each layer."""
    space = puzzle.model.space
    side, numbers = space.numbers(*puzzle.model.origins())
    layers = list_layers(space, list(zip(side.tolist(), numbers.tolist(), strict=True)))
    boards = [
        puzzle.model.boards_of(*space.states_of(space.side_of(depth), layer))
        for depth, layer in enumerate(layers)
    ]
    return [sorted(map(tuple, some.tolist())) for some in boards]


each_puzzle = swept("name", PUZZLES, few=["two colours", "goals apart", "a start", "paths"])


@each_puzzle
def test_layers_are_those_of_shapes(name):
    shapes, colours = both(name)
    if name != "in a row":
        assert isinstance(colours.model.space, TowerSpace)
    expected = layers_of(shapes)
    assert layers_of(colours) == expected
    assert colours.states == shapes.states == sum(map(len, expected))
    if isinstance(colours.model.space, TowerSpace):
        engine = engine_of(colours.model.space)
        search = engine.search(engine.memory_layout(colours.model.space, 2), 2)
        counts = [int(states.sum()) for states in search.layers(colours.model.origins())]
        assert counts == list(map(len, expected))


@each_puzzle
def test_boards_are_reached_or_not_alike(name):
    shapes, colours = both(name)
    pieces, rng = shapes.notation.pieces, random.Random(name)
    free = [list(sort.codes) for sort in pieces.sorts]
    for _ in range(tried(50, 200)):
        board = list(shapes.goals[0])
        swapped = rng.choice(free)
        for codes in (swapped, [c for some in free for c in some if len(some) == len(swapped)]):
            order = dict(zip(codes, rng.sample(codes, len(codes)), strict=True))
            board = [order.get(code, code) for code in board]
        settled = pieces.settled(tuple(board))
        if settled is None:
            continue
        assert colours.model.reaches(settled) == shapes.model.reaches(settled)
        assert colours.model.reaches(tuple(board)) == shapes.model.reaches(settled)


@swept("name", ["two colours", "a start", "blocks"], few=2)
def test_positions_are_solved_on_the_explicit_graph(name):
    shapes, colours = both(name)
    for board in layers_of(shapes)[5][:3]:
        found = [IdaSolver(puzzle).solve(board) for puzzle in (shapes, colours)]
        assert [len(one.solution.boards) for one in found] == [6, 6]


def test_which_puzzles_have_colours():
    """Those whose shapes with like pieces are more than some thousand."""
    few = graph_puzzle(SQUARES[3], "aaaabbbb.")
    assert not isinstance(few.model.encoding, AlikeEncoding)
    many = block_puzzle("aabb/ccdd/eeff/gg..", alike=("abcdefg",))
    assert not isinstance(many.model.encoding, AlikeEncoding)  # pieces of one sort each
    grid = "abcd/efgh/ijkl/mno."
    assert isinstance(
        block_puzzle(grid, alike=("abcde", "fghij", "klmno")).model.encoding, AlikeEncoding
    )


def test_fifteen_tiles_of_three_colours():
    """12,108,096 positions, which are not explicit shapes."""
    puzzle = block_puzzle("abcd/efgh/ijkl/mno.", alike=("abcde", "fghij", "klmno"))
    assert puzzle.states == 12_108_096
    numbers = np.random.default_rng(5).integers(puzzle.states, size=100).astype(np.uint64)
    space = puzzle.model.space
    boards = puzzle.model.boards_of(*space.states_of(0, numbers))
    assert (space.numbers(*puzzle.model.states_of(boards))[1] == numbers).all()
    assert all(
        puzzle.notation.pieces.settled(board) == board for board in map(tuple, boards.tolist())
    )


@swept("seed", range(80), few=10)
def test_goals_between_which_no_moves_lead(seed, monkeypatch):
    """On graphs that are nearly trees, where most tiles cannot come to most places."""
    monkeypatch.setattr(alike, "MOST_EXPLICIT", 0)
    rng = random.Random(seed)
    cells = rng.randint(4, 7)
    edges = {(rng.randrange(i), i) for i in range(1, cells)}
    edges |= {tuple(sorted(rng.sample(range(cells), 2))) for _ in range(rng.randint(0, 2))}
    near = [[b for e in edges for a, b in (e, e[::-1]) if a == i] for i in range(cells)]
    labels = ["a", "a", *rng.choices("abcd", k=cells - 3), "."]
    goals = {"".join(rng.sample(labels, cells)) for _ in range(rng.randint(1, 3))}
    layers, seen = [goals], set(goals)
    while layers[-1]:
        after = set()
        for board in layers[-1]:
            blank = board.index(".")
            for cell in near[blank]:
                moved = list(board)
                moved[blank], moved[cell] = moved[cell], moved[blank]
                after.add("".join(moved))
        layers.append(after - seen)
        seen |= after
    puzzle = graph_puzzle(near, goals=sorted(goals))
    assert puzzle.states == len(seen)
    found = [
        {"".join(puzzle.notation.labels_on(board)) for board in some} for some in layers_of(puzzle)
    ]
    assert [{board.replace("·", ".") for board in some} for some in found] == layers[:-1]
