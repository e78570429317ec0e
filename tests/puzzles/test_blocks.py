"""Sliding blocks: whole searches against dictionaries of pieces and the cells they cover."""

import random

import pytest

from frontier.config.loading import load_config
from frontier.puzzles import block_puzzle
from frontier.space.layout import Layout
from tests.support.reference_blocks import (
    agreeing,
    all_positions,
    block_layers,
    block_moves,
    board_cells,
    drawn,
    position,
    random_blocks,
)
from tests.support.reference_search import within_reach
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS
from tests.support.whole_searches import bitmap_sizes, boards_at, list_layers

METRICS = ("step", "straight", "path")
HAKOIRI = "BAAC/BAAC/DEEF/DGHF/I..J", ("BCDF", "GHIJ")
GOAT = "ahBB/bge./dkfw", ("hk",)

SMALL = {
    "one piece": ("aa./a../...", ()),
    "no piece": ("../..", ()),
    "no empty cell": ("ab/ac", ()),
    "four cells": ("ab/.c", ()),
    "one row": ("aab.c.", ()),
    "one column": ("a/a/./b/c", ("bc",)),
    "all different": ("abc/d..", ()),
    "all alike": ("abc/d../e.f", ("abcdef",)),
    "alike in two groups": ("abc/d../e.f", ("abc", "de")),
    "two classes": ("aAA/bBB/c..", ()),
    "two sizes, some alike": ("aAA/bBB/c..", ("ac", "AB")),
    "L and a bar": ("aab/a.b/..b", ()),
    "two L alike": ("aab/a.b/cc./c..", ("ac",)),
    "L of all turns": ("aabb/a..b/c..d/ccdd", ()),
    "three corners alike": ("aabb/a.b./cc../c...", ("ac",)),
    "a piece around another": ("aba/aaa/...", ()),
    "walls": ("ab#./..c./#dd.", ()),
    "walls that part the board": ("ab#cd/..#e.", ("ac", "bd")),
    "walls and like pieces": ("#ab#/cdd./..e#", ("abce",)),
}


def positions(puzzle, boards, alike):
    """Boards as the twin has them."""
    return {position(puzzle.line(board), alike) for board in boards}


