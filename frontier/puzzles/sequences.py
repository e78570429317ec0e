"""Sequences of moves as text, in the notation of twisty puzzles, and their effects.

A sequence lists moves by name. After a name, a number says how often the move is made, and ' says
that it is undone instead: R2, U', F2'. Several moves in parentheses count as one: (R U)3. [A, B]
means A B A' B', and [A: B] means A B A'.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from textwrap import shorten

from frontier.errors import InputError
from frontier.puzzles.generators import INVERSE, MOST_DIGITS, Generator

TOKEN = re.compile(r"[)\]]\d*'?|[(\[,:]|[^()\[\],:]+")
"""A sign, with the number of repeats after a closing sign, or the name of a move."""

MOST_SHOWN = 100
"""The longest text shown in a message."""

AMOUNT = re.compile(r"(.+?)(\d*)('?)")


def effect_of(
    text: str, moves: Mapping[str, Generator], orientations: Sequence[int], at: str
) -> Generator:
    """Return the generator with the effect of a sequence of moves.

    moves: the allowed moves by name. Raises InputError, beginning with `at`, if the text is not a
    sequence of them.
    """
    try:
        return _Reader(text, moves, orientations, at).whole()
    except RecursionError:
        raise InputError(f"{at}its parentheses are nested too deeply") from None


def names_moves(text: str, moves: Mapping[str, Generator]) -> bool:
    """Return whether any word of a text is the name of a move, or begins with one."""
    return any(token in moves or _with_amount(token)[0] in moves for token in _tokens(text, moves))


def _tokens(text: str, moves: Mapping[str, Generator]) -> list[str]:
    """Return the names and signs in a text; a word that is the name of a move stays whole."""
    return [
        token
        for word in text.split()
        for token in ([word] if word in moves else TOKEN.findall(word))
    ]


def _with_amount(token: str) -> tuple[str, str]:
    """Split a token into the name of a move and its number of repeats, as text."""
    match = AMOUNT.fullmatch(token)
    return (match[1], match[2] + match[3]) if match else (token, "")


class _Reader:
    """Reads one sequence."""

    def __init__(self, text, moves, orientations, at):
        self._text, self._moves, self._each, self._at = text, moves, orientations, at
        self._tokens = deque(_tokens(text, moves))
        self._nothing = Generator.identity(len(orientations))

    def whole(self) -> Generator:
        effect = self._sequence()
        if self._tokens:
            raise self._wrong(f"{self._tokens[0]} is unexpected")
        return effect

    def _sequence(self) -> Generator:
        """Read moves up to the end of the text, or to a sign that ends a group."""
        effect = self._nothing
        while self._tokens and self._tokens[0][0] not in ")],:":
            effect = effect.then(self._one(self._tokens.popleft()), self._each)
        return effect

    def _one(self, token: str) -> Generator:
        """Read one move, or a group in parentheses or brackets."""
        if token == "(":
            return self._made(self._sequence(), self._closing(")"))
        if token == "[":
            first, sign = self._sequence(), self._tokens.popleft() if self._tokens else "the end"
            if sign not in (",", ":"):
                raise self._wrong(f"expected two sequences after [, as in [A, B], not {sign}")
            second, amount = self._sequence(), self._closing("]")
            moves = [first, second, first.inverse(self._each)]
            moves += [second.inverse(self._each)] if sign == "," else []
            effect = self._nothing
            for move in moves:
                effect = effect.then(move, self._each)
            return self._made(effect, amount)
        if token in self._moves:
            return self._moves[token]
        name, amount = _with_amount(token)
        if name not in self._moves:
            raise self._wrong(f"{token!r} is not a move; the moves are {' '.join(self._moves)}")
        return self._made(self._moves[name], "".join(amount))

    def _closing(self, sign: str) -> str:
        """Read the sign that closes a group; return how often the group is made, as text."""
        token = self._tokens.popleft() if self._tokens else ""
        if token[:1] != sign:
            raise self._wrong(f"{sign} is missing")
        return token[1:]

    def _made(self, move: Generator, amount: str) -> Generator:
        """Return a move repeated as often as an amount says."""
        digits = amount.removesuffix(INVERSE)
        if len(digits) > MOST_DIGITS:
            raise self._wrong(f"{digits[:MOST_DIGITS]}… has more than {MOST_DIGITS} digits")
        made = move.power(int(digits or 1), self._each)
        return made.inverse(self._each) if digits != amount else made

    def _wrong(self, fault: str) -> InputError:
        return InputError(f"{self._at}{shorten(self._text, MOST_SHOWN)!r}: {fault}")
