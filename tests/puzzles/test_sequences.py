"""Sequences of moves against moves made one by one, and what is no such sequence."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import permutation_puzzle
from frontier.puzzles.sequences import effect_of

EACH = [3, 3, 3, 3, 2]
PUZZLE = permutation_puzzle(
    {
        "R": {"moves": "(1 2 3)", "turns": [1, 0, 2, 0, 1]},
        "Uw": {"moves": "(2 4)", "turns": [0, 1, 0, 0, 1]},
        "2": {"moves": "(1 4 3 2)"},
        "f'": {"moves": "(3 4)"},
    },
    orientations=EACH,
    closed=True,
)
MOVES = {g.name: g for g in PUZZLE.notation.generators if g.name in ("R", "Uw", "2", "f'")}


def one_by_one(names):
    """What moves do that are made one after the other; -R is R undone."""
    places, turns = list(range(5)), [0] * 5
    for name in names:
        move = MOVES[name.removeprefix("-")]
        move = move.inverse(EACH) if name.startswith("-") else move
        turns = [(t + move.turns[at]) % n for t, at, n in zip(turns, places, EACH, strict=True)]
        places = [move.image[at] for at in places]
    return tuple(places), tuple(turns)


def undone(names):
    return [name.removeprefix("-") if name.startswith("-") else f"-{name}" for name in names[::-1]]


def random_sequence(rng, depth):
    """A sequence as text, and its moves one by one."""
    texts, names = [], []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(["move", "move", "()", "[,]", "[:]"]) if depth else "move"
        if kind == "move":
            text = rng.choice(list(MOVES))
            made = [text]
        else:
            (text, made), (other, more) = (random_sequence(rng, depth - 1) for _ in range(2))
            if kind == "()":
                text = f"({text})"
            elif kind == "[,]":
                text, made = f"[{text}, {other}]", [*made, *more, *undone(made), *undone(more)]
            else:
                text, made = f"[{text}:{other}]", [*made, *more, *undone(made)]
        times, back = rng.choice([1, 1, 2, 3, 12]), rng.random() < 0.3
        if text in ("f'", "2"):  # f'' and 22 would be read as other moves
            times, back = 1, False
        texts.append(f"{text}{times if times > 1 else ''}{chr(39) if back else ''}")
        names += (undone(made) if back else made) * times
    return " ".join(texts), names


@given(st.integers(0, 10**6))
def test_sequences_do_what_their_moves_do(seed):
    text, names = random_sequence(random.Random(seed), 2)
    assert effect_of(text, MOVES, EACH, "").effect == one_by_one(names)


def test_names_and_amounts():
    def same(text, names):
        return effect_of(text, MOVES, EACH, "").effect == one_by_one(names.split())

    assert same("", "")
    assert same("R2 2", "R R 2")
    assert same("(R 2)2'", "-2 -R -2 -R")
    assert same("f' f'2 f'", "f' f' f' f'")
    assert same("R0", "")
    assert same(f"R{10**17}", "R " * (10**17 % 18))
    assert same("[R,Uw]", "R Uw -R -Uw")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R Q", r"at 'R Q': 'Q' is not a move; the moves are R Uw 2 f'$"),
        ("R (2", r"'R \(2': \) is missing"),
        ("(R]", r"\) is missing"),
        ("R)", r"\) is unexpected"),
        ("R]2", r"\]2 is unexpected"),
        ("R, 2", r", is unexpected"),
        ("[R 2]", r"expected two sequences after \[, as in \[A, B\], not \]"),
        ("[R", r"not the end"),
        ("[R: 2", r"\] is missing"),
        (f"R{'9' * 5000}", r"9{18}… has more than 18 digits"),
        ("(" * 100_000, r"^at its parentheses are nested too deeply"),
    ],
)
def test_what_is_no_sequence(text, message):
    with pytest.raises(InputError, match=message):
        effect_of(text, MOVES, EACH, "at ")
