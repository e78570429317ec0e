"""Sliding blocks: boards and states, single moves and what they are called."""

import random
from itertools import product

import numpy as np
import pytest

from frontier.errors import InputError
from frontier.puzzles import block_puzzle
from tests.support.reference_blocks import (
    all_positions,
    block_layers,
    block_moves,
    board_cells,
    drawn,
    position,
    random_blocks,
    shifted,
)
from tests.support.reference_search import layers_of, moved, random_sequence, sequences_of
from tests.support.sweeps import swept
from tests.support.whole_searches import arcs_of

ARROWS = {"↑": (-1, 0), "↓": (1, 0), "←": (0, -1), "→": (0, 1)}
LARGE = [
    ("BAAC/BAAC/DEEF/DGHF/I..J", ("BCDF", "GHIJ"), "path"),
    ("BAAC/BAAC/DEEF/DGHF/I..J", ("BCDF",), "step"),
    ("BAAC/BAAC/DEEF/DGHF/I..J", (), "straight"),
    ("ahBB/bge./dkfw", ("hk",), "step"),
    ("abAA#/cBB.d/..#CC", (), "path"),
]


def sizes_of(puzzle):
    """The classes of the sequence, in order."""
    return [*puzzle.model.graph.smaller, puzzle.model.graph.m]


# --- boards and states


def look(drawing, laid, alike):
    """What remains of a position where pieces of one form look alike; a group has its own look."""
    form = {}
    for kind, part in position(drawing, alike):
        first = min(part)
        form[kind] = (kind in alike and kind, shifted(part, (-first[0], -first[1])))
    return frozenset((form[kind], part) for kind, part in laid)


@swept("seed", range(24), few=6)
def test_boards_and_states_correspond_one_to_one(seed):
    """Every way to lay the pieces is one state, and every state is one of those."""
    drawing, alike = random_blocks(random.Random(seed))
    everything = list(all_positions(board_cells(drawing), position(drawing, alike)))
    open_ = "".join(mark if mark in "#/" else "?" for mark in drawing)
    puzzle = block_puzzle(open_, start=drawing, alike=alike)
    boards = [puzzle.parse(drawn(drawing, laid, alike)) for laid in everything]
    vertex, sequence = puzzle.model.states_of(np.array(boards))
    states = list(zip(vertex.tolist(), map(tuple, sequence.tolist()), strict=True))
    assert len(set(states)) == len(boards)
    assert set(states) == set(
        product(range(puzzle.model.graph.vertices), sequences_of(sizes_of(puzzle)))
    )
    assert list(map(tuple, puzzle.model.boards_of(vertex, sequence).tolist())) == boards
    assert len(puzzle.model.encoding.shapes) == len(
        {look(drawing, laid, alike) for laid in everything}
    )


@pytest.mark.parametrize("drawing", ["ab.c", "aab.cc", "a/b/./c", "a.#b"])
def test_pieces_that_cannot_pass_keep_their_order(drawing):
    """They are not in the sequence, and other orders have no state."""
    puzzle, cells = block_puzzle(drawing), board_cells(drawing)
    reached = set().union(*block_layers(cells, [position(drawing)], "step"))
    unreached = 0
    for laid in all_positions(cells, position(drawing)):
        board = puzzle.parse(drawn(drawing, laid))
        assert puzzle.model.reaches(board) == (laid in reached)
        if puzzle.model.states_of(np.array([board]))[0][0] < 0:
            assert laid not in reached
            with pytest.raises(InputError, match="cannot be reached: no moves"):
                puzzle.model.state(board)
            unreached += 1
        else:
            assert puzzle.model.board(puzzle.model.state(board)) == board
    assert unreached


# --- moves


def random_state(rng, puzzle):
    sequence = random_sequence(rng, puzzle.model.graph.m, puzzle.model.graph.smaller)
    return rng.randrange(puzzle.model.graph.vertices), sequence


MOVING = [
    (*board, metric)
    for board in (LARGE[1][:2], LARGE[4][:2], ("aab/a.b/cc./c..", ("ac",)), ("a.bcc..", ()))
    for metric in ("step", "straight", "path")
]
FEW = MOVING[3::4]
"""One of each metric, on small boards."""


