"""Permutation puzzles in full: like pieces, orientations of which some matter, moves without
inverses, several orbits. Boards of all layers against a dictionary."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.kernels.engines import engine_of
from frontier.puzzles import permutation_puzzle
from frontier.space.graph import Space
from frontier.space.tower_space import TowerSpace
from tests.support.random_towers import made

MOST = 3000


def marked(label, turn, each, wild):
    if each > 1 and wild:
        return f"p{label}+?"
    return f"p{label}+{turn}" if turn else f"p{label}"


def puzzle_of(case):
    moves = [(image, added) for image, added in case.moves
             if image != sorted(image) or any(added)]  # fmt: skip
    if not moves:
        return None
    goal = [marked(*of) for of in zip(case.labels, case.turns, case.each, case.wild, strict=True)]
    table = {
        f"m{n}": {"moves": [to + 1 for to in image], "turns": added}
        for n, (image, added) in enumerate(moves)
    }
    return permutation_puzzle(table, orientations=case.each, goal=goal)


def boards_of_layers(puzzle):
    """The boards of each layer, as text."""
    space = puzzle.model.space
    engine = engine_of(space)
    search = engine.search(engine.memory_layout(space, 1), 1)
    for depth, _ in enumerate(search.layers(puzzle.model.origins())):
        if isinstance(space, Space):
            numbers = [n for n in range(space.nodes[space.side_of(depth)] * space.code.half)
                       if search.layer(depth).holds(n)]  # fmt: skip
        else:
            rows = search.layer(depth).rows
            bits = np.unpackbits(rows.view(np.uint8), bitorder="little").reshape(len(rows), -1)
            row, place = np.nonzero(bits)
            numbers = row * space.code.half + place
        states = space.states_of(space.side_of(depth), np.array(numbers, dtype=np.uint64))
        boards = puzzle.model.boards_of(*states)
        assert (puzzle.model.boards_of(*puzzle.model.states_of(boards)) == boards).all()
        yield {tuple(puzzle.notation.labels_on(board)) for board in boards}


@given(seed=st.integers(0, 10**9))
def test_layers_are_those_of_a_dictionary(seed):
    case = made(seed)
    layers = case.layers(MOST)
    if layers is None or (puzzle := puzzle_of(case)) is None:
        return
    expected = [{tuple(marked(*piece, 1, False) for piece in board) for board in layer}
                for layer in layers]  # fmt: skip
    assert list(boards_of_layers(puzzle)) == expected
    assert puzzle.states == sum(map(len, expected))


@pytest.mark.parametrize(
    ("generators", "goal", "kind", "states"),
    [
        ({"a": "(1 2 3 4 5)", "b": "(1 2)"}, "abcde", Space, factorial(5)),
        ({"a": "(1 2 3 4 5)", "b": "(1 2 3)"}, "abcde", Space, factorial(5) // 2),
        ({"a": "(1 2 3 4 5)"}, "abcde", TowerSpace, 5),
        ({"a": "(1 2 3 4 5)", "b": "(1 2)"}, "abbde", TowerSpace, factorial(5) // 2),
        ({"a": "(1 2 3)", "b": "(1 2)(4 5)"}, "abcde", TowerSpace, factorial(3) * 2 // 2),
    ],
)
def test_an_engine_is_chosen_by_what_is_reached(generators, goal, kind, states):
    puzzle = permutation_puzzle(generators, closed=True, goal=goal)
    assert isinstance(puzzle.model.space, kind)
    assert puzzle.states == states
