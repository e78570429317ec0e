"""Numbers of a tower against a dictionary of boards: a bijection that moves respect."""

from dataclasses import replace
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import TooLarge
from frontier.space import tower as towers
from frontier.space.stages import stages_of
from frontier.space.tower import Graph, Tower
from frontier.space.tower_space import TowerSpace
from tests.support.random_towers import exchange, made, origin_of, plain, ring

MOST = 20_000


@given(seed=st.integers(0, 10**9))
def test_numbers_are_a_bijection_that_moves_respect(seed):
    puzzle = made(seed)
    if (layers := puzzle.layers(MOST)) is None:
        return
    points = puzzle.points
    leading = int(np.random.default_rng(seed).integers(3))
    tower = Tower(points, stages=stages_of(points, leading))
    boards = {board for layer in layers for board in layer}
    assert tower.states == len(boards)
    numbers = np.arange(tower.states)
    vertex, colours = tower.states_of(numbers)
    assert (tower.numbers(vertex, colours) == numbers).all()
    labels, turns = points.boards(colours)
    assert (points.colourings(labels, turns) == colours).all()
    goal_of = dict(zip(points.label[: points.positions].tolist(), puzzle.labels, strict=True))
    assert boards == {
        tuple((goal_of[label], turn) for label, turn in zip(row, turned, strict=True))
        for row, turned in zip(labels.tolist(), turns.tolist(), strict=True)
    }
    for move, section in zip(points.moves, tower.section, strict=True):
        moved = np.empty_like(colours)
        moved[:, move] = colours
        after, place = np.zeros(tower.states, int), tower.states
        section = np.full(tower.states, section)
        for level in tower.levels:
            place //= level.radix
            digit = numbers // place % level.radix
            after = after * level.radix + level.to[section, digit]
            section = level.then[section, digit]
        assert (tower.numbers(vertex, moved) == after).all()


@given(seed=st.integers(0, 10**9))
def test_boards_that_moves_do_not_reach_have_no_number(seed):
    puzzle, rng = made(seed), np.random.default_rng(seed)
    if (layers := puzzle.layers(2000)) is None:
        return
    points, tower = puzzle.points, Tower(puzzle.points)
    reached = {board for layer in layers for board in layer}
    order = np.arange(points.positions)
    for first in np.unique(points.orbit):
        order[points.orbit == first] = rng.permutation(order[points.orbit == first])
    labels = points.label[: points.positions][order]
    turns = rng.integers(np.maximum(points.each, 1))
    turns = np.where(points.wild[labels], 0, turns)
    colours = points.colourings(labels[None], turns[None])
    goal_of = dict(zip(points.label[: points.positions].tolist(), puzzle.labels, strict=True))
    board = tuple((goal_of[a], b) for a, b in zip(labels.tolist(), turns.tolist(), strict=True))
    assert (tower.numbers(np.array([0]), colours)[0] >= 0) == (board in reached)
    joined = points.with_moves([points.joining(colours[0])])
    graph = Graph.of_moves(points).with_join(0, len(points.moves))
    space = TowerSpace(Tower(joined, graph))
    assert space.numbers(np.array([0]), colours)[0] == 0
    assert space.walk.section.size <= len(points.moves)
    assert (points.with_goal(colours[0]).goal == colours[0]).all()


@given(seed=st.integers(0, 10**9))
def test_graphs_of_several_vertices(seed):
    """Random base graphs whose arcs go both ways, against a dictionary of states. Vertices that the
    origin does not reach have no numbers."""
    rng, points = np.random.default_rng(seed), made(seed).points
    vertices, moves = int(rng.integers(1, 5)), len(points.moves)
    source = np.concatenate([np.arange(vertices - 1), rng.integers(vertices, size=3)])
    target = np.concatenate([np.arange(1, vertices), rng.integers(vertices, size=3)])
    voltage = rng.integers(moves, size=source.size)
    origin = int(rng.integers(vertices))
    aside = vertices + 1  # one vertex more, beside the others
    graph = Graph(aside, source, target, voltage, origin)
    seen, queue = {(origin, points.goal.tobytes())}, [(origin, points.goal)]
    for vertex, colours in queue:
        for u, v, w in zip(source, target, voltage, strict=True):
            moved = np.empty_like(colours)
            moved[points.moves[w]] = colours
            for at, to, after in ((u, v, moved), (v, u, colours[points.moves[w]])):
                if vertex == at and (to, after.tobytes()) not in seen:
                    seen.add((to, after.tobytes()))
                    queue.append((to, after))
        if len(queue) > 5000:
            return
    tower = Tower(points, graph)
    assert tower.states == len(queue)
    assert tower.numbers(np.array([vertices, -1]), points.goal[None].repeat(2, 0)).max() == -1
    vertex, colours = np.array([v for v, _ in queue]), np.array([c for _, c in queue])
    numbers = tower.numbers(vertex, colours)
    assert sorted(numbers.tolist()) == list(range(tower.states))
    again = tower.states_of(numbers)
    assert (again[0] == vertex).all()
    assert (again[1] == colours).all()


def test_orders_of_groups():
    """Those of rings of which opposite pieces stay opposite, and of all permutations of 64."""
    pieces = list(range(64))
    assert Tower(plain([ring(64), exchange(64, (0, 1))], pieces)).states == factorial(64)
    assert Tower(plain([ring(21)], list(range(21)))).states == 21
    blocks = plain([ring(8), exchange(8, (0, 1), (4, 5))], list(range(8)))
    assert Tower(blocks).radices[1:] == [8, 6, 4, 2]


def test_large_digits_are_refused():
    thirds = [k // 9 for k in range(27)]
    with pytest.raises(
        TooLarge, match=r"at least 4,686,825 arrangements.*at most 1,000,000.*differ"
    ):
        Tower(plain([ring(27), exchange(27, (0, 1))], thirds))


def test_many_arcs_are_refused(monkeypatch):
    monkeypatch.setattr(towers, "MOST_ENTRIES", 1)
    with pytest.raises(TooLarge, match=r"2 moves: at most 1 are supported"):
        Tower(plain([ring(5), exchange(5, (0, 1))], list(range(5))))


def test_the_origin_has_a_number_in_every_space():
    tower = Tower(replace(made(3).points))
    assert tower.numbers(*origin_of(tower))[0] >= 0


def test_an_origin_that_no_arc_leaves():
    """Of two vertices, each with its own loops, the origin has none."""
    points = plain([ring(3)], [0, 1, 2])
    graph = Graph(2, np.array([1]), np.array([1]), np.array([0]), origin=0)
    tower = Tower(points, graph)
    space = TowerSpace(tower)
    assert (tower.states, space.states) == (1, 1)
    side, number = space.numbers(*origin_of(tower))
    assert (side, number.tolist()) == (0, [0])