@swept(("drawing", "alike", "metric"), MOVING, few=FEW)
def test_moves_and_what_they_are_called(drawing, alike, metric):
    """Arcs lead to the boards after one move; the name of a move is a shortest way of its piece."""
    puzzle, cells = block_puzzle(drawing, alike=alike, metric=metric), board_cells(drawing)
    leaving = {}
    for source, target, word in arcs_of(puzzle.model.graph):
        leaving.setdefault(source, []).append((target, word))
    rng = random.Random(drawing)
    for _ in range(25):
        vertex, sequence = random_state(rng, puzzle)
        before = puzzle.model.board((vertex, sequence))
        after = [puzzle.model.board((v, moved(sequence, w))) for v, w in leaving.get(vertex, [])]
        named = position(puzzle.line(before))
        like = position(puzzle.line(before), alike)
        assert {position(puzzle.line(b), alike) for b in after} == block_moves(cells, like, metric)
        assert len(set(after)) == len(after)
        for board in after:
            letter, *arrows = puzzle.notation.name_move(before, board)
            if metric == "straight":
                assert len(set(arrows)) == 1
            steps = way(cells, named, letter, arrows)
            followed = puzzle.line(puzzle.notation.follow(before, board))
            assert position(followed) == steps[-1]
            assert position(followed, alike) == position(puzzle.line(board), alike)
            within = layers_of([named], lambda at, piece=letter: alone(cells, at, piece))
            assert steps[-1] in within[1 if metric == "step" else len(arrows)]


def alone(cells, laid, letter):
    """The positions after a step of one piece, the others stay."""
    rest = {piece for piece in laid if piece[0] != letter}
    return [at for at in block_moves(cells, laid, "step") if rest <= at]


def way(cells, laid, letter, arrows):
    """The positions on the way of a piece; each must be a step after the one before."""
    steps = [laid]
    for arrow in arrows:
        part = next(part for kind, part in steps[-1] if kind == letter)
        rest = steps[-1] - {(letter, part)}
        steps.append(rest | {(letter, shifted(part, ARROWS[arrow]))})
        assert steps[-1] in block_moves(cells, steps[-2], "step")
    return steps


@swept(("drawing", "alike", "metric"), MOVING, few=FEW)
def test_arcs_say_which_piece_they_displace(drawing, alike, metric):
    """Its sort, its place in the sequence, and its anchors before and after."""
    puzzle = block_puzzle(drawing, alike=alike, metric=metric)
    moves, rng = puzzle.model.encoding.moves, random.Random(metric)
    arcs = arcs_of(puzzle.model.graph)
    assert moves.start.tolist() == list(range(len(arcs) + 1))
    for arc in rng.sample(range(len(arcs)), min(len(arcs), 300)):
        source, target, word = arcs[arc]
        sequence = random_state(rng, puzzle)[1]
        before = puzzle.model.board((source, sequence))
        after = puzzle.notation.follow(before, puzzle.model.board((target, moved(sequence, word))))
        was, now = (
            int(puzzle.notation.pieces.reading[table[arc]])
            for table in (moves.source, moves.target)
        )
        code = before[was]
        sort = puzzle.model.encoding.shapes.sorts[moves.sort[arc]]
        assert code in sort.codes
        assert was == next(cell for cell in puzzle.notation.pieces.reading if before[cell] == code)
        assert now == next(cell for cell in puzzle.notation.pieces.reading if after[cell] == code)
        others = set(before) - {0, code}
        assert [after.index(other) for other in others] == [before.index(other) for other in others]
        if sort.distinct:
            order = [*sequence, *range(len(sequence), puzzle.model.encoding.members.size)]
            assert puzzle.model.encoding.members[order[moves.place[arc]]] == code
        else:
            assert moves.place[arc] == -1


def test_names_of_moves():
    puzzle = block_puzzle("aab/a.b/...", metric="path")
    before = puzzle.parse("aab/a.b/...")
    assert puzzle.notation.name_move(before, puzzle.parse("aa./a.b/..b")) == "b↓"
    bar = block_puzzle("a../.b./...", metric="path")
    assert bar.notation.name_move(bar.parse("a../.b./..."), bar.parse(".../.b./..a")) in {
        "a→→↓↓",
        "a↓↓→→",
    }
    like = block_puzzle("ab./...", alike=["ab"])
    assert like.notation.name_move(like.parse("ab./..."), like.parse("a.b/...")) == "b→"
    assert like.notation.name_move(like.parse("ab./..."), like.parse(".b./a..")) == "a↓"


def test_follow_keeps_the_letters_of_like_pieces():
    """Like pieces are renamed on boards, by their order; along a solution they keep their names."""
    puzzle = block_puzzle("ab/..", alike=["ab"])
    before = puzzle.parse("ab/..")
    after = puzzle.parse(".b/a.")
    assert puzzle.line(puzzle.notation.follow(before, after)) == ".b/a."
    again = puzzle.notation.follow(puzzle.notation.follow(before, after), puzzle.parse("a./b."))
    assert puzzle.line(again) == "b./a."
    assert puzzle.line(puzzle.parse("b./a.")) == "a./b."