def layers_of(puzzle, most=None):
    """The boards of each layer, by the list kernel; bitmaps must find as many."""
    space = puzzle.model.space
    side, numbers = space.numbers(*puzzle.model.origins())
    origins = list(zip(side.tolist(), numbers.tolist(), strict=True))
    layers = list_layers(space, origins, most)
    if most is None:
        sizes = [layer.size for layer in layers]
        assert sum(sizes) == puzzle.states
        layout = Layout(space, 0, -(-max(space.nodes) // 3))
        assert bitmap_sizes(space, origins, layout, threads=2) == sizes
    return [
        boards_at(space, puzzle, space.side_of(depth), numbers)
        for depth, numbers in enumerate(layers)
    ]


def assert_layers(puzzle, cells, origins, alike, most=None, axes=None):
    """The engine finds the positions that a dictionary finds, layer by layer; returns them."""
    expected = block_layers(cells, origins, puzzle.metric, most, axes)
    found = layers_of(puzzle, most)
    assert [len(layer) for layer in found] == [len(layer) for layer in expected]
    assert [positions(puzzle, layer, alike) for layer in found] == expected
    return expected


# --- whole searches


@swept("metric", METRICS, few=1)
@pytest.mark.parametrize("name", SMALL)
def test_small_boards(name, metric):
    drawing, alike = SMALL[name]
    puzzle = block_puzzle(drawing, alike=alike, metric=metric)
    assert_layers(puzzle, board_cells(drawing), [position(drawing, alike)], alike)


@pytest.mark.sweep
def test_hakoiri():
    drawing, alike = HAKOIRI
    puzzle = block_puzzle(drawing, alike=alike, metric="path")
    assert puzzle.states == 25_955
    assert len(puzzle.model.encoding.shapes) == 65_880
    assert_layers(puzzle, board_cells(drawing), [position(drawing, alike)], alike)


def test_goat_near_the_goal():
    drawing, alike = GOAT
    puzzle = block_puzzle(drawing, alike=alike)
    assert puzzle.states == 5_443_200
    assert_layers(puzzle, board_cells(drawing), [position(drawing, alike)], alike, most=14)


@swept("seed", range(25), few=4)
def test_random_boards(seed):
    drawing, alike = random_blocks(random.Random(seed))
    puzzle = block_puzzle(drawing, alike=alike, metric=random.Random(seed).choice(METRICS))
    cells, whole = board_cells(drawing), position(drawing, alike)
    reached = set().union(*assert_layers(puzzle, cells, [whole], alike))
    everything = sorted(all_positions(cells, whole), key=str)
    for laid in random.Random(seed).sample(everything, min(len(everything), 40)):
        assert puzzle.model.reaches(puzzle.parse(drawn(drawing, laid, alike))) == (laid in reached)


# --- pieces that move along one axis


def axes_of(horizontal, vertical, alike):
    kinds = {letter: group for group in alike for letter in group}
    named = [*((letter, 0) for letter in horizontal), *((letter, 1) for letter in vertical)]
    return {kinds.get(letter, letter): axis for letter, axis in named}


@pytest.mark.sweep
def test_rush_hour():
    """Fifty-one moves of the hardest start; 4,780 positions, as its author says."""
    config = load_config(CONFIGS / "rush-hour.toml")
    puzzle, settings = config.make_puzzle(), config.puzzle
    start = puzzle.line(puzzle.start)
    cells, whole = board_cells(start), position(start)
    axes = axes_of(settings.horizontal, settings.vertical, ())
    reached = set().union(*block_layers(cells, [whole], "straight", axes=axes))
    assert len(reached) == puzzle.states == 4_780
    origins = agreeing(cells, puzzle.line(puzzle.goals[0]), reached)
    layers = assert_layers(puzzle, cells, origins, (), axes=axes)
    assert [whole in layer for layer in layers].index(True) == len(layers) - 1 == 51


@swept("seed", range(25), few=4)
def test_random_axes(seed):
    rng = random.Random(seed)
    drawing, alike = random_blocks(rng)
    cells, whole = board_cells(drawing), position(drawing, alike)
    named = ["", "", ""]
    for kind in sorted({kind for kind, _ in whole}):
        named[rng.randrange(3)] += kind
    horizontal, vertical, _ = named
    puzzle = block_puzzle(
        drawing, alike=alike, metric=rng.choice(METRICS), horizontal=horizontal, vertical=vertical
    )
    axes = axes_of(horizontal, vertical, alike)
    reached = set().union(*assert_layers(puzzle, cells, [whole], alike, axes=axes))
    for laid in rng.sample(sorted(reached, key=str), min(len(reached), 20)):
        board = puzzle.parse(drawn(drawing, laid, alike))
        assert puzzle.model.reaches(board)
        for after in block_moves(cells, laid, puzzle.metric, axes):
            moved = puzzle.parse(drawn(drawing, after, alike))
            assert puzzle.notation.name_move(board, moved)


# --- several goals, and parts of boards as goals

GOALS = {
    # name: (a whole board, goals, alike)
    "one piece at an edge": ("aa./.b./c..", ["???/???/?aa"], ()),
    "any of like pieces in a corner": ("abc/...", ["a??/???"], ("abc",)),
    "two like pieces": ("abc/d..", ["??d/?a?"], ("abd",)),
    "an empty cell": ("abc/d..", ["???/.??"], ()),
    "empty cells and a piece": ("abb/c../.dd", ["c.?/.??/???"], ("bd",)),
    "two orders on a line": ("ab.c.", ["ab.c.", "b.ac."], ()),
    "two orders on a line, one of them in part": ("ab.c.", ["ab.c.", "c??b?"], ()),
    "any order on a line": ("ab..", ["??.?"], ()),
    "a whole board and a part": ("aAA/bBB/c..", ["aAA/bBB/c..", "???/??a/???"], ("AB",)),
    "overlapping parts": ("ab./c..", ["a??/???", "???/??c", "ab./c.."], ()),
    "an L": ("aab/a.b/...", ["???/?aa/?a?"], ()),
    "walls": ("ab#/..c/#d.", ["??#/???/#?d"], ("bc",)),
    "nothing is said": ("aab/a../...", ["???/???/???"], ()),
}


@swept("metric", METRICS, few=1)
@swept(
    "name",
    GOALS,
    few=[
        "any of like pieces in a corner",
        "two like pieces",
        "two orders on a line, one of them in part",
        "an empty cell",
    ],
)
def test_goals_in_parts(name, metric):
    """Depth 0 is every board that agrees with a goal and can be reached from the start."""
    drawing, goals, alike = GOALS[name]
    puzzle = block_puzzle(goals=goals, start=drawing, alike=alike, metric=metric)
    cells, whole = board_cells(drawing), position(drawing, alike)
    everything = all_positions(cells, whole)
    agree = set().union(*(agreeing(cells, goal, everything, alike) for goal in goals))
    origins = within_reach(agree, whole, lambda at: block_moves(cells, at, metric))
    reached = set().union(*assert_layers(puzzle, cells, origins, alike))
    assert len(puzzle.model.origins()[0]) == len(origins)
    for laid in everything:
        assert puzzle.model.reaches(puzzle.parse(drawn(drawing, laid, alike))) == (laid in reached)
    assert [puzzle.line(goal) for goal in puzzle.goals if -1 in goal] == [
        goal for goal in goals if "?" in goal
    ]


@swept("seed", range(20), few=4)
def test_random_goals(seed):
    rng = random.Random(seed)
    drawing, alike = random_blocks(rng)
    cells, whole = board_cells(drawing), position(drawing, alike)
    everything = sorted(all_positions(cells, whole), key=str)
    goals = []
    for laid in rng.sample(everything, min(len(everything), rng.randint(1, 3))):
        shown = {piece for piece in laid if rng.random() < 0.5}
        marks = [list(row) for row in drawn(drawing, shown, alike).split("/")]
        for r, c in sorted(cells - frozenset().union(*(part for _, part in shown))):
            if any((r, c) in part for _, part in laid) or rng.random() < 0.5:
                marks[r][c] = "?"
        goals.append("/".join(map("".join, marks)))
    puzzle = block_puzzle(goals=goals, start=drawing, alike=alike, metric=rng.choice(METRICS))
    agree = set().union(*(agreeing(cells, goal, everything, alike) for goal in goals))
    origins = within_reach(agree, whole, lambda at: block_moves(cells, at, puzzle.metric))
    assert_layers(puzzle, cells, origins, alike)


@pytest.mark.sweep
def test_positions_that_the_start_cannot_reach():
    """Of the 53,954 positions from which the daughter gets out, those of the usual start."""
    puzzle = load_config(CONFIGS / "hakoiri-exit.toml").make_puzzle()
    sizes = [len(layer) for layer in layers_of(puzzle)]
    assert puzzle.states == sum(sizes) == 25_955
    moves = sum(depth * size for depth, size in enumerate(sizes))
    assert round(moves / sum(sizes), 2) == 50.63
    elsewhere = puzzle.parse("..BC/DGBC/DEEF/HAAF/IAAJ")
    assert not puzzle.model.reaches(elsewhere)
    assert "puzzle.start" in puzzle.why_unreachable


def test_one_goal_is_a_list_of_one():
    one, same = block_puzzle("ab/.c"), block_puzzle(goals=["ab/.c"])
    assert one.goals == same.goals == ((1, 2, 0, 3),)
    assert one.start is None
    assert block_puzzle("ab/.c", start="ab/c.").start == (1, 2, 3, 0)
